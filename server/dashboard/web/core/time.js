// Instants are BigInt nanoseconds since the epoch everywhere; Date serves for calendar fields only. A zone is 'local',
// 'UTC' or an IANA name: it changes how times are read and shown, never which instant is meant.

export const second = 1_000_000_000n;
export const minute = 60n * second;
export const hour = 60n * minute;
export const day = 24n * hour;

const units = { ns: 1n, us: 1000n, 'µs': 1000n, ms: 1_000_000n, s: second, m: minute, h: hour, d: day, w: 7n * day };

/** nowNanos is this browser's clock. */
export const nowNanos = () => BigInt(Date.now()) * 1_000_000n;

/** zoneName resolves 'local'. @param {string} zone */
export const zoneName = (zone) => (zone === 'local' ? Intl.DateTimeFormat().resolvedOptions().timeZone : zone);

/** isZone reports whether the browser knows a zone. @param {string} zone */
export function isZone(zone) {
  try {
    new Intl.DateTimeFormat('en', { timeZone: zoneName(zone) });
    return zone !== '';
  } catch {
    return false;
  }
}

/** @type {Map<string, Intl.DateTimeFormat>} */
const formats = new Map();
/** @type {Map<string, number>} */
const offsets = new Map();

/** @param {string} zone */
function fieldsFormat(zone) {
  let f = formats.get(zone);
  if (!f) {
    f = new Intl.DateTimeFormat('en-US-u-ca-iso8601', {
      timeZone: zoneName(zone), hourCycle: 'h23', year: 'numeric', month: 'numeric', day: 'numeric',
      hour: 'numeric', minute: 'numeric', second: 'numeric', era: 'short',
    });
    formats.set(zone, f);
  }
  return f;
}

/**
 * offsetMS returns how far the zone's clock is ahead of UTC at an instant, ms. Clocks change at whole quarters of an
 * hour, so that one answer holds for a quarter.
 * @param {number} ms
 * @param {string} zone
 */
export function offsetMS(ms, zone) {
  if (zone === 'UTC') return 0;
  const quarter = Math.floor(ms / 900_000);
  const key = zone + quarter;
  let offset = offsets.get(key);
  if (offset === undefined) {
    const at = quarter * 900_000;
    /** @type {Record<string, string>} */
    const p = {};
    for (const { type, value } of fieldsFormat(zone).formatToParts(at)) p[type] = value;
    const year = p.era === 'BC' || p.era === 'B' ? 1 - Number(p.year) : Number(p.year);
    const local = new Date(0);
    local.setUTCFullYear(year, Number(p.month) - 1, Number(p.day));
    local.setUTCHours(Number(p.hour), Number(p.minute), Number(p.second));
    offset = local.getTime() - at;
    if (offsets.size > 20_000) offsets.clear();
    offsets.set(key, offset);
  }
  return offset;
}

/** @param {bigint} ns */
const floorMS = (ns) => Number((ns - (((ns % 1_000_000n) + 1_000_000n) % 1_000_000n)) / 1_000_000n);

/**
 * localFields is a Date whose UTC fields are the zone's calendar at the instant.
 * @param {bigint} ns
 * @param {string} zone
 */
export function localFields(ns, zone) {
  const ms = floorMS(ns);
  return new Date(ms + offsetMS(ms, zone));
}

/**
 * fromFields is the instant at which the zone's clock shows the fields. Of two such instants the earlier counts; a time
 * that a clock change leaves out is moved on by it.
 * @param {number} fieldsMS fields as if they were UTC
 * @param {string} zone
 */
export function fromFields(fieldsMS, zone) {
  const early = fieldsMS - offsetMS(fieldsMS - 86_400_000, zone);
  const late = fieldsMS - offsetMS(fieldsMS + 86_400_000, zone);
  for (const ms of early < late ? [early, late] : [late, early]) {
    if (ms + offsetMS(ms, zone) === fieldsMS) return BigInt(ms) * 1_000_000n;
  }
  return BigInt(early > late ? early : late) * 1_000_000n;
}

/**
 * showTime writes an instant in ISO order with the fraction digits of its column.
 * @param {bigint} ns
 * @param {number} digits
 * @param {string} zone
 */
export function showTime(ns, digits, zone) {
  const d = localFields(ns, zone);
  if (Number.isNaN(d.getTime())) return String(ns) + ' ns';
  const iso = d.toISOString();
  const head = iso.slice(0, iso.indexOf('T')) + ' ' + iso.slice(iso.indexOf('T') + 1, iso.indexOf('T') + 9);
  if (digits === 0) return head;
  const fraction = ((ns % second) + second) % second;
  return head + '.' + String(fraction).padStart(9, '0').slice(0, digits);
}

/**
 * showShort leaves out the date when it is today's, and zeros at the end.
 * @param {bigint} ns
 * @param {string} zone
 * @param {bigint} [now]
 */
export function showShort(ns, zone, now = nowNanos()) {
  const text = showTime(ns, 3, zone).replace(/\.000$/, '');
  return text.slice(0, 10) === showTime(now, 0, zone).slice(0, 10) ? text.slice(11) : text;
}

/** zoneLabel returns the zone's name beside times: UTC+05:45. @param {string} zone @param {bigint} [at] */
export function zoneLabel(zone, at = nowNanos()) {
  if (zone === 'UTC') return 'UTC';
  const minutes = Math.round(offsetMS(floorMS(at), zone) / 60_000);
  const size = Math.abs(minutes);
  if (minutes === 0) return 'UTC';
  return `UTC${minutes < 0 ? '-'
    : '+'}${String(Math.floor(size / 60)).padStart(2, '0')}:${String(size % 60).padStart(2, '0')}`;
}

/** ago says how long before now an instant was. @param {bigint} ns @param {bigint} [now] */
export function ago(ns, now = nowNanos()) {
  const away = now - ns;
  const text = span(away < 0n ? -away : away);
  return away < 0n ? `in ${text}` : `${text} ago`;
}

/** span is a length of time by its two largest units. @param {bigint} ns */
export function span(ns) {
  if (ns < second) return ns % 1_000_000n === 0n || ns > 1_000_000n ? `${ns / 1_000_000n} ms` : `${ns} ns`;
  const parts = [];
  for (const [name, size] of /** @type {[string, bigint][]} */ ([['d', day], ['h', hour], ['m', minute],
    ['s', second]])) {
    if (ns >= size) parts.push(`${ns / size}${name}`);
    ns %= size;
  }
  return parts.slice(0, 2).join(' ');
}

/** rfc3339 writes an instant for an address. @param {bigint} ns */
export function rfc3339(ns) {
  const text = showTime(ns, 9, 'UTC').replace(' ', 'T').replace(/0+$/, '').replace(/\.$/, '');
  return text + 'Z';
}

/**
 * parseTime reads a time that somebody writes or pastes; null when it is no time. relative is set where the instant
 * moves with now.
 * @param {string} input
 * @param {string} zone
 * @param {bigint} now
 * @returns {{ns: bigint, relative: boolean}|null}
 */
export function parseTime(input, zone, now) {
  const text = input.trim();
  if (text === '') return null;
  return parseRelative(text, zone, now) ?? parseEpoch(text) ?? parseCalendar(text, zone, now);
}

/** @param {string} text @param {string} zone @param {bigint} now */
function parseRelative(text, zone, now) {
  const m = /^(?:(now|today|yesterday)\s*)?((?:[-+]\s*\d+(?:\.\d+)?\s*(?:ns|us|µs|ms|s|m|h|d|w)\s*)*)$/i.exec(text);
  if (!m || (!m[1] && !m[2])) return null;
  let ns = now;
  if (m[1] && !/^now$/i.test(m[1])) ns = startOfDay(now, zone, /^yesterday$/i.test(m[1]) ? -1 : 0);
  for (const [, sign, amount, unit] of m[2].matchAll(/([-+])\s*(\d+(?:\.\d+)?)\s*(ns|us|µs|ms|s|m|h|d|w)/gi)) {
    const length = BigInt(Math.round(Number(amount) * 1000)) * /** @type {any} */ (units)[unit.toLowerCase()] / 1000n;
    ns += sign === '-' ? -length : length;
  }
  return { ns, relative: true };
}

/**
 * startOfDay is the midnight before an instant, some days on.
 * @param {bigint} ns
 * @param {string} zone
 * @param {number} [days]
 */
export function startOfDay(ns, zone, days = 0) {
  const d = localFields(ns, zone);
  return fromFields(Date.UTC(d.getUTCFullYear(), d.getUTCMonth(), d.getUTCDate() + days), zone);
}

/** parseEpoch tells seconds, ms, us and ns apart by their size. @param {string} text */
function parseEpoch(text) {
  const m = /^(\d{9,19})(?:\.(\d{1,9}))?$/.exec(text);
  if (!m) return null;
  const n = BigInt(m[1]);
  if (m[2]) return { ns: n * second + BigInt(m[2].padEnd(9, '0')), relative: false };
  const unit = m[1].length <= 11 ? second : m[1].length <= 14 ? 1_000_000n : m[1].length <= 17 ? 1000n : 1n;
  return { ns: n * unit, relative: false };
}

const months = 'jan feb mar apr may jun jul aug sep oct nov dec'.split(' ');

/**
 * parseCalendar finds a date and a time, also with a log line around them.
 * @param {string} text
 * @param {string} zone
 * @param {bigint} now
 */
function parseCalendar(text, zone, now) {
  const iso =
    /(\d{4})[-/](\d{1,2})[-/](\d{1,2})(?:[T ,]+(\d{1,2}):(\d{2})(?::(\d{2})(?:[.,](\d{1,9}))?)?)?\s*(Z|UTC|GMT|[-+]\d{2}:?\d{2})?/i.exec(text);
  if (iso) return fields(iso.slice(1, 4).map(Number), iso.slice(4), zone);
  const clf =
    /(\d{1,2})[/ -]([A-Z][a-z]{2})[/ -](\d{4})[: ](\d{2}):(\d{2}):(\d{2})(?:[.,](\d{1,9}))?\s*(Z|UTC|GMT|[-+]\d{4})?/.exec(text);
  if (clf) return fields([Number(clf[3]), months.indexOf(clf[2].toLowerCase()) + 1, Number(clf[1])], clf.slice(4),
    zone);
  const near = localFields(now, zone);
  const syslog = /\b([A-Z][a-z]{2})\s+(\d{1,2})\s+(\d{2}):(\d{2}):(\d{2})(?:[.,](\d{1,9}))?/.exec(text);
  if (syslog && months.includes(syslog[1].toLowerCase())) {
    const of = (/** @type {number} */ year) =>
      fields([year, months.indexOf(syslog[1].toLowerCase()) + 1, Number(syslog[2])], syslog.slice(3), zone);
    const found = of(near.getUTCFullYear()); // the text has no year: a time that would lie ahead is one of last year
    return found && found.ns > now + day ? of(near.getUTCFullYear() - 1) : found;
  }
  const time =
    /^(?:(today|yesterday)\s+)?(\d{1,2}):(\d{2})(?::(\d{2})(?:[.,](\d{1,9}))?)?\s*(Z|UTC|GMT|[-+]\d{2}:?\d{2})?$/i.exec(
      text);
  if (!time) return null;
  if (/^yesterday$/i.test(time[1] ?? '')) near.setUTCDate(near.getUTCDate() - 1);
  return fields([near.getUTCFullYear(), near.getUTCMonth() + 1, near.getUTCDate()], time.slice(2), zone);
}

/**
 * fields makes an instant of a date and [hour, minute, second, fraction, offset]; null when no calendar has it.
 * @param {number[]} date
 * @param {(string|undefined)[]} time
 * @param {string} zone
 */
function fields([year, month, dayOfMonth], [h = '0', m = '0', s = '0', fraction = '', offset], zone) {
  if (month < 1 || month > 12 || dayOfMonth < 1 || dayOfMonth > 31 || Number(h) > 23 || Number(m) > 59 ||
    Number(s) > 60) return null;
  const ms = Date.UTC(year, month - 1, dayOfMonth, Number(h), Number(m), Number(s));
  if (new Date(ms).getUTCMonth() !== month - 1 && Number(h) < 23) return null;
  const rest = BigInt(fraction.padEnd(9, '0') || '0');
  if (!offset) return { ns: fromFields(ms, zone) + rest, relative: false };
  const p = /([-+])(\d{2}):?(\d{2})/.exec(offset);
  const ahead = p ? (p[1] === '-' ? -1 : 1) * (Number(p[2]) * 60 + Number(p[3])) * 60_000 : 0;
  return { ns: BigInt(ms - ahead) * 1_000_000n + rest, relative: false };
}

/**
 * resolve gives the instants of a range as it is now; an end that is '' or 'all' is open.
 * @param {{from: string, to: string}} range
 * @param {string} zone
 * @param {bigint} [now]
 */
export function resolve(range, zone, now = nowNanos()) {
  const end = (/** @type {string} */ text) =>
    (text === 'all' || text === '' ? null : (parseTime(text, zone, now)?.ns ?? null));
  return { from: end(range.from), to: end(range.to) };
}

/** steps of histograms, ns. */
const steps = [
  ...[1n, 2n, 5n, 10n, 20n, 50n, 100n, 200n, 500n].map((n) => n * 1_000_000n),
  ...[1n, 2n, 5n, 10n, 15n, 30n].map((n) => n * second), ...[1n, 2n, 5n, 10n, 15n, 30n].map((n) => n * minute),
  ...[1n, 2n, 3n, 6n, 12n].map((n) => n * hour), day, 7n * day, 30n * day,
];

/**
 * stepFor is the smallest step that cuts a range into at most so many pieces.
 * @param {bigint} length
 * @param {number} [most]
 */
export function stepFor(length, most = 120) {
  for (const step of steps) if (length / step < BigInt(most)) return step;
  const years = 365n * day;
  return ((length / BigInt(most) / years) + 1n) * years;
}

/** interval writes a length for SQL: 30 seconds. @param {bigint} ns */
export function interval(ns) {
  for (const [name, size] of /** @type {[string, bigint][]} */ ([['day', day], ['hour', hour], ['minute', minute],
    ['second', second], ['millisecond', 1_000_000n]])) {
    if (ns % size === 0n) return `${ns / size} ${name}${ns === size ? '' : 's'}`;
  }
  return `${ns} nanoseconds`;
}
