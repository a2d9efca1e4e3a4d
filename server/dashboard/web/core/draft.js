// A start for a pipeline document, made from samples by fixed rules: the form of the lines, and the reason for the
// choice.

import { guessKind, lines, timeFields } from './samples.js';

/** @typedef {{document: string, why: string}} Draft */

const combined =
  /^\S+ \S+ \S+ \[\d\d\/\w{3}\/\d{4}:\d\d:\d\d:\d\d [+-]\d{4}\] "[^"]*" \d{3} (\d+|-)( "[^"]*" "[^"]*")?$/;
const syslogOld = /^(<\d{1,3}>)?[A-Z][a-z]{2} [ \d]\d \d\d:\d\d:\d\d \S+ [^:[\s]+(\[\d+\])?: /;
const syslogNew = /^<\d{1,3}>1 \S+ \S+ \S+ \S+ \S+ /;
const logfmt = /^(\S+=("(?:[^"\\]|\\.)*"|\S*)\s*){2,}$/;
const levelWord = 'TRACE|DEBUG|INFO|NOTICE|WARN|WARNING|ERROR|FATAL|CRITICAL';
const plainLine = new RegExp(
  `^(\\d{4}-\\d\\d-\\d\\d[T ]\\d\\d:\\d\\d:\\d\\d(?:[.,]\\d{1,9})?` +
  `(?:Z|[+-]\\d\\d:?\\d\\d)?)\\s+\\[?(${levelWord})\\]?\\s+(.*)$`, 'i');

/** most reports whether nearly all lines pass. @param {string[]} list @param {(line: string) => boolean} pass */
const most = (list, pass) => list.length > 0 && list.filter(pass).length >= 0.8 * list.length;

/** yaml quotes a text for a flow of YAML. @param {string} text */
const yaml = (text) => (/^[A-Za-z_][\w.]*$/.test(text) && !/^(true|false|null|yes|no|on|off|y|n)$/i.test(text) ? text
  : `'${text.replaceAll("'", "''")}'`);

/** draft makes a document from samples. @param {string} text @returns {Draft} */
export function draft(text) {
  const list = lines(text).slice(0, 100);
  if (list.length === 0) return { document: '', why: 'There are no samples.' };
  const kind = guessKind(text);
  if (kind !== 'text') return ofJSON(text, kind);
  if (most(list, (l) => combined.test(l))) return ofAccess(list.every((l) => l.endsWith('"')));
  if (most(list, (l) => syslogNew.test(l))) return ofNewSyslog();
  if (most(list, (l) => syslogOld.test(l))) return ofOldSyslog();
  if (most(list, (l) => plainLine.test(l))) return ofPlain(list);
  if (most(list, (l) => logfmt.test(l))) return ofLogfmt(list);
  const csv = delimiter(list);
  if (csv) return ofCSV(list, csv);
  return {
    document:
      'version: 2\nprocessors:\n  - vrl:\n      source: |\n        .received = now()\n        .\ntransform:\n' +
      '  - {field: received, type: "time, ns", index: timestamp}\n' +
      '  - {field: message, type: string, index: fulltext}\n',
    why:
      'No form is known for these lines: each becomes a message with the time of its arrival. Take it apart with ' +
      'dissect or regex.',
  };
}

/** typed are the transforms of fields by their values. @param {[string, any[]][]} columns */
function typed(columns) {
  return columns.map(([name, values]) => {
    const there = values.filter((v) => v !== undefined && v !== null && v !== '');
    if (there.length > 0 && there.every((v) => /^-?\d{1,18}$/.test(String(v))))
      return `  - {field: ${yaml(name)}, type: int64, on_failure: ignore}\n`;
    if (there.length > 0 && there.every((v) => /^-?\d+(\.\d+)?([eE][-+]?\d+)?$/.test(String(v))))
      return `  - {field: ${yaml(name)}, type: float64, on_failure: ignore}\n`;
    if (/^(level|severity|status|method|host|service|app)$/i.test(name))
      return `  - {field: ${yaml(name)}, type: string, index: inverted}\n`;
    if (/^(message|msg|body|log|text)$/i.test(name))
      return `  - {field: ${yaml(name)}, type: string, index: fulltext}\n`;
    return `  - {field: ${yaml(name)}, type: string}\n`;
  }).join('');
}

/**
 * timed is the reading of a time field and its transform.
 * @param {{field: string, index: string}|undefined} time
 * @returns {{processor: string, transform: string, why: string}}
 */
function timed(time) {
  if (!time) return { processor: '  - vrl:\n      source: |\n        .received = now()\n        .\n',
    transform: '  - {field: received, type: "time, ns", index: timestamp}\n',
    why: 'No field is a time: the time of arrival is taken' };
  const [, form, unit] = time.index.split(';');
  if (form === 'epoch') return { processor: `  - epoch: {field: ${yaml(time.field)}, resolution: ${unit}}\n`,
    transform: `  - {field: ${yaml(time.field)}, type: "time, ${unit}", index: timestamp}\n`,
    why: `${time.field} counts ${({ s: 'seconds', ms: 'milliseconds', us: 'microseconds',
      ns: 'nanoseconds' })[unit]} since 1970` };
  return { processor: `  - date: {field: ${yaml(time.field)}, formats: ['%+']}\n`,
    transform: `  - {field: ${yaml(time.field)}, type: "time, ns", index: timestamp}\n`,
    why: `${time.field} is a time as RFC 3339 writes it` };
}

/** @param {string} text @param {'json'|'ndjson'} kind @returns {Draft} */
function ofJSON(text, kind) {
  let list;
  if (kind === 'json') {
    const v = JSON.parse(text);
    list = Array.isArray(v) ? v : [v];
  } else {
    list = lines(text).flatMap((l) => { try { return [JSON.parse(l)]; } catch { return []; } });
  }
  const objects = list.filter((e) => e && typeof e === 'object' && !Array.isArray(e)).slice(0, 100);
  const time = timed(timeFields(objects)[0]);
  return {
    document:
      `version: 2 # fields that no transform names become columns by the kind of their values\nprocessors:\n` +
      `${time.processor}transform:\n${time.transform}`,
    why: `The samples are JSON objects: their fields become columns. ${time.why}.`,
  };
}

/** @param {boolean} withAgent @returns {Draft} */
function ofAccess(withAgent) {
  const tail = withAgent ? ' "%{referer}" "%{agent}"' : '';
  return {
    document:
      `processors:\n  - dissect:\n      field: message\n` +
      `      patterns: ['%{ip} %{?ident} %{user} [%{time}] "%{method} %{path} %{protocol}" %{status} ` +
      `%{size}${tail}']\n  - date: {field: time, formats: ['%d/%b/%Y:%H:%M:%S %z']}\n` +
      'transform:\n  - {field: time, type: "time, ms", index: timestamp}\n' +
      '  - {field: ip, type: string, index: skipping}\n  - {field: method, type: string, index: inverted}\n' +
      '  - {field: status, type: int32, index: inverted}\n  - {field: path, type: string, index: fulltext}\n' +
      `  - {field: size, type: int64, on_failure: ignore} # "-" where nothing was sent\n` +
      `  - {fields: [user, protocol${withAgent ? ', referer, agent' : ''}], type: string}\n`,
    why: `The lines have the ${withAgent ? 'combined' : 'common'} format of access logs of web servers.`,
  };
}

/** @returns {Draft} */
function ofNewSyslog() {
  return {
    document:
      'processors:\n  - vrl:\n      source: |\n        . = parse_syslog!(.message)\n        .received = now()\n' +
      '        .timestamp = .timestamp || .received\n        .\n' +
      'transform:\n  - {field: timestamp, type: "time, us", index: timestamp}\n' +
      '  - {fields: [hostname, appname, severity, facility], type: string, index: inverted}\n' +
      '  - {field: procid, type: string}\n  - {field: message, type: string, index: fulltext}\n',
    why: 'The lines are syslog as RFC 5424 has it: <priority>1, then the time, host and program.',
  };
}

/** @returns {Draft} */
function ofOldSyslog() {
  return {
    document:
      `processors:\n  - regex:\n      fields: ["message, log"]\n` +
      `      patterns: ['^(?:<(?<priority>\\d{1,3})>)?(?<time>\\w{3} [\\d ]\\d [\\d:]{8}) (?<host>\\S+) ` +
      `(?<program>[^:\\[\\s]+)(?:\\[(?<pid>\\d+)\\])?: (?<text>.*)$']\n` +
      '  - vrl:\n      source: |\n        # The lines have no year: the last one in which the time is not ahead.\n' +
      '        now = now()\n        year = to_int!(format_timestamp!(now, format: "%Y"))\n' +
      '        time = parse_timestamp!(to_string(year) + " " + string!(.log_time), format: "%Y %b %e %H:%M:%S")\n' +
      '        if to_unix_timestamp(time) > to_unix_timestamp(now) + 86400 {\n' +
      '            time = parse_timestamp!(to_string(year - 1) + " " + string!(.log_time), ' +
      'format: "%Y %b %e %H:%M:%S")\n        }\n        .time = time\n        .\n' +
      'transform:\n  - {field: time, type: "time, s", index: timestamp}\n' +
      '  - {fields: ["log_host, host", "log_program, program"], type: string, index: inverted}\n' +
      '  - {field: "log_pid, pid", type: int32, on_failure: ignore}\n' +
      '  - {field: "log_text, message", type: string, index: fulltext}\n',
    why: 'The lines are syslog of the older form: Nov 22 03:46:00 host program[pid]: message.',
  };
}

/** @param {string[]} list @returns {Draft} */
function ofPlain(list) {
  const first = /** @type {RegExpExecArray} */ (plainLine.exec(list.find((l) => plainLine.test(l)) ?? ''))[1];
  const fraction = /[.,]\d+/.exec(first)?.[0] ?? '';
  const zone = /(Z|[+-]\d\d:?\d\d)$/.test(first);
  const format = `%Y-%m-%d${first[10]}%H:%M:%S${fraction ? (fraction[0] === ',' ? ',%f' : '%.f') : ''}${zone ? '%#z'
    : ''}`;
  const comma = fraction[0] === ',';
  return {
    document:
      `processors:\n  - regex:\n      fields: ["message, line"]\n` +
      `      patterns: ['^(?<time>\\d{4}-\\d\\d-\\d\\d[T ]\\S+)\\s+\\[?(?<level>[A-Za-z]+)\\]?\\s+(?<text>.*)$']\n` +
      (comma ? '  - gsub: {field: line_time, pattern: ",", replacement: "."}\n' : '') +
      `  - date: {field: line_time, formats: ['${comma ? format.replace(',%f', '%.f') : format}']${zone ? ''
        : ', timezone: UTC'}}\n` +
      'transform:\n  - {field: "line_time, ts", type: "time, ns", index: timestamp}\n' +
      '  - {field: "line_level, level", type: string, index: inverted}\n' +
      '  - {field: "line_text, message", type: string, index: fulltext}\n',
    why: `Each line is a time, a level and a message.${zone ? ''
      : ' The time names no zone: it is read as UTC, change timezone if it is another.'}`,
  };
}

/** @param {string[]} list @returns {Draft} */
function ofLogfmt(list) {
  const found = /** @type {Map<string, any[]>} */ (new Map());
  const rows = list.map((l) => Object.fromEntries([...l.matchAll(/(\S+?)=("(?:[^"\\]|\\.)*"|\S*)/g)].map((m) =>
    [m[1], m[2].replace(/^"|"$/g, '')])));
  for (const r of rows) for (const [k, v] of Object.entries(r)) found.set(k, [...(found.get(k) ?? []), v]);
  const time = timed(timeFields(rows.map((r) =>
    Object.fromEntries(Object.entries(r).map(([k, v]) => [k, /^\d{10,19}$/.test(v) ? Number(v) : v]))))[0]);
  const name = /field: ('[^']*'|[\w.]+)/.exec(time.transform)?.[1] ?? '';
  return {
    document:
      `version: 2\nprocessors:\n  - vrl:\n      source: |\n        . |= parse_logfmt!(.message)\n` +
      `        del(.message)\n        .\n${time.processor}transform:\n` +
      `${time.transform}${typed([...found].filter(([k]) => yaml(k) !== name))}`,
    why: `The lines are pairs of key=value (logfmt). ${time.why}.`,
  };
}

/** delimiter returns the separator of columns in lines with a head; '' for none. @param {string[]} list */
function delimiter(list) {
  return [',', ';', '\t', '|'].find((d) => {
    const n = list[0].split(d).length;
    return n > 1 && list.length > 1 && list.every((l) => l.replace(/"[^"]*"/g, '').split(d).length === n) &&
      list[0].split(d).every((h) => /^\s*"?[A-Za-z_][\w .-]*"?\s*$/.test(h));
  }) ?? '';
}

/** @param {string[]} list @param {string} separator @returns {Draft} */
function ofCSV(list, separator) {
  const clean = (/** @type {string} */ c) => c.trim().replace(/^"|"$/g, '');
  const names = list[0].split(separator).map(clean);
  const cells = list.slice(1)
    .map(
      (l) => (l.match(new RegExp(`("[^"]*"|[^${separator === '|' ? '\\|' : separator}]*)(${separator === '|' ? '\\|'
        : separator}|$)`, 'g')) ??
        []).map((c) => clean(c.replace(new RegExp(`${separator === '|' ? '\\|' : separator}$`), ''))));
  const rows = cells.map((r) =>
    Object.fromEntries(names.map((n, i) => [n, /^\d{10,19}$/.test(r[i] ?? '') ? Number(r[i]) : r[i]])));
  const time = timed(timeFields(rows)[0]);
  const name = /field: ('[^']*'|[\w.]+)/.exec(time.transform)?.[1] ?? '';
  const head = `starts_with(string!(.message), ${JSON.stringify(list[0])})`;
  return {
    document:
      `processors:\n  - vrl:\n      source: |\n        # The head line is no row.\n        if ${head} {\n` +
      `            null\n        } else {\n            .\n        }\n  - csv:\n      field: message\n` +
      `      target_fields: ${yaml(names.join(', '))}\n` +
      `      separator: ${separator === '\t' ? '"\\t"' : yaml(separator)}\n${time.processor}transform:\n` +
      `${time.transform}${typed(names.filter((n) => yaml(n) !== name).map((n) => [n, rows.map((r) => r[n])]))}`,
    why: `The lines are CSV: ${names.length} columns separated by ${{ ',': 'commas', ';': 'semicolons', '\t': 'tabs',
      '|': 'bars' }[separator]}, the first line has their names. ${time.why}.`,
  };
}
