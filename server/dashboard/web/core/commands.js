// Commands for a terminal that do what a page cannot: filled in with this server's address, database and user. The password is $PASSWORD.

import { root, shellQuote } from './api.js';
import { user } from './auth.js';
import { db } from './state.js';

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

/** saveAnswer saves all that a statement gives; the server writes it as it comes. @param {string} sql @param {'csvWithNames'|'json'} format @param {string} name of the file */
export const saveAnswer = (sql, format, name) => ['curl -fsS', user.value && `-u ${shellQuote(user.value)}:"$PASSWORD"`, shellQuote(address('v1/sql', { db: db.value, format })),
  '--data-urlencode', shellQuote('sql=' + sql), '-o', shellQuote(name)].filter(Boolean).join(' ') + '\n';
