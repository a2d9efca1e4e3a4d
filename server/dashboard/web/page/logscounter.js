// Counts the rows that come while a list is live, as the server has them: a list shows a part of what comes when it is
// much.

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
     * Rows before edge are counted for good: those that came since the beginning are in settled.
     * @type {bigint|null}
     */
    this.edge = null;
    this.settled = 0;
    /** total is settled and the rows behind edge, as of the last time; null before the first. @type {number|null} */
    this.total = null;
  }

  /**
   * more is how many rows came since the last time; the first time there is nothing to compare with.
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
