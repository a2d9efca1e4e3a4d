// Stacked bars over time: drag selects a range, double click widens, and with the keyboard left and right walk the
// buckets.

import { html, useEffect, useRef, useState } from '../lib/ui.js';
import { dark, zone } from '../core/state.js';
import { count, oneLine, short } from '../core/format.js';
import { nowNanos, showTime } from '../core/time.js';
import { colour, fit } from './canvas.js';
import { lazy } from './lazy.js';

const Marks = lazy(() => import('./marks.js'), 'Marks');

/**
 * @typedef {object} Buckets
 * @property {bigint} start of the first bucket, ns
 * @property {bigint} step ns
 * @property {string[]} keys of the stack, from below
 * @property {Float64Array[]} counts of each key, by bucket
 */

const axis = 16;
const padLeft = 44;

/**
 * @param {{data: Buckets, range: {from: bigint, to: bigint}, color: (key: string, i: number) => string, onRange: (from:
 *   bigint, to: bigint) => void, onWider: () => void, loaded?: {from: bigint, to: bigint}|null, pins?: {at: bigint,
 *   title: string, onOpen: () => void}[], label: string, stale?: boolean}} props
 */
export function Histogram({ data, range, color, onRange, onWider, loaded, pins, label, stale }) {
  const canvas = useRef(/** @type {HTMLCanvasElement|null} */ (null));
  const [hover, setHover] = useState(-1);
  const [drag, setDrag] = useState(/** @type {{from: number, to: number}|null} */ (null));
  const [size, setSize] = useState(0);
  const n = data.counts[0]?.length ?? 0;
  const isDark = dark.value;

  useEffect(() => {
    const c = /** @type {HTMLCanvasElement} */ (canvas.current);
    const o = new ResizeObserver(() => setSize(c.clientWidth));
    o.observe(c);
    return () => o.disconnect();
  }, []);
  useEffect(() => {
    if (canvas.current) draw(canvas.current, data, range, color, hover, loaded ?? null);
  }, [data, hover, size, isDark, range, loaded, zone.value]);

  const width = () => Math.max(1, (canvas.current?.clientWidth ?? 0) - padLeft);
  const bucketAt = (/** @type {number} */ x) =>
    Math.max(-1, Math.min(n - 1, Math.floor(((x - padLeft) / width()) * n)));
  const place = (/** @type {PointerEvent} */ e) => e.clientX -
    /** @type {DOMRect} */ (canvas.current?.getBoundingClientRect()).left;
  const from = (/** @type {number} */ b) => max(data.start + BigInt(b) * data.step, range.from);
  const to = (/** @type {number} */ b) => min(data.start + BigInt(b + 1) * data.step, range.to);

  const down = (/** @type {PointerEvent} */ e) => {
    if (e.button !== 0) return;
    /** @type {HTMLElement} */ (e.currentTarget).setPointerCapture(e.pointerId);
    const b = Math.max(0, bucketAt(place(e)));
    setDrag({ from: b, to: b });
  };
  const move = (/** @type {PointerEvent} */ e) => {
    const b = bucketAt(place(e));
    setHover(b);
    if (drag) setDrag({ from: drag.from, to: Math.max(0, b) });
  };
  const up = () => {
    if (drag && drag.from !== drag.to) onRange(from(Math.min(drag.from, drag.to)), to(Math.max(drag.from, drag.to)));
    setDrag(null);
  };
  const key = (/** @type {KeyboardEvent} */ e) => {
    if (e.key === 'ArrowLeft' || e.key === 'ArrowRight')
      setHover(Math.max(0, Math.min(n - 1, hover + (e.key === 'ArrowLeft' ? -1 : 1))));
    else if (e.key === 'Home' || e.key === 'End') setHover(e.key === 'Home' ? 0 : n - 1);
    else if (e.key === 'Enter' && hover >= 0) onRange(from(hover), to(hover));
    else return;
    e.preventDefault();
    e.stopPropagation();
  };
  const total = (/** @type {number} */ b) => data.counts.reduce((s, c) => s + c[b], 0);
  const words = hover >= 0 && hover < n
    ? `${showTime(from(hover), digits(data.step), zone.value)}: ${count(total(hover))}` : '';
  const left = (/** @type {number} */ b) => padLeft + (b / n) * width();
  return html`<div class="histogram ${stale ? 'stale' : ''}" role="img" aria-label=${label} tabindex="0"
    onPointerDown=${down} onPointerMove=${move} onPointerUp=${up} onPointerLeave=${() => !drag && setHover(-1)}
      onDblClick=${onWider} onKeyDown=${key} onBlur=${() => setHover(-1)}>
    <canvas ref=${canvas}></canvas>
    <span class="only-read" aria-live="polite">${words}</span>
    ${pins && pins.length > 0 &&
      html`<span onPointerDown=${(e) => e.stopPropagation()}>
        <${Marks} placed=${pins.filter((p) => p.at >= range.from && p.at < range.to)
          .map((p) => ({ left: padLeft + (Number(p.at - data.start) / Number(data.step * BigInt(n))) * width(), top: 6,
            mark: { x: 0, y: null, ...p } }))} /></span>`}
    ${drag && drag.from !== drag.to &&
      html`<div class="select"
        style=${{ left: left(Math.min(drag.from, drag.to)) + 'px',
          width: left(Math.abs(drag.to - drag.from) + 1) - padLeft + 'px' }}></div>`}
    ${hover >= 0 && hover < n &&
      html`<div class="tip" style=${{ top: '4px',
        ...(left(hover) > width() / 2 ? { right: width() + padLeft - left(hover) + 8 + 'px' }
          : { left: left(hover + 1) + 8 + 'px' }) }}>
      <div class="num" style=${{ textAlign: 'left' }}>
        ${showTime(from(hover), digits(data.step), zone.value)} – ${showTime(to(hover), digits(data.step), zone.value)
          .slice(11)}</div>
      <table>${data.keys.map((k, i) => data.counts[i][hover] > 0 &&
        html`<tr key=${k}><td><span class="swatch" style=${{ background: color(k, i) }}></span>${oneLine(k, 60)}</td>
          <td class="num">${count(data.counts[i][hover])}</td></tr>`)}
        ${data.keys.length > 1 && html`<tr><td>total</td><td class="num"><b>${count(total(hover))}</b></td></tr>`}
          </table></div>`}
  </div>`;
}

/** @param {bigint} a @param {bigint} b */
const max = (a, b) => (a > b ? a : b);
/** @param {bigint} a @param {bigint} b */
const min = (a, b) => (a < b ? a : b);

/** digits a bucket's start needs. @param {bigint} step */
const digits = (step) => (step < 1_000_000_000n ? 3 : 0);

/**
 * @param {HTMLCanvasElement} canvas @param {Buckets} data @param {{from: bigint, to: bigint}} range
 * @param {(key: string, i: number) => string} color
 * @param {number} hover
 * @param {{from: bigint, to: bigint}|null} loaded
 */
function draw(canvas, data, range, color, hover, loaded) {
  const { g, width, height } = fit(canvas);
  const n = data.counts[0]?.length ?? 0;
  const w = width - padLeft, h = height - axis - 6, base = height - axis;
  if (n === 0 || w <= 0) return;
  let top = 1;
  for (let b = 0; b < n; b++) top = Math.max(top, data.counts.reduce((s, c) => s + c[b], 0));
  const nice = niceTop(top);
  g.font = '11px system-ui, sans-serif';
  g.fillStyle = colour('text-faint');
  g.strokeStyle = colour('line');
  g.textAlign = 'right';
  g.textBaseline = 'middle';
  for (const part of [0.5, 1]) {
    if (!Number.isInteger(nice * part)) continue; // there is no half of a row
    const y = base - h * part;
    g.beginPath();
    g.moveTo(padLeft, Math.round(y) + 0.5);
    g.lineTo(width, Math.round(y) + 0.5);
    g.stroke();
    g.fillText(short(nice * part), padLeft - 6, Math.max(6, y));
  }
  const each = w / n, gap = each > 4 ? 1 : 0;
  const now = nowNanos();
  for (let b = 0; b < n; b++) {
    let y = base;
    const x = padLeft + b * each;
    for (let k = 0; k < data.keys.length; k++) {
      const v = data.counts[k][b];
      if (v === 0) continue;
      const size = Math.max((v / nice) * h, 1);
      g.fillStyle = color(data.keys[k], k);
      g.globalAlpha = hover >= 0 && hover !== b ? 0.6 : 1;
      g.fillRect(x, y - size, Math.max(each - gap, 0.5), size);
      y -= size;
    }
    g.globalAlpha = 1;
    const end = data.start + BigInt(b + 1) * data.step;
    if (end > now && data.start + BigInt(b) * data.step <= now && y < base) hatch(g, x, y, each - gap, base - y);
  }
  g.strokeStyle = colour('line-strong');
  g.beginPath();
  g.moveTo(padLeft, base + 0.5);
  g.lineTo(width, base + 0.5);
  g.stroke();
  drawTimes(g, data, n, width, height, base);
  if (loaded) {
    const total = Number(range.to - range.from) || 1;
    const x0 = padLeft + Math.max(0, Number(loaded.from - range.from) / total) * w,
      x1 = padLeft + Math.min(1, Number(loaded.to - range.from) / total) * w;
    g.fillStyle = colour('accent');
    g.fillRect(x0, base + 1, Math.max(2, x1 - x0), 2);
  }
}

/**
 * hatch marks a bucket that is not over yet.
 * @param {CanvasRenderingContext2D} g
 * @param {number} x
 * @param {number} y
 * @param {number} w
 * @param {number} h
 */
function hatch(g, x, y, w, h) {
  g.save();
  g.beginPath();
  g.rect(x, y, w, h);
  g.clip();
  g.strokeStyle = colour('bg');
  g.lineWidth = 1.5;
  g.beginPath();
  for (let d = -h; d < w; d += 5) {
    g.moveTo(x + d, y + h);
    g.lineTo(x + d + h, y);
  }
  g.stroke();
  g.restore();
}

/**
 * drawTimes writes the times below the bars, as many as fit.
 * @param {CanvasRenderingContext2D} g
 * @param {Buckets} data
 * @param {number} n
 * @param {number} width
 * @param {number} height
 * @param {number} base
 */
function drawTimes(g, data, n, width, height, base) {
  g.fillStyle = colour('text-faint');
  g.textBaseline = 'alphabetic';
  const days = data.step * BigInt(n) > 86_400_000_000_000n;
  const needs = days ? 92 : 64;
  const every = Math.max(1, Math.ceil((needs * n) / (width - padLeft)));
  for (let b = 0; b < n; b += every) {
    const x = padLeft + (b / n) * (width - padLeft);
    if (x + needs > width + 8) break;
    const text = showTime(data.start + BigInt(b) * data.step, 0, zone.value);
    g.textAlign = 'left';
    g.fillText(days ? text.slice(5, 16) : text.slice(11, data.step < 60_000_000_000n ? 19 : 16), x, height - 2);
    g.fillRect(x, base, 1, 4);
  }
}

/** niceTop is the end of the axis: 1, 2 or 5 times a power of ten. @param {number} v */
function niceTop(v) {
  const power = 10 ** Math.floor(Math.log10(v));
  for (const f of [1, 2, 2.5, 5, 10]) if (v <= f * power) return f * power;
  return 10 * power;
}
