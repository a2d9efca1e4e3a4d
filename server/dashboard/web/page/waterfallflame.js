// The flame graph of a trace: spans by time, each below its parent; what runs beside it goes to the next free line.

import { html, useEffect, useMemo, useRef, useState } from '../lib/ui.js';
import { duration, oneLine, percent } from '../core/format.js';
import { dark } from '../core/state.js';
import { colour, fit, hashColour } from '../ui/canvas.js';

const lineHeight = 19;
/** Spans beyond so many lines share the last one. */
const mostLines = 2000;

/** @typedef {import('./waterfalltree.js').Span} Span */
/** @typedef {{span: Span, line: number}} Placed */
/** @typedef {{lines: Placed[][], of: Map<Span, number>}} Flame lines are in the order of starts */

/** flameOf gives each span the first free line below its parent's. @param {Span[]} roots @returns {Flame} */
export function flameOf(roots) {
  /** @type {{span: Span, above: Span|null, from: number}[]} */
  const all = [];
  const stack = roots.map((span) => ({ span, above: /** @type {Span|null} */ (null), from: span.start }));
  for (let s = stack.pop(); s; s = stack.pop()) {
    all.push(s);
    // a parent always comes first
    for (const c of s.span.children) stack.push({ span: c, above: s.span, from: Math.max(c.start, s.from) });
  }
  all.sort((a, b) => a.from - b.from || a.span.depth - b.span.depth || b.span.end - a.span.end);
  /** @type {Placed[][]} */
  const lines = [];
  /** @type {number[]} */
  const ends = [];
  /** @type {Map<Span, number>} */
  const of = new Map();
  for (const { span, above } of all) {
    let line = above ? (of.get(above) ?? -1) + 1 : 0;
    while (line < mostLines - 1 && (ends[line] ?? -Infinity) > span.start) line++;
    while (lines.length <= line) lines.push([]);
    lines[line].push({ span, line });
    ends[line] = Math.max(ends[line] ?? -Infinity, span.end);
    of.set(span, line);
  }
  return { lines, of };
}

/**
 * @param {{trace: import('./waterfalltree.js').Trace, view: [number, number], chosen: Span|null, hits: Set<Span>|null,
 *   onOpen: (s: Span) => void}} props
 */
export function FlameGraph({ trace, view, chosen, hits, onOpen }) {
  const canvas = useRef(/** @type {HTMLCanvasElement|null} */ (null));
  const box = useRef(/** @type {HTMLElement|null} */ (null));
  const flame = useMemo(() => flameOf(trace.roots), [trace]);
  const [over, setOver] = useState(/** @type {{span: Span, x: number, y: number}|null} */ (null));
  const [at, setAt] = useState(/** @type {Span|null} */ (null)); // where the keyboard is
  const [a, b] = view;
  useEffect(() => {
    const el = /** @type {HTMLElement} */ (box.current);
    let scheduled = 0;
    const paint = () => {
      cancelAnimationFrame(scheduled);
      scheduled = requestAnimationFrame(() => {
        if (!canvas.current) return;
        canvas.current.style.height = `${el.clientHeight}px`; // only as high as the view, however many lines there are
        draw(canvas.current, flame, view, el.scrollTop, at ?? chosen, hits);
      });
    };
    paint();
    el.addEventListener('scroll', paint, { passive: true });
    const observer = new ResizeObserver(paint);
    observer.observe(el);
    return () => {
      cancelAnimationFrame(scheduled);
      el.removeEventListener('scroll', paint);
      observer.disconnect();
    };
  }, [flame, a, b, chosen, at, hits, dark.value]);
  const spanAt = (/** @type {PointerEvent} */ e) => {
    const r = /** @type {HTMLElement} */ (canvas.current).getBoundingClientRect(), top = box.current?.scrollTop ?? 0;
    const line = flame.lines[Math.floor((e.clientY - r.top + top) / lineHeight)],
      t = a + ((e.clientX - r.left) / r.width) * (b - a), pixel = (b - a) / r.width;
    return line?.find(({ span: s }) => t >= s.start - pixel && t <= Math.max(s.end, s.start + 2 * pixel))?.span ?? null;
  };
  const move = (/** @type {PointerEvent} */ e) => {
    const span = spanAt(e), r = /** @type {HTMLElement} */ (box.current).getBoundingClientRect();
    setOver(span ? { span, x: e.clientX - r.left, y: e.clientY - r.top + (box.current?.scrollTop ?? 0) } : null);
  };
  const go = (/** @type {Span|undefined} */ s) => {
    if (!s) return;
    setAt(s);
    const y = (flame.of.get(s) ?? 0) * lineHeight, el = /** @type {HTMLElement} */ (box.current);
    if (y < el.scrollTop || y + lineHeight > el.scrollTop + el.clientHeight) el.scrollTop = y - el.clientHeight / 2;
  };
  const key = (/** @type {KeyboardEvent} */ e) => {
    const now = at ?? chosen ?? flame.lines[0]?.[0]?.span, line = flame.of.get(now) ?? 0;
    const list = (/** @type {number} */ l) => (flame.lines[l] ?? []).map((p) => p.span)
      .filter((s) => s.end >= a && s.start <= b);
    const nearest = (/** @type {Span[]} */ spans) => spans.reduce((/** @type {Span|undefined} */ m, s) =>
      (!m || Math.abs(s.start - now.start) < Math.abs(m.start - now.start) ? s : m), undefined);
    const beside = list(line), i = beside.indexOf(now);
    if (e.key === 'ArrowRight') go(beside[i + 1]);
    else if (e.key === 'ArrowLeft') go(beside[i - 1]);
    else if (e.key === 'ArrowDown') go(nearest(list(line + 1)));
    else if (e.key === 'ArrowUp') go(nearest(list(line - 1)));
    else if (e.key === 'Enter') onOpen(now);
    else return;
    e.preventDefault();
    e.stopPropagation();
  };
  const told = at && !over ? at : null;
  return html`<div class="flame" ref=${box} tabindex="0" role="group"
    aria-label=${`Flame graph of ${trace.spans.length} spans in ${flame.lines.length} lines; arrows walk, Enter opens`}
      onKeyDown=${key}>
    <div class="flame-all" style=${{ height: `${flame.lines.length * lineHeight + 4}px` }}>
      <canvas ref=${canvas} aria-hidden="true" onPointerMove=${move} onPointerLeave=${() => setOver(null)}
        onClick=${(e) => { const s = spanAt(e); if (s && !s.missing) onOpen(s); }}></canvas></div>
    ${over && html`<div class="tip"
      style=${{ left: `${Math.max(4, Math.min(over.x + 14, (box.current?.clientWidth ?? 0) - 280))}px`,
        top: `${over.y + 14}px` }}>${describe(over.span, trace.duration)}</div>`}
    <div class=${told ? 'flame-said' : 'only-read'} role="status">${told && describe(told, trace.duration)}</div>
      </div>`;
}

/** describe is a span in words. @param {Span} s @param {number} whole */
const describe = (s, whole) => (s.missing ? html`parent not received`
  : html`<b>${oneLine(s.service || 'no service', 60)}</b> ${oneLine(s.name, 120)}<br />
  ${duration((s.end - s.start) / 1e6)}, ${percent((s.end - s.start) / Math.max(1, whole))} of the trace, own
  time ${duration(s.own / 1e6)}${s.error ? ', error' : ''}`);

/**
 * draw paints the lines in view.
 * @param {HTMLCanvasElement} canvas
 * @param {Flame} flame
 * @param {[number, number]} view
 * @param {number} top
 * @param {Span|null} chosen
 * @param {Set<Span>|null} hits
 */
function draw(canvas, flame, [a, b], top, chosen, hits) {
  const { g, width, height } = fit(canvas);
  const scale = width / Math.max(1, b - a);
  g.font = '11px system-ui, sans-serif';
  g.textBaseline = 'middle';
  const first = Math.floor(top / lineHeight),
    last = Math.min(flame.lines.length - 1, Math.ceil((top + height) / lineHeight));
  for (let l = first; l <= last; l++) {
    const y = l * lineHeight - top + 1;
    let drawnTo = -1;
    for (const { span: s } of flame.lines[l]) {
      if (s.end < a || s.start > b) continue;
      const x = Math.max(0, (s.start - a) * scale), to = Math.min(width, (s.end - a) * scale),
        w = Math.max(1, to - x - 0.5);
      if (x + w <= drawnTo && s !== chosen) continue; // it would lie under a pixel that is painted already
      drawnTo = x + w;
      g.globalAlpha = hits && !hits.has(s) ? 0.2 : s.missing ? 0.25 : 0.32;
      g.fillStyle = s.missing ? colour('line-strong') : hashColour(s.service);
      g.fillRect(x, y, w, lineHeight - 2);
      g.globalAlpha = hits && !hits.has(s) ? 0.4 : 1;
      g.fillRect(x, y, Math.min(w, 3), lineHeight - 2);
      if (s.critical.length > 0) {
        g.fillStyle = colour('text');
        for (const [from, until] of s.critical) if (until > a && from < b)
          g.fillRect(Math.max(0, (from - a) * scale), y + lineHeight - 4,
            Math.max(1, (Math.min(until, b) - Math.max(from, a)) * scale - 0.5), 2);
      }
      if (s.error || s === chosen) {
        g.strokeStyle = s === chosen ? colour('accent') : colour('bad');
        g.lineWidth = s === chosen ? 2 : 1.5;
        g.strokeRect(x + 1, y + 1, Math.max(1, w - 2), lineHeight - 4);
      }
      if (w > 34) label(g, s, x + 6, y + lineHeight / 2 - 1, w - 10);
      g.globalAlpha = 1;
    }
  }
}

/**
 * label writes as much text as fits into a bar.
 * @param {CanvasRenderingContext2D} g
 * @param {Span} s
 * @param {number} x
 * @param {number} y
 * @param {number} room
 */
function label(g, s, x, y, room) {
  g.save();
  g.beginPath();
  g.rect(x, y - lineHeight / 2, room, lineHeight);
  g.clip();
  g.fillStyle = colour('text');
  g.fillText(`${s.error ? '! ' : ''}${s.missing ? 'parent not received'
    : oneLine(s.name, 120)}  ${duration((s.end - s.start) / 1e6)}`, x, y);
  g.restore();
}
