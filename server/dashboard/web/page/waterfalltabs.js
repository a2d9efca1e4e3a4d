// Beside the waterfall: the log lines of the trace, and the time that each service took.

import { html, useEffect, useState } from '../lib/ui.js';
import { described } from '../core/api.js';
import { duration, oneLine, percent, plural } from '../core/format.js';
import { letters, levelOf } from '../core/levels.js';
import * as router from '../core/router.js';
import * as sqltext from '../core/sqltext.js';
import { zone } from '../core/state.js';
import { minute, rfc3339, showTime } from '../core/time.js';
import { hashColour } from '../ui/canvas.js';
import { ErrorBox } from '../ui/error.js';
import { rolesOf } from './logsquery.js';
import * as sql from './tracesquery.js';

/** @typedef {{at: bigint, table: string, level: string|null, levelName: string, message: string, span: string}} Line */

/**
 * TraceLogs merges the lines of all tables by time, of one span or of all.
 * @param {{only: import('./waterfalltree.js').Span|null, onAll: () => void, id: string, db: string, begin: bigint,
 *   duration: number, spans: import('./waterfalltree.js').Span[]}} props
 */
export function TraceLogs({ only, onAll, id, db, begin, duration: length, spans }) {
  const [found, setFound] = useState(/** @type {{lines: Line[], tables: string[], full: string[]}|null} */ (null));
  const [error, setError] = useState(/** @type {any} */ (null));
  const range = { from: begin - 5n * minute, to: begin + BigInt(length) + 5n * minute };
  useEffect(() => {
    const control = new AbortController();
    linesOf(db, id, range, control.signal)
      .then((f) => { if (!control.signal.aborted) setFound(f); },
        (e) => { if (!control.signal.aborted) setError(described(e)); });
    return () => control.abort(new DOMException('superseded', 'AbortError'));
  }, [id, db]);
  if (error) return html`<${ErrorBox} error=${error} />`;
  if (!found) return html`<p class="state soft wait" role="status">Asking for logs…</p>`;
  const open = (/** @type {string} */ table) => router.go('logs',
    { t: table, from: rfc3339(range.from), to: rfc3339(range.to),
      f: JSON.stringify(['trace_id', id, '']).replace(/[%,]/g, encodeURIComponent) });
  if (found.lines.length === 0)
    return html`<div class="state"><h2>No log lines of this trace</h2>
      <p>${found.tables.length === 0 ? 'No table of this database has a column trace_id, other than those of spans.'
        : `Asked: ${found.tables.join(', ')}, from five minutes before the trace to five minutes after.`}</p></div>`;
  const byId = new Map(spans.map((s) => [s.id, s]));
  const lines = only ? found.lines.filter((l) => l.span === only.id) : found.lines;
  return html`<div class="trace-logs">
    <div class="small acts-line pad">
      ${found.tables.map((t) => html`<button key=${t} class="open-logs"
        onClick=${() => open(t)}>Open ${t} in Logs</button>`)}
          ${found.full.length > 0 &&
            html`<span class="soft">only the first ${sql.mostLogs} lines of ${found.full.join(', ')}</span>`}</div>
    ${only && html`<p class="pad soft of-span">
      ${lines.length === 0 ? 'No lines' : plural(lines.length, 'line')} of the span <b>${oneLine(only.name, 80)}
        </b>, of ${found.lines.length} of the trace <button class="small" onClick=${onAll}>All lines</button></p>`}
    <table aria-label="Log lines" class="list">
      <thead><tr><th scope="col">time</th><th scope="col">level</th><th scope="col" class="in-span">span</th>
        <th scope="col">message</th></tr></thead><tbody>
      ${lines.map((l, i) => {
        const level = levelOf(l.level, l.levelName), span = byId.get(l.span);
        return html`<tr key=${i}><td class="num" title=${l.table}>${showTime(l.at, 3, zone.value).slice(11)}</td>
          <td class="level level-${level}">${l.level === null ? '' : `${letters[level]} ${oneLine(l.level, 20)}`}</td>
          <td class="in-span">${span
            ? html`<span class="swatch"
              style=${{ background: hashColour(span.service), marginLeft: `${Math.min(span.depth, 12) * 8}px` }}></span>
              ${oneLine(span.name, 60)}` : html`<span class="faint">${l.span ? 'not of this trace' : ''}
              </span>`}</td><td class="mono">${oneLine(l.message)}</td></tr>`;
      })}</tbody></table></div>`;
}

/** @param {string} db @param {string} id @param {{from: bigint, to: bigint}} range @param {AbortSignal} signal */
async function linesOf(db, id, range, signal) {
  const tables = await sql.logTables(db);
  const answers = (await Promise.all(tables.map((t) => sql.logs(db, t, id, range, signal)))).filter((a) => a !== null);
  const lines = answers.flatMap((a) => {
    const roles = rolesOf(a.columns);
    const at = (/** @type {string|null} */ name) => a.found.findIndex((c) => c.name === name);
    const unit = sqltext.unitNanos(a.time.type), time = at(a.time.name), level = at(roles.level),
      message = at(roles.message), span = at(roles.span);
    return a.rows.map((row) => ({
      at: BigInt(row[time]) * unit, table: a.table, level: level < 0 || row[level] === null ? null : String(row[level]),
        levelName: roles.level ?? '',
      message: message < 0 ? a.found.map((c, i) => (row[i] === null ? '' : `${c.name}=${row[i]}`)).filter(Boolean)
        .join(' ') : String(row[message] ?? ''), span: span < 0 ? '' : String(row[span] ?? ''),
    }));
  });
  lines.sort((a, b) => (a.at < b.at ? -1 : a.at > b.at ? 1 : 0));
  return { lines, tables: answers.filter((a) => a.rows.length > 0 || answers.length === 1).map((a) => a.table),
    full: answers.filter((a) => a.rows.length >= sql.mostLogs).map((a) => a.table) };
}

/** ServiceTimes sums own times. @param {{trace: import('./waterfalltree.js').Trace}} props */
export function ServiceTimes({ trace }) {
  const sums = trace.services.map((service) => {
    const own = trace.spans.filter((s) => s.service === service);
    return { service, calls: own.length, errors: own.filter((s) => s.error).length,
      own: own.reduce((n, s) => n + s.own, 0), all: own.reduce((n, s) => n + s.end - s.start, 0) };
  }).sort((a, b) => b.own - a.own);
  const whole = sums.reduce((n, s) => n + s.own, 0) || 1;
  return html`<div class="trace-logs">
    <table aria-label="Services" class="list">
      <thead><tr><th scope="col">service</th><th scope="col" class="num">own time</th>
        <th scope="col" class="num">share</th><th scope="col" class="num">all time</th>
          <th scope="col" class="num">spans</th><th scope="col" class="num">errors</th></tr></thead><tbody>
    ${sums.map((s) => html`<tr key=${s.service}>
      <td><span class="swatch" style=${{ background: hashColour(s.service) }}></span>
        ${oneLine(s.service || 'no service', 80)}</td><td class="num">${duration(s.own / 1e6)}</td>
          <td class="num">${percent(s.own / whole)}</td><td class="num">${duration(s.all / 1e6)}</td>
            <td class="num" title=${plural(s.calls, 'span')}>${s.calls}</td>
              <td class="num ${s.errors > 0 ? 'level-error' : ''}">${s.errors}</td></tr>`)}</tbody></table></div>`;
}
