// The search language: one line that becomes a condition of SQL.
//
//   query  = or ; or = and { "OR" and } ; and = not { ["AND"] not } ; not = [ "-" | "NOT" ] term
//   term   = "(" or ")" | field ":" value | text
//   value  = cmp literal | literal ".." literal | "(" literal { "," literal } ")" | "*" | "~" word | regex | literal ["*"]
//   text   = word ["*"] | "phrase" | "~" word-or-phrase | regex ;  regex = "/" pattern "/" ["i"]

import { nearest } from './fuzzy.js';
import * as sqltext from './sqltext.js';

/**
 * @typedef {{name: string, type: string}} Field
 * @typedef {{message: string|null, fields: Field[], anyCase?: boolean}} Context message is the column of bare words
 * @typedef {{message: string, from: number, to: number, near?: string[], asText?: string}} Problem asText is the query that searches for it as text
 * @typedef {{sql: string, parts: string[], words: string[], problem: Problem|null}} Found parts are joined by AND; words are what hits mark
 * @typedef {{kind: 'leaf', yes: string, no: string}|{kind: 'and'|'or', items: Node[]}|{kind: 'not', item: Node}} Node
 */

/** Conditions nest at most so deep, and are at most so many. */
const deepest = 50;
const most = 200;

class SearchError extends Error {
  /** @param {string} message @param {number} from @param {number} to @param {Partial<Problem>} [more] */
  constructor(message, from, to, more = {}) {
    super(message);
    this.problem = { message, from, to, ...more };
  }
}

/** search reads a query. @param {string} text @param {Context} context @returns {Found} */
export function search(text, context) {
  const p = new Parser(text, context);
  try {
    const tree = p.query();
    const top = tree === null ? [] : tree.kind === 'and' ? tree.items : [tree];
    const parts = top.map((n) => (n.kind === 'or' && top.length > 1 ? `(${write(n, false)})` : write(n, false)));
    return { sql: parts.join(' AND '), parts, words: p.words, problem: null };
  } catch (e) {
    if (e instanceof SearchError) return { sql: '', parts: [], words: [], problem: e.problem };
    throw e;
  }
}

/** write turns the tree into SQL; a negation goes down to the leaves, which know what NULL means for them. @param {Node} n @param {boolean} negated @returns {string} */
function write(n, negated) {
  if (n.kind === 'not') return write(n.item, !negated);
  if (n.kind === 'leaf') return negated ? n.no : n.yes;
  const or = (n.kind === 'or') !== negated;
  return n.items.map((i) => {
    const sql = write(i, negated);
    return isGroup(i) ? `(${sql})` : sql;
  }).join(or ? ' OR ' : ' AND ');
}

/** @param {Node} n @returns {boolean} */
const isGroup = (n) => (n.kind === 'not' ? isGroup(n.item) : n.kind !== 'leaf');

class Parser {
  /** @param {string} text @param {Context} context */
  constructor(text, context) {
    this.text = text;
    this.at = 0;
    this.context = context;
    this.fields = new Map(context.fields.map((f) => [f.name, f]));
    /** @type {string[]} */
    this.words = [];
    this.depth = 0;
    this.count = 0;
    this.negated = false;
  }

  /** @returns {Node|null} */
  query() {
    this.space();
    if (this.at >= this.text.length) return null;
    const tree = this.or();
    this.space();
    if (this.at < this.text.length) throw new SearchError('a ) without its (', this.at, this.at + 1);
    return tree;
  }

  space() {
    while (/\s/.test(this.text[this.at] ?? '')) this.at++;
  }

  /** keyword takes a word in capitals that stands alone. @param {string} word */
  keyword(word) {
    this.space();
    const end = this.at + word.length;
    if (!this.text.startsWith(word, this.at) || !/[\s(]/.test(this.text[end] ?? ' ')) return false;
    if (word !== 'NOT' && this.text.slice(end).trim() === '') throw new SearchError(`nothing stands behind ${word}`, this.at, end);
    this.at = end;
    return true;
  }

  /** @returns {Node} */
  or() {
    if (++this.depth > deepest) throw new SearchError('too many brackets within each other', this.at, this.at + 1);
    const items = [this.and()];
    while (this.keyword('OR')) items.push(this.and());
    this.depth--;
    return items.length === 1 ? items[0] : { kind: 'or', items };
  }

  /** @returns {Node} */
  and() {
    const items = [this.not()];
    for (;;) {
      this.space();
      if (this.at >= this.text.length || this.text[this.at] === ')' || this.peekOr()) break;
      this.keyword('AND');
      items.push(this.not());
    }
    return items.length === 1 ? items[0] : { kind: 'and', items };
  }

  peekOr() {
    return /^OR(?=[\s(]|$)/.test(this.text.slice(this.at, this.at + 3));
  }

  /** @returns {Node} */
  not() {
    this.space();
    let negated = false;
    if (this.text[this.at] === '-' && !/[\s]|^$/.test(this.text[this.at + 1] ?? '')) {
      negated = true;
      this.at++;
    } else if (this.keyword('NOT')) {
      negated = true;
    }
    const before = this.negated;
    this.negated = this.negated !== negated;
    const item = this.term();
    this.negated = before;
    return negated ? { kind: 'not', item } : item;
  }

  /** @returns {Node} */
  term() {
    this.space();
    if (++this.count > most) throw new SearchError(`more than ${most} conditions`, this.at, this.text.length);
    if (this.at >= this.text.length) throw new SearchError('a condition is missing at the end', Math.max(0, this.at - 1), this.at);
    if (this.text[this.at] === '(') {
      const open = this.at++;
      const inner = this.or();
      this.space();
      if (this.text[this.at] !== ')') throw new SearchError('this ( is never closed', open, open + 1);
      this.at++;
      return inner;
    }
    return this.field() ?? this.words_();
  }

  /** field reads name:value where the name is a column; null when it is text. @returns {Node|null} */
  field() {
    const from = this.at;
    const quoted = /^"((?:[^"\\]|\\.)*)":/.exec(this.text.slice(from));
    const plain = /^((?:[^\s:()"\\]|\\.)+):/.exec(this.text.slice(from));
    const head = quoted ?? plain;
    if (!head) return null;
    const name = head[1].replace(/\\(.)/g, '$1');
    const behind = this.text[from + head[0].length];
    const column = this.resolve(name);
    if (!column) {
      if (quoted || !/^[A-Za-z_][\w.@-]*$/.test(name) || this.text.startsWith('//', from + head[0].length)) return null;
      const end = from + head[0].length - 1;
      const word = /^\S*/.exec(this.text.slice(from))?.[0] ?? '';
      throw new SearchError(`there is no column ${name}`, from, end, {
        near: nearest(name, [...this.fields.keys()]),
        asText: this.text.slice(0, from) + JSON.stringify(word.replace(/\)+$/, '')) + this.text.slice(from + word.replace(/\)+$/, '').length),
      });
    }
    this.at += head[0].length;
    if (behind === undefined || /\s/.test(behind)) throw new SearchError(`a value for ${name} is missing`, from, this.at);
    return this.value(column);
  }

  /** resolve finds the column of a name, or the path into a JSON column. @param {string} name */
  resolve(name) {
    const own = this.fields.get(name);
    if (own) return { sql: sqltext.name(name), type: own.type, name };
    for (let dot = name.indexOf('.'); dot > 0; dot = name.indexOf('.', dot + 1)) {
      const json = this.fields.get(name.slice(0, dot));
      if (json && sqltext.isJSON(json.type)) {
        return { sql: `json_get_string(${sqltext.name(json.name)}, ${sqltext.string(name.slice(dot + 1))})`, type: 'string', name };
      }
    }
    return null;
  }

  /** @param {{sql: string, type: string, name: string}} c @returns {Node} */
  value(c) {
    const rest = this.text.slice(this.at);
    if (/^\*(?=[\s)]|$)/.test(rest)) {
      this.at++;
      return { kind: 'leaf', yes: `${c.sql} IS NOT NULL`, no: `${c.sql} IS NULL` };
    }
    const cmp = /^(>=|<=|!=|>|<|=)/.exec(rest);
    if (cmp) {
      this.at += cmp[0].length;
      const v = this.literal(c);
      if (cmp[0] === '=') return equal(c.sql, v);
      if (cmp[0] === '!=') return { kind: 'not', item: equal(c.sql, v) };
      return leaf(`${c.sql} ${cmp[0]} ${v}`, c.sql);
    }
    if (rest[0] === '(') return this.oneOf(c);
    if (rest[0] === '/') return this.regex(c.sql);
    if (rest[0] === '~') {
      this.at++;
      const text = this.string();
      this.hit(text);
      return leaf(`${c.sql} ILIKE ${sqltext.string('%' + sqltext.like(text) + '%')}`, c.sql);
    }
    const range = /^([^\s()"]+?)\.\.([^\s()"]+)/.exec(rest);
    if (range && (sqltext.isNumeric(c.type) || sqltext.isTime(c.type))) {
      const at = this.at;
      this.at += range[0].length;
      return leaf(`${c.sql} BETWEEN ${this.check(c, range[1], at)} AND ${this.check(c, range[2], at + range[1].length + 2)}`, c.sql);
    }
    const start = this.at;
    const quoted = rest[0] === '"';
    const text = this.string();
    if (!quoted && this.text[this.at - 1] === '*' && this.text[this.at - 2] !== '\\' && text.endsWith('*')) {
      this.hit(text.slice(0, -1));
      return leaf(`${c.sql} LIKE ${sqltext.string(sqltext.like(text.slice(0, -1)) + '%')}`, c.sql);
    }
    return equal(c.sql, this.check(c, text, start));
  }

  /** oneOf reads (a,b,"c d"). @param {{sql: string, type: string, name: string}} c @returns {Node} */
  oneOf(c) {
    const open = this.at++;
    const values = [];
    for (;;) {
      this.space();
      values.push(this.literal(c, /[\s,)]/));
      this.space();
      const next = this.text[this.at++];
      if (next === ')') break;
      if (next !== ',') throw new SearchError('this ( is never closed', open, open + 1);
    }
    const list = values.join(', ');
    return { kind: 'leaf', yes: `${c.sql} IN (${list})`, no: `(${c.sql} IS NULL OR ${c.sql} NOT IN (${list}))` };
  }

  /** literal reads a value and writes it for the column's type. @param {{sql: string, type: string, name: string}} c @param {RegExp} [stop] */
  literal(c, stop) {
    const at = this.at;
    return this.check(c, this.string(stop), at);
  }

  /** check writes a text as a literal of the column, or says why it is none. @param {{type: string, name: string}} c @param {string} text @param {number} at */
  check(c, text, at) {
    if (sqltext.isNumeric(c.type)) {
      const ok = sqltext.isInteger(c.type) ? /^-?\d+$/ : /^-?(\d+\.?\d*|\.\d+)([eE][-+]?\d+)?$/;
      if (!ok.test(text) && !(sqltext.isInteger(c.type) && /^-?\d+\.\d+$/.test(text))) throw new SearchError(`${c.name} is of type ${c.type}: ${JSON.stringify(text)} is no number`, at, this.at);
      return text;
    }
    if (sqltext.isBoolean(c.type)) {
      if (!/^(true|false)$/i.test(text)) throw new SearchError(`${c.name} is of type ${c.type}: true or false is wanted`, at, this.at);
      return text.toLowerCase();
    }
    return sqltext.string(text);
  }

  /** string reads a word or a text in quotes. @param {RegExp} [stop] what ends a word */
  string(stop = /[\s)]/) {
    const from = this.at;
    if (this.text[this.at] === '"') {
      const m = /^"((?:[^"\\]|\\[^])*)"/.exec(this.text.slice(this.at));
      if (!m) throw new SearchError('this quote is never closed', this.at, this.text.length);
      this.at += m[0].length;
      return unescape(m[1]);
    }
    let out = '';
    while (this.at < this.text.length && !stop.test(this.text[this.at])) {
      if (this.text[this.at] === '\\' && this.at + 1 < this.text.length) this.at++;
      out += this.text[this.at++];
    }
    if (out === '' && this.at === from) throw new SearchError('a value is missing', from, from + 1);
    return out;
  }

  /** @param {string} sql @returns {Node} */
  regex(sql) {
    const m = /^\/((?:[^/\\]|\\[^])+)\/(i?)/.exec(this.text.slice(this.at));
    if (!m) throw new SearchError('this regular expression is never closed', this.at, this.text.length);
    this.at += m[0].length;
    return leaf(`${sql} ${m[2] ? '~*' : '~'} ${sqltext.string(m[1].replaceAll('\\/', '/'))}`, sql);
  }

  /** words_ reads a condition on the message. @returns {Node} */
  words_() {
    const { message, anyCase } = this.context;
    const from = this.at;
    if (message === null) throw new SearchError('the table has no text column to search for words: name a field', from, this.text.length);
    const m = sqltext.name(message);
    const first = this.text[this.at];
    if (first === '/' && /^\/(?:[^/\\]|\\[^])+\/i?(?=[\s)]|$)/.test(this.text.slice(this.at))) return this.regex(m);
    if (first === '~' && /[^\s)]/.test(this.text[this.at + 1] ?? ' ')) {
      this.at++;
      const text = this.string();
      this.hit(text);
      return leaf(`${m} ILIKE ${sqltext.string('%' + sqltext.like(text) + '%')}`, m);
    }
    const quoted = first === '"';
    const text = this.string();
    if (!quoted && text.length > 1 && text.endsWith('*') && this.text[this.at - 2] !== '\\') {
      this.hit(text.slice(0, -1));
      return leaf(`${m} ${anyCase ? '~*' : '~'} ${sqltext.string('\\b' + sqltext.regex(text.slice(0, -1)))}`, m);
    }
    if (text === '') throw new SearchError('there is nothing between the quotes', from, this.at);
    this.hit(text);
    return leaf(anyCase ? `matches_term(lower(${m}), ${sqltext.string(text.toLowerCase())})` : `matches_term(${m}, ${sqltext.string(text)})`, m);
  }

  /** @param {string} word */
  hit(word) {
    if (!this.negated && word.length > 0) this.words.push(word);
  }
}

/** @param {string} text */
const unescape = (text) => text.replace(/\\([^])/g, (_, c) => ({ n: '\n', t: '\t' })[/** @type {'n'} */ (c)] ?? c);

/** leaf is a condition that rows without the column do not meet; its negation they do. @param {string} sql @param {string} column @returns {Node} */
const leaf = (sql, column) => ({ kind: 'leaf', yes: sql, no: `(${column} IS NULL OR NOT ${/^matches_term/.test(sql) ? sql : `(${sql})`})` });

/** @param {string} column @param {string} value @returns {Node} */
const equal = (column, value) => ({ kind: 'leaf', yes: `${column} = ${value}`, no: `${column} IS DISTINCT FROM ${value}` });

/**
 * hits is the expression that marks the words of a query in a message; null when there are none.
 * @param {string[]} words
 */
export function hits(words) {
  const parts = [...new Set(words)].sort((a, b) => b.length - a.length).slice(0, 50).map(sqltext.regex);
  return parts.length === 0 ? null : new RegExp(parts.join('|'), 'gi');
}

/** term writes a condition on a field in the search language. @param {string} field @param {unknown} v @param {boolean} negated */
export function term(field, v, negated) {
  const name = /^[^\s:()"\\-][^\s:()"\\]*$/.test(field) ? field : JSON.stringify(field);
  if (v === null) return `${negated ? '' : '-'}${name}:*`;
  const text = String(v);
  const value = /^[^\s"()\\*~/<>=!,][^\s"()\\*]*$/.test(text) && !text.includes('..') ? text : '"' + text.replace(/[\\"]/g, '\\$&').replaceAll('\n', '\\n').replaceAll('\t', '\\t') + '"';
  return `${negated ? '-' : ''}${name}:${value}`;
}
