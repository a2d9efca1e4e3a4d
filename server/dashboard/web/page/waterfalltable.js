// The spans of a trace as a table: what took most of its own time stands first; any column sorts.

import { html, useEffect, useRef, useState } from '../lib/ui.js';
import { duration, oneLine } from '../core/format.js';
import { hashColour } from '../ui/canvas.js';
import { Grid } from '../ui/grid.js';

/** @typedef {import('./waterfalltree.js').Span} Span */

/** critical is how long a span was on the critical path, ns. @param {Span} s */
const critical = (s) => s.critical.reduce((n, [from, to]) => n + to - from, 0);

/**
 * @typedef {{title: string, width: number, narrow?: number, flex?: boolean, kind?: string, by: (s: Span) =>
 *   number|string, text: (s: Span) => string}} Field
 */

const time = (/** @type {number} */ ns) => (ns === 0 ? '' : duration(ns / 1e6));

/** @type {Field[]} */
const fields = [
  { title: 'own time', width: 92, narrow: 70, kind: 'num', by: (s) => s.own, text: (s) => duration(s.own / 1e6) },
  { title: 'service', width: 150, narrow: 80, by: (s) => s.service,
    text: (s) => oneLine(s.service || 'no service', 60) },
  { title: 'operation', width: 220, narrow: 150, flex: true, by: (s) => s.name,
    text: (s) => `${s.error ? '! ' : ''}${oneLine(s.name, 200)}` },
  { title: 'duration', width: 92, narrow: 76, kind: 'num', by: (s) => s.end - s.start,
    text: (s) => duration((s.end - s.start) / 1e6) },
  { title: 'critical', width: 92, kind: 'num', by: critical, text: (s) => time(critical(s)) },
  { title: 'starts after', width: 96, kind: 'num', by: (s) => s.start,
    text: (s) => (s.start === 0 ? '0' : duration(s.start / 1e6)) },
  { title: 'depth', width: 60, kind: 'num', by: (s) => s.depth, text: (s) => String(s.depth) },
  { title: 'children', width: 72, kind: 'num', by: (s) => s.children.length,
    text: (s) => (s.children.length > 0 ? String(s.children.length) : '') },
];

/** sorted orders spans by a field. @param {Span[]} spans @param {{field: number, up: boolean}} by */
function sorted(spans, by) {
  const key = fields[by.field].by, sign = by.up ? 1 : -1;
  return [...spans].sort((a, b) => {
    const x = key(a), y = key(b);
    return (x < y ? -1 : x > y ? 1 : 0) * sign || a.start - b.start;
  });
}

/**
 * @param {{spans: Span[], beside: boolean, onOpen: (s: Span) => void}} props spans are those to list, whatever their
 *   order
 */
export function SpanTable(props) {
  const host = useRef(/** @type {HTMLElement|null} */ (null));
  const grid = useRef(/** @type {Grid|null} */ (null));
  const latest = useRef(props);
  latest.current = props;
  const [by, setBy] = useState({ field: 0, up: false });
  const narrow = innerWidth < 800;
  const shown = narrow ? fields.filter((f) => f.narrow) : fields;
  useEffect(() => {
    const g = new Grid(/** @type {HTMLElement} */ (host.current), {
      label: 'Spans', open: (_, row) => latest.current.onOpen(row[0]),
        rowClass: (row) => (row[0].error ? 'failed' : ''),
      head: (c) => setBy((now) => {
        const field = fields.indexOf((innerWidth < 800 ? fields.filter((f) => f.narrow) : fields)[c]);
        return { field, up: now.field === field ? !now.up : !fields[field].kind };
      }),
    });
    g.rowHeight = 22;
    g.root.classList.add('waterfall', 'span-table');
    grid.current = g;
    return () => g.destroy();
  }, []);
  useEffect(() => {
    const list = sorted(props.spans, by);
    grid.current?.setSource({ count: list.length, slice: async (from, to) => list.slice(from, to).map((s) => [s]) });
  }, [props.spans, by]);
  useEffect(() => {
    grid.current?.setColumns(shown.map((f) => ({
      name: f.title, title: f.title + (fields[by.field] === f ? (by.up ? ' ↑' : ' ↓') : ''), width: narrow ? f.narrow ??
        f.width : f.width, flex: f.flex, kind: f.kind,
      draw: (el, row) => {
        el.textContent = f.text(row[0]);
        if (f.title !== 'service') return;
        const swatch = document.createElement('span');
        swatch.className = 'swatch';
        swatch.style.background = hashColour(row[0].service);
        el.prepend(swatch);
      },
    })));
  }, [by, props.beside, narrow]);
  return html`<div class="logs-list" ref=${host}></div>`;
}
