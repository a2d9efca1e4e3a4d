// Counts the patterns of messages: of a sample first, then of one part of the range after the other, until all rows are
// counted.

import { list, query, stopped } from '../core/api.js';
import * as sqltext from '../core/sqltext.js';
import { zone } from '../core/state.js';
import * as logsql from './logsparts.js';

/** Rows that one statement counts, about; rows of the sample; parts of the range that the sample is taken from. */
const partRows = 200_000, sampleRows = 20_000, sampleParts = 16;
/** Patterns that one statement returns at most. */
const mostForms = 10_000;

/**
 * Form is a pattern with its rows, the first and the last time in the unit of the column, and an example.
 * @typedef {[form: string|null, n: number, low: any, high: any, example: string|null]} Form
 */
/**
 * Forms are patterns, the most frequent first. There are total rows; sampled is how many are in the sample, rows how
 * many are counted so far: until rows equals total the numbers of the list are estimates. cut: a part had more than
 * mostForms patterns; ended: somebody cancelled; of: one object for all answers to the same question.
 * @typedef {{list: Form[], sampled: number, rows: number, total: number, cut: boolean, ended: boolean, of: {}}} Forms
 */

/**
 * partsOf divides the range of a scope into parts of about as many rows, the newest first.
 * @param {logsql.Scope} scope
 * @param {{from: bigint, to: bigint}} range of the rows that there are
 * @param {AbortSignal} signal
 */
async function partsOf(scope, range, signal) {
  const answer = await query(logsql.histogram(scope, logsql.bins(range, zone.value), null, null), { signal });
  const unit = sqltext.unitNanos(answer.columns[0]?.type ?? 'timestamp(9)'), cells = (await answer.all()).reverse();
  answer.free();
  const parts = [{ range: { ...scope.range }, rows: 0 }];
  for (const [at, , n] of cells) {
    const part = parts[parts.length - 1], begin = BigInt(at) * unit;
    part.rows += Number(n);
    if (part.rows < partRows) continue;
    part.range.from = begin;
    parts.push({ range: { from: scope.range.from, to: begin }, rows: 0 });
  }
  return parts.filter((p) => p.rows > 0);
}

/** add counts the answer of a part with those before. @param {Map<string|null, Form>} forms @param {any[][]} rows */
function add(forms, rows) {
  for (const [form, count, low, high, example] of rows) {
    const n = Number(count), have = forms.get(form);
    if (!have) forms.set(form, [form, n, low, high, example]);
    else forms.set(form, [form, have[1] + n, BigInt(low) < BigInt(have[2]) ? low : have[2],
      BigInt(high) > BigInt(have[3]) ? high : have[3], have[4]]);
  }
}

/**
 * estimate returns the forms with their numbers, supposing that the rows not counted yet are like the sample.
 * @param {Map<string|null, Form>} counted
 * @param {Map<string|null, Form>} sample
 * @param {number} share rows that are not counted, for each one of the sample
 */
function estimate(counted, sample, share) {
  const forms = new Map(counted);
  for (const [form, s] of share > 0 ? sample : []) {
    const [, n, low, high, example] = counted.get(form) ?? [form, 0, s[2], s[3], s[4]];
    forms.set(form, [form, Math.round(n + s[1] * share), low, high, example]);
  }
  return [...forms.values()].sort((a, b) => b[1] - a[1]);
}

/**
 * sampleOf says how many rows of which parts are looked at first.
 * @param {{range: logsql.Scope['range'], rows: number}[]} parts
 */
function sampleOf(parts) {
  const every = Math.ceil(parts.length / sampleParts), some = parts.filter((_, i) => i % every === 0),
    all = some.reduce((sum, p) => sum + p.rows, 0);
  return some.map((p) => ({ range: p.range, rows: Math.ceil(sampleRows * p.rows / all) }));
}

/**
 * formsOf counts the patterns of a scope and shows what it has after each part.
 * @param {logsql.Scope} scope
 * @param {{from: bigint, to: bigint}|null} range of its rows, null: there are none
 * @param {AbortSignal} signal
 * @param {(forms: Forms) => void} show
 * @returns {Promise<Forms>}
 */
export async function formsOf(scope, range, signal, show) {
  const parts = range ? await partsOf(scope, range, signal) : [], total = parts.reduce((sum, p) => sum + p.rows, 0);
  const counted = /** @type {Map<string|null, Form>} */ (new Map()),
    sample = /** @type {Map<string|null, Form>} */ (new Map()), of = {};
  let rows = 0, sampled = 0, cut = false, ended = false;
  const now = () => ({ list: estimate(counted, sample, sampled > 0 ? (total - rows) / sampled : 0), sampled, rows,
    total, cut, ended, of });
  if (total > partRows) {
    add(sample, await list(logsql.sampledPatterns(scope, mostForms, sampleOf(parts)), { signal }));
    for (const [, n] of sample.values()) sampled += n;
    show(now());
  }
  try {
    for (const part of parts) {
      const found = await list(logsql.patterns({ ...scope, range: part.range }, mostForms),
        { signal, background: true });
      add(counted, found);
      rows += part.rows;
      cut ||= found.length === mostForms;
      show(now());
    }
  } catch (e) {
    if (e !== stopped || sampled === 0) throw e;
    ended = true;
  }
  return now();
}
