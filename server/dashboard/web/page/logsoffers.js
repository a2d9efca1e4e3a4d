// Completion of the search line: fields, and the values of a field in the time range.

import { list } from '../core/api.js';
import { count } from '../core/format.js';
import { score } from '../core/fuzzy.js';
import { db, range } from '../core/state.js';
import * as logsql from './logsquery.js';

/** @typedef {{text: string, kind: string, from: number, to: number, note?: string}} Offer */

/** @type {Map<string, {at: number, values: any[][]}>} */
const valuesKept = new Map();

/**
 * offersAt gives what fits at the cursor: fields, or values of the field before it.
 * @param {string} text @param {number} cursor @param {logsql.Column[]} columns @param {logsql.Scope|null} scope where values are looked for
 * @param {(name: string) => logsql.Column|undefined} [named] finds the field that a name stands for
 * @returns {Promise<Offer[]>}
 */
export async function offersAt(text, cursor, columns, scope, named = (name) => columns.find((c) => c.name === name)) {
  const head = text.slice(0, cursor);
  const m = /(?:^|[\s(])-?((?:"[^"]*"|[^\s:()"])*)(:?)([^\s:()]*)$/.exec(head);
  if (!m) return [];
  const from = cursor - m[1].length - m[2].length - m[3].length;
  if (!m[2]) {
    return columns.map((c) => ({ c, s: score(m[1], c.name) })).filter(({ s, c }) => s > 0 && !c.timeIndex).sort((a, b) => (m[1] ? b.s - a.s : 0)).slice(0, 10)
      .map(({ c }) => ({ text: (/^[\w.@-]+$/.test(c.name) ? c.name : JSON.stringify(c.name)) + ':', kind: c.type, from, to: cursor }));
  }
  const name = named(m[1].replace(/^"|"$/g, ''))?.name;
  if (!scope || name === undefined) return [];
  const key = JSON.stringify([db.value, range.value, scope.table, name]);
  let have = valuesKept.get(key);
  if (!have || Date.now() - have.at > 60_000) {
    try {
      have = { at: Date.now(), values: await list(logsql.values({ ...scope, filters: [] }, name, 100), { background: true }) };
    } catch {
      return []; // completion is a help, not an answer
    }
    valuesKept.set(key, have);
  }
  return have.values.filter(([v]) => v !== null && String(v).length < 200).map(([v, n]) => ({ v: String(v), n: Number(n), s: score(m[3].replace(/^"/, ''), String(v)) })).filter(({ s }) => s > 0)
    .sort((a, b) => (m[3] ? b.s - a.s : b.n - a.n)).slice(0, 10)
    .map(({ v, n }) => ({ text: /^[^\s"()\\*~/<>=!,.][^\s"()\\*]*$/.test(v) ? v : JSON.stringify(v), kind: 'value', note: count(n), from: cursor - m[3].length, to: cursor }));
}
