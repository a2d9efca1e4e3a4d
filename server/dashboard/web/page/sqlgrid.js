// A result as a grid: sorted by a click on a head, filtered by a line of fields, copied cell by cell or whole.

import { html, useEffect, useRef, useState } from '../lib/ui.js';
import { described, isAbort, statement } from '../core/api.js';
import { cell as cellText, count, oneLine, plural, raw } from '../core/format.js';
import { zone } from '../core/state.js';
import { Grid } from '../ui/grid.js';
import { Icon } from '../ui/icons.js';
import { Drawer } from '../ui/drawer.js';
import { Pop } from '../ui/pop.js';
import { save } from '../ui/save.js';
import { copy, toast } from '../ui/toast.js';
import { useKeys } from '../ui/usekeys.js';
import { Value } from '../ui/value.js';
import { valueColumn } from './logslist.js';

/** @type {[string, 'tsv'|'markdown'|'json'][]} */
const copies = [['Copy as text', 'tsv'], ['Copy as Markdown', 'markdown'], ['Copy as JSON', 'json']];

/** wholes are the forms in which the server itself writes a result: what the menu calls it, the format, the file. @type {[string, string, string][]} */
const wholes = [['CSV', 'csvWithNames', 'result.csv'], ['CSV with types', 'csvWithNamesAndTypes', 'result.csv'], ['JSON', 'json', 'result.json'], ['Arrow', 'arrow', 'result.arrow']];

/** @param {{rows: import('../core/rows.js').Rows, cut: boolean, limit: number, again: string}} props again: the statement, '' when it must not run twice */
export function ResultGrid({ rows, cut, limit, again }) {
  const host = useRef(/** @type {HTMLElement|null} */ (null));
  const grid = useRef(/** @type {Grid|null} */ (null));
  const [sort, setSort] = useState({ column: -1, descending: false });
  const [filters, setFilters] = useState(/** @type {Record<number, string>|null} */ (null));
  const [hidden, setHidden] = useState(/** @type {number[]} */ ([]));
  const [shown, setShown] = useState(rows.count);
  const [cell, setCell] = useState(/** @type {{name: string, type: string, value: any, row: number}|null} */ (null));
  const [found, setFound] = useState(/** @type {{text: string, places: number[], at: number}|null} */ (null));
  const [widths, setWidths] = useState(/** @type {number[]|null} */ (null));
  useEffect(() => { rows.slice(0, 200).then((list) => setWidths(widthsOf(rows.columns, list)), () => {}); }, [rows]);
  const visible = rows.columns.map((_, i) => i).filter((i) => !hidden.includes(i));
  const at = useRef(visible);
  at.current = visible;

  useEffect(() => {
    const g = new Grid(/** @type {HTMLElement} */ (host.current), {
      label: 'Result', open: (i, row) => {
        const c = at.current[g.focusColumn];
        if (c !== undefined) setCell({ name: rows.columns[c].name, type: rows.columns[c].type, value: row[c], row: i });
      },
      head: (c) => setSort((s) => {
        const column = at.current[c];
        if (s.column !== column) return { column, descending: false };
        return s.descending ? { column: -1, descending: false } : { column, descending: true };
      }),
      resized: () => {},
    });
    g.cells = true;
    g.clickOpens = false;
    g.focusColumn = 1; // behind the number of the row
    grid.current = g;
    return () => g.destroy();
  }, [rows]);
  useEffect(() => {
    const g = grid.current;
    if (!g || !widths) return;
    g.setColumns([numberColumn(rows.count), ...visible.map((c) => {
      const column = valueColumn({ rows, hits: null }, c);
      const arrow = sort.column === c ? (sort.descending ? ' ↓' : ' ↑') : '';
      return { ...column, title: column.title + arrow, type: shortType(rows.columns[c].type), width: widths[c] };
    })]);
    at.current = [-1, ...visible].map((c) => (c < 0 ? /** @type {any} */ (undefined) : c));
  }, [rows, widths, hidden, sort, zone.value]);
  const key = JSON.stringify([sort, filters]);
  useEffect(() => {
    let wanted = true;
    const list = Object.entries(filters ?? {}).filter(([, text]) => text.trim() !== '').map(([c, text]) => ({ column: Number(c), text }));
    rows.arrange(sort, list).then(() => {
      if (!wanted) return;
      setShown(rows.count);
      setFound(null);
      grid.current?.setSource(rows);
    }, () => {});
    return () => { wanted = false; };
  }, [rows, key]);

  const focused = async () => {
    const g = grid.current;
    if (!g || g.focus < 0) return null;
    const [row] = await rows.slice(g.focus, g.focus + 1);
    return row;
  };
  const copyCell = async () => {
    const g = grid.current, row = await focused();
    if (!g || !row) return;
    const [from, to] = g.selection(), c = at.current[g.focusColumn];
    if (to - from > 1) await copy(await rows.text({ format: 'tsv', from, to, columns: visible }), `${plural(to - from, 'row')} copied`);
    else await copy(c === undefined ? row.map(raw).join('\t') : row[c] === null ? '' : raw(row[c]), c === undefined ? 'Row copied' : 'Cell copied');
  };
  useKeys([
    { keys: 'c', text: 'Copy the cell or the selected rows', run: () => void copyCell() },
    { keys: 'Mod+f', text: 'Find in the loaded rows', run: () => { setFound(found ?? { text: '', places: [], at: 0 }); } },
    { keys: 'Escape', text: 'Close', run: () => { if (cell) setCell(null); else setFound(null); } },
  ]);
  const find = async (/** @type {string} */ text) => {
    const places = text === '' ? [] : await rows.find(text);
    setFound({ text, places, at: 0 });
    if (places.length > 0) grid.current?.select(places[0]);
  };
  const step = (/** @type {number} */ by) => {
    if (!found || found.places.length === 0) return;
    const next = (found.at + by + found.places.length) % found.places.length;
    setFound({ ...found, at: next });
    grid.current?.select(found.places[next]);
  };
  const download = async (/** @type {'csv'|'ndjson'} */ format) => save(await rows.text({ format, columns: visible }), format === 'csv' ? 'result.csv' : 'result.ndjson');
  const saveWhole = async (/** @type {string} */ format, /** @type {string} */ file) => {
    try {
      save(await statement(again, { format }), file);
    } catch (e) {
      if (!isAbort(e)) toast(described(e).message, { kind: 'bad' });
    }
  };
  return html`<div class="result-bar small">
      <span class="num" aria-live="polite">${cut ? html`<b>first ${count(limit)} rows, more exist</b>` : html`<b>${plural(rows.local ? rows.local.rows.length : shown, 'row')}</b>`}${filters && shown !== (rows.local ? rows.local.rows.length : shown) ? ` · ${count(shown)} shown` : ''}</span>
      <span class="grow"></span>
      ${found && html`<span class="find" role="search"><input aria-label="Find in the loaded rows" placeholder="Find" value=${found.text} ref=${(/** @type {any} */ e) => { if (e && found.text === '') e.focus(); }} onInput=${(/** @type {any} */ e) => void find(e.target.value)}
        onKeyDown=${(/** @type {KeyboardEvent} */ e) => { if (e.key === 'Enter') step(e.shiftKey ? -1 : 1); if (e.key === 'Escape') { e.stopPropagation(); setFound(null); } }} /><span class="num soft">${found.places.length === 0 ? 'none' : `${count(found.at + 1)} of ${count(found.places.length)}`}</span></span>`}
      <button class="small" aria-pressed=${filters ? 'true' : 'false'} onClick=${() => setFilters(filters ? null : {})}>Filter</button>
      <${Pop} title="Columns" className="small" side="right" label="Columns">${() => html`<div class="menu">${rows.columns.map((c, i) => html`<label key=${i} class="check"><input type="checkbox" checked=${!hidden.includes(i)} onChange=${() => setHidden(hidden.includes(i) ? hidden.filter((h) => h !== i) : [...hidden, i])} /> ${c.name}</label>`)}</div>`}</${Pop}>
      <${Pop} title="Copy or save" className="small" side="right" menu label=${html`<${Icon} name="download" />Copy, save`}>
        ${(/** @type {() => void} */ close) => html`${copies.map(([text, format]) => html`<button key=${format} role="menuitem" onClick=${async () => { close(); await copy(await rows.text({ format, columns: visible })); }}>${text}</button>`)}<hr />
          <button role="menuitem" onClick=${() => { close(); void download('csv'); }}>Save as CSV</button><button role="menuitem" onClick=${() => { close(); void download('ndjson'); }}>Save as JSON lines</button>
          ${again && html`<hr /><span class="soft small">The whole result, asked again</span>${wholes.map(([title, format, file]) => html`<button key=${format} role="menuitem" onClick=${() => { close(); void saveWhole(format, file); }}>${title}</button>`)}`}`}
      </${Pop}>
    </div>
    ${filters && html`<div class="filter-row">${visible.map((c) => html`<input key=${c} aria-label=${`Filter ${rows.columns[c].name}`} placeholder=${rows.columns[c].name} title="contains; also >5, <=3, =text, !=text, null, !null" value=${filters[c] ?? ''} onInput=${(/** @type {any} */ e) => setFilters({ ...filters, [c]: e.target.value })} />`)}</div>`}
    <div class="result-body"><div class="logs-list" ref=${host}></div>
    ${cell && html`<${Drawer} label="Cell" tabs=${[{ id: 'cell', text: `${cell.name}, row ${count(cell.row + 1)}` }]} tab="cell" onTab=${() => {}} onClose=${() => setCell(null)}>
      <div class="pad small"><button class="small" onClick=${() => copy(cell.value === null ? '' : raw(cell.value))}><${Icon} name="copy" />Copy</button> <span class="faint">${cell.type}</span></div>
      <div class="pad cell-value"><${Value} value=${cell.value} type=${cell.type} /></div></${Drawer}>`}</div>`;
}

/** shortType is a type as the head of a column has room for. @param {string} type */
const shortType = (type) => type.replace(/^Timestamp/, '').replace('Nanosecond', 'ns').replace('Microsecond', 'µs').replace('Millisecond', 'ms').replace(/^Second$/, 's');

/** widthsOf makes columns as wide as their head and their first rows. @param {import('../core/rowset.js').Column[]} columns @param {any[][]} list */
function widthsOf(columns, list) {
  return columns.map((c, i) => {
    let longest = 4;
    for (const row of list) longest = Math.max(longest, row[i] === null ? 4 : oneLine(cellText(row[i], c.type, zone.value), 80).length);
    const head = oneLine(c.name, 60).length * 7.2 + shortType(c.type).length * 6.2 + 34;
    return Math.ceil(Math.min(440, Math.max(head, longest * 7.25 + 18)));
  });
}

/** numberColumn counts the rows. @param {number} count @returns {import('../ui/grid.js').Column} */
const numberColumn = (count) => ({ name: '#', title: '', width: 26 + String(count).length * 7.3, kind: 'num row-number', draw: (el, _, i) => { el.textContent = String(i + 1); } });
