// The values of a field over all matching rows, exact, and the spread of a numeric one.

import { html, useState } from '../lib/ui.js';
import { list } from '../core/api.js';
import { cell as cellText, count, oneLine, percent, plural, raw, short } from '../core/format.js';
import * as router from '../core/router.js';
import * as sqltext from '../core/sqltext.js';
import { zone } from '../core/state.js';
import { ErrorBox } from '../ui/error.js';
import { Icon } from '../ui/icons.js';
import { copy } from '../ui/toast.js';
import { faded, useAnswer } from '../ui/useanswer.js';
import * as logsql from './logsparts.js';

/** @typedef {{values: any[][], rows: number, present: number, distinct: number}} Found */

/**
 * valuesOf asks for the values of a field.
 * @param {logsql.Scope} scope
 * @param {string} column
 * @param {number} most
 * @param {AbortSignal} signal
 * @returns {Promise<Found>}
 */
async function valuesOf(scope, column, most, signal) {
  const options = { signal, background: true };
  const [values, [[rows, present, distinct]]] = await Promise.all([list(logsql.values(scope, column, most), options),
    list(logsql.presence(scope, column), options)]);
  return { values, rows: Number(rows), present: Number(present), distinct: Number(distinct) };
}

/**
 * @param {{run: import('./logsrun.js').LogsRun, state: import('../core/state.js').PageState, column:
 *   import('../core/catalog.js').Column, shown: boolean, onFilter: (field: string, value: any, negated: boolean) =>
 *   void, onColumn: (name: string) => void}} props
 */
export function FieldValues({ run, state, column, shown, onFilter, onColumn }) {
  const scope = run.scope.value;
  const [most, setMost] = useState(11);
  const { found, error, stale } =
    useAnswer((signal) => (scope ? valuesOf(scope, column.name, most, signal) : null), [scope, column.name, most]);
  if (error) return html`<${ErrorBox} error=${error} />`;
  if (!found) return html`<p class="faint pad">Counting…</p>`;
  const values = found.values.filter(([v]) => v !== null).slice(0, most === 11 ? 10 : most);
  const absent = found.rows - found.present;
  const share = (/** @type {number} */ n) => (found.rows === 0 ? 0 : n / found.rows);
  return html`<div ...${faded('values', stale)}>
    <p class="soft num">${found.distinct <= found.values.length
      ? plural(found.values.filter(([v]) => v !== null).length, 'value')
      : `about ${plural(found.distinct, 'value')}`} in ${plural(found.present, 'row')}</p>
    ${sqltext.isNumeric(column.type) && scope && html`<${Numbers} scope=${scope} column=${column} />`}
    ${values.map(([v, n]) => html`<div class="value" key=${String(v)}>
      <span class="bar-bg" style=${{ width: `${Math.max(1, share(Number(n)) * 100)}%` }}></span>
      <span class="text" title=${raw(v)}>${v === '' ? "''" : oneLine(cellText(v, column.type, zone.value), 200)}</span>
      <span class="num n" title=${`${count(n)} rows`}>${short(Number(n))}</span>
        <span class="num p">${percent(share(Number(n)))}</span>
      <span class="acts small">
        <button class="quiet small icon" title="Only this" aria-label=${`Only ${raw(v)}`}
          onClick=${() => onFilter(column.name, v, false)}><${Icon} name="plus" /></button>
        <button class="quiet small icon" title="Not this" aria-label=${`Not ${raw(v)}`}
          onClick=${() => onFilter(column.name, v, true)}><${Icon} name="minus" /></button>
        <button class="quiet small icon" title="Copy" aria-label=${`Copy ${raw(v)}`} onClick=${() => copy(raw(v))}>
          <${Icon} name="copy" /></button></span></div>`)}
    ${absent > 0 && html`<div class="value none">
      <span class="bar-bg" style=${{ width: `${Math.max(1, share(absent) * 100)}%` }}></span>
        <span class="text null">not there</span><span class="num n" title=${`${count(absent)} rows`}>${short(absent)}
          </span><span class="num p">${percent(share(absent))}</span>
      <span class="acts small">
        <button class="quiet small icon" title="Only rows without" aria-label=${`Only rows without ${column.name}`}
          onClick=${() => onFilter(column.name, null, false)}><${Icon} name="plus" /></button>
      <button class="quiet small icon" title="Only rows with" aria-label=${`Only rows with ${column.name}`}
        onClick=${() => onFilter(column.name, null, true)}><${Icon} name="minus" /></button></span></div>`}
    <div class="small acts-line">
      ${most === 11 && found.values.length >= 11 &&
        html`<button class="small" onClick=${() => setMost(100)}>More, up to 100</button>`}
      <button class="small" onClick=${() => state.set({ split: column.name })}>Histogram by this</button>
      <button class="small" aria-pressed=${shown ? 'true' : 'false'}
        onClick=${() => onColumn(column.name)}>Column</button>
      <button class="small" title="Its values over time, as a chart"
        onClick=${() => scope &&
          router.go('sql', { sql: logsql.histogram(scope,
            logsql.bins(run.buckets.value?.range ?? { from: 0n, to: 1n }, zone.value), column.name, found.distinct > 12
            ? values.map(([v]) => v) : null), view: 'chart' })}>Chart in SQL</button>
      ${sqltext.isText(column.type) &&
        html`<button class="small" aria-pressed=${run.roles.value?.message === column.name ? 'true' : 'false'}
          onClick=${() => run.choose({ message: column.name })}>Is the message</button>`}
      <button class="small" aria-pressed=${run.roles.value?.level === column.name ? 'true' : 'false'}
        onClick=${() => run.choose({ level: column.name })}>Is the level</button>
      <button class="small" onClick=${() => scope &&
        copy(logsql.values(scope, column.name, 100), 'SQL copied')}>SQL</button></div>
  </div>`;
}

/**
 * numbersOf asks for the spread of a numeric field, and for twenty bars of it.
 * @param {logsql.Scope} scope
 * @param {string} column
 * @param {AbortSignal} signal
 */
async function numbersOf(scope, column, signal) {
  const options = { signal, background: true }, bars = new Array(20).fill(0);
  const [row] = await list(logsql.numbers(scope, column), options), low = Number(row[1]), high = Number(row[2]);
  if (row[1] === null || !(high > low)) return { row, bars: [] };
  const cells = await list(logsql.distribution(scope, column, low, (high - low) / 20), options);
  for (const [b, n] of cells) bars[Math.max(0, Math.min(19, Number(b)))] += Number(n);
  return { row, bars };
}

/**
 * Numbers shows the spread of a numeric field; the counts above are there without it.
 * @param {{scope: logsql.Scope, column: import('../core/catalog.js').Column}} props
 */
function Numbers({ scope, column }) {
  const { found, stale } = useAnswer((signal) => numbersOf(scope, column.name, signal), [scope, column.name]);
  if (!found || found.row[1] === null) return null;
  const { row, bars } = found, top = Math.max(1, ...bars);
  const figure = (/** @type {any} */ v) =>
    (v === null ? '' : String(typeof v === 'number' && !Number.isInteger(v) ? Number(v.toPrecision(6)) : v));
  return html`<div ...${faded('numbers', stale)}>
    ${bars.length > 0 && html`<svg viewBox="0 0 200 34" preserveAspectRatio="none" role="img"
      aria-label=${`Distribution from ${row[1]} to ${row[2]}`}>
        ${bars.map((n, i) => html`<rect key=${i} x=${i * 10} width="9" y=${34 - (n / top) * 34}
          height=${(n / top) * 34}><title>${count(n)}</title></rect>`)}</svg>`}
    <dl>${[['min', 1], ['p50', 4], ['p90', 5], ['p99', 6], ['max', 2],
      ['avg', 3]].map(([k, i]) => html`<div key=${k}><dt>${k}</dt>
        <dd class="num">${figure(row[/** @type {number} */ (i)])}</dd></div>`)}</dl></div>`;
}
