// The graph of an expression and its legend. Labels that all series share are shown once, above; the others make up the
// name of each series.

import { html, useMemo, useRef, useState } from '../lib/ui.js';
import { count, oneLine, plural } from '../core/format.js';
import { placesOf } from '../core/series.js';
import { frame } from '../core/state.js';
import { rfc3339 } from '../core/time.js';
import { seriesColour } from '../ui/canvas.js';
import { Chart } from '../ui/chart.js';
import { ChartMenu } from '../ui/chartfile.js';
import { HeatMap, Scale, rowsOf } from '../ui/heatmap.js';
import { shift } from '../ui/timepicker.js';
import { useAnswer } from '../ui/useanswer.js';
import { label, quoted } from './metricsask.js';
import { exemplarsOf, marksOf, saidOf } from './metricsexemplars.js';
import { units } from './metricsunits.js';

/** @typedef {import('./metricsrun.js').Result} Result */
/** @typedef {import('../core/series.js').Line & {name: string}} Line */

/** labelText writes labels as a selector. @param {Record<string, string>} labels */
export function labelText(labels) {
  const { __name__: name, ...rest } = labels;
  const list = Object.entries(rest).map(([k, v]) => `${label(k)}=${quoted(v)}`);
  return (name ?? '') + (list.length > 0 ? `{${list.join(', ')}}` : name ? '' : '{}');
}

/**
 * without returns the labels that are not among those shown already.
 * @param {Record<string, string>} labels
 * @param {Record<string, string>} said
 */
const without = (labels, said) => Object.fromEntries(Object.entries(labels).filter(([k]) => !(k in said)));

/**
 * linesOf names the lines of an answer, and the moments that they have values for.
 * @param {Result} r
 * @returns {{x: number[], lines: Line[]}}
 */
export function linesOf(r) {
  const x = Array.from({ length: placesOf(r.grid) }, (_, i) => r.grid.start + i * r.grid.step);
  return { x, lines: r.lines.map((s) => ({ ...s, name: oneLine(labelText(without(s.metric, r.said))) })) };
}

/** @type {import('./metricsexemplars.js').Exemplar[]} */
const none = [];

/**
 * @param {{result: Result, panel: import('./metricspanels.js').Panel, set:
 *   import('./metricspanel.js').PanelProps['set'], unit: {values: string, bounds: string}, onQuery: (query: string) =>
 *   void}} props
 */
export function Graph({ result, panel: v, set, unit, onQuery }) {
  const [off, setOff] = useState(() => new Set(/** @type {string[]} */ ([])));
  const [lit, setLit] = useState(/** @type {string|null} */ (null));
  const [group, setGroup] = useState(0);
  const box = useRef(/** @type {HTMLElement|null} */ (null));
  const { x, lines } = useMemo(() => linesOf(result), [result]);
  // when exemplars cannot be read the graph is shown without them
  const { found, stale } = useAnswer((signal) => exemplarsOf(result.query, result.grid, signal), [result]);
  const exemplars = !stale && found ? found : none;
  const { heat, said, count: total } = result;
  const asHeat = heat !== null && (lines.length === 0 || !v.lines);
  const shown = heat?.groups[Math.min(group, heat.groups.length - 1)];
  const how = units[asHeat ? unit.bounds : unit.values] ?? units.number;
  const atValue = asHeat || /\bhistogram_(quantile|avg)\b/.test(result.query);
  const marks = useMemo(() => (v.ex ? marksOf(exemplars, atValue, how.write) : []), [exemplars, v.ex, atValue, how]);
  const toggle = (/** @type {string} */ name, /** @type {MouseEvent} */ e) => {
    const next = new Set(off);
    if (e.ctrlKey || e.metaKey) next.has(name) ? next.delete(name) : next.add(name);
    else if (off.size === lines.length - 1 && !off.has(name)) next.clear();
    else lines.forEach((s) => (s.name === name ? next.delete(s.name) : next.add(s.name)));
    setOff(next);
  };
  // Kept, so that a change of how lines are drawn does not build the rows of all series again.
  const legend = useMemo(() => html`<${Legend} lines=${lines} off=${off} write=${how.write} onToggle=${toggle}
    onLit=${setLit} />`, [lines, off, how]);
  const on = (/** @type {'stack'|'log'|'zero'} */ key, /** @type {string} */ text) => html`<button
    aria-pressed=${v[key] ? 'true' : 'false'} onClick=${() => set({ [key]: !v[key] }, false)}>${text}</button>`;
  const share = { sync: 'metrics', onWider: () => shift(0),
    onRange: (/** @type {number} */ a,
      /** @type {number} */ b) => frame.set({ from: rfc3339(BigInt(Math.round(a * 1000)) * 1_000_000n),
        to: rfc3339(BigInt(Math.round(b * 1000)) * 1_000_000n) }) };
  const drawn = () => ({
    title: result.query, name: 'metrics', x, time: true, legend: !asHeat,
    series: asHeat && shown ? rowsOf(x, shown, how.axis)
      : lines.map((s, i) => ({ ...s, color: seriesColour(i) })).filter((s) => !off.has(s.name)),
  });
  return html`<div class="metrics-graph" ref=${box}>
    <div class="chart-controls small">
      ${heat && lines.length > 0 &&
        html`<button aria-pressed=${asHeat ? 'true' : 'false'}
          title="The buckets of the histogram as cells, the fuller the darker"
            onClick=${() => set({ lines: !v.lines }, false)}>heat map</button>`}
      ${!asHeat && html`${on('stack', 'stacked')}${on('log', 'log scale')}${on('zero', 'from zero')}`}
      <label class="soft">unit <select aria-label="Unit" value=${v.unit}
        onChange=${(e) => set({ unit: e.target.value }, false)}>
          <option value="auto">auto${v.unit === 'auto' ? ` (${how.text})` : ''}</option>
            ${Object.entries(units).map(([k, u]) => html`<option key=${k} value=${k}>${u.text}</option>`)}</select>
              </label>
      ${exemplars.length > 0 &&
        html`<button class="exemplars" aria-pressed=${v.ex ? 'true' : 'false'}
          title="Single events, those of the highest values; a click opens their trace"
            onClick=${() => set({ ex: !v.ex }, false)}><span class="chart-mark" aria-hidden="true"></span>
              ${saidOf(exemplars)}</button>`}
      ${asHeat && heat.groups.length > 1 &&
        html`<select aria-label="Histogram" value=${String(group)} onChange=${(e) => setGroup(Number(e.target.value))}>
          ${heat.groups.map((g, i) => html`<option key=${i} value=${String(i)}>
            ${oneLine(labelText(without(g.labels, said)), 200)}</option>`)}</select>`}
      ${asHeat && heat.count > heat.groups.length &&
        html`<span class="soft">${count(heat.count)} histograms, the first ${heat.groups.length} can be chosen</span>`}
      ${!asHeat && total > lines.length &&
        html`<span class="soft cut">${count(total)} series, ${count(lines.length)} drawn (highest last value)</span>
        <button onClick=${() => onQuery(`topk(50, ${result.query})`)}>topk(50, …)</button>`}
      ${!asHeat && result.odd > 0 &&
        html`<span class="soft odd">
          ${plural(result.odd, 'value')} NaN or infinite: a gap, and in no figure below</span>`}
      ${!asHeat && Object.keys(said).length > 0 &&
        html`<span class="soft said">all: <code>${oneLine(labelText(said))}</code></span>`}
      <span class="grow"></span>${asHeat && shown && html`<${Scale} max=${shown.max} />`}
      <${ChartMenu} drawn=${drawn} host=${() => box.current?.querySelector('.chart') ?? null} />
    </div>
    ${asHeat && shown ? html`<${HeatMap} x=${x} group=${shown} unit=${how.axis} label="Heat map" marks=${marks}
      ...${share} />` : html`
    <${Chart} x=${x} series=${lines} kind=${v.stack ? 'stacked' : 'line'} log=${v.log} zero=${v.zero} off=${off}
      lit=${lit} unit=${how.axis} marks=${marks} label="Graph" ...${share} />
    ${legend}`}
  </div>`;
}

const heads = /** @type {const} */ (['last', 'min', 'max', 'mean']);

/**
 * @param {{lines: Line[], off: Set<string>, write: (v: number) => string, onToggle: (name: string, e: MouseEvent) =>
 *   void, onLit: (name: string|null) => void}} props
 */
function Legend({ lines, off, write, onToggle, onLit }) {
  const [by, setBy] = useState({ key: /** @type {'name'|'last'|'min'|'max'|'mean'} */ ('last'), up: false });
  const sign = by.up ? 1 : -1;
  const sorted = lines.map((s, i) => ({ s, i }))
    .sort((a, b) => sign * (by.key === 'name' ? (a.s.name < b.s.name ? -1 : 1)
      : (a.s[by.key] ?? -Infinity) - (b.s[by.key] ?? -Infinity)) || a.i - b.i);
  const head = (/** @type {typeof by.key} */ key, /** @type {string} */ text) => html`<th scope="col"
    class=${key === 'name' ? '' : 'num'} aria-sort=${by.key === key ? (by.up ? 'ascending' : 'descending') : 'none'}>
      <button class="quiet small" onClick=${() => setBy({ key, up: by.key === key ? !by.up : key === 'name' })}>${text}
        ${by.key === key ? (by.up ? ' ↑' : ' ↓') : ''}</button></th>`;
  return html`<div class="chart-legend">
    <table aria-label="Series" class="list"><thead><tr>${head('name', 'Series')}${heads.map((h) => head(h, h))}</tr>
      </thead><tbody>
    ${sorted.map(({ s, i }) => html`<tr key=${s.name} class=${off.has(s.name) ? 'off' : ''}
      onPointerEnter=${() => onLit(s.name)} onPointerLeave=${() => onLit(null)}>
      <td><button class="quiet small" title=${`${s.name}\nClick: only this. Ctrl and click: switch.`}
        onClick=${(e) => onToggle(s.name, e)}><span class="swatch" style=${{ background: seriesColour(i) }}></span>
          <span class="text">${s.name}</span></button></td>
      ${heads.map((h) => html`<td key=${h} class="num">${s[h] === null ? '' : write(/** @type {number} */ (s[h]))}
        </td>`)}</tr>`)}</tbody></table></div>`;
}
