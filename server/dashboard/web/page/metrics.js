// The Metrics page: an expression, its graph, its table at one moment, what it is made of, and a drawer that explores.

import { html, useEffect, useMemo, useRef, useState } from '../lib/ui.js';
import { described } from '../core/api.js';
import { duration, oneLine } from '../core/format.js';
import { db, range, refresh } from '../core/state.js';
import { Tabs } from '../ui/drawer.js';
import { Editor } from '../ui/editor.js';
import { ErrorBox } from '../ui/error.js';
import { Icon } from '../ui/icons.js';
import { Pop } from '../ui/pop.js';
import { TimePicker } from '../ui/timepicker.js';
import { copy, toast } from '../ui/toast.js';
import { useKeys } from '../ui/usekeys.js';
import { usePoll } from '../ui/usepoll.js';
import * as ask from './metricsask.js';
import { NoData, NoMetrics } from './metricsempty.js';
import { Explain } from './metricsexplain.js';
import { Explore } from './metricsexplore.js';
import { Graph } from './metricsgraph.js';
import { MetricsRun, gridOf, stepText, steps } from './metricsrun.js';
import { slips } from './metricsslips.js';
import { InstantTable } from './metricstable.js';

/** @type {Record<string, import('../core/state.js').Key>} */
export const state = {
  q: { type: 'text', default: '' },
  view: { type: 'text', default: 'graph', of: ['graph', 'table', 'explain'] },
  step: { type: 'number', default: 0 },
  stack: { type: 'switch', default: false },
  log: { type: 'switch', default: false },
  zero: { type: 'switch', default: false },
};

const views = [{ id: 'graph', text: 'Graph' }, { id: 'table', text: 'Table' }, { id: 'explain', text: 'Explain' }];

/** @param {{state: import('../core/state.js').PageState}} props */
export function Page({ state }) {
  const run = useMemo(() => new MetricsRun(), []);
  const editor = useRef(/** @type {import('../ui/editor.js').EditorHandle|null} */ (null));
  const [explore, setExplore] = useState(() => innerWidth > 900);
  const [tree, setTree] = useState(/** @type {{of: string, node: any}|null} */ (null));
  const [hints, setHints] = useState(/** @type {string[]} */ ([]));
  const v = state.values.value;
  const step = steps.includes(v.step) ? v.step : 0;
  const grid = gridOf(step);

  const evaluate = async () => {
    if (v.q) await run.run(v.q, v.view === 'table' ? 'table' : 'graph', step);
  };
  const query = (/** @type {string} */ q) => {
    editor.current?.setText(q);
    if (q === state.get('q')) void evaluate();
    else state.set({ q });
  };
  const submit = () => query((editor.current?.text() ?? v.q).trim());
  useEffect(() => { editor.current?.setText(v.q); }, [v.q]);
  useEffect(() => { if (v.view !== 'explain') void evaluate(); }, [v.q, v.view === 'table', v.view === 'explain', step, range.value.from, range.value.to, db.value]);
  useEffect(() => () => run.cancel(), []);
  useEffect(() => { // what the server read, and what is probably meant otherwise
    let wanted = true;
    setHints([]);
    if (!v.q) return setTree(null);
    Promise.all([ask.post('parse_query', { query: v.q }, { background: true }), ask.metadata()]).then(([a, known]) => {
      if (!wanted) return;
      setTree({ of: v.q, node: a.data });
      setHints(slips(a.data, known, grid.step));
    }, () => { if (wanted) setTree(null); }); // the run itself says what is wrong
    return () => { wanted = false; };
  }, [v.q, grid.step, db.value]);

  const format = () => ask.post('format_query', { query: editor.current?.text() ?? '' }).then((a) => editor.current?.setText(a.data), (e) => toast(described(e).message, { kind: 'bad' }));
  const asCurl = () => (v.view === 'table' ? ask.curl('query', { query: v.q, time: grid.end }) : ask.curl('query_range', { query: v.q, ...grid }));
  useKeys([
    { keys: '/', text: 'To the editor', run: () => editor.current?.focus() },
    { keys: 'Mod+Enter', text: 'Run', run: submit },
    { keys: 'r', text: 'Run again', run: () => void evaluate() },
    { keys: 'f', text: 'Explore', run: () => setExplore(!explore) },
  ]);
  return html`<div class="toolbar">
      <h1>Metrics</h1>
      <button class="quiet icon" aria-pressed=${explore ? 'true' : 'false'} title="Explore (f)" aria-label="Explore" onClick=${() => setExplore(!explore)}><${Icon} name="fields" /></button>
      <span class="grow"></span>
      <label class="soft">step <select aria-label="Step" value=${String(step)} onChange=${(/** @type {any} */ e) => state.set({ step: Number(e.target.value) })}><option value="0">auto (${stepText(gridOf(0).step)})</option>${steps.map((s) => html`<option key=${s} value=${String(s)}>${stepText(s)}</option>`)}</select></label>
      <${TimePicker} />
    </div>
    ${refresh.value > 0 && html`<${Again} key=${refresh.value} run=${evaluate} ms=${refresh.value * 1000} />`}
    <div class="metrics-page">
      ${explore && html`<${Explore} onQuery=${query} onClose=${() => setExplore(false)} />`}
      <div class="metrics-main">
        <div class="metrics-editor"><${Editor} value=${v.q} label="PromQL expression" single lines=${false} onRun=${submit} extensions=${extensions} onReady=${(/** @type {any} */ h) => { editor.current = h; }} /></div>
        <div class="metrics-actions small">
          ${run.busy.value ? html`<button class="small" onClick=${() => run.cancel()}><${Icon} name="stop" />Cancel</button>` : html`<button class="primary small" title="Enter" onClick=${submit}><${Icon} name="play" />Run</button>`}
          <button class="small" onClick=${() => void format()}>Format</button>
          <${Pop} label="Recent" className="small" menu title="Expressions run before">${(/** @type {() => void} */ close) => (run.history.value.length === 0 ? html`<p class="soft pad">None yet.</p>` : run.history.value.slice(0, 20).map((q) => html`<button key=${q} onClick=${() => { query(q); close(); }}><code>${oneLine(q, 90)}</code></button>`))}</${Pop}>
          <span class="grow"></span>
          <button class="small" disabled=${!v.q} title="Copy the expression" onClick=${() => copy(v.q)}>PromQL</button>
          <button class="small" disabled=${!v.q} title=${v.q ? asCurl() : 'Copy the request'} onClick=${() => copy(asCurl())}>curl</button>
        </div>
        ${hints.map((h) => html`<p key=${h} class="hint" role="note"><b>Note</b> ${h}</p>`)}
        <${Results} run=${run} state=${state} tree=${tree} grid=${grid} onQuery=${query} />
      </div>
    </div>`;
}

/** Again runs every so often. @param {{run: () => Promise<void>, ms: number}} props */
function Again({ run, ms }) {
  usePoll(run, ms);
  return null;
}

/** @param {{run: MetricsRun, state: import('../core/state.js').PageState, tree: {of: string, node: any}|null, grid: import('./metricsrun.js').Grid, onQuery: (query: string) => void}} props */
function Results({ run, state, tree, grid, onQuery }) {
  const { q, view } = state.values.value;
  const r = run.result.value;
  if (!q) return html`<${Start} />`;
  const body = () => {
    if (view === 'explain') return tree && tree.of === q ? html`<${Explain} key=${q} tree=${tree.node} at=${grid.end} />` : r?.error && html`<${ErrorBox} error=${r.error} />`;
    if (!r || r.view !== view) return html`<p class="state soft">Running…</p>`;
    if (r.error) return html`<${ErrorBox} error=${r.error} />`;
    if (r.list.length === 0) return html`<${NoData} tree=${tree && tree.of === r.query ? tree.node : null} />`;
    return view === 'table' ? html`<${InstantTable} result=${r} />` : html`<${Graph} key=${r.query} result=${r} state=${state} onQuery=${onQuery} />`;
  };
  return html`<div class="metrics-results"><div class="metrics-views"><${Tabs} label="View of the result" tabs=${views} tab=${view} onTab=${(/** @type {string} */ id) => state.set({ view: id }, false)} /><span class="grow"></span>
      ${r && view !== 'explain' && !r.error && html`<span class="soft num facts">${view === 'graph' ? `step ${stepText(r.grid.step)} · ` : ''}${duration(r.elapsedMS)}</span>`}</div>
    ${r?.notes.map((n) => html`<p key=${n} class="hint" role="note"><b>Server</b> ${n}</p>`)}
    ${body()}</div>`;
}

/** Start stands while there is no expression. */
function Start() {
  const [any, setAny] = useState(/** @type {boolean|null} */ (null));
  useEffect(() => { ask.names('', 1).then((n) => setAny(n.length > 0), () => setAny(true)); }, [db.value]);
  if (any === null) return null;
  return any ? html`<p class="state soft">Write an expression and press <kbd>Enter</kbd>, or choose a metric under Explore. <kbd>Ctrl</kbd> <kbd>Space</kbd> offers metrics, labels, values and functions; <kbd>Shift</kbd> <kbd>Enter</kbd> breaks the line.</p>` : html`<${NoMetrics} />`;
}

/** extensions are the language and its completion, which asks through our own client. @param {any} lib */
const extensions = (lib) => [
  new lib.PromQLExtension().activateLinter(true).setComplete({ remote: ask.client, maxMetricsMetadata: 10_000 }).asExtension(),
  lib.autocompletion({ maxRenderedOptions: 60 }), lib.placeholder('rate(http_requests_total[5m])'),
];
