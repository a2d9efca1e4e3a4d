// Levels of log lines: the meaning of their many spellings and numbers, and their looks. A letter stands beside each
// colour.

/** @type {readonly string[]} from harmless to grave */
export const levels = ['trace', 'debug', 'info', 'notice', 'warn', 'error', 'critical'];

export const letters = /** @type {Record<string, string>} */ ({ trace: 'T', debug: 'D', info: 'I', notice: 'N',
  warn: 'W', error: 'E', critical: 'C', none: '·' });

/** @type {Record<string, string>} */
const words = {
  trace: 'trace', trc: 'trace', finest: 'trace', finer: 'trace', verbose: 'trace', t: 'trace', debug: 'debug',
    dbg: 'debug', fine: 'debug', d: 'debug',
  info: 'info', information: 'info', informational: 'info', inf: 'info', i: 'info', log: 'info', notice: 'notice',
    n: 'notice', success: 'notice',
  warn: 'warn', warning: 'warn', wrn: 'warn', w: 'warn', error: 'error', err: 'error', e: 'error', severe: 'error',
    failure: 'error',
  critical: 'critical', crit: 'critical', fatal: 'critical', panic: 'critical', alert: 'critical',
    emergency: 'critical', emerg: 'critical', c: 'critical', f: 'critical',
};

/** syslog numbers its severities from 0, the gravest. */
const syslog = ['critical', 'critical', 'critical', 'error', 'warn', 'notice', 'info', 'debug'];

/**
 * levelOf returns the level that a value of a level column names; 'none' when it names no level.
 * @param {unknown} v
 * @param {string} [column] in a column of this name numbers are the levels of telemetry, 1 to 24
 */
export function levelOf(v, column = '') {
  if (v === null || v === undefined || v === '') return 'none';
  const text = String(v).toLowerCase();
  const word = words[text] ?? words[text.replace(/\d+$/, '')];
  if (word) return word;
  if (!/^\d{1,2}$/.test(text)) return 'none';
  const n = Number(text);
  if (/severity_number/.test(column) || n > 7) {
    if (n < 1 || n > 24) return 'none';
    return ['trace', 'debug', 'info', 'warn', 'error', 'critical'][Math.floor((n - 1) / 4)];
  }
  return syslog[n];
}

const guess = /\b(trace|debug|info|notice|warn(?:ing)?|err(?:or)?|critical|crit|fatal|panic|emerg)\b/i;

/**
 * guessLevel finds a word that means a level at the beginning of a message; for colour only.
 * @param {string} message
 */
export function guessLevel(message) {
  const m = guess.exec(message.slice(0, 120));
  return m ? levelOf(m[1]) : 'none';
}
