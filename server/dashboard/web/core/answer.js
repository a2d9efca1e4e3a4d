// The form of an answer of /v1/sql.

import { parse } from './lossless.js';

/**
 * @typedef {object} Answer
 * @property {import('./rowset.js').Column[]} [columns] none: the statement gives no rows
 * @property {any[][]} [rows]
 * @property {number} [affected] rows that a statement changed
 * @property {number} elapsedMS
 */

/** readAnswer reads the answer of one statement. @param {string} text @returns {Answer} */
export function readAnswer(text) {
  const body = parse(text);
  const output = body.output?.[body.output.length - 1] ?? {};
  const elapsedMS = Number(body.execution_time_ms ?? 0);
  if (!output.records) return { affected: Number(output.affectedrows ?? 0), elapsedMS };
  const columns = output.records.schema.column_schemas.map((/** @type {any} */ c) => ({ name: c.name, type: c.data_type }));
  return { columns, rows: output.records.rows, elapsedMS };
}
