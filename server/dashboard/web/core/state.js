// The state of the frame and of pages. What belongs into a link lies in the address, each key with its type and default
// in one table per page; preferences lie in the browser.

import { computed, effect, signal } from '../lib/ui.js';
import * as router from './router.js';
import * as store from './store.js';
import { isZone, nowNanos, resolve } from './time.js';

/**
 * Key is one key of the address. A list is written with commas.
 * @typedef {{type: 'text'|'number'|'switch'|'list', default: any, of?: readonly string[]}} Key
 */

/** shared are the keys that all pages have. @type {Record<string, Key>} */
export const shared = {
  db: { type: 'text', default: 'public' },
  from: { type: 'text', default: 'now-1h' },
  to: { type: 'text', default: 'now' },
  own: { type: 'switch', default: false },
};

/** notes lists the values of the address that could not be used. @type {import('../lib/ui.js').Signal<string[]>} */
export const notes = signal([]);

/** @param {string} name @param {Key} key @param {string|undefined} text @param {string[]} bad */
function readKey(name, key, text, bad) {
  if (text === undefined) return key.default;
  if (key.type === 'text') {
    if (!key.of || key.of.includes(text)) return text;
  } else if (key.type === 'number') {
    if (/^-?\d+(\.\d+)?$/.test(text)) return Number(text);
  } else if (key.type === 'switch') {
    if (text === '1' || text === '0') return text === '1';
  } else if (key.type === 'list') {
    return text === '' ? [] : text.split(',').map(decodeURIComponentSafe);
  }
  bad.push(`${name}=${text} in the address is not understood; the default is used`);
  return key.default;
}

/** @param {string} text */
function decodeURIComponentSafe(text) {
  try {
    return decodeURIComponent(text);
  } catch {
    return text;
  }
}

/** @param {Key} key @param {any} value */
function writeKey(key, value) {
  if (key.type === 'switch') return value ? '1' : '0';
  if (key.type === 'list')
    return value.map((/** @type {string} */ v) => v.replace(/[%,]/g, encodeURIComponent)).join(',');
  return String(value);
}

/** PageState is the state of one page: its own keys and the shared ones. */
export class PageState {
  /** @param {Record<string, Key>} keys */
  constructor(keys) {
    this.keys = { ...shared, ...keys };
    /**
     * values are all keys as they are in the address now.
     * @type {import('../lib/ui.js').ReadonlySignal<Record<string, any>>}
     */
    this.values = computed(() => {
      /** @type {string[]} */
      const bad = [];
      const found = Object.fromEntries(Object.entries(this.keys)
        .map(([name, key]) => [name, readKey(name, key, router.params.value[name], bad)]));
      if (bad.length > 0) queueMicrotask(() => { notes.value = bad; });
      return found;
    });
  }

  /** @param {string} name */
  get(name) {
    return this.values.value[name];
  }

  /**
   * set changes keys; a step can be gone back. Keys that nobody here knows stay in the address.
   * @param {Record<string, any>} patch
   * @param {boolean} [step]
   */
  set(patch, step = true) {
    const next = { ...router.params.value };
    for (const [name, value] of Object.entries(patch)) {
      const text = writeKey(this.keys[name], value);
      if (text === writeKey(this.keys[name], this.keys[name].default)) delete next[name];
      else next[name] = text;
    }
    router.write(next, step);
  }
}

/** frame is the state that all pages share. */
export const frame = new PageState({});
export const db = computed(() => /** @type {string} */ (frame.get('db')));
/** range is the one time range of the tab, as text. */
export const range = computed(() =>
  ({ from: /** @type {string} */ (frame.get('from')), to: /** @type {string} */ (frame.get('to')) }));

/** own reports whether the page has a range of its own. */
export const own = computed(() => /** @type {boolean} */ (frame.get('own')));

/** zone is the time zone of everything shown and read. */
export const zone = signal(keptZone());
/** theme is 'system', 'light' or 'dark'. */
export const theme = signal(keptTheme());
/**
 * session is the user and the user's rights, as the server gives them.
 * @type {import('../lib/ui.js').Signal<{user: string, mode: 'rw'|'ro'|'wo', version?: string, features?: string[]}>}
 */
export const session = signal({ user: '', mode: 'rw' });
/** closed is the reason why data cannot be changed; '' when it can. */
export const closed = computed(() => (session.value.mode === 'ro' ? 'Your user is read-only.' : ''));
/** refresh is how often the page runs again by itself, s; 0: never. */
export const refresh = signal(0);

function keptZone() {
  const kept = store.read('zone', 'local');
  return typeof kept === 'string' && isZone(kept) ? kept : 'local';
}

function keptTheme() {
  const kept = store.read('theme', 'system');
  return ['light', 'dark'].includes(kept) ? kept : 'system';
}

/**
 * keep keeps a preference in the browser, and follows other tabs of it: what they wrote is not written again.
 * @param {string} name
 * @param {import('../lib/ui.js').Signal<string>} preference
 * @param {() => string} kept
 */
function keep(name, preference, kept) {
  effect(() => { if (store.read(name, '') !== preference.value) store.write(name, preference.value); });
  store.follow(name, () => { preference.value = kept(); });
}

keep('zone', zone, keptZone);
keep('theme', theme, keptTheme);
/** dark is the theme in force. */
const systemDark = signal(matchMedia('(prefers-color-scheme: dark)').matches);
matchMedia('(prefers-color-scheme: dark)').addEventListener('change', (e) => { systemDark.value = e.matches; });
/** forced: the system gives the colours, and drawings have to fit them. */
const forced = signal(matchMedia('(forced-colors: active)').matches);
matchMedia('(forced-colors: active)').addEventListener('change', (e) => { forced.value = e.matches; });
export const dark = computed(() =>
  (forced.value ? systemDark.value : theme.value === 'dark' || (theme.value === 'system' && systemDark.value)));
effect(() => { document.documentElement.dataset.theme = dark.value ? 'dark' : 'light'; });

/** instants resolves the shared range once: all panels of a run see the same. */
export const instants = () => resolve(range.value, zone.value, nowNanos());

/** setRange changes the shared range. @param {string} from @param {string} to @param {boolean} [step] */
export const setRange = (from, to, step = true) => frame.set({ from, to }, step);
