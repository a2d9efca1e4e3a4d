// The overview of a trace: all spans in small, and the window that the bars below show. Dragging chooses another
// window.

import { html, useEffect, useRef } from '../lib/ui.js';
import { duration } from '../core/format.js';
import { colour, fit, hashColour } from '../ui/canvas.js';
import { flat } from './waterfalltree.js';

const height = 46;

/**
 * @param {{trace: import('./waterfalltree.js').Trace, view: [number, number], dark: boolean, onView: (view: [number,
 *   number]) => void}} props
 */
export function Overview({ trace, view, dark, onView }) {
  const canvas = useRef(/** @type {HTMLCanvasElement|null} */ (null));
  const from = useRef(/** @type {number|null} */ (null));
  const [a, b] = view;
  const all = Math.max(1, trace.duration);
  useEffect(() => {
    const el = /** @type {HTMLCanvasElement} */ (canvas.current);
    const paint = () => draw(el, trace, view, all);
    paint();
    const observer = new ResizeObserver(paint);
    observer.observe(el);
    return () => observer.disconnect();
  }, [trace, a, b, dark]);
  const at = (/** @type {PointerEvent} */ e) => {
    const box = /** @type {HTMLElement} */ (e.currentTarget).getBoundingClientRect();
    return Math.max(0, Math.min(1, (e.clientX - box.left) / box.width)) * all;
  };
  const drag = (/** @type {PointerEvent} */ e) => {
    if (from.current === null) return;
    const to = at(e);
    if (Math.abs(to - from.current) > all / 200) onView([Math.min(from.current, to), Math.max(from.current, to)]);
  };
  const key = (/** @type {KeyboardEvent} */ e) => {
    const width = b - a;
    if (e.key === 'ArrowLeft' || e.key === 'ArrowRight') {
      const left = Math.max(0, Math.min(all - width, a + (e.key === 'ArrowLeft' ? -1 : 1) * width / 5));
      onView([left, left + width]);
    } else if (e.key === '+' || e.key === '-') {
      const half = Math.min(all, Math.max(1, e.key === '+' ? width / 2 : width * 2)) / 2,
        middle = Math.min(all - half, Math.max(half, (a + b) / 2));
      onView([middle - half, middle + half]);
    } else {
      return;
    }
    e.preventDefault();
    e.stopPropagation();
  };
  return html`<div class="trace-overview">
    <canvas ref=${canvas} tabindex="0" role="img"
      aria-label=${`Overview; the bars show ${duration(a / 1e6)} to ${duration(b / 1e6)}`}
        title="Drag to choose a part, click twice for all; arrows move, + and - zoom"
    onPointerDown=${(e) => {
      /** @type {HTMLElement} */ (e.currentTarget).setPointerCapture(e.pointerId);
      from.current = at(e);
    }}
    onPointerMove=${drag} onPointerUp=${() => { from.current = null; }} onDblClick=${() => onView([0, trace.duration])}
      onKeyDown=${key}></canvas></div>`;
}

/**
 * @param {HTMLCanvasElement} canvas
 * @param {import('./waterfalltree.js').Trace} trace
 * @param {[number, number]} view
 * @param {number} all
 */
function draw(canvas, trace, view, all) {
  const { g, width } = fit(canvas);
  const spans = flat(trace.roots, () => false, (s) => !s.missing);
  const line = Math.max(1, Math.min(3, (height - 6) / Math.max(1, spans.length)));
  spans.forEach((s, i) => {
    g.fillStyle = s.error ? colour('bad') : hashColour(s.service);
    g.fillRect((s.start / all) * width, 3 + (i / Math.max(1, spans.length)) * (height - 6),
      Math.max(1, ((s.end - s.start) / all) * width), line);
  });
  if (view[0] <= 0 && view[1] >= trace.duration) return;
  const left = (view[0] / all) * width, right = (view[1] / all) * width;
  g.fillStyle = colour('veil');
  g.globalAlpha = 0.5;
  g.fillRect(0, 0, left, height);
  g.fillRect(right, 0, width - right, height);
  g.globalAlpha = 1;
  g.strokeStyle = colour('accent');
  g.strokeRect(left + 0.5, 0.5, Math.max(2, right - left - 1), height - 1);
}
