// Finding by a few letters.

/**
 * score rates how well the letters of a query stand in a text in order; 0: not at all. Beginnings of words and
 * neighbours count more.
 * @param {string} query
 * @param {string} text
 */
export function score(query, text) {
  const q = query.toLowerCase(), t = text.toLowerCase();
  if (q === '') return 1;
  const whole = t.indexOf(q);
  if (whole >= 0) return 1000 - whole - (t.length - q.length) * 0.1 +
    (whole === 0 || /\W|_/.test(t[whole - 1]) ? 200 : 0);
  let points = 0, at = -1;
  for (const c of q) {
    if (c === ' ') continue;
    const next = t.indexOf(c, at + 1);
    if (next < 0) return 0;
    points += next === at + 1 ? 5 : next === 0 || /\W|_/.test(t[next - 1]) ? 4 : 1;
    at = next;
  }
  return points;
}

/**
 * nearest gives the names that somebody who mistyped one may have meant.
 * @param {string} name
 * @param {string[]} among
 * @param {number} [most]
 */
export function nearest(name, among, most = 3) {
  return among.map((n) => ({ n,
    d: distance(name.toLowerCase(), n.toLowerCase()) -
    (n.toLowerCase().includes(name.toLowerCase()) ? name.length : 0) }))
    .filter(({ d }) => d <= Math.max(2, name.length / 2)).sort((a, b) => a.d - b.d).slice(0, most).map(({ n }) => n);
}

/** distance counts the letters to change. @param {string} a @param {string} b */
export function distance(a, b) {
  if (a.length > 64 || b.length > 64) return a === b ? 0 : 64;
  let row = Array.from({ length: b.length + 1 }, (_, i) => i);
  for (let i = 1; i <= a.length; i++) {
    const next = [i];
    for (let j = 1; j <= b.length; j++)
      next[j] = Math.min(next[j - 1] + 1, row[j] + 1, row[j - 1] + (a[i - 1] === b[j - 1] ? 0 : 1));
    row = next;
  }
  return row[b.length];
}
