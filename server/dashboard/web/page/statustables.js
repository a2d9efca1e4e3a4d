// The tables of the Status page: their sizes, their ranges of time, and actions on them.

import { html, useEffect, useState } from '../lib/ui.js';
import * as router from '../core/router.js';
import { described, isAbort, list } from '../core/api.js';
import { forget } from '../core/catalog.js';
import { bytes, cell, count, plural } from '../core/format.js';
import * as sqltext from '../core/sqltext.js';
import { closed, zone } from '../core/state.js';
import { ask } from '../ui/ask.js';
import { ErrorBox } from '../ui/error.js';
import { Icon } from '../ui/icons.js';
import { Pop } from '../ui/pop.js';
import { toast } from '../ui/toast.js';

/**
 * @typedef {{db: string, name: string, engine: string, rows: number, disk: number, memory: number, index: number,
 *   parts: number, options: string, time: string, timeType: string}} Table
 */

/** The most tables that are listed; the number of the others is shown. */
const most = 100;

/** load reads the list of tables. @param {AbortSignal} signal @returns {Promise<Table[]>} */
export async function load(signal) {
  const rows = await list(
    'SELECT t.table_schema, t.table_name, t.engine, t.table_rows, s.disk_size, s.memtable_size, s.index_size, ' +
    's.sst_num, t.create_options, c.column_name, c.data_type ' +
    'FROM information_schema.tables t JOIN information_schema.region_statistics s ON t.table_id = s.table_id ' +
    "LEFT JOIN information_schema.columns c ON c.table_schema = t.table_schema AND c.table_name = t.table_name AND " +
    "c.semantic_type = 'TIMESTAMP' " +
    "WHERE t.table_type = 'BASE TABLE' ORDER BY s.disk_size + s.memtable_size DESC, 2", { signal, background: true });
  return rows.map(([db, name, engine, n, disk, memory, index, parts, options, time, timeType]) => ({
    db, name, engine, rows: Number(n), disk: Number(disk), memory: Number(memory), index: Number(index),
      parts: Number(parts), options: options ?? '', time: time ?? '', timeType: timeType ?? '',
  }));
}

/** @typedef {(t: Table) => number|string} Key */
/** @type {{id: string, title: string, num?: boolean, of: Key}[]} */
const heads = [
  { id: 'name', title: 'Table', of: (t) => `${t.db}.${t.name}` },
  { id: 'rows', title: 'Rows', num: true, of: (t) => t.rows },
  { id: 'size', title: 'Size', num: true, of: (t) => t.disk + t.memory },
  { id: 'row', title: 'A row', num: true, of: (t) => (t.rows ? (t.disk + t.memory) / t.rows : 0) },
  { id: 'parts', title: 'Parts', num: true, of: (t) => t.parts },
];

/**
 * @param {{tables: Table[]|null, error: any, sort: string, onSort: (id: string) => void, onChange: () => void}} props
 */
export function Tables({ tables, error, sort, onSort, onChange }) {
  const [find, setFind] = useState('');
  if (error) return html`<${ErrorBox} error=${error} />`;
  if (!tables) return html`<p class="state soft wait" role="status">Reading …</p>`;
  if (tables.length === 0)
    return html`<div class="state"><h2>There are no tables yet</h2>
      <div class="actions"><button class="primary" onClick=${() => router.go('ingest')}>Send the first lines</button>
        </div></div>`;
  const down = sort.startsWith('-'), head = heads.find((h) => h.id === sort.replace('-', '')) ?? heads[2];
  const needle = find.toLowerCase();
  const shown = tables.filter((t) => `${t.db}.${t.name}`.toLowerCase().includes(needle)).sort((a, b) => {
    const x = head.of(a), y = head.of(b);
    return (x < y ? -1 : x > y ? 1 : 0) * (down ? -1 : 1);
  });
  const largest = Math.max(1, ...tables.map((t) => t.disk + t.memory));
  return html`<div class="row">
    <input type="search" aria-label="Find a table" placeholder="Find a table" value=${find}
      onInput=${(e) => setFind(e.target.value)} />
      <span class="soft">${plural(tables.length, 'table')}, ${bytes(tables.reduce((n, t) => n + t.disk + t.memory, 0))}
        ${shown.length > most ? `; the first ${most} are shown` : ''}</span></div>
    <div class="scroll" tabindex="0" role="region" aria-label="Tables"><table class="list tables"><thead><tr>
      ${heads.map((h) => html`<th key=${h.id} scope="col" class=${h.num ? 'num' : ''}
        aria-sort=${h === head ? (down ? 'descending' : 'ascending') : 'none'}>
        <button class="quiet small" onClick=${() => onSort(h === head && down ? h.id : '-' + h.id)}>${h.title}
          ${h === head ? (down ? ' ↓' : ' ↑') : ''}</button></th>`)}
      <th scope="col" class="num">Oldest</th><th scope="col" class="num">Newest</th><th scope="col">Options</th>
        <th scope="col"><span class="only-read">Actions</span></th></tr></thead>
    <tbody>${shown.slice(0, most)
      .map((t) => html`<${Row} key=${`${t.db}.${t.name}`} t=${t} share=${(t.disk + t.memory) / largest}
        onChange=${onChange} />`)}</tbody></table></div>`;
}

/** perRow writes bytes for each row, which may be a fraction of one. @param {number} n */
const perRow = (n) => (n < 0.1 ? '< 0.1 B' : n < 10 ? `${n.toFixed(1)} B` : bytes(n));

/**
 * spans are kept for a minute: they cost a look at each table.
 * @type {Map<string, {at: number, span: [string, string]|null}>}
 */
const spans = new Map();

/** @param {{t: Table, share: number, onChange: () => void}} props */
function Row({ t, share, onChange }) {
  const id = `${t.db}.${t.name}`;
  const [span, setSpan] = useState(/** @type {[string, string]|null|undefined} */ (spans.get(id)?.span));
  useEffect(() => {
    const kept = spans.get(id);
    if (!t.time || t.rows === 0 || (kept && Date.now() - kept.at < 60_000)) return;
    const control = new AbortController();
    const column = sqltext.name(t.time);
    list(`SELECT min(${column}), max(${column}) FROM ${sqltext.name(t.db)}.${sqltext.name(t.name)}`,
      { db: t.db, signal: control.signal, background: true }).then((rows) => {
      const found = /** @type {[string, string]} */ ([cell(rows[0][0], t.timeType, zone.value),
        cell(rows[0][1], t.timeType, zone.value)]);
      spans.set(id, { at: Date.now(), span: found });
      setSpan(found);
    }, (e) => { if (!isAbort(e)) setSpan(null); });
    return () => control.abort(new DOMException('left', 'AbortError'));
  }, [id, t.rows]);
  const host = /(?:^|\n| )on_physical_table=(\S+)/.exec(t.options)?.[1];
  const when = (/** @type {0|1} */ i) => (span ? html`<span title=${span[i]}>${span[i].slice(0, 19)}</span>`
    : t.rows === 0 || span === null ? html`<span class="faint">–</span>` : '');
  return html`<tr>
    <td class="name"><button class="link"
      onClick=${() => router.go('logs', { ...(t.db === 'public' ? {} : { db: t.db }), t: t.name })}>
        ${t.db === 'public' ? '' : t.db + '.'}${t.name}</button></td>
    <td class="num">${count(t.rows)}</td>
    <td class="num size" title=${host ? `Its rows lie in ${host}` : undefined}>
      ${host ? html`<span class="faint">in ${host}</span>`
        : html`<span class="share" aria-hidden="true"><i style=${{ width: `${(share * 100).toFixed(1)}%` }}></i></span>
        <span class="text">${bytes(t.disk + t.memory)}</span>`}</td>
    <td class="num">${t.rows && !host ? perRow((t.disk + t.memory) / t.rows) : html`<span class="faint">–</span>`}</td>
    <td class="num">${count(t.parts)}</td>
    <td class="num">${when(0)}</td><td class="num">${when(1)}</td>
    <td class="mono options" title=${t.options}>${t.options.replace(/(^|[\n ])comment=.*/, '').replace(/\n/g, ' ')}</td>
    <td><${Pop} label=${html`<${Icon} name="menu" />`} title=${closed.value || `What to do with ${t.name}`}
      className="quiet small icon" side="right" menu disabled=${closed.value !== ''}>
      ${(close) => actions(t, onChange)
        .map((a) => html`<button key=${a.text} role="menuitem" class=${a.bad ? 'danger' : ''}
          onClick=${() => { close(); void a.run(); }}>${a.text}</button>`)}</${Pop}></td></tr>`;
}

/** @param {Table} t @param {() => void} onChange */
function actions(t, onChange) {
  const run = async (/** @type {string} */ sql, /** @type {string} */ done) => {
    try {
      await list(sql, { db: t.db, retry: false });
      toast(done, { kind: 'good' });
      forget();
      onChange();
    } catch (e) {
      if (!isAbort(e)) toast(described(e).message, { kind: 'bad' });
    }
  };
  const quoted = sqltext.string(t.name);
  return [
    { text: 'Write rows in memory to a part',
      run: () => run(`ADMIN flush_table(${quoted})`, `Rows of ${t.name} are written`) },
    { text: 'Merge parts', run: () => run(`ADMIN compact_table(${quoted})`, `Parts of ${t.name} are merged`) },
    {
      text: 'Drop the table …', bad: true, run: async () => {
        const sql = `DROP TABLE ${sqltext.name(t.db)}.${sqltext.name(t.name)}`;
        const sure = await ask({ title: `Drop ${t.name}`,
          text: `All ${count(t.rows)} rows are lost. This cannot be taken back.`, code: sql, typed: t.name,
          yes: 'Drop the table' });
        if (sure !== null) await run(sql, `${t.name} is dropped`);
      },
    },
  ];
}
