// The Logs page: a search line that becomes SQL, the histogram, the rows, and the panels beside them.

import { html, useEffect, useLayoutEffect, useMemo, useRef, useState } from '../lib/ui.js';
import { bring } from '../core/api.js';
import { count, plural } from '../core/format.js';
import { useKeys } from '../core/keys.js';
import { refresh, setRange, zone } from '../core/state.js';
import * as router from '../core/router.js';
import * as store from '../core/store.js';
import { rfc3339, showTime } from '../core/time.js';
import { Icon } from '../ui/icons.js';
import { lazy } from '../ui/lazy.js';
import { Pop } from '../ui/pop.js';
import { Tabs } from '../ui/tabs.js';
import { TimePicker, shift } from '../ui/timepicker.js';
import { copy, toast } from '../ui/toast.js';
import { FieldPanel } from './logsfields.js';
import { HistogramPanel } from './logshistogram.js';
import { LogsList } from './logslist.js';
import { mostColumns } from './logsquery.js';
import { LogsRun, chipCondition, chips, reader, remember, searched } from './logsrun.js';
import { SearchBox, TableChooser } from './logssearch.js';

const parts = 'page/logsparts.css';
const Changes = lazy(() => import('./logschanges.js'), 'Changes', parts, true);
const Chips = lazy(() => import('./logschips.js'), 'Chips');
const ErrorBox = lazy(() => import('../ui/error.js'), 'ErrorBox');
const Export = lazy(() => import('./logsexport.js'), 'Export', parts);
const Find = lazy(() => import('../ui/find.js'), 'Find');
const Live = lazy(() => import('./logslive.js'), 'Live', parts);
const LogsMenu = lazy(() => import('./logsmenu.js'), 'LogsMenu', parts);
const Views = lazy(() => import('./logsmenu.js'), 'Views', parts);
const Patterns = lazy(() => import('./logspatterns.js'), 'Patterns', parts, true);
const RowDrawer = lazy(() => import('./logsdrawer.js'), 'RowDrawer', parts);
const Empty = lazy(() => import('./logsempty.js'), 'Empty', parts, true);
const ViewMenu = lazy(() => import('./logsview.js'), 'ViewMenu');
const Unread = lazy(() => import('../ui/unread.js'), 'Unread');
const LogQL = lazy(() => import('./logslogql.js'), 'LogQL', 'page/logslogql.css');
const NothingFound = lazy(() => import('./logsempty.js'), 'NothingFound', parts);

/** @type {Record<string, import('../core/state.js').Key>} */
export const state = {
  t: { type: 'text', default: '' },
  q: { type: 'text', default: '' },
  w: { type: 'text', default: '' },
  lq: { type: 'text', default: '' },
  any: { type: 'switch', default: false },
  f: { type: 'list', default: [] },
  cols: { type: 'list', default: [] },
  split: { type: 'text', default: '' },
  tab: { type: 'text', default: 'rows', of: ['rows', 'patterns', 'fields', 'changes'] },
  live: { type: 'switch', default: false },
  wrap: { type: 'switch', default: false },
  json: { type: 'switch', default: false },
  fold: { type: 'switch', default: true },
  pins: { type: 'list', default: [] },
  at: { type: 'text', default: '' },
};

/** @param {{state: import('../core/state.js').PageState}} props */
export function Page({ state }) {
  const run = useMemo(() => new LogsRun(state), []);
  const v = state.values.value;
  const many = run.columns.value.length > mostColumns;
  const what = JSON.stringify([v.db, v.t === run.adopted ? '' : v.t, v.q, v.w, v.any, v.f, v.split, v.from, v.to,
    zone.value, many && v.cols, v.lq]);
  // before the next frame: what is shown is stale then
  useLayoutEffect(() => {
    void run.run().then(() => {
      if (!v.lq && run.scope.value && !run.error.value && !run.problem.value) remember(run);
    });
  }, [what]);
  useEffect(() => () => run.stop(), []);
  useEffect(() => {
    if (!refresh.value || v.lq) return;
    const timer = setInterval(() => {
      if (!document.hidden && !run.busy.value && !reading.current)
        void bring(() => import('./logsagain.js')).then((m) => m.again(run, grid.current, reading));
    }, refresh.value * 1000);
    return () => clearInterval(timer);
  }, [refresh.value, v.lq === '']);

  const grid = useRef(/** @type {import('../ui/grid.js').Grid|null} */ (null));
  const [open, setOpen] = useState(
    /** @type {{index: number, row: any[], columns: import('../core/rowset.js').Column[], alike?: number}|null} */
    (null));
  const [exporting, setExporting] = useState(false);
  const [drawerTab, setDrawerTab] = useState('fields');
  const [panel, setPanel] = useState(() => innerWidth > 800 && store.read('logs.panel', innerWidth > 1000));
  const rows = run.rows.value, roles = run.roles.value, columns = run.columns.value;
  const [finding, setFinding] = useState(false);
  const reading = useRef(false);
  const live = v.live && v.tab === 'rows', wasLive = useRef(false);
  // while a row is open the page does not run again by itself, so that the row stays; a live list runs by itself anyway
  reading.current = open !== null || live;
  useEffect(() => { // load the rows anew: those there are from before the list was live
    if (wasLive.current && !live) void run.run();
    wasLive.current = live;
  }, [live]);
  useLayoutEffect(() => { setOpen(null); }, [rows, run.folded.value]);
  useEffect(() => { void run.refold(); }, [v.fold]);
  useEffect(() => { if (v.at && run.scope.value) void openNamed(v.at); }, [v.at, run.scope.value?.table]);

  const table = run.scope.value?.table ?? run.table();
  const found = useMemo(() => searched(v.q, { message: roles?.message ?? null, fields: columns, anyCase: v.any }),
    [v.q, v.any, columns, roles, reader.value]);
  const marks = useMemo(() => (v.w ? null : reader.value?.hits(found.words) ?? null), [found, v.w]);
  const shown = useMemo(() => (v.cols.length > 0 ? v.cols.filter((/** @type {string} */ n) => n !== none)
    : (roles?.stream ?? []).slice(0, innerWidth < 800 ? 0 : 1)), [v.cols.join('\u0001'), roles]);

  const showing = useRef(0);
  const show = async (/** @type {number} */ index) => {
    if (!rows || index < 0 || index >= rows.count) return;
    const turn = ++showing.current, [row] = await rows.slice(index, index + 1),
      found = await wholeOf(row, rows.columns);
    if (turn === showing.current) setOpen({ index, ...found });
  };
  /**
   * wholeOf is a row with all columns of the table, where the list has some of them. When the request fails it is the
   * row as the list has it: the drawer says so.
   */
  const wholeOf = async (/** @type {any[]} */ row, /** @type {import('../core/rowset.js').Column[]} */ columns) => {
    const known = { row: row.slice(0, columns.length), columns }, scope = run.scope.value;
    return !scope || columns.length >= scope.columns.length ? known
      : bring(() => import('./logsrow.js')).then((m) => m.whole(scope, known.row, columns)).catch(() => known);
  };
  const openNamed = async (/** @type {string} */ name) => {
    const scope = run.scope.value;
    const found = scope && await bring(() => import('./logsrow.js')).then((m) => m.rowOf(scope, name))
      .catch(() => null);
    if (!found) return toast('This row is not there any more.', { kind: 'bad' });
    setDrawerTab('context');
    setOpen({ index: -1, ...found });
  };
  const nameOf = async (/** @type {any[]} */ row, /** @type {import('../core/rowset.js').Column[]} */ of) =>
    (roles ? (await import('./logsrow.js')).nameOf(row.slice(0, of.length), of, roles) : '');
  const [opened, setOpened] = useState('');
  useEffect(() => {
    let wanted = true;
    setOpened('');
    // without a name it is neither pinned nor linked
    if (open) nameOf(open.row, open.columns).then((name) => { if (wanted) setOpened(name); }, () => {});
    return () => { wanted = false; };
  }, [open, roles]);
  const pin = (/** @type {string} */ name) => {
    if (name) state.set({ pins: v.pins.includes(name) ? v.pins.filter((/** @type {string} */ p) => p !== name)
      : [...v.pins, name] }, false);
  };
  const link = async () =>
    copy(await router.address('logs', { ...router.params.value, t: table, at: opened }), 'Link to the row copied');
  const step = (/** @type {number} */ by) => {
    if (!open || open.index < 0) return;
    grid.current?.select(open.index + by);
    void show(open.index + by);
  };
  const filter = (/** @type {string} */ field, /** @type {any} */ value, /** @type {boolean} */ negated, only = false,
    /** @type {import('../ui/json.js').Path|undefined} */ path = undefined) => {
    const chip = JSON.stringify([field, value, negated ? 'n' : '', ...(path ? [path] : [])]);
    if (only) state.set({ f: [chip], q: '', w: '' });
    else if (!v.f.includes(chip)) state.set({ f: [...v.f, chip] });
  };
  const kept = `logs.cols.${v.db}.${table}`;
  const setColumns = (/** @type {string[]} */ names) => {
    store.write(kept, names);
    state.set({ cols: names.length > 0 ? names : [none] });
  };
  const toggleColumn = (/** @type {string} */ name) =>
    setColumns(shown.includes(name) ? shown.filter((/** @type {string} */ n) => n !== name) : [...shown, name]);
  useLayoutEffect(() => { // as the table was looked at before; at once, or columns of a link were lost
    const names = store.read(kept, /** @type {string[]|null} */ (null));
    if (run.scope.value && names && v.cols.length === 0) state.set({ cols: names.length > 0 ? names : [none] }, false);
  }, [run.scope.value?.table]);
  const defaults = () => {
    store.forget(kept);
    store.forget(`logs.widths.${v.db}.${table}`);
    state.set({ cols: [] });
  };
  const close = () => {
    setOpen(null);
    state.set({ at: '' }, false);
    grid.current?.root.focus();
  };
  const focused = (/** @type {boolean} */ negated) => {
    const g = grid.current, row = g && g.focus >= 0 ? g.row(g.focus) : undefined;
    if (!g || !row || !rows) return;
    const name = g.columns[g.focusColumn]?.name ?? '';
    const c = rows.columns.findIndex((x) => x.name === name);
    if (c >= 0) filter(name, row[c], negated);
  };
  const widths = store.read(`logs.widths.${v.db}.${table}`, /** @type {Record<string, number>} */ ({}));

  useKeys([
    { keys: '/', text: 'Search', run: () => document.getElementById('logs-search')?.focus() },
    { keys: 'Mod+Enter', text: 'Run', run: () => void run.run() },
    { keys: 'r', text: 'Run again', run: () => void run.run() },
    { keys: 'f', text: 'Field panel', run: () => togglePanel() },
    { keys: 'w', text: 'Wrap long lines', run: () => state.set({ wrap: !v.wrap }, false) },
    { keys: 'l', text: 'Live', run: () => state.set({ live: !v.live }) },
    { keys: 'Mod+f', text: 'Find in the loaded rows', field: true,
      run: () => (finding ? false : Find.load().then(() => setFinding(true))) },
    { keys: 'Escape', text: 'Close the drawer', run: () => { if (open) close(); else setFinding(false); } },
    { keys: 'j', text: 'Next row', run: () => grid.current?.move(1) },
    { keys: 'k', text: 'Row before', run: () => grid.current?.move(-1) },
    { keys: '[', text: 'Drawer tab before', run: () => setDrawerTab(turn(drawerTab, -1)) },
    { keys: ']', text: 'Next drawer tab', run: () => setDrawerTab(turn(drawerTab, 1)) },
    { keys: 'x', text: 'Context of the row',
      run: () => { const i = grid.current?.focus ?? -1; setDrawerTab('context'); void show(i); } },
    { keys: 'c', text: 'Copy the selected rows',
      run: async () => (await bring(() => import('./logsview.js'))).copyRows(rows, grid.current) },
    { keys: 'd', text: 'Fold equal rows', run: () => state.set({ fold: !v.fold }, false) },
    { keys: 'o', text: 'Rows as JSON', run: () => state.set({ json: !v.json }, false) },
    { keys: 'p', text: 'Pin the row', run: () => {
      const row = grid.current?.row(grid.current.focus);
      if (open) pin(opened);
      else if (row && rows) void wholeOf(row, rows.columns).then((w) => nameOf(w.row, w.columns)).then(pin, () => {});
    } },
    { keys: '+', text: 'Filter by the focused value', run: () => focused(false) },
    { keys: '-', text: 'Exclude the focused value', run: () => focused(true) },
  ]);
  const togglePanel = () => {
    store.write('logs.panel', !panel);
    setPanel(!panel);
  };
  const zoom = (/** @type {bigint} */ from, /** @type {bigint} */ to) => setRange(rfc3339(from), rfc3339(to));

  if (v.lq) return html`<${Bar} run=${run} state=${state} found=${found} />
    <${LogQL} run=${run} state=${state} />`;
  const tables = run.tables.value;
  if (tables && tables.length === 0 && !v.t)
    return html`<${Bar} run=${run} state=${state} found=${found} onExport=${() => setExporting(true)} />
      <${Empty} run=${run} state=${state} />`;
  const missing = tables && !run.busy.value && !run.scope.value, problem = run.problem.value;
  const body = `logs-body ${run.stale('scope') ? 'stale' : ''}`, main = `logs-main ${run.stale('rows') ? 'stale' : ''}`;
  return html`
    <${Bar} run=${run} state=${state} found=${found} onExport=${() => setExporting(true)} />
    <${Where} state=${state} found=${found} run=${run} />
    ${missing ? html`<${Empty} run=${run} state=${state} />` : problem
      ? html`<${Unread} q=${v.q} problem=${problem} onSearch=${(/** @type {string} */ q) => state.set({ q })} />`
      : html`
    <${HistogramPanel} run=${run} state=${state} onRow=${(/** @type {string} */ name) => void openNamed(name)}
      onRange=${zoom} onWider=${() => shift(0)} onFilter=${filter} />
    <div class="logs-status">
      <span class="figures"><${Figures} run=${run} live=${live} /></span>
      <span class="grow"></span>
      ${finding && html`<${Find} rows=${rows} turn=${`${run.grown.value} ${run.folded.value}`} grid=${grid}
        onClose=${() => setFinding(false)} />`}
      <${Tabs} label="View" tabs=${views} tab=${v.tab} onTab=${(/** @type {string} */ tab) => state.set({ tab })} />
      <${Pop} title="How rows look, and copying them" className="quiet small" side="right" menu label="View">
        ${(close) => html`<${ViewMenu} state=${state} rows=${rows} grid=${grid.current} onDefaults=${defaults}
          close=${close} />`}</${Pop}>
      <button class="quiet small icon" aria-pressed=${panel ? 'true' : 'false'} title="Field panel (f)"
        aria-label="Field panel" onClick=${togglePanel}><${Icon} name="fields" /></button>
    </div>
    <div class=${body}>
      ${((panel && !(open && innerWidth < 1500)) || v.tab === 'fields') &&
        html`<${FieldPanel} run=${run} state=${state} wide=${v.tab === 'fields'} shown=${shown} onFilter=${filter}
          onColumn=${toggleColumn} onClose=${togglePanel} />`}
      ${v.tab === 'patterns' && html`<${Patterns} run=${run} state=${state} />`}
      ${v.tab === 'changes' && html`<${Changes} run=${run} onFilter=${filter} />`}
      ${live && html`<div class="logs-main">
        <${Live} run=${run} shown=${shown} hits=${marks} wrap=${v.wrap} json=${v.json} fold=${v.fold}
          held=${open !== null} onRow=${(/** @type {any[]} */ row, cols) => setOpen({ index: -1, row, columns: cols })}
            onStop=${() => state.set({ live: false })} /></div>`}
      ${v.tab === 'rows' && !live && html`<div class=${main}>
        ${run.error.value && html`<${ErrorBox} error=${run.error.value}>
          <button class="small" onClick=${() => run.run()}>Try again</button></${ErrorBox}>`}
        ${rows && rows.count > 0 && roles &&
          html`<${LogsList} rows=${rows} grown=${run.grown.value} folded=${run.folded.value} roles=${roles}
            shown=${shown} hits=${marks} wrap=${v.wrap} json=${v.json} widths=${widths} onOrder=${setColumns}
          onWidth=${(/** @type {string} */ n, /** @type {number} */ w) =>
            store.change(`logs.widths.${v.db}.${table}`, widths, (kept) => ({ ...kept, [n]: w }))}
          onOpen=${show} onMove=${(/** @type {number} */ i) => { if (open) void show(i); }}
            onEnd=${() => void bring(() => import('./logsmore.js')).then((m) => m.more(run))}
              onGrid=${(g) => { grid.current = g; }} />`}
        ${rows && rows.count === 0 && !run.error.value && !run.stale('rows') &&
          html`<${NothingFound} run=${run} state=${state} found=${found} />`}
      </div>`}
      ${open && html`<${RowDrawer} run=${run} columns=${open.columns} row=${open.row} alike=${open.alike ?? 1}
        tab=${drawerTab} onTab=${setDrawerTab} onClose=${close}
          onPrevious=${open.index < 0 ? undefined : () => step(-1)} onNext=${open.index < 0 ? undefined : () => step(1)}
            onFilter=${filter} shown=${shown} onColumn=${toggleColumn} pinned=${v.pins.includes(opened)}
              onPin=${() => pin(opened)} onLink=${() => void link()} />`}
    </div>`}
    ${exporting && html`<${Export} run=${run} shown=${shown} onClose=${() => setExporting(false)} />`}`;
}

/** The value of the key of columns in the address that means: no columns. */
const none = '-';

const views = [{ id: 'rows', text: 'Rows' }, { id: 'patterns', text: 'Patterns' }, { id: 'fields', text: 'Fields' },
  { id: 'changes', text: 'What changed' }];
const drawerTabs = ['fields', 'json', 'context', 'trace'];

/** @param {string} tab @param {number} by */
const turn = (tab, by) => drawerTabs[(drawerTabs.indexOf(tab) + by + drawerTabs.length) % drawerTabs.length];

/**
 * @param {{run: LogsRun, state: import('../core/state.js').PageState, found: import('../core/search.js').Found,
 *   onExport?: () => void}} props what asks for an export; without it the page shows a log query
 */
function Bar({ run, state, found, onExport }) {
  return html`<div class="toolbar">
    <h1 class="only-read">Logs</h1>
    ${onExport && html`<${TableChooser} run=${run} state=${state} />`}
    <${SearchBox} run=${run} state=${state} found=${found} />
    <${TimePicker} />
    <button class="primary" onClick=${() => run.run()} title="Run (Ctrl+Enter)"><${Icon} name="play" />Run</button>
    ${onExport && html`<button aria-pressed=${state.get('live') ? 'true' : 'false'} title="Live (l)"
      onClick=${() => state.set({ live: !state.get('live'), tab: 'rows' })}><${Icon} name="live" />Live</button>
    <${Pop} title="Kept views" side="right" menu label="Views">
      ${(close) => html`<${Views} run=${run} close=${close} />`}</${Pop}>
    <${Pop} title="More" className="icon" side="right" menu label=${html`<${Icon} name="menu" />`}>
      ${(close) => html`<${LogsMenu} run=${run} onExport=${onExport} close=${close} />`}</${Pop}>`}
  </div>`;
}

/**
 * Where shows the query as SQL and the chips.
 * @param {{state: import('../core/state.js').PageState, found: import('../core/search.js').Found, run: LogsRun}} props
 */
function Where({ state, found, run }) {
  const v = state.values.value;
  const list = chips(v.f);
  const scope = run.scope.value;
  const on = list.filter((c) => !c[2].includes('o')).map((c) => chipCondition(c, run.columns.value));
  const sql = on.length > 0 ? [...(v.w ? [`(${v.w})`] : found.parts), ...on].join(' AND ') : v.w || found.sql;
  return html`<div class="logs-where">
    <code class="sql" title=${sql}>
      ${sql ? html`<span class="kw">WHERE</span> ${sql}`
        : html`<span class="faint">${run.problem.value ? 'no rows' : 'all rows of the range'}</span>`}</code>
    ${list.length > 0 && html`<${Chips} list=${list} columns=${run.columns.value} state=${state} />`}
    <span class="grow"></span>
    ${scope && html`<span class="small acts-line">
      ${v.w ? html`<button class="small" onClick=${() => state.set({ w: '' })}>Back to search</button>` : ''}
      <button class="small" title="Copy the statement of the rows"
        onClick=${() => copy(run.sql.value.rows, 'SQL copied')}><${Icon} name="copy" />SQL</button></span>`}
  </div>`;
}

/**
 * Figures shows the exact number of rows; for a live list also up to when they are counted. It shows nothing that is
 * stale.
 * @param {{run: LogsRun, live: boolean}} props
 */
function Figures({ run, live }) {
  const rows = run.rows.value, total = run.stale('histogram') ? null : run.total.value, buckets = run.buckets.value;
  if (run.error.value) return rows ? 'The query failed; the rows below are from the run before.' : 'The query failed.';
  const all = html`<b class="num">
    ${total === null ? (run.histogramError.value ? 'unknown total' : '…') : plural(total, 'row')}</b>`;
  if (live) return html`${all}
    ${total !== null && buckets && html`<span class="num">until ${showTime(buckets.range.to, 0, zone.value)}</span>`}`;
  if (!rows || run.stale('rows')) return run.busy.value && html`${total !== null && all}<span>Asking…</span>`;
  return html`${all}
    <span class="num">${run.elapsedMS.value.toFixed(0)} ms</span>
    <span class="num">${count(rows.total)} loaded${run.complete.value ? '' : ', more on scrolling'}</span>
    ${run.held.value && buckets &&
      html`<span class="num">as of ${showTime(buckets.range.to, 0, zone.value)}, r asks anew</span>`}
    ${rows.columns.length < run.columns.value.length &&
      html`<span class="num">${count(rows.columns.length)} of ${count(run.columns.value.length)} columns asked
        for</span>`}`;
}
