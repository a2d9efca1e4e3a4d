// The one chart of lines, areas, bars and points over time or numbers, with a legend as a table and a cursor that
// charts share. It draws at most as many series as can be told apart and says what it left out.

import { html, useEffect, useRef, useState } from '../lib/ui.js';
import { uPlot } from '../lib/plot.js';
import { dark, zone } from '../core/state.js';
import { showTime } from '../core/time.js';
import { short } from '../core/format.js';
import { colour, seriesColour, seriesDash } from './canvas.js';
import { sheet } from './lazy.js';
import { Marks, place } from './marks.js';

export const mostSeries = 200;
export const mostPoints = 100_000;
/** With more series than this the lines are thin: they hide each other less and take half the time to draw. */
const mostThick = 50;

/**
 * @typedef {object} Series
 * @property {string} name
 * @property {(number|null)[]} values one for each x
 * @property {string} [color]
 */

/**
 * @typedef {object} ChartProps
 * @property {number[]} x seconds since the epoch, ascending; numbers when time is false
 * @property {Series[]} series
 * @property {'line'|'area'|'stacked'|'bars'|'points'} kind
 * @property {boolean} [time] default true
 * @property {boolean} [log]
 * @property {boolean} [zero] the axis begins at zero
 * @property {(v: number) => string} [unit] writes values
 * @property {(from: number, to: number) => void} [onRange] a range was dragged, in x
 * @property {() => void} [onWider] double click
 * @property {Set<string>} [off] names of series not drawn
 * @property {string|null} [lit] the series to highlight
 * @property {string} label
 * @property {string} [sync] charts with one name share their cursor
 * @property {import('./marks.js').Mark[]} [marks] single events over the lines
 */

// A plot measures itself when it is made, so the style sheet of the library must be there before.
await sheet('lib/plot.css');

/** @param {ChartProps} props */
export function Chart(props) {
  const host = useRef(/** @type {HTMLElement|null} */ (null));
  const plot = useRef(/** @type {any} */ (null));
  const latest = useRef(props);
  latest.current = props;
  const [tip, setTip] = useState(/** @type {{left: number, top: number, index: number}|null} */ (null));
  const [placed, setPlaced] = useState(/** @type {import('./marks.js').Placed[]} */ ([]));
  const isDark = dark.value;
  const drawn = props.series.filter((s) => !props.off?.has(s.name)).slice(0, mostSeries);
  const shape = [props.kind, props.log, props.zero, props.time, drawn.map((s) => s.name).join('\u0001'), isDark,
    zone.value, props.series.length].join('|');

  useEffect(() => {
    const el = /** @type {HTMLElement} */ (host.current);
    const u = new uPlot(options(latest, drawn, el, setTip, (p) => setPlaced(place(p, latest.current.marks ?? []))),
      dataOf(props, drawn), el);
    plot.current = u;
    const o = new ResizeObserver(() => {
      if (el.clientWidth > 0 && el.clientHeight > 0) u.setSize({ width: el.clientWidth, height: el.clientHeight });
    });
    o.observe(el);
    return () => {
      o.disconnect();
      u.destroy();
      plot.current = null;
    };
  }, [shape]);
  useEffect(() => { plot.current?.setData(dataOf(props, drawn)); }, [props.x, props.series]);
  useEffect(() => {
    const i = props.lit ? drawn.findIndex((s) => s.name === props.lit) : -1;
    plot.current?.setSeries(i < 0 ? null : i + 1, { focus: true });
  }, [props.lit]);

  useEffect(() => { plot.current?.redraw(false, true); }, [props.unit]);
  useEffect(() => { if (plot.current) setPlaced(place(plot.current, props.marks ?? [])); }, [props.marks]);

  const unit = props.unit ?? short;
  const key = (/** @type {KeyboardEvent} */ e) => {
    const u = plot.current, to = walked(e.key, tip?.index ?? null, props.x.length);
    if (!u || to === null) return;
    e.preventDefault();
    e.stopPropagation();
    u.setCursor({ left: u.valToPos(props.x[to], 'x'), top: u.over.clientHeight / 2 });
  };
  return html`<div class="chart" ref=${host} role="group" tabindex="0" aria-label=${summary(props)} onKeyDown=${key}
    onBlur=${() => setTip(null)}>
    ${tip && tip.index < props.x.length &&
      html`<div class="tip" role="status"
        style=${{ top: '8px', ...(tip.left > (host.current?.clientWidth ?? 0) / 2
          ? { right: (host.current?.clientWidth ?? 0) - tip.left + 14 + 'px' } : { left: tip.left + 14 + 'px' }) }}>
      <div>${xText(props.x[tip.index], props.time !== false)}</div>
      <table>${nearest(drawn, tip.index)
        .map((s) => html`<tr key=${s.name}>
          <td><span class="swatch" style=${{ background: s.color ?? seriesColour(props.series.indexOf(s)) }}></span>
            ${s.name}</td><td class="num">${unit(/** @type {number} */ (s.values[tip.index]))}</td></tr>`)}</table>
            </div>`}
    <${Marks} placed=${placed} /></div>`;
}

/**
 * walked is the point that a key leads to; null: it leads nowhere.
 * @param {string} key
 * @param {number|null} at
 * @param {number} points
 */
function walked(key, at, points) {
  if (points === 0) return null;
  switch (key) {
    case 'ArrowLeft': return Math.max(0, (at ?? points) - 1);
    case 'ArrowRight': return Math.min(points - 1, (at ?? points - 2) + 1);
    case 'Home': return 0;
    case 'End': return points - 1;
    default: return null;
  }
}

/**
 * nearest are the series that the tip names: the highest at the place, at most twelve.
 * @param {Series[]} series
 * @param {number} i
 */
const nearest = (series, i) => series.filter((s) => s.values[i] !== null && s.values[i] !== undefined)
  .sort((a, b) => Number(b.values[i]) - Number(a.values[i])).slice(0, 12);

/** summary says a chart in words. @param {ChartProps} p */
function summary(p) {
  const last = p.series.slice(0, 5).map((s) => `${s.name}: ${s.values.findLast((v) => v !== null) ?? 'no value'}`);
  return `${p.label}: ${p.series.length} series, ${p.x.length} points. Last values: ${last.join(
    '; ')}. Arrows walk the points.`;
}

/** xText writes a place of the axis. @param {number} x @param {boolean} time */
export const xText = (x, time) =>
  (time ? showTime(BigInt(Math.round(x * 1000)) * 1_000_000n, x % 1 === 0 ? 0 : 3, zone.value) : String(x));

/**
 * dataOf is the form the library wants; stacked series are sums of those before.
 * @param {ChartProps} p
 * @param {Series[]} drawn
 * @returns {any}
 */
function dataOf(p, drawn) {
  if (p.kind !== 'stacked') return [p.x, ...drawn.map((s) => s.values)];
  const sums = new Float64Array(p.x.length);
  return [p.x, ...drawn.map((s) => s.values.map((v, i) => (sums[i] += v ?? 0)))];
}

/**
 * frameOf returns what all plots share: size, axes, the cursor, and dragging a range.
 * @param {{current: {unit?: (v: number) => string, sync?: string, onRange?: (from: number, to: number) => void,
 *   onWider?: () => void}}} latest
 * @param {HTMLElement} el @param {boolean} time
 */
export function frameOf(latest, el, time) {
  const p = latest.current;
  const axis = { stroke: colour('text-soft'), grid: { stroke: colour('line'), width: 1 },
    ticks: { stroke: colour('line'), width: 1, size: 4 }, font: '11px system-ui, sans-serif' };
  return {
    width: el.clientWidth || 600, height: el.clientHeight || 240,
    tzDate: time ? (/** @type {number} */ ts) => uPlot.tzDate(new Date(ts * 1000), zone.value === 'local'
      ? Intl.DateTimeFormat().resolvedOptions().timeZone : zone.value) : undefined,
    legend: { show: false },
    cursor: {
      y: false, drag: { x: Boolean(p.onRange), y: false, setScale: false },
      sync: p.sync ? { key: p.sync } : undefined,
      bind: { dblclick: () => () => { latest.current.onWider?.(); } },
    },
    axes: [
      { ...axis, values: time ? timeLabels : undefined, space: time ? 80 : 50 },
      { ...axis, values: (/** @type {any} */ _, /** @type {number[]} */ vs) =>
        vs.map((v) => (v === null ? '' : (latest.current.unit ?? short)(v))), size: 58 },
    ],
    hooks: {
      setSelect: [(/** @type {any} */ u) => {
        if (u.select.width > 4)
          latest.current.onRange?.(u.posToVal(u.select.left, 'x'), u.posToVal(u.select.left + u.select.width, 'x'));
        u.setSelect({ left: 0, top: 0, width: 0, height: 0 }, false);
      }],
    },
  };
}

/**
 * @param {{current: ChartProps}} latest
 * @param {Series[]} drawn
 * @param {HTMLElement} el
 * @param {(tip: any) => void} setTip
 * @param {(u: any) => void} onDraw
 * @returns {any}
 */
function options(latest, drawn, el, setTip, onDraw) {
  const p = latest.current;
  const time = p.time !== false;
  const filled = p.kind === 'area' || p.kind === 'stacked' || p.kind === 'bars';
  const frame = frameOf(latest, el, time);
  return {
    ...frame,
    focus: { alpha: 0.25 },
    cursor: { ...frame.cursor, points: { size: 6 }, focus: { prox: 20 } },
    scales: {
      x: { time }, y: {
        distr: p.log ? 3 : 1,
        range: p.log ? undefined
          : (/** @type {any} */ _, /** @type {number} */ low, /** @type {number} */ high) =>
          yRange(low, high, p.zero || filled),
      },
    },
    series: [{}, ...drawn.map((s) => seriesOptions(p, s, filled, drawn.length > mostThick ? 1 : 1.4))],
    bands: p.kind === 'stacked' ? drawn.slice(1).map((_, i) => ({ series: [i + 2, i + 1] })) : undefined,
    hooks: {
      ...frame.hooks, draw: [onDraw],
      setCursor: [(/** @type {any} */ u) => setTip(u.cursor.idx === null || u.cursor.left < 0 ? null
        : { left: u.cursor.left + 58, top: u.cursor.top, index: u.cursor.idx })],
    },
  };
}

/** @param {ChartProps} p @param {Series} s @param {boolean} filled @param {number} width of its line, px */
function seriesOptions(p, s, filled, width) {
  const i = p.series.indexOf(s);
  const stroke = s.color ?? seriesColour(i);
  return {
    label: s.name, stroke, width: p.kind === 'points' ? 0 : width, dash: seriesDash(i),
    fill: filled ? stroke + (p.kind === 'bars' ? 'cc' : '33') : undefined,
    paths: p.kind === 'bars' ? uPlot.paths.bars?.({ size: [0.8, 60] }) : p.kind === 'points' ? () => null : undefined,
    points: p.kind === 'points' ? { show: true, size: 4, fill: stroke } : { size: 4, filter: loneOnes },
    spanGaps: false,
  };
}

/** loneOnes draws values without neighbours as points: a line would not show them. @param {any} u @param {number} i */
function loneOnes(u, i) {
  const v = u.data[i], found = [];
  for (let k = 0; k < v.length; k++) {
    if (v[k] !== null && v[k] !== undefined && (v[k - 1] ?? null) === null && (v[k + 1] ?? null) === null)
      found.push(k);
  }
  return found;
}

/** @param {number} low @param {number} high @param {boolean} [zero] @returns {[number, number]} */
function yRange(low, high, zero) {
  if (low === null || high === null) return [0, 1];
  if (zero) {
    low = Math.min(0, low);
    high = Math.max(0, high);
  }
  if (low === high) return low === 0 ? [0, 1] : [Math.min(0, low * 1.2), Math.max(0, high * 1.2)];
  const room = (high - low) * 0.06;
  return [zero && low === 0 ? 0 : low - room, zero && high === 0 ? 0 : high + room];
}

/**
 * timeLabels writes times, with the date where it changes.
 * @param {any} _
 * @param {number[]} splits
 * @param {number} __
 * @param {number} ___
 * @param {number} step
 */
function timeLabels(_, splits, __, ___, step) {
  let before = '';
  return splits.map((s) => {
    const text = showTime(BigInt(Math.round(s * 1000)) * 1_000_000n, step < 1 ? 3 : 0, zone.value);
    const date = text.slice(5, 10), clock = step >= 86_400 ? '' : text.slice(11, step < 1 ? 23 : step < 60 ? 19 : 16);
    const shown = date !== before && (before !== '' || !clock) ? (clock ? `${clock}\n${date}` : date) : clock || date;
    before = date;
    return shown;
  });
}
