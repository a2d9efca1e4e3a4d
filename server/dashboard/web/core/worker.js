// The worker: reads large answers and keeps their rows, so that the page itself never parses megabytes. Each message
// names a set of rows and one of its methods, or 0 and a reader of answers of the metrics API, which is loaded then.

import { AnswerReader, readAnswer } from './answer.js';
import { Rowset } from './rowset.js';

/** @type {Map<number, Rowset>} */
const sets = new Map();
/** arriving holds the answers that are not complete yet. @type {Map<number, AnswerReader>} */
const arriving = new Map();

/** @param {{id: number, call: number, method: string, args: any[]}} message */
async function answer({ id, method, args }) {
  if (id === 0) {
    const { readers } = await import('./series.js');
    return /** @type {any} */ (readers)[method](...args);
  }
  if (method === 'append') {
    const read = readAnswer(args[0]);
    const rows = read.rows ?? [], set = sets.get(id);
    return { ...read, rows: undefined, received: rows.length, added: set ? set.append(rows, args[1]) : 0,
      count: set?.count() ?? 0, last: rows[rows.length - 1] };
  }
  if (method === 'arrive' || method === 'open') {
    const reader = arriving.get(id) ?? new AnswerReader();
    arriving.set(id, reader);
    for (const bytes of args[0]) reader.add(bytes);
    if (method === 'arrive') return null;
    arriving.delete(id);
    const read = reader.end(), rows = read.rows ?? [];
    sets.set(id, new Rowset(read.columns ?? [], rows));
    return { ...read, rows: undefined, count: rows.length };
  }
  if (method === 'free') {
    arriving.delete(id);
    sets.delete(id);
    return null;
  }
  const set = sets.get(id);
  if (!set) throw new Error('these rows are gone');
  return /** @type {any} */ (set)[method](...args);
}

addEventListener('message', async ({ data }) => {
  try {
    postMessage({ call: data.call, result: await answer(data) });
  } catch (e) {
    postMessage({ call: data.call, error: e instanceof Error ? e.message : String(e) });
  }
});
