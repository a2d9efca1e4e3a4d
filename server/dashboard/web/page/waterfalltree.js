// The spans of a trace as a tree: who called whom, the oddities of each span, and the spans that determine the
// duration.

import { backwards } from './tracesquery.js';

/** Spans at a greater depth than this are indented no further. */
export const deepestIndent = 40;

/**
 * @typedef {object} Span
 * @property {any[]} row as it came; empty for "parent not received"
 * @property {string} id
 * @property {string} parent '' for a root
 * @property {string} service
 * @property {string} name
 * @property {number} start ns after the begin of the trace
 * @property {number} end
 * @property {boolean} error
 * @property {{name: string, at: number}[]} events
 * @property {Span[]} children
 * @property {number} depth
 * @property {boolean} early starts before its parent
 * @property {string} note what is odd
 * @property {boolean} missing stands for a parent that was not received
 * @property {[number, number][]} critical parts that determine the duration of the trace
 * @property {number} own time in which no child ran, ns
 */

/**
 * @typedef {{spans: Span[], roots: Span[], begin: bigint, duration: number, services: string[], errors: number, notes:
 *   string[]}} Trace
 */

/** json reads a value of a column of JSON. @param {any} v @returns {any[]} */
export function json(v) {
  if (typeof v !== 'string') return Array.isArray(v) ? v : [];
  try {
    const read = JSON.parse(v);
    return Array.isArray(read) ? read : [];
  } catch {
    return [];
  }
}

/** eventTime is the instant of an event, ns; null when it cannot be read. @param {any} text */
function eventTime(text) {
  const m = /^(\d{4}-\d\d-\d\d)[T ](\d\d:\d\d:\d\d)(?:\.(\d{1,9}))?(Z|[-+]\d\d:?\d\d)?$/.exec(String(text));
  const ms = m ? Date.parse(`${m[1]}T${m[2]}${m[4] ?? 'Z'}`) : NaN;
  return m && Number.isFinite(ms) ? BigInt(ms) * 1_000_000n + BigInt((m[3] ?? '').padEnd(9, '0')) : null;
}

/**
 * traceOf makes the tree of a trace from its rows.
 * @param {{name: string, type: string}[]} columns
 * @param {any[][]} rows
 * @returns {Trace}
 */
export function traceOf(columns, rows) {
  const at = Object.fromEntries(columns.map((c, i) => [c.name, i]));
  const text = (/** @type {any[]} */ row, /** @type {string} */ name) => String(row[at[name]] ?? '');
  const times = rows.map((row) => BigInt(row[at.timestamp]));
  const begin = times.reduce((least, t) => (t < least ? t : least), times[0] ?? 0n);
  let backward = 0;
  const spans = rows.map((row, i) => {
    const start = Number(times[i] - begin);
    /** @type {Span} */
    const span = {
      row, id: text(row, 'span_id'), parent: text(row, 'parent_span_id'), service: text(row, 'service_name'),
        name: text(row, 'span_name'),
      start, end: start + Number(row[at.duration_nano] ?? 0), error: row[at.span_status_code] === 'STATUS_CODE_ERROR',
      events: eventsOf(row[at.span_events], begin), children: none, depth: 0, early: false, note: '', missing: false,
        critical: none, own: 0,
    };
    if (row[at.timestamp_end] !== undefined && BigInt(row[at.timestamp_end]) < times[i]) {
      span.note = 'this span ends before it starts';
      backward++;
    }
    return span;
  });
  const notes = backward > 0 ? [backwards(backward)] : [];
  const roots = link(spans, notes);
  for (const s of spans) s.own = ownTime(s);
  const longest = roots.flatMap((r) => (r.missing ? r.children : [r]))
    .reduce((/** @type {Span|null} */ a, b) => (!a || b.end - b.start > a.end - a.start ? b : a), null);
  if (longest) markCritical(longest);
  return { spans, roots, begin, duration: spans.reduce((m, s) => Math.max(m, s.end), 0),
    services: [...new Set(spans.map((s) => s.service))], errors: spans.filter((s) => s.error).length, notes };
}

/**
 * none is the list of spans without children, events or parts: fifty thousand empty lists of their own keep the
 * collector busy for longer than the rest takes.
 * @type {any[]}
 */
const none = /** @type {any} */ (Object.freeze([]));

/**
 * eventsOf reads the events of a span.
 * @param {any} list
 * @param {bigint} begin
 * @returns {{name: string, at: number}[]}
 */
function eventsOf(list, begin) {
  if (list === undefined || list === null || list === '[]') return none;
  return json(list).flatMap((e) => {
    const time = eventTime(e?.time);
    return time === null ? [] : [{ name: String(e?.name ?? ''), at: Number(time - begin) }];
  });
}

/**
 * holeOf returns a row that stands for the parent of a span, which was not received.
 * @param {Span} s
 * @returns {Span}
 */
const holeOf = (s) => ({ row: none, id: s.parent, parent: '', service: '', name: 'parent not received', start: s.start,
  end: s.end, error: false, events: none, children: none, depth: 0, early: false, note: '', missing: true,
  critical: none, own: 0 });

/** hang puts a span under another. @param {Span} parent @param {Span} s */
function hang(parent, s) {
  if (parent.children === none) parent.children = [s];
  else parent.children.push(s);
}

/** mark puts a part of a span on the critical path. @param {Span} s @param {[number, number]} part */
function mark(s, part) {
  if (s.critical === none) s.critical = [part];
  else s.critical.push(part);
}

/**
 * link hangs spans under their parents and returns the roots, among them one row for each parent that was not received.
 * @param {Span[]} spans
 * @param {string[]} notes
 */
function link(spans, notes) {
  /** @type {Map<string, Span>} */
  const byId = new Map();
  let twice = 0;
  for (const s of spans) {
    if (byId.has(s.id)) {
      s.note = 'this span id is there more than once';
      twice++;
    } else {
      byId.set(s.id, s);
    }
  }
  /** @type {Span[]} */
  const roots = [];
  /** @type {Map<string, Span>} */
  const missing = new Map();
  for (const s of spans) {
    const parent = byId.get(s.parent);
    if (s.parent === '') roots.push(s);
    else if (parent) {
      hang(parent, s);
      s.early = parent !== s && s.start < parent.start;
    } else {
      const hole = missing.get(s.parent) ?? holeOf(s);
      hang(hole, s);
      hole.start = Math.min(hole.start, s.start);
      hole.end = Math.max(hole.end, s.end);
      missing.set(s.parent, hole);
    }
  }
  roots.push(...missing.values());
  const cycles = cut(spans, roots);
  roots.sort((a, b) => a.start - b.start);
  const entire = roots.filter((r) => !r.missing).length;
  if (missing.size > 0)
    notes.push(`${missing.size} ${missing.size === 1 ? 'parent was' : 'parents were'} not received`);
  if (entire > 1) notes.push(`${entire} root spans`);
  if (twice > 0) notes.push(`${twice} ${twice === 1 ? 'span has' : 'spans have'} an id that another has`);
  if (cycles > 0) notes.push(`${cycles} ${cycles === 1 ? 'span is an ancestor of itself'
    : 'spans are ancestors of themselves'}`);
  const early = spans.filter((s) => s.early).length;
  if (early > 0)
    notes.push(`${early} ${early === 1 ? 'span starts' : 'spans start'} before the parent: the clocks differ`);
  return roots;
}

/**
 * cut orders children, counts depths, and makes a root of one span of each cycle.
 * @param {Span[]} spans
 * @param {Span[]} roots
 */
function cut(spans, roots) {
  const seen = new Set(/** @type {Span[]} */ ([]));
  const walk = (/** @type {Span} */ from) => {
    const stack = [from];
    for (let s = stack.pop(); s; s = stack.pop()) {
      seen.add(s);
      if (s.children.some((c) => seen.has(c))) s.children = s.children.filter((c) => !seen.has(c));
      if (s.children.length > 1) s.children.sort((a, b) => a.start - b.start);
      for (const c of s.children) {
        c.depth = s.depth + 1;
        stack.push(c);
      }
    }
  };
  for (const r of roots) walk(r);
  let cycles = 0;
  for (const s of spans) {
    if (seen.has(s)) continue;
    s.note = 'this span is an ancestor of itself';
    s.early = false;
    roots.push(s);
    walk(s);
    cycles++;
  }
  return cycles;
}

/** ownTime returns the time of a span outside the union of its children. @param {Span} s */
function ownTime(s) {
  let own = s.end - s.start, until = s.start;
  for (const c of s.children) { // in the order of their starts
    const from = Math.max(c.start, until), to = Math.min(c.end, s.end);
    if (to > from) {
      own -= to - from;
      until = to;
    }
  }
  return own;
}

/**
 * markCritical marks the critical path. It walks back from the end of a span: the span waited for the child that ended
 * last before this place, and the gap between that end and the place is the span's own. It goes on from the start of
 * the child, and does the same within the child.
 * @param {Span} root
 */
function markCritical(root) {
  const work = [{ span: root, since: root.start, until: root.end }];
  for (let w = work.pop(); w; w = work.pop()) {
    const { span, since } = w;
    let cursor = w.until;
    const last = [...span.children].sort((a, b) => b.end - a.end);
    for (const child of last) {
      const end = Math.min(child.end, span.end);
      const start = Math.max(child.start, since);
      if (end > cursor || start >= end) continue;
      if (end < cursor) mark(span, [end, cursor]);
      work.push({ span: child, since: start, until: end });
      cursor = start;
    }
    if (since < cursor) mark(span, [since, cursor]);
  }
}

/**
 * flat lists the rows that are shown.
 * @param {Span[]} roots
 * @param {(s: Span) => boolean} folded
 * @param {(s: Span) => boolean} kept
 * @returns {Span[]}
 */
export function flat(roots, folded, kept) {
  const rows = [];
  const stack = [...roots].reverse();
  for (let s = stack.pop(); s; s = stack.pop()) {
    if (kept(s)) rows.push(s);
    if (!folded(s)) for (let i = s.children.length - 1; i >= 0; i--) stack.push(s.children[i]);
  }
  return rows;
}

/**
 * pathsTo returns the spans that fit and all their ancestors.
 * @param {Span[]} roots
 * @param {(s: Span) => boolean} fits
 */
export function pathsTo(roots, fits) {
  const all = flat(roots, () => false, () => true);
  /** @type {Map<Span, Span>} */
  const above = new Map();
  for (const s of all) for (const c of s.children) above.set(c, s);
  const on = new Set(/** @type {Span[]} */ ([]));
  for (const s of all) {
    if (!fits(s)) continue;
    for (let p = /** @type {Span|undefined} */ (s); p && !on.has(p); p = above.get(p)) on.add(p);
  }
  return on;
}
