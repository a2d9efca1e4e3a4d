// Heights of rows that are not all alike: a tree of partial sums, so that the place of a row, and the row at a place,
// take as many steps as the number of rows has bits.

export class Heights {
  /** @param {number} count @param {number} height of a row that was not measured */
  constructor(count, height) {
    this.count = count;
    this.height = height;
    /**
     * sums is a Fenwick tree: sums[i] is the sum of the differences from height over the rows that end at i, as many as
     * the lowest set bit of i.
     */
    this.sums = new Float64Array(count + 1);
    this.own = new Float64Array(count);
  }

  /**
   * of returns heights for another number of rows, with the measured ones of these as far as they go.
   * @param {number} count
   */
  of(count) {
    if (count === this.count) return this;
    const other = new Heights(count, this.height);
    for (let i = 0; i < Math.min(count, this.count); i++) if (this.own[i]) other.set(i, this.own[i] + this.height);
    return other;
  }

  /**
   * set notes the measured height of a row and gives by how much it differs from the one known.
   * @param {number} row
   * @param {number} height
   */
  set(row, height) {
    const change = height - this.height - this.own[row];
    if (Math.abs(change) < 0.5) return 0;
    this.own[row] += change;
    for (let i = row + 1; i <= this.count; i += i & -i) this.sums[i] += change;
    return change;
  }

  /** top is where a row begins. @param {number} row */
  top(row) {
    let sum = row * this.height;
    for (let i = row; i > 0; i -= i & -i) sum += this.sums[i];
    return sum;
  }

  total() {
    return this.top(this.count);
  }

  /** at is the row at a place. @param {number} y */
  at(y) {
    let row = 0;
    let left = y;
    let step = 1;
    while (step * 2 <= this.count) step *= 2;
    for (; step > 0; step >>= 1) {
      const next = row + step;
      if (next > this.count) continue;
      const size = this.sums[next] + step * this.height;
      if (size <= left) {
        row = next;
        left -= size;
      }
    }
    return Math.min(row, Math.max(0, this.count - 1));
  }
}
