// The figures of /metrics: the text format read into samples, with the methods that pages call.

/** @typedef {{labels: Record<string, string>, value: number}} Sample */

const line = /^([a-zA-Z_:][\w:]*)(?:\{(.*)\})?\s+(\S+)/;
const label = /([a-zA-Z_]\w*)="((?:[^"\\]|\\.)*)"/g;

/** @param {string} text */
const unescape = (text) => text.replace(/\\(.)/g, (_, c) => (c === 'n' ? '\n' : c));

/** @param {string} text */
const number = (text) => (text === '+Inf' ? Infinity : text === '-Inf' ? -Infinity : Number(text));

export class Figures {
  /** @param {string} text @param {number} at ms since the epoch */
  constructor(text, at) {
    this.at = at;
    /** @type {Map<string, Sample[]>} */
    this.byName = new Map();
    for (const l of text.split('\n')) {
      if (l === '' || l[0] === '#') continue;
      const m = line.exec(l);
      if (!m) continue;
      /** @type {Record<string, string>} */
      const labels = {};
      for (const [, name, value] of (m[2] ?? '').matchAll(label)) labels[name] = unescape(value);
      const list = this.byName.get(m[1]);
      if (list) list.push({ labels, value: number(m[3]) });
      else this.byName.set(m[1], [{ labels, value: number(m[3]) }]);
    }
  }

  /** samples returns the samples of a name. @param {string} name */
  samples(name) { return this.byName.get(name) ?? []; }

  /**
   * sum adds the samples of a name that pass; NaN when there is none of the name.
   * @param {string} name
   * @param {(labels: Record<string, string>) => boolean} [pass]
   */
  sum(name, pass) {
    const all = this.byName.get(name);
    if (!all) return NaN;
    return all.reduce((n, s) => (!pass || pass(s.labels) ? n + s.value : n), 0);
  }

  /** label is a label of the only sample of a name. @param {string} name @param {string} key */
  label(name, key) { return this.samples(name)[0]?.labels[key] ?? ''; }
}

/**
 * rate is by how much a counter grew a second between two readings; a counter that began anew counts from zero.
 * @param {Figures} from
 * @param {Figures} to
 * @param {string} name
 * @param {(labels: Record<string, string>) => boolean} [pass]
 */
export function rate(from, to, name, pass) {
  const a = from.sum(name, pass), b = to.sum(name, pass);
  const seconds = (to.at - from.at) / 1000;
  if (!(seconds > 0) || Number.isNaN(b)) return NaN;
  return (b >= (a || 0) ? b - (a || 0) : b) / seconds;
}

/**
 * quantile estimates one of a histogram between two readings, by straight lines between its bounds; NaN when nothing
 * was observed.
 * @param {Figures} from @param {Figures} to @param {string} name without _bucket @param {number} q
 */
export function quantile(from, to, name, q) {
  const at = (/** @type {Figures} */ f) => {
    /** @type {Map<number, number>} */
    const counts = new Map();
    for (const s of f.samples(name + '_bucket')) {
      const le = number(s.labels.le);
      counts.set(le, (counts.get(le) ?? 0) + s.value);
    }
    return counts;
  };
  const before = at(from);
  const buckets = [...at(to)].map(([le, n]) => ({ le, n: n - (before.get(le) ?? 0) })).sort((a, b) => a.le - b.le);
  const total = buckets[buckets.length - 1]?.n ?? 0;
  if (!(total > 0)) return NaN;
  const wanted = q * total;
  const i = buckets.findIndex((b) => b.n >= wanted);
  const low = i > 0 ? buckets[i - 1] : { le: 0, n: 0 };
  const high = buckets[i];
  if (high.le === Infinity) return low.le;
  return low.le + ((high.le - low.le) * (wanted - low.n)) / Math.max(1e-9, high.n - low.n);
}
