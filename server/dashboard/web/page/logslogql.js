// The Logs page in the language of log queries: lines, bars and total of one query, which may look at several tables.

import { html, useLayoutEffect, useRef, useState } from '../lib/ui.js';
import { ApiError, described, isAbort, json } from '../core/api.js';
import { count, plural, visible } from '../core/format.js';
import { levelOf } from '../core/levels.js';
import { instants, refresh, setRange, zone } from '../core/state.js';
import { day, nowNanos, rfc3339, showTime } from '../core/time.js';
import { colour } from '../ui/canvas.js';
import { ErrorBox } from '../ui/error.js';
import { Histogram } from '../ui/histogram.js';
import { shift } from '../ui/timepicker.js';
import { tell } from '../ui/toast.js';
import { bins } from './logsquery.js';

/** How many lines are asked for at first, and on a wish. */
const firstLines = 500, mostLines = 5_000;
/** The longest time that the server looks at. */
const longest = 30n * day;

/**
 * @typedef {Record<string, string>} Labels
 * @typedef {{at: bigint, text: string, labels: Labels}} Line labels of all kinds
 * @typedef {{from: bigint, to: bigint}} Range
 * @typedef {{data: import('../ui/histogram.js').Buckets, range: Range, total: number}} Bars
 */

/**
 * ask sends a query. Errors show it, with a mark at the place.
 * @param {string} path
 * @param {Record<string, string>} form
 * @param {AbortSignal} signal
 * @param {boolean} background
 * @returns {Promise<{resultType: string, result: any[]}>}
 */
const ask = async (path, form, signal, background) => (await json(`loki/api/v1/${path}`, { method: 'POST', signal,
  background, body: new URLSearchParams(form), statement: form.query,
  headers: { 'X-Loki-Response-Encoding-Flags': 'categorize-labels' } })).data;

/**
 * linesOf asks for the newest lines.
 * @param {string} db @param {string} query @param {Range} range @param {number} limit @param {AbortSignal} signal
 * @returns {Promise<Line[]>}
 */
async function linesOf(db, query, range, limit, signal) {
  const { resultType, result } = await ask('query_range', { db, query, start: String(range.from), end: String(range.to),
    limit: String(limit) }, signal, false);
  if (resultType !== 'streams')
    throw new ApiError('This query gives numbers, and Logs shows lines: write its selector and stages alone.');
  /** @type {Line[]} */
  const lines = [];
  for (const { stream, values } of result) {
    for (const [at, text, more] of values)
      lines.push({ at: BigInt(at), text, labels: { ...stream, ...more?.structuredMetadata, ...more?.parsed } });
  }
  return lines.sort((a, b) => (a.at < b.at ? 1 : a.at > b.at ? -1 : 0));
}

/**
 * counted is the query that counts lines by level, in windows of a length that end before their time. A line with an
 * error counts as well.
 * @param {string} query @param {bigint} length @param {bigint} offset ns
 */
const counted = (query, length, offset) => `sum by (detected_level) (count_over_time(${query}\n` +
  `| drop __error__, __error_details__ [${length}ns] offset ${offset}ns))`;

/**
 * barsOf counts lines over time. Whole bars are the steps of one query; the first and the last bar end where the range
 * does.
 * @param {import('./logsrun.js').LogsRun} run @param {string} db @param {string} query @param {Range} range
 * @param {AbortSignal} signal
 * @returns {Promise<Bars>}
 */
async function barsOf(run, db, query, range, signal) {
  const bin = bins(range, zone.value), { step, origin } = bin;
  /** @type {[at: bigint, level: string, n: number][]} */
  const cells = [];
  const part = async (/** @type {bigint} */ from, /** @type {bigint} */ to) => {
    const { result } = await ask('query', { db, query: counted(query, to - from, 1n), time: String(to) }, signal, true);
    for (const { metric, value } of result) cells.push([from, metric.detected_level ?? '', Number(value[1])]);
  };
  const whole = async (/** @type {bigint} */ from, /** @type {bigint} */ to) => {
    const ahead = ((origin % step) + step) % step; // steps of the server are multiples of their length
    const { result } = await ask('query_range', { db, query: counted(query, step, 1n - ahead),
      start: String(from + step - ahead), end: String(to - ahead), step: String(Number(step) / 1e9) }, signal, true);
    for (const { metric, values } of result) {
      for (const [at, n] of values)
        cells.push([BigInt(Math.round(at * 1000)) * 1_000_000n + ahead - step, metric.detected_level ?? '', Number(n)]);
    }
  };
  const first = origin < range.from ? origin + step : origin, last = range.to - (range.to - origin) % step;
  if (first >= last) {
    await Promise.all(first > range.from && first < range.to ? [part(range.from, first), part(first, range.to)]
      : [part(range.from, range.to)]);
  } else {
    await Promise.all([whole(first, last), ...(first > range.from ? [part(range.from, first)] : []),
      ...(last < range.to ? [part(last, range.to)] : [])]);
  }
  return { data: run.stack(cells, bin, range, 1n, true), range, total: cells.reduce((sum, c) => sum + c[2], 0) };
}

/**
 * LogQL is the page below the toolbar.
 * @param {{run: import('./logsrun.js').LogsRun, state: import('../core/state.js').PageState}} props
 */
export function LogQL({ run, state }) {
  const v = state.values.value, asked = run.asked.value;
  const [lines, setLines] = useState(/** @type {Line[]|null} */ (null));
  const [bars, setBars] = useState(/** @type {Bars|null} */ (null));
  const [error, setError] = useState(/** @type {ApiError|null} */ (null));
  const [busy, setBusy] = useState(false);
  const [limit, setLimit] = useState(firstLines);
  const elapsed = useRef(0);
  useLayoutEffect(() => setLimit(firstLines), [v.lq]);
  useLayoutEffect(() => {
    const control = new AbortController(), { signal } = control, started = performance.now();
    const { from, to } = instants(), end = to ?? nowNanos();
    const range = { from: from ?? end - longest, to: end };
    setBusy(true);
    const rows = linesOf(v.db, v.lq, range, limit, signal).then((found) => {
      elapsed.current = performance.now() - started;
      if (!signal.aborted) setLines(found);
    });
    const counts = barsOf(run, v.db, v.lq, range, signal).then((found) => {
      if (!signal.aborted) setBars(found);
      return found;
    });
    counts.catch(() => {}); // the error of the lines is told first
    rows.then(() => counts).then((found) => [found.total, null], (/** @type {unknown} */ e) => [0, e])
      .then(([total, e]) => {
        if (signal.aborted || isAbort(e)) return;
        setBusy(false);
        setError(e ? described(e) : null);
        tell(plural(/** @type {number} */ (total), 'row'), e ? described(e) : null);
      });
    return () => control.abort(new DOMException('superseded', 'AbortError'));
  }, [v.db, v.lq, v.from, v.to, zone.value, asked, limit]);
  useLayoutEffect(() => {
    if (!refresh.value) return;
    const timer = setInterval(() => { if (!document.hidden) void run.run(); }, refresh.value * 1000);
    return () => clearInterval(timer);
  }, [refresh.value]);
  const color = (/** @type {string} */ key) => colour('bar-' + levelOf(key));
  return html`
    <section class="logs-histogram" aria-busy=${busy ? 'true' : 'false'} aria-label="Lines over time">
      ${bars && !error ? html`<${Histogram} stale=${busy} data=${bars.data} range=${bars.range} color=${color}
        onRange=${(/** @type {bigint} */ from, /** @type {bigint} */ to) => setRange(rfc3339(from), rfc3339(to))}
        onWider=${() => shift(0)} label="Lines over time; left and right walk the bars, Enter zooms" />`
        : html`<div class="histogram"></div>`}
    </section>
    <div class="logs-status"><span class="figures">${error ? 'The query failed.' : busy || !bars || !lines ? 'Asking…'
      : html`<b class="num">${plural(bars.total, 'row')}</b>
        <span class="num">${elapsed.current.toFixed(0)} ms</span>
        <span class="num">${count(lines.length)} loaded</span>`}</span></div>
    ${error ? html`<${ErrorBox} error=${error} language="query" />` : lines && html`
    <ol class="logql-lines ${busy ? 'stale' : ''}" aria-label="Lines, the newest first">
      ${lines.map((l, i) => html`<li key=${i}><details><summary>
        <span class="num soft">${showTime(l.at, 3, zone.value)}</span>
        <span class="level level-${levelOf(l.labels.detected_level)}">${l.labels.detected_level}</span>
        <span class="text">${visible(l.text)}</span></summary>
        <dl>${Object.entries(l.labels).map(([name, value]) => html`<div key=${name}><dt>${name}</dt>
          <dd>${visible(value)}</dd></div>`)}</dl></details></li>`)}
      ${lines.length === limit && limit < mostLines && html`<li key="more"><button class="small"
        onClick=${() => setLimit(mostLines)}>Load up to ${count(mostLines)} lines</button></li>`}
    </ol>`}`;
}
