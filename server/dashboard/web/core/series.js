// Answers of the metrics API, read into what the page draws. Large ones are read in the worker, so that the page never
// holds the rest.

import { cellsOf } from './heat.js';

/**
 * @typedef {{metric: Record<string, string>, values?: [number, string][], value?: [number, string], histogram?: any,
 *   histograms?: [number, any][]}} Raw as it came
 */
/** @typedef {{start: number, end: number, step: number}} Grid s */
/**
 * @typedef {{metric: Record<string, string>, values: (number|null)[], last: number|null, min: number|null, max:
 *   number|null, mean: number|null}} Line a value for each moment of the grid, null: none
 */

/**
 * @typedef {object} Range
 * @property {string} type of the answer
 * @property {string[]} notes warnings and remarks of the server
 * @property {number} count of all series
 * @property {Record<string, string>} said labels that all series have alike
 * @property {Line[]} lines those of the highest last values
 * @property {number} odd values that are NaN or infinite: gaps in lines, and in no figure of them
 * @property {import('./heat.js').Heat|null} heat the histograms there are
 */

/** @typedef {{type: string, notes: string[], list: Raw[]}} Instant */
/**
 * @typedef {{total: number, labels: [string, [string, number][]][]}} Labels the values of each label with their series,
 *   the most frequent first
 */

/** dataOf opens an answer. @param {ArrayBuffer} body */
function dataOf(body) {
  const read = JSON.parse(new TextDecoder().decode(body));
  return { data: read.data, notes: /** @type {string[]} */ ([...read.warnings ?? [], ...read.infos ?? []]) };
}

/**
 * listOf turns every kind of answer into a list of series: a number or a text is one series without labels.
 * @param {{resultType: string, result: any}} data
 * @returns {Raw[]}
 */
export const listOf = (data) =>
  (data.resultType === 'scalar' || data.resultType === 'string' ? [{ metric: {}, value: data.result }] : data.result);

/**
 * common returns the labels that have the same value in all series; none when there is one series only.
 * @param {Record<string, string>[]} all
 * @returns {Record<string, string>}
 */
export function common(all) {
  if (all.length < 2) return {};
  return Object.fromEntries(Object.entries(all[0]).filter(([k, v]) => all.every((m) => m[k] === v)));
}

/**
 * lineOf puts the samples at the moments of the grid. A moment without a sample is a gap.
 * @param {Raw} s
 * @param {Grid} grid
 * @param {number} places
 * @returns {Line}
 */
function lineOf(s, { start, step }, places) {
  const values = /** @type {(number|null)[]} */ (new Array(places).fill(null));
  let last = null, min = null, max = null, sum = 0, n = 0;
  for (const [t, text] of s.values ?? []) {
    const v = Number(text);
    if (!Number.isFinite(v)) continue;
    values[Math.round((t - start) / step)] = last = v;
    if (min === null || v < min) min = v;
    if (max === null || v > max) max = v;
    sum += v;
    n++;
  }
  return { metric: s.metric, values, last, min, max, mean: n > 0 ? sum / n : null };
}

/** placesOf is the number of moments of a grid. @param {Grid} grid */
export const placesOf = (grid) => Math.round((grid.end - grid.start) / grid.step) + 1;

/**
 * readRange reads an answer over a range; of many series the highest are kept.
 * @param {ArrayBuffer} body
 * @param {Grid} grid
 * @param {number} most
 * @returns {Range}
 */
export function readRange(body, grid, most) {
  const { data, notes } = dataOf(body);
  const list = listOf(data), places = placesOf(grid);
  const lines = list.filter((s) => s.values).map((s) => lineOf(s, grid, places))
    .sort((a, b) => (b.last ?? -Infinity) - (a.last ?? -Infinity)).slice(0, most);
  const odd = list.reduce((n, s) => n + (s.values ?? []).filter(([, text]) => !Number.isFinite(Number(text))).length,
    0);
  return { type: data.resultType, notes, odd, count: list.length, said: common(list.map((s) => s.metric)), lines,
    heat: cellsOf(list, grid, places) };
}

/** readInstant reads an answer at one moment. @param {ArrayBuffer} body @returns {Instant} */
export function readInstant(body) {
  const { data, notes } = dataOf(body);
  return { type: data.resultType, notes, list: listOf(data) };
}

/**
 * readLabels counts the series of each value of each label.
 * @param {ArrayBuffer} body
 * @param {number} most series counted
 * @returns {Labels}
 */
export function readLabels(body, most) {
  /** @type {Record<string, string>[]} */
  const series = dataOf(body).data;
  /** @type {Map<string, Map<string, number>>} */
  const labels = new Map();
  for (const s of series.slice(0, most)) {
    for (const [k, v] of Object.entries(s)) {
      if (k === '__name__') continue;
      const values = labels.get(k) ?? new Map();
      labels.set(k, values.set(v, (values.get(v) ?? 0) + 1));
    }
  }
  return { total: series.length,
    labels: [...labels].sort()
    .map(([k, values]) => [k, [...values].sort((a, b) => b[1] - a[1] || (a[0] < b[0] ? -1 : 1))]) };
}

/** readers are the functions that the worker offers. */
export const readers = { readRange, readInstant, readLabels };
