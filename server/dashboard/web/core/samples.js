// Pasted lines: their kind, their entries, and the fields that may be the time.

import { afterString } from './lossless.js';
import { nowNanos, parseTime, rfc3339 } from './time.js';

/** @typedef {'text'|'ndjson'|'json'} Kind */

/** mediaTypes are the kinds as the server names them. @type {Record<Kind, string>} */
export const mediaTypes = { text: 'text/plain', ndjson: 'application/x-ndjson', json: 'application/json' };

/** kindNames are the kinds as people name them. @type {Record<Kind, string>} */
export const kindNames = { text: 'text lines', ndjson: 'JSON lines', json: 'JSON' };

/** lines are the lines that are not empty. @param {string} text */
export const lines = (text) => text.split(/\r?\n/).filter((l) => l.trim() !== '');

/**
 * exact keeps all digits of integers that a number would round, where the browser gives their source text.
 * @param {string} _
 * @param {any} v
 * @param {{source?: string}} [written]
 */
const exact = (_, v, written) => (typeof v === 'number' && !Number.isSafeInteger(v) &&
  /^-?\d+$/.test(written?.source ?? '') ? BigInt(written?.source ?? '') : v);

/** @param {string} text @returns {any} undefined: no JSON */
function read(text) {
  try {
    return JSON.parse(text, /** @type {any} */ (exact));
  } catch {
    return undefined;
  }
}

/** @param {any} v */
const isObject = (v) => typeof v === 'object' && v !== null && !Array.isArray(v);

/**
 * guessKind looks at the first lines: most of them being objects makes JSON lines of all.
 * @param {string} text
 * @returns {Kind}
 */
export function guessKind(text) {
  const head = lines(text.slice(0, 200_000)).slice(0, 50);
  const objects = head.filter((l) => isObject(read(l))).length;
  if (head.length > 0 && objects * 2 > head.length) return 'ndjson';
  const first = text.trimStart()[0];
  if ((first === '{' || first === '[') && typeof read(text) === 'object') return 'json';
  return 'text';
}

/**
 * entries returns the first entries of pasted text. Entries that cannot be read are left out.
 * @param {string} text
 * @param {Kind} kind
 * @param {number} most
 * @returns {any[]}
 */
export function entries(text, kind, most) {
  if (kind === 'text') return lines(text).slice(0, most).map((l) => ({ message: l }));
  if (kind === 'ndjson') return lines(text).slice(0, most).map(read).filter(isObject);
  const v = read(text);
  return (Array.isArray(v) ? v : [v]).filter(isObject).slice(0, most);
}

/**
 * firstEntries cuts pasted text to so many entries, as text.
 * @param {string} text
 * @param {Kind} kind
 * @param {number} most
 */
export function firstEntries(text, kind, most) {
  if (kind !== 'json') return lines(text).slice(0, most).join('\n');
  const begin = text.search(/\S/);
  if (text[begin] !== '[') return text;
  for (let i = begin + 1, depth = 0, count = 0; i < text.length; i++) { // as it is written, to the digit
    if (text[i] === '"') i = afterString(text, i) - 1;
    else if (text[i] === '[' || text[i] === '{') depth++;
    else if (text[i] === ']' || text[i] === '}') depth--;
    else if (text[i] === ',' && depth === 0 && ++count === most) return text.slice(0, i) + ']';
  }
  return text;
}

/** countEntries is how many entries there are. @param {string} text @param {Kind} kind */
export function countEntries(text, kind) {
  if (kind !== 'json') return lines(text).length;
  const v = read(text);
  return Array.isArray(v) ? v.length : v === undefined ? 0 : 1;
}

/** badLine is the first line that is not a JSON object, from 1; 0: none. @param {string} text @param {Kind} kind */
export function badLine(text, kind) {
  if (kind !== 'ndjson') return 0;
  return text.split(/\r?\n/).findIndex((l) => l.trim() !== '' && !isObject(read(l))) + 1;
}

const dated = /^\d{4}-\d\d-\d\d[T ]\d\d:\d\d:\d\d([.,]\d{1,9})?(Z|[+-]\d\d:?\d\d)$/;
const usual = ['timestamp', '@timestamp', 'time', 'ts', 'datetime', 'date', 'created_at', 'eventtime', 't'];

const scales = { s: 1_000_000_000n, ms: 1_000_000n, us: 1000n, ns: 1n };

/**
 * spanOf is from when to when entries are, ns; null where none says so.
 * @param {any[]} list
 * @param {{field: string, index: string}} time as timeFields gives it
 */
export function spanOf(list, time) {
  const scale = scales[/** @type {keyof typeof scales} */ (time.index.slice(time.field.length).split(';')[2])];
  const at = list.map((e) => e[time.field])
    .map((v) => (typeof v === 'string' ? parseTime(v, 'UTC', 0n)?.ns
      : (typeof v === 'bigint' || Number.isInteger(v)) && scale ? BigInt(v) * scale
      : undefined)).filter((v) => v !== undefined);
  if (at.length === 0) return null;
  return { from: at.reduce((a, b) => (b < a ? b : a)), to: at.reduce((a, b) => (b > a ? b : a)) };
}

/** @param {number} n @returns {'s'|'ms'|'us'|'ns'|''} by size: instants between 2001 and 2100 */
function epochUnit(n) {
  for (const [unit, scale] of /** @type {['s'|'ms'|'us'|'ns', number][]} */ ([['s', 1], ['ms', 1e3], ['us', 1e6],
    ['ns', 1e9]])) {
    if (n >= 1e9 * scale && n < 4.1e9 * scale) return unit;
  }
  return '';
}

/**
 * timeFields finds the fields whose values all read as times: what the server is told (custom_time_index) and the first
 * values as they will be read. The usual names come first.
 * @param {any[]} list entries
 * @returns {{field: string, index: string, shown: string[]}[]}
 */
export function timeFields(list) {
  const found = [];
  for (const field of new Set(list.slice(0, 20).flatMap((e) => Object.keys(e)))) {
    const values = list.map((e) => e[field]).filter((v) => v !== undefined && v !== null);
    if (values.length === 0 || field.includes(';')) continue;
    if (values.every((v) => typeof v === 'string' && dated.test(v) && v.includes('T') && !v.includes(','))) {
      found.push({ field, index: `${field};datestr;%+`, shown: values.slice(0, 3) });
      continue;
    }
    const unit = values.every((v) => typeof v === 'bigint' || Number.isInteger(v)) ? epochUnit(Number(values[0])) : '';
    if (unit && values.every((v) => epochUnit(Number(v)) === unit)) {
      found.push({ field, index: `${field};epoch;${unit}`,
        shown: values.slice(0, 3).map((v) => rfc3339(BigInt(v) * scales[unit])) });
    }
  }
  const place = (/** @type {{field: string}} */ f) => (usual.indexOf(f.field.toLowerCase()) + 1) || usual.length + 1;
  return found.sort((a, b) => place(a) - place(b));
}

/** example are lines to begin with. */
export function example() {
  const at = (/** @type {bigint} */ ago) => rfc3339(nowNanos() - ago * 1_000_000_000n);
  return [
    { ts: at(3n), level: 'info', service: 'cart', message: 'cart opened', user: { id: 17 }, took_ms: 12 },
    { ts: at(2n), level: 'warn', service: 'cart', message: 'slow answer of the stock service', took_ms: 1840 },
    { ts: at(1n), level: 'error', service: 'checkout', message: 'timeout after 30s calling payment', status: 504,
      took_ms: 30000 },
  ].map((e) => JSON.stringify(e)).join('\n') + '\n';
}
