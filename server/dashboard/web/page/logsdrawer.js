// The drawer of a row: its fields with filters, the row as JSON, the rows around it, and its trace.

import { html, useEffect, useState } from '../lib/ui.js';
import { count, object, plural, raw, visible } from '../core/format.js';
import * as router from '../core/router.js';
import * as sqltext from '../core/sqltext.js';
import * as store from '../core/store.js';
import { Drawer } from '../ui/drawer.js';
import { Icon } from '../ui/icons.js';
import { JSONTree } from '../ui/json.js';
import { copy } from '../ui/toast.js';
import { Value, tree } from '../ui/value.js';
import { Context } from './logscontext.js';
import * as logsql from './logsquery.js';

/**
 * @typedef {object} RowProps
 * @property {import('./logsrun.js').LogsRun} run
 * @property {import('../core/rowset.js').Column[]} columns
 * @property {any[]} row
 * @property {number} alike how many rows may be meant
 * @property {string} tab
 * @property {(tab: string) => void} onTab
 * @property {() => void} onClose
 * @property {() => void} [onPrevious]
 * @property {() => void} [onNext]
 * @property {(field: string, value: any, negated: boolean, only?: boolean, path?: import('../ui/json.js').Path) =>
 *   void} onFilter
 * @property {boolean} pinned
 * @property {() => void} onPin
 * @property {() => void} onLink
 * @property {string[]} shown
 * @property {(name: string) => void} onColumn
 */

/** @param {RowProps} props */
export function RowDrawer(props) {
  const { run, columns, row } = props;
  const trace = run.roles.value?.trace;
  const traceId = trace ? row[columns.findIndex((c) => c.name === trace)] : null;
  const tabs = [{ id: 'fields', text: 'Fields' }, { id: 'json', text: 'JSON' }, { id: 'context', text: 'Context' }];
  if (traceId) tabs.push({ id: 'trace', text: 'Trace' });
  const tab = tabs.some((t) => t.id === props.tab) ? props.tab : 'fields';
  return html`<${Drawer} label="Row" tabs=${tabs} tab=${tab} onTab=${props.onTab} onClose=${props.onClose}
    onPrevious=${props.onPrevious} onNext=${props.onNext} actions=${html`
      <button class="quiet small icon" title="Pin the row: it is marked in the histogram (p)" aria-label="Pin the row"
        aria-pressed=${props.pinned ? 'true' : 'false'} onClick=${props.onPin}><${Icon} name="pin" /></button>
      <button class="quiet small icon" title="Copy a link to this row" aria-label="Copy a link to this row"
        onClick=${props.onLink}><${Icon} name="link" /></button>`}>
    ${tab === 'fields' && html`<${Fields} ...${props} />`}
    ${tab === 'json' && html`<${JSONView} columns=${columns} row=${row} onFilter=${props.onFilter} />`}
    ${tab === 'context' && html`<${Context} run=${run} columns=${columns} row=${row} />`}
    ${tab === 'trace' && html`<${Trace} id=${String(traceId)} run=${run} onFilter=${props.onFilter} trace=${trace} />`}
  </${Drawer}>`;
}

/** The most fields that are shown at once, since each has buttons. */
const mostFields = 100;

/**
 * whole is the statement for all rows of the same instant, with all columns.
 * @param {RowProps['run']} run
 * @param {RowProps['columns']} columns
 * @param {any[]} row
 */
function whole(run, columns, row) {
  const scope = /** @type {import('./logsquery.js').Scope} */ (run.scope.value),
    time = /** @type {import('../core/catalog.js').Column} */ (scope.roles.time);
  const unit = sqltext.unitNanos(time.type), at = BigInt(row[columns.findIndex((c) => c.name === time.name)]) * unit;
  return logsql.rows({ ...scope, range: { from: at, to: at + unit }, filters: [] }, '*', 100);
}

/** @param {RowProps} props */
function Fields({ run, columns, row, alike, onFilter, shown, onColumn }) {
  const [hideEmpty, setHide] = useState(true);
  const [from, setFrom] = useState(0);
  const roles = run.roles.value, key = `logs.top.${run.state.get('db')}.${run.scope.value?.table}`;
  const [top, setTop] = useState(/** @type {string[]} */ (store.read(key, [])));
  const first = [roles?.message, roles?.level, roles?.time?.name, ...top];
  const pin = (/** @type {string} */ name) => {
    const on = !top.includes(name);
    setTop(store.change(key, top, (kept) => [...(on ? [name] : []), ...kept.filter((n) => n !== name)]));
  };
  const list = columns.map((c, i) => ({ c, i })).sort((a, b) => first.indexOf(b.c.name) - first.indexOf(a.c.name))
    .filter(({ i }) => !hideEmpty || row[i] !== null);
  const begin = from < list.length ? from : 0, all = run.columns.value.length;
  const empty = row.filter((v) => v === null).length;
  return html`<table aria-label="Fields" class="fields"><tbody>
    ${list.slice(begin, begin + mostFields).map(({ c, i }) => html`<tr key=${c.name}>
      <th scope="row"><button class="link"
        title=${`${c.name}: ${c.type}\nClick: ${top.includes(c.name) ? 'back to its place'
          : 'to the top for this table'}`} aria-pressed=${top.includes(c.name) ? 'true' : 'false'}
            onClick=${() => pin(c.name)}>${visible(c.name)}</button></th>
      <td class="value"><${Value} value=${row[i]} type=${c.type} onValue=${members(onFilter, c.name)} /></td>
      <td class="acts small">
        <button class="quiet small icon" title="Only rows with this value (+)"
          aria-label=${`Only rows with this ${c.name}`} onClick=${() => onFilter(c.name, row[i], false)}>
            <${Icon} name="plus" /></button>
        <button class="quiet small icon" title="Not this value (-)" aria-label=${`Not this ${c.name}`}
          onClick=${() => onFilter(c.name, row[i], true)}><${Icon} name="minus" /></button>
        <button class="quiet small icon" title="Only rows that have it" aria-label=${`Only rows that have ${c.name}`}
          onClick=${() => onFilter(c.name, null, true)}><${Icon} name="fields" /></button>
        <button class="quiet small icon" title="Copy the value" aria-label=${`Copy ${c.name}`}
          onClick=${() => copy(row[i] === null ? '' : raw(row[i]))}><${Icon} name="copy" /></button>
        <button class="quiet small icon" title="Column in the list" aria-label=${`Column ${c.name} in the list`}
          aria-pressed=${shown.includes(c.name) ? 'true' : 'false'} onClick=${() => onColumn(c.name)}>
            <${Icon} name="table" /></button>
      </td></tr>`)}
  </tbody></table>
  ${list.length > mostFields &&
    html`<p
      class="soft pad">Fields ${begin + 1} to ${Math.min(begin + mostFields, list.length)} of ${list.length} <button
        class="link" onClick=${() => setFrom(begin + mostFields)}>
          ${begin + mostFields < list.length ? 'The next' : 'The first'}</button></p>`}
  ${alike > 1 && html`<p class="soft pad" role="note">
    ${count(alike)} rows of this instant are equal in the columns that the list asks for. This is one of them.</p>`}
  ${all > columns.length &&
    html`<p class="soft pad">The list asks for ${columns.length} of ${count(all)} columns. <button class="link"
      onClick=${() => router.go('sql', { sql: whole(run, columns, row) })}>All of this instant in SQL</button></p>`}
  ${empty > 0 && html`<p class="soft pad">
    <button class="link" onClick=${() => setHide(!hideEmpty)}>
      ${hideEmpty ? `Show ${plural(empty, 'column')} that ${empty === 1 ? 'is' : 'are'} NULL` : 'Hide what is NULL'}
        </button></p>`}`;
}

/**
 * members draws the buttons behind a member of a JSON value that filter by it.
 * @param {RowProps['onFilter']} onFilter
 * @param {string} column
 */
const members = (onFilter, column) => (/** @type {import('../ui/json.js').Path} */ path,
  /** @type {any} */ value) => html`<span class="member">
    <button class="quiet small icon" title="Only rows with this member"
      aria-label=${`Only rows with this ${[column, ...path].join('.')}`}
        onClick=${() => onFilter(column, value, false, false, path)}><${Icon} name="plus" /></button>
          <button class="quiet small icon" title="Not this member"
            aria-label=${`Not this ${[column, ...path].join('.')}`}
              onClick=${() => onFilter(column, value, true, false, path)}><${Icon} name="minus" /></button></span>`;

/** @param {{columns: import('../core/rowset.js').Column[], row: any[], onFilter: RowProps['onFilter']}} props */
function JSONView({ columns, row, onFilter }) {
  const text = object(columns, row);
  /** @type {Record<string, any>} */
  const value = {};
  columns.forEach((c, i) => { if (row[i] !== null) value[c.name] = tree(row[i]) ?? row[i]; });
  return html`<div class="pad small">
    <button class="small" onClick=${() => copy(text)}><${Icon} name="copy" />Copy as JSON</button></div>
    <div class="json"><${JSONTree} value=${value}
      onValue=${(/** @type {import('../ui/json.js').Path} */ [name, ...path],
        v) => members((_, value, negated, only, at) => (path.length > 0
          ? onFilter(String(name), value, negated, only, at)
          : onFilter(String(name), row[columns.findIndex((c) => c.name === name)], negated)), String(name))(path, v)} />
          </div>`;
}

/** @param {{id: string, trace: string, run: import('./logsrun.js').LogsRun, onFilter: RowProps['onFilter']}} props */
function Trace({ id, trace, onFilter }) {
  const [asked, setAsked] = useState(false);
  useEffect(() => setAsked(false), [id]);
  return html`<div class="pad"><p>Trace <code>${visible(id)}</code></p><div class="small acts-line">
    <button class="primary" disabled=${asked}
      onClick=${() => { setAsked(true); router.go('traces', { id }); }}>Open the trace</button>
    <button onClick=${() => onFilter(trace, id, false, true)}>Logs of this trace</button>
      <button onClick=${() => copy(id)}>Copy the id</button></div></div>`;
}
