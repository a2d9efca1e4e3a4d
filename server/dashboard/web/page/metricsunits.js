// How values of metrics are written: by the unit that the name or the sender says, or the one chosen.

import { bytes, count, duration, percent, short } from '../core/format.js';
import { selectors } from './metricsslips.js';

/** figure writes a number with as many digits as tell neighbours apart. @param {number} v */
const figure = (v) => (Math.abs(v) >= 1e6 ? short(v) : Number.isInteger(v) ? count(v)
  : String(Number(v.toPrecision(4))));

/** @typedef {{text: string, axis: (v: number) => string, write: (v: number) => string}} Unit */

/** @param {string} text @param {(v: number) => string} write @returns {Unit} */
const plain = (text, write) => ({ text, axis: write, write });

/** units are the units on offer. @type {Record<string, Unit>} */
export const units = {
  number: { text: 'number', axis: short, write: figure },
  bytes: plain('bytes', bytes), s: plain('seconds', (v) => (v === 0 ? '0 s' : duration(v * 1000))),
    ms: plain('milliseconds', (v) => (v === 0 ? '0 ms' : duration(v))),
  share: plain('share of 1', percent), percent: plain('percent', (v) => percent(v / 100)),
};

/** said are the words of senders. @type {Record<string, string>} */
const said = { By: 'bytes', bytes: 'bytes', byte: 'bytes', s: 's', seconds: 's', ms: 'ms', milliseconds: 'ms',
  '%': 'percent', percent: 'percent', ratio: 'share' };

const rates = new Set(['rate', 'irate', 'increase', 'delta', 'idelta', 'deriv']);
const counts = new Set(['count', 'group', 'count_values']);
const others = new Set(['count_over_time', 'absent', 'absent_over_time', 'present_over_time', 'timestamp', 'changes',
  'resets', 'histogram_count', 'histogram_fraction', 'time']);

/**
 * unitOf guesses the unit of an expression. It is that of its only metric, unless a function or operator gives another
 * one; bounds of buckets have the unit of the metric.
 * @param {any} tree
 * @param {Record<string, {unit?: string}[]>} known
 * @returns {{values: string, bounds: string}}
 */
export function unitOf(tree, known) {
  const names = [...new Set(selectors(tree).map((s) => s.name ?? ''))];
  if (names.length !== 1) return { values: 'number', bounds: 'number' };
  const name = names[0], base = name.replace(/_(total|sum)$/, '');
  const end = /_(bytes|seconds|milliseconds|ratio|percent)(_bucket)?$/.exec(base)?.[1] ?? '';
  const unit = said[end] ?? said[known[name]?.[0]?.unit ?? ''] ?? 'number';
  let quantile = false, rate = false, other = /_count$/.test(name);
  const look = (/** @type {any} */ n) => {
    if (!n || typeof n !== 'object') return;
    const f = n.type === 'call' ? n.func.name : '';
    if (f === 'histogram_quantile' || f === 'histogram_avg' || f === 'histogram_sum') quantile = true;
    if (rates.has(f)) rate = true;
    if (others.has(f) || n.type === 'binaryExpr' && !['+', '-'].includes(n.op) || n.type === 'aggregation' &&
      counts.has(n.op)) other = true;
    for (const c of [n.param, n.lhs, n.rhs, n.expr, ...n.args ?? []]) look(c);
  };
  look(tree);
  // seconds per second are a plain number
  const plainly = other || !quantile && (/_bucket$/.test(name) || rate && unit !== 'bytes');
  return { values: plainly ? 'number' : unit, bounds: unit };
}
