// The service map: calls between services, from spans whose parent is of another service. Callers stand left.

import { html, useState } from '../lib/ui.js';
import { count, duration, oneLine, percent, short } from '../core/format.js';
import { hashColour } from '../ui/canvas.js';
import { ErrorBox } from '../ui/error.js';
import { faded, useAnswer } from '../ui/useanswer.js';
import * as sql from './tracesquery.js';

const nodeWidth = 168, nodeHeight = 46, gapX = 96, gapY = 18, margin = 10;

/**
 * @typedef {{service: string, n: number, errors: number, p50: number, p95: number, x: number, y: number, layer:
 *   number}} Node
 */
/**
 * @typedef {{x: number, y: number, from: Place[]}} Place of a service, or where a call passes a layer between its two
 */
/**
 * @typedef {{nodes: Node[], calls: (sql.Call & {way: Place[]})[], width: number, height: number}} Layout way: the
 *   places that a call leads through, both ends with it
 */

/**
 * layersOf gives each service a column: callers stand in earlier ones than the services they call. Calls that would
 * close a circle do not count.
 * @param {string[]} names
 * @param {sql.Call[]} calls
 * @returns {Map<string, number>}
 */
function layersOf(names, calls) {
  const out = new Map(names.map((n) => [n, calls.filter((c) => c.from === n).map((c) => c.to)]));
  const called = new Set(calls.map((c) => c.to));
  const layer = new Map(names.map((n) => [n, 0]));
  const done = new Set(), way = new Set();
  /** @type {string[]} */
  const order = [];
  const visit = (/** @type {string} */ n) => { // callers in front; calls that close a circle are left out
    if (done.has(n) || way.has(n)) return;
    way.add(n);
    for (const to of out.get(n) ?? []) visit(to);
    way.delete(n);
    done.add(n);
    order.unshift(n);
  };
  for (const n of [...names.filter((x) => !called.has(x)), ...names]) visit(n);
  const at = new Map(order.map((n, i) => [n, i]));
  for (const n of order) for (const to of out.get(n) ?? []) if ((at.get(to) ?? 0) > (at.get(n) ?? 0))
    layer.set(to, Math.max(layer.get(to) ?? 0, (layer.get(n) ?? 0) + 1));
  return layer;
}

/**
 * layoutOf gives each service its place.
 * @param {{service: string, n: number, errors: number, p50: number, p95: number}[]} services
 * @param {sql.Call[]} calls
 * @returns {Layout}
 */
export function layoutOf(services, calls) {
  const known = new Map(services.map((s) => [s.service, s]));
  for (const c of calls) for (const name of [c.from, c.to]) if (!known.has(name))
    known.set(name, { service: name, n: 0, errors: 0, p50: 0, p95: 0 });
  const layer = layersOf([...known.keys()], calls);
  const nodes = [...known.values()].map((s) =>
    ({ ...s, x: 0, y: 0, layer: layer.get(s.service) ?? 0, from: /** @type {Place[]} */ ([]) }));
  const byName = new Map(nodes.map((n) => [n.service, n]));
  /** @type {Place[][]} */
  const layers = [];
  const put = (/** @type {Place} */ p, /** @type {number} */ l) => { (layers[l] ??= []).push(p); };
  for (const n of nodes) put(n, n.layer);
  const ways = calls.map((c) => {
    const a = /** @type {Node & Place} */ (byName.get(c.from)), b = /** @type {Node & Place} */ (byName.get(c.to));
    /** @type {Place[]} */
    const way = [a];
    for (let l = a.layer + 1; l < b.layer; l++) {
      const pass = { x: 0, y: 0, from: [way[way.length - 1]] };
      put(pass, l);
      way.push(pass);
    }
    if (b.layer > a.layer) b.from.push(way[way.length - 1]);
    return { ...c, way: [...way, b] };
  });
  const tallest = Math.max(1, ...layers.map((l) => l.length));
  // beside its callers, so that lines cross little
  const pull = (/** @type {Place} */ p) =>
    (p.from.length > 0 ? p.from.reduce((sum, q) => sum + q.y, 0) / p.from.length : 0);
  layers.forEach((l, i) => {
    l.sort((a, b) => pull(a) - pull(b));
    l.forEach((p, k) => {
      p.x = margin + i * (nodeWidth + gapX);
      p.y = margin + (k + (tallest - l.length) / 2) * (nodeHeight + gapY);
    });
  });
  return { nodes, calls: ways, width: 2 * margin + layers.length * (nodeWidth + gapX) - gapX,
    height: 2 * margin + tallest * (nodeHeight + gapY) - gapY };
}

/** path is the line of a call; one against the direction goes around below. @param {Place[]} way */
function path(way) {
  const a = way[0], b = way[way.length - 1], middle = nodeHeight / 2;
  if (b.x <= a.x) {
    const low = Math.max(a.y, b.y) + nodeHeight + gapY / 2;
    return `M${a.x + nodeWidth / 2} ${a.y + nodeHeight}C${a.x + nodeWidth / 2} ${low + 10} ${b.x + nodeWidth /
      2} ${low + 10} ${b.x + nodeWidth / 2} ${b.y + nodeHeight}`;
  }
  let d = `M${a.x + nodeWidth} ${a.y + middle}`;
  for (let i = 1; i < way.length; i++) {
    const x1 = way[i - 1].x + nodeWidth, y1 = way[i - 1].y + middle, x2 = way[i].x, y2 = way[i].y + middle;
    d += `C${x1 + gapX / 2} ${y1} ${x2 - gapX / 2} ${y2} ${x2} ${y2}${i < way.length - 1 ? `H${x2 + nodeWidth}` : ''}`;
  }
  return d;
}

/**
 * cutText names the services and calls that the map leaves out.
 * @param {sql.Cut<any>} services
 * @param {sql.Cut<any>} calls
 */
const cutText = (services, calls) => [
  services.total > services.list.length &&
    `${count(services.total)} services, the ${count(services.list.length)} of most spans have figures`,
  calls.total > calls.list.length &&
    `${count(calls.total)} pairs of caller and called, the ${count(calls.list.length)} of most calls are drawn`,
].filter(Boolean).join('; ');

/**
 * @param {{table: string, columns: import('../core/catalog.js').Column[], range: {from: bigint|null, to: bigint|null},
 *   question: string, tick: number, onService: (service: string) => void}} props
 */
export function ServiceMap({ table, columns, range, question, tick, onService }) {
  const { found, error, stale } = useAnswer(async (signal) => {
    const [services, calls] = await Promise.all([sql.serviceSums(sql.servicesText(table, columns, range), signal),
      sql.calls(sql.callsText(table, columns, range), signal)]);
    return { ...layoutOf(services.list, calls.list), cut: cutText(services, calls) };
  }, [question], tick);
  const [lit, setLit] = useState(''); // the service whose calls stand out
  if (error) return html`<${ErrorBox} error=${error} />`;
  if (!found) return html`<p class="state soft wait" role="status">Asking…</p>`;
  if (found.nodes.length === 0)
    return html`<div ...${faded('state', stale)}><h2>No spans in this range</h2>
      <p>The map is made of the spans in the time range.</p></div>`;
  const open = (/** @type {string} */ service) => (/** @type {KeyboardEvent|MouseEvent} */ e) => {
    if ('key' in e && e.key !== 'Enter' && e.key !== ' ') return;
    e.preventDefault();
    onService(service);
  };
  const most = Math.max(1, ...found.calls.map((c) => c.calls));
  return html`<div ...${faded('traces-map', stale)}>
    <div class="map-scroll">
      <svg width=${found.width} height=${found.height} viewBox=${`0 0 ${found.width} ${found.height}`} role="group"
        aria-label=${`${found.nodes.length} services and ${found.calls.length} kinds of calls between them; ` +
          'the table below says the same'}>
      <defs><marker id="map-arrow" viewBox="0 0 8 8" refX="7" refY="4" markerWidth="7" markerHeight="7"
        markerUnits="userSpaceOnUse" orient="auto"><path d="M0 0L8 4L0 8z" /></marker></defs>
      ${found.calls.map((c) => html`<path key=${`${c.from} ${c.to}`}
        class="call ${c.errors / c.calls >= 0.01 ? 'failing' : ''} ${lit === '' || lit === c.from || lit === c.to ? ''
          : 'dim'}" d=${path(c.way)} stroke-width=${1 + 3 * Math.sqrt(c.calls / most)} marker-end="url(#map-arrow)">
            <title>
              ${`${c.from} calls ${c.to}: ${count(c.calls)}, ${percent(c.errors /
                c.calls)} errors, p95 ${duration(c.p95 / 1e6)}`}</title></path>`)}
      ${found.nodes.map((n) => html`<g key=${n.service} class="service ${n.errors > 0 ? 'failing' : ''}" role="button"
        tabindex="0" transform=${`translate(${n.x} ${n.y})`}
        onClick=${open(n.service)} onKeyDown=${open(n.service)} onPointerEnter=${() => setLit(n.service)}
          onPointerLeave=${() => setLit('')} onFocus=${() => setLit(n.service)} onBlur=${() => setLit('')}>
        <rect width=${nodeWidth} height=${nodeHeight} rx="5" />
          <rect class="colour" width="5" height=${nodeHeight} rx="2" style=${{ fill: hashColour(n.service) }} />
        <text class="name" x="14" y="19">${oneLine(n.service || 'no service', 21)}</text>
          <text x="14" y="36">${n.n === 0 ? 'not counted' : html`${`${short(n.n)} ${n.n === 1 ? 'span' : 'spans'}`}
          <tspan class=${n.errors > 0 ? 'bad' : ''}>${` · ${percent(n.errors / n.n)}`}</tspan>
          ${` · ${duration(n.p95 / 1e6)}`}`}</text></g>`)}</svg></div>
    <p class="traces-figures soft">Each service with its spans, the share of errors and p95 of their durations; lines
      are calls, the thicker the more, red from 1% of errors on. A click searches the traces of a service.${found.cut &&
        html` <b class="cut" role="note">${found.cut}.</b>`}</p>
    <div class="traces-list">
      <table aria-label="Calls" class="list">
        <thead><tr><th scope="col">caller</th><th scope="col">called</th><th scope="col" class="num">calls</th>
          <th scope="col" class="num">errors</th><th scope="col" class="num">p95</th></tr></thead><tbody>
      ${found.calls.map((c) => html`<tr key=${`${c.from} ${c.to}`} onPointerEnter=${() => setLit(c.from)}
        onPointerLeave=${() => setLit('')}>
          <td class="what"><button class="link" onClick=${() => onService(c.from)}>
            <span class="swatch" style=${{ background: hashColour(c.from) }}></span>
              ${oneLine(c.from || 'no service', 80)}</button></td>
                <td class="what"><button class="link" onClick=${() => onService(c.to)}>
                  <span class="swatch" style=${{ background: hashColour(c.to) }}></span>
                    ${oneLine(c.to || 'no service', 80)}</button></td><td class="num">${count(c.calls)}</td>
                      <td class="num ${c.errors > 0 ? 'level-error' : 'faint'}">
                        ${c.errors > 0 ? `${count(c.errors)} (${percent(c.errors / c.calls)})` : '0'}</td>
                          <td class="num">${duration(c.p95 / 1e6)}</td></tr>`)}
      ${found.calls.length === 0 &&
        html`<tr><td colspan="5" class="soft">No span in the range has a parent of another service.</td>
        </tr>`}</tbody></table></div></div>`;
}
