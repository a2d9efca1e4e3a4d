// A result as a chart. Its form is guessed from the types of the columns, and can be chosen.

import { html, useEffect, useMemo, useRef, useState } from '../lib/ui.js';
import { bytes, count, duration, oneLine, percent, raw, short } from '../core/format.js';
import { writeRows } from '../core/rowtext.js';
import * as sqltext from '../core/sqltext.js';
import { frame } from '../core/state.js';
import { rfc3339 } from '../core/time.js';
import { seriesColour } from '../ui/canvas.js';
import { Chart, mostPoints, mostSeries } from '../ui/chart.js';
import { ChartMenu } from '../ui/chartfile.js';
import { Icon } from '../ui/icons.js';
import { save } from '../ui/save.js';

/** The most bars that are drawn. */
const mostBars = 200;

/** @type {Record<string, (v: number) => string>} */
export const units = { '': short, bytes, ms: duration, s: (v) => duration(v * 1000), percent: (v) => percent(v / 100),
  share: percent };

/** whole writes whole numbers with all digits: beside a bar there is room. @param {number} v */
const whole = (v) => (Number.isSafeInteger(v) ? count(v) : short(v));

/**
 * guess finds the columns of a chart. Columns that were chosen by name have precedence.
 * @param {import('../core/rowset.js').Column[]} columns
 * @param {{x?: string, y?: string, by?: string}} [chosen]
 */
export function guess(columns, chosen = {}) {
  const found = fitting(columns);
  if (!found || found.shape === 'number') return found;
  const at = (/** @type {string|undefined} */ name) => columns.findIndex((c) => c.name === name);
  const x = at(chosen.x) < 0 ? found.x : at(chosen.x), type = columns[x].type;
  const shape = isMoment(type) ? 'time' : sqltext.isNumeric(type) ? 'xy' : 'bars';
  const numbers = columns.map((c, i) => (sqltext.isNumeric(c.type) && i !== x ? i : -1)).filter((i) => i >= 0);
  const values = at(chosen.y) < 0 ? numbers : [at(chosen.y)];
  const by = chosen.by === '-' ? [] : at(chosen.by) < 0 ? found.by.filter((c) => c !== x) : [at(chosen.by)];
  return values.length === 0 ? null : { shape, x, values, by };
}

/** @param {string} type */
const isMoment = (type) => sqltext.isTime(type) || /^date/i.test(type);

/** fitting returns the roles that the types of columns allow. @param {import('../core/rowset.js').Column[]} columns */
function fitting(columns) {
  const is = (/** @type {(type: string) => boolean} */ test) => columns.map((c, i) => (test(c.type) ? i : -1))
    .filter((i) => i >= 0);
  const times = is(isMoment), numbers = is(sqltext.isNumeric), texts = is(sqltext.isText);
  if (times.length > 0 && numbers.length > 0) return { shape: 'time', x: times[0], values: numbers, by: texts };
  if (columns.length === 1 && numbers.length === 1) return { shape: 'number', x: -1, values: numbers, by: [] };
  if (texts.length > 0 && numbers.length > 0)
    return { shape: 'bars', x: texts[0], values: numbers, by: texts.slice(1) };
  if (numbers.length > 1) return { shape: 'xy', x: numbers[0], values: numbers.slice(1), by: texts };
  return null;
}

/**
 * @typedef {{x: number[], series: import('../ui/chart.js').Series[], left: number}} Drawn left counts the rows that are
 *   not drawn
 */

/**
 * pivot makes series over time: one for each number, or for each value of the text columns.
 * @param {any[][]} rows
 * @param {import('../core/rowset.js').Column[]} columns
 * @param {NonNullable<ReturnType<typeof guess>>} g
 * @returns {Drawn}
 */
export function pivot(rows, columns, g) {
  const type = columns[g.x].type;
  const xOf = sqltext.isTime(type)
    ? (/** @type {any} */ v) => Number(BigInt(v) * sqltext.unitNanos(type) / 1_000_000n) / 1000 : /^date/i.test(type)
    ? (/** @type {any} */ v) => Number(v) * 86_400 : Number;
  const points = rows.slice(0, mostPoints).filter((r) => r[g.x] !== null);
  const x = [...new Set(points.map((r) => xOf(r[g.x])))].sort((a, b) => a - b);
  const at = new Map(x.map((v, i) => [v, i]));
  /** @type {Map<string, (number|null)[]>} */
  const series = new Map();
  for (const r of points) {
    const label = g.by.map((c) => (r[c] === null ? '(none)' : oneLine(raw(r[c]), 80))).join(', ');
    for (const c of g.values) {
      const name = g.by.length === 0 ? columns[c].name : g.values.length === 1 ? label : `${label}: ${columns[c].name}`;
      let values = series.get(name);
      if (!values) {
        if (series.size >= 5000) continue;
        series.set(name, values = new Array(x.length).fill(null));
      }
      if (r[c] !== null) values[/** @type {number} */ (at.get(xOf(r[g.x])))] = Number(r[c]);
    }
  }
  const all = [...series].map(([name, values]) => ({ name, values }));
  return { x, series: all.slice(0, mostSeries), left: Math.max(0, all.length - mostSeries) };
}

/** @param {{rows: import('../core/rows.js').Rows, state: import('../core/state.js').PageState}} props */
export function ResultChart({ rows, state }) {
  const [list, setList] = useState(/** @type {any[][]|null} */ (null));
  const [off, setOff] = useState(() => new Set(/** @type {string[]} */ ([])));
  const [lit, setLit] = useState(/** @type {string|null} */ (null));
  useEffect(() => { rows.slice(0, mostPoints).then(setList, () => {}); }, [rows]);
  const v = state.values.value;
  const g = useMemo(() => guess(rows.columns, v), [rows, v.x, v.y, v.by]);
  const host = useRef(/** @type {HTMLElement|null} */ (null));
  const unit = units[v.unit] ?? short;
  if (!g) return html`<p class="state soft">
    A chart needs a number, and beside it a time, a text, or another number.</p>`;
  if (!list) return null;
  if (g.shape === 'number')
    return html`<div class="big num">${list[0] ? (v.unit ? unit(Number(list[0][0])) : count(raw(list[0][0]))) : ''}
      <div class="soft">${rows.columns[0].name}</div></div>`;
  if (g.shape === 'bars' && v.kind !== 'line')
    return html`<${Controls} state=${state} columns=${rows.columns} g=${g} bars
      forms=${html`<button title="Save what is drawn"
        onClick=${() => save(barsCSV(list, rows.columns, g), 'chart.csv')}><${Icon} name="download" />CSV</button>`} />
        <${Bars} list=${list} columns=${rows.columns} g=${g} unit=${v.unit ? unit : whole} />`;
  const drawn = pivot(list, rows.columns, g);
  const isTime = g.shape === 'time';
  const kind = v.kind === 'auto' ? 'line' : v.kind;
  const toggle = (/** @type {string} */ name, /** @type {MouseEvent} */ e) => {
    const next = new Set(off);
    if (e.ctrlKey || e.metaKey) next.has(name) ? next.delete(name) : next.add(name);
    else if (off.size === drawn.series.length - 1 && !off.has(name)) next.clear();
    else drawn.series.forEach((s) => (s.name === name ? next.delete(s.name) : next.add(s.name)));
    setOff(next);
  };
  const other = () => ({ title: 'Result', name: 'chart', x: drawn.x, time: isTime,
    series: drawn.series.map((s, i) => ({ ...s, color: seriesColour(i) })).filter((s) => !off.has(s.name)) });
  return html`<${Controls} state=${state} columns=${rows.columns} g=${g}
    forms=${html`<${ChartMenu} drawn=${other} host=${() => host.current?.querySelector('.chart') ?? null} />`} />
    <div class="chart-host" ref=${host}>
    ${drawn.left > 0 && html`<p class="pad soft">${count(drawn.left + mostSeries)} series, ${mostSeries} drawn</p>`}
    <${Chart} x=${drawn.x} series=${drawn.series} kind=${kind} time=${isTime} log=${v.log} zero=${v.zero} unit=${unit}
      off=${off} lit=${lit} label="Result"
      onRange=${isTime ? (/** @type {number} */ a,
        /** @type {number} */ b) => frame.set({ from: rfc3339(BigInt(Math.round(a * 1000)) * 1_000_000n),
          to: rfc3339(BigInt(Math.round(b * 1000)) * 1_000_000n) }) : undefined} /></div>
    <div class="chart-legend">
      <table aria-label="Series" class="list">
        <thead><tr><th scope="col">Series</th><th scope="col" class="num">last</th><th scope="col" class="num">min</th>
          <th scope="col" class="num">max</th></tr></thead><tbody>
      ${drawn.series.map((s, i) => html`<tr key=${s.name} class=${off.has(s.name) ? 'off' : ''}
        onPointerEnter=${() => setLit(s.name)} onPointerLeave=${() => setLit(null)}>
          <td><button class="quiet small" title=${`${s.name}\nClick: only this. Ctrl and click: switch.`}
            onClick=${(e) => toggle(s.name, e)}><span class="swatch" style=${{ background: seriesColour(i) }}></span>
              <span class="text">${s.name}</span></button></td>
        ${figures(s.values).map((n, k) => html`<td key=${k} class="num">${n === null ? '' : unit(n)}</td>`)}
          </tr>`)}</tbody></table></div>`;
}

/** figures are the last, lowest and highest value. @param {(number|null)[]} values */
function figures(values) {
  let low = null, high = null, last = null;
  for (const v of values) {
    if (v === null) continue;
    last = v;
    if (low === null || v < low) low = v;
    if (high === null || v > high) high = v;
  }
  return [last, low, high];
}

/**
 * barsCSV returns the drawn bars as a table.
 * @param {any[][]} list
 * @param {import('../core/rowset.js').Column[]} columns
 * @param {NonNullable<ReturnType<typeof guess>>} g
 */
const barsCSV = (list, columns, g) =>
  writeRows(columns, list.slice(0, mostBars), { format: 'csv', columns: [g.x, g.values[0]] });

/**
 * Axis chooses a column.
 * @param {{state: import('../core/state.js').PageState, name: string, text: string, columns:
 *   import('../core/rowset.js').Column[], first: [string, string], second?: [string, string]}} props
 */
const Axis = ({ state, name, text, columns, first, second }) => columns.length > 1 &&
  html`<label>${text} <select value=${state.get(name)} onChange=${(e) => state.set({ [name]: e.target.value }, false)}>
  ${[first, ...(second ? [second] : []),
    ...columns.map((c) => [c.name, oneLine(c.name, 40)])].map(([value, title]) =>
      html`<option key=${value} value=${value}>${title}</option>`)}</select></label>`;

/**
 * @param {{state: import('../core/state.js').PageState, columns: import('../core/rowset.js').Column[], g:
 *   NonNullable<ReturnType<typeof guess>>, bars?: boolean, forms: any}} props forms: in which other forms the chart is
 *   there
 */
function Controls({ state, columns, g, bars, forms }) {
  const v = state.values.value;
  const numbers = columns.filter((c) => sqltext.isNumeric(c.type));
  return html`<div class="chart-controls small">
    ${!bars && html`<label>as <select value=${v.kind} onChange=${(e) => state.set({ kind: e.target.value }, false)}>
      ${[['auto', 'lines'], ['area', 'areas'], ['stacked', 'stacked'], ['bars', 'bars'],
        ['points', 'points']].map(([k, t]) => html`<option key=${k} value=${k}>${t}</option>`)}</select></label>
    <button aria-pressed=${v.log ? 'true' : 'false'}
      onClick=${() => state.set({ log: !v.log }, false)}>log scale</button>
    <button aria-pressed=${v.zero ? 'true' : 'false'}
      onClick=${() => state.set({ zero: !v.zero }, false)}>from zero</button>`}
    <${Axis} state=${state} name="x" text="across" columns=${columns} first=${['', columns[g.x].name]} />
    <${Axis} state=${state} name="y" text="up" columns=${numbers} first=${['', 'all numbers']} />
    ${!bars && html`<${Axis} state=${state} name="by" text="lines by" columns=${columns} first=${['', 'texts']}
      second=${['-', 'nothing']} />`}
    <label>unit <select value=${v.unit} onChange=${(e) => state.set({ unit: e.target.value }, false)}>
      ${Object.keys(units).map((u) => html`<option key=${u} value=${u}>${u || 'none'}</option>`)}</select></label>
    <span class="grow"></span>${forms}</div>`;
}

/**
 * Bars draws a number for each text.
 * @param {{list: any[][], columns: import('../core/rowset.js').Column[], g: NonNullable<ReturnType<typeof guess>>,
 *   unit: (v: number) => string}} props
 */
function Bars({ list, columns, g, unit }) {
  const c = g.values[0];
  const shown = list.slice(0, mostBars);
  const top = Math.max(1e-300, ...shown.map((r) => Math.abs(Number(r[c]))));
  return html`<div class="bars"><h2 class="soft">${columns[c].name} by ${columns[g.x].name}</h2>
    ${shown.map((r, i) => html`<div class="bar-row" key=${i}>
      <span class="text" title=${raw(r[g.x])}>${r[g.x] === null ? 'NULL' : oneLine(raw(r[g.x]), 120)}</span>
        <span class="track"><span class="fill" style=${{ width: `${(Math.abs(Number(r[c])) / top) * 100}%` }}></span>
          </span><span class="num">${r[c] === null ? '' : unit(Number(r[c]))}</span></div>`)}
    ${list.length > shown.length && html`<p class="soft">${count(list.length)} rows, ${mostBars} drawn</p>`}</div>`;
}
