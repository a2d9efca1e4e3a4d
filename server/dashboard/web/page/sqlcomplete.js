// Completion of SQL: tables, columns of the tables that the statement names, functions and keywords. Only catalogues
// are asked, never a table.

import * as catalog from '../core/catalog.js';
import { reference } from '../core/reference.js';
import { statementAt, pieces } from '../core/statements.js';
import { db } from '../core/state.js';
import * as sqltext from '../core/sqltext.js';

const keywords =
  ('SELECT FROM WHERE GROUP BY ORDER BY HAVING LIMIT OFFSET JOIN LEFT INNER ON AS AND OR NOT IN IS NULL BETWEEN LIKE ' +
    'ILIKE CASE WHEN THEN ELSE END DISTINCT INTERVAL UNION ALL WITH RANGE ALIGN FILL LINEAR PREV TQL EVAL EXPLAIN ' +
    'ANALYZE SHOW TABLES DATABASES CREATE TABLE VIEW INSERT INTO VALUES DELETE TRUNCATE DROP ALTER ADD COLUMN RENAME ' +
    'DESCRIBE USE SET ADMIN COPY TO TIME INDEX PRIMARY KEY PARTITION ASC DESC NULLS FIRST LAST EXISTS IF CAST FILTER ' +
    'OVER TRUE FALSE').split(' ');

/** calls are completions of the functions with their arguments. */
async function calls() {
  return (await reference()).sql.flatMap(([, forms]) => forms.map((form) => {
    const [name, args] = form.split(/(?=\()/, 2);
    return { label: name, type: 'function', apply: name + '(', detail: args ?? '(…)' };
  }));
}

/**
 * tablesOf finds the tables that a statement names, with their aliases.
 * @param {string} statement
 * @returns {{table: string, db: string, alias: string}[]}
 */
export function tablesOf(statement) {
  const plain = pieces(statement).filter((p) => p.kind !== 'comment')
    .map((p) => (p.kind === 'string' ? "''" : statement.slice(p.from, p.to))).join('');
  const part = '(?:"(?:[^"]|"")*"|[A-Za-z_][\\w$]*)';
  const found = [];
  for (const m of plain.matchAll(
    new RegExp(
      `\\b(?:FROM|JOIN|INTO|UPDATE|TABLE|DESC|DESCRIBE)\\s+(?:(${part})\\.)?(${part})(?:\\s+(?:AS\\s+)?(${part}))?`,
      'gi'))) {
    const alias = m[3] && !keywords.includes(m[3].toUpperCase()) ? unquote(m[3]) : '';
    found.push({ table: unquote(m[2]), db: m[1] ? unquote(m[1]) : db.value, alias });
  }
  return found.slice(0, 20);
}

/** @param {string} name */
const unquote = (name) => (name.startsWith('"') ? name.slice(1, -1).replaceAll('""', '"') : name);

/** written gives a name as it must be written. @param {string} name */
const written = (name) =>
  (/^[a-z_][a-z0-9_]*$/.test(name) && !keywords.includes(name.toUpperCase()) ? name : sqltext.name(name));

/** complete is the source of completions. @param {import('@codemirror/autocomplete').CompletionContext} context */
export async function complete(context) {
  const word = context.matchBefore(/(?:"(?:[^"]|"")*"?|[\w$])+$/) ?? { from: context.pos, to: context.pos, text: '' };
  const before = context.state.sliceDoc(Math.max(0, word.from - 200), word.from);
  const dotted = /("(?:[^"]|"")*"|[A-Za-z_][\w$]*)\.$/.exec(before);
  if (!context.explicit && word.text === '' && !dotted) return null;
  const statement = statementAt(context.state.doc.toString(), context.pos)?.text ?? '';
  const named = tablesOf(statement);
  if (dotted) return { from: word.from, options: await membersOf(unquote(dotted[1]), named), validFor: /^[\w$"]*$/ };
  const wantsTable = /\b(FROM|JOIN|INTO|UPDATE|TABLE|DESC|DESCRIBE)\s+$/i.test(before);
  const tables = (await catalog.tables(db.value)
    .catch(() => [])).map((t) => ({ label: written(t.name), type: 'class', detail: t.rows === null
      ? t.kind.toLowerCase() : `${t.rows} rows`, boost: wantsTable ? 20 : -5 }));
  if (wantsTable) {
    const names = catalog.databases.value ?? [];
    return { from: word.from,
      options: [...tables, ...names.map((n) => ({ label: n, type: 'namespace', detail: 'database' }))],
      validFor: /^[\w$"]*$/ };
  }
  const columns = await columnsOf(named);
  const words = keywords.map((k) => ({ label: k, type: 'keyword', boost: -1 }));
  const aliases = named.filter((n) => n.alias)
    .map((n) => ({ label: written(n.alias), type: 'variable', detail: n.table, boost: 5 }));
  return { from: word.from, options: [...columns, ...aliases, ...await calls(), ...words, ...tables],
    validFor: /^[\w$"]*$/ };
}

/**
 * membersOf returns the completions after a dot: columns of a table or alias, tables of a database.
 * @param {string} name
 * @param {{table: string, db: string, alias: string}[]} named
 */
async function membersOf(name, named) {
  const table = named.find((n) => n.alias === name) ?? named.find((n) => n.table === name);
  if (table) return columnsOf([table]);
  return (await catalog.tables(name).catch(() => [])).map((t) =>
    ({ label: written(t.name), type: 'class', detail: 'table' }));
}

/** @param {{table: string, db: string}[]} named */
async function columnsOf(named) {
  const lists = await Promise.all(named.map((n) => catalog.columns(n.db, n.table).catch(() => [])));
  const seen = new Set();
  return lists.flat().filter((c) => !seen.has(c.name) && seen.add(c.name))
    .map((c) => ({ label: written(c.name), type: 'property', detail: c.type, boost: 10 }));
}
