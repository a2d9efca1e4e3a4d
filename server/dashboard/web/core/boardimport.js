// Boards from files: our own documents, and dashboards of the most used tool in the field, as far as their panels ask
// PromQL or SQL. What is left out is said.

import { boardOf, everything, mostPanels, mostQueries, mostVariables } from './boards.js';

/** @typedef {import('./boards.js').Panel} Panel */
/** @typedef {import('./boards.js').Variable} Variable */
/** @typedef {{board: import('./boards.js').Board, left: string[]}} Imported left: what was left out, a sentence each */

/** kinds are the kinds of panels there and what they become here; said: they look another way. */
const kinds = /** @type {Record<string, {type: import('./boards.js').PanelType, said?: string}>} */ ({
  timeseries: { type: 'graph' }, graph: { type: 'graph' }, trend: { type: 'graph' }, 'state-timeline':
    { type: 'graph', said: 'is drawn as a graph' }, stat: { type: 'figure' }, singlestat: { type: 'figure' },
  gauge: { type: 'figure', said: 'is shown as a figure' }, bargauge: { type: 'table', said: 'is shown as a table' },
  barchart: { type: 'table', said: 'is shown as a table' }, piechart: { type: 'table', said: 'is shown as a table' },
  table: { type: 'table' }, 'table-old': { type: 'table' }, heatmap: { type: 'heat' }, logs: { type: 'logs' },
  text: { type: 'text' },
});

/** @type {Record<string, string>} */
const units = { bytes: 'bytes', decbytes: 'bytes', kbytes: '', s: 's', dtdurations: 's', ms: 'ms', percent: 'percent',
  percentunit: 'share', Bps: 'bytes', binBps: 'bytes' };

/** @param {any} v @returns {any[]} */
const list = (v) => (Array.isArray(v) ? v : []);

/**
 * read reads a file. It throws where that is neither kind of document.
 * @param {string} text
 * @param {string} db that an imported board asks
 * @returns {Imported}
 */
export function read(text, db) {
  let d;
  try {
    d = JSON.parse(text);
  } catch {
    throw new Error('The file is not JSON.');
  }
  if (d?.kind === 'board') return { board: { ...boardOf(d), revision: 0 }, left: [] };
  const from = d?.dashboard ?? d; // an export of its API has the dashboard within
  if (typeof from?.title !== 'string' || !(Array.isArray(from.panels) || Array.isArray(from.rows)))
    throw new Error('The file is neither a board nor a dashboard with a title and panels.');
  /** @type {string[]} */
  const left = [];
  const variables = list(from.templating?.list).map((v) => variableOf(v, left)).filter((v) => v !== null);
  const single = new Set(variables.filter((v) => !v.multi && !v.all).map((v) => v.name));
  const panels = flat(from).map((p) => panelOf(p, single, left)).filter((p) => p !== null);
  if (panels.length > mostPanels) left.push(`${panels.length - mostPanels} panels: a board has at most ${mostPanels}.`);
  if (list(from.annotations?.list).some((a) => a && a.builtIn !== 1 && a.enable !== false)) left.push('Annotations.');
  if (list(from.links).length > 0) left.push('Links to other dashboards.');
  const board = boardOf({ kind: 'board', name: from.title, about: from.description ?? '', db,
    from: from.time?.from ?? '', to: from.time?.to ?? '', refresh: secondsOf(from.refresh),
    variables: variables.slice(0, mostVariables), panels: panels.slice(0, mostPanels) });
  return { board, left };
}

/** @param {unknown} text a length as 30s or 5m */
function secondsOf(text) {
  const m = typeof text === 'string' ? /^(\d+)(s|m|h)$/.exec(text) : null;
  return m ? Number(m[1]) * { s: 1, m: 60, h: 3600 }[/** @type {'s'|'m'|'h'} */ (m[2])] : 0;
}

/** flat lists the panels, those of rows too. @param {any} d @returns {any[]} */
function flat(d) {
  if (!Array.isArray(d.panels)) return old(d.rows);
  return d.panels.flatMap((/** @type {any} */ p) => (p?.type === 'row' ? list(p.panels) : [p]));
}

/** old gives the panels of rows without places their places: rows have spans of twelve. @param {any[]} rows */
function old(rows) {
  let y = 0;
  return rows.flatMap((row) => {
    let x = 0, high = 8;
    const placed = list(row?.panels).map((p) => {
      const w = Math.min(24, Math.max(2, Math.round(Number(p?.span ?? 12) * 2)));
      if (x + w > 24) {
        x = 0;
        y += high;
      }
      const at = { x, y, w, h: high };
      x += w;
      return { ...p, gridPos: at };
    });
    y += high;
    return placed;
  });
}

/** nameOf names a panel in what is said of it. @param {any} p */
const nameOf = (p) => (p?.title ? `Panel "${p.title}"` : `A panel of the kind ${p?.type ?? 'unknown'}`);

/**
 * panelOf turns a panel; null where nothing of it can be shown.
 * @param {any} p
 * @param {Set<string>} single variables with one value
 * @param {string[]} left
 * @returns {Partial<Panel>|null}
 */
function panelOf(p, single, left) {
  const kind = Object.hasOwn(kinds, String(p?.type)) ? kinds[p.type] : undefined;
  if (!kind) {
    left.push(`${nameOf(p)}: ${p?.libraryPanel ? 'a library keeps it' : `the kind ${p?.type} is not known`}.`);
    return null;
  }
  const place = { x: Number(p.gridPos?.x ?? 0), y: Number(p.gridPos?.y ?? 0), w: Number(p.gridPos?.w ?? 12),
    h: Math.max(2, Number(p.gridPos?.h ?? 8)) };
  if (kind.type === 'text') return { ...place, type: 'text', title: p.title ?? '',
    text: String(p.options?.content ?? p.content ?? '') };
  const { lang, queries, other } = queriesOf(p, single);
  if (other.length > 0) left.push(`${nameOf(p)}: ${other.join(', ')}.`);
  if (queries.length === 0) return null;
  if (lang === 'sql' && kind.type === 'heat') {
    left.push(`${nameOf(p)}: a heat map of SQL.`);
    return null;
  }
  if (kind.said) left.push(`${nameOf(p)} ${kind.said}.`);
  if (list(p.transformations).length > 0) left.push(`${nameOf(p)}: its transformations.`);
  const custom = p.fieldConfig?.defaults?.custom ?? {};
  return { ...place, type: kind.type, title: String(p.title ?? ''), lang, queries,
    unit: units[p.fieldConfig?.defaults?.unit ?? ''] ?? '', form: p.stack === true || !['none', undefined].includes(
      custom.stacking?.mode) ? 'stacked' : custom.drawStyle === 'bars' ? 'bars' : custom.drawStyle === 'points'
      ? 'points' : 'line' };
}

/**
 * queriesOf takes the queries of a panel, all of one language: that of the first.
 * @param {any} p
 * @param {Set<string>} single
 */
function queriesOf(p, single) {
  /** @type {import('./boards.js').Language} */
  let lang = 'promql';
  /** @type {{q: string, name: string}[]} */
  const queries = [];
  /** @type {string[]} */
  const other = [];
  for (const t of list(p.targets)) {
    const source = t?.datasource?.type ?? p.datasource?.type ?? '';
    if (t?.hide === true) continue;
    const sql = typeof t?.rawSql === 'string' && t.rawSql.trim() !== '';
    if (!sql && (typeof t?.expr !== 'string' || source === 'loki')) {
      other.push(`a query of ${source || 'another source'}`);
      continue;
    }
    const is = sql ? 'sql' : 'promql';
    if (queries.length > 0 && is !== lang) {
      other.push('queries of a second language');
      continue;
    }
    if (queries.length === mostQueries) {
      other.push(`more than ${mostQueries} queries`);
      break;
    }
    lang = is;
    const name = typeof t.legendFormat === 'string' && t.legendFormat !== '__auto' ? t.legendFormat : '';
    queries.push({ q: sql ? singles(t.rawSql, single) : t.expr, name });
  }
  return { lang, queries, other };
}

/**
 * singles marks variables with one value that stand outside of quotes: there they are no literals.
 * @param {string} sql
 * @param {Set<string>} single
 */
const singles = (sql, single) => sql.replace(/'[^']*'|\$(\w+)|\$\{(\w+)\}/g, (whole, a, b) =>
  (single.has(a ?? b) ? `\${${a ?? b}:raw}` : whole));

/** @param {any} v @returns {string[]} */
const valuesOf = (v) => (Array.isArray(v) ? v : v === undefined || v === null ? [] : [v]).map(String);

/**
 * variableOf turns a variable; null for one that nothing here can be.
 * @param {any} v
 * @param {string[]} left
 * @returns {Variable|null}
 */
function variableOf(v, left) {
  const value = valuesOf(v?.current?.value).map((x) => (x === 'All' ? everything : x));
  const is = { name: String(v?.name ?? ''), label: String(v?.label ?? ''), multi: v?.multi === true,
    all: v?.includeAll === true, value, lang: /** @type {const} */ ('promql'), query: '',
    options: /** @type {string[]} */ ([]) };
  switch (v?.type) {
    case 'query': {
      if (v.regex) left.push(`Variable ${v.name}: the pattern that its values are cut by.`);
      const q = typeof v.query === 'string' ? v.query : v.query?.rawSql ?? v.query?.query ?? v.definition ?? '';
      const sql = /postgres|mysql|mssql/.test(v.datasource?.type ?? '') || /^\s*(select|with)\b/i.test(q);
      return { ...is, kind: 'query', lang: sql ? 'sql' : 'promql', query: String(q) };
    }
    case 'custom': case 'interval':
      return { ...is, kind: 'list', options: String(v.query ?? '').split(',').map((o) =>
        o.replace(/^.*\s:\s/, '').trim()).filter((o) => o !== '' && o !== 'auto') };
    case 'textbox': case 'constant':
      return { ...is, kind: 'text', multi: false, all: false, value: [String(v.query ?? value[0] ?? '')] };
    case 'datasource': return null; // there is one source here
    default:
      left.push(`Variable ${v?.name}: the kind ${v?.type} is not known.`);
      return null;
  }
}
