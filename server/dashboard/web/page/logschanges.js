// What changed between two ranges: for each field with few values, how much of all rows each value had, before and now.

import { html, useState } from '../lib/ui.js';
import { list } from '../core/api.js';
import { count, oneLine, percent, raw } from '../core/format.js';
import * as sqltext from '../core/sqltext.js';
import { zone } from '../core/state.js';
import { nowNanos, showTime } from '../core/time.js';
import { ErrorBox } from '../ui/error.js';
import { faded, useAnswer } from '../ui/useanswer.js';
import * as logsql from './logsparts.js';

const mostValues = 200;
const mostFields = 40;
const mostChanges = 100;

/** @typedef {{field: string, value: any, before: number, now: number, shareBefore: number, shareNow: number}} Change */

/**
 * compare joins two lists of values and counts.
 * @param {string} field
 * @param {any[][]} before
 * @param {any[][]} now
 * @param {number} totalBefore
 * @param {number} totalNow
 * @returns {Change[]}
 */
export function compare(field, before, now, totalBefore, totalNow) {
  /** @type {Map<any, [number, number]>} */
  const all = new Map();
  for (const [v, n] of before) all.set(v, [Number(n), 0]);
  for (const [v, n] of now) all.set(v, [all.get(v)?.[0] ?? 0, Number(n)]);
  return [...all].map(([value, [b, n]]) => ({ field, value, before: b, now: n, shareBefore: totalBefore
    ? b / totalBefore : 0, shareNow: totalNow ? n / totalNow : 0 }));
}

/**
 * @param {{run: import('./logsrun.js').LogsRun, onFilter: (field: string, value: any, negated: boolean) => void}} props
 */
export function Changes({ run, onFilter }) {
  const scope = run.scope.value;
  const [with_, setWith] = useState('before');
  const { found, error, stale } =
    useAnswer((signal) => (scope && scope.range.from !== null ? look(scope, with_, signal) : null), [scope, with_]);
  if (!scope) return null;
  if (scope.range.from === null) return html`<p class="state soft">A comparison needs a range with a beginning.</p>`;
  if (error) return html`<${ErrorBox} error=${error} />`;
  const bars = (/** @type {number} */ share, /** @type {string} */ kind) => html`<span class="share-bar">
    <span class="fill ${kind}" style=${{ width: `${share * 100}%` }}></span></span><span class="num">${percent(share)}
    </span>`;
  return html`<div class="content changes">
    <p ...${faded('soft', stale)}>Compared with <select aria-label="Compared with" value=${with_}
      onChange=${(e) => setWith(e.target.value)}><option value="before">the range before</option>
        <option value="day">the same range a day before</option>
          <option value="week">the same range a week before</option></select>
      ${found &&
        html`<span
          class="num"> ${showTime(found.range.from, 0, zone.value)} – ${showTime(found.range.to, 0,
            zone.value)}: ${count(found.totals[0])} rows then, ${count(found.totals[1])} now. ${found.more > 0
              ? `The first ${mostFields} fields with few values, of ${count(found.more + mostFields)}`
              : 'Fields'}: ${found.fields.join(', ') || 'none with few values'}</span>`}</p>
    ${!found ? html`<p class="state soft wait" role="status">Comparing…</p>` : found.totals[0] === 0
      ? html`<p ...${faded('state soft', stale)}>There was no row in the range before: nothing to compare with.</p>`
    : html`<table aria-label="Changes" ...${faded('list acts', stale)}>
      <thead><tr><th scope="col">field</th><th scope="col">value</th><th scope="col">then</th><th scope="col">now</th>
        <th scope="col" class="num">change</th><th scope="col"><span class="only-read">Actions</span></th></tr></thead>
          <tbody>
      ${found.changes.slice(0, mostChanges)
        .map((c) => html`<tr key=${c.field + JSON.stringify(c.value)}><td class="mono">${oneLine(c.field, 80)}</td>
          <td class="mono value" title=${raw(c.value)}>
            ${c.value === null ? html`<i class="faint">not there</i>` : oneLine(raw(c.value), 200)}</td>
        <td class="share" title=${`${count(c.before)} rows`}>${bars(c.shareBefore, 'then')}</td>
          <td class="share" title=${`${count(c.now)} rows`}>${bars(c.shareNow, 'now')}</td>
        <td class="num ${c.shareNow > c.shareBefore ? 'up' : 'down'}">${c.shareNow > c.shareBefore ? '▲ +' : '▼ −'}
          ${(Math.abs(c.shareNow - c.shareBefore) * 100).toFixed(1)} points</td>
        <td class="small nowrap">
          <button class="small" onClick=${() => onFilter(c.field, c.value, false)}>Only</button> <button class="small"
            onClick=${() => onFilter(c.field, c.value, true)}>Not</button></td></tr>`)}</tbody></table>
      ${found.changes.length > mostChanges &&
        html`<p ...${faded('soft cut', stale)}>
          ${count(found.changes.length)} values changed, the ${mostChanges} that did most are listed</p>`}
      ${found.changes.length === 0 &&
        html`<p ...${faded('state soft', stale)}>Nothing changed by more than a tenth of a percent.</p>`}`}</div>`;
}

/**
 * look counts the fields with few values in both ranges.
 * @param {logsql.Scope} scope
 * @param {string} other
 * @param {AbortSignal} signal
 */
async function look(scope, other, signal) {
  const options = { signal, background: true };
  const from = /** @type {bigint} */ (scope.range.from), to = scope.range.to ?? nowNanos();
  const back = other === 'day' ? 86_400_000_000_000n : other === 'week' ? 604_800_000_000_000n : to - from;
  const range = { from: from - back, to: to - back };
  const before = { ...scope, range }, now = { ...scope, range: { from, to } };
  const able = scope.columns.filter((c) => !c.timeIndex && !sqltext.isFloat(c.type) &&
    (sqltext.isText(c.type) || sqltext.isInteger(c.type) || sqltext.isBoolean(c.type)) &&
    c.name !== scope.roles.trace && c.name !== scope.roles.span).slice(0, 200);
  const [sizes] = await list(`SELECT count(*)${able.map((c) => `, approx_distinct(${sqltext.name(c.name)})`)
    .join('')} FROM ${sqltext.table(scope.table)}${logsql.conditions(now)}`, options);
  const few = able.filter((_, i) => Number(sizes[i + 1]) < mostValues && Number(sizes[i + 1]) > 0),
    fields = few.slice(0, mostFields);
  const [[total]] = await list(logsql.total(before), options);
  const lists = await Promise.all(fields.map(async (c) => {
    const [b, n] = await Promise.all([list(logsql.values(before, c.name, mostValues), options),
      list(logsql.values(now, c.name, mostValues), options)]);
    return compare(c.name, b, n, Number(total), Number(sizes[0]));
  }));
  const changes = lists.flat().filter((c) => Math.abs(c.shareNow - c.shareBefore) > 0.001)
    .sort((a, b) => Math.abs(b.shareNow - b.shareBefore) - Math.abs(a.shareNow - a.shareBefore));
  return { changes, fields: fields.map((f) => f.name), more: few.length - fields.length,
    totals: /** @type {[number, number]} */ ([Number(total), Number(sizes[0])]), range };
}
