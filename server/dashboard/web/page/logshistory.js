// What was looked at on the Logs page before, by user.

import { user } from '../core/auth.js';
import * as router from '../core/router.js';
import * as store from '../core/store.js';

/** @typedef {{keys: Record<string, string>, at: number, rows: number|null, ms: number}} Look */

export const historyName = () => `logs.history.${user.value}`;

/** remember keeps a run for the history; the same keys only once. @param {import('./logsrun.js').LogsRun} run */
export function remember(run) {
  const keys = router.params.value;
  const list = /** @type {Look[]} */ (store.read(historyName(), []));
  store.write(historyName(), [{ keys: { ...keys, t: run.scope.value?.table ?? '' }, at: Date.now(), rows: run.total.value, ms: Math.round(run.elapsedMS.value) },
    ...list.filter((l) => router.format({ ...l.keys, t: '' }) !== router.format({ ...keys, t: '' }) || l.keys.t !== run.scope.value?.table)].slice(0, 200));
}
