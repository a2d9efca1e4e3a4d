// The requests of the Metrics page: the metrics API as POST forms, and the same as text that can be pasted.

import { json, list, request, root, shellQuote } from '../core/api.js';
import { ask } from '../core/aside.js';
import { user } from '../core/auth.js';
import * as catalog from '../core/catalog.js';
import { small } from '../core/rows.js';
import { readers } from '../core/series.js';
import * as sqltext from '../core/sqltext.js';
import { db } from '../core/state.js';

const base = 'v1/metricsapi/api/v1/';

/** @typedef {Record<string, string|number|string[]|undefined>} Form */
/** @typedef {{data: any, notes: string[]}} Answer */

/** form writes the fields of a request; a list is a field several times. @param {Form} fields */
function form(fields) {
  const body = new URLSearchParams();
  for (const [k, v] of Object.entries(fields)) {
    for (const one of Array.isArray(v) ? v : v === undefined ? [] : [v]) body.append(k, String(one));
  }
  return body;
}

/**
 * post sends a request to an endpoint that takes forms.
 * @param {string} path
 * @param {Form} fields
 * @param {{signal?: AbortSignal, background?: boolean}} [options]
 * @returns {Promise<Answer>}
 */
export async function post(path, fields, options = {}) {
  const body = await json(base + path, { ...options, query: { db: db.value }, method: 'POST', body: form(fields) });
  return { data: body.data, notes: [...body.warnings ?? [], ...body.infos ?? []] };
}

/**
 * read asks an endpoint and has its answer read, in the worker when it is large.
 * @template {keyof typeof readers} R
 * @param {R} reader @param {string} path @param {Form} fields @param {any[]} args of the reader behind the body
 * @param {{signal?: AbortSignal, background?: boolean, db?: string}} [options] db: another one than that of the page
 * @returns {Promise<ReturnType<(typeof readers)[R]>>}
 */
export async function read(reader, path, fields, args, { db: of = db.value, ...options } = {}) {
  const answer = await request(base + path,
    { ...options, query: { db: of }, method: 'POST', body: form(fields) });
  const body = await answer.arrayBuffer();
  return body.byteLength <= small ? /** @type {any} */ (readers[reader])(body, ...args)
    : ask(0, reader, [body, ...args], [body]);
}

/**
 * get sends a request to an endpoint that takes parameters in its address only.
 * @param {string} path
 * @param {Form} fields
 * @returns {Promise<Answer>}
 */
export async function get(path, fields = {}) {
  const body = await json(`${base}${path}?${form(fields)}`, { query: { db: db.value }, background: true });
  return { data: body.data, notes: body.warnings ?? [] };
}

/** curl is a request for a terminal, without the password. @param {string} path @param {Form} fields */
export function curl(path, fields) {
  const url = new URL(base + path, root);
  url.searchParams.set('db', db.value);
  return ['curl', user.value ? '-u "$USER"' : '', shellQuote(url.href),
    ...[...form(fields)].map(([k, v]) => '--data-urlencode ' + shellQuote(`${k}=${v}`))].filter(Boolean).join(' ');
}

/** quoted writes a text as PromQL wants it. @param {string} text */
export const quoted = (text) => '"' + text.replaceAll('\\', '\\\\').replaceAll('"', '\\"').replaceAll('\n', '\\n') +
  '"';

const plain = /^[a-zA-Z_:][a-zA-Z0-9_:]*$/;
const plainLabel = /^[a-zA-Z_][a-zA-Z0-9_]*$/;

/** label writes the name of a label. @param {string} name */
export const label = (name) => (plainLabel.test(name) ? name : quoted(name));

/** @typedef {{name: string, value: string, type: string}} Matcher */

/** selector writes a metric with its matchers. @param {string} metric @param {Matcher[]} [matchers] */
export function selector(metric, matchers = []) {
  const list = matchers.filter((m) => m.name !== '__name__' || m.type !== '=' || m.value !== metric)
    .map((m) => `${label(m.name)}${m.type}${quoted(m.value)}`);
  if (metric && !plain.test(metric)) list.unshift(quoted(metric));
  return (plain.test(metric) ? metric : '') + (list.length > 0 || !plain.test(metric) ? `{${list.join(', ')}}` : '');
}

/**
 * ofService are the labels that may say which service sends a series, as matchers; job may have its namespace in front.
 * @param {string} service
 * @returns {Matcher[]}
 */
export const ofService = (service) => [{ name: 'job', type: '=~', value: `(.*/)?${sqltext.regex(service)}` },
  ...['service_name', 'service', 'app'].map((name) => ({ name, type: '=', value: service }))];

/**
 * names lists metrics with a text in their name, at most so many, of one service or of all.
 * @param {string} text
 * @param {number} limit
 * @param {string} [service]
 * @returns {Promise<string[]>}
 */
export async function names(text, limit, service = '') {
  const named = text ? [{ name: '__name__', type: '=~', value: `(?i).*${sqltext.regex(text)}.*` }] : [];
  const match = service ? ofService(service).map((m) => selector('', [...named, m])) : text ? [selector('', named)]
    : [];
  return (await get('label/__name__/values', { 'match[]': match, limit })).data;
}

/** The most columns of other tables that are looked at. */
const mostColumns = 20_000;

/** @typedef {{name: string, fields: string[]}} TableMetric */

/**
 * tableMetrics lists the other tables that can be asked like metrics: those with a time and numbers. cut: there are
 * more.
 * @returns {Promise<{list: TableMetric[], cut: boolean}>}
 */
export async function tableMetrics() {
  const here = `table_schema = ${sqltext.string(db.value)}`;
  const rows = await list(
    `SELECT table_name, column_name, data_type, semantic_type FROM information_schema.columns WHERE ${here} ` +
    `AND semantic_type <> 'TAG' AND table_name NOT IN (SELECT table_name FROM information_schema.tables ` +
    `WHERE ${here} AND engine = 'metric') ORDER BY table_name, ordinal_position ` +
    `LIMIT ${mostColumns}`, { db: db.value, background: true });
  const metric = new Set(await names('', 10_000)); // metrics may lie in tables of other engines, too
  /** @type {Map<string, TableMetric & {time: boolean}>} */
  const tables = new Map();
  for (const [table, column, type, semantic] of rows) {
    if (metric.has(table)) continue;
    const t = tables.get(table) ?? { name: String(table), fields: [], time: false };
    if (semantic === 'TIMESTAMP') t.time = true;
    if (semantic === 'FIELD' && sqltext.isNumeric(type)) t.fields.push(column);
    tables.set(table, t);
  }
  return { list: [...tables.values()].filter((t) => t.time && t.fields.length > 0), cut: rows.length === mostColumns };
}

/** anyMetric reports whether there is something to draw. */
export const anyMetric = async () => (await names('', 1)).length > 0 || (await tableMetrics()).list.length > 0;

/** labelName is the name of a label in an address. @param {string} name */
const labelName = (name) => (plainLabel.test(name) ? name
  : 'U__' + [...name].map((c) => (c === '_' ? '__' : /[a-zA-Z0-9]/.test(c) ? c
    : `_${/** @type {number} */ (c.codePointAt(0)).toString(16)}_`)).join(''));

/** values lists the values of a label. @param {string} name @param {string} [metric] @returns {Promise<string[]>} */
export async function values(name, metric) {
  if (!metric && name !== '__name__') return [];
  return (await get(`label/${encodeURIComponent(labelName(name))}/values`,
    { 'match[]': metric ? [selector(metric)] : [], limit: 1000 })).data;
}

/**
 * @type {{db: string, at: number, value: Promise<Record<string, {type: string, help: string, unit?: string}[]>>}|null}
 */
let known = null;
/** metadata returns the senders' descriptions of their metrics, asked once a minute. */
export function metadata() {
  if (!known || known.db !== db.value || Date.now() - known.at > 60_000) {
    known = { db: db.value, at: Date.now(), value: get('metadata', { limit: 10_000 }).then((a) => a.data) };
    known.value.catch(() => { known = null; });
  }
  return known.value;
}

/**
 * knownOf returns what is known of metrics: what their senders said of them, or else whether their values are
 * histograms.
 * @param {string[]} list
 */
export async function knownOf(list) {
  const known = { ...await metadata() };
  const unsaid = [...new Set(list)].filter((n) => n && !known[n]).slice(0, 8);
  const columns = await Promise.all(unsaid.map((n) => catalog.columns(db.value, n)));
  unsaid.forEach((n, i) => {
    if (columns[i].some((c) => c.name === 'service_native_histogram')) known[n] = [{ type: 'histogram', help: '' }];
  });
  return known;
}

/** client feeds the completion of the editor. */
export const client = {
  /** @param {string} [metric] @returns {Promise<string[]>} */
  labelNames: async (metric) =>
    (await post('labels', { 'match[]': metric ? [selector(metric)] : [] }, { background: true })).data,
  /** @param {string} name @param {string} [metric] */
  labelValues: (name, metric) => values(name, metric),
  metricMetadata: metadata,
  /** @param {string} metric @returns {Promise<Map<string, string>[]>} */
  series: async (metric) => (await post('series', { 'match[]': [selector(metric)], limit: 1000 },
    { background: true })).data.map((/** @type {any} */ s) => new Map(Object.entries(s))),
  /** @param {string} [prefix] */
  metricNames: (prefix) => names(prefix ?? '', 1000),
  flags: async () => ({}), // the server has no flags
};
