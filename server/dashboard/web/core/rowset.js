// Rows as they came: arrays in an array, with the methods that pages call. Runs in the worker for large answers and in
// the page for small ones; the code is the same for both.

import * as sqltext from './sqltext.js';

/** @typedef {{name: string, type: string}} Column */
/** @typedef {any[]} Row */
/** @typedef {{column: number, text: string}} Filter */

export class Rowset {
  /** @param {Column[]} columns @param {Row[]} rows */
  constructor(columns, rows) {
    this.columns = columns;
    this.rows = rows;
    /** order[i] is the row shown at place i; null: as they came. @type {Uint32Array|null} */
    this.order = null;
    this.sortBy = { column: -1, descending: false };
    /** @type {Filter[]} */
    this.filters = [];
    /** folded is the column that is ignored when equal rows are shown as one; -1: rows are not folded. */
    this.folded = -1;
    /** repeats[i] is how many equal rows the one at place i stands for. @type {Uint32Array|null} */
    this.repeats = null;
  }

  /** count is the number of rows shown. */
  count() {
    return this.order ? this.order.length : this.rows.length;
  }

  /** @param {number} i */
  at(i) {
    return this.rows[this.order ? this.order[i] : i];
  }

  /** slice gives the rows shown from one place up to another. @param {number} from @param {number} to */
  slice(from, to) {
    if (!this.order) return this.rows.slice(from, to);
    const rows = Array.from(this.order.subarray(from, to), (i) => this.rows[i]);
    return this.repeats ? rows.map((row, i) => [...row, /** @type {Uint32Array} */ (this.repeats)[from + i]]) : rows;
  }

  /** last is the row that came last. @returns {Row} */
  last() {
    return this.rows[this.rows.length - 1];
  }

  /** equalToLast is how many rows at the end, as they came, have the last one's value of a column. @param {number} c */
  equalToLast(c) {
    const value = String(this.last()[c]);
    return this.rows.length - 1 - this.rows.findLastIndex((row) => String(row[c]) !== value);
  }

  /**
   * fold shows rows that follow each other and differ in one column at most as one, with their number behind its
   * values.
   * @param {number} column -1: each by itself
   */
  fold(column) {
    this.folded = column;
    return this.arrange(this.sortBy, this.filters);
  }

  /**
   * append adds older rows and returns how many. The new page begins with the rows of the instant at which the last
   * page ended: for each row that is there already, one equal row is left out.
   * @param {Row[]} rows
   * @param {number} time column by which pages follow each other, -1: none
   */
  append(rows, time) {
    let added = rows;
    if (time >= 0 && this.rows.length > 0 && rows.length > 0) {
      const edge = String(this.rows[this.rows.length - 1][time]);
      /** @type {Map<string, number>} */
      const there = new Map();
      for (let i = this.rows.length - 1; i >= 0 && String(this.rows[i][time]) === edge; i--) {
        const key = JSON.stringify(this.rows[i]);
        there.set(key, (there.get(key) ?? 0) + 1);
      }
      added = rows.filter((row) => {
        if (String(row[time]) !== edge) return true;
        const key = JSON.stringify(row);
        const n = there.get(key) ?? 0;
        if (n > 0) there.set(key, n - 1);
        return n === 0;
      });
    }
    for (const row of added) this.rows.push(row);
    this.arrange(this.sortBy, this.filters);
    return added.length;
  }

  /** truncate drops the rows behind the first n. @param {number} n */
  truncate(n) {
    this.rows.length = Math.min(this.rows.length, n);
    return this.arrange(this.sortBy, this.filters);
  }

  /**
   * arrange sorts and filters all rows. NULL comes last in either direction.
   * @param {{column: number, descending: boolean}} sortBy column -1: as they came
   * @param {Filter[]} filters
   */
  arrange(sortBy, filters) {
    this.sortBy = sortBy;
    this.filters = filters;
    this.repeats = null;
    if (sortBy.column < 0 && filters.length === 0 && this.folded < 0) {
      this.order = null;
      return this.count();
    }
    const tests = filters.map((f) => filterTest(f.text, this.columns[f.column].type))
      .map((test, i) => ({ test, column: filters[i].column }));
    const kept = [];
    for (let i = 0; i < this.rows.length; i++) {
      if (tests.every((t) => t.test(this.rows[i][t.column]))) kept.push(i);
    }
    if (sortBy.column >= 0) this.sort(kept, sortBy);
    this.order = Uint32Array.from(this.folded < 0 ? kept : this.foldOf(kept));
    return this.count();
  }

  /** foldOf leaves out the rows that equal the one before, and counts them. @param {number[]} kept */
  foldOf(kept) {
    const first = [], repeats = [];
    for (const i of kept) {
      if (first.length > 0 && alike(this.rows[first[first.length - 1]], this.rows[i], this.folded))
        repeats[repeats.length - 1]++;
      else {
        first.push(i);
        repeats.push(1);
      }
    }
    this.repeats = Uint32Array.from(repeats);
    return first;
  }

  /** @param {number[]} kept @param {{column: number, descending: boolean}} by */
  sort(kept, by) {
    const compare = comparison(this.columns[by.column].type);
    const sign = by.descending ? -1 : 1;
    const values = this.rows.map((row) => row[by.column]);
    kept.sort((a, b) => {
      const x = values[a], y = values[b];
      if (x === null || y === null) return x === y ? a - b : x === null ? 1 : -1;
      return sign * compare(x, y) || a - b;
    });
  }

  /**
   * find gives the places of the rows that hold a text in any case, at most so many.
   * @param {string} text
   * @param {number} [most]
   */
  find(text, most = 100_000) {
    // a regular expression without case: a copy of each value in small letters would be garbage of the size of all rows
    const any = new RegExp(sqltext.regex(text), 'i');
    const places = [];
    for (let i = 0, n = this.count(); i < n && places.length < most; i++) {
      for (const v of this.at(i)) {
        if (v === null || typeof v === 'boolean') continue;
        if (any.test(typeof v === 'string' ? v : typeof v === 'object' ? JSON.stringify(v) : String(v))) {
          places.push(i);
          break;
        }
      }
    }
    return places;
  }

  /** summary returns, for each column, the number of rows with a value and the average length of its text. */
  summary() {
    return this.columns.map((_, c) => {
      let present = 0, length = 0;
      for (const row of this.rows) {
        const v = row[c];
        if (v === null) continue;
        present++;
        length += typeof v === 'string' ? v.length : 8;
      }
      return { present, length: present ? length / present : 0 };
    });
  }

  /** column gives the values of one column in the order shown. @param {number} c */
  column(c) {
    return this.slice(0, this.count()).map((row) => row[c]);
  }

  /** text writes all shown rows. @param {import('./rowtext.js').TextOptions} options */
  async text(options) {
    const { writeRows } = await import('./rowtext.js');
    return writeRows(this.columns, options.whole ? this.rows
      : this.slice(options.from ?? 0, options.to ?? this.count()), options);
  }
}

/**
 * alike reports whether two rows are equal in all columns but one.
 * @param {Row} a
 * @param {Row} b
 * @param {number} but
 */
export function alike(a, b, but) {
  return a.every((v, c) => c === but || v === b[c] ||
    (v !== null && typeof v === 'object' && JSON.stringify(v) === JSON.stringify(b[c])));
}

/**
 * comparison orders two values of a type that are not NULL.
 * @param {string} type
 * @returns {(a: any, b: any) => number}
 */
function comparison(type) {
  if (sqltext.isInteger(type) || sqltext.isTime(type)) {
    return (a, b) => {
      if (typeof a === 'number' && typeof b === 'number') return a - b;
      const x = BigInt(a), y = BigInt(b);
      return x < y ? -1 : x > y ? 1 : 0;
    };
  }
  if (sqltext.isFloat(type)) return (a, b) => Number(a) - Number(b);
  return (a, b) => {
    const x = typeof a === 'object' ? JSON.stringify(a) : String(a);
    const y = typeof b === 'object' ? JSON.stringify(b) : String(b);
    return x < y ? -1 : x > y ? 1 : 0;
  };
}

/**
 * filterTest reads the text of a filter box: null, !null, =x, !=x, >x, >=x, <x, <=x, else text contained in any case.
 * @param {string} text
 * @param {string} type
 * @returns {(v: any) => boolean}
 */
export function filterTest(text, type) {
  const t = text.trim();
  if (/^null$/i.test(t)) return (v) => v === null;
  if (/^(!|not )\s*null$/i.test(t)) return (v) => v !== null;
  const m = /^(>=|<=|!=|<>|=|>|<)\s*(.*)$/.exec(t);
  if (m && (m[1] === '=' || m[1] === '!=' || m[1] === '<>' || sqltext.isNumeric(type))) {
    const [, operator, wanted] = m;
    const numeric = sqltext.isNumeric(type) && wanted !== '' && !Number.isNaN(Number(wanted));
    const compare = comparison(numeric ? (/[.e]/i.test(wanted) ? 'double' : type) : 'string');
    return (v) => {
      if (v === null) return operator === '!=' || operator === '<>';
      const c = compare(v, wanted);
      return { '>': c > 0, '>=': c >= 0, '<': c < 0, '<=': c <= 0, '=': c === 0, '!=': c !== 0,
        '<>': c !== 0 }[operator] ?? false;
    };
  }
  const needle = t.toLowerCase();
  return (v) => v !== null && (typeof v === 'object' ? JSON.stringify(v) : String(v)).toLowerCase().includes(needle);
}
