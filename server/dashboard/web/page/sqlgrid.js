// A result as a grid: sorted by a click on a head, filtered by a line of fields, copied cell by cell or whole.

import { html, useEffect, useRef, useState } from '../lib/ui.js';
import { described, isAbort, statement } from '../core/api.js';
import { bytes, cell as cellText, count, oneLine, plural, raw } from '../core/format.js';
import { csvRows } from '../core/rowtext.js';
import { zone } from '../core/state.js';
import { Find } from '../ui/find.js';
import { Grid } from '../ui/grid.js';
import { Icon } from '../ui/icons.js';
import { Drawer } from '../ui/drawer.js';
import { Pop } from '../ui/pop.js';
import { save } from '../ui/save.js';
import { copy, toast } from '../ui/toast.js';
import { useKeys } from '../core/keys.js';
import { Value } from '../ui/value.js';
import { valueColumn } from './logslist.js';
import { filtersOf, unsorted } from './sqlrun.js';

/** @type {[string, 'tsv'|'markdown'|'json'][]} */
const copies = [['Copy as text', 'tsv'], ['Copy as Markdown', 'markdown'], ['Copy as JSON', 'json']];

/**
 * wholes are the forms in which the server itself writes a result: what the menu calls it, the format, the file, the
 * lines before the first row of CSV.
 * @type {[string, string, string, number][]}
 */
const wholes = [['CSV', 'csvWithNames', 'result.csv', 1], ['CSV with types', 'csvWithNamesAndTypes', 'result.csv', 2],
  ['JSON', 'json', 'result.json', 0], ['Arrow', 'arrow', 'result.arrow', 0]];

/**
 * useKept is a state that is kept with the look of a result.
 * @template {'sort'|'filters'|'hidden'|'order'|'widths'|'frozen'} K
 * @param {import('./sqlrun.js').Look} look @param {K} name @param {Required<import('./sqlrun.js').Look>[K]} first
 */
function useKept(look, name, first) {
  const [value, set] = useState(look[name] ?? first);
  look[name] = value;
  return /** @type {const} */ ([/** @type {typeof first} */ (value), set]);
}

/**
 * @param {{rows: import('../core/rows.js').Rows, look: import('./sqlrun.js').Look, cut: boolean, limit: number, again:
 *   string}} props again: the statement, '' when it must not run twice
 */
export function ResultGrid({ rows, look, cut, limit, again }) {
  const host = useRef(/** @type {HTMLElement|null} */ (null));
  const grid = useRef(/** @type {Grid|null} */ (null));
  const [sort, setSort] = useKept(look, 'sort', unsorted);
  const [filters, setFilters] = useKept(look, 'filters', null);
  const [hidden, setHidden] = useKept(look, 'hidden', []);
  const [order, setOrder] = useKept(look, 'order', rows.columns.map((_, i) => i));
  const [frozen, setFrozen] = useKept(look, 'frozen', false);
  const [widths, setWidths] = useKept(look, 'widths', null);
  const [shown, setShown] = useState({ rows, count: rows.count });
  const [cell, setCell] = useState(/** @type {{column: number, value: any, row: number}|null} */ (null));
  const [finding, setFinding] = useState(false);
  useEffect(() => {
    if (!widths) rows.slice(0, 200).then((list) => setWidths(widthsOf(rows.columns, list)), () => {});
  }, [rows]);
  const visible = order.filter((i) => !hidden.includes(i));
  /**
   * at[i] is the column of the answer that stands at place i of the grid; before the first stands the number of the
   * row.
   */
  const at = useRef(/** @type {(number|undefined)[]} */ ([]));
  at.current = [undefined, ...visible];
  const move = (/** @type {number} */ from, /** @type {number|undefined} */ to) => {
    if (to === undefined) return false;
    const next = order.filter((c) => c !== from);
    next.splice(order.indexOf(to), 0, from);
    setOrder(next);
    return true;
  };
  const hide = (/** @type {number} */ c) =>
    setHidden(hidden.includes(c) ? hidden.filter((h) => h !== c) : [...hidden, c]);
  /** The filters stand above their columns: the grid scrolls when Tab moves to a filter out of view. */
  const filterRow = useRef(/** @type {HTMLElement|null} */ (null));
  const follow = () => {
    if (grid.current && filterRow.current) grid.current.root.scrollLeft = filterRow.current.scrollLeft;
  };
  const sortBy = (/** @type {number|undefined} */ column) => setSort((s) => {
    if (column === undefined || (s.column === column && s.descending)) return unsorted;
    return { column, descending: s.column === column };
  });
  const acts = useRef({ move, hide, rows });
  acts.current = { move, hide, rows };

  useEffect(() => {
    const g = new Grid(/** @type {HTMLElement} */ (host.current), {
      label: 'Result', open: (i, row) => {
        const c = at.current[g.focusColumn];
        if (c !== undefined) setCell({ column: c, value: row[c], row: i });
      },
      head: (c) => sortBy(at.current[c]),
      resized: (c, width) => setWidths((w) => w && w.map((old, i) => (i === at.current[c] ? width : old))),
      moved: (from, to) => at.current[from] !== undefined &&
        acts.current.move(/** @type {number} */ (at.current[from]), at.current[to]),
      removed: (c) => {
        const column = at.current[c];
        if (column !== undefined && at.current.length > 2) acts.current.hide(column);
      },
    });
    g.cells = true;
    g.clickOpens = false;
    g.root.addEventListener('scroll',
      () => { if (filterRow.current) filterRow.current.scrollLeft = g.root.scrollLeft; }, { passive: true });
    g.focusColumn = 1; // the first column after the number of the row
    grid.current = g;
    return () => g.destroy();
  }, []);
  useEffect(() => {
    const g = grid.current;
    if (!g || !widths) return;
    g.setColumns([{ ...numberColumn(rows.total), frozen }, ...visible.map((c, i) => {
      const column = valueColumn({ rows, hits: null }, c);
      const arrow = sort.column === c ? (sort.descending ? ' ↓' : ' ↑') : '';
      return { ...column, title: column.title + arrow, type: shortType(rows.columns[c].type), width: widths[c],
        frozen: frozen && i === 0 };
    })]);
  }, [rows, widths, hidden, order, frozen, sort, zone.value]);
  const key = JSON.stringify([sort, filters]);
  const arranged = useRef('');
  useEffect(() => {
    let wanted = true;
    rows.arrange(sort, filtersOf(filters)).then(() => {
      if (!wanted) return;
      const again = arranged.current === key; // new rows of the same statement: the view stays where it is
      arranged.current = key;
      setShown({ rows, count: rows.count });
      grid.current?.setSource(rows, again);
      if (cell && again) void rows.slice(cell.row, cell.row + 1)
        .then(([row]) => { if (wanted) setCell((c) => c && row ? { ...c, value: row[c.column] } : null); }, () => {});
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
    if (to - from > 1) await copy(await rows.text({ format: 'tsv', from, to, columns: visible }),
      `${plural(to - from, 'row')} copied`);
    else await copy(c === undefined ? row.map(raw).join('\t') : row[c] === null ? '' : raw(row[c]), c === undefined
      ? 'Row copied' : 'Cell copied');
  };
  useKeys([
    { keys: 'c', text: 'Copy the cell or the selected rows', run: () => void copyCell() },
    { keys: 'o', text: 'Sort by the column of the focused cell',
      run: () => sortBy(at.current[grid.current?.focusColumn ?? 0]) },
    { keys: 'Mod+f', text: 'Find in the loaded rows', run: () => (finding ? false : setFinding(true)) },
    { keys: 'Escape', text: 'Close', run: () => { if (cell) setCell(null); else setFinding(false); } },
  ]);
  const copyColumn = async (/** @type {number} */ c) =>
    copy(await rows.text({ format: 'tsv', columns: [c], head: false }), `${plural(rows.count, 'value')} copied`);
  const download = async (/** @type {'csv'|'ndjson'} */ format, /** @type {string} */ file) => {
    const text = await rows.text({ format, columns: visible });
    save(text, file);
    toast(`${plural(rows.count, 'row')} saved in ${file}`, { kind: 'good' });
  };
  const saveWhole = async (/** @type {string} */ format, /** @type {string} */ file, /** @type {number} */ heads) => {
    try {
      const body = await statement(again, { format });
      save(body, file);
      toast(`${heads > 0 ? plural(csvRows(body, heads), 'row') : bytes(body.byteLength)} saved in ${file}`,
        { kind: 'good' });
    } catch (e) {
      if (!isAbort(e)) toast(described(e).message, { kind: 'bad' });
    }
  };
  return html`<div class="result-bar small">
      <span class="num" aria-live=${filters ? 'polite' : 'off'}>
        ${cut ? html`<b>first ${count(limit)} rows, more exist</b>` : html`<b>${plural(shown.rows.total, 'row')}</b>`}
          ${shown.count !== shown.rows.total ? ` · ${count(shown.count)} shown` : ''}</span>
      <span class="grow"></span>
      ${finding && html`<${Find} rows=${shown.rows} turn=${shown} grid=${grid} onClose=${() => setFinding(false)} />`}
      <button class="small" aria-pressed=${filters ? 'true' : 'false'}
        onClick=${() => setFilters(filters ? null : {})}>Filter</button>
      <${Pop} title="Columns" className="small" side="right" label="Columns">
        ${() => html`<${ColumnMenu} columns=${rows.columns} order=${order} hidden=${hidden} frozen=${frozen}
          onHide=${hide} onMove=${move} onFreeze=${() => setFrozen(!frozen)} onCopy=${copyColumn} />`}</${Pop}>
      <${Pop} title="Copy or save" className="small" side="right" menu
        label=${html`<${Icon} name="download" />Copy, save`}>
        ${(close) => html`${copies.map(([text, format]) => html`<button key=${format} role="menuitem"
          onClick=${async () => { close(); await copy(await rows.text({ format, columns: visible })); }}>${text}
          </button>`)}<hr />
          <button role="menuitem" onClick=${() => { close(); void download('csv', 'result.csv'); }}>Save as CSV</button>
            <button role="menuitem" onClick=${() => { close(); void download('ndjson', 'result.ndjson'); }}>
              Save as JSON lines</button>
          ${again && html`<hr /><span class="soft small">The whole result, asked again</span>
            ${wholes.map(([title, format, file, heads]) => html`<button key=${format} role="menuitem"
              onClick=${() => { close(); void saveWhole(format, file, heads); }}>${title}</button>`)}`}`}
      </${Pop}>
    </div>
    ${filters && html`<div class="filter-row" ref=${filterRow}>
      <span style=${{ width: numberColumn(rows.total).width + 'px' }}></span>
        ${visible.map((c) => html`<input key=${c} style=${{ width: (widths?.[c] ?? 130) + 'px' }} onFocus=${follow}
          aria-label=${`Filter ${rows.columns[c].name}`} placeholder=${rows.columns[c].name}
            title="contains; also >5, <=3, =text, !=text, null, !null" value=${filters[c] ?? ''}
              onInput=${(e) => setFilters({ ...filters, [c]: e.target.value })} />`)}</div>`}
    <div class="result-body"><div class="logs-list" ref=${host}></div>
    ${cell && html`<${Drawer} label="Cell"
      tabs=${[{ id: 'cell', text: `${rows.columns[cell.column].name}, row ${count(cell.row + 1)}` }]} tab="cell"
        onTab=${() => {}} onClose=${() => setCell(null)}>
      <div class="pad small"><button class="small" onClick=${() => copy(cell.value === null ? '' : raw(cell.value))}>
        <${Icon} name="copy" />Copy</button> <span class="faint">${rows.columns[cell.column].type}</span></div>
      <div class="pad cell-value"><${Value} value=${cell.value} type=${rows.columns[cell.column].type} /></div>
        </${Drawer}>`}</div>`;
}

/**
 * ColumnMenu sets the columns that are shown and their order.
 * @param {{columns: import('../core/rowset.js').Column[], order: number[], hidden: number[], frozen: boolean, onHide:
 *   (c: number) => void, onMove: (c: number, to: number|undefined) => boolean, onFreeze: () => void, onCopy: (c:
 *   number) => void}} props
 */
const ColumnMenu = ({ columns, order, hidden, frozen, onHide, onMove, onFreeze, onCopy }) =>
  html`<div class="menu column-menu">
  <label class="check"><input type="checkbox" checked=${frozen}
    onChange=${onFreeze} /> First column stays in view</label><hr />
  ${order.map((c, i) => html`<div class="row" key=${c}>
    <label class="check grow">
      <input type="checkbox" checked=${!hidden.includes(c)} onChange=${() => onHide(c)} /> <span class="text">
        ${oneLine(columns[c].name, 60)}</span></label>
    <button class="icon" title="Further left" aria-label=${`${columns[c].name} further left`} disabled=${i === 0}
      onClick=${() => onMove(c, order[i - 1])}><${Icon} name="up" /></button>
    <button class="icon" title="Further right" aria-label=${`${columns[c].name} further right`}
      disabled=${i === order.length - 1} onClick=${() => onMove(c, order[i + 1])}><${Icon} name="down" /></button>
    <button class="icon" title="Copy its values" aria-label=${`Copy the values of ${columns[c].name}`}
      onClick=${() => onCopy(c)}><${Icon} name="copy" /></button></div>`)}</div>`;

/** shortType is a type as the head of a column has room for. @param {string} type */
const shortType = (type) => type.replace(/^Timestamp/, '').replace('Nanosecond', 'ns').replace('Microsecond', 'µs')
  .replace('Millisecond', 'ms').replace(/^Second$/, 's');

/**
 * widthsOf makes columns as wide as their head and their first rows.
 * @param {import('../core/rowset.js').Column[]} columns
 * @param {any[][]} list
 */
function widthsOf(columns, list) {
  return columns.map((c, i) => {
    let longest = 4;
    for (const row of list)
      longest = Math.max(longest, row[i] === null ? 4 : oneLine(cellText(row[i], c.type, zone.value), 80).length);
    const head = oneLine(c.name, 60).length * 7.2 + shortType(c.type).length * 6.2 + 34;
    return Math.ceil(Math.min(440, Math.max(head, longest * 7.25 + 18)));
  });
}

/** numberColumn counts the rows. @param {number} count @returns {import('../ui/grid.js').Column} */
const numberColumn = (count) => ({ name: '#', title: '', width: 26 + String(count).length * 7.3, kind: 'num row-number',
  draw: (el, _, i) => { el.textContent = String(i + 1); } });
