// What the Logs page shows when there are no rows: how to send the first ones, at which times there are rows, or which
// condition excludes all.

import { html, useEffect, useState } from '../lib/ui.js';
import { described, isAbort, list, request } from '../core/api.js';
import * as catalog from '../core/catalog.js';
import { oneLine, plural, visible } from '../core/format.js';
import { nearest } from '../core/fuzzy.js';
import * as router from '../core/router.js';
import { root } from '../core/api.js';
import { closed, frame, range, setRange, zone } from '../core/state.js';
import * as sqltext from '../core/sqltext.js';
import { nowNanos, rfc3339, showTime } from '../core/time.js';
import { Icon } from '../ui/icons.js';
import { rangeText } from '../ui/timepicker.js';
import { copy, toast } from '../ui/toast.js';
import { demoLines } from './demo.js';
import * as logsql from './logsparts.js';

/**
 * Empty stands where there is no table to read.
 * @param {{run: import('./logsrun.js').LogsRun, state: import('../core/state.js').PageState}} props
 */
export function Empty({ run, state }) {
  const tables = run.tables.value ?? [];
  const name = state.get('t');
  if (tables.length > 0 && name) return html`<${NoTable} run=${run} name=${name} state=${state} />`;
  if (tables.length > 0 && run.columns.value.length > 0) return html`<${NoTime} name=${run.table()} />`;
  return html`<${First} run=${run} state=${state} />`;
}

/** @param {{run: import('./logsrun.js').LogsRun, name: string, state: import('../core/state.js').PageState}} props */
function NoTable({ run, name, state }) {
  const known = (run.tables.value ?? []).map((t) => t.name);
  if (known.includes(name)) return html`<${NoTime} name=${name} />`;
  return html`<div class="state"><h2>There is no table ${visible(name)} in ${visible(state.get('db'))}</h2>
    <div class="actions">${nearest(name, known)
      .map((n) => html`<button key=${n} onClick=${() => state.set({ t: n })}>${oneLine(n, 60)}</button>`)}
    <button onClick=${() => state.set({ t: '' })}>Another table</button>
      <button onClick=${() => router.go('sql')}>Open SQL</button></div></div>`;
}

/** @param {{name: string}} props */
const NoTime = ({ name }) => html`<div class="state"><h2>${visible(name)} has no time column</h2>
  <p>Logs are read by time; this table can be read with SQL.</p>
  <div class="actions"><button class="primary"
    onClick=${() => router.go('sql', { sql: `SELECT * FROM ${sqltext.table(name)} LIMIT 100` })}>Open in SQL</button>
      </div></div>`;

/**
 * First is how to begin on a fresh server.
 * @param {{run: import('./logsrun.js').LogsRun, state: import('../core/state.js').PageState}} props
 */
function First({ run, state }) {
  const [busy, setBusy] = useState(false);
  const db = state.get('db');
  const command =
    `curl -X POST '${root.href}v1/ingest?db=${encodeURIComponent(db)}&table=app&pipeline_name=service_identity' \\\n` +
    `  -H 'Content-Type: application/x-ndjson' \\\n` +
    `  --data-binary '{"level":"info","message":"started"}\n{"level":"error","message":"cannot reach cart-7"}'`;
  const demo = async () => {
    setBusy(true);
    try {
      await request('v1/ingest',
        { query: { db, table: 'demo_logs', pipeline_name: 'service_identity', custom_time_index: 'ts;epoch;ns' },
          method: 'POST', headers: { 'Content-Type': 'application/x-ndjson' }, body: demoLines(5000), retry: false });
      catalog.forget();
      toast('5,000 demo rows are in table demo_logs', { kind: 'good' });
      state.set({ t: 'demo_logs' });
      await run.run();
    } catch (e) {
      if (!isAbort(e)) toast(described(e).message, { kind: 'bad' });
    }
    setBusy(false);
  };
  const readOnly = closed.value !== '';
  return html`<div class="state first"><h2>No logs yet in ${db}</h2>
    <p class="soft">Three ways to begin; each takes less than a minute.</p>
    <section><h3>1. From a terminal</h3><pre>${command}</pre>
      <div class="actions"><button onClick=${() => copy(command, 'Command copied')}><${Icon} name="copy" />Copy</button>
      <button onClick=${() => { catalog.forget(); void run.run(); }}>
        <${Icon} name="refresh" />I have sent it: look again</button></div></section>
    <section><h3>2. Paste lines here</h3><p>Text, JSON or a file: the Ingest page finds out what it is.</p>
      <div class="actions"><button onClick=${() => router.go('ingest')}>Paste lines</button></div></section>
    <section><h3>3. Try with made-up logs</h3>
      <p>5,000 lines of a small shop, of the last hour, in table <code>demo_logs</code>.</p>
      <div class="actions"><button class="primary" disabled=${busy || readOnly} title=${closed.value} onClick=${demo}>
        ${busy ? 'Creating…' : 'Create 5,000 demo rows'}</button></div></section>
  </div>`;
}

/**
 * NothingFound says why no row is there: the range, or one condition.
 * @param {{run: import('./logsrun.js').LogsRun, state: import('../core/state.js').PageState, found:
 *   import('../core/search.js').Found}} props
 */
export function NothingFound({ run, state, found }) {
  const scope = run.scope.value;
  const [newest, setNewest] = useState(/** @type {bigint|null|undefined} */ (undefined));
  const [without, setWithout] = useState(/** @type {{condition: string, n: number}[]} */ ([]));
  const filters = scope?.filters ?? [];
  useEffect(() => {
    if (!scope || !scope.roles.time) return;
    const time = scope.roles.time;
    const control = new AbortController();
    const options = { signal: control.signal, background: true };
    list(logsql.span(scope.table, time.name), options)
      .then(([[, high]]) => setNewest(high === null ? null : BigInt(high) * sqltext.unitNanos(time.type)), () => {});
    if (filters.length > 0) {
      Promise.all(filters.slice(0, 8).map(async (condition) => {
        const rest = { ...scope, filters: filters.filter((f) => f !== condition) };
        const [[n]] = await list(logsql.total(rest), options);
        return { condition, n: Number(n) };
      })).then(setWithout, () => {});
    }
    return () => control.abort();
  }, [scope]);
  if (!scope) return null;
  const r = scope.range;
  const span = r.from === null ? 'at all'
    : `between ${showTime(r.from, 0, zone.value)} and ${showTime(r.to ?? nowNanos(), 0, zone.value)}`;
  const helpful = without.filter((w) => w.n > 0);
  return html`<div class="state"><h2>No rows ${span}</h2>
    ${filters.length > 0 && helpful.length > 0 && html`<p>Without one of the conditions there are some:</p>
      <ul class="plain">${helpful.map((w) => html`<li key=${w.condition}><code>${w.condition}
        </code> <span class="soft">without it ${plural(w.n, 'row')}</span></li>`)}</ul>`}
    ${filters.length > 0 && without.length > 0 && helpful.length === 0 &&
      html`<p>No single condition is the reason: even with any one of them removed there is no row in the range.</p>`}
    ${newest === null ? html`<p>The table is empty.</p>`
      : newest !== undefined &&
      html`<p>The newest row of <code>${scope.table}</code> is of <b class="num">${showTime(newest, 3, zone.value)}
        </b>.</p>`}
    <div class="actions">
      ${newest && html`<button class="primary"
        onClick=${() => setRange(rfc3339(newest - 1_800_000_000_000n), rfc3339(newest + 1_000_000_000n))}>
          Go to the newest</button>`}
      ${range.value.from !== 'all' &&
        html`<button onClick=${() => frame.set({ from: 'all', to: 'now' })}>All time</button>`}
      ${(found.sql || state.get('w') || state.get('f').length > 0) &&
        html`<button onClick=${() => state.set({ q: '', w: '', f: [] })}>Remove all conditions</button>`}
    </div><p class="faint">Range: ${rangeText(range.value, zone.value)}</p></div>`;
}
