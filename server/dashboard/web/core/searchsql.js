// The conditions that the search language becomes.

import * as sqltext from './sqltext.js';

/**
 * @typedef {import('./search.js').Field} Field
 * @typedef {import('./search.js').Clause} Clause
 * @typedef {import('./search.js').Condition} Condition
 * @typedef {import('./search.js').Piece} Piece
 * @typedef {import('./search.js').Subject} Subject
 */

/** @param {string} sql @param {string} absent the condition of rows without a value @returns {Condition} */
export const test = (sql, absent) =>
  ({ yes: { text: sql, op: '' }, no: { text: `(${absent} OR NOT ${sql})`, op: '' } });

/**
 * joined puts an operator between conditions, and the other operator between their negations.
 * @param {Condition[]} list
 * @param {'&'|'|'} yes
 * @returns {Condition}
 */
export function joined(list, yes) {
  if (list.length === 1) return list[0];
  const write = (/** @type {Clause[]} */ clauses, /** @type {'&'|'|'} */ op) =>
    clauses.map((c) => (c.op !== '' && c.op !== op ? `(${c.text})` : c.text));
  const no = yes === '&' ? '|' : '&';
  const words = { '&': ' AND ', '|': ' OR ' };
  const parts = write(list.map((c) => c.yes), yes);
  return { yes: { text: parts.join(words[yes]), op: yes },
    no: { text: write(list.map((c) => c.no), no).join(words[no]), op: no }, parts: yes === '&' ? parts : undefined };
}

/** as is a member as a value of a type. @param {Field} column @param {string} path @param {string} kind */
export const as = (column, path, kind) => `json_get_${kind}(${sqltext.name(column.name)},${sqltext.string(path)})`;

/** @param {Subject} s @returns {Condition} */
export function present(s) {
  if (s.kind === 'member')
    return test(`json_path_exists(${sqltext.name(s.column.name)},${sqltext.string(s.path)})`,
      `${sqltext.name(s.column.name)} IS NULL`);
  return { yes: { text: `${s.sql} IS NOT NULL`, op: '' }, no: { text: `${s.sql} IS NULL`, op: '' } };
}

/**
 * than compares a subject with a literal that fits it. "Not equal" holds for rows without a value, too.
 * @param {Subject} s
 * @param {string} op
 * @param {Piece} l
 * @returns {Condition}
 */
export function than(s, op, l) {
  /** @type {Clause} */
  const equal = { text: `${s.sql} = ${literal(s, l)}`, op: '' };
  /** @type {Clause} */
  const distinct = { text: `${s.sql} IS DISTINCT FROM ${literal(s, l)}`, op: '' };
  if (op === '=') return { yes: equal, no: distinct };
  if (op === 'IS DISTINCT FROM') return { yes: distinct, no: equal };
  return test(`${s.sql} ${op} ${literal(s, l)}`, `${s.sql} IS NULL`);
}

/**
 * anyOrNone is the condition that one of two holds, or, when op means "differs", that neither does.
 * @param {string} op
 * @param {Condition} a
 * @param {Condition} b
 * @returns {Condition}
 */
export function anyOrNone(op, a, b) {
  const c = joined([a, b], '|');
  return op === '=' ? c : { yes: c.no, no: c.yes };
}

/** @param {Subject} s @param {Piece} l */
export const literal = (s, l) => (s.kind === 'number' ? l.text.replace(/^\+/, '')
  : s.kind === 'truth' ? l.text.toLowerCase() : sqltext.string(l.text));
