// The answer at one moment as a table: a column for each label, and the value with all its digits.

import { html } from '../lib/ui.js';
import { count, plural } from '../core/format.js';
import { zone } from '../core/state.js';
import { showTime } from '../core/time.js';

const most = 500;
const mostLabels = 12;

/** @param {{result: import('./metricsrun.js').Result}} props */
export function InstantTable({ result }) {
  const at = BigInt(Math.round(result.grid.end * 1000)) * 1_000_000n;
  const labels = [...new Set(result.list.flatMap((s) => Object.keys(s.metric)))].sort().slice(0, mostLabels);
  const rows = [...result.list].sort((a, b) => Number(b.value?.[1] ?? 0) - Number(a.value?.[1] ?? 0)).slice(0, most);
  const value = (/** @type {import('./metricsrun.js').Raw} */ s) => (s.value ? s.value[1] : (s.values ?? []).slice(-10).map(([t, v]) => `${v} @${t}`).join('\n'));
  return html`<div class="metrics-table">
    <p class="pad soft">${plural(result.list.length, 'series', 'series')} at ${showTime(at, 0, zone.value)}${result.list.length > most ? `, the highest ${count(most)} shown` : ''}${result.type === 'matrix' ? ', the last 10 samples of each' : ''}</p>
    <table class="list"><thead><tr>${labels.map((l) => html`<th key=${l}>${l}</th>`)}<th class="num">value</th></tr></thead><tbody>
      ${rows.map((s, i) => html`<tr key=${i}>${labels.map((l) => html`<td key=${l}>${s.metric[l] ?? ''}</td>`)}<td class="num"><pre>${value(s)}</pre></td></tr>`)}</tbody></table></div>`;
}
