// Names of rows, for links and pins: the instant, and a hash of all values that tells rows of one instant apart.

import { query } from '../core/api.js';
import * as sqltext from '../core/sqltext.js';
import * as logsql from './logsquery.js';

/** The most rows of one instant among which a row is looked for. */
const mostAtOnce = 10_000;

/** hash is FNV-1a of 64 bits. @param {string} text */
function hash(text) {
  let h = 0xcbf29ce484222325n;
  for (const b of new TextEncoder().encode(text)) h = BigInt.asUintN(64, (h ^ BigInt(b)) * 0x100000001b3n);
  return h.toString(36);
}

/**
 * nameOf names a row.
 * @param {any[]} row
 * @param {import('../core/rowset.js').Column[]} columns
 * @param {logsql.Roles} roles
 */
export function nameOf(row, columns, roles) {
  const c = columns.findIndex((x) => x.name === roles.time?.name);
  return c < 0 ? '' : `${BigInt(row[c]) * sqltext.unitNanos(columns[c].type)}.${hash(JSON.stringify(row))}`;
}

/**
 * whole asks for all columns of a row of which some are known. When several rows of its instant have these same values
 * it returns one of them, and alike says how many there are.
 * @param {logsql.Scope} scope @param {any[]} row @param {import('../core/rowset.js').Column[]} columns
 */
export async function whole(scope, row, columns) {
  const at = columns.findIndex((c) => c.name === scope.roles.time?.name), unit = sqltext.unitNanos(columns[at].type),
    instant = BigInt(row[at]) * unit;
  const filters = columns.flatMap((c, i) => (i !== at && (sqltext.isText(c.type) || sqltext.isInteger(c.type))
    ? [sqltext.equals(c.name, row[i], c.type)] : []));
  const answer = await query(logsql.rows({ ...scope, range: { from: instant, to: instant + unit }, filters }, '*',
    mostAtOnce));
  const known = columns.map((c) => answer.columns.findIndex((f) => f.name === c.name)), wanted = JSON.stringify(row);
  const found = (await answer.all()).filter((r) => JSON.stringify(known.map((i) => r[i])) === wanted);
  answer.free();
  return found.length > 0 ? { row: found[0], columns: answer.columns, alike: found.length }
    : { row, columns, alike: 1 };
}

/** rowOf asks for a named row; null when it is gone. @param {logsql.Scope} scope @param {string} name */
export async function rowOf(scope, name) {
  const at = logsql.instantOf(name);
  if (at === null) return null;
  const answer = await query(logsql.rows({ ...scope,
    range: { from: at, to: at + sqltext.unitNanos(scope.roles.time?.type ?? '') }, filters: [] }, '*', mostAtOnce));
  const row = (await answer.all()).find((r) => nameOf(r, answer.columns, scope.roles) === name);
  answer.free();
  return row ? { row, columns: answer.columns } : null;
}
