// The drawer of a span: its fields in groups, its events and links, and the ways on from it.

import { html, useState } from '../lib/ui.js';
import { duration, object, plural, raw, visible } from '../core/format.js';
import * as router from '../core/router.js';
import { term } from '../core/search.js';
import { instants } from '../core/state.js';
import { hour, rfc3339 } from '../core/time.js';
import { Drawer } from '../ui/drawer.js';
import { Icon } from '../ui/icons.js';
import { JSONTree } from '../ui/json.js';
import { copy } from '../ui/toast.js';
import { Value } from '../ui/value.js';
import { json } from './waterfalltree.js';

/**
 * @typedef {object} SpanProps
 * @property {import('./waterfalltree.js').Span} span
 * @property {import('./waterfalltree.js').Trace} trace
 * @property {{name: string, type: string}[]} columns
 * @property {() => void} onClose
 * @property {(id: string) => void} onTrace
 * @property {(q: string) => void} onSearch
 * @property {() => void} onOperation
 * @property {() => void} onLogs
 */

/** @param {SpanProps} props */
export function SpanDrawer(props) {
  const { span, columns } = props;
  const [chosen, setTab] = useState('fields');
  const at = (/** @type {string} */ name) => span.row[columns.findIndex((c) => c.name === name)];
  const events = json(at('span_events')), links = json(at('span_links'));
  const tabs = [{ id: 'fields', text: 'Fields' }];
  if (events.length > 0) tabs.push({ id: 'events', text: `Events (${events.length})` });
  if (links.length > 0) tabs.push({ id: 'links', text: `Links (${links.length})` });
  const tab = tabs.some((t) => t.id === chosen) ? chosen : 'fields';
  return html`<${Drawer} label="Span" tabs=${tabs} tab=${tab} onTab=${setTab} onClose=${props.onClose}>
    <div class="pad span-title"><b>${visible(span.name)}</b> <span class="soft">${visible(span.service)}</span>
      <div class="soft num">${duration((span.end - span.start) / 1e6)}, own time ${duration(span.own / 1e6)},
        begins ${duration(span.start / 1e6)} after the trace's begin</div>
      ${span.error && html`<div class="level-error">${visible(String(at('span_status_message') || 'error'))}</div>`}
      <div class="small acts-line"><button onClick=${props.onLogs}>Logs of this span</button>
        <button onClick=${props.onOperation}>Same operation, last hour</button>
          <button title="The metrics that this service sends"
            onClick=${() => metricsOf(props.trace, span.service)}>Metrics of ${visible(span.service || 'no service')}
              </button><button onClick=${() => copy(object(columns, span.row))}>
                <${Icon} name="copy" />Copy as JSON</button></div></div>
    ${tab === 'fields' && html`<${Fields} ...${props} />`}
    ${tab === 'events' && html`<div class="json">
      ${events.map((e, i) => html`<div key=${i} class="span-event-entry"><b>${visible(String(e?.name ?? ''))}
        </b> <span class="faint">${visible(String(e?.time ?? ''))}</span><${JSONTree} value=${e?.attributes ?? {}} />
        </div>`)}</div>`}
    ${tab === 'links' && html`<div class="pad">
      ${links.map((l, i) => html`<div key=${i} class="span-link">
        <button class="link mono" onClick=${() => props.onTrace(String(l?.trace_id ?? ''))}>
          ${visible(String(l?.trace_id ?? ''))}</button> <span class="faint">span ${visible(String(l?.span_id ?? ''))}
            </span><${JSONTree} value=${l?.attributes ?? {}} /></div>`)}</div>`}
  </${Drawer}>`;
}

/**
 * metricsOf opens the metrics that a service sends, in the range that is chosen if the trace is in it, else around the
 * trace.
 * @param {import('./waterfalltree.js').Trace} trace
 * @param {string} service
 */
function metricsOf(trace, service) {
  const { from, to } = instants(), within = (from === null || from <= trace.begin) && (to === null || trace.begin < to);
  router.go('metrics', { of: service,
    ...(within ? {} : { from: rfc3339(trace.begin - hour / 2n), to: rfc3339(trace.begin + hour / 2n) }) });
}

/** @type {[string, (name: string) => boolean][]} */
const groups = [
  ['Span attributes', (n) => n.startsWith('span_attributes.')],
  ['Resource', (n) => n.startsWith('resource_attributes.') || n === 'service_name'],
  ['Scope', (n) => n.startsWith('scope_')],
  ['Span', () => true],
];

/** @param {SpanProps} props */
function Fields({ span, columns, onSearch }) {
  const [all, setAll] = useState(false);
  const list = columns.map((c, i) => ({ c, v: span.row[i], group: groups.findIndex(([, fits]) => fits(c.name)) }))
    .filter(({ c }) => c.name !== 'span_events' && c.name !== 'span_links');
  const empty = list.filter(({ v }) => v === null || v === '').length;
  return html`${groups.map(([title], g) => {
    const own = list.filter(({ group, v }) => group === g && (all || (v !== null && v !== '')));
    return own.length > 0 && html`<h2 class="group">${title}</h2>
      <table aria-label=${title} class="fields"><tbody>${own.map(({ c, v }) => html`<tr key=${c.name}>
      <th scope="row" title=${`${c.name}: ${c.type}`}>
        ${visible(c.name.replace(/^(span|resource|scope)_attributes\./, ''))}</th>
          <td class="value"><${Value} value=${v} type=${c.type} /></td>
      <td class="acts small">${!/^(timestamp|json|binary)/i.test(c.type) &&
        html`<button class="quiet small icon" title="Search for this value" aria-label=${`Search for this ${c.name}`}
          onClick=${() => onSearch(term(c.name, v, false))}><${Icon} name="plus" /></button>
        <button class="quiet small icon" title="Search without this value" aria-label=${`Search without this ${c.name}`}
          onClick=${() => onSearch(term(c.name, v, true))}><${Icon} name="minus" /></button>`}
        <button class="quiet small icon" title="Copy the value" aria-label=${`Copy ${c.name}`}
          onClick=${() => copy(v === null ? '' : raw(v))}><${Icon} name="copy" /></button></td></tr>`)}</tbody>
          </table>`;
  })}
  ${empty > 0 && html`<p class="soft pad">
    <button class="link" onClick=${() => setAll(!all)}>
      ${all ? 'Hide what is empty' : `Show ${plural(empty, 'column')} without a value`}</button></p>`}`;
}
