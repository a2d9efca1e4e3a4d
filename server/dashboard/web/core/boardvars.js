// Variables of a board: their values in its queries. A value is never more than a value: in PromQL it is a part of a
// quoted text or a plain word, in SQL a literal, so that no link can change what a query does.

import { everything } from './boards.js';
import { bare, pieces } from './statements.js';
import * as sqltext from './sqltext.js';
import { interval } from './time.js';

/**
 * Chosen are the values of a variable. all: every value is meant, and list holds those that are known.
 * @typedef {{list: string[], all: boolean}} Chosen
 */

/**
 * Env is what a query of a board may name.
 * @typedef {object} Env
 * @property {Map<string, Chosen>} values
 * @property {number} from s
 * @property {number} to s
 * @property {number} step s
 * @property {import('./series.js').Grid} grid the moments of that step in the range
 * @property {string} db
 */

/** A reference: $name, ${name}, ${name:form} or [[name]]. */
const reference = /\$\{(\w+)(?::(\w+))?\}|\[\[(\w+)(?::(\w+))?\]\]|\$(\w+)/g;

/** Without quotes a value may be a number, a duration or a name; in SQL a colon is an operator. */
const plain = /^-?[\w.:]+$/, plainSQL = /^-?\w+(\.\w+)*$/;
/** What can end a text, or a statement, in SQL or PromQL. */
const ends = /["'`\\;#\n\r]/;

export class NotPlain extends Error {
  /** @param {string} name @param {string} value */
  constructor(name, value) {
    super(`Variable ${name} stands outside of quotes and has the value ${JSON.stringify(value)}, ` +
      'which is neither a number, a duration nor a name.');
  }
}

/** seconds writes a length as PromQL does. @param {number} s */
const seconds = (s) => (Number.isInteger(s) ? `${s}s` : `${Math.round(s * 1000)}ms`);

/** scrape is how often senders of metrics commonly send, s: rates look at four of these at least. */
const scrape = 15;

/** builtIn is the value of a variable that every board has. @param {string} name @param {Env} env */
function builtIn(name, { from, to, step }) {
  switch (name) {
    case '__interval': return seconds(step);
    case '__interval_ms': return String(Math.round(step * 1000));
    case '__rate_interval': return seconds(Math.max(4 * scrape, step + scrape));
    case '__range': return seconds(Math.max(1, Math.round(to - from)));
    case '__range_s': return String(Math.max(1, Math.round(to - from)));
    case '__range_ms': return String(Math.max(1000, Math.round((to - from) * 1000)));
    case '__from': return String(Math.round(from * 1000));
    case '__to': return String(Math.round(to * 1000));
    default: return null;
  }
}

/**
 * outside writes a value without quotes.
 * @param {string} name
 * @param {Chosen} c
 * @param {RegExp} form
 * @param {string} before the character before it
 */
function outside(name, c, form, before) {
  const value = c.list.join('|');
  if (c.all || c.list.length !== 1 || !form.test(value) || (value[0] === '-' && /[\w-]/.test(before)))
    throw new NotPlain(name, c.all ? 'all' : value); // two dashes would begin a comment of SQL
  return value;
}

/**
 * replaced puts values in the place of references; what nobody knows stays as it is.
 * @param {string} text
 * @param {Env} env
 * @param {(c: Chosen, name: string, form: string, before: string) => string} write before: the character before it
 * @param {string} [before] the character before the text
 */
const replaced = (text, env, write, before = '') => text.replace(reference, (whole, a, form1, b, form2, c, at) => {
  const name = a ?? b ?? c, chosen = env.values.get(name);
  return chosen ? write(chosen, name, form1 ?? form2 ?? '', at > 0 ? text[at - 1] : before)
    : builtIn(name, env) ?? whole;
});

/** fillText puts values into a title. @param {string} text @param {Env} env */
export const fillText = (text, env) => replaced(text, env, (c) => (c.all ? 'all' : c.list.join(', ')));

/** inQuotes writes a text within quotes of PromQL. @param {string} text @param {string} quote */
const inQuotes = (text, quote) => (quote === '`' ? text.replaceAll('`', '.')
  : text.replaceAll('\\', '\\\\').replaceAll(quote, '\\' + quote).replaceAll('\n', '\\n'));

/**
 * fillPromQL puts values into an expression. Behind =~ and !~ several values are alternatives, and all are anything.
 * @param {string} text
 * @param {Env} env
 */
export function fillPromQL(text, env) {
  return text.replace(/(=~|!~)?(\s*)("(?:[^"\\]|\\.)*"|'(?:[^'\\]|\\.)*'|`[^`]*`)|#[^\n]*|[^"'`#=!]+|[=!]/g,
    (whole, op, blank, quoted) => {
    if (whole[0] === '#') return whole;
    if (quoted === undefined) return replaced(whole, env, (c, name, _, before) => outside(name, c, plain, before));
    const quote = quoted[0];
    const within = replaced(quoted.slice(1, -1), env, (c, _, form) => {
      if (!op || form === 'raw') return inQuotes(c.list.join('|'), quote);
      if (c.all) return '.*';
      const list = c.list.map(sqltext.regex);
      return inQuotes(list.length === 1 ? list[0] : `(${list.join('|')})`, quote);
    });
    return (op ?? '') + blank + quote + within + quote;
  });
}

const lengths = { ms: 1e6, s: 1e9, m: 60e9, h: 3600e9, d: 86_400e9, w: 604_800e9 };

/** lengthOf reads 5m or the interval of the board, ns. @param {string} text @param {Env} env */
function lengthOf(text, env) {
  const bare = text.trim().replace(/^'|'$/g, '');
  const m = /^(\d+)\s*(ms|s|m|h|d|w)$/.exec(builtIn(bare.replace(/^\$\{?(\w+)\}?$/, '$1'), env) ?? bare);
  if (!m) throw new Error(`$__timeGroup wants a length such as 5m, not ${text.trim()}.`);
  return BigInt(m[1]) * BigInt(/** @type {Record<string, number>} */ (lengths)[m[2]]);
}

/** at writes an instant as a literal. @param {number} s */
const at = (s) => sqltext.string(sqltext.instant(BigInt(Math.round(s * 1000)) * 1_000_000n, 3));

/**
 * macros expands those of the plug-ins that dashboards of SQL are written for.
 * @param {string} text
 * @param {Env} env
 */
function macros(text, env) {
  return text
    .replace(/\$__timeFilter\(([^()]*)\)/g, (_, c) => `(${c} >= ${at(env.from)} AND ${c} < ${at(env.to)})`)
    .replace(/\$__timeGroup(Alias)?\(([^(),]*),([^(),]*)(?:,[^()]*)?\)/g, (_, alias, c, length) =>
      `date_bin(INTERVAL '${interval(lengthOf(length, env))}', ${c.trim()})${alias ? ' AS "time"' : ''}`)
    .replace(/\$__timeFrom\(\)/g, at(env.from)).replace(/\$__timeTo\(\)/g, at(env.to))
    .replace(/\$__unixEpochFilter\(([^()]*)\)/g, (_, c) =>
      `(${c} >= ${Math.floor(env.from)} AND ${c} < ${Math.ceil(env.to)})`);
}

/**
 * own are the values that the SQL page knows as well.
 * @param {string} name
 * @param {Env} env
 */
function own(name, env) {
  switch (name) {
    case 'from': return at(env.from);
    case 'to': return at(env.to);
    case 'step': return `INTERVAL '${interval(BigInt(Math.round(env.step * 1000)) * 1_000_000n)}'`;
    case 'db': return sqltext.string(env.db);
    default: return null;
  }
}

/** literals writes values as a list for IN. @param {Chosen} c */
const literals = (c) => (c.list.length === 0 ? 'NULL' : c.list.map(sqltext.string).join(', '));

/**
 * fillSQL puts values into a statement: as literals, within a quoted text as a part of it, and with the form raw as a
 * plain word. The expression of TQL is filled as PromQL, with values that end no text of either language.
 * @param {string} text
 * @param {Env} env
 */
export function fillSQL(text, env) {
  const whole = macros(text, env), words = bare(whole);
  if (!/\bTQL\b/.test(words)) return fillPieces(whole, env);
  const leads = /^TQL\b/.test(words);
  for (const name of named(whole)) {
    const bad = env.values.get(name)?.list.find((v) => (leads ? ends.test(v) : !plainSQL.test(v)));
    if (bad !== undefined) throw new NotPlain(name, bad);
  }
  return leads ? fillPromQL(whole.replace(ownName, (r, n) => ownOr(r, n, env)), env) : fillPieces(whole, env);
}

const ownName = /\$(from|to|step|db)\b/g;

/** ownOr is the value of a name that the SQL page knows. @param {string} r @param {string} name @param {Env} env */
const ownOr = (r, name, env) => (env.values.has(name) ? r : own(name, env) ?? r);

/** fillPieces puts values into the pieces of a statement. @param {string} whole @param {Env} env */
function fillPieces(whole, env) {
  return pieces(whole).map((p) => {
    const part = whole.slice(p.from, p.to);
    if (p.kind === 'comment' || p.kind === 'end') return part;
    if (p.kind === 'string') return fillString(part, env);
    if (p.kind === 'name') return replaced(part, env, (c) => c.list.join(',').replaceAll(part[0], part[0] + part[0]));
    const before = whole[p.from - 1] ?? '';
    // Values are never looked at again for references, so that what they hold is replaced nowhere.
    return part.split(/(\$(?:from|to|step|db)\b)/).map((s, i, all) => (i % 2 === 1 && !env.values.has(s.slice(1))
      ? ownOr(s, s.slice(1), env)
      : replaced(s, env, (c, name, form, last) => (['raw', 'csv', 'text'].includes(form)
        ? outside(name, c, plainSQL, last) : (/[\w'"`$]/.test(last) ? ' ' : '') + literals(c)),
      all[i - 1]?.at(-1) ?? before))).join('');
  }).join('');
}

/** fillString puts values into a string. @param {string} part with its quotes @param {Env} env */
function fillString(part, env) {
  const tag = /^\$[^$]*\$/.exec(part)?.[0];
  if (tag) return tag + replaced(part.slice(tag.length, -tag.length), env, (c, name) => {
    const value = c.list.join(',');
    if (value.includes('$')) throw new NotPlain(name, value);
    return value;
  }) + tag;
  const escapes = part[0] !== "'";
  return replaced(part, env, (c) => {
    const value = c.list.join(',').replaceAll("'", "''");
    return escapes ? value.replaceAll('\\', '\\\\') : value;
  });
}

/**
 * chosenOf is what a variable stands for: what the address says, or what the board says, as far as it may be chosen.
 * @param {import('./boards.js').Variable} v
 * @param {string[]} options
 * @param {string[]|undefined} said by the address
 * @returns {Chosen}
 */
export function chosenOf(v, options, said) {
  const wanted = said ?? v.value;
  if (v.kind === 'text') return { list: [wanted[0] ?? ''], all: false };
  if (v.all && (wanted[0] === everything || (!said && wanted.length === 0))) return { list: options, all: true };
  const some = (v.multi ? wanted : wanted.slice(0, 1)).filter((o) => o !== everything);
  if (some.length > 0) return { list: some, all: false };
  return { list: options.slice(0, 1), all: false };
}

/** named lists the variables that a text names. @param {string} text */
export const named = (text) => [...text.matchAll(reference)].map((m) => m[1] ?? m[3] ?? m[5]);
