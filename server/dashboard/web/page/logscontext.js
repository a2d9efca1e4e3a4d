// What stood around a row in the same stream, without the search.

import { html, useEffect, useRef, useState } from '../lib/ui.js';
import { described, isAbort, query } from '../core/api.js';
import { count } from '../core/format.js';
import { localRows } from '../core/rows.js';
import * as router from '../core/router.js';
import * as sqltext from '../core/sqltext.js';
import { rfc3339, second } from '../core/time.js';
import { ErrorBox } from '../ui/error.js';
import { LogsList } from './logslist.js';
import * as logsql from './logsquery.js';

const step = 50;

/** @param {{run: import('./logsrun.js').LogsRun, columns: import('../core/rowset.js').Column[], row: any[]}} props */
export function Context({ run, columns, row }) {
  const scope = run.scope.value;
  const roles = run.roles.value;
  const at = (/** @type {string} */ name) => columns.findIndex((c) => c.name === name);
  const fields = (roles?.stream ?? []).filter((n) => at(n) >= 0 && row[at(n)] !== null);
  const [off, setOff] = useState(/** @type {string[]} */ ([]));
  const [size, setSize] = useState({ before: step, after: step });
  const [found, setFound] = useState(/** @type {{rows: import('../core/rows.js').Rows, origin: number, before: number, after: number}|null} */ (null));
  const [error, setError] = useState(/** @type {any} */ (null));
  const grid = useRef(/** @type {import('../ui/grid.js').Grid|null} */ (null));
  /** stays is how far from the top of the list the origin stands while more is loaded, px. */
  const stays = useRef(/** @type {number|null} */ (null));
  const moving = useRef(false);
  useEffect(() => { stays.current = null; }, [row]);
  const more = (/** @type {{before: number, after: number}} */ next) => {
    if (!moving.current && grid.current && found) stays.current = grid.current.top(found.origin) - grid.current.root.scrollTop;
    moving.current = true;
    setSize(next);
  };
  const on = fields.filter((n) => !off.includes(n));
  const key = JSON.stringify([row, on, size]);

  useEffect(() => {
    if (!scope || !roles?.time) return;
    const control = new AbortController();
    const instant = BigInt(row[at(roles.time.name)]);
    const stream = on.map((n) => sqltext.equals(n, row[at(n)], columns[at(n)].type));
    Promise.all([false, true].map((after) => query(logsql.context(scope, stream, instant, after, (after ? size.after : size.before) + 1), { signal: control.signal })))
      .then(async ([older, newer]) => {
        const before = (await older.all()).reverse(), after = await newer.all();
        if (control.signal.aborted) return;
        const merged = join(before, after, row, before[0]?.length === row.length ? at(/** @type {any} */ (roles).time.name) : -1);
        setFound({ rows: localRows(older.columns, merged.rows), origin: merged.origin, before: before.length, after: after.length });
        setError(null);
      }).catch((e) => { if (!isAbort(e)) setError(described(e)); });
    return () => control.abort();
  }, [key]);
  useEffect(() => {
    if (found && grid.current) {
      const g = grid.current;
      requestAnimationFrame(() => {
        g.focus = g.anchor = found.origin;
        moving.current = false;
        if (stays.current === null) return g.reveal(found.origin, 'middle');
        g.root.scrollTop = g.top(found.origin) - stays.current;
        g.schedule();
      });
    }
  }, [found]);
  if (!scope || !roles?.time) return null;
  const instant = BigInt(row[at(roles.time.name)]) * sqltext.unitNanos(columns[at(roles.time.name)].type);
  const leave = () => router.go('logs', {
    t: scope.table, from: rfc3339(instant - 300n * second), to: rfc3339(instant + 300n * second),
    f: on.map((n) => JSON.stringify([n, row[at(n)], '']).replace(/[%,]/g, encodeURIComponent)).join(','),
  });
  return html`<div class="context-bar small">
      ${fields.map((n) => html`<button key=${n} class="small" aria-pressed=${off.includes(n) ? 'false' : 'true'} onClick=${() => setOff(off.includes(n) ? off.filter((x) => x !== n) : [...off, n])}>${n} = ${String(row[at(n)])}</button>`)}
      ${fields.length === 0 && html`<span class="soft">by time alone: the row has no field of a stream</span>`}
      <span class="grow"></span>
      <button class="small" onClick=${() => more({ ...size, before: size.before + step })}>50 earlier</button>
      <button class="small" onClick=${() => more({ ...size, after: size.after + step })}>50 later</button>
      <button class="small" onClick=${leave}>In the table</button>
    </div>
    ${error && html`<${ErrorBox} error=${error} />`}
    ${found && html`<p class="soft pad nowrap">${count(found.origin)} before, ${count(found.rows.count - found.origin - 1)} after, oldest first</p>
      <${LogsList} label="Rows around this one, oldest first" rows=${found.rows} grown=${0} roles=${roles} shown=${[]} hits=${null} wrap=${false} widths=${{}} onWidth=${() => {}} onOpen=${() => {}} onMove=${() => {}} onEnd=${() => {}} onGrid=${(/** @type {any} */ g) => { grid.current = g; }}
        rowClass=${(/** @type {any} */ _, /** @type {number} */ i) => (i === found.origin ? 'origin' : '')} />`}`;
}

/**
 * join puts what came before and after into one list. Rows of the instant itself are in both answers: each is kept as often
 * as the answer that has it more often.
 * @param {any[][]} before oldest first @param {any[][]} after @param {any[]} row @param {number} time column
 */
export function join(before, after, row, time) {
  const instant = String(row[time]);
  const same = (/** @type {any[][]} */ list) => list.filter((r) => String(r[time]) === instant);
  const rows = before.filter((r) => String(r[time]) !== instant);
  /** @type {Map<string, number>} */
  const have = new Map();
  for (const r of same(before)) {
    const k = JSON.stringify(r);
    have.set(k, (have.get(k) ?? 0) + 1);
    rows.push(r);
  }
  for (const r of same(after)) {
    const k = JSON.stringify(r);
    const n = have.get(k) ?? 0;
    if (n > 0) have.set(k, n - 1);
    else rows.push(r);
  }
  rows.push(...after.filter((r) => String(r[time]) !== instant));
  const wanted = JSON.stringify(row);
  return { rows, origin: Math.max(0, rows.findIndex((r) => JSON.stringify(r) === wanted)) };
}
