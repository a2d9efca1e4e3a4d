// Stored pipelines, and trials of documents.

import { json, list, request } from './api.js';
import { tables } from './catalog.js';
import * as sqltext from './sqltext.js';
import { parse } from './lossless.js';
import { mediaTypes } from './samples.js';
import { showTime } from './time.js';

/** A trial takes so many entries. */
export const mostEntries = 10;

/** builtIn are the pipelines that need no document. */
export const builtIn = [
  { name: 'service_identity', text: 'Every field of an entry becomes a column.' },
  { name: 'service_trace_v1', text: 'Spans of traces, as the trace page reads them.' },
];

/** @typedef {{version: string, type: string, size: number}} Version newest first */
/** @typedef {{name: string, versions: Version[]}} Stored */

/** any reports whether a pipeline was ever stored: the table is made with the first. */
const any = async () => (await tables('service_private')).some((t) => t.name === 'pipelines');

/** names lists the stored pipelines. @returns {Promise<string[]>} */
export async function names() {
  if (!await any()) return [];
  return (await list('SELECT DISTINCT name FROM service_private.pipelines ORDER BY name',
    { background: true })).map((r) => String(r[0]));
}

/** load lists the stored pipelines with their versions. @param {AbortSignal} [signal] @returns {Promise<Stored[]>} */
export async function load(signal) {
  if (!await any()) return [];
  const rows = await list(
    'SELECT name, created_at, content_type, octet_length(pipeline) FROM service_private.pipelines ' +
    'ORDER BY name, created_at DESC', { signal, background: true });
  /** @type {Stored[]} */
  const found = [];
  for (const [name, at, type, size] of rows) {
    if (found[found.length - 1]?.name !== name) found.push({ name, versions: [] });
    found[found.length - 1].versions.push({ version: showTime(BigInt(at), 9, 'UTC'), type, size: Number(size) });
  }
  return found;
}

const path = (/** @type {string} */ name) => 'v1/pipelines/' + encodeURIComponent(name);

/**
 * read gives the text of a version.
 * @param {string} name
 * @param {string} [version] the newest when left out
 * @param {AbortSignal} [signal]
 * @returns {Promise<string>}
 */
export async function read(name, version, signal) {
  return (await json(path(name), { query: { version }, signal })).pipelines[0].pipeline;
}

/**
 * save stores a new version and returns it, with the server's warnings.
 * @param {string} name
 * @param {string} document
 * @returns {Promise<{version: string, warnings: string[]}>}
 */
export async function save(name, document) {
  const answer = await json(path(name),
    { method: 'POST', body: document, headers: { 'Content-Type': 'application/x-yaml' }, retry: false });
  return { version: answer.pipelines[0].version, warnings: answer.warnings ?? [] };
}

/** remove deletes a version. @param {string} name @param {string} version */
export const remove = (name, version) => request(path(name), { method: 'DELETE', query: { version }, retry: false });

/**
 * ddl is the statement that makes the table of a pipeline.
 * @param {string} name
 * @param {string} table
 * @param {AbortSignal} signal
 * @returns {Promise<{sql: string, message?: string}>}
 */
export const ddl = async (name, table, signal) => (await json(path(name) + '/ddl', { query: { table }, signal })).sql;

/**
 * @typedef {{processor: string, index: number, pipeline?: string, after?: any}} Step
 * @typedef {{entry: number, error?: string, rows?: {table_name: string, row:
 *   import('../page/drytables.js').DryCell[]}[], steps?: Step[], before?: any}} Entry before: as the first processor
 *   got it
 * @typedef {{tables: import('../page/drytables.js').DryTable[], entries: Entry[], warnings: string[]}} Trial
 */

/**
 * dryRun asks for the rows that entries would become. Long integers of the answer are text, with all digits.
 * @param {import('./api.js').RequestOptions} options
 * @returns {Promise<any>}
 */
export const dryRun = async (options) =>
  parse(await (await request('v1/pipelines/dryrun', { method: 'POST', ...options })).text());

/**
 * trial runs samples through a document, or through a stored version, and returns the outcome of each entry.
 * @param {{document?: string, name?: string, version?: string}} what
 * @param {string} data
 * @param {import('./samples.js').Kind} kind
 * @param {AbortSignal} signal
 * @param {boolean} [trace]
 * @returns {Promise<Trial>}
 */
export async function trial(what, data, kind, signal, trace = true) {
  const form = new FormData();
  if (what.document !== undefined) form.set('pipeline', what.document);
  else {
    form.set('pipeline_name', what.name ?? '');
    if (what.version) form.set('pipeline_version', what.version);
  }
  form.set('data', data);
  form.set('data_type', mediaTypes[kind]);
  if (trace) form.set('trace', 'true');
  const answer = await dryRun({ body: form, signal, background: true });
  const tables = answer.tables.map((/** @type {any} */ t) => ({ ...t, rows: [], entries: [] }));
  for (const e of answer.entries) {
    for (const r of e.rows ?? []) {
      const t = tables.find((/** @type {any} */ x) => x.table_name === r.table_name);
      t.rows.push(r.row);
      t.entries.push(e.entry);
    }
  }
  return { tables, entries: answer.entries, warnings: answer.warnings ?? [] };
}

/**
 * samplesOf takes the last rows of a table as lines: its messages where it has such a column, else whole rows.
 * @param {string} db
 * @param {string} table
 * @param {import('./catalog.js').Column[]} columns
 */
export async function samplesOf(db, table, columns) {
  const time = columns.find((c) => c.timeIndex);
  const message = columns.find((c) => ['message', 'msg', 'body', 'line', 'log'].includes(c.name.toLowerCase()) &&
    sqltext.isText(c.type));
  const order = time ? ` ORDER BY ${sqltext.name(time.name)} DESC` : '';
  const picked = message ? [message] : columns;
  const rows = await list(`SELECT ${picked.map((c) => sqltext.name(c.name))
    .join(', ')} FROM ${sqltext.name(db)}.${sqltext.name(table)}${order} LIMIT ${mostEntries}`, { db });
  if (message) return rows.map((r) => String(r[0] ?? '').replaceAll('\n', ' ')).join('\n') + '\n';
  const written = (/** @type {any} */ v, /** @type {string} */ type) => {
    if (v !== null && sqltext.isTime(type))
      return JSON.stringify(showTime(BigInt(v) * sqltext.unitNanos(type), sqltext.digitsOf(type), 'UTC')
        .replace(' ', 'T') + 'Z');
    return v !== null && sqltext.isInteger(type) ? String(v) : JSON.stringify(v);
  };
  return rows.map((r) => `{${picked.map((c, i) => `${JSON.stringify(c.name)}:${written(r[i], c.type)}`).join(',')}}`)
    .join('\n') + '\n';
}
