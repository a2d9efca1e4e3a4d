// Matching spans as dots: when, how long, of which service; errors have a ring. A rectangle becomes a filter, a click
// opens.

import { html, useEffect, useRef, useState } from '../lib/ui.js';
import { duration, oneLine } from '../core/format.js';
import { dark, zone } from '../core/state.js';
import { minute, nowNanos, offsetMS, showShort, stepFor } from '../core/time.js';
import { colour, fit, hashColour } from '../ui/canvas.js';

const left = 52, bottom = 18, top = 6, right = 8;
const near = 8;

/** @typedef {import('./tracesquery.js').Dot} Dot */
/**
 * @typedef {{from: bigint, to: bigint, least: number, most: number, width: number, height: number}} Scale durations are
 *   on a logarithmic scale
 */

/**
 * @param {{dots: Dot[], range: {from: bigint|null, to: bigint|null}, onRectangle: (from: bigint, to: bigint, least:
 *   number, most: number) => void, onOpen: (id: string) => void}} props
 */
export function Scatter({ dots, range, onRectangle, onOpen }) {
  const canvas = useRef(/** @type {HTMLCanvasElement|null} */ (null));
  const scale = useRef(/** @type {Scale|null} */ (null));
  const begin = useRef(/** @type {{x: number, y: number}|null} */ (null));
  const [box, setBox] = useState(/** @type {{x: number, y: number, w: number, h: number}|null} */ (null));
  const [over, setOver] = useState(/** @type {{dot: Dot, x: number, y: number}|null} */ (null));
  useEffect(() => {
    const el = /** @type {HTMLCanvasElement} */ (canvas.current);
    const paint = () => { scale.current = draw(el, dots, range); };
    paint();
    const observer = new ResizeObserver(paint);
    observer.observe(el);
    return () => observer.disconnect();
  }, [dots, dark.value, zone.value]);
  const at = (/** @type {PointerEvent} */ e) => {
    const r = /** @type {HTMLElement} */ (canvas.current).getBoundingClientRect();
    return { x: e.clientX - r.left, y: e.clientY - r.top };
  };
  const move = (/** @type {PointerEvent} */ e) => {
    const p = at(e), b = begin.current, s = scale.current;
    if (b) setBox({ x: Math.min(b.x, p.x), y: Math.min(b.y, p.y), w: Math.abs(p.x - b.x), h: Math.abs(p.y - b.y) });
    const dot = s && !b ? closest(dots, s, p) : null;
    setOver(dot ? { dot, ...p } : null);
  };
  const up = (/** @type {PointerEvent} */ e) => {
    const s = scale.current, b = box, p = at(e);
    begin.current = null;
    setBox(null);
    if (!s) return;
    if (b && b.w > 4 && b.h > 4) {
      onRectangle(timeAt(s, b.x), timeAt(s, b.x + b.w), durationAt(s, b.y + b.h), durationAt(s, b.y));
    } else {
      const dot = closest(dots, s, p);
      if (dot) onOpen(dot.trace);
    }
  };
  return html`<div class="traces-scatter">
    <canvas ref=${canvas} role="img"
      aria-label=${`${dots.length} matching spans by time and duration; the list below has traces of them`}
      onPointerDown=${(e) => {
        /** @type {HTMLElement} */ (e.currentTarget).setPointerCapture(e.pointerId);
        begin.current = at(e);
      }} onPointerMove=${move} onPointerUp=${up} onPointerLeave=${() => setOver(null)}></canvas>
    ${box && html`<div class="rectangle"
      style=${{ left: `${box.x}px`, top: `${box.y}px`, width: `${box.w}px`, height: `${box.h}px` }}></div>`}
    ${over && html`<div class="tip"
      style=${{ left: `${Math.max(0, Math.min(over.x + 12, (scale.current?.width ?? 0) - 240))}px`,
        top: `${over.y + 12}px` }}><b>${oneLine(over.dot.service, 60)}</b> ${oneLine(over.dot.operation, 120)}<br />
          ${duration(over.dot.duration / 1e6)}${over.dot.error ? ', error' : ''}</div>`}</div>`;
}

/** @param {Scale} s @param {bigint} t */
const xOf = (s, t) => left + (Number(t - s.from) / Math.max(1, Number(s.to - s.from))) * (s.width - left - right);
/** @param {Scale} s @param {number} d */
const yOf = (s, d) => s.height - bottom -
  ((Math.log(Math.max(d, s.least)) - Math.log(s.least)) / (Math.log(s.most) - Math.log(s.least))) *
  (s.height - bottom - top);
/** @param {Scale} s @param {number} x */
const timeAt = (s, x) => s.from +
  BigInt(Math.round(Math.max(0, Math.min(1, (x - left) / (s.width - left - right))) * Number(s.to - s.from)));
/** @param {Scale} s @param {number} y */
const durationAt = (s, y) => Math.exp(Math.log(s.least) +
  Math.max(0, Math.min(1, (s.height - bottom - y) / (s.height - bottom - top))) *
  (Math.log(s.most) - Math.log(s.least)));

/** closest is the dot at a place. @param {Dot[]} dots @param {Scale} s @param {{x: number, y: number}} p */
function closest(dots, s, p) {
  let best = null, least = near * near;
  for (const dot of dots) {
    const x = xOf(s, dot.time) - p.x, y = yOf(s, dot.duration) - p.y;
    if (x * x + y * y < least) {
      least = x * x + y * y;
      best = dot;
    }
  }
  return best;
}

/**
 * timeTicks returns fewer than most instants of a range that are round by the zone's clock. Their texts have the date
 * when it is not today's.
 * @param {bigint} from
 * @param {bigint} to
 * @param {number} most
 * @param {string} zone
 * @param {bigint} [now]
 */
export function timeTicks(from, to, most, zone, now = nowNanos()) {
  const step = stepFor(to - from, most), ahead = BigInt(offsetMS(Number(from / 1_000_000n), zone)) * 1_000_000n;
  const list = [];
  for (let t = ((from + ahead) / step + 1n) * step - ahead; t < to; t += step) {
    const text = showShort(t, zone, now), dated = text.length > 12 && text[4] === '-';
    list.push({ t, text: (dated ? text.slice(5) : text).replace(step >= minute ? /:00$/ : /^$/, '') });
  }
  return list;
}

/**
 * @param {HTMLCanvasElement} canvas
 * @param {Dot[]} dots
 * @param {{from: bigint|null, to: bigint|null}} range
 * @returns {Scale}
 */
function draw(canvas, dots, range) {
  const { g, width, height } = fit(canvas);
  const times = dots.map((d) => d.time);
  const from = range.from ?? times.reduce((a, b) => (b < a ? b : a), times[0] ?? 0n),
    to = range.to ?? times.reduce((a, b) => (b > a ? b : a), times[0] ?? 1n) + 1n;
  const least = 10 ** Math.floor(Math.log10(Math.max(1000, Math.min(...dots.map((d) => d.duration), 1e12)))),
    most = Math.max(least * 10, 10 ** Math.ceil(Math.log10(Math.max(1000, ...dots.map((d) => d.duration)))));
  const s = { from, to, least, most, width, height };
  g.font = '11px system-ui, sans-serif';
  g.textBaseline = 'middle';
  g.textAlign = 'right';
  for (let d = least; d <= most * 1.01; d *= 10) {
    const y = Math.round(yOf(s, d)) + 0.5;
    g.strokeStyle = colour('line');
    g.beginPath();
    g.moveTo(left, y);
    g.lineTo(width - right, y);
    g.stroke();
    g.fillStyle = colour('text-soft');
    g.fillText(duration(d / 1e6), left - 6, Math.max(8, y));
  }
  g.textBaseline = 'bottom';
  g.textAlign = 'center';
  for (const { t, text } of timeTicks(from, to, width < 500 ? 5 : 9, zone.value)) {
    const x = xOf(s, t), half = g.measureText(text).width / 2;
    if (x - half >= left - 20 && x + half <= width) g.fillText(text, x, height - 2);
  }
  for (const d of dots) {
    const x = xOf(s, d.time), y = yOf(s, d.duration);
    g.fillStyle = hashColour(d.service);
    g.beginPath();
    g.arc(x, y, 3, 0, 7);
    g.fill();
    if (!d.error) continue;
    g.strokeStyle = colour('bad');
    g.lineWidth = 1.5;
    g.beginPath();
    g.arc(x, y, 5.5, 0, 7);
    g.stroke();
    g.lineWidth = 1;
  }
  return s;
}
