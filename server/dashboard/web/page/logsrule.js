// A rule, and a panel of a board, of what the Logs page looks at.

import * as sqltext from '../core/sqltext.js';
import * as logsql from './logsquery.js';

/**
 * ruleOf is the statement of a rule that fires while there are rows that pass the conditions of a scope.
 * @param {logsql.Scope} s
 * @param {string} db of its table
 */
export function ruleOf(s, db) {
  const time = logsql.time(s);
  const rows = sqltext.where(`${time} >= :to - INTERVAL '5 minutes'`, `${time} < :to`, ...s.filters);
  return `SELECT count(*) AS value FROM ${sqltext.table(s.table, db)}${rows} HAVING count(*) > 0`;
}

/** The most lines of a panel. */
const mostLines = 200;

/**
 * panelOf is the statement of a panel that shows the newest rows of a scope in the range of its board.
 * @param {logsql.Scope} s
 * @param {string[]} [shown] columns that are shown
 */
export function panelOf(s, shown = []) {
  const { time, level, message } = s.roles;
  const names = [...new Set([time?.name, level, ...shown, message].filter((n) => s.columns.some((c) => c.name === n)))];
  const list = message ? names.map((n) => sqltext.name(/** @type {string} */ (n))).join(', ') : '*';
  const rows = sqltext.where(`$__timeFilter(${logsql.time(s)})`, ...s.filters);
  return `SELECT ${list} FROM ${logsql.table(s)}${rows} ORDER BY ${logsql.time(s)} DESC LIMIT ${mostLines}`;
}
