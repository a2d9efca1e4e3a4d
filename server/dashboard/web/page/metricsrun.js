// One evaluation of an expression: over the range for the graph, at one moment for the table.

import { batch, signal } from '../lib/ui.js';
import { described, stopped } from '../core/api.js';
import { user } from '../core/auth.js';
import { instants } from '../core/state.js';
import * as store from '../core/store.js';
import { nowNanos } from '../core/time.js';
import { mostSeries } from '../ui/chart.js';
import * as ask from './metricsask.js';

/** steps are the steps on offer, s. */
export const steps = [1, 2, 5, 10, 15, 30, 60, 120, 300, 600, 900, 1800, 3600, 7200, 21_600, 43_200, 86_400];
/** mostPoints is how many moments the server evaluates. */
const mostPoints = 11_000;
const mostHistory = 50;

/** @typedef {import('../core/series.js').Raw} Raw */
/** @typedef {import('../core/series.js').Grid} Grid */

/**
 * @typedef {object} Result
 * @property {string} query
 * @property {Grid} grid
 * @property {'graph'|'table'} view
 * @property {number} at the moment of the table, s
 * @property {number} count of all series
 * @property {number} odd values that are NaN or infinite
 * @property {Raw[]} list the rows of the table
 * @property {Record<string, string>} said labels that all series of the graph have alike
 * @property {import('../core/series.js').Line[]} lines the lines of the graph
 * @property {import('../core/heat.js').Heat|null} heat
 * @property {string} type of the answer
 * @property {string[]} notes
 * @property {number} elapsedMS
 * @property {import('../core/api.js').ApiError} [error]
 */

/** autoStep cuts a range into about 300 pieces. @param {number} length s */
export const autoStep = (length) => steps.find((s) => s >= length / 300) ?? Math.ceil(length / 300 / 86_400) * 86_400;

/** stepText writes seconds as PromQL does: 1m, 6h. @param {number} s */
export const stepText = (s) =>
  (s % 86_400 === 0 ? `${s / 86_400}d` : s % 3600 === 0 ? `${s / 3600}h` : s % 60 === 0 ? `${s / 60}m` : `${s}s`);

/** For the range "all time" this many last days are drawn. */
export const daysOfAll = 30;
/**
 * With automatic steps above a minute the last moment is a whole minute, not a multiple of the step, so that the newest
 * samples are shown, s.
 */
const minute = 60;

/**
 * gridOf is the range in seconds and its step; moments are multiples of a chosen step, so that they stay when time goes
 * on.
 * @param {number} fixed s, 0: automatic
 * @returns {Grid}
 */
export function gridOf(fixed) {
  const { from, to } = instants();
  const last = Number((to ?? nowNanos()) / 1_000_000n) / 1000;
  const start = from === null ? last - daysOfAll * 86_400 : Number(from / 1_000_000n) / 1000;
  const step = fixed || autoStep(last - start), unit = fixed ? step : Math.min(step, minute);
  const end = Math.max(Math.floor(start / unit), Math.floor(last / unit)) * unit;
  return { start: end - Math.ceil((end - start) / step) * step, end, step };
}

/** recent lists the expressions that were run, the newest first. @returns {string[]} */
export const recent = () => store.read(`metrics.history.${user.value}`, []);

/** @param {string} query */
const remember = (query) =>
  store.write(`metrics.history.${user.value}`, [query, ...recent().filter((q) => q !== query)].slice(0, mostHistory));

/**
 * placed says where in the expression an error is: its text begins with line and column.
 * @param {import('../core/api.js').ApiError} error
 * @param {string} query
 */
function placed(error, query) {
  const at = /^(\d+):(\d+): /.exec(error.message);
  if (at) {
    error.statement = query;
    error.position = { line: Number(at[1]), column: Number(at[2]) };
  }
  return error;
}

export class MetricsRun {
  constructor() {
    /** @type {import('../lib/ui.js').Signal<Result|null>} */
    this.result = signal(null);
    this.busy = signal(false);
    this.control = new AbortController();
  }

  cancel() {
    this.control.abort(stopped);
  }

  /**
   * run evaluates an expression and shows the result; it ends the run before.
   * @param {string} query
   * @param {'graph'|'table'} view
   * @param {number} fixed step
   * @param {number|null} [moment] of the table, s; the end of the range when there is none
   * @returns {Promise<Result|null>} null: a newer run took its place
   */
  async run(query, view, fixed, moment = null) {
    this.busy.value = true;
    const result = await this.evaluate(query, view, fixed, moment);
    if (result) this.show(result);
    return result;
  }

  /** show puts a result in the place of the one before. @param {Result} result */
  show(result) {
    batch(() => {
      this.result.value = result;
      this.busy.value = false;
    });
    if (!result.error) remember(result.query);
  }

  /**
   * evaluate asks for a result and returns it without showing it.
   * @param {string} query
   * @param {'graph'|'table'} view
   * @param {number} fixed
   * @param {number|null} moment
   * @returns {Promise<Result|null>}
   */
  async evaluate(query, view, fixed, moment) {
    this.cancel();
    const control = this.control = new AbortController(), { signal } = control;
    const started = performance.now();
    const grid = gridOf(fixed);
    /** @type {Result} */
    const result = { query, grid, view, at: moment ?? grid.end, count: 0, odd: 0, list: [], said: {}, lines: [],
      heat: null, type: '', notes: [], elapsedMS: 0 };
    try {
      const points = (grid.end - grid.start) / grid.step + 1;
      if (view === 'graph' && points > mostPoints)
        throw new Error(`A step of ${stepText(grid.step)} gives ${points} points a series, the most is ` +
          `${mostPoints}. Take a longer step or a shorter range.`);
      if (view === 'graph') {
        Object.assign(result, await ask.read('readRange', 'query_range', { query, ...grid }, [grid, mostSeries],
          { signal }));
      } else {
        Object.assign(result, await ask.read('readInstant', 'query', { query, time: result.at }, [], { signal }));
        result.count = result.list.length;
      }
    } catch (e) {
      result.error = placed(described(e), query);
    }
    if (control !== this.control) return null;
    result.elapsedMS = performance.now() - started;
    return result;
  }
}
