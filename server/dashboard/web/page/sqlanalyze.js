// EXPLAIN ANALYZE as events: the figures of each node of the plan while the query runs.

import { ApiError, request } from '../core/api.js';
import { localRows } from '../core/rows.js';
import { db, zone } from '../core/state.js';
import { zoneName } from '../core/time.js';

/**
 * @typedef {{node: string, figures?: Record<string, number>, inputs?: Tree[]}} Tree figures by name, times in
 *   nanoseconds
 */
/** @typedef {{plan: Tree, rows: number, planning_ns: number, running_ns: number}} Measured */
/**
 * @typedef {{state: string, metrics?: Measured, output?: {records: {schema: {column_schemas: {name: string, data_type:
 *   string}[]}, rows: any[][]}}, reason?: string, code?: number, position?: {line: number, column: number, length:
 *   number}}} AnalyzeEvent
 */

/** How often figures are asked for, ms: the server gives them no more often. */
const every = 1000;

/** Events reads server-sent events as they arrive. */
export class Events {
  /** @param {(event: any) => void} take is given the data of each */
  constructor(take) {
    this.take = take;
    this.text = '';
    this.decoder = new TextDecoder();
  }

  /** @param {Uint8Array} bytes */
  add(bytes) {
    const parts = (this.text + this.decoder.decode(bytes, { stream: true })).split('\n\n');
    this.text = parts.pop() ?? '';
    for (const part of parts) {
      const data = part.split('\n').filter((line) => line.startsWith('data:')).map((line) => line.slice(5)).join('\n');
      if (data) this.take(JSON.parse(data));
    }
  }
}

/**
 * analyze runs a statement and reports its figures so far; the rows are those of EXPLAIN ANALYZE.
 * @param {string} sql @param {AbortSignal} signal @param {(measured: Measured) => void} tell
 */
export async function analyze(sql, signal, tell) {
  const last = { is: /** @type {AnalyzeEvent|null} */ (null) };
  await request('v1/sql/analyze/stream', {
    method: 'POST', query: { db: db.value, snapshot_interval_ms: every }, body: new URLSearchParams({ sql }),
      headers: { 'x-service-timezone': zoneName(zone.value) }, signal, statement: sql,
    into: () => new Events((/** @type {AnalyzeEvent} */ e) => {
      last.is = e;
      if (e.state === 'metrics' && e.metrics) tell(e.metrics);
    }),
  });
  const records = last.is?.output?.records;
  if (!records) throw new ApiError(last.is?.reason ?? 'The answer ended early.',
    { code: last.is?.code, position: last.is?.position, statement: sql });
  return localRows(records.schema.column_schemas.map((c) => ({ name: c.name, type: c.data_type })), records.rows);
}
