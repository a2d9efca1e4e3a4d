// Keeps the place in a grid when its rows are loaded anew, with more of them at the top: the first row in the view
// stays the first, and the chosen one stays chosen.

import { pageRows } from './grid.js';
import { Heights } from './heights.js';

/** Rows as they are loaded: newest first. @typedef {import('../core/rows.js').Rows} Rows */
/** @typedef {{first: number, focus: number, anchor: number}} Place rows of a grid; focus and anchor are -1 for none */

/**
 * sameRow returns a function that finds a row of one set in a newer one, by its values. Of several equal rows it is the
 * one with as many equal ones after it as before. For a row that is gone it is the row at its place in time; -1 stays
 * -1.
 * @param {Rows} before
 * @param {Rows} now
 * @param {(rows: Rows) => number} timeOf the column of the time
 * @param {boolean} folds rows stand for older ones that differ in time alone
 * @returns {Promise<(index: number) => Promise<number>>}
 */
export async function sameRow(before, now, timeOf, folds) {
  const names = now.columns.map((c) => c.name).filter((n) => before.columns.some((c) => c.name === n));
  const [old, fresh] = await Promise.all([before, now].map(async (rows) => {
    const time = timeOf(rows), times = (await rows.column(time)).map(BigInt),
      columns = names.map((n) => rows.columns.findIndex((c) => c.name === n)).filter((c) => c !== time);
    const text = (/** @type {any[]} */ row) => JSON.stringify(columns.map((c) => row[c]));
    /** behind returns the first row that is older than an instant, or as old, if older is false. */
    const behind = (/** @type {bigint} */ at, /** @type {boolean} */ older) => {
      let from = 0, to = times.length;
      while (from < to) {
        const middle = (from + to) >> 1;
        if (times[middle] > at || (older && times[middle] === at)) from = middle + 1;
        else to = middle;
      }
      return from;
    };
    return { times, behind, of: async (/** @type {number} */ i) => text((await rows.slice(i, i + 1))[0]),
      like: async (/** @type {bigint} */ at, /** @type {string} */ what) => {
      const from = Math.max(0, behind(at, false) - (folds ? 1 : 0)), list = await rows.slice(from, behind(at, true));
      return list.map((row, i) => (text(row) === what ? from + i : -1)).filter((i) => i >= 0);
    } };
  }));
  return async (index) => {
    if (index < 0) return -1;
    const at = old.times[index], what = await old.of(index);
    const [was, is] = await Promise.all([old.like(at, what), fresh.like(at, what)]);
    const found = is.at(Math.max(-is.length, was.indexOf(index) - was.length));
    return found ?? Math.min(fresh.behind(at, false), now.count - 1);
  };
}

/**
 * showTop loads the first rows and returns a function that shows them in one frame.
 * @param {import('./grid.js').Grid} grid
 * @param {Rows} rows
 * @returns {Promise<() => void>}
 */
export async function showTop(grid, rows) {
  const pages = new Map([[0, await rows.slice(0, Math.min(pageRows, rows.count))]]);
  return () => grid.show(rows, pages);
}

/**
 * showAt loads the rows in view at a place and returns a function that shows them there at once, so that no other frame
 * comes between.
 * @param {import('./grid.js').Grid} grid
 * @param {Rows} rows
 * @param {Place} from as it was found in the rows shown
 * @param {Place} to in these rows
 * @returns {Promise<() => void>}
 */
export async function showAt(grid, rows, from, to) {
  /** @type {Map<number, any[][]>} */
  const pages = new Map();
  for (let p = Math.floor(to.first / pageRows); p * pageRows < Math.min(rows.count, to.first + grid.pool.length); p++)
    pages.set(p, await rows.slice(p * pageRows, Math.min((p + 1) * pageRows, rows.count)));
  const by = to.first - from.first;
  const moved = (/** @type {number} */ i, /** @type {number} */ was, /** @type {number} */ is) =>
    (i < 0 ? -1 : i === was ? is : Math.max(0, Math.min(rows.count - 1, i + by)));
  return () => {
    const into = grid.root.scrollTop * grid.scale() - grid.top(grid.first), heights = grid.heights;
    const focus = moved(grid.focus, from.focus, to.focus), anchor = moved(grid.anchor, from.anchor, to.anchor),
      first = moved(grid.first, from.first, to.first);
    grid.show(rows, pages);
    if (heights) {
      grid.heights = new Heights(rows.count, grid.rowHeight);
      for (let i = Math.max(0, -by); i < Math.min(heights.count, rows.count - by); i++) if (heights.own[i])
        grid.heights.set(i + by, heights.own[i] + grid.rowHeight);
    }
    Object.assign(grid, { focus, anchor, first, still: true });
    grid.body.style.height = grid.total() + 'px'; // so that it can be scrolled there
    grid.root.scrollTop = (grid.top(first) + into) / grid.scale();
  };
}
