// The graph of an expression and its legend: the equal labels said once, the others in the name of each series.

import { html, useMemo, useState } from '../lib/ui.js';
import { count, short } from '../core/format.js';
import { frame } from '../core/state.js';
import { rfc3339 } from '../core/time.js';
import { seriesColour } from '../ui/canvas.js';
import { Chart, mostSeries } from '../ui/chart.js';
import { shift } from '../ui/timepicker.js';
import { label, quoted } from './metricsask.js';

/** @typedef {import('./metricsrun.js').Result} Result */
/** @typedef {{name: string, values: (number|null)[], last: number|null, min: number|null, max: number|null, mean: number|null}} Line */

/** labelText writes labels as a selector. @param {Record<string, string>} labels */
export function labelText(labels) {
  const { __name__: name, ...rest } = labels;
  const list = Object.entries(rest).map(([k, v]) => `${label(k)}=${quoted(v)}`);
  return (name ?? '') + (list.length > 0 ? `{${list.join(', ')}}` : name ? '' : '{}');
}

/** common are the labels that all series have alike; of one series there are none. @param {Record<string, string>[]} all @returns {Record<string, string>} */
export function common(all) {
  if (all.length < 2) return {};
  return Object.fromEntries(Object.entries(all[0]).filter(([k, v]) => all.every((m) => m[k] === v)));
}

/** without gives the labels that are not said already. @param {Record<string, string>} labels @param {Record<string, string>} said */
export const without = (labels, said) => Object.fromEntries(Object.entries(labels).filter(([k]) => !(k in said)));

/** linesOf puts the samples at the moments of the grid; what is missing is a gap. @param {Result} r @returns {{x: number[], lines: Line[], said: Record<string, string>}} */
export function linesOf(r) {
  const { start, end, step } = r.grid;
  const x = Array.from({ length: Math.round((end - start) / step) + 1 }, (_, i) => start + i * step);
  const said = common(r.list.map((s) => s.metric));
  const lines = r.list.map((s) => {
    const values = /** @type {(number|null)[]} */ (new Array(x.length).fill(null));
    let last = null, min = null, max = null, sum = 0, n = 0;
    for (const [t, text] of s.values ?? []) {
      const v = Number(text);
      if (!Number.isFinite(v)) continue;
      values[Math.round((t - start) / step)] = last = v;
      if (min === null || v < min) min = v;
      if (max === null || v > max) max = v;
      sum += v;
      n++;
    }
    return { name: labelText(without(s.metric, said)), values, last, min, max, mean: n > 0 ? sum / n : null };
  });
  return { x, lines, said };
}

/** @param {{result: Result, state: import('../core/state.js').PageState, onQuery: (query: string) => void}} props */
export function Graph({ result, state, onQuery }) {
  const v = state.values.value;
  const [off, setOff] = useState(() => new Set(/** @type {string[]} */ ([])));
  const [lit, setLit] = useState(/** @type {string|null} */ (null));
  const { x, lines, said } = useMemo(() => linesOf(result), [result]);
  const drawn = useMemo(() => [...lines].sort((a, b) => (b.last ?? -Infinity) - (a.last ?? -Infinity)).slice(0, mostSeries), [lines]);
  const toggle = (/** @type {string} */ name, /** @type {MouseEvent} */ e) => {
    const next = new Set(off);
    if (e.ctrlKey || e.metaKey) next.has(name) ? next.delete(name) : next.add(name);
    else if (off.size === drawn.length - 1 && !off.has(name)) next.clear();
    else drawn.forEach((s) => (s.name === name ? next.delete(s.name) : next.add(s.name)));
    setOff(next);
  };
  return html`<div class="metrics-graph">
    <div class="chart-controls small">
      <button aria-pressed=${v.stack ? 'true' : 'false'} onClick=${() => state.set({ stack: !v.stack }, false)}>stacked</button>
      <button aria-pressed=${v.log ? 'true' : 'false'} onClick=${() => state.set({ log: !v.log }, false)}>log scale</button>
      <button aria-pressed=${v.zero ? 'true' : 'false'} onClick=${() => state.set({ zero: !v.zero }, false)}>from zero</button>
      ${lines.length > mostSeries && html`<span class="soft cut">${count(lines.length)} series, ${mostSeries} drawn (highest last value)</span><button onClick=${() => onQuery(`topk(50, ${result.query})`)}>topk(50, …)</button>`}
      ${Object.keys(said).length > 0 && html`<span class="soft said">all: <code>${labelText(said)}</code></span>`}
    </div>
    <${Chart} x=${x} series=${drawn} kind=${v.stack ? 'stacked' : 'line'} log=${v.log} zero=${v.zero} off=${off} lit=${lit} label="Graph" sync="metrics" onWider=${() => shift(0)}
      onRange=${(/** @type {number} */ a, /** @type {number} */ b) => frame.set({ from: rfc3339(BigInt(Math.round(a * 1000)) * 1_000_000n), to: rfc3339(BigInt(Math.round(b * 1000)) * 1_000_000n) })} />
    <${Legend} lines=${drawn} off=${off} onToggle=${toggle} onLit=${setLit} />
  </div>`;
}

/** figure writes a value with as many digits as tell neighbours apart. @param {number} v */
const figure = (v) => (Math.abs(v) >= 1e6 ? short(v) : Number.isInteger(v) ? count(v) : String(Number(v.toPrecision(4))));

const heads = /** @type {const} */ (['last', 'min', 'max', 'mean']);

/** @param {{lines: Line[], off: Set<string>, onToggle: (name: string, e: MouseEvent) => void, onLit: (name: string|null) => void}} props */
function Legend({ lines, off, onToggle, onLit }) {
  const [by, setBy] = useState({ key: /** @type {'name'|'last'|'min'|'max'|'mean'} */ ('last'), up: false });
  const sign = by.up ? 1 : -1;
  const sorted = lines.map((s, i) => ({ s, i })).sort((a, b) => sign * (by.key === 'name' ? (a.s.name < b.s.name ? -1 : 1) : (a.s[by.key] ?? -Infinity) - (b.s[by.key] ?? -Infinity)) || a.i - b.i);
  const head = (/** @type {typeof by.key} */ key, /** @type {string} */ text) => html`<th class=${key === 'name' ? '' : 'num'} aria-sort=${by.key === key ? (by.up ? 'ascending' : 'descending') : 'none'}><button class="quiet small" onClick=${() => setBy({ key, up: by.key === key ? !by.up : key === 'name' })}>${text}${by.key === key ? (by.up ? ' ↑' : ' ↓') : ''}</button></th>`;
  return html`<div class="chart-legend"><table class="list"><thead><tr>${head('name', 'Series')}${heads.map((h) => head(h, h))}</tr></thead><tbody>
    ${sorted.map(({ s, i }) => html`<tr key=${s.name} class=${off.has(s.name) ? 'off' : ''} onPointerEnter=${() => onLit(s.name)} onPointerLeave=${() => onLit(null)}>
      <td><button class="quiet small" title="Click: only this. Ctrl and click: switch." onClick=${(/** @type {MouseEvent} */ e) => onToggle(s.name, e)}><span class="swatch" style=${{ background: seriesColour(i) }}></span>${s.name}</button></td>
      ${heads.map((h) => html`<td key=${h} class="num">${s[h] === null ? '' : figure(/** @type {number} */ (s[h]))}</td>`)}</tr>`)}</tbody></table></div>`;
}
