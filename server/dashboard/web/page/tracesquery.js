// The statements of the Traces page, and the conditions of a search for traces.

import { list, query } from '../core/api.js';
import * as catalog from '../core/catalog.js';
import { search } from '../core/search.js';
import * as sqltext from '../core/sqltext.js';
import { day, hour } from '../core/time.js';

export const defaultTable = 'opentelemetry_traces';
/** A trace is drawn up to this many spans. */
export const mostSpans = 50_000;
/** The most matching spans that are looked at for traces, and drawn as dots. */
export const mostDots = 5000;
export const mostLogs = 1000;
const needed = ['trace_id', 'span_id', 'parent_span_id', 'duration_nano'];
const failed = `"span_status_code" = 'STATUS_CODE_ERROR'`;
const units = { ns: 1, us: 1e3, 'µs': 1e3, ms: 1e6, s: 1e9, m: 60e9, h: 3600e9 };

/**
 * @typedef {{trace: string, time: bigint, duration: number, service: string, operation: string, error: boolean, span:
 *   string}} Dot
 */
/**
 * @typedef {{id: string, service: string, operation: string, start: bigint, duration: number, spans: number, errors:
 *   number, backward: number, services: string[]}} Summary backward spans end before they start
 */

/** The most rows that come over from the worker at a time: more would hold up the page. */
const rowsAtOnce = 5000;

/**
 * taken returns all rows of an answer and frees the worker's memory of them.
 * @param {import('../core/rows.js').Rows} rows
 * @returns {Promise<any[][]>}
 */
async function taken(rows) {
  /** @type {any[][]} */
  const list = [];
  for (let from = 0; from < rows.count; from += rowsAtOnce)
    for (const row of await rows.slice(from, Math.min(rows.count, from + rowsAtOnce))) list.push(row);
  rows.free();
  return list;
}

/**
 * traceTables lists the tables that hold spans, the usual one first.
 * @param {string} db
 * @returns {Promise<string[]>}
 */
export async function traceTables(db) {
  const rows = await list(
    `SELECT table_name FROM information_schema.columns WHERE table_schema = ${sqltext.string(
      db)} AND column_name IN (${needed.map(sqltext.string)
        .join(', ')}) GROUP BY table_name HAVING count(*) = ${needed.length} ORDER BY table_name`,
        { db, background: true });
  return rows.map((r) => String(r[0])).sort((a, b) => Number(b === defaultTable) - Number(a === defaultTable));
}

/** nanos reads a length of time like 1.5s; null when it is none. @param {string} text @returns {number|null} */
export function nanos(text) {
  const m = /^\s*(\d+(?:\.\d+)?)\s*(ns|us|µs|ms|s|m|h)\s*$/.exec(text);
  return m ? Math.round(Number(m[1]) * units[/** @type {keyof typeof units} */ (m[2])]) : null;
}

/**
 * named finds the column that a name stands for: a name that is no column is tried as an attribute of the span or of
 * its resource.
 * @param {catalog.Column[]} columns
 * @param {string} name
 */
export const named = (columns, name) => ['', 'span_attributes.',
  'resource_attributes.'].map((prefix) => columns.find((c) => c.name === prefix + name)).find(Boolean);

/** understand reads the search line. @param {string} text @param {catalog.Column[]} columns */
export function understand(text, columns) {
  for (;;) {
    const found = search(text, { message: 'span_name', fields: columns });
    const p = found.problem;
    const longer = p?.near && named(columns, text.slice(p.from, p.to))?.name;
    if (!p || !longer) return found;
    text = text.slice(0, p.from) + longer + text.slice(p.to);
  }
}

/**
 * conditions returns the conditions of the form.
 * @param {Record<string, any>} v values of the page's state
 * @param {catalog.Column[]} columns
 * @param {string} searched
 * @returns {string[]}
 */
export function conditions(v, columns, searched) {
  const parts = [];
  if (v.svc) parts.push(sqltext.equals('service_name', v.svc, 'string'));
  if (v.op) parts.push(sqltext.equals('span_name', v.op, 'string'));
  if (v.kind) parts.push(sqltext.equals('span_kind', 'SPAN_KIND_' + v.kind.toUpperCase(), 'string'));
  if (v.st === 'error') parts.push(failed);
  if (v.st === 'ok') parts.push(sqltext.differs('span_status_code', 'STATUS_CODE_ERROR', 'string'));
  const least = nanos(v.min), most = nanos(v.max);
  if (least !== null) parts.push(`"duration_nano" >= ${least}`);
  if (most !== null) parts.push(`"duration_nano" <= ${most}`);
  if (searched) parts.push(searched);
  return parts;
}

/** timeOf is the time index of a table of spans. @param {catalog.Column[]} columns */
const timeOf = (columns) => columns.find((c) => c.timeIndex) ?? { name: 'timestamp', type: 'timestamp(9)' };

/**
 * @param {string} table
 * @param {catalog.Column[]} columns
 * @param {{from: bigint|null, to: bigint|null}} range
 * @param {string[]} filters
 */
const conditionsOf = (table, columns, range, filters) => {
  const time = timeOf(columns);
  return `${sqltext.table(table)}${sqltext.where(sqltext.within(time.name, range, time.type), ...filters)}`;
};

/**
 * dotsText is the statement that finds matching spans.
 * @param {string} table
 * @param {catalog.Column[]} columns
 * @param {{from: bigint|null, to: bigint|null}} range
 * @param {string[]} filters
 * @param {string} order
 * @param {number} limit
 */
export const dotsText = (table, columns, range, filters, order = sqltext.name(timeOf(columns).name) + ' DESC',
  limit = mostDots) =>
  `SELECT trace_id, ${sqltext.name(
    timeOf(columns).name)}, duration_nano, service_name, span_name, span_status_code, span_id FROM ${conditionsOf(table,
      columns, range, filters)} ORDER BY ${order} LIMIT ${limit}`;

/**
 * dotsOf runs the statement of dotsText.
 * @param {catalog.Column[]} columns
 * @param {string} statement
 * @param {AbortSignal} signal
 * @returns {Promise<Dot[]>}
 */
async function dotsOf(columns, statement, signal) {
  const rows = await taken(await query(statement, { signal })), unit = sqltext.unitNanos(timeOf(columns).type);
  return rows.map((r) => ({ trace: String(r[0]), time: BigInt(r[1]) * unit, duration: Number(r[2]),
    service: String(r[3] ?? ''), operation: String(r[4] ?? ''), error: r[5] === 'STATUS_CODE_ERROR',
    span: String(r[6]) }));
}

/**
 * alike finds other traces that begin with the same operation: the slowest and the quickest of a day around.
 * @param {string} table
 * @param {{name: string, type: string}[]} columns
 * @param {{service: string, name: string}} root
 * @param {bigint} at
 * @param {AbortSignal} signal
 * @returns {Promise<Dot[]>}
 */
export async function alike(table, columns, root, at, signal) {
  const known = /** @type {catalog.Column[]} */ (columns.map((c) =>
    ({ ...c, semantic: '', timeIndex: c.name === 'timestamp' })));
  const filters = [sqltext.equals('service_name', root.service, 'string'),
    sqltext.equals('span_name', root.name, 'string'), '"parent_span_id" IS NULL'];
  const range = { from: at - day, to: at + day };
  const both = await Promise.all(['DESC', 'ASC'].map((way) =>
    dotsOf(known, dotsText(table, known, range, filters, `duration_nano ${way}`, 9), signal)));
  const seen = new Set();
  return [...both[0].slice(0, 8),
    ...both[1].slice(0, 8).reverse()].filter((d) => !seen.has(d.trace) && seen.add(d.trace));
}

/** When not all spans are drawn, this many of the slowest and of the failed ones always are. */
const mostSlow = 200, mostErrors = 1000;

/**
 * Sample are the spans that are drawn, of how many; errors counts those that failed.
 * @typedef {{list: Dot[], total: number, errors: number, all: boolean}} Sample
 */

/**
 * dots asks for matching spans: the first ones for the list of traces, and those that are drawn. Where there are too
 * many to draw all, these are a sample of the whole range, with the slowest and the failed ones.
 * @param {string} table
 * @param {catalog.Column[]} columns
 * @param {{from: bigint|null, to: bigint|null}} range
 * @param {string[]} filters
 * @param {boolean} slowest
 * @param {AbortSignal} signal
 * @returns {Promise<{first: Dot[], spans: Sample}>}
 */
export async function dots(table, columns, range, filters, slowest, signal) {
  const ask = (/** @type {string[]} */ more, /** @type {string|undefined} */ order, /** @type {number} */ limit) =>
    dotsOf(columns, dotsText(table, columns, range, [...filters, ...more], order, limit), signal);
  const slow = 'duration_nano DESC', first = await ask([], slowest ? slow : undefined, mostDots);
  if (first.length < mostDots)
    return { first, spans: { list: first, total: first.length, errors: first.filter((d) => d.error).length,
      all: true } };
  const [[total, errors]] = await list(
    `SELECT count(*), count(*) FILTER (WHERE ${failed}) FROM ${conditionsOf(table, columns, range, filters)}`,
    { signal });
  // chosen at random, so that about n of them come
  const share = (/** @type {number} */ n, /** @type {number} */ of) => (of > n ? [`random() < ${n / of}`] : []);
  const parts = await Promise.all([ask(share(mostDots, Number(total)), undefined, 2 * mostDots),
    ask([], slow, mostSlow), ask([failed, ...share(mostErrors, Number(errors))], undefined, 2 * mostErrors)]);
  const once = new Map(parts.flat().map((d) => [`${d.trace} ${d.span}`, d]));
  return { first, spans: { list: [...once.values()], total: Number(total), errors: Number(errors), all: false } };
}

/**
 * @typedef {{service: string, operation: string, n: number, errors: number, p50: number, p95: number, p99: number}}
 *   Operation times in ns
 */

/**
 * A list that may be cut: its shown part, and its full length.
 * @template T
 * @typedef {{list: T[], total: number}} Cut
 */

const mostOperations = 200;

/**
 * operationsText is the statement that counts calls, failures and durations by service and operation.
 * @param {string} table
 * @param {catalog.Column[]} columns
 * @param {{from: bigint|null, to: bigint|null}} range
 * @param {string[]} filters
 */
export const operationsText = (table, columns, range,
  filters) =>
  `SELECT service_name, span_name, count(*) AS n, count(*) FILTER (WHERE ${failed}) AS e, ` +
  `approx_percentile_cont(duration_nano, 0.5) AS p50, approx_percentile_cont(duration_nano, 0.95) AS p95, ` +
  `approx_percentile_cont(duration_nano, 0.99) AS p99 FROM ${conditionsOf(table, columns, range, filters)} ` +
  `GROUP BY 1, 2 ORDER BY 3 DESC LIMIT ${mostOperations}`;

/**
 * overview runs the statement of operationsText.
 * @param {string} statement
 * @param {AbortSignal} signal
 * @returns {Promise<Cut<Operation>>}
 */
export const overview = (statement, signal) =>
  cutOf(statement, mostOperations, signal, ([service, operation, n, errors, p50, p95, p99]) =>
  ({ service: String(service ?? ''), operation: String(operation ?? ''), n: Number(n), errors: Number(errors),
    p50: Number(p50), p95: Number(p95), p99: Number(p99) }));

/**
 * cutOf runs a statement that groups. If it reached its limit, cutOf asks how many groups there are in all.
 * @template T
 * @param {string} statement
 * @param {number} most
 * @param {AbortSignal} signal
 * @param {(row: any[]) => T} read
 * @returns {Promise<Cut<T>>}
 */
async function cutOf(statement, most, signal, read) {
  const rows = await taken(await query(statement, { signal }));
  let total = rows.length;
  if (total === most) {
    total = Number((await list(`SELECT count(*) FROM (${statement.replace(/ ORDER BY \d DESC LIMIT \d+$/, '')}) AS g`,
      { signal, background: true }))[0][0]);
  }
  return { list: rows.map(read), total };
}

/**
 * @typedef {{from: string, to: string, calls: number, errors: number, p95: number}} Call between services, p95 in ns
 */

const mostCalls = 300;

/**
 * callsText finds calls between services: spans with a parent of another service.
 * @param {string} table
 * @param {catalog.Column[]} columns
 * @param {{from: bigint|null, to: bigint|null}} range
 */
export function callsText(table, columns, range) {
  const time = timeOf(columns), t = sqltext.table(table);
  const wider = { from: range.from === null ? null : range.from - hour, to: range.to };
  const of = (/** @type {string} */ alias, /** @type {{from: bigint|null, to: bigint|null}} */ r) =>
    sqltext.within(time.name, r, time.type).replaceAll(sqltext.name(time.name), `${alias}.${sqltext.name(time.name)}`);
  return `SELECT p.service_name, c.service_name, count(*) AS calls, count(*) FILTER (WHERE c.${failed}) AS errors, ` +
    `approx_percentile_cont(c.duration_nano, 0.95) AS p95 FROM ${t} c JOIN ${t} p ON c.trace_id = p.trace_id ` +
    `AND c.parent_span_id = p.span_id` +
    `${sqltext.where(of('c', range), of('p', wider), 'p.service_name <> c.service_name')} GROUP BY 1, 2 ` +
    `ORDER BY 3 DESC LIMIT ${mostCalls}`;
}

/**
 * calls runs the statement of callsText.
 * @param {string} statement
 * @param {AbortSignal} signal
 * @returns {Promise<Cut<Call>>}
 */
export const calls = (statement, signal) => cutOf(statement, mostCalls, signal,
  ([from, to, n, errors, p95]) =>
  ({ from: String(from ?? ''), to: String(to ?? ''), calls: Number(n), errors: Number(errors), p95: Number(p95) }));

const mostServices = 200;

/**
 * servicesText sums the spans of each service.
 * @param {string} table
 * @param {catalog.Column[]} columns
 * @param {{from: bigint|null, to: bigint|null}} range
 */
export const servicesText = (table, columns, range) =>
  `SELECT service_name, count(*) AS n, count(*) FILTER (WHERE ${failed}) AS e, ` +
  `approx_percentile_cont(duration_nano, 0.5) AS p50, approx_percentile_cont(duration_nano, 0.95) AS p95 ` +
  `FROM ${conditionsOf(table, columns, range, [])} GROUP BY 1 ORDER BY 2 DESC LIMIT ${mostServices}`;

/**
 * serviceSums runs the statement of servicesText.
 * @param {string} statement
 * @param {AbortSignal} signal
 * @returns {Promise<Cut<{service: string, n: number, errors: number, p50: number, p95: number}>>}
 */
export const serviceSums = (statement, signal) => cutOf(statement, mostServices, signal,
  ([service, n, errors, p50, p95]) =>
  ({ service: String(service ?? ''), n: Number(n), errors: Number(errors), p50: Number(p50), p95: Number(p95) }));

/**
 * newest is when the last span of a table began.
 * @param {string} table
 * @param {catalog.Column[]} columns
 * @returns {Promise<bigint|null>}
 */
export async function newest(table, columns) {
  const time = timeOf(columns),
    [row] = await list(`SELECT max(${sqltext.name(time.name)}) FROM ${sqltext.table(table)}`, { background: true });
  return row && row[0] !== null ? BigInt(row[0]) * sqltext.unitNanos(time.type) : null;
}

/**
 * summaries describes traces, in the order of their ids.
 * @param {string} table
 * @param {catalog.Column[]} columns
 * @param {{from: bigint|null, to: bigint|null}} range
 * @param {string[]} ids
 * @param {AbortSignal} signal
 * @returns {Promise<Summary[]>}
 */
export async function summaries(table, columns, range, ids, signal) {
  if (ids.length === 0) return [];
  const time = timeOf(columns), t = sqltext.name(time.name), unit = sqltext.unitNanos(time.type);
  const wider = { from: range.from === null ? null : range.from - hour, to: range.to === null ? null
    : range.to + hour };
  const where = sqltext.where(`"trace_id" IN (${ids.map(sqltext.string).join(', ')})`,
    sqltext.within(time.name, wider, time.type));
  const [groups, roots] = await Promise.all([
    query(
      `SELECT trace_id, service_name, min(${t}), max(timestamp_end), count(*), count(*) FILTER (WHERE ${failed}), ` +
      `count(*) FILTER (WHERE timestamp_end < ${t}) FROM ${sqltext.table(table)}${where} ` +
      `GROUP BY 1, 2 ORDER BY 3`, { signal }).then(taken),
    query(
      `SELECT trace_id, service_name, span_name FROM ${sqltext.table(
        table)}${where} AND parent_span_id IS NULL ORDER BY ${t} DESC`, { signal }).then(taken),
  ]);
  /** @type {Map<string, Summary & {end: bigint}>} */
  const found = new Map();
  for (const [id, service, from, to, spans, errors, backward] of groups) {
    const start = BigInt(from) * unit, end = BigInt(to) * unit;
    /** @type {Summary & {end: bigint}} */
    const s = found.get(id) ??
      { id, service: '', operation: 'no root span', start, end, duration: 0, spans: 0, errors: 0, backward: 0,
        services: [] };
    if (start < s.start) s.start = start;
    if (end > s.end) s.end = end;
    s.spans += Number(spans);
    s.errors += Number(errors);
    s.backward += Number(backward);
    s.services.push(String(service ?? ''));
    s.duration = Math.max(0, Number(s.end - s.start)); // what ends before it starts takes no time
    found.set(id, s);
  }
  for (const [id, service, operation] of roots)
    Object.assign(found.get(String(id)) ?? {}, { service: String(service ?? ''), operation: String(operation ?? '') });
  return ids.flatMap((id) => found.get(id) ?? []);
}

/** backwards is the note that spans end before they start. @param {number} n */
export const backwards = (n) => (n === 1 ? '1 span ends before it starts' : `${n} spans end before they start`);

/**
 * trace asks for the spans of one trace, from the first of the tables that has some.
 * @param {string[]} tables
 * @param {string} id
 * @param {AbortSignal} signal
 */
export async function trace(tables, id, signal) {
  for (const table of tables) {
    const rows = await query(
      `SELECT * FROM ${sqltext.table(table)} WHERE "trace_id" = ${sqltext.string(
        id)} ORDER BY "timestamp" LIMIT ${mostSpans + 1}`, { signal });
    if (rows.count > 0) return { table, columns: rows.columns, rows: await taken(rows) };
  }
  return null;
}

/** Services and operations to choose from, at most. */
export const mostChoices = 1000;

/**
 * services lists the services that sent spans, at most one more than can be chosen: then there are more.
 * @param {string} table
 * @param {string} db
 * @returns {Promise<string[]>}
 */
export async function services(table, db) {
  const side = (await catalog.tables(db)).some((t) => t.name === `${table}_services`);
  return (await list(
    `SELECT DISTINCT service_name FROM ${sqltext.table(side ? `${table}_services`
      : table)} ORDER BY 1 LIMIT ${mostChoices + 1}`,
      { background: true })).map((r) => String(r[0] ?? '')).filter(Boolean);
}

/**
 * operations lists the operations of a service.
 * @param {string} table
 * @param {string} db
 * @param {string} service
 * @returns {Promise<string[]>}
 */
export async function operations(table, db, service) {
  const side = (await catalog.tables(db)).some((t) => t.name === `${table}_operations`);
  const where = service ? ` WHERE ${sqltext.equals('service_name', service, 'string')}` : '';
  return (await list(
    `SELECT DISTINCT span_name FROM ${sqltext.table(side ? `${table}_operations`
      : table)}${where} ORDER BY 1 LIMIT ${mostChoices + 1}`,
      { background: true })).map((r) => String(r[0] ?? '')).filter(Boolean);
}

/** logTables lists the tables with a trace_id that are not spans. @param {string} db @returns {Promise<string[]>} */
export async function logTables(db) {
  const spans = await traceTables(db);
  const rows = await list(
    `SELECT DISTINCT table_name FROM information_schema.columns WHERE table_schema = ${sqltext.string(
      db)} AND column_name = 'trace_id' ORDER BY 1`, { db, background: true });
  return rows.map((r) => String(r[0])).filter((t) => !spans.includes(t));
}

/**
 * logs asks one table for the lines of a trace.
 * @param {string} db
 * @param {string} table
 * @param {string} id
 * @param {{from: bigint, to: bigint}} range
 * @param {AbortSignal} signal
 */
export async function logs(db, table, id, range, signal) {
  const columns = await catalog.columns(db, table);
  const time = columns.find((c) => c.timeIndex);
  if (!time) return null;
  const where = sqltext.where(sqltext.equals('trace_id', id, 'string'), sqltext.within(time.name, range, time.type));
  const rows = await query(
    `SELECT * FROM ${sqltext.table(table)}${where} ORDER BY ${sqltext.name(time.name)} LIMIT ${mostLogs}`, { signal });
  return { table, columns, time, found: rows.columns, rows: await taken(rows) };
}
