// The queues that the server reads: whether it does, how far it is, and what it could not store.

import { html } from '../lib/ui.js';
import { bytes, count } from '../core/format.js';

/**
 * @typedef {{name: string, group: string, reading: boolean, trouble: string, messages: number, bytes: number,
 *   rejected: number, errors: number, partitions: {topic: string, partition: number, lag: number}[]}} Queue
 */

/** @param {{queues: Queue[]}} props */
export function Queues({ queues }) {
  if (queues.length === 0) return null;
  return html`<h2>Queues</h2>
    <div class="scroll requests" tabindex="0" role="region" aria-label="Queues">
      <table class="list"><thead>
        <tr><th scope="col">Source</th><th scope="col">State</th><th scope="col" class="num">Partitions</th>
          <th scope="col" class="num">Lag</th><th scope="col" class="num">Stored</th>
          <th scope="col" class="num">Bytes</th><th scope="col" class="num">Rejected</th></tr></thead>
      <tbody>${queues.map((q) => html`<tr key=${q.name}><td class="mono">${q.name}</td>
        <td class=${q.reading ? '' : 'level-warn'}>${q.reading ? 'reads' : q.trouble}</td>
        <td class="num">${count(q.partitions.length)}</td>
        <td class="num">${count(q.partitions.reduce((sum, p) => sum + p.lag, 0))}</td>
        <td class="num">${count(q.messages)}</td><td class="num">${bytes(q.bytes)}</td>
        <td class="num ${q.rejected > 0 ? 'level-warn' : 'faint'}">${count(q.rejected)}</td></tr>`)}</tbody>
      </table></div>`;
}
