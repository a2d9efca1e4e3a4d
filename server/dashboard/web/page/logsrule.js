// A rule of what the Logs page looks at.

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
