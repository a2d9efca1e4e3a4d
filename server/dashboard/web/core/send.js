// Sending pasted lines: cut at line ends into requests, one after the other.

import { ApiError, described, isAbort, request } from './api.js';
import { db } from './state.js';
import { mediaTypes } from './samples.js';

/** The size of one request, about, bytes. */
export const pieceBytes = 4 << 20;
/** Larger texts are refused here: the command line sends them, bytes. */
export const mostBytes = 50 << 20;

/**
 * cut cuts text at line ends into pieces of at most so many characters; a longer line is a piece of its own.
 * @param {string} text
 * @param {number} size
 */
export function cut(text, size) {
  const pieces = [];
  for (let from = 0; from < text.length;) {
    let to = text.length;
    if (to - from > size) {
      to = text.lastIndexOf('\n', from + size) + 1;
      if (to <= from) to = (text.indexOf('\n', from) + 1) || text.length;
    }
    pieces.push(text.slice(from, to));
    from = to;
  }
  return pieces;
}

/**
 * @typedef {object} Target
 * @property {string} table
 * @property {string} pipeline
 * @property {string} [index] custom_time_index
 * @property {boolean} [skip] entries that fail are left out
 * @property {number} [depth] levels of names
 */

/**
 * ingestRequest returns the parameters of a request with rows.
 * @param {Target} to
 * @returns {{query: Record<string, string|undefined>, headers: Record<string, string>}}
 */
const ingestRequest = (to) => ({
  query: { table: to.table, pipeline_name: to.pipeline, custom_time_index: to.index, skip_error: to.skip ? 'true'
    : undefined },
  headers: /** @type {Record<string, string>} */ (to.depth
    ? { 'x-service-pipeline-params': `max_nested_levels=${to.depth}` } : {}),
});

/**
 * ingest sends pasted text to a table.
 * @param {string} text
 * @param {import('./samples.js').Kind} kind
 * @param {Target} to
 * @param {{signal: AbortSignal, onProgress: (sent: number, of: number) => void}} options
 * @returns {Promise<{rows: number, skipped: number, elapsedMS: number, answer: string}>}
 */
export async function ingest(text, kind, to, options) {
  const pieces = kind === 'json' ? [text] : cut(text, pieceBytes);
  const about = ingestRequest(to);
  const done = { rows: 0, skipped: 0, elapsedMS: 0, answer: '' };
  let before = 0;
  for (const [i, piece] of pieces.entries()) {
    options.onProgress(i, pieces.length);
    const began = performance.now();
    let answer;
    try {
      answer = await request('v1/ingest', {
        method: 'POST', body: piece, signal: options.signal, retry: false,
        query: { db: db.value, ...about.query }, headers: { 'Content-Type': mediaTypes[kind], ...about.headers },
      });
    } catch (e) {
      if (isAbort(e) || before === 0) throw e;
      throw moved(described(e), before);
    }
    done.elapsedMS += performance.now() - began;
    done.skipped += Number(answer.headers.get('x-service-skipped-rows') ?? 0);
    done.answer = await answer.text();
    for (const group of JSON.parse(done.answer).output ?? []) done.rows += group.affectedrows;
    before += piece.split('\n').length - 1;
  }
  options.onProgress(pieces.length, pieces.length);
  return done;
}

/**
 * moved adds to the error of a piece where the piece begins in the whole text, if the server refused it, and how many
 * lines before it are stored.
 * @param {ApiError} e
 * @param {number} before lines of the pieces before
 */
function moved(e, before) {
  return new ApiError(`${e.message} (${e.status ? `counted from line ${before + 1}; `
    : ''}the first ${before} lines are stored)`, { code: e.code, status: e.status, curl: e.curl });
}

/**
 * failedLine finds the line that an error is about, from 1; 0: none is named.
 * @param {string} message
 * @param {string} text what was sent
 */
export function failedLine(message, text) {
  const index = /invalid (?:JSON|line) at index: (\d+)/.exec(message); // from 0, empty lines counted
  if (index) return Number(index[1]) + 1;
  const entry = /\((?:entry|row) (\d+) of \d+/.exec(message); // from 1, empty lines not counted
  if (!entry) return Number(/\bline (\d+)\b/.exec(message)?.[1] ?? 0);
  let left = Number(entry[1]);
  const all = text.split('\n');
  for (let i = 0; i < all.length; i++) {
    if (all[i].trim() !== '' && --left === 0) return i + 1;
  }
  return 0;
}
