// The Logs page runs again by itself: the row that somebody reads stays where it is in the view, however many new ones
// came above it.

import { sameRow, showAt, showTop } from '../ui/sameplace.js';
import { older } from './logsmore.js';
import { pageSize } from './logsrun.js';

/**
 * The most rows that are loaded to find the place again; when more came above it, the page keeps the rows of the run
 * before.
 */
const mostAgain = 10_000;

/**
 * again runs the page; at the top, with no row chosen, the newest rows come into the view.
 * @param {import('./logsrun.js').LogsRun} run
 * @param {import('../ui/grid.js').Grid|null} grid
 * @param {{current: boolean}} reading somebody has a row open
 */
export function again(run, grid, reading) {
  const before = run.rows.value;
  return run.run(async (rows, scope, signal) => {
    const atTop = !grid || !before || before.count === 0 || (grid.focus < 0 && grid.root.scrollTop === 0);
    const found = atTop ? { show: grid ? await showTop(grid, rows) : () => {}, complete: rows.total < pageSize }
      : await placeIn(run, grid, before, rows, scope, signal);
    return reading.current ? null : found;
  });
}

/**
 * placeIn finds the rows that are in the view and the chosen ones among the rows of a new run.
 * @param {import('./logsrun.js').LogsRun} run
 * @param {import('../ui/grid.js').Grid} grid
 * @param {import('../core/rows.js').Rows} before
 * @param {import('../core/rows.js').Rows} rows
 * @param {import('./logsquery.js').Scope} scope
 * @param {AbortSignal} signal
 */
async function placeIn(run, grid, before, rows, scope, signal) {
  const name = scope.roles.time?.name ?? '';
  const timeOf = (/** @type {import('../core/rows.js').Rows} */ r) => r.columns.findIndex((c) => c.name === name);
  const { first, focus, anchor } = grid,
    last = Math.min(before.count - 1, Math.max(focus, anchor, first + grid.pool.length));
  const [lowest] = await before.slice(last, last + 1);
  const bottom = BigInt(lowest[timeOf(before)]);
  let complete = rows.total < pageSize;
  while (!complete && BigInt((await rows.last())[timeOf(rows)]) >= bottom) {
    if (rows.total >= mostAgain) return null;
    complete = await older(run, rows, scope, signal);
  }
  if (rows.count === 0) return { show: () => {}, complete };
  const find = await sameRow(before, rows, timeOf, run.state.get('fold'));
  const to = { first: await find(first), focus: await find(focus), anchor: await find(anchor) };
  return { show: await showAt(grid, rows, { first, focus, anchor }, to), complete };
}
