// The statements that run now, each with a way to end it, and the slow ones where the server keeps them.

import { html, useState } from '../lib/ui.js';
import { described, isAbort, list } from '../core/api.js';
import { tables } from '../core/catalog.js';
import { cell, duration, oneLine, raw } from '../core/format.js';
import * as sqltext from '../core/sqltext.js';
import { closed, zone } from '../core/state.js';
import { ErrorBox } from '../ui/error.js';
import { toast } from '../ui/toast.js';
import { usePoll } from '../ui/usepoll.js';

/** What this page itself asks is left out. */
const own = 'SELECT id, schemas, client, start_timestamp, query FROM information_schema.process_list WHERE query NOT LIKE \'%information_schema.process_list%\' ORDER BY start_timestamp';

export function Queries() {
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
    ${rows && rows.length > 0 && html`<div class="scroll" tabindex="0" role="region" aria-label="Running statements"><table class="list queries"><thead><tr><th scope="col">Id</th><th scope="col" class="num">For</th><th scope="col">Database</th><th scope="col">Client</th><th scope="col">Statement</th><th scope="col"><span class="only-read">Kill</span></th></tr></thead>
      <tbody>${rows.map(([id, db, client, since, text]) => html`<tr key=${id}><td class="mono">${id}</td><td class="num">${duration(Math.max(0, Date.now() - Number(since)))}</td><td>${db}</td><td class="mono nowrap">${client}</td>
        <td class="mono text" title=${text}>${oneLine(text, 300)}</td>
        <td><button class="small danger" disabled=${closed.value !== ''} title=${closed.value} onClick=${() => void kill(String(id))}>Kill</button></td></tr>`)}</tbody></table></div>`}
    <${Slow} />`;
}

function Slow() {
  const [shown, setShown] = useState(/** @type {{columns: string[], types: string[], rows: any[][]}|null} */ (null));
  usePoll(async (signal) => {
    try {
      if (!(await tables('service_private')).some((t) => t.name === 'slow_queries')) return;
      const heads = await list("SELECT column_name, data_type FROM information_schema.columns WHERE table_schema = 'service_private' AND table_name = 'slow_queries' ORDER BY ordinal_position", { signal, background: true });
      const time = heads.find((h) => sqltext.isTime(h[1]))?.[0];
      const rows = await list(`SELECT * FROM service_private.slow_queries ${time ? `ORDER BY ${sqltext.name(time)} DESC` : ''} LIMIT 50`, { signal, background: true });
      setShown({ columns: heads.map((h) => h[0]), types: heads.map((h) => h[1]), rows });
    } catch {
      // The list above says what is wrong with the connection or the rights.
    }
  }, 15_000);
  if (!shown) return null;
  return html`<h2>Slow statements</h2><div class="scroll" tabindex="0" role="region" aria-label="Slow statements"><table class="list queries"><thead><tr>${shown.columns.map((c) => html`<th key=${c} scope="col">${c}</th>`)}</tr></thead>
    <tbody>${shown.rows.map((r, i) => html`<tr key=${i}>${r.map((v, k) => html`<td key=${k} class=${`mono ${sqltext.isNumeric(shown.types[k]) ? 'num' : 'text'}`} title=${raw(v)}>${oneLine(cell(v, shown.types[k], zone.value), 300)}</td>`)}</tr>`)}</tbody></table></div>`;
}
