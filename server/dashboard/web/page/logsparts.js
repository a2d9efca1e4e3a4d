// The statements of the Logs page beyond those of logsquery.js, which it re-exports: for panels that open over the
// list, and for more rows.

import * as sqltext from '../core/sqltext.js';
import { conditions, rows, table, time } from './logsquery.js';

export * from './logsquery.js';

/** @typedef {import('./logsquery.js').Scope} Scope */
/** @typedef {import('../core/catalog.js').Column} Column */

/** allRows is every row of a window, newest first: exports. @param {Scope} s @param {string} list */
export const allRows = (s, list) => `SELECT ${list} FROM ${table(s)}${conditions(s)} ORDER BY ${time(s)} DESC`;

/**
 * moreRows asks for older rows, from the instant of the last row on: the rows of this instant come again.
 * @param {Scope} s
 * @param {string} list
 * @param {bigint} last in the column's unit
 * @param {number} limit
 * @param {number} [offset]
 */
export function moreRows(s, list, last, limit, offset = 0) {
  const t = /** @type {Column} */ (s.roles.time);
  const edge =
    `${time(s)} <= ${sqltext.string(sqltext.instant(last * sqltext.unitNanos(t.type), sqltext.digitsOf(t.type)))}`;
  const from = { from: s.range.from, to: null };
  return `SELECT ${list} FROM ${table(s)}${sqltext.where(sqltext.within(t.name, from, t.type), edge,
    ...s.filters)} ORDER BY ${time(s)} DESC LIMIT ${limit}${offset ? ` OFFSET ${offset}` : ''}`;
}

/**
 * newestValues counts the values of a column as values does, in the newest rows only; a third column is the number of
 * these rows.
 * @param {Scope} s
 * @param {string} column
 * @param {number} rows
 * @param {number} limit
 */
export const newestValues = (s, column, rows,
  limit) =>
  `SELECT ${sqltext.name(column)}, count(*) AS n, sum(count(*)) OVER () FROM (SELECT ${sqltext.name(
    column)} FROM ${table(s)}${conditions(s)} ORDER BY ${time(
      s)} DESC LIMIT ${rows}) AS newest GROUP BY 1 ORDER BY 2 DESC LIMIT ${limit}`;

/**
 * presence counts the rows, those with a value of the column, and its different values.
 * @param {Scope} s
 * @param {string} column
 */
export const presence = (s,
  column) =>
  `SELECT count(*) AS rows, count(${sqltext.name(column)}) AS present, approx_distinct(${sqltext.name(
    column)}) AS d FROM ${table(s)}${conditions(s)}`;

/**
 * numbers asks for the least, greatest and mean value of a column, and for quantiles.
 * @param {Scope} s
 * @param {string} column
 */
export function numbers(s, column) {
  const c = sqltext.name(column);
  return `SELECT count(${c}), min(${c}), max(${c}), avg(${c}), approx_percentile_cont(${c}, 0.5), ` +
    `approx_percentile_cont(${c}, 0.9), approx_percentile_cont(${c}, 0.99) FROM ${table(s)}${conditions(s)}`;
}

/**
 * distribution counts the values of a column in twenty bars of equal width.
 * @param {Scope} s
 * @param {string} column
 * @param {number} low
 * @param {number} width
 */
export function distribution(s, column, low, width) {
  const c = sqltext.name(column);
  return `SELECT floor((${c} - ${low}) / ${width}) AS b, count(*) AS n FROM ${table(s)}${sqltext.where(conditions(s)
    .replace(/^ WHERE /, ''), `${c} IS NOT NULL`)} GROUP BY 1 ORDER BY 1`;
}

/** total counts the rows of a scope. @param {Scope} s */
export const total = (s) => `SELECT count(*) FROM ${table(s)}${conditions(s)}`;

/**
 * context asks for one of three parts: the rows before an instant, of it, or after it. They are apart because one
 * instant may have more rows than are wanted on either side.
 * @param {Scope} s
 * @param {string} list of columns
 * @param {string[]} stream conditions
 * @param {bigint} at in the column's unit
 * @param {'<'|'='|'>'} side
 * @param {number} limit
 */
export function context(s, list, stream, at, side, limit) {
  const t = /** @type {Column} */ (s.roles.time);
  const edge =
    `${time(s)} ${side} ${sqltext.string(sqltext.instant(at * sqltext.unitNanos(t.type), sqltext.digitsOf(t.type)))}`;
  return `SELECT ${list} FROM ${table(s)}${sqltext.where(...stream, edge)} ORDER BY ${time(s)}${side === '<' ? ' DESC'
    : ''} LIMIT ${limit}`;
}

/**
 * live asks for the newest rows of a live list.
 * @param {Scope} s
 * @param {bigint|null} after ns
 * @param {bigint|null} until ns
 * @param {number} limit
 */
export function live(s, after, until, limit) {
  const t = /** @type {Column} */ (s.roles.time);
  const edge = (/** @type {string} */ sign, /** @type {bigint|null} */ at) => at !== null &&
    `${time(s)} ${sign} ${sqltext.string(sqltext.instant(at, sqltext.digitsOf(t.type)))}`;
  return `SELECT * FROM ${table(s)}${sqltext.where(edge('>', after), edge('<=', until),
    ...s.filters)} ORDER BY ${time(s)} DESC LIMIT ${limit}`;
}

/** the parts of messages that vary: uuids, addresses, numbers, hex, quoted texts */
const variable =
  `[0-9a-fA-F]{8}-[0-9a-fA-F]{4}-[0-9a-fA-F]{4}-[0-9a-fA-F]{4}-[0-9a-fA-F]{12}|` +
  `"[^"]*"|''[^'']*''|0x[0-9a-fA-F]+|\\b[0-9a-fA-F]{8,}\\b|[0-9]+([.:,][0-9]+)*`;

/**
 * patterns counts messages by their form: the message with a star for each part that varies.
 * @param {Scope} s
 * @param {number} limit
 * @param {string} [rows] of which, all of the scope otherwise
 */
export function patterns(s, limit, rows = table(s) + conditions(s)) {
  const m = sqltext.name(/** @type {string} */ (s.roles.message));
  return `SELECT regexp_replace(${m}, '${variable}', '*', 'g') AS p, count(*) AS n, min(${time(s)}), max(${time(
    s)}), min(${m}) AS example FROM ${rows} GROUP BY 1 ORDER BY 2 DESC LIMIT ${limit}`;
}

/**
 * sampledPatterns counts patterns in the newest rows of each of some ranges, so that little is read.
 * @param {Scope} s
 * @param {number} limit
 * @param {{range: Scope['range'], rows: number}[]} of
 */
export function sampledPatterns(s, limit, of) {
  const list = `${sqltext.name(/** @type {string} */ (s.roles.message))}, ${time(s)}`;
  return patterns(s, limit,
    `(${of.map((p) => `(${rows({ ...s, range: p.range }, list, p.rows)})`).join(' UNION ALL ')}) AS sampled`);
}
