// Editing a panel: what it asks and how it looks, with the answer beside it.

import { html, useEffect, useRef, useState } from '../lib/ui.js';
import { described, isAbort } from '../core/api.js';
import { mostQueries, types } from '../core/boards.js';
import { fillText } from '../core/boardvars.js';
import { ErrorBox } from '../ui/error.js';
import { Icon } from '../ui/icons.js';
import { Dialog } from '../ui/pop.js';
import { answer } from './boardask.js';
import { Drawing } from './boarddraw.js';
import { units } from './metricsunits.js';

/** A trial begins so long after the last key, ms. */
const pause = 400;

/** @typedef {import('../core/boards.js').Panel} Panel */

const forms = [['line', 'lines'], ['stacked', 'stacked'], ['bars', 'bars'], ['points', 'points']];

/**
 * useTrial asks what the panel asks, once nobody types for a while.
 * @param {Panel} p
 * @param {import('../core/boardvars.js').Env} env
 */
function useTrial(p, env) {
  const question = JSON.stringify([p.type, p.lang, p.queries]);
  const [got, setGot] = useState(/** @type {{of: string, answer: import('./boardask.js').Answer|null, error:
    import('../core/api.js').ApiError|null}|null} */ (null));
  useEffect(() => {
    const control = new AbortController();
    const timer = setTimeout(() => {
      answer(p, env, control.signal).then((a) => setGot({ of: question, answer: a, error: null }),
        (e) => { if (!isAbort(e)) setGot({ of: question, answer: null, error: described(e) }); });
    }, got === null ? 0 : pause);
    return () => {
      clearTimeout(timer);
      control.abort(new DOMException('superseded', 'AbortError'));
    };
  }, [question, env]);
  return { got, stale: got !== null && got.of !== question };
}

/**
 * @param {{panel: Panel, env: import('../core/boardvars.js').Env, onDone: (p: Panel) => void, onClose: () => void}}
 *   props
 */
export function PanelEditor({ panel, env, onDone, onClose }) {
  const [p, setPanel] = useState(panel);
  const { got, stale } = useTrial(p, env);
  const set = (/** @type {Partial<Panel>} */ patch) => setPanel((now) => ({ ...now, ...patch }));
  const choice = (/** @type {'type'|'lang'|'unit'|'form'} */ key, /** @type {string} */ text,
    /** @type {string[][]} */ of) => html`<label>${text}<select value=${p[key]}
      onChange=${(e) => set({ [key]: e.target.value })}>${of.map(([id, title]) =>
        html`<option key=${id} value=${id}>${title}</option>`)}</select></label>`;
  const languages = p.type === 'logs' ? [['sql', 'SQL']] : p.type === 'heat' ? [['promql', 'PromQL']]
    : [['promql', 'PromQL'], ['sql', 'SQL']];
  const lang = languages.some(([id]) => id === p.lang) ? p.lang : /** @type {'promql'|'sql'} */ (languages[0][0]);
  useEffect(() => { if (lang !== p.lang) set({ lang }); }, [lang, p.lang]);
  return html`<${Dialog} className="board-edit" title=${panel.id === 0 ? 'New panel' : 'Edit panel'} onClose=${onClose}>
    <form onSubmit=${(e) => { e.preventDefault(); onDone(p); }}>
      <div class="fields">
        <label class="wide">Title<input value=${p.title} autofocus onInput=${(e) => set({ title: e.target.value })} />
          </label>
        ${choice('type', 'Shows', Object.entries(types))}
        ${p.type !== 'text' && choice('lang', 'Language', languages)}
        ${p.type === 'graph' && choice('form', 'Drawn as', forms)}
        ${!['text', 'logs'].includes(p.type) && choice('unit', 'Unit', [['', 'as it is'],
          ...Object.entries(units).filter(([k]) => k !== 'number').map(([k, u]) => [k, u.text])])}</div>
      ${p.type === 'text' ? html`<label class="wide">Text, in Markdown<textarea rows="8" value=${p.text}
        onInput=${(e) => set({ text: e.target.value })}></textarea></label>`
        : html`<${Queries} panel=${p} set=${set} />`}
      <div class="board-trial ${stale ? 'stale' : ''}" aria-busy=${stale ? 'true' : 'false'} role="region"
        aria-label="Trial">
        ${got?.error ? html`<${ErrorBox} error=${got.error} />` : got?.answer
          ? html`<${Drawing} panel=${p} answer=${got.answer} text=${fillText(p.text, env)} />`
          : html`<p class="state soft wait">Asking …</p>`}</div>
      <div class="buttons"><button type="button" onClick=${onClose}>Cancel</button>
        <button class="primary">${panel.id === 0 ? 'Add' : 'Done'}</button></div>
    </form></${Dialog}>`;
}

/** hints say what may stand in a query. */
const hints = {
  promql: 'sum by (job) (rate(http_requests_total[$__rate_interval]))',
  sql: 'SELECT date_bin($step, ts) AS t, count(*) AS n FROM app WHERE $__timeFilter(ts) GROUP BY t ORDER BY t',
};

/** @param {{panel: Panel, set: (patch: Partial<Panel>) => void}} props */
function Queries({ panel: p, set }) {
  const one = p.type === 'table' && p.lang === 'sql' || p.type === 'logs' || p.type === 'heat';
  const list = p.queries.length === 0 ? [{ q: '', name: '' }] : one ? p.queries.slice(0, 1) : p.queries;
  const change = (/** @type {number} */ i, /** @type {Partial<Panel['queries'][0]>} */ patch) =>
    set({ queries: list.map((q, k) => (k === i ? { ...q, ...patch } : q)) });
  const box = useRef(/** @type {HTMLElement|null} */ (null));
  return html`<div class="board-queries" ref=${box}>${list.map((q, i) => html`<div key=${i} class="board-query">
      <label class="wide">${p.lang === 'sql' ? 'SQL' : 'PromQL'}<textarea class="mono" rows=${p.lang === 'sql' ? 4 : 2}
        spellcheck=${false} placeholder=${hints[p.lang]} value=${q.q}
        onInput=${(e) => change(i, { q: e.target.value })}></textarea></label>
      ${p.lang === 'promql' && p.type !== 'heat' && html`<label>Named<input value=${q.name}
        placeholder="by its labels, or {{job}}" onInput=${(e) => change(i, { name: e.target.value })} /></label>`}
      ${list.length > 1 && html`<button type="button" class="quiet small icon" title="Remove the query"
        aria-label="Remove the query" onClick=${() => set({ queries: list.filter((_, k) => k !== i) })}>
          <${Icon} name="trash" /></button>`}</div>`)}
    <p class="soft small">${!one && list.length < mostQueries && html`<button type="button" class="small"
        onClick=${() => set({ queries: [...list, { q: '', name: '' }] })}><${Icon} name="plus" />Query</button> `}
      ${p.lang === 'sql' ? html`<code>$from</code>, <code>$to</code>, <code>$step</code> and
        <code>$__timeFilter(column)</code> follow the range; a variable is written as literals:
        <code>host IN ($host)</code>.` : html`<code>$__rate_interval</code>, <code>$__interval</code> and
        <code>$__range</code> follow the range; a variable stands in quotes: <code>{job=~"$job"}</code>.`}</p></div>`;
}
