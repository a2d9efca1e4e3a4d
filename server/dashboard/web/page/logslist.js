// The list of rows: time, level, the chosen columns, the message with what the search hit marked.

import { html, useLayoutEffect, useRef } from '../lib/ui.js';
import { cell as cellText, count, object, oneLine, plural, raw } from '../core/format.js';
import { guessLevel, letters, levelOf } from '../core/levels.js';
import * as sqltext from '../core/sqltext.js';
import { zone } from '../core/state.js';
import { ago, zoneLabel } from '../core/time.js';
import { drawText } from '../ui/celltext.js';
import { Grid } from '../ui/grid.js';

/**
 * @typedef {object} ListProps
 * @property {{columns: import('../core/rowset.js').Column[], count: number, slice: (from: number, to: number) =>
 *   Promise<any[][]>}} rows
 * @property {number} grown
 * @property {import('./logsquery.js').Roles} roles
 * @property {string[]} shown columns between level and message
 * @property {RegExp|null} hits
 * @property {boolean} wrap
 * @property {Record<string, number>} widths
 * @property {number} [folded] counts how often equal rows were folded
 * @property {boolean} [json] rows are shown as JSON
 * @property {(names: string[]) => void} [onOrder] the columns shown, in another order or without one
 * @property {(name: string, width: number) => void} onWidth
 * @property {(index: number) => void} onOpen
 * @property {(index: number) => void} onMove
 * @property {() => void} onEnd
 * @property {(grid: Grid|null) => void} onGrid
 * @property {(atEnd: boolean, up: boolean) => void} [onScrolled]
 * @property {(row: any[], index: number) => string} [rowClass]
 * @property {string} [label]
 */

/** @param {ListProps} props */
export function LogsList(props) {
  const host = useRef(/** @type {HTMLElement|null} */ (null));
  const grid = useRef(/** @type {Grid|null} */ (null));
  const latest = useRef(props);
  latest.current = props;

  // A layout effect, so that the next frame has the rows already: other effects run after it.
  useLayoutEffect(() => {
    const g = new Grid(/** @type {HTMLElement} */ (host.current), {
      label: props.label ?? 'Log rows, newest first',
      open: (i) => latest.current.onOpen(i), move: (i) => latest.current.onMove(i), end: () => latest.current.onEnd(),
      moved: props.onOrder && ((from, to) => order(latest.current, g.columns[from]?.name, g.columns[to]?.name)),
      removed: props.onOrder && ((c) => { order(latest.current, g.columns[c]?.name, null); }),
      resized: (c, width) => latest.current.onWidth(g.columns[c].name, width),
      scrolled: (atEnd, up) => latest.current.onScrolled?.(atEnd, up),
        rowClass: (row, i) => latest.current.rowClass?.(row, i) ?? '',
    });
    g.cells = true;
    g.focusColumn = 1; // begin at the second column: nobody filters by the time
    grid.current = g;
    props.onGrid(g);
    return () => {
      g.destroy();
      latest.current.onGrid(null);
    };
  }, []);
  useLayoutEffect(() => { grid.current?.setColumns(columnsOf(latest.current)); },
    [props.rows, props.roles, props.shown.join('\u0001'), props.hits, props.json, zone.value]);
  useLayoutEffect(() => { if (grid.current?.source !== props.rows) grid.current?.setSource(props.rows); },
    [props.rows]);
  useLayoutEffect(() => { if (props.folded) grid.current?.setSource(props.rows); }, [props.folded]);
  useLayoutEffect(() => { if (props.grown) grid.current?.grew(); }, [props.grown]);
  useLayoutEffect(() => { grid.current?.setWrap(props.wrap); }, [props.wrap]);
  return html`<div class="logs-list" ref=${host}></div>`;
}

/**
 * order moves a shown column to the place of another, or takes it away: null.
 * @param {ListProps} p
 * @param {string|undefined} name
 * @param {string|null|undefined} to
 */
function order(p, name, to) {
  const from = p.shown.indexOf(name ?? ''), at = to === null ? -1 : p.shown.indexOf(to ?? '');
  if (from < 0 || (to !== null && at < 0)) return false;
  const next = p.shown.filter((_, i) => i !== from);
  if (at >= 0) next.splice(at, 0, p.shown[from]);
  p.onOrder?.(next);
  return true;
}

/** columnsOf lays the columns out. @param {ListProps} p @returns {import('../ui/grid.js').Column[]} */
function columnsOf(p) {
  const at = (/** @type {string|null|undefined} */ name) =>
    (name ? p.rows.columns.findIndex((c) => c.name === name) : -1);
  const time = at(p.roles.time?.name), level = at(p.roles.level), message = at(p.roles.message);
  /** @type {import('../ui/grid.js').Column[]} */
  const list = [];
  if (time >= 0) list.push(timeColumn(p, time));
  if (level >= 0) list.push(levelColumn(p, level));
  for (const name of p.shown) {
    const c = at(name);
    if (c >= 0 && c !== message) list.push(valueColumn(p, c));
  }
  list.push(p.json ? jsonColumn(p, time) : message >= 0 ? messageColumn(p, message, level)
    : restColumn(p, [time, level]));
  for (const c of list) withMarkers(c, p.rows.columns.length);
  for (const c of list) if (p.widths[c.name] && !c.flex) c.width = p.widths[c.name];
  return list;
}

/** repeats says how many equal rows a row stands for. @param {number} n */
function repeats(n) {
  const badge = document.createElement('span');
  badge.className = 'badge repeats';
  badge.title = `${plural(n, 'row')} in sequence that differ only in time`;
  badge.append(`×${count(n)}`);
  return badge;
}

/**
 * withMarkers makes a column draw two things besides its values: a marker, which is a line of the page's own between
 * rows, and the number of equal rows, which follows the values in the array of a row. Both stand in the column that
 * takes the room that is left.
 * @param {import('../ui/grid.js').Column} column
 * @param {number} width of a row
 */
function withMarkers(column, width) {
  const draw = column.draw;
  column.draw = (el, row, i) => {
    const text = /** @type {any} */ (row).marker;
    if (text !== undefined) return drawText(el, column.flex ? text : '');
    draw(el, row, i);
    if (column.flex && row[width] > 1) el.prepend(repeats(row[width]));
  };
}

/** @param {ListProps} p @param {number} c @returns {import('../ui/grid.js').Column} */
function timeColumn(p, c) {
  const { name, type } = p.rows.columns[c];
  const digits = sqltext.digitsOf(type), unit = sqltext.unitNanos(type), z = zone.value;
  const narrow = innerWidth < 800; // then only the time of day is shown, to the millisecond; the drawer has all of it
  return {
    name, title: `time ${zoneLabel(z)}`, hint: name, width: narrow ? 108 : 166 + digits * 7.4, kind: 'time',
      draw: (el, row) => {
      const text = cellText(row[c], type, z);
      drawText(el, narrow ? text.slice(11, 23) : text);
      el.onmouseenter = () => {
        el.title = `${cellText(row[c], type, z)} ${zoneLabel(z)}\n${ago(BigInt(row[c]) * unit)}\n${raw(row[c])}`;
      };
    },
  };
}

/** @param {ListProps} p @param {number} c @returns {import('../ui/grid.js').Column} */
function levelColumn(p, c) {
  const { name } = p.rows.columns[c];
  return {
    name, title: name, width: 82, draw: (el, row) => {
      const level = levelOf(row[c], name);
      el.className = `grid-cell level level-${level}`;
      drawText(el, row[c] === null ? '' : `${letters[level]} ${oneLine(String(row[c]), 20)}`);
    },
  };
}

/**
 * valueColumn shows any column as text.
 * @param {{rows: {columns: import('../core/rowset.js').Column[]}, hits: RegExp|null}} p
 * @param {number} c
 * @returns {import('../ui/grid.js').Column}
 */
export function valueColumn(p, c) {
  const { name, type } = p.rows.columns[c];
  const number = sqltext.isNumeric(type), z = zone.value;
  return {
    name, title: oneLine(name, 60), hint: `${oneLine(name, 200)}: ${type}`, width: sqltext.isTime(type)
      ? 166 + sqltext.digitsOf(type) * 7.4 : Math.max(number ? 84 : 130, Math.min(240, name.length * 7.5 + 20)),
    kind: number ? 'num' : sqltext.isTime(type) ? 'time' : undefined,
    draw: (el, row) => drawValue(el, row[c], type, z, p.hits),
  };
}

/**
 * drawValue shows a value so that NULL, an empty text and a text can be told apart.
 * @param {HTMLElement} el
 * @param {any} v
 * @param {string} type
 * @param {string} z
 * @param {RegExp|null} [hits]
 */
export function drawValue(el, v, type, z, hits) {
  if (v === null || v === undefined) {
    el.classList.add('null');
    drawText(el, 'NULL');
  } else if (v === '') {
    el.classList.add('empty');
    drawText(el, "''");
  } else {
    drawText(el, oneLine(cellText(v, type, z), 2000), hits);
  }
}

/** @param {ListProps} p @param {number} c @param {number} level @returns {import('../ui/grid.js').Column} */
function messageColumn(p, c, level) {
  const { name, type } = p.rows.columns[c];
  return {
    name, title: name, hint: level < 0 ? `${name}\nColours are guessed from words in it.` : name, width: 320,
      flex: true, draw: (el, row) => {
      drawValue(el, row[c], type, zone.value, p.hits);
      if (level < 0 && typeof row[c] === 'string') el.classList.add(`guess-${guessLevel(row[c])}`);
    },
  };
}

/**
 * jsonColumn shows what a row has as JSON.
 * @param {ListProps} p
 * @param {number} time
 * @returns {import('../ui/grid.js').Column}
 */
function jsonColumn(p, time) {
  return {
    name: 'json', title: 'JSON', width: 320, flex: true, draw: (el, row) => {
      const has = p.rows.columns.map((_, c) => c).filter((c) => c !== time && row[c] !== null);
      drawText(el, oneLine(object(has.map((c) => p.rows.columns[c]), has.map((c) => row[c]))), p.hits);
    },
  };
}

/**
 * restColumn shows a row without a message as its fields.
 * @param {ListProps} p
 * @param {number[]} but
 * @returns {import('../ui/grid.js').Column}
 */
function restColumn(p, but) {
  return {
    name: 'fields', title: 'fields', width: 320, flex: true, draw: (el, row) => {
      const parts = [];
      for (let c = 0; c < p.rows.columns.length && parts.length < 40; c++) {
        if (!but.includes(c) && row[c] !== null && row[c] !== '')
          parts.push(`${p.rows.columns[c].name}=${oneLine(raw(row[c]), 300)}`);
      }
      drawText(el, parts.join('  '), p.hits);
    },
  };
}
