// The tree of databases, tables and columns beside the editor.

import { html, useEffect, useState } from '../lib/ui.js';
import { described, isAbort, list } from '../core/api.js';
import * as catalog from '../core/catalog.js';
import { count, oneLine, short } from '../core/format.js';
import { score } from '../core/fuzzy.js';
import * as router from '../core/router.js';
import { closed, db } from '../core/state.js';
import * as sqltext from '../core/sqltext.js';
import { ask } from '../ui/ask.js';
import { Icon } from '../ui/icons.js';
import { Pop } from '../ui/pop.js';
import { toast } from '../ui/toast.js';

/** Tables of a database, and columns of a table, that are listed. */
const mostTables = 150, mostColumns = 300;

/** @param {{onInsert: (text: string) => void, onRun: (sql: string) => void}} props */
export function Tree({ onInsert, onRun }) {
  const [text, setText] = useState('');
  const [tables, setTables] = useState(/** @type {Record<string, catalog.Table[]>} */ ({}));
  const [open, setOpen] = useState(/** @type {string[]} */ ([db.value]));
  const names = catalog.databases.value ?? [db.value];
  const load = (/** @type {string} */ name) => catalog.tables(name)
    .then((found) => setTables((before) => ({ ...before, [name]: found })), () => {});
  const fits = (/** @type {string} */ name) => (tables[name] ?? []).filter((t) => score(text, t.name) > 0);
  useEffect(() => { if (!catalog.databases.value) void catalog.databases.load(); }, []);
  useEffect(() => { open.forEach((n) => void load(n)); }, [open.join('\u0001')]);
  const toggle = (/** @type {string} */ n) => setOpen(open.includes(n) ? open.filter((o) => o !== n) : [...open, n]);
  return html`<aside class="sql-tree" aria-label="Tables">
    <div class="head"><input placeholder="Find a table" aria-label="Find a table" value=${text}
      onInput=${(e) => setText(e.target.value)} />
      <button class="quiet small icon" title="Look again" aria-label="Look again"
        onClick=${() => { catalog.forget(); void catalog.databases.load(); open.forEach((n) => void load(n)); }}>
          <${Icon} name="refresh" /></button></div>
    <div class="scroll">${names.map((n) => html`<div key=${n}>
      <button class="quiet node" aria-expanded=${open.includes(n) ? 'true' : 'false'} onClick=${() => toggle(n)}>
        <${Icon} name=${open.includes(n) ? 'down' : 'right'} /><b>${n}</b></button>
      ${open.includes(n) && fits(n).slice(0, mostTables)
        .map((t) => html`<${TableNode} key=${t.name} db=${n} table=${t} onInsert=${onInsert} onRun=${onRun}
          onChanged=${() => { catalog.forget(); void load(n); }} />`)}
      ${open.includes(n) && fits(n).length > mostTables &&
        html`<p class="faint pad cut">${count(fits(n).length - mostTables)} more: type a part of the name</p>`}
      ${open.includes(n) && tables[n]?.length === 0 && html`<p class="faint pad">no tables</p>`}</div>`)}</div>
  </aside>`;
}

/**
 * @param {{db: string, table: catalog.Table, onInsert: (text: string) => void, onRun: (sql: string) => void, onChanged:
 *   () => void}} props
 */
function TableNode({ db: database, table, onInsert, onRun, onChanged }) {
  const [open, setOpen] = useState(false);
  const [columns, setColumns] = useState(/** @type {catalog.Column[]|null} */ (null));
  useEffect(() => { if (open && !columns) void catalog.columns(database, table.name).then(setColumns, () => {}); },
    [open]);
  const name = sqltext.table(table.name, database === db.value ? undefined : database);
  const drop = async () => {
    const yes = await ask({ title: `Drop ${table.name}`, text: 'The table and all its rows are deleted for good.',
      typed: table.name, yes: 'Drop the table' });
    if (yes === null) return;
    try {
      await list(`DROP ${table.kind === 'VIEW' ? 'VIEW' : 'TABLE'} ${sqltext.table(table.name, database)}`,
        { retry: false });
      onChanged();
    } catch (e) {
      if (!isAbort(e)) toast(described(e).message, { kind: 'bad' });
    }
  };
  return html`<div class="table-node"><span class="row">
      <button class="quiet node grow" aria-expanded=${open ? 'true' : 'false'} onClick=${() => setOpen(!open)}
        onDblClick=${() => onInsert(name)} title=${[table.name, table.options].filter(Boolean).join('\n')}>
          <${Icon} name=${open ? 'down' : 'right'} /><span class="text">${oneLine(table.name, 80)}</span>
            <span class="faint num end">${table.rows === null ? '' : short(table.rows)}</span></button>
      <${Pop} title=${`What to do with ${table.name}`} className="quiet small icon" side="right" menu
        label=${html`<${Icon} name="menu" />`}>
        ${(close) => html`
          <button role="menuitem" onClick=${() => { close(); onRun(`SELECT * FROM ${name} LIMIT 100`); }}>
            First 100 rows</button>
          <button role="menuitem" onClick=${() => { close(); onRun(`SELECT count(*) FROM ${name}`); }}>Count</button>
          <button role="menuitem" onClick=${() => { close(); onRun(`DESCRIBE TABLE ${name}`); }}>Describe</button>
          <button role="menuitem" onClick=${() => {
            close();
            onRun(`SHOW CREATE ${table.kind === 'VIEW' ? 'VIEW' : 'TABLE'} ${name}`);
          }}>Show create</button>
          <button role="menuitem" onClick=${() => { close(); onInsert(name); }}>Insert the name</button>
          <button role="menuitem" onClick=${() => { close(); router.go('logs', { db: database, t: table.name }); }}>
            Open in Logs</button><hr />
          <button role="menuitem" class="danger" disabled=${closed.value !== ''} title=${closed.value}
            onClick=${() => { close(); void drop(); }}>Drop…</button>`}
      </${Pop}></span>
    ${open && columns && columns.slice(0, mostColumns)
      .map((c) => html`<button class="quiet node column" key=${c.name}
        title=${`${c.name}: ${c.type} ${c.semantic.toLowerCase()}`}
          onClick=${() => onInsert(/^[a-z_][a-z0-9_]*$/.test(c.name) ? c.name : sqltext.name(c.name))}>
            <span class="type">${sqltext.typeLetter(c.type)}</span><span class="text">${oneLine(c.name, 80)}</span>
              <span class="faint end">${c.type}</span></button>`)}
    ${open && columns && columns.length > mostColumns &&
      html`<p class="faint pad cut">${count(columns.length - mostColumns)} more: Describe lists them</p>`}
  </div>`;
}
