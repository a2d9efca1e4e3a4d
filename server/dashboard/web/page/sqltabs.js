// The tabs of the editor: their texts survive a reload, in this browser.

import { user } from '../core/auth.js';
import * as store from '../core/store.js';

/** @typedef {{id: number, name: string, text: string}} Tab */

/** The most that all texts together may have, characters. */
const most = 1_000_000;

const name = () => `sql.tabs.${user.value}`;

/**
 * readTabs gives the tabs of the last visit, with one that has the text of the address.
 * @param {string} wanted
 * @returns {{tabs: Tab[], active: number}}
 */
export function readTabs(wanted) {
  const kept = store.read(name(), /** @type {{tabs: Tab[], active: number, sql?: string}} */ ({ tabs: [], active: 0 }));
  const tabs = Array.isArray(kept.tabs) ? kept.tabs.filter((t) => typeof t?.text === 'string') : [];
  let active = tabs.findIndex((t) => t.id === kept.active);
  // otherwise the kept text belongs to this address: it may be newer, as the address follows the keys with a delay
  if (wanted && (wanted !== kept.sql || active < 0)) {
    active = tabs.findIndex((t) => t.text === wanted);
    if (active < 0) {
      tabs.push(newTab(tabs, wanted));
      active = tabs.length - 1;
    }
  }
  if (tabs.length === 0) tabs.push(newTab(tabs, ''));
  return { tabs, active: tabs[Math.max(0, active)].id };
}

/**
 * adoptTabs returns the tabs as another window of the browser left them: all windows share one list. The text shown
 * here stays: if the other window changed it, it gets a tab of its own; if the other window closed it, it is kept again
 * with the next key.
 * @param {{tabs: Tab[], active: number}} here
 */
export function adoptTabs(here) {
  const kept = store.read(name(), /** @type {{tabs: Tab[]}|null} */ (null))?.tabs;
  const mine = here.tabs.find((t) => t.id === here.active);
  if (!Array.isArray(kept) || !mine) return here;
  const theirs = kept.find((t) => t.id === mine.id);
  if (theirs?.text === mine.text) return { tabs: kept, active: mine.id };
  const own = theirs ? newTab([...kept, mine], mine.text) : mine;
  if (theirs) keepTabs([...kept, own], own.id);
  return { tabs: [...kept, own], active: own.id };
}

/** followTabs reports when another window has written them. @param {() => void} changed */
export const followTabs = (changed) => store.follow(name(), changed);

/**
 * newTab makes one with a number as its name.
 * @param {Tab[]} tabs
 * @param {string} text
 * @param {string} [title]
 * @returns {Tab}
 */
export function newTab(tabs, text, title) {
  const id = Math.max(0, ...tabs.map((t) => t.id)) + 1;
  return { id, name: title ?? `Query ${id}`, text };
}

/**
 * keepTabs keeps the tabs in the browser; false when their texts are too long.
 * @param {Tab[]} tabs
 * @param {number} active
 * @param {string} [sql] the text in the address
 */
export function keepTabs(tabs, active, sql) {
  return tabs.reduce((sum, t) => sum + t.text.length, 0) <= most && store.write(name(), { tabs, active, sql });
}
