// How values look: the same on every page, whatever the locale of the browser, so that two people see the same thing.

import * as sqltext from './sqltext.js';
import { showTime } from './time.js';

/** count groups the digits of a whole number by three. @param {number|bigint|string} n */
export function count(n) {
  return String(n).replace(/\B(?=(\d{3})+(?!\d))/g, ',');
}

/** short fits a number into five characters: 1.2k, 34M. @param {number} n */
export function short(n) {
  if (!Number.isFinite(n)) return String(n);
  const size = Math.abs(n);
  for (const [unit, letter] of /** @type {[number, string][]} */ ([[1e12, 'T'], [1e9, 'G'], [1e6, 'M'], [1e3, 'k']])) {
    if (size >= unit) return trim((n / unit).toFixed(size / unit < 10 ? 1 : 0)) + letter;
  }
  return trim(size >= 100 || Number.isInteger(n) ? n.toFixed(0) : n.toPrecision(3));
}

/** @param {string} text */
const trim = (text) => (text.includes('.') && !text.includes('e') ? text.replace(/\.?0+$/, '') : text);

/** bytes with a binary unit. @param {number} n */
export function bytes(n) {
  let unit = 0;
  while (Math.abs(n) >= 1024 && unit < 5) {
    n /= 1024;
    unit++;
  }
  return trim(n.toFixed(unit === 0 || n >= 100 ? 0 : 1)) + ' ' + ['B', 'KiB', 'MiB', 'GiB', 'TiB', 'PiB'][unit];
}

/** duration of milliseconds in its largest fitting unit. @param {number} ms */
export function duration(ms) {
  const size = Math.abs(ms);
  if (size < 0.001) return trim((ms * 1e6).toFixed(0)) + ' ns';
  if (size < 1) return trim((ms * 1000).toFixed(size < 0.1 ? 1 : 0)) + ' µs';
  if (size < 1000) return trim(ms.toFixed(size < 10 ? 1 : 0)) + ' ms';
  if (size < 60_000) return trim((ms / 1000).toFixed(size < 10_000 ? 2 : 1)) + ' s';
  const s = Math.round(size / 1000);
  const parts = [[Math.floor(s / 86400), 'd'], [Math.floor(s / 3600) % 24, 'h'], [Math.floor(s / 60) % 60, 'm'],
    [s % 60, 's']];
  const first = parts.findIndex(([n]) => n !== 0);
  return (ms < 0 ? '-' : '') + parts.slice(first, first + 2).filter(([n]) => n !== 0).map(([n, u]) => `${n}${u}`)
    .join(' ');
}

/** percent of a share. @param {number} share 0 to 1 */
export function percent(share) {
  const p = share * 100;
  if (p > 0 && p < 0.1) return '<0.1%';
  if (p > 99.9 && p < 100) return '>99.9%';
  return p.toFixed(1).replace(/\.0$/, '') + '%';
}

/** plural: 1 row, 2 rows. @param {number|bigint} n @param {string} one @param {string} [many] */
export const plural = (n, one, many) => `${count(n)} ${Number(n) === 1 ? one : (many ?? one + 's')}`;

/**
 * cell is a value as text in the type's usual form. NULL is drawn by its reader, which must tell it from text.
 * @param {unknown} v
 * @param {string} type as column_schemas names it
 * @param {string} zone
 */
export function cell(v, type, zone) {
  if (v === null || v === undefined) return 'NULL';
  if (sqltext.isTime(type))
    return showTime(BigInt(/** @type {string|number} */ (v)) * sqltext.unitNanos(type), sqltext.digitsOf(type), zone);
  if (/^date$/i.test(type) && typeof v === 'number') return new Date(v * 86_400_000).toISOString().slice(0, 10);
  if (/^binary/i.test(type) && Array.isArray(v))
    return `0x${v.map((b) => b.toString(16).padStart(2, '0')).join('')} (${v.length} bytes)`;
  if (typeof v === 'string') return v;
  if (typeof v === 'object') return JSON.stringify(v);
  return String(v);
}

/** raw returns a value as it came, for copies and tooltips. @param {unknown} v */
export function raw(v) {
  if (v === null || v === undefined) return 'NULL';
  return typeof v === 'object' ? JSON.stringify(v) : String(v);
}

/**
 * object writes one row; integers keep all digits although they came as text.
 * @param {import('./rowset.js').Column[]} columns
 * @param {any[]} row
 */
export function object(columns, row) {
  return '{' + columns.map((c, i) => JSON.stringify(c.name) + ':' + json(row[i], c.type)).join(',') + '}';
}

/** @param {any} v @param {string} type */
function json(v, type) {
  if (typeof v === 'string' && (sqltext.isInteger(type) || sqltext.isTime(type)) && /^-?\d+$/.test(v)) return v;
  return JSON.stringify(v);
}

const hidden = /[\u0000-\u0008\u000b-\u001f\u007f-\u009f\u200b-\u200f\u202a-\u202e\u2060-\u2069\ufeff]/g;
const escapes = /\u001b\[[0-9;?]*[ -/]*[@-~]/g;

/**
 * visible shows characters that would steer the text or hide: control characters as symbols, marks of direction by
 * their number. Colour escapes of terminals are taken out.
 * @param {string} text
 */
export function visible(text) {
  return text.replace(escapes, '').replace(hidden, (c) => {
    const code = c.charCodeAt(0);
    if (code < 0x20) return String.fromCharCode(0x2400 + code);
    if (code === 0x7f) return '\u2421';
    return `<U+${code.toString(16).toUpperCase().padStart(4, '0')}>`;
  });
}

/** oneLine is text in a row of a list: its line breaks are symbols. @param {string} text @param {number} [most] */
export function oneLine(text, most = 4000) {
  const cut = text.length > most ? text.slice(0, most) + '…' : text;
  return visible(cut).replace(/\r?\n/g, '⏎').replaceAll('\t', '  ');
}
