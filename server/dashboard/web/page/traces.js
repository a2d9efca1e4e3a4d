// The Traces page: a search for traces, their durations as dots, the list; with an id in the address, that trace.

import { html, useEffect, useLayoutEffect, useMemo, useRef, useState } from '../lib/ui.js';
import { described, root, running } from '../core/api.js';
import * as catalog from '../core/catalog.js';
import { count, duration, oneLine, plural } from '../core/format.js';
import * as router from '../core/router.js';
import { instants, refresh, zone } from '../core/state.js';
import { hour, rfc3339, second, showTime, zoneLabel } from '../core/time.js';
import { hashColour } from '../ui/canvas.js';
import { ErrorBox } from '../ui/error.js';
import { FirstSend } from '../ui/firstsend.js';
import { Icon } from '../ui/icons.js';
import { lazy } from '../ui/lazy.js';
import { OfferList, offerID, useOffers } from '../ui/offers.js';
import { Tabs } from '../ui/tabs.js';
import { TimePicker, shift } from '../ui/timepicker.js';
import { tell, useTyped } from '../ui/toast.js';
import { Unread } from '../ui/unread.js';
import { faded, useAnswer } from '../ui/useanswer.js';
import { useKeys } from '../core/keys.js';
import { rolesOf } from './logsquery.js';
import { Operations } from './tracesoperations.js';
import { Scatter } from './tracesscatter.js';
import * as sql from './tracesquery.js';

const views = [{ id: 'traces', text: 'Traces' }, { id: 'operations', text: 'Operations' },
  { id: 'map', text: 'Service map' }];

const TraceView = lazy(() => import('./waterfall.js'), 'TraceView', undefined, true);
const ServiceMap = lazy(() => import('./tracesmap.js'), 'ServiceMap', undefined, true);

/** @type {Record<string, import('../core/state.js').Key>} */
export const state = {
  t: { type: 'text', default: '' },
  id: { type: 'text', default: '' },
  svc: { type: 'text', default: '' },
  op: { type: 'text', default: '' },
  st: { type: 'text', default: 'any', of: ['any', 'error', 'ok'] },
  kind: { type: 'text', default: '', of: ['', 'server', 'client', 'internal', 'producer', 'consumer', 'unspecified'] },
  min: { type: 'text', default: '' },
  max: { type: 'text', default: '' },
  q: { type: 'text', default: '' },
  lim: { type: 'number', default: 20 },
  sort: { type: 'text', default: 'newest', of: ['newest', 'slowest'] },
  view: { type: 'text', default: 'traces', of: ['traces', 'operations', 'map'] },
  tab: { type: 'text', default: 'spans', of: ['spans', 'flame', 'table', 'logs', 'services', 'compare'] },
  vs: { type: 'text', default: '' }, // the trace to compare with
};

/** @typedef {{spans: sql.Sample, traces: sql.Summary[], range: {from: bigint|null, to: bigint|null}}} Found */

/** @param {{state: import('../core/state.js').PageState}} props */
export function Page({ state }) {
  const v = state.values.value;
  const [tables, setTables] = useState(/** @type {string[]|null} */ (null));
  const [error, setError] = useState(/** @type {any} */ (null));
  useEffect(() => {
    let wanted = true;
    setError(null);
    sql.traceTables(v.db).then((t) => { if (wanted) setTables(t); }, (e) => { if (wanted) setError(described(e)); });
    return () => { wanted = false; };
  }, [v.db]);
  if (error) return html`<${Bar} /><${ErrorBox} error=${error} />`;
  if (!tables) return html`<${Bar} /><p class="state soft wait" role="status">Asking…</p>`;
  if (v.id) return html`<${Bar} />
    <${TraceView} state=${state}
      tables=${v.t && tables.includes(v.t) ? [v.t, ...tables.filter((t) => t !== v.t)] : tables} />`;
  if (tables.length === 0) {
    return html`<${Bar} /><${FirstSend} title="No traces yet"
      snippet=${`OTEL_EXPORTER_OTLP_ENDPOINT=${new URL('v1/otlp',
        root).href}\nOTEL_EXPORTER_OTLP_PROTOCOL=http/protobuf`}>No table of this database holds spans. Point an
          OpenTelemetry exporter at this server; spans go to <code>${sql.defaultTable}</code>.</${FirstSend}>`;
  }
  return html`<${Search} state=${state} tables=${tables} />`;
}

/** @param {{children?: any}} props */
const Bar = ({ children }) => html`<div class="toolbar"><h1>Traces</h1>${children ?? html`<span class="grow"></span>`}
  <${TimePicker} /></div>`;

/** @param {{state: import('../core/state.js').PageState, tables: string[]}} props */
function Search({ state, tables }) {
  const v = state.values.value;
  const table = tables.includes(v.t) ? v.t : tables[0];
  const [columns, setColumns] = useState(/** @type {catalog.Column[]} */ ([]));
  const [wrong, setWrong] = useState(/** @type {any} */ (null)); // the error of the question for the columns
  const [turn, setTurn] = useState(0); // counts the runs that somebody asked for
  const [tick, setTick] = useState(0); // counts the runs that the page makes by itself
  const understood = useMemo(() => sql.understand(v.q, columns), [v.q, columns]);
  useEffect(() => { catalog.columns(v.db, table).then(setColumns, (e) => setWrong(described(e))); }, [v.db, table]);
  const question = JSON.stringify([v.db, table, v.svc, v.op, v.st, v.kind, v.min, v.max, v.q, v.lim, v.sort, v.from,
    v.to, v.view === 'traces', turn, columns.length]);
  const range = useMemo(instants, [question, tick]);
  const filters = sql.conditions(v, columns, understood.sql);
  const { found, error, stale } = useAnswer((signal) => (columns.length === 0 || understood.problem ||
    v.view !== 'traces' ? null : ask(table, columns, v, range, filters, signal)), [question], tick);
  useEffect(() => {
    if (!refresh.value) return;
    // only when the answer before has come
    const timer = setInterval(() => { if (!document.hidden && running.value.length === 0) setTick((n) => n + 1); },
      refresh.value * 1000);
    return () => clearInterval(timer);
  }, [refresh.value]);
  useKeys([
    { keys: '/', text: 'Search', run: () => document.getElementById('traces-search')?.focus() },
    { keys: 'r', text: 'Run again', run: () => setTurn(turn + 1) },
  ]);
  const open = (/** @type {string} */ id) => state.set({ id, tab: 'spans', vs: '' });
  const rectangle = (/** @type {bigint} */ from, /** @type {bigint} */ to, /** @type {number} */ least,
    /** @type {number} */ most) =>
    state.set({ from: rfc3339(from), to: rfc3339(to), min: `${Math.floor(least)}ns`, max: `${Math.ceil(most)}ns` });
  const again = () => setTurn(turn + 1);
  const narrower = (/** @type {string} */ svc, /** @type {string} */ op = '',
    /** @type {Record<string, any>} */ more = {}) => state.set({ view: 'traces', svc, op, ...more });
  const body = () => {
    if (wrong) return html`<${ErrorBox} error=${wrong} />`;
    if (columns.length === 0) return html`<p class="state soft wait" role="status">Asking…</p>`;
    if (v.view === 'map') return html`<${ServiceMap} table=${table} columns=${columns} range=${range}
      question=${question} tick=${tick} onService=${narrower} />`;
    if (understood.problem)
      return html`<${Unread} q=${v.q} problem=${understood.problem}
        onSearch=${(/** @type {string} */ q) => state.set({ q })} />`;
    if (v.view === 'operations')
      return html`<${Operations} statement=${sql.operationsText(table, columns, range, filters)} question=${question}
        tick=${tick} onOpen=${narrower} />`;
    if (error) return html`<${ErrorBox} error=${error}><button class="small" onClick=${again}>Try again</button>
      </${ErrorBox}>`;
    if (!found || (stale && found.spans.list.length === 0))
      return html`<p class="state soft wait" role="status">Asking…</p>`;
    if (found.spans.list.length === 0) return html`<${Nothing} state=${state} table=${table} columns=${columns} />`;
    return html`<div ...${faded('traces-found', stale)}>
      <${Scatter} dots=${found.spans.list} range=${found.range} onRectangle=${rectangle} onOpen=${open} />
      <p class="traces-figures soft">
        ${plural(found.traces.length, 'trace')} listed, ${drawn(found.spans)} Drag a rectangle to narrow the search,
          click a dot to open its trace.</p>
      <${List} traces=${found.traces} onOpen=${open} /></div>`;
  };
  const statement = () => (v.view === 'map' ? sql.callsText(table, columns, range) : v.view === 'operations'
    ? sql.operationsText(table, columns, range, filters)
    : sql.dotsText(table, columns, range, filters, v.sort === 'slowest' ? 'duration_nano DESC' : undefined));
  return html`<${Bar}><${Line} state=${state} table=${table} columns=${columns} /></${Bar}>
    <${Form} state=${state} table=${table} tables=${tables} onRun=${again} />
    <div class="traces-views">
      <${Tabs} label="What is shown" tabs=${views} tab=${v.view}
        onTab=${(/** @type {string} */ view) => state.set({ view })} /><span class="grow"></span>
      <button class="small" disabled=${columns.length === 0} title="Open the statement on the SQL page"
        onClick=${() => router.go('sql', { sql: statement() })}>SQL</button></div>
    ${body()}`;
}

/**
 * Nothing is shown when no span matches: it says so, and what may help.
 * @param {{state: import('../core/state.js').PageState, table: string, columns: catalog.Column[]}} props
 */
function Nothing({ state, table, columns }) {
  const [last, setLast] = useState(/** @type {bigint|null} */ (null));
  // only a help: without it the page still says that nothing matches
  useEffect(() => { sql.newest(table, columns).then(setLast, () => {}); }, [table]);
  const there = () => state.set({ from: rfc3339(/** @type {bigint} */ (last) - hour),
    to: rfc3339(/** @type {bigint} */ (last) + second) });
  return html`<div class="state"><h2>No spans match</h2>
    <p>In ${table}, with these filters and in this time range.${last !== null &&
      ` The newest span of the table is from ${showTime(last, 0, zone.value)} ${zoneLabel(zone.value)}.`}</p>
    <div class="actions">${last !== null && html`<button onClick=${there}>Go to the newest</button>`}
      <button onClick=${() => shift(0)}>Twice as wide</button>
        <button onClick=${() => state.set({ svc: '', op: '', st: 'any', kind: '', min: '', max: '', q: '' })}>
          Without filters</button></div></div>`;
}

/** drawn says how many spans match, and which of them are dots. @param {sql.Sample} s */
function drawn({ list, total, errors, all }) {
  if (all) return `${count(total)} matching ${total === 1 ? 'span' : 'spans'}.`;
  const failed = list.filter((d) => d.error).length;
  return `${count(list.length)} of ${count(
    total)} matching spans drawn: a sample of the whole range with the slowest ones${errors === 0 ? ''
      : failed < errors ? ` and ${count(failed)} of ${count(errors)} errors` : ` and all ${plural(errors, 'error')}`}.`;
}

/**
 * ask finds matching spans first, then describes their traces.
 * @param {string} table
 * @param {catalog.Column[]} columns
 * @param {Record<string, any>} v
 * @param {{from: bigint|null, to: bigint|null}} range
 * @param {string[]} filters
 * @param {AbortSignal} signal
 * @returns {Promise<Found>}
 */
async function ask(table, columns, v, range, filters, signal) {
  try {
    const { first, spans } = await sql.dots(table, columns, range, filters, v.sort === 'slowest', signal);
    const ids = [...new Set(first.map((d) => d.trace))].slice(0, Math.max(1, Math.min(100, v.lim)));
    const found = { spans, range, traces: await sql.summaries(table, columns, range, ids, signal) };
    tell(`${plural(found.traces.length, 'trace')} listed`);
    return found;
  } catch (e) {
    if (!signal.aborted) tell('', described(e));
    throw e;
  }
}

/**
 * Line is the search line; an id of a trace opens it.
 * @param {{state: import('../core/state.js').PageState, table: string, columns: catalog.Column[]}} props
 */
function Line({ state, table, columns }) {
  const [text, setText] = useState(state.get('q'));
  const box = useRef(/** @type {HTMLInputElement|null} */ (null));
  useLayoutEffect(() => setText(state.get('q')), [state.get('q')]);
  const typed = useMemo(() => sql.understand(text, columns), [text, columns]);
  const isID = /^[0-9a-f]{32}$/i.test(text.trim());
  const { offers, at, coming, complete, take, key, close } = useOffers(box, setText, async (words, cursor, signal) => {
    const { offersAt } = await import('./logsoffers.js');
    return offersAt(words, cursor, signal, columns,
      { table, columns, roles: rolesOf(columns), range: instants(), filters: [] }, (name) => sql.named(columns, name));
  });
  const apply = (/** @type {string} */ q) => {
    close();
    setText(q);
    state.set({ q });
  };
  const submit = (/** @type {Event} */ e) => {
    e.preventDefault();
    if (isID) state.set({ id: text.trim().toLowerCase() });
    else if (!typed.problem) apply(text);
  };
  const note = columns.length > 0 && !isID ? typed.problem : null;
  useTyped(text, note?.message);
  return html`<form class="search grow" role="search" onSubmit=${submit}><${Icon} name="search" />
    <input id="traces-search" ref=${box} role="combobox" aria-expanded=${offers.length > 0 ? 'true' : 'false'}
      aria-controls="traces-offers" aria-activedescendant=${offerID('traces-offers', at)} aria-describedby="traces-note"
        aria-label="Search spans, or the id of a trace" aria-invalid=${note ? 'true' : 'false'}
          placeholder="Search spans: http.route:/cart  or an id of a trace" value=${text} spellcheck=${false}
            autocomplete="off" autocapitalize="off"
      onInput=${(/** @type {any} */ e) => { setText(e.target.value); void complete(e.target); }}
        onFocus=${(/** @type {any} */ e) => { if (e.target.value === '') void complete(e.target); }}
          onBlur=${() => setTimeout(close, 150)}
            onKeyDown=${(/** @type {KeyboardEvent} */ e) => {
              if (!key(e) && e.key === 'Escape') box.current?.blur();
            }} />
    ${note && html`<div id="traces-note" class="search-note"><span class="level-error">${note.message}</span>
      ${(note.near ?? []).map((n) => html`<button key=${n} type="button" class="small"
        onClick=${() => apply(text.slice(0, note.from) + n + text.slice(note.to))}>${n}</button>`)}
      ${note.asText && html`<button type="button" class="small"
        onClick=${() => apply(/** @type {string} */ (note.asText))}>search as text instead</button>`}</div>`}
    ${!note && text !== state.get('q') &&
      html`<div id="traces-note" class="search-note"><code>${isID ? `trace ${text.trim()}` : typed.sql || 'all spans'}
        </code><span class="faint">Enter runs it</span></div>`}
    <${OfferList} id="traces-offers" offers=${offers} at=${at} coming=${coming} take=${take} /></form>`;
}

/** @param {{state: import('../core/state.js').PageState, table: string, tables: string[], onRun: () => void}} props */
function Form({ state, table, tables, onRun }) {
  const v = state.values.value;
  const [services, setServices] = useState(/** @type {string[]} */ ([]));
  const [operations, setOperations] = useState(/** @type {string[]} */ ([]));
  // without the list the field takes any name
  useEffect(() => { sql.services(table, v.db).then(setServices, () => setServices([])); }, [table, v.db]);
  useEffect(() => { sql.operations(table, v.db, v.svc).then(setOperations, () => setOperations([])); },
    [table, v.db, v.svc]);
  const choose = (/** @type {string} */ key, /** @type {string} */ label, /** @type {[string, string][]} */ options,
    /** @type {Record<string, any>} */ also = {}) =>
    html`<select name=${key} aria-label=${label} title=${label} value=${v[key]}
    onChange=${(/** @type {any} */ e) => state.set({ [key]: e.target.value, ...also })}>
      ${options.map(([value, text]) => html`<option key=${value} value=${value} disabled=${value === '\u0000'}>
        ${oneLine(text, 80)}</option>`)}</select>`;
  const length = (/** @type {string} */ key, /** @type {string} */ label) => html`<input name=${key} class="length"
    aria-label=${label} title=${`${label}, like 1.5s or 200ms`} placeholder=${label.toLowerCase()} value=${v[key]}
      aria-invalid=${v[key] !== '' && sql.nanos(v[key]) === null ? 'true' : 'false'}
    onChange=${(/** @type {any} */ e) => state.set({ [key]: e.target.value.trim() })} />`;
  const full = (/** @type {string[]} */ list) => (list.length > sql.mostChoices
    ? /** @type {[string, string][]} */ ([['\u0000',
      `the first ${count(sql.mostChoices)}; the search line finds others`]]) : []);
  const with_ = (/** @type {string[]} */ list,
    /** @type {string} */ chosen) => /** @type {[string, string][]} */ ([
      ...new Set([...list.slice(0, sql.mostChoices), ...(chosen ? [chosen] : [])])].map((s) => [s, s]));
  const bad = ['min', 'max'].filter((k) => v[k] !== '' && sql.nanos(v[k]) === null);
  return html`<div class="traces-form">
    ${tables.length > 1 && choose('t', 'Table', with_(tables, table))}
    ${choose('svc', 'Service', [['', 'all services'], ...with_(services, v.svc), ...full(services)], { op: '' })}
    ${choose('op', 'Operation', [['', 'all operations'], ...with_(operations, v.op), ...full(operations)])}
    ${choose('st', 'Status', [['any', 'any status'], ['error', 'error'], ['ok', 'ok']])}
    ${choose('kind', 'Kind',
      [['', 'any kind'], ...['server', 'client', 'internal', 'producer', 'consumer',
        'unspecified'].map((k) => /** @type {[string, string]} */ ([k, k]))])}
    ${length('min', 'Longer than')}${length('max', 'Shorter than')}
    ${bad.length > 0 && html`<span class="level-error" role="status">a duration is like 1.5s or 200ms</span>`}
    <span class="grow"></span>
    ${choose('sort', 'Order', [['newest', 'newest first'], ['slowest', 'slowest first']])}
    <select name="lim" aria-label="Traces listed" title="Traces listed" value=${String(v.lim)}
      onChange=${(/** @type {any} */ e) => state.set({ lim: Number(e.target.value) })}>
        ${[20, 50, 100].map((n) => html`<option key=${n} value=${n}>${n} traces</option>`)}</select>
    <button class="primary" onClick=${onRun}><${Icon} name="play" />Run</button></div>`;
}

/** @param {{traces: sql.Summary[], onOpen: (id: string) => void}} props */
function List({ traces, onOpen }) {
  const longest = traces.reduce((m, t) => Math.max(m, t.duration), 1);
  return html`<div class="traces-list">
    <table aria-label="Traces" class="list">
      <thead><tr><th scope="col">service and operation</th><th scope="col" class="start">start ${zoneLabel(zone.value)}
        </th><th scope="col">duration</th><th scope="col" class="num">spans</th><th scope="col" class="num">errors</th>
          <th scope="col" class="chips">services</th></tr></thead><tbody>
    ${traces.map((t) => html`<tr key=${t.id} data-trace=${t.id} onClick=${() => onOpen(t.id)}>
      <td class="what"><button class="link" title=${t.id}
        onClick=${(/** @type {Event} */ e) => { e.stopPropagation(); onOpen(t.id); }}><b>${oneLine(t.service, 60)}
          </b> ${oneLine(t.operation, 200)}</button></td>
      <td class="start">${showTime(t.start, 3, zone.value)}</td>
      <td class="length"><span class="num">${duration(t.duration / 1e6)}</span>
        ${t.backward > 0 && html`<span class="mark-note" role="img" title=${sql.backwards(t.backward)}
          aria-label=${sql.backwards(t.backward)}>⚠ </span>`}
            <span class="length-bar"><span style=${{ width: `${Math.max(1, (t.duration / longest) * 100)}%` }}></span>
              </span></td>
      <td class="num">${count(t.spans)}</td><td class="num ${t.errors > 0 ? 'level-error' : 'faint'}">${count(t.errors)}
        </td>
      <td class="chips">${t.services.map((s) => html`<span key=${s} class="service-chip">
        <span class="swatch" style=${{ background: hashColour(s) }}></span>${oneLine(s || 'no service', 60)}
        </span>`)}</td></tr>`)}</tbody></table></div>`;
}
