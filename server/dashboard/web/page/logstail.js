// The rows of a live list: new rows, kept rows, and their form on the page.

import { plural } from '../core/format.js';
import { alike } from '../core/rowset.js';
import { Seen } from '../core/tail.js';
import { nowNanos, second } from '../core/time.js';
import { Asker } from './logsasker.js';
import { Counter } from './logscounter.js';

/** Tail holds the rows of a live list. */
export class Tail {
  /** @param {import('./logsquery.js').Scope} scope @param {number} keep @param {number} late s */
  constructor(scope, keep, late) {
    this.keep = keep;
    this.overlap = BigInt(late) * second;
    const seen = new Seen();
    this.asker = () => new Asker(scope, this.overlap, seen);
    /** present asks for all rows that ahead does not ask for. */
    this.present = this.asker();
    this.counter = new Counter(scope, this.overlap);
    /**
     * ahead asks for rows whose times lie in the future, as long as there are any: a host's clock or zone may be wrong.
     * @type {Asker|null}
     */
    this.ahead = null;
    /** list holds all rows that are kept, and markers: lines of the page's own between them. @type {any[][]} */
    this.list = [];
    /**
     * lines is what the list shows: of rows that follow each other and differ in time alone the newest, with their
     * number.
     * @type {{row: any[], n: number}[]}
     */
    this.lines = [];
    this.folds = true;
    /** rows is how many entries of list are rows, not markers. */
    this.rows = 0;
    /** @type {import('../core/rowset.js').Column[]} */
    this.columns = [];
    this.time = -1;
    /** @type {{at: number, n: number}[]} rows that came until each poll of the last 30 s */
    this.rates = [];
  }

  get count() { return this.lines.length; }

  /** slice gives rows with the number of equal ones behind their values. @param {number} from @param {number} to */
  slice(from, to) {
    return Promise.resolve(this.lines.slice(from, to).map(({ row, n }) => (n > 1 ? [...row, n] : row)));
  }

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
    if (this.folds && last && !row.marker && !(/** @type {any} */ (last.row).marker) &&
      alike(last.row, row, this.time)) {
      last.row = row;
      last.n++;
    } else {
      this.lines.push({ row, n: 1 });
    }
  }

  /**
   * poll asks once; gives the number of rows added. Rows from further ahead than overlap are asked for apart: they
   * would always be the newest, and hide the rows that arrive at their own time.
   * @param {AbortSignal} signal
   */
  async poll(signal) {
    const edge = nowNanos() + this.overlap, { high, floor } = this.present;
    if (this.ahead && (this.ahead.high ?? 0n) <= edge) this.ahead = null; // the time of its rows has come
    let added = this.show(await (this.ahead ? this.ahead.ask(signal, edge, null) : this.present.ask(signal, 0n, null)));
    if (!this.ahead && (this.present.high ?? 0n) > edge) {
      this.ahead = Object.assign(this.asker(), { high: this.present.high, floor: this.present.floor });
      Object.assign(this.present, { high, floor });
    }
    if (this.ahead) added += this.show(await this.present.ask(signal, 0n, edge));
    return added;
  }

  /**
   * came returns how many rows came since it was called last, as the server counts them: more than poll added when
   * there were too many.
   * @param {AbortSignal} signal
   */
  async came(signal) {
    const n = await this.counter.more(this.present.high ?? nowNanos(), signal), now = performance.now();
    this.rates = [...this.rates.filter((r) => now - r.at < 30_000), { at: now, n }];
    return n;
  }

  /**
   * show adds the new rows of an answer at the end and returns how many.
   * @param {import('./logsasker.js').Fresh} fresh
   */
  show({ columns, time, leftOut, rows }) {
    this.columns = columns;
    this.time = time;
    if (leftOut > 0) this.marker(`${plural(leftOut, 'row')} left out`);
    for (const row of rows) this.add(row);
    return rows.length;
  }

  /** marker puts a line of the page's own between the rows. @param {string} text */
  marker(text) {
    this.add(Object.assign(this.columns.map(() => null), { marker: text }));
  }

  /** trim forgets the oldest rows and returns how many. */
  trim() {
    const n = Math.max(0, this.list.length - this.keep);
    for (const row of this.list.splice(0, n)) if (!(/** @type {any} */ (row).marker)) this.rows--;
    let gone = 0, left = n;
    while (left > 0 && this.lines[gone].n <= left) left -= this.lines[gone++].n;
    this.lines.splice(0, gone);
    if (left > 0) this.lines[0].n -= left;
    return n;
  }

  /**
   * full reports whether there are so many rows that a list which is held still reads no more: new rows are only
   * counted then.
   */
  full() { return this.list.length >= 2 * this.keep; }

  /** perSecond is the rate of the last ten seconds. */
  perSecond() {
    const now = performance.now();
    const recent = this.rates.filter((r) => now - r.at < 10_000);
    return recent.length < 2 ? 0 : recent.slice(1).reduce((s, r) => s + r.n, 0) / ((now - recent[0].at) / 1000 || 1);
  }
}
