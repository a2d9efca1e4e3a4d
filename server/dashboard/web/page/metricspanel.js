// One panel of the Metrics page: an expression, its graph, its table at one moment, and what it is made of.

import { html, useEffect, useLayoutEffect, useMemo, useRef, useState } from '../lib/ui.js';
import { bring, described } from '../core/api.js';
import { duration, oneLine, plural } from '../core/format.js';
import * as router from '../core/router.js';
import { closed, db, range, session, zone } from '../core/state.js';
import { nowNanos, parseTime } from '../core/time.js';
import { Editor, load } from '../ui/editor.js';
import { ErrorBox } from '../ui/error.js';
import { Icon } from '../ui/icons.js';
import { Pop } from '../ui/pop.js';
import { Tabs } from '../ui/tabs.js';
import { copy, tell, toast } from '../ui/toast.js';
import { faded } from '../ui/useanswer.js';
import * as ask from './metricsask.js';
import { NoData } from './metricsempty.js';
import { Explain } from './metricsexplain.js';
import { Graph } from './metricsgraph.js';
import { daysOfAll, gridOf, MetricsRun, recent, stepText } from './metricsrun.js';
import { selectors, slips } from './metricsslips.js';
import { Start } from './metricsstart.js';
import { InstantTable } from './metricstable.js';
import { unitOf } from './metricsunits.js';

const views = [{ id: 'graph', text: 'Graph' }, { id: 'table', text: 'Table' }, { id: 'explain', text: 'Explain' }];

/**
 * @typedef {{evaluate: () => Promise<void>, ahead: () => Promise<(() => void)|null>, submit: () => void, query: (q:
 *   string) => void, focus: () => unknown, show: () => void}} Handle what the page may ask of a panel; ahead evaluates
 *   and gives what shows the result
 */
/** @typedef {{of: string, node: any, unit: {values: string, bounds: string}}} Tree */

/**
 * @typedef {object} PanelProps
 * @property {import('./metricspanels.js').Panel} panel
 * @property {number} step s, 0: automatic
 * @property {number} place
 * @property {number} count of all panels
 * @property {boolean} active
 * @property {(patch: Partial<import('./metricspanels.js').Panel>, step?: boolean) => void} set
 * @property {() => void} onActive
 * @property {(handle: Handle) => void} onHandle
 * @property {(handle: Handle) => void} onGone
 * @property {(by: number) => void} onMove
 * @property {() => void} onCopy
 * @property {() => void} onRemove
 * @property {() => void} onDrag
 * @property {() => void} onDrop
 */

/**
 * asks reports whether a panel has something to evaluate.
 * @param {import('./metricspanels.js').Panel} p
 * @returns {p is import('./metricspanels.js').Panel & {view: 'graph'|'table'}}
 */
const asks = (p) => p.q !== '' && !p.fold && p.view !== 'explain';

/** @param {PanelProps} props */
export function Panel(props) {
  const { panel: v, set, step, place, count } = props;
  const run = useMemo(() => new MetricsRun(), []);
  const editor = useRef(/** @type {import('../ui/editor.js').EditorHandle|null} */ (null));
  const box = useRef(/** @type {HTMLElement|null} */ (null));
  const [tree, setTree] = useState(/** @type {Tree|null} */ (null));
  const [hints, setHints] = useState(/** @type {import('./metricsslips.js').Slip[]} */ ([]));
  const [over, setOver] = useState(false);
  const grid = gridOf(step);
  const moment = v.at === '' ? null : momentOf(v.at);

  const latest = useRef(/** @type {Handle} */ (/** @type {any} */ (null)));
  latest.current = {
    ahead: async () => {
      const r = asks(v) && !run.busy.value ? await run.evaluate(v.q, v.view, step, moment) : null;
      return r && (() => run.show(r));
    },
    evaluate: async () => {
      const r = asks(v) ? await run.run(v.q, v.view, step, moment) : null;
      if (r) tell(`${count > 1 ? `Panel ${place + 1}: ` : ''}${plural(r.count, 'series', 'series')}`, r.error);
    },
    query: (q) => {
      editor.current?.setText(q);
      if (q === v.q) void latest.current.evaluate();
      else set({ q });
    },
    submit: () => latest.current.query((editor.current?.text() ?? v.q).trim()),
    focus: () => (editor.current ? editor.current.focus() : load().then(() => editor.current?.focus())),
    show: () => box.current?.scrollIntoView({ block: 'nearest' }),
  };
  useLayoutEffect(() => {
    /** @type {Handle} */
    const handle = { evaluate: () => latest.current.evaluate(), ahead: () => latest.current.ahead(),
      query: (q) => latest.current.query(q), submit: () => latest.current.submit(), focus: () => latest.current.focus(),
      show: () => latest.current.show() };
    props.onHandle(handle);
    return () => {
      run.cancel();
      props.onGone(handle);
    };
  }, []);
  useLayoutEffect(() => { editor.current?.setText(v.q); }, [v.q]); // before the next key, or that would be lost
  useLayoutEffect(() => { void latest.current.evaluate(); },
    [v.q, v.view, v.fold, v.at, step, range.value.from, range.value.to, db.value]);
  useEffect(() => { // asks how the server reads the expression, for its parts and for likely slips
    let wanted = true;
    setHints([]);
    if (!v.q) return setTree(null);
    understand(v.q).then(({ node, known }) => {
      if (!wanted) return;
      setTree({ of: v.q, node, unit: unitOf(node, known) });
      setHints(slips(node, known, grid.step));
    }, () => { if (wanted) setTree(null); }); // no tree: the run itself shows the error
    return () => { wanted = false; };
  }, [v.q, grid.step, db.value]);

  const format = () => ask.post('format_query', { query: editor.current?.text() ?? v.q })
    .then((a) => editor.current?.setText(a.data), (e) => toast(described(e).message, { kind: 'bad' }));
  const asCurl = () => (v.view === 'table' ? ask.curl('query', { query: v.q, time: moment ?? grid.end })
    : ask.curl('query_range', { query: v.q, ...grid }));
  const icon = (/** @type {string} */ name, /** @type {string} */ text, /** @type {() => void} */ act,
    off = false) => html`<button class="quiet small icon" title=${text} aria-label=${text} disabled=${off}
      onClick=${act}><${Icon} name=${name} /></button>`;
  const drop = { onDragOver: (/** @type {DragEvent} */ e) => {
    if (e.dataTransfer?.types.includes(dragType)) { e.preventDefault(); setOver(true); }
  }, onDragLeave: () => setOver(false),
    onDrop: (/** @type {DragEvent} */ e) => { e.preventDefault(); setOver(false); props.onDrop(); } };
  return html`<section ref=${box}
    class="metrics-panel ${v.fold ? 'folded' : ''} ${props.active ? 'active' : ''} ${over ? 'over' : ''}"
      aria-label=${`Panel ${place + 1}`} onFocusCapture=${props.onActive} onPointerDown=${props.onActive}
        ...${count > 1 ? drop : {}}>
    <div class="metrics-editor ${v.fold ? 'hidden' : ''}">
      <${Editor} value=${v.q} label=${count > 1 ? `PromQL expression of panel ${place + 1}` : 'PromQL expression'}
        single lines=${false} onRun=${() => latest.current.submit()} extensions=${extensions}
          onReady=${(h) => { editor.current = h; }} /></div>
    <div class="metrics-actions small">
      ${count > 1 && html`<span class="handle" draggable="true"
        title="Drag to another place; the arrows beside it do the same"
          onDragStart=${(/** @type {DragEvent} */ e) => {
            e.dataTransfer?.setData(dragType, String(place));
            props.onDrag();
          }}>⠿</span>
        ${icon(v.fold ? 'right' : 'chevron', v.fold ? 'Unfold the panel' : 'Fold the panel',
          () => set({ fold: !v.fold }))}`}
      ${v.fold ? html`<code class="grow line">${oneLine(v.q, 200) || 'no expression'}</code>` : html`
      ${run.busy.value ? html`<button class="small" onClick=${() => run.cancel()}>
        <${Icon} name="stop" />Cancel</button>`
        : html`<button class="primary small" title="Enter" onClick=${() => latest.current.submit()}>
          <${Icon} name="play" />Run</button>`}
      <button class="small" onClick=${() => void format()}>Format</button>
      <${Pop} label="Recent" className="small" menu title="Expressions run before">${(close) => {
        const list = recent().slice(0, 20);
        return list.length === 0 ? html`<button role="menuitem" disabled>None yet</button>`
          : list.map((q) => html`<button key=${q} role="menuitem"
            onClick=${() => { latest.current.query(q); close(); }}><code>${oneLine(q, 90)}</code></button>`);
      }}</${Pop}>
      <span class="grow"></span>
      <button class="small" disabled=${!v.q} title="Copy the expression" onClick=${() => copy(v.q)}>PromQL</button>
      <button class="small" disabled=${!v.q} title=${v.q ? asCurl() : 'Copy the request'}
        onClick=${() => copy(asCurl())}>curl</button>
      ${session.value.features?.includes('rules') && html`<button class="small" disabled=${!v.q}
        title="Make a rule of the expression"
        onClick=${() => router.go('alerts', { make: '1', e: v.q })}>Rule</button>`}
      ${session.value.features?.includes('dashboards') && html`<button class="small"
        disabled=${!v.q || closed.value !== ''} title=${closed.value || 'Put it on a board'}
        onClick=${() => void putOnBoard(v)}>Board</button>`}`}
      ${(count > 1 || v.q) && icon('copy', 'Duplicate the panel', props.onCopy)}
      ${count > 1 && html`${icon('up', 'Move the panel up', () => props.onMove(-1), place === 0)}
        ${icon('down', 'Move the panel down', () => props.onMove(1), place === count - 1)}
        ${icon('close', 'Remove the panel', props.onRemove)}`}
    </div>
    ${!v.fold &&
      html`${hints.map((h) => html`<p key=${h.said} class="hint" role="note"><b>Note</b> ${h.said}
        ${h.from && v.q.includes(h.from) &&
          html` <button class="small" title=${`Write ${h.to}`}
            onClick=${() => latest.current.query(v.q.replace(/** @type {string} */ (h.from),
              () => h.to ?? ''))}>Apply</button>`}</p>`)}
      <${Results} run=${run} panel=${v} set=${set} tree=${tree && tree.of === v.q ? tree : null} grid=${grid}
        onQuery=${(/** @type {string} */ q) => latest.current.query(q)} />`}
  </section>`;
}

/** understand asks the server how it reads an expression, and for the metadata of its metrics. @param {string} query */
async function understand(query) {
  const { data: node } = await ask.post('parse_query', { query }, { background: true });
  return { node, known: await ask.knownOf(selectors(node).map((s) => s.name ?? '')) };
}

/** putOnBoard puts an expression on a board, as it is looked at. @param {import('./metricspanels.js').Panel} v */
async function putOnBoard(v) {
  const { put } = await bring(() => import('./boardput.js'));
  put({ title: oneLine(v.q, 80), type: v.view === 'table' ? 'table' : 'graph', lang: 'promql',
    unit: v.unit === 'auto' ? '' : v.unit, form: v.stack ? 'stacked' : 'line', queries: [{ q: v.q, name: '' }] });
}

const dragType = 'application/x-varve-panel';

/** momentOf reads a moment as it is typed, s; null: not understood. @param {string} text */
export function momentOf(text) {
  const read = parseTime(text, zone.value, nowNanos());
  return read && Number(read.ns / 1_000_000n) / 1000;
}

/**
 * @param {{run: MetricsRun, panel: import('./metricspanels.js').Panel, set: PanelProps['set'], tree: Tree|null, grid:
 *   import('../core/series.js').Grid, onQuery: (query: string) => void}} props
 */
function Results({ run, panel, set, tree, grid, onQuery }) {
  const { q, view } = panel;
  const r = run.result.value;
  if (!q) return html`<${Start} onQuery=${onQuery} />`;
  const body = () => {
    if (view === 'explain') return tree ? html`<${Explain} key=${q} tree=${tree.node} at=${grid.end} />` : r?.error
      ? html`<${ErrorBox} error=${r.error} language="PromQL" />`
      : html`<p class="state soft wait" role="status">Asking…</p>`;
    if (!r || r.view !== view || r.query !== q && !run.busy.value)
      return html`<p class="state soft wait" role="status">Running…</p>`;
    if (r.error) return html`<${ErrorBox} error=${r.error} language="PromQL">
      <button class="small" onClick=${() => onQuery(q)}>Try again</button></${ErrorBox}>`;
    if (r.count === 0) return html`<${NoData} at=${view === 'table' ? r.at : null} tree=${tree ? tree.node : null} />`;
    const unit = panel.unit === 'auto' ? tree?.unit ?? { values: 'number', bounds: 'number' }
      : { values: panel.unit, bounds: panel.unit };
    return view === 'table' ? html`<${InstantTable} result=${r} unit=${unit.values} />`
      : html`<${Graph} key=${r.query} result=${r} panel=${panel} set=${set} unit=${unit} onQuery=${onQuery} />`;
  };
  const stale = run.busy.value && r !== null && view !== 'explain';
  return html`<div ...${faded('metrics-results', stale)}>
    <div class="metrics-views">
      <${Tabs} label="View of the result" tabs=${views} tab=${view} onTab=${(id) => set({ view: id })} />
        <span class="grow"></span>
      ${view === 'table' && html`<${Moment} at=${panel.at} onAt=${(/** @type {string} */ at) => set({ at })} />`}
      ${r && view !== 'explain' && !r.error &&
        html`<span class="soft num facts">
          ${view === 'graph' ? `${range.value.from === 'all' ? `the last ${daysOfAll} days · `
            : ''}step ${stepText(r.grid.step)} · ` : ''}${duration(r.elapsedMS)}</span>`}</div>
    ${r?.notes.map((n) => html`<p key=${n} class="hint" role="note"><b>Server</b> ${n}</p>`)}
    ${body()}</div>`;
}

/** Moment is the field for the moment that the table shows. @param {{at: string, onAt: (at: string) => void}} props */
function Moment({ at, onAt }) {
  const wrong = at !== '' && momentOf(at) === null;
  return html`<label class="soft moment">at <input aria-label="Moment of the table"
    aria-invalid=${wrong ? 'true' : 'false'}
      title="A time like 03:46, now-15m or 2026-11-21 03:46; empty: the end of the range" placeholder="end of the range"
        value=${at} onChange=${(e) => onAt(e.target.value.trim())} /></label>
    ${wrong && html`<span class="bad" role="status">not a time</span>`}`;
}

/** extensions are the language and its completion, which asks through our own client. @param {any} lib */
const extensions = (lib) => {
  const language = new lib.PromQLExtension().activateLinter(true)
    .setComplete({ remote: ask.client, maxMetricsMetadata: 10_000 }).asExtension();
  return [
    language, lib.autocompletion({ maxRenderedOptions: 60 }),
      lib.EditorState.languageData.of(() => [{ autocomplete: ownHistory }]),
    lib.placeholder('rate(http_requests_total[5m])'),
  ];
};

/**
 * ownHistory offers earlier expressions where an expression begins.
 * @param {import('@codemirror/autocomplete').CompletionContext} context
 */
function ownHistory(context) {
  const typed = context.state.sliceDoc(0, context.pos);
  if (/[({[]/.test(typed) || (typed === '' && !context.explicit) || context.pos < context.state.doc.length) return null;
  const options = recent().filter((q) => q !== typed && q.length < 400)
    .map((q, i) => ({ label: q, displayLabel: oneLine(q, 80), detail: 'run before', type: 'text', boost: -10 - i }));
  return options.length > 0 ? { from: 0, options } : null;
}
