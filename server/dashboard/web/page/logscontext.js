// The rows around a row: of the same stream, whether the search matches them or not.

import { html, useEffect, useRef, useState } from '../lib/ui.js';
import { described, isAbort, query } from '../core/api.js';
import { count } from '../core/format.js';
import { localRows } from '../core/rows.js';
import * as router from '../core/router.js';
import * as sqltext from '../core/sqltext.js';
import { rfc3339, second } from '../core/time.js';
import { ErrorBox } from '../ui/error.js';
import { LogsList } from './logslist.js';
import * as logsql from './logsparts.js';

const step = 50;
/** The row is looked for among at most this many rows of its instant. */
const mostAtOnce = 10_000;

/** @param {{run: import('./logsrun.js').LogsRun, columns: import('../core/rowset.js').Column[], row: any[]}} props */
export function Context({ run, columns, row }) {
  const scope = run.scope.value;
  const roles = run.roles.value;
  const at = (/** @type {string} */ name) => columns.findIndex((c) => c.name === name);
  const fields = (roles?.stream ?? []).filter((n) => at(n) >= 0 && row[at(n)] !== null);
  const [off, setOff] = useState(/** @type {string[]} */ ([]));
  const [size, setSize] = useState({ before: step, after: step });
  const [found, setFound] =
    useState(/** @type {{rows: import('../core/rows.js').Rows, origin: number, cut: boolean}|null} */ (null));
  const [error, setError] = useState(/** @type {any} */ (null));
  const grid = useRef(/** @type {import('../ui/grid.js').Grid|null} */ (null));
  /**
   * stays is how far below the top of the view the origin is kept while more rows are loaded, px; null: it goes to the
   * middle.
   */
  const stays = useRef(/** @type {number|null} */ (null));
  const moving = useRef(false);
  useEffect(() => { stays.current = null; }, [row]);
  const more = (/** @type {{before: number, after: number}} */ next) => {
    if (!moving.current && grid.current && found)
      stays.current = grid.current.top(found.origin) - grid.current.root.scrollTop;
    moving.current = true;
    setSize(next);
  };
  const on = fields.filter((n) => !off.includes(n));
  const key = JSON.stringify([row, on, size]);

  useEffect(() => {
    if (!scope || !roles?.time) return;
    const control = new AbortController();
    const instant = BigInt(row[at(roles.time.name)]);
    const list = columns.map((c) => sqltext.name(c.name)).join(', ');
    const stream = on.map((n) => sqltext.equals(n, row[at(n)], columns[at(n)].type));
    const ask = (/** @type {'<'|'='|'>'} */ side, /** @type {number} */ limit) =>
      query(logsql.context(scope, list, stream, instant, side, limit), { signal: control.signal });
    Promise.all([ask('<', size.before), ask('=', mostAtOnce), ask('>', size.after)]).then(async (answers) => {
      const [before, atOnce, after] = await Promise.all(answers.map((a) => a.all()));
      for (const a of answers) a.free();
      if (control.signal.aborted) return;
      const { rows, origin, cut } = around(before.reverse(), atOnce, after, row, size);
      setFound({ rows: localRows(columns, rows), origin, cut });
      setError(null);
    }).catch((e) => {
      if (isAbort(e)) return;
      moving.current = false;
      setError(described(e));
    });
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
      ${fields.map((n) => html`<button key=${n} class="small" aria-pressed=${off.includes(n) ? 'false' : 'true'}
        onClick=${() => setOff(off.includes(n) ? off.filter((x) => x !== n) : [...off, n])}>${n} = ${String(row[at(n)])}
        </button>`)}
      ${fields.length === 0 && html`<span class="soft">by time alone: the row has no field of a stream</span>`}
      <span class="grow"></span>
      <button class="small" onClick=${() => more({ ...size, before: size.before + step })}>50 earlier</button>
      <button class="small" onClick=${() => more({ ...size, after: size.after + step })}>50 later</button>
      <button class="small" onClick=${leave}>In the table</button>
    </div>
    ${error && html`<${ErrorBox} error=${error} />`}
    ${found && html`<p class="soft pad nowrap">
      ${count(found.origin)} before, ${count(found.rows.count - found.origin - 1)} after, oldest
        first${found.cut && '; more rows of the same instant are left out'}</p>
      <${LogsList} label="Rows around this one, oldest first" rows=${found.rows} grown=${0} roles=${roles} shown=${[]}
        hits=${null} wrap=${false} widths=${{}} onWidth=${() => {}} onOpen=${() => {}} onMove=${() => {}}
          onEnd=${() => {}} onGrid=${(g) => { grid.current = g; }}
        rowClass=${(_, /** @type {number} */ i) => (i === found.origin ? 'origin' : '')} />`}`;
}

/**
 * around returns a row with the rows around it, at most size.before and size.after of them. When several rows of its
 * instant equal it, the first counts as the row.
 * @param {any[][]} before oldest first
 * @param {any[][]} atOnce the rows of its instant
 * @param {any[][]} after
 * @param {any[]} row
 * @param {{before: number, after: number}} size
 */
export function around(before, atOnce, after, row, size) {
  const wanted = JSON.stringify(row), found = atOnce.findIndex((r) => JSON.stringify(r) === wanted);
  const same = found < 0 ? [row] : atOnce; // the row is beyond mostAtOnce, or gone
  const all = [...before, ...same, ...after], at = before.length + Math.max(0, found);
  const from = Math.max(0, at - size.before), to = at + 1 + size.after;
  return { rows: all.slice(from, to), origin: at - from,
    cut: atOnce.length === mostAtOnce && (found < 0 || to > before.length + same.length) };
}
