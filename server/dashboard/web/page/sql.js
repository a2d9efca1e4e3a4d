// The SQL page: a tree of tables, an editor with tabs, and what the statements gave: table, chart, plan, JSON, log.

import { html, useEffect, useLayoutEffect, useMemo, useRef, useState } from '../lib/ui.js';
import { bring } from '../core/api.js';
import { count, oneLine } from '../core/format.js';
import { format, statementAt } from '../core/statements.js';
import * as saved from '../core/saved.js';
import * as router from '../core/router.js';
import { closed, refresh, session } from '../core/state.js';
import * as store from '../core/store.js';
import { Editor, load } from '../ui/editor.js';
import { Icon } from '../ui/icons.js';
import { lazy } from '../ui/lazy.js';
import { TimePicker } from '../ui/timepicker.js';
import { toast } from '../ui/toast.js';
import { useKeys } from '../core/keys.js';
import { usePoll } from '../ui/usepoll.js';
import { extensions } from './sqllanguage.js';
import { SQLRun } from './sqlrun.js';
import { adoptTabs, followTabs, keepTabs, newTab, readTabs } from './sqltabs.js';
import { Tree } from './sqltree.js';

const History = lazy(() => import('./sqlhistory.js'), 'History');
const Results = lazy(() => import('./sqlresults.js'), 'Results', undefined, true);

/** @type {Record<string, import('../core/state.js').Key>} */
export const state = {
  sql: { type: 'text', default: '' },
  view: { type: 'text', default: 'table', of: ['table', 'chart', 'plan', 'json', 'log'] },
  kind: { type: 'text', default: 'auto', of: ['auto', 'area', 'stacked', 'bars', 'points'] },
  log: { type: 'switch', default: false },
  zero: { type: 'switch', default: false },
  unit: { type: 'text', default: '' },
  x: { type: 'text', default: '' }, y: { type: 'text', default: '' }, by: { type: 'text', default: '' },
  lim: { type: 'number', default: 10_000 },
};

const limits = [1000, 10_000, 100_000];

/** @param {{state: import('../core/state.js').PageState}} props */
export function Page({ state }) {
  const run = useMemo(() => new SQLRun(), []);
  const [here, setTabs] = useState(() => readTabs(state.get('sql')));
  const { tabs, active } = here;
  const adopted = useRef(/** @type {typeof here|null} */ (null)); // from another window: not written again
  const [tree, setTree] = useState(() => innerWidth > 900 && store.read('sql.tree', true));
  const [history, setHistory] = useState(false);
  const editor = useRef(/** @type {import('../ui/editor.js').EditorHandle|null} */ (null));
  // the editor loads late: it takes the focus only if nobody moved it meanwhile
  const from = useRef(document.activeElement);
  const v = state.values.value;
  const limit = Math.min(100_000, Math.max(1, v.lim));
  const tab = tabs.find((t) => t.id === active) ?? tabs[0];
  const timer = useRef(0);

  const change = (/** @type {string} */ text) => {
    setTabs((s) => ({ ...s, tabs: s.tabs.map((t) => (t.id === s.active ? { ...t, text } : t)) }));
    clearTimeout(timer.current);
    timer.current = setTimeout(() => state.set({ sql: text }, false), 400);
  };
  useEffect(() => () => {
    clearTimeout(timer.current);
    run.end();
  }, []);
  useEffect(() => { if (here !== adopted.current) keepTabs(tabs, active, v.sql); }, [here, v.sql]);
  // The address says what is shown, from the last visit too. At once: a link that came before would be lost.
  useLayoutEffect(() => { if (tab.text) state.set({ sql: tab.text }, false); }, []);
  useLayoutEffect(() => followTabs(() => setTabs((s) => (adopted.current = adoptTabs(s)))), []);
  useEffect(() => { void saved.load().catch(() => {}); }, []);
  // Follows Back, Forward and links from other pages. A layout effect, before the next key, or what is typed meanwhile
  // would be lost. readTabs has followed the first address. Until the editor is loaded, its text is that of the tab.
  const heeded = useRef(v.sql);
  useLayoutEffect(() => {
    const sql = v.sql;
    if (sql && sql !== heeded.current && sql !== (editor.current?.text() ?? tab.text)) openTab(sql);
    heeded.current = sql;
  }, [v.sql]);

  // show puts the text of the tab that is chosen into the editor and the address; what was typed is not written later.
  const show = (/** @type {string} */ text) => {
    clearTimeout(timer.current);
    editor.current?.setText(text);
    state.set({ sql: text }, false);
  };
  const openTab = (/** @type {string} */ text, /** @type {string|undefined} */ name = undefined) => {
    setTabs((s) => {
      const same = s.tabs.find((t) => t.text === text);
      const blank = s.tabs.find((t) => t.id === s.active && t.text.trim() === '');
      if (same) return { ...s, active: same.id };
      if (blank) return { ...s, tabs: s.tabs.map((t) => (t === blank ? { ...t, text, name: name ?? t.name } : t)) };
      const made = newTab(s.tabs, text, name);
      return { tabs: [...s.tabs, made], active: made.id };
    });
    show(text);
  };
  const choose = (/** @type {number} */ id) => {
    const next = tabs.find((t) => t.id === id);
    if (!next) return;
    setTabs({ tabs, active: id });
    state.set({ sql: next.text });
    show(next.text);
    editor.current?.focus();
  };
  const close = (/** @type {number} */ id) => {
    const left = tabs.filter((t) => t.id !== id);
    if (left.length === 0) left.push(newTab([], ''));
    const next = id === active ? left[left.length - 1].id : active;
    setTabs({ tabs: left, active: next });
    show(left.find((t) => t.id === next)?.text ?? '');
  };
  const execute = (/** @type {'statement'|'all'} */ mode) => {
    const e = editor.current;
    const text = e?.text() ?? tab.text;
    const { from, to } = e?.selection() ?? { from: 0, to: 0 };
    const what = to > from ? text.slice(from, to) : mode === 'all' ? text : statementAt(text, from)?.text ?? '';
    if (what.trim() === '' || run.busy.value) return;
    clearTimeout(timer.current);
    state.set({ sql: text, view: v.view === 'plan' && !/\bEXPLAIN\b/i.test(what) ? 'table' : v.view });
    void run.run(what, limit);
  };
  const runText = (/** @type {string} */ sql) => {
    state.set({ sql, view: 'table' });
    openTab(sql);
    void run.run(sql, limit);
  };
  const under = () => statementAt(editor.current?.text() ?? tab.text, editor.current?.selection().from ?? 0)?.text;
  const explain = () => {
    const s = under();
    if (!s || run.busy.value) return;
    state.set({ view: 'plan' });
    void run.run(/^\s*EXPLAIN\b/i.test(s) ? s : 'EXPLAIN ANALYZE ' + s, limit);
  };
  const makeRule = () => {
    const s = under();
    if (s) router.go('alerts', { make: '1', lang: 'sql', e: s.replace(/\$(from|to)\b/g, ':$1') });
  };
  const insert = (/** @type {string} */ text) => {
    if (!editor.current) return change(tab.text + text); // the editor takes the text of its tab when it comes
    editor.current.insert(text);
    editor.current.focus();
  };
  const toggleTree = () => {
    store.write('sql.tree', !tree);
    setTree(!tree);
  };
  useKeys([
    { keys: '/', text: 'To the editor', field: true,
      run: () => (editor.current ? editor.current.focus() : load().then(() => editor.current?.focus())) },
    { keys: 'Mod+Enter', text: 'Run the statement under the cursor, or the selection',
      run: () => execute('statement') },
    { keys: 'Mod+Shift+Enter', text: 'Run all statements', run: () => execute('all') },
    { keys: 'r', text: 'Run again', run: () => execute('statement') },
    { keys: 'f', text: 'Tables', run: toggleTree },
  ]);
  const busy = run.busy.value ? 'true' : undefined; // not disabled, so that a button pressed by a key keeps the focus
  return html`<div class="toolbar">
      <h1 class="only-read">SQL</h1>
      <button class="quiet icon" aria-pressed=${tree ? 'true' : 'false'} title="Tables (f)" aria-label="Tables"
        onClick=${toggleTree}><${Icon} name="fields" /></button>
      <div class="sql-tabs" role="group" aria-label="Queries">
        ${tabs.map((t) => html`<span key=${t.id} class="sql-tab ${t.id === active ? 'on' : ''}">
          <button aria-current=${t.id === active ? 'true' : undefined} onClick=${() => choose(t.id)}
            title=${t.text.slice(0, 300)}>${t.name}</button>
              <button class="x" aria-label=${`Close ${t.name}`} onClick=${() => close(t.id)}>×</button></span>`)}
        <button class="quiet small icon" title="New query" aria-label="New query"
          onClick=${() => {
            const made = newTab(tabs, '');
            setTabs({ tabs: [...tabs, made], active: made.id });
            state.set({ sql: '' });
            show('');
            editor.current?.focus();
          }}><${Icon} name="plus" /></button></div>
      <span class="grow"></span>
      <${TimePicker} />
      <button onClick=${() => setHistory(!history)} aria-pressed=${history ? 'true' : 'false'}>
        <${Icon} name="clock" />History</button>
    </div>
    <div class="sql-page">
      ${tree && html`<${Tree} onInsert=${insert} onRun=${runText} />`}
      <div class="sql-main">
        <div class="sql-editor">
          <${Editor} value=${tab.text} label="SQL editor" onChange=${change} onRun=${execute}
            onReady=${(h) => {
              editor.current = h;
              if ([from.current, document.body].includes(document.activeElement)) h?.focus();
            }}
          extensions=${extensions} /></div>
        <div class="sql-actions small">
          ${run.busy.value ? html`<button class="small" onClick=${() => run.cancel()}>
            <${Icon} name="stop" />Cancel</button>`
            : html`<button class="primary small" onClick=${() => execute('statement')} title="Ctrl+Enter">
              <${Icon} name="play" />Run</button>`}
          <button class="small" title="Ctrl+Shift+Enter" aria-disabled=${busy}
            onClick=${() => execute('all')}>Run all</button>
          <button class="small" aria-disabled=${busy} onClick=${explain}>Explain</button>
          ${session.value.features?.includes('rules') && html`<button class="small"
            title="Make a rule of the statement under the cursor" onClick=${makeRule}>Rule</button>`}
          ${session.value.features?.includes('dashboards') && html`<button class="small" disabled=${closed.value !== ''}
            title=${closed.value || 'Put the statement under the cursor on a board'}
            onClick=${() => void putOnBoard(under(), v)}>Board</button>`}
          <button class="small" onClick=${() => editor.current?.setText(format(editor.current.text()))}>Format</button>
          <span class="grow"></span>
          <label>at most <select aria-label="At most so many rows" value=${String(limit)}
            onChange=${(e) => state.set({ lim: Number(e.target.value) }, false)}>
              ${limits.map((n) => html`<option key=${n} value=${String(n)}>${count(n)} rows</option>`)}</select></label>
        </div>
        ${refresh.value > 0 && html`<${Refresh} key=${refresh.value} run=${run} />`}
        ${run.results.value.length > 0 || run.running.value
          ? html`<${Results} run=${run} state=${state} limit=${limit} />`
          : html`<div class="sql-results">
            <p class="state soft">${run.busy.value ? 'Running…'
              : html`<kbd>Ctrl</kbd> <kbd>Enter</kbd> runs the statement under the
              cursor. <code>$from</code>, <code>$to</code> and <code>$step</code> stand for the time range.`}</p>
              </div>`}
      </div>
      ${history && html`<${History} run=${run}
        onOpen=${(/** @type {string} */ sql, /** @type {string} */ name) => {
          openTab(sql, name);
          toast('Opened in a tab');
        }} onClose=${() => setHistory(false)} />`}
    </div>`;
}

/**
 * putOnBoard puts a statement on a board, in the form that is looked at.
 * @param {string|undefined} sql
 * @param {Record<string, any>} v the state of the page
 */
async function putOnBoard(sql, v) {
  if (!sql) return;
  const { put } = await bring(() => import('./boardput.js'));
  const graph = v.view === 'chart', form = ['stacked', 'bars', 'points'].includes(v.kind) ? v.kind : 'line';
  put({ title: oneLine(sql, 80), type: graph ? 'graph' : 'table', lang: 'sql', unit: v.unit, form,
    queries: [{ q: sql, name: '' }] });
}

/** Refresh runs the last statements as often as the time panel says. @param {{run: SQLRun}} props */
function Refresh({ run }) {
  usePoll(() => run.again(), refresh.value * 1000);
  return null;
}
