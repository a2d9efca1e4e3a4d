// Commands for a terminal that do what a page cannot: filled in with this server's address, database and user. The password is $PASSWORD.

import { root, shellQuote } from './api.js';
import { user } from './auth.js';
import { db } from './state.js';
import { rfc3339 } from './time.js';

/** A piece that is sent at once, as split writes it. */
const piece = '4M';

/** @param {string} path @param {Record<string, string|undefined>} query */
function address(path, query) {
  const url = new URL(path, root);
  for (const [k, v] of Object.entries(query)) if (v) url.searchParams.set(k, v);
  return url.href;
}

/** inDouble writes a text for double quotes of the shell. @param {string} text */
const inDouble = (text) => text.replace(/["$`\\]/g, '\\$&');

/**
 * sendFile sends a file of any size, cut at line ends into one request after the other.
 * @param {string} name of the file
 * @param {{path: string, query: Record<string, string|undefined>, type: string, headers?: Record<string, string>}} to
 * @param {'lines'|'array'|'whole'} form an array of JSON is taken apart first; what is whole goes as it is
 */
export function sendFile(name, to, form) {
  const file = shellQuote(name.startsWith('-') ? './' + name : name), who = user.value;
  const headers = Object.entries({ 'Content-Type': to.type, ...to.headers }).map(([k, v]) => `-H "${inDouble(`${k}: ${v}`)}"`);
  const send = (/** @type {string} */ from) => ['curl -fsS', who && `-u "${inDouble(who)}:$PASSWORD"`, `"${inDouble(address(to.path, { db: db.value, ...to.query }))}"`, ...headers, `--data-binary @${from}`].filter(Boolean).join(' ');
  if (form === 'whole') return `${send('-')} < ${file}\n`;
  const pieces = `${who && 'PASSWORD="$PASSWORD" '}split -C ${piece} --filter=${shellQuote(send('-'))}`;
  return form === 'array' ? `jq -c '.[]' ${file} | ${pieces}\n` : `${pieces} ${file}\n`;
}

/**
 * saveRows saves rows of a table, slice after slice; it asks for the password.
 * @param {{table: string, columns: string[], where: string, since: bigint|null, until: bigint|null}} rows no columns are all, times are ns
 * @param {string} name of the file, whose ending is the format
 */
export function saveRows(rows, name) {
  const flag = (/** @type {string} */ flag, /** @type {string} */ value) => value && `--${flag}${value.startsWith('-') ? '=' : ' '}${shellQuote(value)}`;
  const time = (/** @type {bigint|null} */ ns) => (ns === null ? '' : rfc3339(ns));
  return ['varve export', flag('url', root.href.replace(/\/$/, '')), flag('user', user.value), flag('db', db.value), flag('table', rows.table), flag('since', time(rows.since)), flag('until', time(rows.until)),
    flag('where', rows.where), flag('columns', rows.columns.map((c) => c.replaceAll(',', '\\,')).join(',')), '--newest-first', flag('output', name)].filter(Boolean).join(' ') + '\n';
}
