// Texts of SQL: where statements begin and end, which one the cursor is in, how they break into lines, and which of
// them destroy something. A small lexer knows strings, quoted names and comments as the server does; nothing here
// understands more. The expression of TQL is of another language, whose quotes it does not know.

/** @typedef {{kind: 'text'|'string'|'name'|'comment'|'end', from: number, to: number}} Piece */

/**
 * pieces cuts a text into runs of plain text, strings, quoted names, comments and semicolons.
 * @param {string} text
 * @returns {Piece[]}
 */
export function pieces(text) {
  /** @type {Piece[]} */
  const list = [];
  let at = 0, plain = 0;
  const push = (/** @type {Piece['kind']} */ kind, /** @type {number} */ to) => {
    if (at > plain) list.push({ kind: 'text', from: plain, to: at });
    list.push({ kind, from: at, to });
    at = plain = to;
  };
  while (at < text.length) {
    const c = text[at];
    if (c === "'") push('string', closing(text, at, "'"));
    else if (/[\w$]/.test(c) || c > '\x7f') {
      const to = stringEnd(text, at);
      if (to > at) push('string', to);
      else at = wordEnd(text, at);
    } else if (c === '"' || c === '`') push('name', closing(text, at, c));
    else if (c === '-' && text[at + 1] === '-') push('comment', lineEnd(text, at));
    else if (c === '/' && text[at + 1] === '*')
      push('comment', text.indexOf('*/', at + 2) < 0 ? text.length : text.indexOf('*/', at + 2) + 2);
    else if (c === ';') push('end', at + 1);
    else at += c === '/' && text[at + 1] === '/' ? 2 : 1; // an operator, even before a star
  }
  if (at > plain) list.push({ kind: 'text', from: plain, to: at });
  return list;
}

/** A word, with what may stand in it; a number, or its beginning; a dollar of a parameter; any other character. */
const word = new RegExp('[A-Za-z_\\u{80}-\\u{9f}\\u{a1}-\\u{10ffff}](?:[\\w#$\\p{L}\\p{Nd}\\p{M}]|@(?!@))*|\\d\\w*|' +
  '\\$\\d*|[^]', 'uy');

/** wordEnd is behind the word or the number at a place. @param {string} text @param {number} at */
function wordEnd(text, at) {
  word.lastIndex = at;
  return word.test(text) ? word.lastIndex : at + 1;
}

/** The quote of a string between dollars. */
const dollars = /\$(?:[A-Za-z_\u0080-\uffff][\w\u0080-\uffff]*)?\$/y;

/**
 * stringEnd is behind the string E'..', $$..$$ or $tag$..$tag$ at a place; the place itself where none is.
 * @param {string} text
 * @param {number} at
 */
function stringEnd(text, at) {
  if (/[eE]/.test(text[at]) && text[at + 1] === "'") {
    for (let i = at + 2; i < text.length; i++) {
      if (text[i] === '\\') i++;
      else if (text[i] === "'" && text[++i] !== "'") return i;
    }
    return text.length;
  }
  dollars.lastIndex = at;
  const tag = dollars.exec(text)?.[0];
  if (!tag) return at;
  const end = text.indexOf(tag, at + tag.length);
  return end < 0 ? at : end + tag.length;
}

/**
 * closing is behind the quote that ends a text; a doubled quote does not.
 * @param {string} text
 * @param {number} open
 * @param {string} quote
 */
function closing(text, open, quote) {
  for (let at = open + 1; ;) {
    const i = text.indexOf(quote, at);
    if (i < 0) return text.length;
    if (text[i + 1] !== quote) return i + 1;
    at = i + 2;
  }
}

/** @param {string} text @param {number} at */
const lineEnd = (text, at) => (text.indexOf('\n', at) < 0 ? text.length : text.indexOf('\n', at));

/** @typedef {{text: string, from: number, to: number}} Statement without the semicolon, without blanks around it */

/**
 * split returns the statements of a text. A statement of comments alone is left out.
 * @param {string} text
 * @returns {Statement[]}
 */
export function split(text) {
  /** @type {Statement[]} */
  const found = [];
  let from = 0, substance = false;
  const finish = (/** @type {number} */ to) => {
    if (substance) {
      const raw = text.slice(from, to);
      const lead = raw.length - raw.trimStart().length;
      found.push({ text: raw.trim(), from: from + lead, to: from + raw.trimEnd().length });
    }
    substance = false;
  };
  for (const p of pieces(text)) {
    if (p.kind === 'end') {
      finish(p.from);
      from = p.to;
    } else if (p.kind !== 'comment' && text.slice(p.from, p.to).trim() !== '') {
      substance = true;
    }
  }
  finish(text.length);
  return found;
}

/**
 * statementAt is the statement a place belongs to: the one it is in, or the one before it.
 * @param {string} text
 * @param {number} at
 */
export function statementAt(text, at) {
  const all = split(text);
  return all.find((s) => at >= s.from && at <= s.to + 1) ?? all.filter((s) => s.from <= at).pop() ?? all[0] ?? null;
}

/** bare returns a statement in capitals, without its comments and quoted texts. @param {string} text */
export const bare = (text) => pieces(text)
  .map((p) => (p.kind === 'text' ? text.slice(p.from, p.to) : p.kind === 'comment' ? ' ' : p.kind === 'end' ? ';'
    : '""')).join('').toUpperCase().replace(/\s+/g, ' ').trim();

/** destroys reports whether a statement deletes data for good. @param {string} text */
export function destroys(text) {
  const b = bare(text);
  return /^(DROP|TRUNCATE)\b/.test(b) || (/^DELETE\b/.test(b) && !/\bWHERE\b/.test(b)) ||
    (/^ALTER\b/.test(b) && /\bDROP\b/.test(b));
}

/** prepares reports whether a statement changes how later statements are read. @param {string} text */
export const prepares = (text) => /^(USE|SET)\b/.test(bare(text));

/**
 * fill replaces $from, $to, $step and $db outside quotes and comments.
 * @param {string} text
 * @param {Record<string, string>} values
 */
export function fill(text, values) {
  return pieces(text).map((p) => {
    const part = text.slice(p.from, p.to);
    return p.kind === 'text' ? part.replace(/\$(from|to|step|db)\b/g, (_, k) => values[k]) : part;
  }).join('');
}

const clauses =
  'WITH|SELECT|FROM|LEFT OUTER JOIN|LEFT JOIN|RIGHT JOIN|FULL JOIN|FULL OUTER JOIN|INNER JOIN|CROSS JOIN|JOIN|WHERE|' +
  'GROUP BY|HAVING|ORDER BY|LIMIT|OFFSET|ALIGN|FILL|UNION ALL|UNION|EXCEPT|INTERSECT|VALUES|SET|ON CONFLICT';
const inner =
  'AND|OR|ON|AS|IN|IS|NOT|NULL|BETWEEN|LIKE|ILIKE|CASE|WHEN|THEN|ELSE|END|ASC|DESC|DISTINCT|INTERVAL|BY|TO|RANGE|' +
  'OVER|PARTITION|INSERT|INTO|DELETE|UPDATE|CREATE|TABLE|VIEW|DROP|ALTER|EXPLAIN|ANALYZE|SHOW|DESCRIBE|DESC|USE|TRUE|' +
  'FALSE|EXISTS|IF|CAST|FILTER|NULLS|FIRST|LAST|TQL|EVAL|ADMIN|COPY';
const clauseWords = new RegExp(`\\b(${clauses.replaceAll(' ', '\\s+')})\\b`, 'gi');
const innerWords = new RegExp(`\\b(${inner})\\b`, 'gi');

/**
 * format breaks lines before clauses and raises keywords; quotes and comments stay as they are. Twice changes nothing.
 * @param {string} text
 */
export function format(text) {
  let depth = 0, out = '';
  for (const p of pieces(text)) {
    let part = text.slice(p.from, p.to);
    if (p.kind === 'end') {
      out = out.trimEnd() + ';\n\n';
      depth = 0;
      continue;
    }
    if (p.kind === 'comment') {
      out += part + (part.startsWith('--') ? '\n' : '');
      continue;
    }
    if (p.kind !== 'text') {
      out += part;
      continue;
    }
    part = part.replace(/\s+/g, ' ').replace(innerWords, (w) => w.toUpperCase());
    let done = 0, made = '';
    for (const m of part.matchAll(clauseWords)) {
      depth += balance(part.slice(done, m.index));
      made += part.slice(done, m.index);
      const word = m[0].toUpperCase().replace(/\s+/g, ' ');
      const opensLine = depth <= 0 && (out + made).trim() !== '' && !/;\s*$/.test(out + made);
      made = opensLine ? made.trimEnd() + '\n' + word : made + word;
      done = m.index + m[0].length;
    }
    depth += balance(part.slice(done));
    made += part.slice(done);
    if (out.endsWith('\n')) made = made.trimStart();
    out = made.startsWith('\n') ? out.trimEnd() + made : out + made;
  }
  return out.trim() + (out.trim().endsWith(';') ? '\n' : '');
}

/** @param {string} text */
const balance = (text) => (text.match(/\(/g)?.length ?? 0) - (text.match(/\)/g)?.length ?? 0);
