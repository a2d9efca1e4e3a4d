// What lies on the server: databases, tables, columns. Asked once and kept for a minute.

import { signal } from '../lib/ui.js';
import { ApiError, list } from './api.js';
import * as sqltext from './sqltext.js';

const fresh = 60_000;

/**
 * @typedef {{name: string, type: string, semantic: string, timeIndex: boolean}} Column
 * @typedef {{name: string, kind: string, rows: number|null, options: string}} Table
 */

/**
 * databases are the names; null until load found them. When the user may not read, the list stays as it is: the page's
 * own requests show the error.
 */
export const databases = Object.assign(signal(/** @type {string[]|null} */ (null)), {
  async load() {
    try {
      const rows = await list('SELECT schema_name FROM information_schema.schemata ORDER BY schema_name',
        { background: true });
      databases.value = rows.map((r) => String(r[0]));
    } catch (e) {
      if (!(e instanceof ApiError)) throw e;
    }
  },
});

/** @type {Map<string, {at: number, value: Promise<any>}>} */
const kept = new Map();

/**
 * keep returns the answer kept under a key, and asks when it is older than a minute.
 * @template T
 * @param {string} key
 * @param {() => Promise<T>} ask
 * @returns {Promise<T>}
 */
function keep(key, ask) {
  const have = kept.get(key);
  if (have && Date.now() - have.at < fresh) return have.value;
  const value = ask();
  kept.set(key, { at: Date.now(), value });
  value.catch(() => kept.delete(key));
  return value;
}

/** forget drops all kept answers, since something was created or dropped. */
export const forget = () => kept.clear();

/** tables lists the tables of a database by name. @param {string} db @returns {Promise<Table[]>} */
export function tables(db) {
  return keep(`tables ${db}`, async () => {
    const rows = await list(
      `SELECT table_name, table_type, table_rows, create_options FROM information_schema.tables ` +
      `WHERE table_schema = ${sqltext.string(db)} ORDER BY table_name`, { db, background: true });
    return rows.filter((r) => r[1] !== 'LOCAL TEMPORARY')
      .map(([name, kind, count, options]) =>
        ({ name, kind, rows: count === null ? null : Number(count), options: options ?? '' }));
  });
}

/**
 * columns lists the columns of a table, in order.
 * @param {string} db
 * @param {string} table
 * @returns {Promise<Column[]>}
 */
export function columns(db, table) {
  return keep(`columns ${db} ${table}`, async () => {
    const rows = await list(
      `SELECT column_name, data_type, semantic_type, column_key FROM information_schema.columns ` +
      `WHERE table_schema = ${sqltext.string(db)} AND table_name = ${sqltext.string(table)} ` +
      `ORDER BY ordinal_position`, { db, background: true });
    return rows.map(([name, type, semantic, key]) =>
      ({ name, type, semantic, timeIndex: key === 'TIME INDEX' || semantic === 'TIMESTAMP' }));
  });
}
