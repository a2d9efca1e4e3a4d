// The rows of a live list: asks for the newest again and again, knows those it has shown, catches late ones.

import { list, query } from '../core/api.js';
import { plural } from '../core/format.js';
import { alike } from '../core/rowset.js';
import { Seen } from '../core/tail.js';
import * as sqltext from '../core/sqltext.js';
import { nowNanos, second } from '../core/time.js';
import * as logsql from './logsquery.js';

/** The first answer and each later one have at most so many rows. */
const firstRows = 200, perPoll = 1000;
/** How many seconds with late rows are read again in one poll; others have their turn in the next. */
const secondsPerPoll = 20;

/** @param {bigint|null} a @param {bigint} b */
const latest = (a, b) => (a !== null && a > b ? a : b);

/** Tail holds the rows of a live list. */
export class Tail {
  /** @param {logsql.Scope} scope @param {number} keep @param {number} late s */
  constructor(scope, keep, late) {
    this.scope = scope;
    this.keep = keep;
    this.overlap = BigInt(late) * second;
    this.seen = new Seen();
    /** list has all rows that are kept, and lines of ours. @type {any[][]} */
    this.list = [];
    /** lines are what is shown of them: the newest of rows that follow each other and differ in time alone, and how many. @type {{row: any[], n: number}[]} */
    this.lines = [];
    this.folds = true;
    /** rows is how many of the list are rows. */
    this.rows = 0;
    /** @type {import('../core/rowset.js').Column[]} */
    this.columns = [];
    /** high is the newest instant shown, ns. @type {bigint|null} */
    this.high = null;
    this.time = -1;
    this.unit = 1n;
    /** Rows up to floor are not asked for again: those not shown were before the list began, or were left out. */
    this.floor = 0n;
    /** taken are new rows that wait for the answer to another question, should it fail for the next poll. @type {any[][]} */
    this.taken = [];
    /** bySecond counts the rows seen of each second since 1970. @type {Map<bigint, number>} */
    this.bySecond = new Map();
    /** @type {{at: number, n: number}[]} rows of each poll of the last 30 s */
    this.rates = [];
  }

  get count() { return this.lines.length; }

  /** slice gives rows with the number of equal ones behind their values. @param {number} from @param {number} to */
  slice(from, to) { return Promise.resolve(this.lines.slice(from, to).map(({ row, n }) => (n > 1 ? [...row, n] : row))); }

  /** fold shows equal rows as one, or each by itself. @param {boolean} folds */
  fold(folds) {
    this.folds = folds;
    const list = this.list;
    this.list = [];
    this.lines = [];
    this.rows = 0;
    for (const row of list) this.add(row);
  }

  /** @param {any} row */
  add(row) {
    this.list.push(row);
    if (!row.marker) this.rows++;
    const last = this.lines[this.lines.length - 1];
    if (this.folds && last && !row.marker && !(/** @type {any} */ (last.row).marker) && alike(last.row, row, this.time)) {
      last.row = row;
      last.n++;
    } else {
      this.lines.push({ row, n: 1 });
    }
  }

  /** poll asks once; gives the number of rows added. @param {AbortSignal} signal */
  async poll(signal) {
    const high = this.high, limit = high === null ? firstRows : perPoll;
    const answer = await query(logsql.live(this.scope, high === null ? null : this.after(high), limit), { signal, background: true });
    if (this.columns.length === 0) {
      this.columns = answer.columns;
      this.time = answer.columns.findIndex((c) => c.name === this.scope.roles.time?.name);
      this.unit = sqltext.unitNanos(answer.columns[this.time].type);
    }
    const rows = (await answer.all()).reverse();
    answer.free();
    this.taken.push(...this.take(rows));
    if (rows.length === limit) { // there may be more
      const oldest = this.instant(rows[0]), newest = this.instant(rows[rows.length - 1]);
      if (high === null) this.floor = oldest;
      else if (oldest > high) await this.leftOut(high, newest, rows.length, signal);
      else this.taken.unshift(...await this.late(high, oldest, signal));
    }
    const fresh = this.taken;
    this.taken = [];
    for (const row of fresh) this.add(row);
    if (rows.length > 0) this.high = latest(high, this.instant(rows[rows.length - 1]));
    this.high ??= nowNanos() - this.overlap;
    const now = performance.now();
    this.rates = [...this.rates.filter((r) => now - r.at < 30_000), { at: now, n: high === null ? 0 : fresh.length }];
    return fresh.length;
  }

  /** after is the instant from which on rows are asked for. @param {bigint} high */
  after(high) { return latest(this.floor, high - this.overlap); }

  /** take gives the rows of an answer that are new, and counts them. @param {any[][]} rows */
  take(rows) {
    const fresh = this.seen.fresh(rows);
    for (const row of fresh) {
      const at = this.instant(row) / second;
      this.bySecond.set(at, (this.bySecond.get(at) ?? 0) + 1);
    }
    return fresh;
  }

  /**
   * late gives the rows that came late where an answer does not reach back to: of the seconds of which the table has more
   * rows than were seen.
   * @param {bigint} high @param {bigint} oldest of the answer @param {AbortSignal} signal
   */
  async late(high, oldest, signal) {
    const of = (/** @type {bigint} */ ns) => (ns / second) * second;
    const from = latest(of(this.floor) + second, of(high - this.overlap)), to = of(oldest) + second;
    for (const at of this.bySecond.keys()) if (at < from / second) this.bySecond.delete(at);
    if (from >= to) return [];
    const options = { signal, background: true };
    const counts = await list(logsql.histogram({ ...this.scope, range: { from, to } }, { step: second, origin: from }, null, null), options);
    const more = counts.map(([at, , n]) => ({ at: BigInt(at) * this.unit, n })).filter(({ at, n }) => n > (this.bySecond.get(at / second) ?? 0));
    const found = [];
    for (const { at } of more.slice(-secondsPerPoll)) {
      const answer = await query(logsql.rows({ ...this.scope, range: { from: at, to: at + second } }, '*', perPoll), options);
      found.push(...(await answer.all()).reverse());
      answer.free();
    }
    return this.take(found);
  }

  /** leftOut puts a line for the rows behind high that were too many to show. @param {bigint} high @param {bigint} newest @param {number} shown @param {AbortSignal} signal */
  async leftOut(high, newest, shown, signal) {
    const scope = { ...this.scope, range: { from: high + this.unit, to: newest + this.unit } };
    const [[n]] = await list(logsql.total(scope), { signal, background: true });
    if (Number(n) <= shown) return;
    this.marker(`${plural(Number(n) - shown, 'row')} left out`);
    this.floor = newest;
  }

  /** @param {any[]} row */
  instant(row) { return BigInt(row[this.time]) * this.unit; }

  /** marker puts a line of ours between the rows. @param {string} text */
  marker(text) {
    this.add(Object.assign(this.columns.map(() => null), { marker: text }));
  }

  /** trim forgets the oldest rows; gives how many. */
  trim() {
    const n = Math.max(0, this.list.length - this.keep);
    for (const row of this.list.splice(0, n)) if (!(/** @type {any} */ (row).marker)) this.rows--;
    let gone = 0, left = n;
    while (left > 0 && this.lines[gone].n <= left) left -= this.lines[gone++].n;
    this.lines.splice(0, gone);
    if (left > 0) this.lines[0].n -= left;
    return n;
  }

  /** full tells whether no more rows are read below a view that is held still: what comes then is counted when it goes on. */
  full() { return this.list.length >= 2 * this.keep; }

  /** perSecond is the rate of the last ten seconds. */
  perSecond() {
    const now = performance.now();
    const recent = this.rates.filter((r) => now - r.at < 10_000);
    return recent.length < 2 ? 0 : recent.slice(1).reduce((s, r) => s + r.n, 0) / ((now - recent[0].at) / 1000 || 1);
  }
}
