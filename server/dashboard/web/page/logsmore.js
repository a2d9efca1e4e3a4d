// More rows of a run: the next older rows.

import { described, isAbort, statement } from '../core/api.js';
import * as logsql from './logsparts.js';
import { pageSize } from './logsrun.js';

/** The most rows of a list. It is for reading; more rows can be exported. */
const mostRows = 100_000;

/**
 * older loads the next older rows; true when there are no more.
 * @param {import('./logsrun.js').LogsRun} run
 * @param {import('../core/rows.js').Rows} rows
 * @param {logsql.Scope} scope
 * @param {AbortSignal} signal
 */
export async function older(run, rows, scope, signal) {
  const at = run.timeOf(rows, scope), edge = BigInt((await rows.last())[at]);
  const columns = logsql.columnList(scope, run.state.get('cols'));
  const size = Math.min(5000, Math.max(pageSize, rows.total));
  let done = await rows.append(await statement(logsql.moreRows(scope, columns, edge, size),
    { signal, background: true }), at);
  // a full page of rows that are all loaded: the instant has more than a page, those behind the loaded ones are new
  if (done.added === 0 && done.received === size) {
    done = await rows.append(await statement(logsql.moreRows(scope, columns, edge, size, await rows.equalToLast(at)),
      { signal, background: true }), -1);
  }
  return done.received < size;
}

/** loading holds the runs for which rows are on their way. @type {WeakSet<import('./logsrun.js').LogsRun>} */
const loading = new WeakSet();

/** more loads the next older rows of those shown. @param {import('./logsrun.js').LogsRun} run */
export async function more(run) {
  const rows = run.rows.value, scope = run.scope.value;
  if (!rows || !scope?.roles.time || loading.has(run) || run.complete.value || rows.total >= mostRows) return;
  loading.add(run);
  const { signal } = run.control;
  try {
    const first = rows.total, complete = await older(run, rows, scope, signal);
    if (signal.aborted || rows !== run.rows.value) return;
    run.complete.value = complete;
    if (rows.total !== first) run.grown.value++;
  } catch (e) {
    if (!isAbort(e) && !signal.aborted) run.error.value = described(e);
  } finally {
    loading.delete(run);
  }
}
