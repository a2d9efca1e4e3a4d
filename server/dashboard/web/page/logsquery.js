// Which column is what, and the statements of the Logs page that a first visit asks; the others are in logsparts.js.

import * as sqltext from '../core/sqltext.js';
import { interval, startOfDay, stepFor, day } from '../core/time.js';

/**
 * @typedef {import('../core/catalog.js').Column} Column
 * @typedef {object} Roles
 * @property {Column|null} time
 * @property {string|null} message
 * @property {string|null} level
 * @property {string|null} trace
 * @property {string|null} span
 * @property {string[]} stream
 *
 * @typedef {object} Scope the rows that a run looks at
 * @property {string} table
 * @property {Column[]} columns
 * @property {Roles} roles
 * @property {{from: bigint|null, to: bigint|null}} range
 * @property {string[]} filters conditions
 */

const messages = 'message msg body line log log_line text event'.split(' ');
const levelNames = 'level severity severity_text log_level loglevel lvl status_text'.split(' ');
const traces = 'trace_id traceId traceid'.split(' ');
const spans = 'span_id spanId spanid'.split(' ');
const streams =
  'service service_name app host hostname instance pod container namespace file filename source job'.split(' ');

/**
 * rolesOf chooses the columns by their names. What a user chose for the table has precedence.
 * @param {Column[]} columns
 * @param {Partial<Record<'message'|'level', string>>} [chosen]
 * @returns {Roles}
 */
export function rolesOf(columns, chosen = {}) {
  const named = (/** @type {string[]} */ names,
    /** @type {(c: Column) => boolean} */ ok = () => true) => names.map((n) =>
      columns.find((c) => c.name.toLowerCase() === n.toLowerCase() && ok(c))).find(Boolean)?.name ?? null;
  const has = (/** @type {string|undefined} */ n) => (n && columns.some((c) => c.name === n) ? n : null);
  const tags = columns.filter((c) => /^tag$/i.test(c.semantic) && !c.timeIndex).map((c) => c.name);
  const text = (/** @type {Column} */ c) => sqltext.isText(c.type);
  return {
    time: columns.find((c) => c.timeIndex) ?? null,
    message: has(chosen.message) ?? named(messages, text),
    level: has(chosen.level) ?? named(levelNames),
    trace: named(traces, text), span: named(spans, text),
    stream: tags.length > 0 ? tags.slice(0, 8)
      : streams.filter((s) => columns.some((c) => c.name === s && text(c))).slice(0, 5),
  };
}

/**
 * instantOf returns the instant in a name that logsrow.js gave to a row, ns; null for a text that is no name.
 * @param {string} name
 */
export const instantOf = (name) => (/^-?\d{1,19}\./.test(name) ? BigInt(name.slice(0, name.indexOf('.'))) : null);

/** conditions are the WHERE of a scope. @param {Scope} s */
export function conditions(s) {
  const t = s.roles.time;
  return sqltext.where(t && sqltext.within(t.name, s.range, t.type), ...s.filters);
}

/** table returns the table of a scope. @param {Scope} s */
export const table = (s) => sqltext.table(s.table);
/** time returns the time column of a scope. @param {Scope} s */
export const time = (s) => sqltext.name(/** @type {Column} */ (s.roles.time).name);

/** For a table with more columns than this, only the columns that are shown are asked for. */
export const mostColumns = 300;

/**
 * list is what rows are asked for: all columns, or those shown when there are very many.
 * @param {Scope} s
 * @param {string[]} shown
 */
export function columnList(s, shown) {
  if (s.columns.length <= mostColumns) return '*';
  const wanted = new Set([s.roles.time?.name, s.roles.level, s.roles.message, s.roles.trace, ...s.roles.stream,
    ...shown]);
  return s.columns.filter((c) => wanted.has(c.name)).map((c) => sqltext.name(c.name)).join(', ');
}

/** rows asks for the newest rows. @param {Scope} s @param {string} list @param {number} limit */
export const rows = (s, list, limit) =>
  `SELECT ${list} FROM ${table(s)}${conditions(s)} ORDER BY ${time(s)} DESC LIMIT ${limit}`;

/**
 * bins is the step of a histogram and where its first bucket begins; long steps begin at local midnight.
 * @param {{from: bigint, to: bigint}} range
 * @param {string} zone
 */
export function bins(range, zone) {
  const step = stepFor(range.to - range.from);
  if (step >= day) return { step, origin: startOfDay(range.from, zone) };
  // Shorter steps divide the day: they count from the midnight before, so that bars stand at round times of the zone.
  const midnight = startOfDay(range.from, zone);
  return { step, origin: midnight + ((range.from - midnight) / step) * step };
}

/**
 * histogram counts rows by time, and by the values of split if there is one. top lists the values that are counted
 * apart, when there are too many: the others count as '(other)'.
 * @param {Scope} s
 * @param {{step: bigint, origin: bigint}} bin
 * @param {string|null} split
 * @param {string[]|null} top
 */
export function histogram(s, bin, split, top) {
  const key = split === null ? `'all'` : splitKey(s, split, top);
  return `SELECT date_bin(INTERVAL '${interval(bin.step)}', ${time(s)}, TIMESTAMP '${sqltext.instant(bin.origin,
    9)}') AS t, ${key} AS k, count(*) AS n FROM ${table(s)}${conditions(s)} GROUP BY 1, 2 ORDER BY 1`;
}

/** @param {Scope} s @param {string} split @param {string[]|null} top */
function splitKey(s, split, top) {
  const c = sqltext.name(split);
  if (!top) return c;
  const type = s.columns.find((f) => f.name === split)?.type ?? 'string';
  return top.length === 0 ? c
    : `CASE WHEN ${c} IN (${top.map((v) => sqltext.value(v, type))
      .join(', ')}) THEN CAST(${c} AS STRING) WHEN ${c} IS NULL THEN NULL ELSE '(other)' END`;
}

/** values counts the most frequent values of a column. @param {Scope} s @param {string} column @param {number} limit */
export const values = (s, column,
  limit) =>
  `SELECT ${sqltext.name(column)} AS v, count(*) AS n FROM ${table(s)}${conditions(
    s)} GROUP BY 1 ORDER BY 2 DESC LIMIT ${limit}`;

/**
 * span asks for the first and last time of a table, and for its rows.
 * @param {string} name
 * @param {string} timeColumn
 */
export const span = (name, timeColumn) =>
  `SELECT min(${sqltext.name(timeColumn)}), max(${sqltext.name(timeColumn)}), count(*) FROM ${sqltext.table(name)}`;
