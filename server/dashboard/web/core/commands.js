// Commands for a terminal, for work that a page cannot do: filled in with this server's address, database and user.

import { root, shellQuote } from './api.js';
import { user } from './auth.js';
import { db } from './state.js';
import { rfc3339 } from './time.js';

/** flag is one with its value, unless that is empty. @param {string} name @param {string|undefined} value */
const flag = (name, value) => value && `--${name}${value.startsWith('-') ? '=' : ' '}${shellQuote(value)}`;

/** connection are the flags that name this server and its user. */
const connection = () => [flag('url', root.href.replace(/\/$/, '')), flag('user', user.value), flag('db', db.value)];

/**
 * sendFile sends a file of any size; it asks for the password.
 * @param {string} name of the file
 * @param {string} format as the command calls it
 * @param {Partial<import('./send.js').Target>} to nothing of it where the entries say where they go
 */
export function sendFile(name, format, to) {
  return ['varve ingest', ...connection(), flag('table', to.table),
    to.pipeline !== 'service_identity' && flag('pipeline', to.pipeline), flag('time', to.index), flag('format', format),
    to.depth && flag('max-nested-levels', String(to.depth)), to.skip && '--skip-error',
      shellQuote(name.startsWith('-') ? './' + name : name)].filter(Boolean).join(' ') + '\n';
}

/**
 * saveRows saves rows of a table, slice after slice; it asks for the password.
 * @param {{table: string, columns: string[], where: string, since: bigint|null, until: bigint|null}} rows no columns
 *   are all, times are ns
 * @param {string} name of the file, whose ending is the format
 */
export function saveRows(rows, name) {
  const time = (/** @type {bigint|null} */ ns) => (ns === null ? '' : rfc3339(ns));
  return ['varve export', ...connection(), flag('table', rows.table), flag('since', time(rows.since)),
    flag('until', time(rows.until)),
    flag('where', rows.where), flag('columns', rows.columns.map((c) => c.replaceAll(',', '\\,')).join(',')),
      '--newest-first', flag('output', name)].filter(Boolean).join(' ') + '\n';
}
