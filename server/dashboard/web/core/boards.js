// Boards: grids of panels that the server keeps as documents, with the revisions before. A document is checked whenever
// it is read, because people write and import them.

import { ApiError, json, request } from './api.js';
import { columns, compact, free } from './boardlayout.js';
import { slug } from './saved.js';

/** @typedef {'graph'|'figure'|'table'|'heat'|'logs'|'text'} PanelType */
/** @typedef {'promql'|'sql'} Language */

/**
 * @typedef {object} Panel
 * @property {number} id
 * @property {string} title
 * @property {PanelType} type
 * @property {number} x columns from the left
 * @property {number} y rows from the top
 * @property {number} w columns
 * @property {number} h rows
 * @property {Language} lang
 * @property {{q: string, name: string}[]} queries name: what its series are called, '' by their labels
 * @property {string} unit '' as the values say
 * @property {'line'|'stacked'|'bars'|'points'} form of a graph
 * @property {string} text of a panel of text
 */

/**
 * @typedef {object} Variable
 * @property {string} name
 * @property {string} label '': the name
 * @property {'query'|'list'|'text'} kind
 * @property {Language} lang of the query
 * @property {string} query
 * @property {string[]} options of a list
 * @property {boolean} multi several values may be chosen
 * @property {boolean} all one choice stands for every value
 * @property {string[]} value chosen at first; [everything] for all
 */

/**
 * @typedef {object} Board
 * @property {string} name
 * @property {string} about
 * @property {string} db the database it was made for
 * @property {string} from its range at first; '' none
 * @property {string} to
 * @property {number} refresh s, 0: none
 * @property {number} revision how often it was saved
 * @property {Variable[]} variables
 * @property {Panel[]} panels
 */

/** types are the kinds of panels and their names. @type {Record<PanelType, string>} */
export const types = { graph: 'Graph', figure: 'Figure', table: 'Table', heat: 'Heat map', logs: 'Logs', text: 'Text' };

/** everything stands for all values of a variable. */
export const everything = '$__all';

/** Bounds of a document. The server takes at most so many bytes of one. */
export const mostPanels = 100, mostVariables = 20, mostQueries = 10, mostBytes = 256 << 10;
/** So many revisions before the newest are kept. */
const mostRevisions = 10;

const forms = ['line', 'stacked', 'bars', 'points'];
const plainName = /^[A-Za-z_]\w{0,63}$/;

/** @param {any} v @param {string} [or] */
const text = (v, or = '') => (typeof v === 'string' ? v : or);
/** @param {any} v @param {number} low @param {number} high @param {number} or */
const whole = (v, low, high, or) => (Number.isInteger(v) && v >= low && v <= high ? v : or);
/** @param {any} v @returns {any[]} */
const list = (v) => (Array.isArray(v) ? v : []);

/** blank is a board without panels. @param {string} name @param {string} db @returns {Board} */
export const blank = (name, db) =>
  ({ name, about: '', db, from: '', to: '', refresh: 0, revision: 0, variables: [], panels: [] });

/** panelOf checks one panel; what is missing has its default. @param {any} p @param {number} id @returns {Panel} */
export function panelOf(p, id) {
  const type = /** @type {PanelType} */ (Object.hasOwn(types, text(p?.type)) ? p.type : 'graph');
  const w = whole(p?.w, 1, columns, 12);
  return {
    id, title: text(p?.title), type, x: Math.min(whole(p?.x, 0, columns - 1, 0), columns - w),
    y: whole(p?.y, 0, 10_000, 0), w, h: whole(p?.h, 1, 100, 8), lang: p?.lang === 'sql' ? 'sql' : 'promql',
    queries: list(p?.queries).slice(0, mostQueries).map((q) => ({ q: text(q?.q), name: text(q?.name) })),
    unit: text(p?.unit), form: forms.includes(p?.form) ? p.form : 'line', text: text(p?.text),
  };
}

/** variableOf checks one variable; null for one without a name. @param {any} v @returns {Variable|null} */
export function variableOf(v) {
  if (!plainName.test(text(v?.name)) || v.name.startsWith('__')) return null;
  return {
    name: v.name, label: text(v.label), kind: ['query', 'list', 'text'].includes(v.kind) ? v.kind : 'text',
    lang: v.lang === 'sql' ? 'sql' : 'promql', query: text(v.query),
    options: list(v.options).filter((o) => typeof o === 'string').slice(0, 1000),
    multi: v.multi === true, all: v.all === true, value: list(v.value).filter((o) => typeof o === 'string'),
  };
}

/**
 * boardOf checks a document. It throws where that is no board, or one past a bound.
 * @param {any} d
 * @returns {Board}
 */
export function boardOf(d) {
  if (typeof d !== 'object' || d === null || d.kind !== 'board') throw new Error('This is not a board.');
  if (text(d.name).trim() === '') throw new Error('The board has no name.');
  if (list(d.panels).length > mostPanels)
    throw new Error(`The board has ${d.panels.length} panels, the most are ${mostPanels}.`);
  if (list(d.variables).length > mostVariables)
    throw new Error(`The board has ${d.variables.length} variables, the most are ${mostVariables}.`);
  const variables = list(d.variables).map(variableOf);
  return {
    name: d.name.trim(), about: text(d.about), db: text(d.db, 'public'), from: text(d.from), to: text(d.to),
    refresh: whole(d.refresh, 0, 3600, 0), revision: whole(d.revision, 0, 1e9, 0),
    variables: /** @type {Variable[]} */ (variables.filter((v, i) =>
      v && variables.findIndex((o) => o?.name === v.name) === i)),
    panels: compact(list(d.panels).map((p, i) => panelOf(p, i + 1))),
  };
}

/** documentOf writes a board as it is kept and exported. @param {Board} board */
export function documentOf(board) {
  const panels = board.panels.map(({ id: _, ...p }) => p);
  return JSON.stringify({ kind: 'board', version: 1, ...board, panels }, null, 1);
}

/** added puts a panel below the others, or beside the last where there is room. @param {Board} b @param {any} p */
export function added(b, p) {
  if (b.panels.length >= mostPanels) throw new Error(`A board has at most ${mostPanels} panels.`);
  const id = 1 + Math.max(0, ...b.panels.map((o) => o.id)), panel = panelOf(p, id);
  return { board: { ...b, panels: [...b.panels, { ...panel, ...free(b.panels, panel.w, panel.h) }] }, id };
}

/** idOf is the name of a board's document. @param {string} name */
const idOf = (name) => `board.${slug(name)}`;
/** @param {string} id @param {number} revision */
const revisionId = (id, revision) => `was.${id.slice('board.'.length)}.${revision}`;

/** @typedef {{id: string, board: Board}} Kept */

/**
 * readAll lists the boards that the server keeps, by name, and how many documents it could not read as one.
 * @param {AbortSignal} [signal]
 * @returns {Promise<{boards: Kept[], broken: string[]}>}
 */
export async function readAll(signal) {
  const answer = await json('v1/dashboards', { background: true, signal });
  /** @type {Kept[]} */
  const boards = [];
  /** @type {string[]} */
  const broken = [];
  for (const d of answer.dashboards) {
    if (!d.name.startsWith('board.')) continue;
    try {
      boards.push({ id: d.name, board: boardOf(JSON.parse(d.definition)) });
    } catch {
      broken.push(d.name);
    }
  }
  return { boards: boards.sort((a, b) => (a.board.name < b.board.name ? -1 : 1)), broken };
}

/**
 * read reads a board by the name of its document.
 * @param {string} id
 * @param {AbortSignal} [signal]
 * @returns {Promise<Board>}
 */
export async function read(id, signal) {
  const answer = await json(`v1/dashboards/${encodeURIComponent(id)}`, { signal });
  return boardOf(JSON.parse(answer.dashboards[0].definition));
}

/** there reads a board if it is there. @param {string} id */
async function there(id) {
  const { boards, broken } = await readAll();
  if (broken.includes(id)) throw new ApiError(`The document ${id} is there and is no board: remove it first.`);
  return boards.find((k) => k.id === id)?.board ?? null;
}

/** Conflict: another revision was saved meanwhile. */
export class Conflict extends Error {
  /** @param {Board} other */
  constructor(other) {
    super(`${other.name} was saved by somebody else meanwhile, as revision ${other.revision}.`);
    this.other = other;
  }
}

/** @param {string} id @param {string} body */
const put = (id, body) => request(`v1/dashboards/${encodeURIComponent(id)}`,
  { method: 'POST', body, headers: { 'Content-Type': 'application/json' }, retry: false });

/** @param {string} id */
const drop = (id) => request(`v1/dashboards/${encodeURIComponent(id)}`, { method: 'DELETE', retry: false });

/**
 * save keeps a board as its next revision, and the revision before beside it. It throws a Conflict where the server has
 * another revision than the one that was changed.
 * @param {Board} board
 * @param {boolean} [over] in place of whatever is there
 * @returns {Promise<Kept>}
 */
export async function save(board, over = false) {
  const id = idOf(board.name), old = await there(id);
  if (old && old.revision !== board.revision && !over) throw new Conflict(old);
  const next = { ...board, revision: Math.max(old?.revision ?? 0, board.revision) + 1 };
  const body = documentOf(next);
  if (new Blob([body]).size > mostBytes)
    throw new Error(`The board would be longer than ${mostBytes >> 10} KiB.`);
  if (old) await put(revisionId(id, old.revision), documentOf(old).replace('"kind": "board"', '"kind": "revision"'));
  await put(id, body);
  if (old) await trim(id, next.revision);
  return { id, board: next };
}

/**
 * kept lists the documents of a board's revisions with their numbers, which are those of their names.
 * @param {string} id
 * @returns {Promise<{number: number, definition: string}[]>}
 */
async function kept(id) {
  const answer = await json('v1/dashboards', { background: true });
  const prefix = revisionId(id, 0).slice(0, -1);
  return answer.dashboards.filter((/** @type {any} */ d) => ofRevision(d.name, prefix)).map((/** @type {any} */ d) =>
    ({ number: Number(d.name.slice(prefix.length)), definition: d.definition }));
}

/**
 * revisions lists the revisions kept of a board, the newest first. What cannot be read is left out.
 * @param {string} id
 * @returns {Promise<Board[]>}
 */
export async function revisions(id) {
  const list = (await kept(id)).flatMap(({ number, definition }) => {
    try {
      return [{ ...boardOf({ ...JSON.parse(definition), kind: 'board' }), revision: number }];
    } catch {
      return [];
    }
  });
  return list.sort((a, b) => b.revision - a.revision);
}

/** @param {string} name @param {string} prefix */
const ofRevision = (name, prefix) => name.startsWith(prefix) && /^(0|[1-9]\d{0,8})$/.test(name.slice(prefix.length));

/** trim removes the revisions of a board that are too old. @param {string} id @param {number} newest */
async function trim(id, newest) {
  for (const { number } of await kept(id)) if (number < newest - mostRevisions) await drop(revisionId(id, number));
}

/** remove removes a board with its revisions. @param {string} id */
export async function remove(id) {
  const old = await kept(id);
  await drop(id);
  for (const { number } of old) await drop(revisionId(id, number));
}
