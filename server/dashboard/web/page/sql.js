// The SQL page: a tree of tables, an editor with tabs, and what the statements gave: table, chart, plan, JSON, log.

import { html, useEffect, useMemo, useRef, useState } from '../lib/ui.js';
import { count, duration, plural } from '../core/format.js';
import { format, split, statementAt } from '../core/statements.js';
import { request } from '../core/api.js';
import * as saved from '../core/saved.js';
import * as store from '../core/store.js';
import { zone } from '../core/state.js';
import { showTime } from '../core/time.js';
import { Tabs } from '../ui/drawer.js';
import { Editor } from '../ui/editor.js';
import { ErrorBox } from '../ui/error.js';
import { Icon } from '../ui/icons.js';
import { TimePicker } from '../ui/timepicker.js';
import { toast } from '../ui/toast.js';
import { useKeys } from '../ui/usekeys.js';
import { ResultChart } from './sqlchart.js';
import { complete } from './sqlcomplete.js';
import { ResultGrid } from './sqlgrid.js';
import { History } from './sqlhistory.js';
import { Plan, isPlan } from './sqlplan.js';
import { SQLRun } from './sqlrun.js';
import { keepTabs, newTab, readTabs } from './sqltabs.js';
import { Tree } from './sqltree.js';

/** @type {Record<string, import('../core/state.js').Key>} */
export const state = {
  sql: { type: 'text', default: '' },
  view: { type: 'text', default: 'table', of: ['table', 'chart', 'plan', 'json', 'log'] },
  kind: { type: 'text', default: 'auto', of: ['auto', 'area', 'stacked', 'bars', 'points'] },
  log: { type: 'switch', default: false },
  zero: { type: 'switch', default: false },
  unit: { type: 'text', default: '' },
  lim: { type: 'number', default: 10_000 },
};

const limits = [1000, 10_000, 100_000];

/** @param {{state: import('../core/state.js').PageState}} props */
export function Page({ state }) {
  const run = useMemo(() => new SQLRun(), []);
  const [{ tabs, active }, setTabs] = useState(() => readTabs(state.get('sql')));
  const [tree, setTree] = useState(() => innerWidth > 900 && store.read('sql.tree', true));
  const [history, setHistory] = useState(false);
  const editor = useRef(/** @type {import('../ui/editor.js').EditorHandle|null} */ (null));
  const v = state.values.value;
  const limit = Math.min(100_000, Math.max(1, v.lim));
  const tab = tabs.find((t) => t.id === active) ?? tabs[0];
  const timer = useRef(0);

  const change = (/** @type {string} */ text) => {
    setTabs((s) => ({ ...s, tabs: s.tabs.map((t) => (t.id === s.active ? { ...t, text } : t)) }));
    clearTimeout(timer.current);
    timer.current = setTimeout(() => state.set({ sql: text }, false), 400);
  };
  useEffect(() => () => clearTimeout(timer.current), []);
  useEffect(() => { keepTabs(tabs, active); }, [tabs, active]);
  useEffect(() => { void saved.load().catch(() => {}); }, []);
  useEffect(() => { // Back and Forward, and links from other pages
    const sql = v.sql;
    const now = editor.current?.text();
    if (sql && now !== undefined && sql !== now) openTab(sql);
  }, [v.sql]);

  const openTab = (/** @type {string} */ text, /** @type {string|undefined} */ name = undefined) => {
    setTabs((s) => {
      const same = s.tabs.find((t) => t.text === text);
      const blank = s.tabs.find((t) => t.id === s.active && t.text.trim() === '');
      if (same) return { ...s, active: same.id };
      if (blank) return { ...s, tabs: s.tabs.map((t) => (t === blank ? { ...t, text, name: name ?? t.name } : t)) };
      const made = newTab(s.tabs, text, name);
      return { tabs: [...s.tabs, made], active: made.id };
    });
    editor.current?.setText(text);
  };
  const choose = (/** @type {number} */ id) => {
    const next = tabs.find((t) => t.id === id);
    if (!next) return;
    setTabs({ tabs, active: id });
    editor.current?.setText(next.text);
    state.set({ sql: next.text });
    editor.current?.focus();
  };
  const close = (/** @type {number} */ id) => {
    const left = tabs.filter((t) => t.id !== id);
    if (left.length === 0) left.push(newTab([], ''));
    const next = id === active ? left[left.length - 1].id : active;
    setTabs({ tabs: left, active: next });
    editor.current?.setText(left.find((t) => t.id === next)?.text ?? '');
  };
  const execute = (/** @type {'statement'|'all'} */ mode) => {
    const e = editor.current;
    const text = e?.text() ?? tab.text;
    const { from, to } = e?.selection() ?? { from: 0, to: 0 };
    const what = to > from ? text.slice(from, to) : mode === 'all' ? text : statementAt(text, from)?.text ?? '';
    if (what.trim() === '') return;
    clearTimeout(timer.current);
    state.set({ sql: text, view: v.view === 'plan' && !/\bEXPLAIN\b/i.test(what) ? 'table' : v.view });
    void run.run(what, limit);
  };
  const runText = (/** @type {string} */ sql) => {
    openTab(sql);
    state.set({ sql, view: 'table' });
    void run.run(sql, limit);
  };
  const explain = () => {
    const text = editor.current?.text() ?? tab.text;
    const s = statementAt(text, editor.current?.selection().from ?? 0)?.text;
    if (!s) return;
    state.set({ view: 'plan' });
    void run.run(/^\s*EXPLAIN\b/i.test(s) ? s : 'EXPLAIN ANALYZE ' + s, limit);
  };
  const toggleTree = () => {
    store.write('sql.tree', !tree);
    setTree(!tree);
  };
  useKeys([
    { keys: '/', text: 'To the editor', run: () => editor.current?.focus() },
    { keys: 'Mod+Enter', text: 'Run the statement under the cursor, or the selection', run: () => execute('statement') },
    { keys: 'Mod+Shift+Enter', text: 'Run all statements', run: () => execute('all') },
    { keys: 'r', text: 'Run again', run: () => execute('statement') },
    { keys: 'f', text: 'Tables', run: toggleTree },
  ]);
  return html`<div class="toolbar">
      <h1 class="only-read">SQL</h1>
      <button class="quiet icon" aria-pressed=${tree ? 'true' : 'false'} title="Tables (f)" aria-label="Tables" onClick=${toggleTree}><${Icon} name="fields" /></button>
      <div class="sql-tabs" role="group" aria-label="Queries">${tabs.map((t) => html`<span key=${t.id} class="sql-tab ${t.id === active ? 'on' : ''}"><button aria-current=${t.id === active ? 'true' : undefined} onClick=${() => choose(t.id)} title=${t.text.slice(0, 300)}>${t.name}</button><button class="x" aria-label=${`Close ${t.name}`} onClick=${() => close(t.id)}>×</button></span>`)}
        <button class="quiet small icon" title="New query" aria-label="New query" onClick=${() => { const made = newTab(tabs, ''); setTabs({ tabs: [...tabs, made], active: made.id }); editor.current?.setText(''); editor.current?.focus(); }}><${Icon} name="plus" /></button></div>
      <span class="grow"></span>
      <${TimePicker} />
      <button onClick=${() => setHistory(!history)} aria-pressed=${history ? 'true' : 'false'}><${Icon} name="clock" />History</button>
    </div>
    <div class="sql-page">
      ${tree && html`<${Tree} onInsert=${(/** @type {string} */ t) => { editor.current?.insert(t); editor.current?.focus(); }} onRun=${runText} />`}
      <div class="sql-main">
        <div class="sql-editor"><${Editor} value=${tab.text} label="SQL editor" onChange=${change} onRun=${execute} onReady=${(/** @type {any} */ h) => { editor.current = h; h?.focus(); }}
          extensions=${(/** @type {any} */ lib) => extensions(lib)} /></div>
        <div class="sql-actions small">
          ${run.busy.value ? html`<button class="small" onClick=${() => run.cancel()}><${Icon} name="stop" />Cancel</button>` : html`<button class="primary small" onClick=${() => execute('statement')} title="Ctrl+Enter"><${Icon} name="play" />Run</button>`}
          <button class="small" title="Ctrl+Shift+Enter" disabled=${run.busy.value} onClick=${() => execute('all')}>Run all</button>
          <button class="small" disabled=${run.busy.value} onClick=${explain}>Explain</button>
          <button class="small" onClick=${() => editor.current?.setText(format(editor.current.text()))}>Format</button>
          <span class="grow"></span>
          <label>at most <select aria-label="At most so many rows" value=${String(limit)} onChange=${(/** @type {any} */ e) => state.set({ lim: Number(e.target.value) }, false)}>${limits.map((n) => html`<option key=${n} value=${String(n)}>${count(n)} rows</option>`)}</select></label>
        </div>
        <${Results} run=${run} state=${state} limit=${limit} />
      </div>
      ${history && html`<${History} run=${run} onOpen=${(/** @type {string} */ sql, /** @type {string} */ name) => { openTab(sql, name); toast('Opened in a tab'); }} onClose=${() => setHistory(false)} />`}
    </div>`;
}

const views = [{ id: 'table', text: 'Table' }, { id: 'chart', text: 'Chart' }, { id: 'plan', text: 'Plan' }, { id: 'json', text: 'JSON' }, { id: 'log', text: 'Log' }];

/** @param {{run: SQLRun, state: import('../core/state.js').PageState, limit: number}} props */
function Results({ run, state, limit }) {
  const results = run.results.value;
  const r = results[run.shown.value];
  const view = state.get('view');
  if (results.length === 0) return html`<div class="sql-results"><p class="state soft">${run.busy.value ? 'Running…' : html`<kbd>Ctrl</kbd> <kbd>Enter</kbd> runs the statement under the cursor. <code>$from</code>, <code>$to</code> and <code>$step</code> stand for the time range.`}</p></div>`;
  const plan = r?.rows && isPlan(r.rows.columns);
  return html`<div class="sql-results">
    <div class="sql-views">
      <${Tabs} label="View of the result" tabs=${views} tab=${view} onTab=${(/** @type {string} */ id) => state.set({ view: id }, false)} />
      <span class="grow"></span>
      ${results.length > 1 && html`<span class="result-list small">${results.map((x, i) => html`<button key=${x.id} class="small ${x.error ? 'danger' : ''}" aria-pressed=${i === run.shown.value ? 'true' : 'false'} title=${x.sql.slice(0, 300)} onClick=${() => { run.shown.value = i; }}>${i + 1}</button>`)}</span>`}
      ${r && html`<span class="soft num">${duration(r.elapsedMS)}</span>`}
    </div>
    ${view === 'log' ? html`<${Log} run=${run} />` : r?.error ? html`<${ErrorBox} error=${r.error} />`
    : r?.rows ? (view === 'plan' || plan && view === 'table' ? html`<${PlanView} key=${r.id} rows=${r.rows} plan=${plan} />` : view === 'chart' ? html`<div class="sql-chart" key=${r.id}><${ResultChart} rows=${r.rows} state=${state} /></div>` : view === 'json' ? html`<${JSONView} key=${r.id} rows=${r.rows} />` : html`<${ResultGrid} key=${r.id} rows=${r.rows} cut=${r.cut} limit=${limit} />`)
    : r && html`<p class="state">${plural(r.affected ?? 0, 'row')} changed.</p>`}
  </div>`;
}

/** @param {{rows: import('../core/rows.js').Rows, plan: boolean}} props */
function PlanView({ rows, plan }) {
  const [plans, setPlans] = useState(/** @type {{title: string, text: string}[]} */ ([]));
  useEffect(() => {
    if (!plan) return;
    const at = rows.columns.findIndex((c) => c.name === 'plan');
    rows.slice(0, 20).then((list) => setPlans(list.filter((r) => !/^Total rows/.test(r[at])).map((r) => ({ title: rows.columns[0].name === 'plan_type' ? String(r[0]).replace('_', ' ') : 'Measured plan', text: String(r[at]) }))), () => {});
  }, [rows]);
  if (!plan) return html`<p class="state soft">The plan of a statement is shown by Explain above: it runs the statement and measures each step.</p>`;
  return html`<${Plan} plans=${plans} />`;
}

/** @param {{rows: import('../core/rows.js').Rows}} props */
function JSONView({ rows }) {
  const [text, setText] = useState('');
  const most = 1000;
  useEffect(() => { rows.text({ format: 'json', from: 0, to: most }).then(setText, () => {}); }, [rows]);
  return html`<div class="content json"><pre>${text}</pre>${rows.count > most && html`<p class="soft">${count(rows.count)} rows, the first ${count(most)} are shown here</p>`}</div>`;
}

/** Log lists each statement with its time and rows. @param {{run: SQLRun}} props */
const Log = ({ run }) => html`<div class="content"><table class="list"><thead><tr><th>began</th><th class="num">took</th><th class="num">rows</th><th>statement</th></tr></thead><tbody>
  ${run.results.value.map((r) => html`<tr key=${r.id}><td class="num nowrap">${showTime(BigInt(r.at) * 1_000_000n, 3, zone.value)}</td><td class="num">${duration(r.elapsedMS)}</td><td class="num">${r.error ? 'error' : r.rows ? count(r.rows.count) + (r.cut ? '+' : '') : count(r.affected ?? 0)}</td><td><pre>${r.sql}</pre>${r.error && html`<div class="level-error">${r.error.message}</div>`}</td></tr>`)}</tbody></table></div>`;

/** extensions are the language, its completion, its check while nothing is typed, and the mark at the statement. @param {any} lib */
function extensions(lib) {
  const dialect = lib.SQLDialect.define({
    ...lib.PostgreSQL.spec, operatorChars: '+-*/<>=~!@#%^&|`?', doubleQuotedStrings: false,
    keywords: lib.PostgreSQL.spec.keywords + ' range align fill linear prev tql eval ilike describe databases admin time index engine explain analyze truncate copy',
    types: lib.PostgreSQL.spec.types + ' string uint8 uint16 uint32 uint64 int8 int16 int32 int64 float32 float64 timestamp_ms timestamp_us timestamp_ns',
  });
  const mark = lib.Decoration.line({ class: 'cm-statement' });
  const marks = lib.ViewPlugin.fromClass(class {
    /** @param {any} view */
    constructor(view) { this.decorations = this.make(view); }
    /** @param {any} u */
    update(u) { if (u.docChanged || u.selectionSet) this.decorations = this.make(u.view); }
    /** @param {any} view */
    make(view) {
      const text = view.state.doc.toString();
      const s = text.length < 200_000 && split(text).length > 1 ? statementAt(text, view.state.selection.main.head) : null;
      const builder = new lib.RangeSetBuilder();
      if (s) for (let n = view.state.doc.lineAt(s.from).number; n <= view.state.doc.lineAt(s.to).number; n++) builder.add(view.state.doc.line(n).from, view.state.doc.line(n).from, mark);
      return builder.finish();
    }
  }, { decorations: (/** @type {any} */ p) => p.decorations });
  return [
    new lib.LanguageSupport(dialect.language), marks, lib.autocompletion({ override: [complete], maxRenderedOptions: 60 }),
    lib.linter(check, { delay: 1000 }), lib.placeholder('SELECT …'),
  ];
}

/** check asks the server whether the text can be read; it is asked one second after typing. @param {import('@codemirror/view').EditorView} view */
async function check(view) {
  const text = view.state.doc.toString();
  const found = [];
  if (text.length > 100_000) return [];
  for (const s of split(text).slice(0, 20)) {
    try {
      await request('v1/sql/parse', { method: 'POST', body: new URLSearchParams({ sql: s.text }), background: true });
    } catch (e) {
      const message = e instanceof Error ? e.message : '';
      const at = /\bline (\d+), column (\d+)/.exec(message);
      if (!at || s.text.includes('$')) continue;
      let from = s.from;
      for (let line = 1; line < Number(at[1]); line++) from = text.indexOf('\n', from) + 1;
      from = Math.min(from + Number(at[2]) - 1, s.to - 1);
      const word = /^[\w"]+|^./.exec(text.slice(from))?.[0] ?? ' ';
      found.push({ from, to: Math.min(text.length, from + word.length), severity: /** @type {const} */ ('error'), message });
    }
  }
  return found;
}
