// Views and queries kept by name: on the server where it keeps them and the user may write, else in this browser.

import { signal } from '../lib/ui.js';
import { ApiError, json, request } from './api.js';
import { user } from './auth.js';
import { session } from './state.js';
import * as store from './store.js';

/** @typedef {{id: string, kind: 'view'|'query', name: string, definition: any, local: boolean}} Saved */

/** all are the kept ones; empty until load was called. @type {import('../lib/ui.js').Signal<Saved[]>} */
export const all = signal([]);

const localName = () => `saved.${user.value}`;

/** slug is a name as an address takes it. @param {string} name */
export const slug = (name) => encodeURIComponent(name.trim().toLowerCase().replace(/\s+/g, '-')).replaceAll('%', '~')
  .slice(0, 100);

/** load asks the server for its saved views. */
export async function load() {
  const local = /** @type {Saved[]} */ (store.read(localName(), []));
  /** @type {Saved[]} */
  let remote = [];
  try {
    const answer = await json('v1/dashboards', { background: true });
    remote = answer.dashboards.flatMap((/** @type {any} */ d) => fromServer(d.name, d.definition));
  } catch (e) {
    if (!(e instanceof ApiError)) throw e;
    // A server without them, or a user who may not read: this browser keeps its own.
  }
  all.value = [...remote, ...local];
}

/** @param {string} id @param {string} text @returns {Saved[]} */
function fromServer(id, text) {
  const kind = /^(view|query)\./.exec(id)?.[1];
  if (!kind) return [];
  try {
    const d = JSON.parse(text);
    return [{ id, kind: /** @type {'view'|'query'} */ (kind), name: String(d.name ?? id), definition: d,
      local: false }];
  } catch {
    return [];
  }
}

/**
 * idOf returns the key of a name. Names that differ in case and spaces alone have one key.
 * @param {string} kind
 * @param {string} name
 */
const idOf = (kind, name) => `${kind}.${slug(name)}`;

/** find gives the loaded one that has a name. @param {string} kind @param {string} name */
export const find = (kind, name) => all.value.find((s) => s.id === idOf(kind, name));

/**
 * save keeps something by name and says where.
 * @param {'view'|'query'} kind
 * @param {string} name
 * @param {any} definition
 * @returns {Promise<'server'|'browser'>}
 */
export async function save(kind, name, definition) {
  const id = idOf(kind, name);
  const full = { kind, version: 1, name, ...definition };
  if (session.value.mode !== 'ro') {
    try {
      await request(`v1/dashboards/${id}`,
        { method: 'POST', body: JSON.stringify(full), headers: { 'Content-Type': 'application/json' }, retry: false });
      await load();
      return 'server';
    } catch (e) {
      if (!(e instanceof ApiError) || (e.status !== 404 && e.status !== 403 && e.status !== 405)) throw e;
    }
  }
  const local = /** @type {Saved[]} */ (store.read(localName(), [])).filter((s) => s.id !== id);
  store.write(localName(), [...local, { id, kind, name, definition: full, local: true }]);
  await load();
  return 'browser';
}

/** remove forgets a kept one. @param {Saved} s */
export async function remove(s) {
  if (s.local) store.write(localName(),
    /** @type {Saved[]} */ (store.read(localName(), [])).filter((o) => o.id !== s.id));
  else await request(`v1/dashboards/${s.id}`, { method: 'DELETE', retry: false });
  await load();
}
