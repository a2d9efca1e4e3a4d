// Histograms as cells of a heat map: a column for each moment, a row for each bucket.

/** Of more buckets than this the rows would be thinner than a line; neighbours are put together. */
const mostRows = 200;
const mostGroups = 50;

/**
 * @typedef {{labels: Record<string, string>, bounds: [number, number][], cells: Float64Array, max: number}} Group
 *   cells[row * moments + moment], rows from the lowest bucket up
 */
/** @typedef {{groups: Group[], count: number}} Heat groups are at most fifty, count says how many there are */

/** bound reads a bound of a bucket. @param {string} text */
const bound = (text) => (text === '+Inf' ? Infinity : text === '-Inf' ? -Infinity : Number(text));

/**
 * cellsOf finds the histograms of an answer: native ones, or series that differ by le.
 * @param {import('./series.js').Raw[]} list
 * @param {import('./series.js').Grid} grid
 * @param {number} places
 * @returns {Heat|null}
 */
export function cellsOf(list, grid, places) {
  const native = list.filter((s) => s.histograms);
  if (native.length > 0) return { groups: native.slice(0, mostGroups).map((s) => nativeGroup(s, grid, places)),
    count: native.length };
  if (list.length < 2 || !list.every((s) => s.values && !Number.isNaN(bound(s.metric.le ?? 'none')))) return null;
  /** @type {Map<string, import('./series.js').Raw[]>} */
  const groups = new Map();
  for (const s of list) {
    const { le: _, ...rest } = s.metric;
    const key = JSON.stringify(Object.entries(rest).sort());
    groups.set(key, [...groups.get(key) ?? [], s]);
  }
  return { groups: [...groups.values()].slice(0, mostGroups).map((g) => classicGroup(g, grid, places)),
    count: groups.size };
}

/**
 * placed finishes a group: few enough rows, and the highest cell.
 * @param {Record<string, string>} labels
 * @param {[number, number][]} bounds
 * @param {Float64Array} cells
 * @param {number} places
 * @returns {Group}
 */
function placed(labels, bounds, cells, places) {
  const fold = Math.ceil(bounds.length / mostRows);
  if (fold > 1) {
    const rows = Math.ceil(bounds.length / fold), fewer = new Float64Array(rows * places);
    for (let r = 0; r < bounds.length; r++) for (let i = 0; i < places; i++)
      fewer[Math.floor(r / fold) * places + i] += cells[r * places + i];
    bounds = Array.from({ length: rows },
      (_, r) => [bounds[r * fold][0], bounds[Math.min(bounds.length, (r + 1) * fold) - 1][1]]);
    cells = fewer;
  }
  let max = 0;
  for (const v of cells) if (v > max) max = v;
  return { labels, bounds, cells, max };
}

/**
 * nativeGroup puts the buckets of native histograms below each other.
 * @param {import('./series.js').Raw} s
 * @param {import('./series.js').Grid} grid
 * @param {number} places
 */
function nativeGroup(s, { start, step }, places) {
  /** @type {Map<string, {bounds: [number, number], at: [number, number][]}>} */
  const rows = new Map();
  for (const [t, h] of s.histograms ?? []) {
    for (const [, lower, upper, count] of h.buckets ?? []) {
      const row = rows.get(`${lower} ${upper}`) ?? { bounds: [bound(lower), bound(upper)], at: [] };
      row.at.push([Math.round((t - start) / step), Number(count)]);
      rows.set(`${lower} ${upper}`, row);
    }
  }
  const sorted = [...rows.values()].sort((a, b) => a.bounds[0] - b.bounds[0] || a.bounds[1] - b.bounds[1]);
  const cells = new Float64Array(sorted.length * places);
  sorted.forEach((row, r) => { for (const [i, count] of row.at) cells[r * places + i] = count; });
  return placed(s.metric, sorted.map((row) => row.bounds), cells, places);
}

/**
 * classicGroup subtracts from each bucket the count of the bucket below: buckets with le count all values up to their
 * bound.
 * @param {import('./series.js').Raw[]} list
 * @param {import('./series.js').Grid} grid
 * @param {number} places
 */
function classicGroup(list, { start, step }, places) {
  const sorted = list.map((s) => ({ s, upper: bound(s.metric.le) })).sort((a, b) => a.upper - b.upper);
  const cells = new Float64Array(sorted.length * places);
  let below = new Float64Array(places);
  sorted.forEach(({ s }, r) => {
    const own = below.slice();
    for (const [t, text] of s.values ?? []) {
      const i = Math.round((t - start) / step), v = Number(text);
      if (!Number.isFinite(v)) continue;
      own[i] = Math.max(v, below[i]);
      cells[r * places + i] = own[i] - below[i];
    }
    below = own;
  });
  const { le: _, ...labels } = list[0].metric;
  return placed(labels, sorted.map(({ upper }, r) =>
    [r === 0 ? (upper > 0 ? 0 : -Infinity) : sorted[r - 1].upper, upper]), cells, places);
}
