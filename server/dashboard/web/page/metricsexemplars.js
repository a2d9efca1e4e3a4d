// Exemplars: single events behind a metric, as marks on its graph that open the trace they are of.

import * as router from '../core/router.js';
import { showTime } from '../core/time.js';
import { zone } from '../core/state.js';
import * as ask from './metricsask.js';

/** The most marks that are drawn: more would hide each other and the lines. */
const most = 60;

/**
 * @typedef {{labels: Record<string, string>, value: number, at: number, trace: string}} Exemplar at in s, trace ''
 *   where it names none
 */

/** traceOf finds the id of a trace among labels. @param {Record<string, string>} labels */
const traceOf = (labels) => Object.entries(labels)
  .find(([k, v]) => /^trace_?id$/i.test(k) && /^[0-9a-f]{32}$/i.test(v))?.[1].toLowerCase() ?? '';

/**
 * exemplarsOf asks for the exemplars of an expression, the highest values first.
 * @param {string} query
 * @param {import('../core/series.js').Grid} grid
 * @param {AbortSignal} signal
 * @returns {Promise<Exemplar[]>}
 */
export async function exemplarsOf(query, grid, signal) {
  const { data } = await ask.post('query_exemplars', { query, start: grid.start, end: grid.end },
    { background: true, signal });
  /** @type {Exemplar[]} */
  const list = (data ?? []).flatMap((/** @type {any} */ s) => s.exemplars.map((/** @type {any} */ e) =>
    ({ labels: e.labels, value: Number(e.value), at: e.timestamp, trace: traceOf(e.labels) })));
  return list.sort((a, b) => b.value - a.value);
}

/**
 * marksOf makes the marks of the exemplars with the highest values.
 * @param {Exemplar[]} list
 * @param {boolean} atValue the axis has the unit of the exemplars
 * @param {(v: number) => string} write
 * @returns {import('../ui/marks.js').Mark[]}
 */
export function marksOf(list, atValue, write) {
  return list.slice(0, most).map((e) => {
    const others = Object.entries(e.labels).map(([k, v]) => `${k}=${v}`).join(' ');
    const when = showTime(BigInt(Math.round(e.at * 1000)) * 1_000_000n, 3, zone.value);
    return { x: e.at, y: atValue ? e.value : null,
      title: `Exemplar ${write(e.value)} at ${when}\n${others}${e.trace ? '\nClick opens the trace' : ''}`,
      onOpen: e.trace ? () => void router.go('traces', { id: e.trace }) : undefined };
  });
}

/** saidOf says how many there are. @param {Exemplar[]} list */
export const saidOf = (list) => (list.length > most ? `${most} of ${list.length} exemplars`
  : `${list.length} ${list.length === 1 ? 'exemplar' : 'exemplars'}`);
