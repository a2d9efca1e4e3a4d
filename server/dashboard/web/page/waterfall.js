// A trace: its head, the overview with a movable window, the rows of spans with their bars, and what is beside them.

import { html, useEffect, useMemo, useRef, useState } from '../lib/ui.js';
import { described } from '../core/api.js';
import { count, duration, oneLine, plural } from '../core/format.js';
import { dark, zone } from '../core/state.js';
import { showTime, zoneLabel } from '../core/time.js';
import { ErrorBox } from '../ui/error.js';
import { Icon } from '../ui/icons.js';
import { Tabs } from '../ui/tabs.js';
import { copy } from '../ui/toast.js';
import { useKeys } from '../core/keys.js';
import { Overview } from './waterfalloverview.js';
import { SpanDrawer } from './waterfalldrawer.js';
import { FlameGraph } from './waterfallflame.js';
import { SpanRows } from './waterfallrows.js';
import { SpanTable } from './waterfalltable.js';
import { ServiceTimes, TraceLogs } from './waterfalltabs.js';
import { flat, pathsTo, traceOf } from './waterfalltree.js';
import { Choose, Compare } from './tracescompare.js';
import * as sql from './tracesquery.js';

/** @typedef {import('./waterfalltree.js').Span} Span */

/** @param {{state: import('../core/state.js').PageState, tables: string[]}} props */
export function TraceView({ state, tables }) {
  const id = state.get('id');
  const [asked, setAsked] =
    useState(/** @type {{id: string, found: Awaited<ReturnType<typeof sql.trace>>}|null} */ (null));
  const [error, setError] = useState(/** @type {any} */ (null));
  const [turn, setTurn] = useState(0);
  const key = tables.join('\u0001');
  useEffect(() => {
    const control = new AbortController();
    setError(null);
    sql.trace(tables, id, control.signal)
      .then((found) => { if (!control.signal.aborted) setAsked({ id, found }); },
        (e) => { if (!control.signal.aborted) setError(described(e)); });
    return () => control.abort(new DOMException('superseded', 'AbortError'));
  }, [id, key, turn]);
  const back = html`<button onClick=${() => state.set({ id: '' })} title="Back to the search">
    <${Icon} name="left" />Search</button>`;
  if (error) return html`<${ErrorBox} error=${error}>${back}
    <button onClick=${() => setTurn(turn + 1)}>Try again</button></${ErrorBox}>`;
  if (!asked || asked.id !== id) return html`<p class="state soft wait" role="status">Asking for the trace…</p>`;
  if (!asked.found) {
    return html`<div class="state"><h2>No spans of this trace</h2>
      <p>Trace <code>${id}</code> is not in ${tables.length === 0 ? 'this database: no table holds spans'
        : tables.join(', ')}, at any time.</p><div class="actions">${back}</div></div>`;
  }
  return html`<${Waterfall} key=${id} found=${asked.found} tables=${tables} state=${state} back=${back} />`;
}

/**
 * @param {{tables: string[], found: {table: string, columns: {name: string, type: string}[], rows: any[][]}, state:
 *   import('../core/state.js').PageState, back: any}} props
 */
function Waterfall({ tables, found, state, back }) {
  const cut = found.rows.length > sql.mostSpans;
  const trace = useMemo(() => traceOf(found.columns, found.rows.slice(0, sql.mostSpans)), [found]);
  const [folded, setFolded] = useState(/** @type {Set<Span>} */ (new Set()));
  const [only, setOnly] = useState('');
  const [service, setService] = useState('');
  const [text, setText] = useState('');
  const [at, setAt] = useState(0);
  const [view, setView] = useState(/** @type {[number, number]} */ ([0, trace.duration]));
  const [chosen, setChosen] = useState(/** @type {Span|null} */ (null));
  const grid = useRef(/** @type {import('../ui/grid.js').Grid|null} */ (null));
  const tab = state.get('tab');
  const listed = tab === 'spans' || tab === 'flame' || tab === 'table';
  const [logsOf, setLogsOf] = useState(/** @type {Span|null} */ (null)); // the span whose log lines are wanted

  const rows = useMemo(() => {
    const fits = only === 'errors' ? (/** @type {Span} */ s) => s.error : only === 'critical'
      ? (/** @type {Span} */ s) => s.critical.length > 0 : null;
    const on = fits && pathsTo(trace.roots, fits);
    return flat(trace.roots, (s) => folded.has(s),
      (s) => (!on || on.has(s)) && (service === '' || s.service === service || s.missing));
  }, [trace, folded, only, service]);
  const hits = useMemo(() => {
    const small = text.toLowerCase();
    return small === '' ? []
      : rows.flatMap((s, i) => ([s.name, s.service, s.id].some((t) => t.toLowerCase().includes(small)) ||
        s.row.some((v) => typeof v === 'string' && v.toLowerCase().includes(small)) ? [i] : []));
  }, [rows, text]);
  const fitting = useMemo(() => (text === '' ? null : new Set(hits.map((i) => rows[i]))), [hits, text]);
  const spans = useMemo(() => rows.filter((s) => !s.missing && (!fitting || fitting.has(s))), [rows, fitting]);
  /** gone are the hits of which the first was gone to: a step may come before the effect. */
  const gone = useRef(hits);
  const step = (/** @type {number} */ by) => {
    if (hits.length === 0) return;
    const next = ((gone.current === hits ? at : 0) + by + hits.length) % hits.length;
    gone.current = hits;
    setAt(next);
    grid.current?.select(hits[next]);
  };
  useEffect(() => {
    if (gone.current === hits) return;
    gone.current = hits;
    setAt(0);
    if (hits.length > 0) grid.current?.select(hits[0]);
  }, [hits]);
  const fold = (/** @type {Span} */ s) => {
    const next = new Set(folded);
    if (!next.delete(s)) next.add(s);
    setFolded(next);
  };
  const id = state.get('id'), vs = state.get('vs');
  const focused = () => rows[grid.current?.focus ?? -1];
  useKeys([
    { keys: 'Escape', text: 'Close the span', run: () => setChosen(null) },
    { keys: 'o', text: 'Fold or unfold the span', run: () => { const s = focused(); if (s) fold(s); } },
    { keys: 'n', text: 'Next hit in the trace', run: () => step(1) },
    { keys: 'e', text: 'Only spans that lead to errors', run: () => setOnly(only === 'errors' ? '' : 'errors') },
    { keys: 'c', text: 'Only the critical path', run: () => setOnly(only === 'critical' ? '' : 'critical') },
    { keys: '/', text: 'Find in the trace', run: () => document.getElementById('trace-find')?.focus() },
  ]);
  const toggle = (/** @type {string} */ what) => () => setOnly(only === what ? '' : what);
  return html`
    <div class="trace-head">
      ${back}
      <code class="trace-id" title=${id}>${id}</code>
      <button class="quiet small icon" title="Copy the trace id" aria-label="Copy the trace id"
        onClick=${() => copy(id)}><${Icon} name="copy" /></button>
      <span class="figures"><span>${showTime(trace.begin, 3, zone.value)} <span class="faint">${zoneLabel(zone.value)}
        </span></span><b>${duration(trace.duration / 1e6)}</b><span>${plural(trace.spans.length, 'span')}</span>
          <span>${plural(trace.services.length, 'service')}</span>
        ${trace.errors > 0 && html`<span class="level-error">${plural(trace.errors, 'error')}</span>`}</span>
    </div>
    ${(trace.notes.length > 0 || cut) &&
      html`<p class="trace-notes" role="note">
        ${[...(cut ? [`only the first ${count(sql.mostSpans)} spans are shown`] : []), ...trace.notes].join(' · ')}
        </p>`}
    <${Overview} trace=${trace} view=${view} dark=${dark.value} onView=${setView} />
    <div class="trace-bar">
      <${Tabs} label="View" tabs=${tabs} tab=${tab}
        onTab=${(/** @type {string} */ t) => { setLogsOf(null); state.set({ tab: t }); }} />
      <span class="grow"></span>
      ${listed && html`
      <input id="trace-find" type="search" placeholder="Find in the trace" aria-label="Find in the trace" value=${text}
        onInput=${(e) => setText(e.target.value)}
        onKeyDown=${(e) => { if (e.key === 'Enter') step(e.shiftKey ? -1 : 1); }} />
      ${text !== '' && html`<span class="num soft hits">
        ${hits.length === 0 ? 'none' : `${at + 1} of ${count(hits.length)}`}</span>`}
      <select aria-label="Service" value=${service} onChange=${(e) => setService(e.target.value)}>
        <option value="">all services</option>
          ${trace.services.map((s) => html`<option key=${s} value=${s}>${oneLine(s || 'no service', 80)}</option>`)}
          </select>
      <button class="small" aria-pressed=${only === 'errors' ? 'true' : 'false'}
        title="Only spans that lead to errors (e)"
        onClick=${toggle('errors')}>Errors</button>
      <button class="small" aria-pressed=${only === 'critical' ? 'true' : 'false'}
        title="Only the spans that determine the duration (c)" onClick=${toggle('critical')}>Critical path</button>
      ${tab === 'spans' && html`<button class="small"
        onClick=${() => setFolded(folded.size > 0 ? new Set()
          : new Set(trace.spans.filter((s) => s.children.length > 0 && s.depth > 0)))}>
            ${folded.size > 0 ? 'Unfold all' : 'Fold all'}</button>`}`}
    </div>
    <div class="logs-body">
      ${tab === 'spans' && html`<${SpanRows} rows=${rows} folded=${folded} view=${view} beside=${chosen !== null}
        onFold=${fold} onOpen=${setChosen} onGrid=${(g) => { grid.current = g; }} />`}
      ${tab === 'flame' && html`<${FlameGraph} trace=${trace} view=${view} chosen=${chosen}
        hits=${only || service || text ? new Set(spans) : null} onOpen=${setChosen} />`}
      ${tab === 'table' && html`<${SpanTable} spans=${spans} beside=${chosen !== null} onOpen=${setChosen} />`}
      ${tab === 'compare' && (vs
        ? html`<${Compare} trace=${trace} id=${id} other=${vs} tables=${tables}
          onSwap=${() => state.set({ id: vs, vs: id })} onNone=${() => state.set({ vs: '' })} />`
          : html`<${Choose} trace=${trace} id=${id} table=${found.table} columns=${found.columns}
            onChoose=${(/** @type {string} */ other) => state.set({ vs: other })} />`)}
      ${tab === 'logs' && html`<${TraceLogs} only=${logsOf} onAll=${() => setLogsOf(null)} id=${id}
        db=${state.get('db')} begin=${trace.begin} duration=${trace.duration} spans=${trace.spans} />`}
      ${tab === 'services' && html`<${ServiceTimes} trace=${trace} />`}
      ${chosen && !chosen.missing && tab !== 'compare' &&
        html`<${SpanDrawer} span=${chosen} trace=${trace} columns=${found.columns} onClose=${() => setChosen(null)}
          onTrace=${(/** @type {string} */ other) => state.set({ id: other, tab: 'spans' })}
        onSearch=${(/** @type {string} */ q) => state.set({ id: '', view: 'traces',
          q: [state.get('q'), q].filter(Boolean)
          .join(' ') })} onOperation=${() =>
            state.set({ id: '', view: 'traces', svc: chosen.service, op: chosen.name, from: 'now-1h', to: 'now' })}
        onLogs=${() => { setLogsOf(chosen); state.set({ tab: 'logs' }); }} />`}
    </div>`;
}

const tabs = [{ id: 'spans', text: 'Waterfall' }, { id: 'flame', text: 'Flame' }, { id: 'table', text: 'Table' },
  { id: 'logs', text: 'Logs' }, { id: 'services', text: 'Services' }, { id: 'compare', text: 'Compare' }];

