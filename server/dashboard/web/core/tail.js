// The rows that a live list has seen. Each poll asks for the last seconds again, so that late rows are found: a row
// counts as seen by its whole content, and equal rows are counted, so that none is lost or shown twice.

/** How many of the last rows are remembered. */
const window = 20_000;

export class Seen {
  constructor() {
    /** @type {Map<string, number>} */
    this.counts = new Map();
    /** @type {string[]} in the order in which they were seen */
    this.order = [];
  }

  /**
   * fresh returns the rows of an answer that were not seen yet, and remembers them. An answer has every row of its
   * range: the n-th of equal rows in it is new when fewer than n were seen.
   * @param {any[][]} rows
   */
  fresh(rows) {
    /** @type {Map<string, number>} */
    const here = new Map();
    const found = [];
    for (const row of rows) {
      const key = JSON.stringify(row);
      const n = (here.get(key) ?? 0) + 1;
      here.set(key, n);
      if (n > (this.counts.get(key) ?? 0)) found.push(row);
    }
    for (const row of found) this.remember(JSON.stringify(row));
    return found;
  }

  /** @param {string} key */
  remember(key) {
    this.counts.set(key, (this.counts.get(key) ?? 0) + 1);
    this.order.push(key);
    if (this.order.length < 2 * window) return;
    for (const old of this.order.splice(0, window)) {
      const n = /** @type {number} */ (this.counts.get(old));
      if (n > 1) this.counts.set(old, n - 1);
      else this.counts.delete(old);
    }
  }
}
