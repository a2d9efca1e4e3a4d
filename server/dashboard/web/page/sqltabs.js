// The tabs of the editor: their texts survive a reload, in this browser.

import { user } from '../core/auth.js';
import * as store from '../core/store.js';

/** @typedef {{id: number, name: string, text: string}} Tab */

/** What all texts together may have, characters. */
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
  // else the text that was shown with this address: while somebody types it is ahead
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
 * adoptTabs gives the tabs as another window of the browser left them: all windows have one list. The text that is
 * shown here stays: changed there it is a tab of its own here, closed there it comes back with the next key.
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
 * keepTabs writes them; false when there is too much.
 * @param {Tab[]} tabs
 * @param {number} active
 * @param {string} [sql] what the address has meanwhile
 */
export function keepTabs(tabs, active, sql) {
  return tabs.reduce((sum, t) => sum + t.text.length, 0) <= most && store.write(name(), { tabs, active, sql });
}
