// Runs the statements of a tab one after the other, so that an error does not take the results before it along.

import { batch, signal } from '../lib/ui.js';
import { described, isAbort, query, ApiError } from '../core/api.js';
import * as catalog from '../core/catalog.js';
import { user } from '../core/auth.js';
import { bare, destroys, fill, prepares, split } from '../core/statements.js';
import { db, instants } from '../core/state.js';
import * as sqltext from '../core/sqltext.js';
import * as store from '../core/store.js';
import { hour, interval, nowNanos, stepFor } from '../core/time.js';
import { ask } from '../ui/ask.js';

/**
 * @typedef {object} Result
 * @property {number} id
 * @property {string} sql as it was sent
 * @property {number} at when it began, ms since the epoch
 * @property {number} elapsedMS
 * @property {import('../core/rows.js').Rows|null} rows
 * @property {boolean} cut there are more rows than were asked for
 * @property {string} again what is sent to get the rows again; empty when that would change something
 * @property {number} [affected]
 * @property {import('../core/api.js').ApiError} [error]
 */

/** @typedef {{sql: string, db: string, at: number, elapsedMS: number, rows: number|null, error?: string, star?: string}} HistoryEntry */

const mostHistory = 500;
let ids = 0;

export class SQLRun {
  constructor() {
    this.results = signal(/** @type {Result[]} */ ([]));
    this.shown = signal(0);
    this.busy = signal(false);
    this.history = signal(/** @type {HistoryEntry[]} */ (store.read(`sql.history.${user.value}`, [])));
    this.control = new AbortController();
  }

  /** cancel ends the running statement; the server stops working on it. */
  cancel() {
    this.control.abort(new DOMException('cancelled', 'AbortError'));
  }

  /** values are what $from, $to, $step and $db stand for now. */
  values() {
    const { from, to } = instants();
    const end = to ?? nowNanos();
    const begin = from ?? end - 24n * hour;
    const text = (/** @type {bigint} */ ns) => sqltext.string(sqltext.instant(ns, 9));
    return { from: text(begin), to: text(end), step: `INTERVAL '${interval(stepFor(end - begin))}'`, db: db.value };
  }

  /** again runs what ran last, when it changes nothing; what is shown stays until then. */
  async again() {
    if (this.results.value.length > 0 && this.results.value.every((r) => r.again)) await this.run(this.last.text, this.last.limit, true);
  }

  last = { text: '', limit: 0 };

  /** run sends all statements of a text. @param {string} text @param {number} limit rows of an answer @param {boolean} [keep] what is shown stays until the first answer */
  async run(text, limit, keep = false) {
    const statements = split(text).map((s) => s.text);
    if (statements.length === 0 || this.busy.value) return;
    const dangerous = statements.filter(destroys);
    if (dangerous.length > 0 && store.read('sql.ask', true)) {
      const yes = await ask({ title: 'This takes data away for good', text: `In database ${db.value}. The palette (Ctrl+K) turns this question off.`, code: dangerous.join(';\n'), yes: 'Run it' });
      if (yes === null) return;
    }
    this.last = { text, limit };
    this.busy.value = true;
    if (!keep) this.clear();
    this.control = new AbortController();
    const before = [];
    for (const statement of statements) {
      const filled = fill(statement, this.values());
      const result = await this.one(filled, before, limit);
      batch(() => {
        if (keep) this.clear();
        keep = false;
        this.results.value = [...this.results.value, result];
        this.shown.value = this.results.value.length - 1;
      });
      this.remember(result, statement);
      if (result.error) break;
      if (prepares(filled)) before.push(filled);
      if (/^(CREATE|DROP|ALTER|TRUNCATE|INSERT|COPY)\b/.test(bare(filled))) catalog.forget();
    }
    this.busy.value = false;
  }

  /** clear forgets the results and gives their memory back. */
  clear() {
    for (const r of this.results.value) r.rows?.free();
    this.results.value = [];
    this.shown.value = 0;
  }

  /** one sends a statement behind those that prepare it. @param {string} sql @param {string[]} before @param {number} limit @returns {Promise<Result>} */
  async one(sql, before, limit) {
    const started = performance.now();
    /** @type {Result} */
    const result = { id: ++ids, sql, at: Date.now(), elapsedMS: 0, rows: null, cut: false, again: '' };
    const changes = !/^(SELECT|WITH|SHOW|DESC|DESCRIBE|EXPLAIN|TQL|VALUES)\b/.test(bare(sql));
    const text = [...before, sql].join(';\n');
    if (!changes) result.again = text;
    try {
      const rows = await query(text, { limit: limit + 1, signal: this.control.signal, retry: changes ? false : undefined });
      if (rows.columns.length > 0) {
        if (rows.count > limit) {
          await rows.truncate(limit);
          result.cut = true;
        }
        result.rows = rows;
      } else {
        result.affected = rows.affected ?? 0;
      }
    } catch (e) {
      result.error = isAbort(e) ? new ApiError('Cancelled.', { statement: sql }) : described(e);
    }
    result.elapsedMS = performance.now() - started;
    return result;
  }

  /** remember puts a run into the history. @param {Result} r @param {string} written */
  remember(r, written) {
    const entry = { sql: written, db: db.value, at: r.at, elapsedMS: r.elapsedMS, rows: r.rows ? r.rows.count : r.affected ?? null, error: r.error?.message };
    this.history.value = [entry, ...this.history.value.filter((h) => h.sql !== written || h.star)].slice(0, mostHistory);
    store.write(`sql.history.${user.value}`, this.history.value.map((h) => (h.sql.length > 20_000 ? { ...h, sql: h.sql.slice(0, 20_000) } : h)));
  }

  /** clearHistory forgets what was run. */
  clearHistory() {
    this.history.value = [];
    store.forget(`sql.history.${user.value}`);
  }
}
