// Completion of the search line: fields, and the values of a field in the time range.

import { list } from '../core/api.js';
import { count } from '../core/format.js';
import { score } from '../core/fuzzy.js';
import { db, range } from '../core/state.js';
import * as logsql from './logsparts.js';

/** @typedef {{text: string, kind: string, from: number, to: number, note?: string}} Offer */

/**
 * For a field with many values, only the newest rows, this many, are looked at: to group all rows by such a field takes
 * seconds.
 */
const looked = 20_000;
/** The most values of a field that are kept. */
const most = 100;
/** Values are asked for again after this time, ms. */
const fresh = 60_000;

/**
 * @typedef {{list: any[][], of: string}} Values with their numbers of rows, and of which rows where it is not all of
 *   the range
 */

/** @type {Map<string, {at: number, values: Promise<Values>}>} */
const kept = new Map();
/** asking is the question under way: another one ends it. */
let asking = { key: '', control: new AbortController() };

/**
 * valuesOf asks for the values of a field in the newest rows, and when these have few different ones, in all rows.
 * @param {logsql.Scope} scope
 * @param {string} name
 * @param {AbortSignal} signal
 * @returns {Promise<Values>}
 */
async function valuesOf(scope, name, signal) {
  const options = { signal, last: true }, all = { ...scope, filters: [] };
  const newest = await list(logsql.newestValues(all, name, looked, most), options);
  const whole = newest.length === 0 || Number(newest[0][2]) < looked;
  if (newest.length === most) return { list: newest, of: whole ? '' : ` of the newest ${count(looked)} rows` };
  return { list: whole ? newest : await list(logsql.values(all, name, most), options), of: '' };
}

/**
 * keptValues asks once for the values of a field, not for each letter that is typed after it.
 * @param {logsql.Scope} scope
 * @param {string} name
 * @param {AbortSignal} signal of the offers
 */
function keptValues(scope, name, signal) {
  const key = JSON.stringify([db.value, range.value, scope.table, name]), have = kept.get(key);
  if (asking.key !== key) asking.control.abort(new DOMException('superseded', 'AbortError'));
  if (have && Date.now() - have.at < fresh) return have.values;
  if (signal.aborted) return Promise.reject(signal.reason); // they were closed while this module was loaded
  const control = new AbortController();
  signal.addEventListener('abort', () => control.abort(signal.reason));
  const values = valuesOf(scope, name, control.signal);
  asking = { key, control };
  kept.set(key, { at: Date.now(), values });
  values.catch(() => kept.delete(key));
  return values;
}

/**
 * offersAt gives what fits at the cursor: fields, or values of the field before it.
 * @param {string} text
 * @param {number} cursor
 * @param {AbortSignal} signal
 * @param {logsql.Column[]} columns
 * @param {logsql.Scope|null} scope where values are looked for
 * @param {(name: string) => logsql.Column|undefined} [named] finds the field that a name stands for
 * @returns {Promise<Offer[]>}
 */
export async function offersAt(text, cursor, signal, columns, scope,
  named = (name) => columns.find((c) => c.name === name)) {
  const head = text.slice(0, cursor);
  const m = /(?:^|[\s(])-?((?:"[^"]*"|[^\s:()"])*)(:?)([^\s:()]*)$/.exec(head);
  if (!m) return [];
  const from = cursor - m[1].length - m[2].length - m[3].length;
  if (!m[2]) {
    return columns.map((c) => ({ c, s: score(m[1], c.name) })).filter(({ s, c }) => s > 0 && !c.timeIndex)
      .sort((a, b) => (m[1] ? b.s - a.s : 0)).slice(0, 10)
      .map(({ c }) => ({ text: (/^[\w.@-]+$/.test(c.name) ? c.name : JSON.stringify(c.name)) + ':', kind: c.type, from,
        to: cursor }));
  }
  const name = named(m[1].replace(/^"|"$/g, ''))?.name;
  if (!scope || name === undefined) return [];
  const found = await keptValues(scope, name, signal).catch(() => null); // no offers on an error
  if (!found) return [];
  return found.list.filter(([v]) => v !== null && String(v).length < 200)
    .map(([v, n]) => ({ v: String(v), n: Number(n), s: score(m[3].replace(/^"/, ''), String(v)) }))
    .filter(({ s }) => s > 0)
    .sort((a, b) => (m[3] ? b.s - a.s : b.n - a.n) || (a.v < b.v ? -1 : 1)).slice(0, 10)
    .map(({ v, n }) => ({ text: /^[^\s"()\\*~/<>=!,.][^\s"()\\*]*$/.test(v) ? v : JSON.stringify(v), kind: 'value',
      note: count(n) + found.of, from: cursor - m[3].length, to: cursor }));
}
