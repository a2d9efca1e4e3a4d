// The one heat map: a column for each moment, a row for each bucket, the fuller the darker. Shares its cursor with
// charts.

import { html, useEffect, useRef, useState } from '../lib/ui.js';
import { uPlot } from '../lib/plot.js';
import { dark, zone } from '../core/state.js';
import { count, percent, short } from '../core/format.js';
import { colour } from './canvas.js';
import { frameOf, xText } from './chart.js';
import { Marks, place } from './marks.js';

/**
 * @typedef {object} HeatProps
 * @property {number[]} x s
 * @property {import('../core/heat.js').Group} group
 * @property {(v: number) => string} unit writes bounds
 * @property {string} label
 * @property {string} [sync]
 * @property {(from: number, to: number) => void} [onRange]
 * @property {() => void} [onWider]
 * @property {import('./marks.js').Mark[]} [marks] their y is a value, not a row
 */

/** @param {HeatProps} props */
export function HeatMap(props) {
  const host = useRef(/** @type {HTMLElement|null} */ (null));
  const plot = useRef(/** @type {any} */ (null));
  const latest = useRef(props);
  latest.current = props;
  const [at, setAt] = useState(/** @type {{column: number, row: number, left: number}|null} */ (null));
  const [placed, setPlaced] = useState(/** @type {import('./marks.js').Placed[]} */ ([]));
  const latestAt = useRef(at);
  latestAt.current = at;
  const { x, group, unit } = props;
  const rows = group.bounds.length;
  /**
   * go says a cell to readers of the screen. The cell is given by column and row, so that this works before the map has
   * its size.
   * @param {any} u
   * @param {number} column
   * @param {number} row
   */
  const go = (u, column, row) => {
    u.setCursor({ left: u.valToPos(x[column], 'x'), top: u.valToPos(row + 0.5, 'y') });
    setAt({ column, row, left: u.cursor.left + 58 });
  };
  useEffect(() => {
    const el = /** @type {HTMLElement} */ (host.current);
    const u = new uPlot(options(latest, el, setAt, (p) => setPlaced(placedOn(p, latest.current))),
      [x, x.map(() => null)], el);
    plot.current = u;
    const read = latestAt.current; // the cell being read stays when the map is drawn anew
    if (read && read.column < x.length) queueMicrotask(() => go(u, read.column, read.row));
    const o = new ResizeObserver(() => {
      if (el.clientWidth === 0 || el.clientHeight === 0) return;
      u.setSize({ width: el.clientWidth, height: el.clientHeight });
      if (latestAt.current) go(u, latestAt.current.column, latestAt.current.row);
    });
    o.observe(el);
    return () => {
      o.disconnect();
      u.destroy();
      plot.current = null;
    };
  }, [x, group, unit, dark.value, zone.value]);
  useEffect(() => { if (plot.current) setPlaced(placedOn(plot.current, latest.current)); }, [props.marks]);
  const key = (/** @type {KeyboardEvent} */ e) => {
    const by = { ArrowLeft: [-1, 0], ArrowRight: [1, 0], ArrowUp: [0, 1], ArrowDown: [0, -1] }[e.key];
    const u = plot.current;
    if (!by || !u) return;
    e.preventDefault();
    e.stopPropagation();
    const column = Math.max(0, Math.min(x.length - 1, (at?.column ?? x.length - 1) + by[0])),
      row = Math.max(0, Math.min(rows - 1, (at?.row ?? 0) + by[1]));
    go(u, column, row);
  };
  const cell = (/** @type {number} */ r) => group.cells[r * x.length + (at?.column ?? 0)];
  const sum = at ? group.bounds.reduce((n, _, r) => n + cell(r), 0) : 0;
  const width = host.current?.clientWidth ?? 0;
  return html`<div class="chart heat" ref=${host} role="group" tabindex="0"
    aria-label=${`${props.label}: ${rows} buckets, ${x.length} moments, the fullest has ${figure(
      group.max)}. Arrows walk the cells.`} onKeyDown=${key}>
    ${at && html`<div class="tip" role="status"
      style=${{ top: '8px', ...(at.left > width / 2 ? { right: `${width - at.left + 14}px` }
        : { left: `${at.left + 14}px` }) }}>
      <div>${xText(x[at.column], true)}</div>
      ${at.row >= 0 && at.row < rows &&
        html`<div><b>${boundsText(group.bounds[at.row], unit)}</b> ${figure(cell(at.row))}
          ${sum > 0 ? `, ${percent(cell(at.row) / sum)}` : ''}</div>`}
      <div class="soft">all buckets ${figure(sum)}</div></div>`}
    <${Marks} placed=${placed} /></div>`;
}

/** placedOn finds where the marks lie. @param {any} u @param {HeatProps} p */
const placedOn = (u, p) => place(u, (p.marks ?? []).map((m) => ({ ...m, y: rowAt(p.group, m.y) })));

/**
 * rowsOf are the buckets as series.
 * @param {number[]} x
 * @param {import('../core/heat.js').Group} group
 * @param {(v: number) => string} unit
 */
export const rowsOf = (x, group, unit) => group.bounds.map((bounds, r) =>
  ({ name: boundsText(bounds, unit), values: group.cells.subarray(r * x.length, (r + 1) * x.length) }));

/** figure writes a count, which may be a rate. @param {number} v */
const figure = (v) => (Number.isInteger(v) ? count(v) : String(Number(v.toPrecision(4))));

/** boundsText writes a bucket. @param {[number, number]} bounds @param {(v: number) => string} unit */
const boundsText = ([low, high], unit) => (high === Infinity ? `over ${unit(low)}` : low === -Infinity
  ? `up to ${unit(high)}` : `${unit(low)} to ${unit(high)}`);

/**
 * rowAt is where a value lies between the rows.
 * @param {import('../core/heat.js').Group} group
 * @param {number|null} v
 */
function rowAt(group, v) {
  const r = v === null ? -1 : group.bounds.findIndex(([low, high]) => v > low && v <= high || v === low && v === high);
  return r < 0 ? null : r + 0.5;
}

/**
 * @param {{current: HeatProps}} latest
 * @param {HTMLElement} el
 * @param {(at: any) => void} setAt
 * @param {(u: any) => void} onDraw
 * @returns {any}
 */
function options(latest, el, setAt, onDraw) {
  const { group, unit } = latest.current;
  const rows = group.bounds.length;
  const every = () => Math.max(1, Math.ceil((rows * 18) / Math.max(40, el.clientHeight - 40)));
  const frame = frameOf(latest, el, true);
  return {
    ...frame,
    cursor: { ...frame.cursor, points: { show: false } },
    scales: { x: { time: true,
      range: (/** @type {any} */ _, /** @type {number} */ low, /** @type {number} */ high) =>
      [low - half(latest), high + half(latest)] }, y: { range: () => [0, rows] } },
    axes: [frame.axes[0], {
      ...frame.axes[1], grid: { show: false },
      splits: () => { const list = []; for (let r = 0; r <= rows; r += every()) list.push(r); return list; },
      values: (/** @type {any} */ _, /** @type {number[]} */ splits) =>
        splits.map((r) => edgeText(r < rows ? group.bounds[r][0] : group.bounds[rows - 1][1], unit)),
    }],
    series: [{}, { show: true, paths: () => null, points: { show: false } }],
    hooks: {
      ...frame.hooks, draw: [paint(latest), onDraw],
      setCursor: [(/** @type {any} */ u) => setAt(u.cursor.idx === null || u.cursor.idx === undefined ||
        u.cursor.left < 0 ? null
        : { column: u.cursor.idx, row: u.cursor.top >= 0 ? Math.floor(u.posToVal(u.cursor.top, 'y')) : -1,
          left: u.cursor.left + 58 })],
    },
  };
}

/** edgeText writes a bound at the axis. @param {number} v @param {(v: number) => string} unit */
const edgeText = (v, unit) => (v === Infinity ? '+Inf' : v === -Infinity ? '-Inf' : unit(v));

/** half is half the width of a column, s. @param {{current: HeatProps}} latest */
const half = ({ current: { x } }) => (x.length > 1 ? (x[1] - x[0]) / 2 : 30);

/**
 * paint fills the cells: the root of the count, so that the thin tails are seen beside the full middle.
 * @param {{current: HeatProps}} latest
 */
const paint = (latest) => (/** @type {any} */ u) => {
  const { x, group } = latest.current, g = u.ctx, wide = half(latest);
  const rows = group.bounds.length, tops = Array.from({ length: rows + 1 }, (_, r) => u.valToPos(r, 'y', true));
  g.save();
  g.fillStyle = colour('accent');
  for (let i = 0; i < x.length; i++) {
    const from = Math.round(u.valToPos(x[i] - wide, 'x', true)), to = Math.round(u.valToPos(x[i] + wide, 'x', true));
    for (let r = 0; r < rows; r++) {
      const v = group.cells[r * x.length + i];
      if (!(v > 0)) continue;
      g.globalAlpha = 0.08 + 0.92 * Math.sqrt(v / group.max);
      g.fillRect(from, Math.round(tops[r + 1]), Math.max(1, to - from),
        Math.max(1, Math.round(tops[r]) - Math.round(tops[r + 1])));
    }
  }
  g.restore();
};

/** Scale is the legend of the shades. @param {{max: number}} props */
export const Scale = ({ max }) => html`<span class="heat-scale soft num"
  title="The root of the count, so that the tails are seen">0 <span class="shades" aria-hidden="true">
    ${[0.08, 0.3, 0.5, 0.7, 0.85, 1].map((a) => html`<span key=${a} style=${{ opacity: a }}></span>`)}
      </span> ${short(max)}</span>`;
