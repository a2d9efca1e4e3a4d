// Rows as text: for the clipboard and for files.

import { object } from './format.js';
import * as sqltext from './sqltext.js';
import { showTime } from './time.js';

/**
 * @typedef {object} TextOptions
 * @property {'csv'|'tsv'|'json'|'ndjson'|'markdown'|'text'} format
 * @property {number[]} [columns] the columns in their order; all when left out
 * @property {boolean} [whole] all rows, filtered and folded rows too
 * @property {number} [from] first row
 * @property {number} [to] row behind the last
 * @property {boolean} [head] false leaves out the names in CSV and TSV
 * @property {boolean} [safe] a leading apostrophe before CSV cells that a spreadsheet takes for formulas
 * @property {string} [zone] of times in format text
 */

/** @param {import('./rowset.js').Column[]} columns @param {any[][]} rows @param {TextOptions} options */
export function writeRows(columns, rows, options) {
  const which = options.columns ?? columns.map((_, i) => i);
  const picked = which.map((i) => columns[i]);
  const cells = rows.map((row) => which.map((i) => row[i]));
  switch (options.format) {
    case 'csv': return delimited(picked, cells, ',', options);
    case 'tsv': return delimited(picked, cells, '\t', options);
    case 'json': return '[' + cells.map((r) => object(picked, r)).join(',\n ') + ']\n';
    case 'ndjson': return cells.map((r) => object(picked, r) + '\n').join('');
    case 'markdown': return markdown(picked, cells);
    case 'text': return cells.map((r) => r.map((v, i) => plain(v, picked[i].type, options.zone ?? 'UTC')).join('  ') +
      '\n').join('');
  }
}

/** @param {any} v */
const bare = (v) => (v === null ? '' : typeof v === 'object' ? JSON.stringify(v) : String(v));

/** csvCell quotes a value where it must be. @param {any} v @param {string} comma @param {boolean} [safe] */
function csvCell(v, comma, safe) {
  let text = bare(v);
  if (safe && /^[=+\-@\t\r]/.test(text)) text = "'" + text;
  return text.includes(comma) || /["\r\n]/.test(text) ? '"' + text.replaceAll('"', '""') + '"' : text;
}

/**
 * @param {import('./rowset.js').Column[]} columns
 * @param {any[][]} rows
 * @param {string} comma
 * @param {TextOptions} options
 */
function delimited(columns, rows, comma, options) {
  const lines = rows.map((r) => r.map((v) => csvCell(v, comma, options.safe)).join(comma) + '\n');
  if (options.head !== false)
    lines.unshift(columns.map((c) => csvCell(c.name, comma, options.safe)).join(comma) + '\n');
  return lines.join('');
}

/** @param {import('./rowset.js').Column[]} columns @param {any[][]} rows */
function markdown(columns, rows) {
  const cell = (/** @type {any} */ v) => bare(v).replaceAll('\\', '\\\\').replaceAll('|', '\\|')
    .replace(/\r?\n/g, '<br>');
  const line = (/** @type {string[]} */ texts) => '| ' + texts.join(' | ') + ' |\n';
  const rule = columns.map((c) => (sqltext.isNumeric(c.type) ? '---:' : '---'));
  return line(columns.map((c) => cell(c.name))) + line(rule) + rows.map((r) => line(r.map(cell))).join('');
}

/** @param {any} v @param {string} type @param {string} zone */
function plain(v, type, zone) {
  if (v !== null && sqltext.isTime(type))
    return showTime(BigInt(v) * sqltext.unitNanos(type), sqltext.digitsOf(type), zone);
  return bare(v).replaceAll('\n', ' ');
}

/**
 * csvRows counts the rows of CSV: a value in quotes may have line ends of its own.
 * @param {ArrayBuffer} body
 * @param {number} heads lines before the first row
 */
export function csvRows(body, heads) {
  let rows = -heads, quoted = false;
  for (const b of new Uint8Array(body)) {
    if (b === 0x22) quoted = !quoted; // one in a value is doubled
    else if (b === 0x0a && !quoted) rows++;
  }
  return rows;
}
