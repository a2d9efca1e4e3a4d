// The form of an answer of /v1/sql.

import { parse } from './lossless.js';

/**
 * @typedef {object} Answer
 * @property {import('./rowset.js').Column[]} [columns] none: the statement gives no rows
 * @property {any[][]} [rows]
 * @property {number} [affected] rows that a statement changed
 * @property {number} elapsedMS
 */

/** Answers are read in pieces of whole rows of about this size, so that their text is never there all at once, bytes. */
const piece = 1 << 20;

/** readAnswer reads the answer of one statement. @param {ArrayBuffer} body @returns {Answer} */
export function readAnswer(body) {
  const bytes = new Uint8Array(body), text = new TextDecoder();
  if (bytes.length > 2 * piece) {
    const start = startOfRows(bytes);
    const cuts = start < 0 ? [] : cutRows(bytes, start);
    const tail = text.decode(bytes.subarray(cuts[cuts.length - 1] ?? 0));
    if (cuts.length > 1 && !tail.includes('"records"')) { // else there are several answers, which are read at once
      const rows = [];
      for (let i = 1; i < cuts.length; i++) for (const row of parse('[' + text.decode(bytes.subarray(i === 1 ? start : cuts[i - 1] + 1, cuts[i])) + ']')) rows.push(row);
      return { ...answerOf(parse(text.decode(bytes.subarray(0, start)) + tail)), rows };
    }
  }
  return answerOf(parse(text.decode(bytes)));
}

const rowsKey = [...'"rows":['].map((c) => c.charCodeAt(0));

/** startOfRows is where the first row begins, -1: nowhere. A quote within a string has a backslash, so that the key is no part of one. @param {Uint8Array} bytes */
function startOfRows(bytes) {
  for (let at = bytes.indexOf(rowsKey[0]); at >= 0; at = bytes.indexOf(rowsKey[0], at + 1)) {
    if (rowsKey.every((b, i) => bytes[at + i] === b)) return at + rowsKey.length;
  }
  return -1;
}

/** cutRows finds commas between rows, a piece apart, and the end of the rows. The first cut is their start. @param {Uint8Array} bytes @param {number} start */
function cutRows(bytes, start) {
  const cuts = [start];
  let depth = 0;
  for (let at = start; at < bytes.length;) {
    let open = bytes.indexOf(34, at);
    if (open < 0) open = bytes.length;
    for (let i = at; i < open; i++) {
      const b = bytes[i];
      if (b === 91 || b === 123) depth++;
      else if (b === 44 && depth === 0 && i - cuts[cuts.length - 1] > piece) cuts.push(i);
      else if ((b === 93 || b === 125) && --depth < 0) return [...cuts, i];
    }
    at = afterString(bytes, open);
  }
  return [start];
}

/** afterString is where the string that opens at open has ended. @param {Uint8Array} bytes @param {number} open */
function afterString(bytes, open) {
  let close = open;
  for (let slashes = 1; slashes % 2 === 1;) {
    close = bytes.indexOf(34, close + 1);
    if (close < 0) return bytes.length;
    slashes = 0;
    while (bytes[close - 1 - slashes] === 92) slashes++;
  }
  return close + 1;
}

/** answerOf takes what pages want from an answer. @param {any} body @returns {Answer} */
function answerOf(body) {
  const output = body.output?.[body.output.length - 1] ?? {};
  const elapsedMS = Number(body.execution_time_ms ?? 0);
  if (!output.records) return { affected: Number(output.affectedrows ?? 0), elapsedMS };
  const columns = output.records.schema.column_schemas.map((/** @type {any} */ c) => ({ name: c.name, type: c.data_type }));
  return { columns, rows: output.records.rows, elapsedMS };
}
