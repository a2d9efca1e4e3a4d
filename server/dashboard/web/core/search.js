// The search language: one line that becomes a condition of SQL. The same grammar is written in Go for the command
// line, in sqlexec/search, which says what the grammar leaves open; testdata/search.json has the cases that both pass.

import { distance } from './fuzzy.js';
import { anyOrNone, as, joined, literal, present, test, than } from './searchsql.js';
import * as sqltext from './sqltext.js';

/**
 * @typedef {{name: string, type: string}} Field
 * @typedef {{message: string|null, fields: Field[], anyCase?: boolean}} Context message is the column of bare words
 * @typedef {{message: string, from: number, to: number, near?: string[], asText?: string}} Problem asText is the query
 *   that searches for it as text
 * @typedef {{sql: string, parts: string[], words: string[], problem: Problem|null}} Found parts are joined by AND;
 *   words are the texts that hits marks
 * @typedef {{text: string, op: ''|'&'|'|'}} Clause op stands outside of all parentheses
 * @typedef {{yes: Clause, no: Clause, parts?: string[]}} Condition no is its negation: true for rows that
 *   have no value, too
 * @typedef {{kind: 'word'|'phrase'|'begin'|'part'|'regex'|'regexi', text: string, at: number, end: number}} Piece
 * @typedef {{kind: 'text'|'number'|'truth'|'time'|'member'|'other', column: Field, sql: string, path: string}} Subject
 */

const longest = 8192;
const deepest = 50;

class SearchError extends Error {
  /** @param {string} message @param {number} at @param {number} length @param {Partial<Problem>} [more] */
  constructor(message, at, length, more = {}) {
    super(message);
    this.problem = { message, from: at, to: at + length, ...more };
  }
}

/** search reads a query. @param {string} text @param {Context} context @returns {Found} */
export function search(text, context) {
  try {
    if (text.length > longest)
      throw new SearchError(`the search has ${text.length} characters; at most ${longest} are allowed`, longest,
        text.length - longest);
    const p = new Parser(text, context);
    p.blanks();
    if (p.at === text.length) return { sql: '', parts: [], words: [], problem: null };
    const c = p.or();
    if (p.at < text.length) p.fail(p.at, 1, 'this parenthesis was not opened');
    return { sql: c.yes.text, parts: c.parts ?? [c.yes.text], words: p.words, problem: null };
  } catch (e) {
    if (e instanceof SearchError) return { sql: '', parts: [], words: [], problem: e.problem };
    throw e;
  }
}

const isNumber = /^[+-]?[0-9]+(\.[0-9]+)?([eE][+-]?[0-9]+)?$/;
const isTime =
  /^[0-9]{4}-[0-9]{2}-[0-9]{2}([T ][0-9]{2}:[0-9]{2}(:[0-9]{2}(\.[0-9]{1,9})?)?(Z|[+-][0-9]{2}:?[0-9]{2})?)?$/;
const isTruth = /^(true|false)$/i;
const wants = { number: 'a number', truth: 'true or false', time: 'a time like 2026-11-21T03:46:00Z',
  other: '* (has a value)', text: '', member: '' };
/** @type {[string, string][]} longer comparisons before those they begin with */
const compares = [['>=', '>='], ['<=', '<='], ['!=', 'IS DISTINCT FROM'], ['>', '>'], ['<', '<'], ['=', '=']];

/** @param {string} type @returns {Subject['kind']} */
function kindOf(type) {
  if (sqltext.isNumeric(type)) return 'number';
  if (sqltext.isBoolean(type)) return 'truth';
  if (sqltext.isTime(type) || /^date/i.test(type)) return 'time';
  return sqltext.isText(type) ? 'text' : 'other';
}

class Parser {
  /** @param {string} text @param {Context} context */
  constructor(text, context) {
    this.src = text;
    this.at = 0;
    this.context = context;
    /** @type {string[]} */
    this.words = [];
    this.depth = 0;
    this.negated = false;
  }

  /**
   * @param {number} at
   * @param {number} length
   * @param {string} message
   * @param {Partial<Problem>} [more]
   * @returns {never}
   */
  fail(at, length, message, more) {
    throw new SearchError(message, at, length, more);
  }

  blanks() {
    while (this.at < this.src.length && blank(this.src[this.at])) this.at++;
  }

  /** ahead reports whether a word that joins terms stands here. @param {string} word */
  ahead(word) {
    const behind = this.src[this.at + word.length];
    return this.src.startsWith(word, this.at) &&
      (behind === undefined || blank(behind) || behind === '(' || behind === ')');
  }

  /** @param {string} word */
  keyword(word) {
    if (!this.ahead(word)) return false;
    this.at += word.length;
    this.blanks();
    return true;
  }

  /** @returns {Condition} */
  or() {
    const list = [];
    do list.push(this.and()); while (this.keyword('OR'));
    return joined(list, '|');
  }

  /** @returns {Condition} */
  and() {
    const list = [];
    for (;;) {
      list.push(this.not());
      if (this.keyword('AND')) continue;
      if (this.at === this.src.length || this.src[this.at] === ')' || this.ahead('OR')) return joined(list, '&');
    }
  }

  /** @returns {Condition} */
  not() {
    let negated = this.keyword('NOT');
    const next = this.src[this.at + 1];
    if (!negated && this.src[this.at] === '-' && next !== undefined && !blank(next) && next !== ')') {
      this.at++;
      negated = true;
    }
    const before = this.negated;
    this.negated = before !== negated;
    const c = this.term();
    this.negated = before;
    return negated ? { yes: c.no, no: c.yes } : c;
  }

  /** @returns {Condition} */
  term() {
    const start = this.at;
    if (this.at === this.src.length) this.fail(this.at, 0, 'a term is missing here');
    if (this.src[this.at] === ')' || this.ahead('OR') || this.ahead('AND'))
      this.fail(this.at, 1, 'a term is missing before this');
    if (this.src[this.at] !== '(') {
      const c = this.field();
      this.blanks();
      return c;
    }
    if (++this.depth > deepest) this.fail(start, 1, `more than ${deepest} parentheses are nested in each other`);
    this.at++;
    this.blanks();
    if (this.src[this.at] === ')') this.fail(start, this.at + 1 - start, 'there is nothing in these parentheses');
    const c = this.or();
    if (this.src[this.at] !== ')') this.fail(start, 1, 'this parenthesis is not closed');
    this.at++;
    this.depth--;
    this.blanks();
    return { yes: c.yes, no: c.no };
  }

  /** field reads a field with its value, or text to look for in the message. @returns {Condition} */
  field() {
    const start = this.at;
    const found = this.fieldName();
    if (!found) return this.message();
    const subject = this.subject(found.text);
    if (this.ends(this.at, '')) {
      if (!subject) {
        this.at = start;
        return this.message();
      }
      this.fail(this.at, 0, `a value is missing behind ${found.text}:`);
    }
    if (!subject) {
      const word = /^\S*/.exec(this.src.slice(start))?.[0].replace(/\)+$/, '') ?? '';
      this.fail(start, found.end - start, `the table has no column "${found.text}"`,
        { near: this.near(found.text),
          asText: this.src.slice(0, start) + quote(word) + this.src.slice(start + word.length) });
    }
    return this.value(subject);
  }

  /** @returns {Condition} */
  message() {
    const t = this.piece('');
    if (t.kind === 'begin' && t.text === '') return { yes: { text: 'true', op: '' }, no: { text: 'false', op: '' } };
    const column = this.context.message;
    if (!column) this.fail(t.at, t.end - t.at, 'the table has no text column to look in: name a field');
    if (t.text === '') this.fail(t.at, t.end - t.at, 'there is nothing to look for');
    this.hit(t);
    const m = sqltext.name(column);
    const any = this.context.anyCase;
    const begins = (/^\w/.test(t.text) ? '\\b' : '') + sqltext.regex(t.text);
    const sql = t.kind === 'regex' ? `${m} ~ ${sqltext.string(t.text)}` : t.kind === 'regexi'
      ? `${m} ~* ${sqltext.string(t.text)}`
      : t.kind === 'part' ? `${m} ILIKE ${sqltext.string('%' + sqltext.like(t.text) + '%')}`
        : t.kind === 'begin' ? `${m} ${any ? '~*' : '~'} ${sqltext.string(begins)}`
          : any ? `matches_term(lower(${m}), ${sqltext.string(t.text.toLowerCase())})`
            : `matches_term(${m}, ${sqltext.string(t.text)})`;
    return test(sql, `${m} IS NULL`);
  }

  /** @param {Piece} t */
  hit(t) {
    if (!this.negated && t.text !== '' && !t.kind.startsWith('regex')) this.words.push(t.text);
  }

  /**
   * subject resolves a name: to a column, else to a member of a JSON column.
   * @param {string} field
   * @returns {Subject|null}
   */
  subject(field) {
    /** @type {Field|null} */
    let holder = null;
    for (const c of this.context.fields) {
      if (c.name === field) return { kind: kindOf(c.type), column: c, sql: sqltext.name(c.name), path: '' };
      if (sqltext.isJSON(c.type) && c.name.length > (holder?.name.length ?? 0) && field.length > c.name.length + 1 &&
        field.startsWith(c.name + '.')) holder = c;
    }
    if (!holder) return null;
    const path = field.slice(holder.name.length + 1);
    return { kind: 'member', column: holder, sql: as(holder, path, 'string'), path };
  }

  /**
   * near returns names like the mistyped one, and names that end with a dot and the mistyped name.
   * @param {string} mistyped
   */
  near(mistyped) {
    const ends = this.context.fields.filter((f) => f.name.toLowerCase().endsWith('.' + mistyped.toLowerCase()))
      .slice(0, 3).map((f) => f.name);
    let best = null, least = 3;
    for (const f of this.context.fields) {
      const d = distance(f.name, mistyped);
      if (d < least && 2 * d <= mistyped.length) {
        best = f.name;
        least = d;
      }
    }
    return best ? [best, ...ends] : ends;
  }

  /** value reads the condition after a field's colon. @param {Subject} s @returns {Condition} */
  value(s) {
    if (this.src[this.at] === '(') return this.list(s);
    for (const [typed, sql] of compares) {
      if (!this.src.startsWith(typed, this.at)) continue;
      this.at += typed.length;
      return this.compare(s, sql, this.literal(''));
    }
    if (this.src[this.at] === '*' && this.ends(this.at + 1, '')) {
      this.at++;
      return present(s);
    }
    const v = this.piece('..');
    const plain = v.kind === 'word' || v.kind === 'phrase';
    if (plain && this.src.startsWith('..', this.at) && !this.ends(this.at + 2, '')) {
      this.at += 2;
      return this.between(s, v, this.literal(''));
    }
    if (plain) return this.compare(s, '=', v);
    if (s.kind !== 'text' && s.kind !== 'member') this.mismatch(s, v);
    if (s.column.name === this.context.message) this.hit(v);
    const sql = v.kind === 'regex' ? `${s.sql} ~ ${sqltext.string(v.text)}` : v.kind === 'regexi'
      ? `${s.sql} ~* ${sqltext.string(v.text)}`
      : v.kind === 'part' ? `${s.sql} ILIKE ${sqltext.string('%' + sqltext.like(v.text) + '%')}`
        : `${s.sql} LIKE ${sqltext.string(sqltext.like(v.text) + '%')}`;
    return test(sql, `${s.sql} IS NULL`);
  }

  /** literal reads a word or a phrase that means itself. @param {string} stop @returns {Piece} */
  literal(stop) {
    if (this.ends(this.at, stop)) this.fail(this.at, 0, 'a value is missing here');
    if (this.src[this.at] === '"') return this.phrase();
    const l = this.word(stop);
    return l.kind === 'begin' ? { ...l, kind: 'word', text: l.text + '*' } : l;
  }

  /** list reads values in parentheses, one of which the field has. @param {Subject} s @returns {Condition} */
  list(s) {
    const start = this.at++;
    const members = [], literals = [];
    for (;;) {
      this.blanks();
      const l = this.literal(',');
      members.push(this.compare(s, '=', l));
      literals.push(literal(s, l));
      this.blanks();
      if (this.src[this.at] === ',') {
        this.at++;
        continue;
      }
      if (this.at === this.src.length) this.fail(start, 1, 'this parenthesis is not closed');
      if (this.src[this.at] !== ')') this.fail(this.at, 1, 'a comma or a closing parenthesis is missing before this');
      this.at++;
      return s.kind === 'member' ? joined(members, '|')
        : test(`${s.sql} IN (${literals.join(',')})`, `${s.sql} IS NULL`);
    }
  }

  /**
   * compare is a comparison with a literal; a member's type is known only row by row.
   * @param {Subject} s
   * @param {string} op
   * @param {Piece} l
   * @returns {Condition}
   */
  compare(s, op, l) {
    this.fits(s, l);
    const equality = op === '=' || op === 'IS DISTINCT FROM';
    if (s.kind === 'member' && l.kind === 'word') {
      if (isNumber.test(l.text)) {
        const n = { ...s, kind: /** @type {const} */ ('number'), sql: as(s.column, s.path, 'float') };
        return equality ? anyOrNone(op, than(s, '=', l), than(n, '=', l)) : than(n, op, l);
      }
      if (isTruth.test(l.text) && equality)
        return anyOrNone(op, than(s, '=', l), than({ ...s, kind: 'truth', sql: as(s.column, s.path, 'bool') }, '=', l));
    }
    return than(s, op, l);
  }

  /** @param {Subject} s @param {Piece} from @param {Piece} to @returns {Condition} */
  between(s, from, to) {
    this.fits(s, from);
    this.fits(s, to);
    if (s.kind === 'member' && from.kind === 'word' && isNumber.test(from.text) && isNumber.test(to.text))
      s = { ...s, kind: 'number', sql: as(s.column, s.path, 'float') };
    return test(`${s.sql} BETWEEN ${literal(s, from)} AND ${literal(s, to)}`, `${s.sql} IS NULL`);
  }

  /** fits throws unless a literal can be a value of the column. @param {Subject} s @param {Piece} l */
  fits(s, l) {
    const ok = { number: isNumber.test(l.text), truth: isTruth.test(l.text), time: isTime.test(l.text), other: false,
      text: true, member: true }[s.kind];
    if (!ok) this.mismatch(s, l);
  }

  /** @param {Subject} s @param {Piece} l @returns {never} */
  mismatch(s, l) {
    return this.fail(l.at, l.end - l.at,
      `column "${s.column.name}" is of type ${s.column.type} and takes ${wants[s.kind]}`);
  }

  /**
   * ends reports whether a word ends before the character at a place.
   * @param {number} at
   * @param {string} stop '' nowhere else, ',' at a comma, '..' at two dots that something follows
   * @returns {boolean}
   */
  ends(at, stop) {
    const c = this.src[at];
    if (c === undefined || blank(c) || c === ')') return true;
    if (stop === ',') return c === ',';
    return stop === '..' && c === '.' && this.src[at + 1] === '.' && !this.ends(at + 2, '');
  }

  /** piece reads a word, a phrase or a regular expression. @param {string} stop @returns {Piece} */
  piece(stop) {
    const regex = this.src[this.at] === '/' ? this.regex(stop) : null;
    if (regex) return regex;
    const at = this.at;
    const part = this.src[at] === '~' && !this.ends(at + 1, stop);
    if (part) {
      this.at++;
      if (stop === '..') stop = '';
    }
    const found = this.src[this.at] === '"' ? this.phrase() : this.word(stop);
    return part ? { ...found, kind: 'part', at } : found;
  }

  /** @returns {Piece} */
  phrase() {
    const at = this.at;
    let text = '';
    for (this.at++; this.at < this.src.length; this.at++) {
      const c = this.src[this.at];
      if (c === '"') return { kind: 'phrase', text, at, end: ++this.at };
      if (c === '\\' && this.at + 1 < this.src.length) this.at++;
      text += this.src[this.at];
    }
    return this.fail(at, this.src.length - at, 'this quote is not closed');
  }

  /**
   * word reads up to a blank; parentheses that it opens are its own. A star at its end makes it the beginning of a
   * word.
   * @param {string} stop
   * @returns {Piece}
   */
  word(stop) {
    const at = this.at;
    let text = '', open = 0, star = false;
    for (; this.at < this.src.length; this.at++) {
      const c = this.src[this.at];
      if ((open === 0 && this.at > at && this.ends(this.at, stop)) || blank(c) || (open === 0 && c === ')')) break;
      star = c === '*';
      if (c === '(') open++;
      else if (c === ')') open--;
      else if (c === '\\' && this.at + 1 < this.src.length) this.at++;
      text += this.src[this.at];
    }
    return star ? { kind: 'begin', text: text.replace(/\*$/, ''), at, end: this.at }
      : { kind: 'word', text, at, end: this.at };
  }

  /**
   * regex reads a regular expression. A text that begins like one and has no end is none.
   * @param {string} stop
   * @returns {Piece|null}
   */
  regex(stop) {
    let text = '';
    for (let i = this.at + 1; i < this.src.length; i++) {
      const c = this.src[i];
      if (c === '\\' && i + 1 < this.src.length) {
        i++;
        text += (this.src[i] === '/' ? '' : '\\') + this.src[i];
      } else if (c !== '/') {
        text += c;
      } else {
        const any = this.src[i + 1] === 'i';
        const end = i + (any ? 2 : 1);
        if (text === '' || !this.ends(end, stop)) return null;
        const at = this.at;
        this.at = end;
        return { kind: any ? 'regexi' : 'regex', text, at, end };
      }
    }
    return null;
  }

  /**
   * fieldName reads a name and the colon behind it; null, and nothing is read, where none stands.
   * @returns {{text: string, end: number}|null}
   */
  fieldName() {
    let text = '';
    for (let i = this.at; i < this.src.length; i++) {
      const c = String.fromCodePoint(/** @type {number} */ (this.src.codePointAt(i)));
      if (c === '\\' && i + 1 < this.src.length) {
        text += this.src[++i];
      } else if (c === ':' && i > this.at) {
        if (this.src[i + 1] === ':' || this.src.startsWith('//', i + 1)) return null;
        this.at = i + 1;
        return { text, end: i };
      } else if (/[\p{L}_@]/u.test(c) || (i > this.at && /[\p{N}.\-$#]/u.test(c))) {
        text += c;
        i += c.length - 1;
      } else {
        return null;
      }
    }
    return null;
  }
}

/** @param {string} c */
const blank = (c) => ' \t\n\v\f\r\u00a0'.includes(c);

/** @param {string} text */
const quote = (text) => '"' + text.replace(/[\\"]/g, '\\$&') + '"';

/**
 * hits is the expression that marks the words of a query in a message; null when there are none.
 * @param {string[]} words
 */
export function hits(words) {
  const parts = [...new Set(words)].sort((a, b) => b.length - a.length).slice(0, 50).map(sqltext.regex);
  return parts.length === 0 ? null : new RegExp(parts.join('|'), 'gi');
}

/**
 * term writes a condition on a field in the search language.
 * @param {string} field
 * @param {unknown} v
 * @param {boolean} negated
 */
export function term(field, v, negated) {
  const name = field.replace(/[^\p{L}\p{N}_@.$#-]|^[\p{N}.$#-]/gu, '\\$&');
  if (v === null) return `${negated ? '' : '-'}${name}:*`;
  const text = String(v);
  const value = /^[^\s"()\\*~/<>=!,][^\s"()\\*]*$/.test(text) && !text.includes('..') ? text
    : '"' + text.replace(/[\\"]/g, '\\$&') + '"';
  return `${negated ? '-' : ''}${name}:${value}`;
}
