// The only module that writes SQL. Names, values and patterns of strangers go through these functions, and nothing else
// puts text together into a statement.

/** name quotes an identifier. @param {string} text */
export const name = (text) => '"' + text.replaceAll('"', '""') + '"';

/** string quotes a value. @param {string} text */
export const string = (text) => "'" + text.replaceAll("'", "''") + "'";

/** like escapes the wildcards of LIKE. @param {string} text */
export const like = (text) => text.replace(/[\\%_]/g, '\\$&');

/** regex escapes the operators of regular expressions. @param {string} text */
export const regex = (text) => text.replace(/[\\^$.*+?()[\]{}|]/g, '\\$&');

/**
 * value writes a literal for a column of the type.
 * @param {unknown} v
 * @param {string} type as column_schemas names it
 */
export function value(v, type) {
  if (v === null || v === undefined) return 'NULL';
  if (typeof v === 'boolean') return v ? 'true' : 'false';
  if (typeof v === 'number' || typeof v === 'bigint') return Number.isFinite(Number(v)) ? String(v) : string(String(v));
  const text = typeof v === 'string' ? v : JSON.stringify(v);
  if (isNumeric(type) && /^-?\d+(\.\d+)?([eE][-+]?\d+)?$/.test(text)) return text;
  return string(text);
}

/** @param {string} type */
export const isInteger = (type) => /^u?int\d*$|^(tiny|small|big)?int( unsigned)?$/i.test(type);
/** @param {string} type */
export const isFloat = (type) => /^(float|double|real|decimal)/i.test(type);
/** @param {string} type */
export const isNumeric = (type) => isInteger(type) || isFloat(type);
/** @param {string} type */
export const isTime = (type) => /^timestamp/i.test(type);
/** @param {string} type */
export const isText = (type) => /^(string|text|varchar|char|dictionary)/i.test(type);
/** @param {string} type */
export const isBoolean = (type) => /^bool/i.test(type);
/** @param {string} type */
export const isJSON = (type) => /^json/i.test(type);

/**
 * equals is the condition that a column has the value; NULL has its own.
 * @param {string} column
 * @param {unknown} v
 * @param {string} type
 */
export function equals(column, v, type) {
  return v === null || v === undefined ? `${name(column)} IS NULL` : `${name(column)} = ${literal(v, type)}`;
}

/**
 * differs is the condition that a column has another value or none; plain <> would lose the rows without one.
 * @param {string} column
 * @param {unknown} v
 * @param {string} type
 */
export function differs(column, v, type) {
  return v === null || v === undefined ? `${name(column)} IS NOT NULL`
    : `${name(column)} IS DISTINCT FROM ${literal(v, type)}`;
}

/**
 * member is the condition on a member of a JSON value. The column may be a text column that holds JSON in some rows
 * only.
 * @param {string} column
 * @param {string} type
 * @param {(string|number)[]} path names, and places in arrays
 * @param {unknown} v
 * @param {boolean} negated
 */
export function member(column, type, path, v, negated) {
  const whole = isJSON(type) ? name(column) : `TRY_CAST(${name(column)} AS JSON)`;
  const text = path.reduce((/** @type {string} */ sql, p, i) =>
    `${sql} ${i === path.length - 1 ? '->>' : '->'} ${typeof p === 'number' ? p : string(p)}`, whole);
  if (v === null) return `${text} IS ${negated ? 'NOT ' : ''}NULL`;
  const left = typeof v === 'number' ? `TRY_CAST(${text} AS DOUBLE)` : `(${text})`;
  return `${left} ${negated ? 'IS DISTINCT FROM' : '='} ${typeof v === 'number' ? v : string(String(v))}`;
}

/** @param {unknown} v @param {string} type */
function literal(v, type) {
  if (!isTime(type)) return value(v, type);
  return string(instant(BigInt(/** @type {string} */ (v)) * unitNanos(type), digitsOf(type)));
}

/** digitsOf is the number of fraction digits of a timestamp type. @param {string} type */
export function digitsOf(type) {
  if (/nano|\(9\)/i.test(type)) return 9;
  if (/micro|\(6\)/i.test(type)) return 6;
  if (/milli|\(3\)/i.test(type)) return 3;
  return 0;
}

/** unitNanos is the length of one unit of a timestamp type, ns. @param {string} type */
export const unitNanos = (type) => 10n ** BigInt(9 - digitsOf(type));

/**
 * instant writes an instant as RFC 3339 in UTC.
 * @param {bigint} ns since the epoch
 * @param {number} digits of the fraction
 */
export function instant(ns, digits) {
  const second = ns >= 0n ? ns / 1_000_000_000n : -((-ns + 999_999_999n) / 1_000_000_000n);
  const head = new Date(Number(second) * 1000).toISOString().slice(0, 19);
  const fraction = String(ns - second * 1_000_000_000n).padStart(9, '0').slice(0, digits);
  return head + (digits > 0 ? '.' + fraction : '') + 'Z';
}

/**
 * within is the condition that a time lies in a range; an end that is null is open.
 * @param {string} column
 * @param {{from: bigint|null, to: bigint|null}} range ns
 * @param {string} type of the column
 */
export function within(column, range, type) {
  const digits = digitsOf(type);
  // An end between two instants of the column's unit is rounded up, the lower and the upper one: both comparisons then
  // keep the same rows as with the exact end.
  const unit = unitNanos(type);
  const up = (/** @type {bigint} */ ns) => instant(ns + ((unit - (ns % unit)) % unit), digits);
  const parts = [];
  if (range.from !== null) parts.push(`${name(column)} >= ${string(up(range.from))}`);
  if (range.to !== null) parts.push(`${name(column)} < ${string(up(range.to))}`);
  return parts.join(' AND ');
}

/** where joins conditions; none gives nothing. @param {...(string|undefined|false|null)} conditions */
export function where(...conditions) {
  const kept = conditions.filter((c) => c);
  if (kept.length === 0) return '';
  return ' WHERE ' + (kept.length === 1 ? kept[0]
    : kept.map((c) => (/\bOR\b/.test(String(c)) ? `(${c})` : c)).join(' AND '));
}

/** table names a table, with its database when it is given. @param {string} table @param {string} [db] */
export const table = (table, db) => (db ? name(db) + '.' : '') + name(table);

/** typeLetter is the sign of a type. @param {string} type */
export function typeLetter(type) {
  if (isTime(type) || /^date/i.test(type)) return '◷';
  if (isNumeric(type)) return '#';
  if (isBoolean(type)) return '✓';
  if (isJSON(type)) return '{}';
  if (/^binary|^blob|^varbinary/i.test(type)) return '0x';
  return 'a';
}
