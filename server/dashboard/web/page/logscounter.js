// Asks the server how many rows come while a list is live: the list itself shows only a part when there are many.

import { query } from '../core/api.js';
import * as sqltext from '../core/sqltext.js';
import { nowNanos, second } from '../core/time.js';
import * as logsql from './logsparts.js';

/** Counter counts the rows of a scope. */
export class Counter {
  /** @param {logsql.Scope} scope @param {bigint} overlap how late rows may come, ns */
  constructor(scope, overlap) {
    this.scope = scope;
    this.overlap = overlap;
    /**
     * Rows before edge are not counted again; settled is their number since the beginning.
     * @type {bigint|null}
     */
    this.edge = null;
    this.settled = 0;
    /** total is settled plus the rows after edge, as counted last; null before the first count. @type {number|null} */
    this.total = null;
  }

  /**
   * more returns how many rows came since it was called last. The first call has nothing to compare with.
   * @param {bigint} newest instant that was seen, ns
   * @param {AbortSignal} signal
   */
  async more(newest, signal) {
    const now = nowNanos(), last = (newest < now ? newest : now) - this.overlap;
    const next = (last / second) * second, from = this.edge ?? next;
    const answer = await query(logsql.histogram({ ...this.scope, range: { from, to: null } },
      { step: second, origin: from }, null, null), { signal, background: true });
    const unit = sqltext.unitNanos(answer.columns[0]?.type ?? 'timestamp(9)');
    let total = this.settled;
    for (const [at, , n] of await answer.all()) {
      total += Number(n);
      if (BigInt(at) * unit < next) this.settled += Number(n);
    }
    answer.free();
    this.edge = next > from ? next : from;
    const came = this.total === null ? 0 : Math.max(0, total - this.total);
    this.total = total;
    return came;
  }
}
