// The answer at one moment as a table: a column for each label, and the value with all its digits.

import { html, useState } from '../lib/ui.js';
import { count, oneLine, plural } from '../core/format.js';
import { zone } from '../core/state.js';
import { showTime } from '../core/time.js';
import { Icon } from '../ui/icons.js';
import { copy } from '../ui/toast.js';
import { units } from './metricsunits.js';

const most = 500;
const mostLabels = 12;

/** @typedef {import('../core/series.js').Raw} Raw */

/** valueOf is what a series has at the moment, as text. @param {Raw} s */
function valueOf(s) {
  if (s.value) return s.value[1];
  const one = s.histogram ?? s.histograms?.at(-1);
  if (one) return `count ${one[1].count}, sum ${one[1].sum}, ${plural(one[1].buckets?.length ?? 0, 'bucket')}`;
  return (s.values ?? []).slice(-10).map(([t, v]) => `${v} @${t}`).join('\n');
}

/** numberOf orders values. @param {Raw} s */
const numberOf = (s) => Number(s.value?.[1] ?? s.histogram?.[1].count ?? s.values?.at(-1)?.[1] ?? NaN);

/**
 * sorted orders by a label, or by the value when it is ''; what has none comes last.
 * @param {Raw[]} list
 * @param {{label: string, up: boolean}} by
 */
function sorted(list, by) {
  const sign = by.up ? 1 : -1, words = new Intl.Collator('en', { numeric: true });
  return [...list].sort((a, b) => {
    if (by.label !== '') return sign * words.compare(a.metric[by.label] ?? '', b.metric[by.label] ?? '');
    const x = numberOf(a), y = numberOf(b);
    return Number(Number.isNaN(x)) - Number(Number.isNaN(y)) || sign * (x - y || 0);
  });
}

/** @param {{result: import('./metricsrun.js').Result, unit: string}} props */
export function InstantTable({ result, unit }) {
  const [by, setBy] = useState({ label: '', up: false });
  const at = BigInt(Math.round(result.at * 1000)) * 1_000_000n;
  const all = [...new Set(result.list.flatMap((s) => Object.keys(s.metric)))].sort(), labels = all.slice(0, mostLabels);
  const rows = sorted(result.list, by).slice(0, most);
  const write = units[unit] && unit !== 'number' ? units[unit].write : null;
  const head = (/** @type {string} */ label, /** @type {string} */ text) => html`<th scope="col" key=${text}
    class=${label === '' ? 'num' : ''} aria-sort=${by.label === label ? (by.up ? 'ascending' : 'descending') : 'none'}>
      <button class="quiet small" onClick=${() => setBy({ label, up: by.label === label ? !by.up : label !== '' })}>
        ${text}${by.label === label ? (by.up ? ' ↑' : ' ↓') : ''}</button></th>`;
  const text = () => [[...all, 'value'],
    ...sorted(result.list, by)
    .map((s) => [...all.map((l) => s.metric[l] ?? ''), valueOf(s)])].map((r) =>
      r.map((c) => (/["\n,]/.test(c) ? `"${c.replaceAll('"', '""')}"` : c)).join(',')).join('\n');
  return html`<div class="metrics-table">
    <p class="pad soft">${plural(result.list.length, 'series', 'series')} at ${showTime(at, 0, zone.value)}
      ${result.list.length > most ? `, the first ${count(most)} shown` : ''}
        ${all.length > mostLabels ? `, ${mostLabels} of ${all.length} labels shown` : ''}
          ${result.type === 'matrix' ? ', the last 10 samples of each' : ''} <button class="small"
            title="Copy all series as CSV" onClick=${() => copy(text())}><${Icon} name="copy" />CSV</button></p>
    <table aria-label="Series" class="list"><thead><tr>${labels.map((l) => head(l, l))}${head('', 'value')}</tr></thead>
      <tbody>
      ${rows.map((s, i) => html`<tr key=${i}>${labels.map((l) => html`<td key=${l}>${oneLine(s.metric[l] ?? '')}</td>`)}
        <td class="num" title=${write && s.value ? write(Number(s.value[1])) : undefined}><pre>${valueOf(s)}</pre></td>
        </tr>`)}</tbody></table></div>`;
}
