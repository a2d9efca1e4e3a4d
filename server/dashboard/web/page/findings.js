// Findings that deserve a look, as plain sentences: each with its figure and a remedy.

import { bytes, count, percent, plural } from '../core/format.js';
import { plain, size } from '../core/toml.js';

/**
 * @typedef {{level: 'bad'|'warn', text: string, todo: string}} Finding
 * @typedef {object} Known the known figures of the server; figures that the user may not see are left out
 * @property {import('../core/exposition.js').Figures[]} readings
 * @property {import('../core/toml.js').Setting[]|null} settings
 * @property {any} status the answer of /status
 * @property {{name: string, rows: number}[]} tables
 * @property {number|null} clockMS by how much this browser is ahead
 * @property {boolean} open nobody has to sign in
 */

/** A queue is reported as growing when it grew over this many readings; one comes every 5 s. */
const queueReadings = 60;

const loopback = /^(localhost|.*\.localhost|127\.\d+\.\d+\.\d+|\[::1\])$/;

/**
 * findings looks at everything.
 * @param {Known} k
 * @param {string} host by which the page was opened
 * @returns {Finding[]}
 */
export function findings(k, host) {
  const found = /** @type {Finding[]} */ ([]);
  const now = k.readings[k.readings.length - 1];
  const setting = (/** @type {string} */ key) => {
    const s = k.settings?.find((x) => x.key === key);
    return s && plain(s.value);
  };

  const damaged = k.status?.damaged ?? [];
  if (damaged.length > 0)
    found.push({ level: 'bad',
      text: `${plural(damaged.length, 'file is', 'files are')} damaged and not served: ${damaged.slice(0, 3)
        .map((/** @type {any} */ d) => `${d.file} (${d.reason})`).join(', ')}.`,
        todo: 'Restore them from a backup; SELECT * FROM information_schema.damage tells which rows are missing.' });
  const address = setting('http.addr') ?? '';
  const listensBeyond = address !== '' && !loopback.test(address.replace(/:\d+$/, ''));
  if (k.open && (listensBeyond || !loopback.test(host)))
    found.push({ level: 'bad',
      text: `Everybody who reaches ${listensBeyond ? address
        : host} may read and drop every table: there are no users.`,
        todo: 'Set user_provider, or listen on 127.0.0.1 only.' });
  const sync = setting('wal.sync');
  if (sync !== undefined && sync !== 'always')
    found.push({ level: 'warn',
      text: `wal.sync is ${sync}: a power cut loses ${sync === 'interval' ? `up to ${setting('wal.sync_period')} of`
        : 'what the system had not yet written of the'} acknowledged rows.`,
        todo: 'Set wal.sync to always where that matters.' });
  if (k.clockMS !== null && Math.abs(k.clockMS) > 2000)
    found.push({ level: 'warn',
      text: `This browser's clock is ${(Math.abs(k.clockMS) / 1000).toFixed(1)} s ${k.clockMS > 0 ? 'ahead of'
        : 'behind'} the server's.`, todo: 'Set one of them: rows without a time get the server\'s.' });
  if (k.status?.cold?.failing)
    found.push({ level: 'warn',
      text: `Old parts cannot be moved to the bucket; ${plural(k.status.cold.waiting, 'part waits', 'parts wait')}.`,
      todo: 'The log of the server has the reason. They stay on the disk until they have moved.' });
  if (now) figures(now, setting, found);
  lately(k.readings, found);

  /** @type {Map<string, string[]>} */
  const patterns = new Map();
  for (const t of k.tables) {
    const pattern = t.name.replace(/\d+/g, '*');
    if (pattern !== t.name) patterns.set(pattern, [...(patterns.get(pattern) ?? []), t.name]);
  }
  for (const [pattern, names] of patterns) {
    if (names.length > 100)
      found.push({ level: 'warn', text: `${count(names.length)} tables match ${pattern}, such as ${names[0]}.`,
        todo: 'One table with the number as a tag is faster and smaller.' });
  }
  return found;
}

/**
 * @param {import('../core/exposition.js').Figures} now
 * @param {(key: string) => string|undefined} setting
 * @param {Finding[]} found
 */
function figures(now, setting, found) {
  const memory = now.sum('varve_process_anonymous_bytes') || now.sum('process_resident_memory_bytes');
  const limit = now.sum('varve_memory_limit_bytes');
  if (limit > 0 && memory > 0.8 * limit)
    found.push({ level: 'warn',
      text: `The process has ${bytes(memory)} of memory, ${percent(memory / limit)} of its limit of ${bytes(limit)}.`,
      todo: 'Raise memory_limit, or ask for less at a time.' });
  const free = now.sum('varve_disk_free_bytes');
  const data = (now.sum('varve_part_bytes') || 0) + (now.sum('varve_wal_bytes') || 0);
  const least = size(setting('storage.min_free') ?? '');
  if (free >= 0 && (free < 0.15 * (free + data) || free < 4 * least)) {
    found.push({ level: free < 4 * least ? 'bad' : 'warn',
      text: `${bytes(free)} are free on the disk, beside ${bytes(data)} of data${least > 0
        ? `; writes stop at ${bytes(least)}` : ''}.`,
        todo: 'Give tables a ttl, drop what is not needed, or add room.' });
  }
  bounds(now, found);
  for (const [name, what] of [['varve_flush_failures_total', 'writing a part'],
    ['varve_merge_failures_total', 'merging parts'], ['varve_wal_failures_total', 'writing the log'],
    ['varve_part_read_errors_total', 'reading a part'], ['varve_http_panics_total', 'answering a request']]) {
    const n = now.sum(name);
    if (n > 0) found.push({ level: 'bad',
      text: `${what[0].toUpperCase()}${what.slice(1)} has failed ${plural(n, 'time')} since the server started.`,
      todo: 'The log of the server has the reason.' });
  }
}

/**
 * bounds looks at what the operator bounds.
 * @param {import('../core/exposition.js').Figures} now
 * @param {Finding[]} found
 */
function bounds(now, found) {
  if (now.sum('varve_read_only') > 0)
    found.push({ level: 'warn', text: 'The server is read-only: writes are refused.',
      todo: 'Set read_only to false, or make the file system writable again.' });
  for (const { labels: { db }, value: most } of now.samples('varve_database_max_bytes')) {
    const of = (/** @type {Record<string, string>} */ l) => l.db === db;
    const has = now.sum('varve_database_bytes', of);
    const dropped = now.sum('varve_size_dropped_bytes_total', of);
    if (dropped > 0 || has >= 0.9 * most)
      found.push({ level: 'warn',
        text: `Database ${db} has ${bytes(has)} of its max_size of ${bytes(most)}; ${dropped > 0
        ? `${bytes(dropped)} of its oldest rows were dropped since the server started.`
        : 'above it the oldest rows are dropped.'}`,
        todo: 'Raise max_size, or give tables a shorter ttl.' });
  }
  const fast = now.sum('varve_writes_refused_total', (l) => l.reason === 'rate');
  if (fast > 0)
    found.push({ level: 'warn',
      text: `Writes were refused for coming too fast: ${plural(fast, 'time')} since the start.`,
      todo: 'Their senders come again; raise write_rate, or the rates of the tables, if they fall behind.' });
  const over = now.sum('varve_queries_over_read_bound_total');
  if (over > 0)
    found.push({ level: 'warn',
      text: `${plural(over, 'query', 'queries')} ended for reading too much since the server started.`,
      todo: 'Narrow them, or raise query.max_read_rows and query.max_read_bytes.' });
}

/**
 * lately looks at changes since this tab was opened.
 * @param {import('../core/exposition.js').Figures[]} readings
 * @param {Finding[]} found
 */
function lately(readings, found) {
  if (readings.length < 2) return;
  const first = readings[0], now = readings[readings.length - 1];
  const minutes = Math.max(1, Math.round((now.at - first.at) / 60_000));
  const writing = /^\/v1\/(ingest|lineproto|metricsapi\/write|otlp|logpush|jsonput)/;
  const refused = (/** @type {import('../core/exposition.js').Figures} */ f) =>
    f.sum('varve_http_requests_total', (l) => l.status === '400' && writing.test(l.path)) || 0;
  const n = refused(now) - refused(first);
  if (n > 0) found.push({ level: 'warn',
    text: `${plural(n, 'request')} to write were refused in the last ${plural(minutes,
      'minute')}, as bad data or as of another type than the column's.`,
      todo: 'Set the log level to debug for a while: the log names the reason and the sender.' });
  const waiting = readings.slice(-queueReadings).map((f) => f.sum('varve_merges_waiting') || 0),
    last = waiting[waiting.length - 1];
  if (waiting.length === queueReadings && Math.min(...waiting) > 0 && last > waiting[0])
    found.push({ level: 'warn',
      text: `${plural(last,
        'merge')} of parts wait, ${count(waiting[0])} waited some minutes ago: merges do not keep up.`,
        todo: 'Send larger batches, or give the server more processors.' });
}
