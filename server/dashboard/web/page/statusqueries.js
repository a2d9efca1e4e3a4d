// The statements that run now, each with a way to end it, and the slow ones where the server keeps them.

import { html, useState } from '../lib/ui.js';
import * as router from '../core/router.js';
import { described, isAbort, list } from '../core/api.js';
import { cell, count, duration, oneLine } from '../core/format.js';
import * as sqltext from '../core/sqltext.js';
import { closed, zone } from '../core/state.js';
import { plain } from '../core/toml.js';
import { ErrorBox } from '../ui/error.js';
import { toast } from '../ui/toast.js';
import { usePoll } from '../ui/usepoll.js';

/** What this page itself asks is left out. */
const own =
  'SELECT id, schemas, user, client, start_timestamp, query FROM information_schema.process_list ' +
  'WHERE query NOT LIKE \'%information_schema.process_list%\' ORDER BY start_timestamp';

/**
 * @param {{settings: import('../core/toml.js').Setting[]|null}} props The configuration; null to those who may not read
 *   it.
 */
export function Queries({ settings }) {
  const [rows, setRows] = useState(/** @type {any[][]|null} */ (null));
  const [error, setError] = useState(/** @type {any} */ (null));
  const load = async (/** @type {AbortSignal} */ signal) => {
    try {
      setRows(await list(own, { signal, background: true }));
      setError(null);
    } catch (e) {
      if (!isAbort(e)) setError(described(e));
    }
  };
  usePoll(load, 2000);
  const kill = async (/** @type {string} */ id) => {
    try {
      await list(`KILL ${sqltext.string(id)}`, { retry: false });
      toast(`Statement ${id} was ended`, { kind: 'good' });
      await load(new AbortController().signal);
    } catch (e) {
      if (!isAbort(e)) toast(described(e).message, { kind: 'bad' });
    }
  };
  return html`<h2>Running statements</h2>
    ${error && html`<${ErrorBox} error=${error} />`}
    ${rows?.length === 0 && html`<p class="soft">None runs now.</p>`}
    ${rows && rows.length > 0 &&
      html`<div class="scroll" tabindex="0" role="region" aria-label="Running statements">
        <table class="list queries">
          <thead><tr><th scope="col">Id</th><th scope="col" class="num">For</th><th scope="col">Database</th>
            <th scope="col">User</th><th scope="col">Client</th><th scope="col">Statement</th>
              <th scope="col"><span class="only-read">Kill</span></th></tr></thead>
      <tbody>${rows.map(([id, db, user, client, since, text]) => html`<tr key=${id}><td class="mono">${id}</td>
        <td class="num">${duration(Math.max(0, Date.now() - Number(since)))}</td><td>${db}</td><td>${user}</td>
          <td class="mono nowrap">${client}</td>
        <td class="mono text" title=${text}>${oneLine(text, 300)}</td>
        <td><button class="small danger" disabled=${closed.value !== ''} title=${closed.value}
          onClick=${() => void kill(String(id))}>Kill</button></td></tr>`)}</tbody></table></div>`}
    <${Slow} settings=${settings} />`;
}

/** The table is made with the first slow statement. */
const isThere =
  "SELECT table_name FROM information_schema.tables WHERE table_schema = 'service_private' " +
  "AND table_name = 'slow_queries'";

/** So many characters of a text are asked for; a longer one is not offered to be run. */
const shownText = 2000;

/**
 * keyed names rows by their content, so that a button stays with its statement when others come before it.
 * @param {any[][]} rows
 */
function keyed(rows) {
  /** @type {Map<string, number>} */
  const there = new Map();
  return rows.map((r) => {
    const key = JSON.stringify([r[0], r[1], r[4], r[7]]), n = there.get(key) ?? 0;
    there.set(key, n + 1);
    return { key: `${key} ${n}`, r };
  });
}

/** What the server keeps of slow statements; the newest are shown. */
const slow =
  `SELECT "timestamp", cost, db, user_name, client, row_count, error, ` +
  `substr(query, 1, ${shownText}), is_promql, cast(promql_start AS BIGINT), cast(promql_end AS BIGINT), promql_step, ` +
  `length(query)\nFROM service_private.slow_queries ORDER BY "timestamp" DESC LIMIT 50`;

/**
 * runnable returns a statement of SQL that runs again what a row ran. For a request of the metrics API it adds the
 * times, which lie beside the expression.
 * @param {any[]} row
 */
function runnable([, , , , , , , text, metrics, start, end, step]) {
  if (!metrics || start === null || /^\s*TQL\s/i.test(text)) return text;
  return `TQL EVAL (${Number(start) / 1000}, ${Number(end) / 1000}, '${Math.max(1, Number(step))}ms') ${text}`;
}

/** @param {{settings: import('../core/toml.js').Setting[]|null}} props */
function Slow({ settings }) {
  const [rows, setRows] = useState(/** @type {any[][]|null} */ (null));
  const [error, setError] = useState(/** @type {any} */ (null));
  usePoll(async (signal) => {
    try {
      const made = (await list(isThere, { signal, background: true })).length > 0;
      setRows(made ? await list(slow, { signal, background: true }) : []);
      setError(null);
    } catch (e) {
      if (!isAbort(e)) setError(described(e));
    }
  }, 15_000);
  const of = (/** @type {string} */ key) => plain(settings?.find((s) => s.key === `slow_query.${key}`)?.value ?? '');
  const off = of('enable') === 'false', lines = of('record_type') === 'log';
  return html`<h2>Slow statements</h2>
    ${off && html`<p class="soft">They are not recorded: set <code>slow_query.enable = true</code> in the configuration
      and start the server again.</p>`}
    ${!off && lines && html`<p
      class="soft">Those of ${of('threshold')} and longer are lines of the server's
        log: <code>slow_query.record_type = "system_table"</code> keeps them where this page finds them.</p>`}
    ${error && html`<${ErrorBox} error=${error} />`}
    ${!off && !lines && rows?.length === 0 &&
      html`<p class="soft">No statement took ${of('threshold') || 'longer than the server allows without a word'}
        ${of('threshold') && ' or longer'}.</p>`}
    ${rows && rows.length > 0 &&
      html`<div class="scroll" tabindex="0" role="region" aria-label="Slow statements">
        <table class="list queries slow">
          <thead><tr><th scope="col">Began</th><th scope="col" class="num">Took</th><th scope="col">Database</th>
            <th scope="col">User</th><th scope="col">Client</th><th scope="col" class="num">Rows</th>
              <th scope="col">Statement</th><th scope="col"><span class="only-read">Open in SQL</span></th></tr></thead>
      <tbody>${keyed(rows).map(({ key, r }) => html`<tr key=${key}>
        <td class="mono nowrap">${cell(r[0], 'TimestampMillisecond', zone.value)}</td>
          <td class="num nowrap">${Number(r[1]) === 0 ? '< 1 ms' : duration(Number(r[1]))}</td><td>${r[2]}</td>
            <td>${r[3] ?? ''}</td><td class="mono nowrap">${r[4]}</td>
              <td class="num">${r[5] === null ? '' : count(r[5])}</td>
        <td class="mono text" title=${r[7]}>${oneLine(r[7], 300)}
          ${r[6] !== null && html`<div title=${r[6]}><span class="badge bad">failed</span> ${oneLine(r[6], 300)}</div>`}
            </td>
        <td>${Number(r[12]) <= shownText &&
          html`<button class="small"
            onClick=${() => router.go('sql', { sql: runnable(r), db: r[2] })}>Open in SQL</button>`}</td>
            </tr>`)}</tbody></table></div>`}`;
}
