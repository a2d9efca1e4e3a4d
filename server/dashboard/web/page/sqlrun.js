// Runs the statements of a tab one after the other, so that an error does not take the results before it along.

import { batch, signal } from '../lib/ui.js';
import { bring, described, query, stopped, ApiError } from '../core/api.js';
import * as catalog from '../core/catalog.js';
import { user } from '../core/auth.js';
import { bare, destroys, fill, prepares, split } from '../core/statements.js';
import { db, instants, session } from '../core/state.js';
import * as sqltext from '../core/sqltext.js';
import * as store from '../core/store.js';
import { hour, interval, nowNanos, stepFor } from '../core/time.js';
import { count, plural } from '../core/format.js';
import { ask } from '../ui/ask.js';
import { tell } from '../ui/toast.js';

/**
 * @typedef {object} Result
 * @property {string} sql as it was sent
 * @property {number} at when it began, ms since the epoch
 * @property {number} elapsedMS
 * @property {import('../core/rows.js').Rows|null} rows
 * @property {boolean} cut there are more rows than were asked for
 * @property {string} again what is sent to get the rows again; empty when that would change something
 * @property {Look} look
 * @property {number} [affected]
 * @property {import('../core/api.js').ApiError} [error]
 * @property {boolean} [stopped] somebody cancelled it
 * @property {import('./sqlanalyze.js').Measured} [measured] what EXPLAIN ANALYZE did so far: it runs
 */

/**
 * Look is how somebody arranged a result: its order, filters and columns. When the statement runs again by itself and
 * has the same columns, the new result takes over the look.
 * @typedef {object} Look
 * @property {number} id of the place, for as long as it has one look
 * @property {string} columns their names and types
 * @property {{column: number, descending: boolean}} [sort]
 * @property {Record<number, string>|null} [filters] by column
 * @property {number[]} [hidden]
 * @property {number[]} [order]
 * @property {number[]|null} [widths]
 * @property {boolean} [frozen]
 */

/**
 * @typedef {{sql: string, db: string, at: number, elapsedMS: number, rows: number|null, error?: string, star?: string}}
 *   HistoryEntry
 */

const mostHistory = 500;
let ids = 0;

/** measures matches statements whose figures the server reports while they run. */
const measures = /^EXPLAIN\s+ANALYZE\s+(?!FORMAT\b)(?!VERBOSE\s+FORMAT\b)/i;

/** unsorted: rows as they came. */
export const unsorted = { column: -1, descending: false };

/**
 * filtersOf are the filters that say something.
 * @param {Record<number, string>|null} [filters] by column
 * @returns {import('../core/rowset.js').Filter[]}
 */
export const filtersOf = (filters) => Object.entries(filters ?? {}).filter(([, text]) => text.trim() !== '')
  .map(([c, text]) => ({ column: Number(c), text }));

/** release gives the memory of results back. @param {Result[]} results */
function release(results) {
  for (const r of results) r.rows?.free();
}

export class SQLRun {
  constructor() {
    this.results = signal(/** @type {Result[]} */ ([]));
    this.shown = signal(0);
    this.busy = signal(false);
    /** running is a result that fills while its statement runs. */
    this.running = signal(/** @type {Result|null} */ (null));
    this.history = signal(/** @type {HistoryEntry[]} */ (store.read(`sql.history.${user.value}`, [])));
    this.control = new AbortController();
    this.changing = false; // the statement that runs may change something
    this.left = false; // the page was left
  }

  /** cancel ends the running statement; the server stops working on it. */
  cancel() {
    this.control.abort(stopped);
  }

  /** values are what $from, $to, $step and $db stand for now. */
  values() {
    const { from, to } = instants();
    const end = to ?? nowNanos();
    const begin = from ?? end - 24n * hour;
    const text = (/** @type {bigint} */ ns) => sqltext.string(sqltext.instant(ns, 9));
    return { from: text(begin), to: text(end), step: `INTERVAL '${interval(stepFor(end - begin))}'`, db: db.value };
  }

  last = { text: '', limit: 0 };

  /**
   * again runs the last statements again if they change nothing. The results before stay until all answers are here,
   * and the new ones are shown with the same look.
   */
  async again() {
    const old = this.results.value;
    if (this.busy.value || old.length === 0 || !old.every((r) => r.again)) return;
    const control = this.control = new AbortController();
    const fresh = /** @type {Result[]} */ ([]);
    for await (const r of this.each(this.last.text, this.last.limit, control.signal)) fresh.push(r);
    for (const [i, r] of fresh.entries()) await this.inherit(r, old[i]);
    if (this.results.value !== old || fresh.some((r) => r.stopped)) {
      release(fresh);
      return;
    }
    batch(() => {
      this.results.value = fresh;
      this.shown.value = Math.min(this.shown.value, fresh.length - 1);
    });
    release(old);
  }

  /**
   * inherit gives a result the look of the result before at the same place. An error keeps the look for the next
   * result.
   * @param {Result} r
   * @param {Result|undefined} before
   */
  async inherit(r, before) {
    if (!before || (r.rows && before.look.columns && r.look.columns !== before.look.columns)) return;
    r.look = Object.assign(before.look, r.rows && { columns: r.look.columns });
    await r.rows?.arrange(r.look.sort ?? unsorted, filtersOf(r.look.filters));
  }

  /** run sends all statements of a text. @param {string} text @param {number} limit rows of an answer */
  async run(text, limit) {
    const statements = split(text).map((s) => s.text);
    if (statements.length === 0 || this.busy.value) return;
    const dangerous = statements.filter(destroys);
    if (dangerous.length > 0 && store.read('sql.ask', true)) {
      const yes = await ask({ title: 'This deletes data for good',
        text: `In database ${db.value}. The palette (Ctrl+K) turns this question off.`, code: dangerous.join(';\n'),
        yes: 'Run it' });
      if (yes === null) return;
    }
    this.cancel(); // ends a run of again
    this.last = { text, limit };
    this.busy.value = true;
    this.clear();
    this.control = new AbortController();
    for await (const result of this.each(text, limit, this.control.signal, true)) {
      if (this.left) { // a statement that changes something was let run to its end; the next ones do not begin
        release([result]);
        break;
      }
      batch(() => {
        this.running.value = null;
        this.results.value = [...this.results.value, result];
        this.shown.value = this.results.value.length - 1;
      });
    }
    this.busy.value = false;
    const all = this.results.value, last = all.at(-1);
    if (last) tell(`${all.length > 1 ? `${all.length} results, the last: ` : ''}${last.rows ? last.cut
      ? `the first ${count(limit)} rows, more exist` : plural(last.rows.total, 'row')
      : `${plural(last.affected ?? 0, 'row')} changed`}`, last.error);
  }

  /**
   * each runs one statement after the other, up to the first that fails.
   * @param {string} text
   * @param {number} limit
   * @param {AbortSignal} signal
   * @param {boolean} [seen] somebody waits and sees them run
   * @returns {AsyncGenerator<Result>}
   */
  async *each(text, limit, signal, seen) {
    const before = [];
    for (const { text: statement } of split(text)) {
      const filled = fill(statement, this.values());
      const result = await this.one(filled, before, limit, signal, seen);
      if (seen || !result.stopped) this.remember(result, statement);
      yield result;
      if (result.error) return;
      if (prepares(filled)) before.push(filled);
      if (/^(CREATE|DROP|ALTER|TRUNCATE|INSERT|COPY)\b/.test(bare(filled))) catalog.forget();
    }
  }

  /**
   * end stops the running statement when the page is left, unless the statement changes something: that runs to its
   * end.
   */
  end() {
    this.left = true;
    if (!this.changing) this.cancel();
    this.clear();
  }

  /** clear forgets the results and gives their memory back. */
  clear() {
    release(this.results.value);
    this.results.value = [];
    this.shown.value = 0;
  }

  /**
   * one sends a statement behind those that prepare it.
   * @param {string} sql
   * @param {string[]} before
   * @param {number} limit
   * @param {AbortSignal} signal
   * @param {boolean} [seen]
   * @returns {Promise<Result>}
   */
  async one(sql, before, limit, signal, seen) {
    const started = performance.now();
    /** @type {Result} */
    const result = { sql, at: Date.now(), elapsedMS: 0, rows: null, cut: false, again: '',
      look: { id: ++ids, columns: '' } };
    const changes = !/^(SELECT|WITH|SHOW|DESC|DESCRIBE|EXPLAIN|TQL|VALUES)\b/.test(bare(sql));
    const text = [...before, sql].join(';\n');
    if (!changes) result.again = text;
    this.changing = changes;
    try {
      const fills = seen && before.length === 0 && measures.test(bare(sql)) &&
        session.value.features?.includes('analyze_stream');
      const rows = fills ? await (await bring(() => import('./sqlanalyze.js'))).analyze(sql, signal,
        (measured) => { this.running.value = { ...result, measured }; })
        : await query(text, { limit: limit + 1, signal, retry: changes ? false : undefined });
      if (rows.columns.length > 0) {
        if (rows.count > limit) {
          await rows.truncate(limit);
          result.cut = true;
        }
        result.rows = rows;
        result.look.columns = JSON.stringify(rows.columns);
      } else {
        result.affected = rows.affected ?? 0;
      }
    } catch (e) {
      result.stopped = e === stopped;
      result.error = result.stopped ? new ApiError(stopped.message, { statement: sql }) : described(e);
    }
    result.elapsedMS = performance.now() - started;
    return result;
  }

  /** remember puts a run into the history. @param {Result} r @param {string} written */
  remember(r, written) {
    const entry = { sql: written, db: db.value, at: r.at, elapsedMS: r.elapsedMS, rows: r.rows ? r.rows.count
      : r.affected ?? null, error: r.error?.message };
    this.history.value = store.change(`sql.history.${user.value}`, this.history.value, (kept) =>
      [entry, ...kept.filter((h) => h.sql !== written)].slice(0, mostHistory)
        .map((h) => (h.sql.length > 20_000 ? { ...h, sql: h.sql.slice(0, 20_000) } : h)));
  }

  /** clearHistory forgets what was run. */
  clearHistory() {
    this.history.value = [];
    store.forget(`sql.history.${user.value}`);
  }
}
