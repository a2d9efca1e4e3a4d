// The overview of operations: how often each was called, how often it failed, and how long it took.

import { html, useState } from '../lib/ui.js';
import { count, duration, oneLine, percent } from '../core/format.js';
import { hashColour } from '../ui/canvas.js';
import { ErrorBox } from '../ui/error.js';
import { faded, useAnswer } from '../ui/useanswer.js';
import * as sql from './tracesquery.js';

/** @typedef {{key: string, title: string, by: (o: sql.Operation) => number|string}} Field */

/** @type {Field[]} */
const fields = [
  { key: 'what', title: 'service and operation', by: (o) => `${o.service}\u0001${o.operation}` },
    { key: 'n', title: 'calls', by: (o) => o.n }, { key: 'errors', title: 'errors', by: (o) => o.errors / o.n },
  { key: 'p50', title: 'p50', by: (o) => o.p50 }, { key: 'p95', title: 'p95', by: (o) => o.p95 },
    { key: 'p99', title: 'p99', by: (o) => o.p99 },
];

/**
 * @param {{statement: string, question: string, tick: number, onOpen: (service: string, operation: string, more:
 *   Record<string, any>) => void}} props
 */
export function Operations({ statement, question, tick, onOpen }) {
  const { found, error, stale } = useAnswer((signal) => sql.overview(statement, signal), [question], tick);
  const [by, setBy] = useState({ key: 'n', up: false });
  if (error) return html`<${ErrorBox} error=${error} />`;
  if (!found) return html`<p class="state soft wait" role="status">Asking…</p>`;
  const { list, total } = found;
  if (list.length === 0) return html`<div ...${faded('state', stale)}><h2>No spans match</h2>
    <p>With these filters and in this time range.</p></div>`;
  const of = /** @type {Field} */ (fields.find((f) => f.key === by.key)).by;
  const sorted = [...list].sort((a, b) => {
    const x = of(a), y = of(b);
    return (x < y ? -1 : x > y ? 1 : 0) * (by.up ? 1 : -1);
  });
  const longest = list.reduce((m, o) => Math.max(m, o.p95), 1);
  return html`<div ...${faded('traces-list operations', stale)}>
    ${total > list.length &&
      html`<p class="traces-figures soft cut" role="note">
        ${count(total)} operations, the ${count(list.length)} called most are listed. The search line and the lists
          above narrow them.</p>`}
    <table aria-label="Operations" class="list">
      <thead><tr>${fields.map((f) => html`<th scope="col" key=${f.key} class=${f.key === 'what' ? '' : 'num'}
        aria-sort=${by.key === f.key ? (by.up ? 'ascending' : 'descending') : 'none'}>
          <button class="quiet small"
            onClick=${() => setBy({ key: f.key, up: by.key === f.key ? !by.up : f.key === 'what' })}>${f.title}
              ${by.key === f.key ? (by.up ? ' ↑' : ' ↓') : ''}</button>
              </th>`)}<th scope="col" class="chips" aria-hidden="true"></th></tr></thead><tbody>
    ${sorted.map((o) => html`<tr key=${`${o.service} ${o.operation}`}>
      <td class="what"><button class="link" onClick=${() => onOpen(o.service, o.operation, {})}>
        <span class="swatch" style=${{ background: hashColour(o.service) }}></span>
          ${oneLine(o.service || 'no service', 60)} <b>${oneLine(o.operation, 120)}</b></button></td>
      <td class="num">${count(o.n)}</td>
        <td class="num">${o.errors === 0 ? html`<span class="faint">0</span>`
          : html`<button class="link level-error" title="Search the failed ones"
            onClick=${() => onOpen(o.service, o.operation, { st: 'error' })}>
              ${count(o.errors)} (${percent(o.errors / o.n)})</button>`}</td>
      <td class="num">${duration(o.p50 / 1e6)}</td><td class="num">${duration(o.p95 / 1e6)}</td>
        <td class="num"><button class="link" title="Search the slow ones"
          onClick=${() => onOpen(o.service, o.operation, { min: `${o.p99}ns`, sort: 'slowest' })}>
            ${duration(o.p99 / 1e6)}</button></td>
      <td class="chips" aria-hidden="true">
        <span class="length-bar"><span style=${{ width: `${Math.max(1, (o.p95 / longest) * 100)}%` }}></span></span>
          </td></tr>`)}</tbody></table></div>`;
}
