// The rows of a waterfall: as many elements as fit the screen, however many spans there are.

import { html, useEffect, useRef } from '../lib/ui.js';
import { duration, oneLine } from '../core/format.js';
import { dark } from '../core/state.js';
import { hashColour } from '../ui/canvas.js';
import { Grid } from '../ui/grid.js';
import { deepestIndent } from './waterfalltree.js';

/** @typedef {import('./waterfalltree.js').Span} Span */
/**
 * @typedef {object} RowsProps
 * @property {Span[]} rows
 * @property {Set<Span>} folded
 * @property {[number, number]} view ns
 * @property {boolean} beside a drawer takes part of the width
 * @property {(s: Span) => void} onFold
 * @property {(s: Span) => void} onOpen
 * @property {(grid: Grid|null) => void} onGrid
 */

/** @param {RowsProps} props */
export function SpanRows(props) {
  const host = useRef(/** @type {HTMLElement|null} */ (null));
  const grid = useRef(/** @type {Grid|null} */ (null));
  const latest = useRef(props);
  latest.current = props;
  useEffect(() => {
    const span = (/** @type {any[]} */ row) => /** @type {Span} */ (row[0]);
    const g = new Grid(/** @type {HTMLElement} */ (host.current), {
      label: 'Spans in the order of calls', open: (_, row) => latest.current.onOpen(span(row)),
      rowClass: (row) => [span(row).missing ? 'missing' : '', span(row).error ? 'failed' : ''].join(' '),
    });
    g.rowHeight = 22;
    g.root.classList.add('waterfall');
    grid.current = g;
    props.onGrid(g);
    return () => {
      g.destroy();
      latest.current.onGrid(null);
    };
  }, []);
  useEffect(() => {
    const rows = props.rows;
    grid.current?.setSource({ count: rows.length, slice: async (from, to) => rows.slice(from, to).map((s) => [s]) },
      true);
  }, [props.rows]);
  useEffect(() => {
    const p = latest.current, g = grid.current;
    if (!g) return;
    g.root.style.setProperty('--ticks',
      ticksOf(p).map(({ share }) => `linear-gradient(var(--line), var(--line)) ${share * 100}% 0 / 1px 100% no-repeat`)
      .join(', ') || 'none');
    g.setColumns(columns(p));
  }, [props.view[0], props.view[1], props.folded, props.beside, dark.value]);
  return html`<div class="logs-list" ref=${host}></div>`;
}

/** @param {RowsProps} p @returns {import('../ui/grid.js').Column[]} */
function columns(p) {
  const narrow = innerWidth < 800;
  const [a, b] = p.view, indent = narrow ? 7 : 12;
  return [
    { name: 'span', title: 'service and operation', width: narrow ? 176 : p.beside ? 250
      : Math.min(460, Math.round(innerWidth * 0.32)), draw: (el, row) => drawName(el, row[0], p, indent) },
    { name: 'duration', width: narrow ? 74 : 84, kind: 'num',
      draw: (el, row) => { el.textContent = row[0].missing ? '' : duration((row[0].end - row[0].start) / 1e6); } },
    { name: 'time', hint: `${at(a)} to ${at(b)}`, drawHead: (th) => drawTicks(th, p), width: narrow ? 100 : 160,
      flex: true, draw: (el, row) => drawBar(el, row[0], a, b) },
  ];
}

/** at says a moment of the trace. @param {number} ns after its begin */
const at = (ns) => (ns === 0 ? '0' : duration(ns / 1e6));

/**
 * ticksOf returns round moments of the view, as shares of it.
 * @param {RowsProps} p
 * @returns {{ns: number, share: number}[]}
 */
function ticksOf(p) {
  const [a, b] = p.view, most = innerWidth < 800 ? 3 : p.beside ? 4 : 8;
  const least = Math.max(1, (b - a) / most), ten = 10 ** Math.floor(Math.log10(least));
  const step = [1, 2, 5, 10].map((n) => n * ten).find((s) => s >= least) ?? least;
  const list = [];
  for (let ns = Math.ceil(a / step) * step; ns < b; ns += step) list.push({ ns, share: (ns - a) / Math.max(1, b - a) });
  return list;
}

/** drawTicks writes the moments above their lines. @param {HTMLElement} th @param {RowsProps} p */
function drawTicks(th, p) {
  th.classList.add('ticks');
  th.setAttribute('aria-label', `time, ${at(p.view[0])} to ${at(p.view[1])}`);
  th.append(...ticksOf(p).filter(({ share }) => share < 0.94).map(({ ns, share }) => {
    const tick = element('span', 'tick', at(ns));
    tick.style.left = `${share * 100}%`;
    return tick;
  }));
}

/** @param {string} tag @param {string} className @param {string} [text] */
function element(tag, className, text) {
  const el = document.createElement(tag);
  el.className = className;
  if (text !== undefined) el.textContent = text;
  return el;
}

/** @param {HTMLElement} el @param {Span} s @param {RowsProps} p @param {number} indent of a level, px */
function drawName(el, s, p, indent) {
  const parts = [];
  el.style.paddingLeft = `${4 + Math.min(s.depth, deepestIndent) * indent}px`;
  if (s.children.length > 0) {
    const open = !p.folded.has(s);
    const button = element('button', 'fold quiet', open ? '▾' : '▸');
    button.tabIndex = -1; // the key o does it for the row with the focus
    button.setAttribute('aria-label', open ? 'Fold' : 'Unfold');
    button.addEventListener('click', (e) => { e.stopPropagation(); p.onFold(s); });
    parts.push(button);
  } else {
    parts.push(element('span', 'fold'));
  }
  if (!s.missing) {
    const swatch = element('span', 'swatch');
    swatch.style.background = hashColour(s.service);
    parts.push(swatch, element('span', 'service', oneLine(s.service || 'no service', 60) + ' '));
  }
  if (s.error) parts.push(element('span', 'mark-error level-error', '! '));
  if (s.early) parts.push(hinted(element('span', 'mark-clock', '◷ '),
    'Starts before its parent: their clocks differ'));
  if (s.note) parts.push(hinted(element('span', 'mark-note', '⚠ '), s.note));
  parts.push(element('span', 'operation', s.missing ? `parent not received (${s.id})` : oneLine(s.name, 200)));
  el.replaceChildren(...parts);
  el.title = `${s.service} ${s.name}`.trim();
}

/** @param {HTMLElement} el @param {string} title */
function hinted(el, title) {
  el.title = title;
  el.setAttribute('aria-label', title);
  el.setAttribute('role', 'img');
  return el;
}

/** The parts of a bar that lie closer than this share of what is in view are drawn as one: about a px. */
const closest = 1 / 500;

/**
 * seen returns the parts in view, the latest first.
 * @param {[number, number][]} parts
 * @param {number} a
 * @param {number} b
 * @returns {[number, number][]}
 */
function seen(parts, a, b) {
  /** @type {[number, number][]} */
  const list = [];
  for (const [from, to] of parts) {
    if (to <= a || from >= b) continue;
    const later = list[list.length - 1];
    if (later && later[0] - to < (b - a) * closest) later[0] = from;
    else list.push([from, to]);
  }
  return list;
}

/**
 * drawBar draws the bar, the parts of it on the critical path, and ticks at events.
 * @param {HTMLElement} el
 * @param {Span} s
 * @param {number} a
 * @param {number} b
 */
function drawBar(el, s, a, b) {
  const all = Math.max(1, b - a);
  const place = (/** @type {HTMLElement} */ part, /** @type {number} */ from, /** @type {number} */ to) => {
    part.style.left = `${Math.max(0, Math.min(0.995, (from - a) / all)) * 100}%`; // what ends the trace is seen, too
    part.style.width = `${Math.max(0, (Math.min(to, b) - Math.max(from, a)) / all) * 100}%`;
    return part;
  };
  const parts = [];
  if (s.end >= a && s.start <= b) {
    const bar = place(element('div', 'span-bar' + (s.error ? ' failed' : '')), s.start, s.end);
    if (!s.missing) bar.style.background = hashColour(s.service);
    parts.push(bar);
  }
  for (const [from, to] of seen(s.critical, a, b))
    parts.push(hinted(place(element('div', 'span-critical'), from, to), 'On the critical path'));
  for (const e of s.events.slice(0, 100)) {
    if (e.at >= a && e.at <= b) parts.push(hinted(place(element('div', 'span-event'), e.at, e.at), e.name));
  }
  el.replaceChildren(...parts);
}
