// Asks for the rows that came since the last time: the newest, and those that came late.

import { list, query } from '../core/api.js';
import * as sqltext from '../core/sqltext.js';
import { nowNanos, second } from '../core/time.js';
import * as logsql from './logsparts.js';

/** The first answer and each later one have at most so many rows. */
const firstRows = 200, perPoll = 1000;
/** How many of the seconds with late rows are read again in one poll; the next poll reads the others. */
const secondsPerPoll = 20;

/** @param {bigint|null} a @param {bigint} b */
const latest = (a, b) => (a !== null && a > b ? a : b);

/**
 * @typedef {{columns: import('../core/rowset.js').Column[], time: number, rows: any[][], leftOut: number}} Fresh rows
 *   that were not seen before, oldest first, and how many more there were before them
 */

/** Asker follows the rows of a table, or of a part of its times. */
export class Asker {
  /**
   * @param {logsql.Scope} scope
   * @param {bigint} overlap how late rows may come, ns
   * @param {import('../core/tail.js').Seen} seen
   */
  constructor(scope, overlap, seen) {
    this.scope = scope;
    this.overlap = overlap;
    this.seen = seen;
    /** @type {import('../core/rowset.js').Column[]} */
    this.columns = [];
    /** high is the newest instant shown, ns. @type {bigint|null} */
    this.high = null;
    this.time = -1;
    this.unit = 1n;
    /**
     * Rows up to floor are never asked for again: they are shown, or lie before the beginning of the list, or were left
     * out.
     */
    this.floor = 0n;
    /**
     * taken holds new rows while a second question is under way. If that fails, the next call of ask returns them.
     * @type {any[][]}
     */
    this.taken = [];
    /** bySecond counts the rows seen of each second since 1970. @type {Map<bigint, number>} */
    this.bySecond = new Map();
  }

  /**
   * ask asks once for the rows after from and up to to. With from 0, rows count as late when they are older than now,
   * even if the newest row lies in the future.
   * @param {AbortSignal} signal @param {bigint} from ns, 0: of the present @param {bigint|null} to ns, null: open
   * @returns {Promise<Fresh>}
   */
  async ask(signal, from, to) {
    const high = this.high, limit = high === null ? firstRows : perPoll, now = nowNanos();
    const start = high === null ? from
      : latest(from, latest(this.floor, (from === 0n && high > now ? now : high) - this.overlap));
    const answer = await query(logsql.live(this.scope, start || null, to, limit), { signal, background: true });
    if (this.columns.length === 0) {
      this.columns = answer.columns;
      this.time = answer.columns.findIndex((c) => c.name === this.scope.roles.time?.name);
      this.unit = sqltext.unitNanos(answer.columns[this.time].type);
    }
    const rows = (await answer.all()).reverse();
    answer.free();
    this.taken.push(...this.take(rows));
    let leftOut = 0;
    if (rows.length === limit) { // there may be more
      const oldest = this.instant(rows[0]), newest = this.instant(rows[rows.length - 1]);
      if (high === null) this.floor = oldest;
      else if (oldest > high) leftOut = await this.leftOut(high, newest, rows.length, signal);
      else this.taken.unshift(...await this.late(start, oldest, signal));
    }
    const fresh = this.taken;
    this.taken = [];
    if (rows.length > 0) this.high = latest(high, this.instant(rows[rows.length - 1]));
    this.high ??= now - this.overlap;
    return { columns: this.columns, time: this.time, rows: fresh, leftOut };
  }

  /** take returns the rows of an answer that were not seen yet, and counts them by second. @param {any[][]} rows */
  take(rows) {
    const fresh = this.seen.fresh(rows);
    for (const row of fresh) {
      const at = this.instant(row) / second;
      this.bySecond.set(at, (this.bySecond.get(at) ?? 0) + 1);
    }
    return fresh;
  }

  /**
   * late returns the late rows from between start and oldest, which an answer at its limit does not have: it reads
   * again each second of which the table has more rows than were seen.
   * @param {bigint} start of what was asked for @param {bigint} oldest of the answer @param {AbortSignal} signal
   */
  async late(start, oldest, signal) {
    const of = (/** @type {bigint} */ ns) => (ns / second) * second;
    const from = latest(of(this.floor) + second, of(start)), to = of(oldest) + second;
    for (const at of this.bySecond.keys()) if (at < from / second) this.bySecond.delete(at);
    if (from >= to) return [];
    const options = { signal, background: true };
    const counts = await list(logsql.histogram({ ...this.scope, range: { from, to } }, { step: second, origin: from },
      null, null), options);
    const more = counts.map(([at, , n]) => ({ at: BigInt(at) * this.unit, n }))
      .filter(({ at, n }) => n > (this.bySecond.get(at / second) ?? 0));
    const found = [];
    for (const { at } of more.slice(-secondsPerPoll)) {
      const answer = await query(logsql.rows({ ...this.scope, range: { from: at, to: at + second } }, '*', perPoll),
        options);
      found.push(...(await answer.all()).reverse());
      answer.free();
    }
    return this.take(found);
  }

  /**
   * leftOut counts the rows after high that did not fit into the answer.
   * @param {bigint} high
   * @param {bigint} newest
   * @param {number} shown
   * @param {AbortSignal} signal
   */
  async leftOut(high, newest, shown, signal) {
    const scope = { ...this.scope, range: { from: high + this.unit, to: newest + this.unit } };
    const [[n]] = await list(logsql.total(scope), { signal, background: true });
    if (Number(n) <= shown) return 0;
    this.floor = newest;
    return Number(n) - shown;
  }

  /** @param {any[]} row */
  instant(row) { return BigInt(row[this.time]) * this.unit; }
}
