// What the panels and variables of a board ask, and their answers in the form that is drawn.

import { ApiError, query as rowsOf } from '../core/api.js';
import { chosenOf, fillPromQL, fillSQL, named } from '../core/boardvars.js';
import { bare, split } from '../core/statements.js';
import { mostPoints, mostSeries } from '../ui/chart.js';
import * as ask from './metricsask.js';
import { labelText } from './metricsgraph.js';
import { guess, pivot } from './sqlchart.js';

/** The most rows that a panel of a table or of logs shows. */
export const mostRows = 500;
/** The most values of a variable that are offered. */
export const mostOptions = 1000;

/** @typedef {import('../core/boards.js').Board} Board */
/** @typedef {import('../core/boards.js').Panel} Panel */
/** @typedef {import('../core/boardvars.js').Env} Env */
/** @typedef {import('../core/rowset.js').Column} Column */

/**
 * Answer is what a panel draws: lines over time, rows, or buckets.
 * @typedef {{kind: 'lines', x: number[], series: import('../ui/chart.js').Series[], count: number, time: boolean}
 *   |{kind: 'rows', columns: Column[], rows: any[][], cut: boolean}
 *   |{kind: 'values', values: {name: string, value: number}[]}
 *   |{kind: 'heat', x: number[], group: import('../core/heat.js').Group|null}|{kind: 'text'}} Answer
 */

/** filled are the queries of a panel as they are sent. @param {Panel} p @param {Env} env */
export const filled = (p, env) => p.queries.filter((q) => q.q.trim() !== '')
  .map((q) => (p.lang === 'sql' ? fillSQL(q.q, env) : fillPromQL(q.q, env)));

/**
 * reading returns the only statement of a text. A board runs by itself, so it may only read.
 * @param {string} text
 */
export function reading(text) {
  const list = split(text), words = list.length === 1 ? bare(list[0].text) : '';
  // The texts of PromQL within TQL end otherwise than those of SQL: a semicolon that seems to be in one may be in none.
  if (!/^(SELECT|WITH|SHOW|DESC|DESCRIBE|EXPLAIN|TQL|VALUES)\b/.test(words) ||
    (/\bTQL\b/.test(words) && list[0].text.includes(';')))
    throw new ApiError('A board asks one statement that reads. This one may change something, or is several.',
      { statement: text });
  return list[0].text;
}

/**
 * rows asks a statement for at most so many rows.
 * @param {string} text
 * @param {number} most
 * @param {{db: string, signal: AbortSignal}} options
 */
async function rows(text, most, options) {
  const found = await rowsOf(reading(text), { ...options, limit: most + 1, background: true });
  try {
    return { columns: found.columns, rows: await found.slice(0, Math.min(found.count, most)), cut: found.count > most };
  } finally {
    found.free();
  }
}

/** legend names a series: by a form such as {{host}}, or by the labels that tell it from the others.
 * @param {string} form
 * @param {Record<string, string>} metric
 * @param {Record<string, string>} said
 */
export function legend(form, metric, said) {
  if (form) return form.replace(/\{\{\s*(\w+)\s*\}\}/g, (_, l) => metric[l] ?? '');
  return labelText(Object.fromEntries(Object.entries(metric).filter(([k]) => !(k in said))));
}

/**
 * apart gives series that have one name names of their own.
 * @template {{name: string}} S
 * @param {S[]} series
 * @returns {S[]}
 */
function apart(series) {
  const seen = new Map();
  return series.map((s) => {
    const n = (seen.get(s.name) ?? 0) + 1;
    seen.set(s.name, n);
    return n === 1 ? s : { ...s, name: `${s.name} (${n})` };
  });
}

/**
 * answer asks what a panel needs.
 * @param {Panel} p
 * @param {Env} env
 * @param {AbortSignal} signal
 * @returns {Promise<Answer>}
 */
export async function answer(p, env, signal) {
  const texts = filled(p, env), options = { db: env.db, signal };
  if (p.type === 'text' || texts.length === 0) return { kind: 'text' };
  if (p.type === 'logs' && p.lang !== 'sql') throw new ApiError('Logs are asked by SQL.');
  if (p.type === 'heat' && p.lang === 'sql')
    throw new ApiError('A heat map is asked by PromQL: buckets with le, or histograms.');
  if (p.lang === 'sql') return p.type === 'table' || p.type === 'logs'
    ? { kind: 'rows', ...await rows(texts[0], mostRows, options) } : statements(p, texts, options);
  if (p.type === 'graph' || p.type === 'heat') return ranges(p, texts, env, options);
  return instants(p, texts, env, options);
}

/**
 * ranges asks expressions over the range.
 * @param {Panel} p
 * @param {string[]} texts
 * @param {Env} env
 * @param {{db: string, signal: AbortSignal}} options
 * @returns {Promise<Answer>}
 */
async function ranges(p, texts, env, options) {
  const { grid } = env, read = await Promise.all(texts.map((query) => ask.read('readRange', 'query_range',
    { query, ...grid }, [grid, mostSeries], { ...options, background: true })));
  const x = Array.from({ length: Math.round((grid.end - grid.start) / grid.step) + 1 },
    (_, i) => grid.start + i * grid.step);
  if (p.type === 'heat') return { kind: 'heat', x, group: read[0].heat?.groups[0] ?? null };
  const series = read.flatMap((r, i) => r.lines.map((l) =>
    ({ name: legend(p.queries[i].name, l.metric, r.said), values: l.values })));
  return { kind: 'lines', x, series: apart(series).slice(0, mostSeries), time: true,
    count: read.reduce((n, r) => n + r.count, 0) };
}

/**
 * instants asks expressions at the end of the range: figures, or the rows of a table.
 * @param {Panel} p
 * @param {string[]} texts
 * @param {Env} env
 * @param {{db: string, signal: AbortSignal}} options
 * @returns {Promise<Answer>}
 */
async function instants(p, texts, env, options) {
  const read = await Promise.all(texts.map((query) => ask.read('readInstant', 'query', { query, time: env.to }, [],
    { ...options, background: true })));
  const value = (/** @type {any} */ s) => Number(s.value?.[1] ?? NaN);
  if (p.type === 'figure') return { kind: 'values', values: read.flatMap((r, i) => r.list.map((s) =>
    ({ name: legend(p.queries[i].name, s.metric, {}), value: value(s) }))) };
  return { kind: 'rows', ...joined(read.map((r, i) => ({ name: p.queries[i].name, list: r.list }))) };
}

/**
 * joined puts answers beside each other, by the labels that all of them have.
 * @param {{name: string, list: import('../core/series.js').Raw[]}[]} answers
 * @returns {{columns: Column[], rows: any[][], cut: boolean}}
 */
export function joined(answers) {
  const of = (/** @type {import('../core/series.js').Raw[]} */ list) =>
    new Set(list.flatMap((s) => Object.keys(s.metric)));
  const sets = answers.filter((a) => a.list.length > 0).map((a) => of(a.list));
  const labels = [...sets[0] ?? []].filter((l) => l !== '__name__' && sets.every((s) => s.has(l))).sort();
  /** @type {Map<string, any[]>} */
  const rows = new Map();
  answers.forEach(({ list }, i) => {
    for (const s of list) {
      const key = labels.map((l) => s.metric[l] ?? null), id = JSON.stringify(key);
      const row = rows.get(id) ?? [...key, ...answers.map(() => null)];
      row[labels.length + i] = s.value ? Number(s.value[1]) : null;
      rows.set(id, row);
    }
  });
  const values = answers.map((a, i) => ({ name: a.name && !a.name.includes('{{') ? a.name
    : answers.length > 1 ? String.fromCharCode(65 + i) : 'value', type: 'Float64' }));
  const all = [...rows.values()];
  return { columns: [...labels.map((l) => ({ name: l, type: 'String' })), ...values], rows: all.slice(0, mostRows),
    cut: all.length > mostRows };
}

/**
 * statements asks SQL for a graph or for figures.
 * @param {Panel} p
 * @param {string[]} texts
 * @param {{db: string, signal: AbortSignal}} options
 * @returns {Promise<Answer>}
 */
async function statements(p, texts, options) {
  const read = await Promise.all(texts.map((t) => rows(t, mostPoints, options)));
  if (p.type === 'figure') return { kind: 'values', values: read.flatMap(figuresOf) };
  const drawn = read.map((r) => {
    const g = guess(r.columns);
    if (!g || g.shape === 'number' || g.shape === 'bars')
      throw new ApiError('A graph needs a time and a number; this statement gives neither form.',
        { statement: texts[0] });
    return { time: g.shape === 'time', ...pivot(r.rows, r.columns, g) };
  });
  if (drawn.length === 1)
    return { kind: 'lines', ...drawn[0], count: drawn[0].series.length + drawn[0].left };
  const x = [...new Set(drawn.flatMap((d) => d.x))].sort((a, b) => a - b), at = new Map(x.map((v, i) => [v, i]));
  const series = drawn.flatMap((d) => d.series.map((s) => {
    const values = /** @type {(number|null)[]} */ (new Array(x.length).fill(null));
    s.values.forEach((v, i) => { values[/** @type {number} */ (at.get(d.x[i]))] = v; });
    return { name: s.name, values };
  }));
  return { kind: 'lines', x, series: apart(series).slice(0, mostSeries), count: series.length, time: drawn[0].time };
}

/**
 * figuresOf are the numbers of a result: of its first row, or the last of each series over time.
 * @param {{columns: Column[], rows: any[][]}} r
 */
function figuresOf({ columns, rows: list }) {
  const g = guess(columns);
  if (!g || list.length === 0) return [];
  if (g.shape === 'time') return pivot(list, columns, g).series.map((s) =>
    ({ name: s.name, value: s.values.findLast((v) => v !== null) ?? NaN }));
  if (g.shape === 'bars') return list.slice(0, 24).map((r) =>
    ({ name: String(r[g.x] ?? 'none'), value: r[g.values[0]] === null ? NaN : Number(r[g.values[0]]) }));
  return columns.map((c, i) => ({ name: columns.length > 1 ? c.name : '', value: list[0][i] === null ? NaN
    : Number(list[0][i]) }));
}

/**
 * optionsOf asks for the values of a variable: of a label as label_values(metric, label) does, the names of metrics, or
 * the first column of a statement.
 * @param {import('../core/boards.js').Variable} v
 * @param {Env} env
 * @param {AbortSignal} signal
 * @returns {Promise<string[]>}
 */
export async function optionsOf(v, env, signal) {
  if (v.kind === 'list') return v.options;
  if (v.kind === 'text' || v.query.trim() === '') return [];
  if (v.lang === 'sql') {
    const found = await rows(fillSQL(v.query, env), mostOptions, { db: env.db, signal });
    return [...new Set(found.rows.filter((r) => r[0] !== null).map((r) => String(r[0])))];
  }
  const text = fillPromQL(v.query.trim(), env);
  const of = /^label_values\(\s*(?:([\s\S]*?)\s*,\s*)?([\w.:]+)\s*\)$/.exec(text);
  const metrics = /^metrics\(([\s\S]*)\)$/.exec(text);
  if (!of && !metrics)
    throw new ApiError('Values come from label_values(metric, label), metrics(pattern), or SQL.', { statement: text });
  const form = { start: env.from, end: env.to, limit: mostOptions,
    'match[]': of ? (of[1] ? [of[1]] : []) : [`{__name__=~${ask.quoted(`.*(${metrics?.[1].trim() ?? ''}).*`)}}`] };
  const answered = await ask.get(`label/${encodeURIComponent(of ? of[2] : '__name__')}/values`, form);
  return answered.data;
}

/**
 * choices finds what every variable of a board stands for, each after those that its query names.
 * @param {Board} board
 * @param {Omit<Env, 'values'>} env
 * @param {Record<string, string[]>} said by the address
 * @param {AbortSignal} signal
 * @returns {Promise<{values: Env['values'], options: Map<string, string[]>, failed: Map<string, string>}>}
 */
export async function choices(board, env, said, signal) {
  /** @type {Env['values']} */
  const values = new Map();
  /** @type {Map<string, string[]>} */
  const options = new Map();
  /** @type {Map<string, string>} */
  const failed = new Map();
  const left = new Map(board.variables.map((v) => [v.name, v]));
  while (left.size > 0) {
    const ready = [...left.values()].filter((v) => !named(v.kind === 'query' ? v.query : '')
      .some((n) => n !== v.name && left.has(n)));
    const turn = ready.length > 0 ? ready : [...left.values()]; // they name each other: none can wait
    await Promise.all(turn.map(async (v) => {
      const found = await optionsOf(v, { ...env, values }, signal).catch((e) => {
        signal.throwIfAborted();
        failed.set(v.name, e.message);
        return /** @type {string[]} */ ([]);
      });
      options.set(v.name, found);
    }));
    for (const v of turn) {
      values.set(v.name, chosenOf(v, options.get(v.name) ?? [], said[v.name]));
      left.delete(v.name);
    }
  }
  return { values, options, failed };
}

