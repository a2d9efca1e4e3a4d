// Addresses: the path chooses the page, the fragment holds its state. A long fragment is deflated into the key z.

import { batch, signal } from '../lib/ui.js';

/** base is the address of the dashboard itself; the modules lie in a/BUILD/core/ below it. */
export const base = new URL('../../../', import.meta.url);

/** A fragment of more characters is deflated. */
const long = 1800;
/** A fragment that unpacks to more is not read: it is not ours, bytes. */
const mostUnpacked = 1 << 20;

/** page is the first part of the path, '' for the start page. */
export const page = signal('');

/** params are the keys of the fragment. @type {import('../lib/ui.js').Signal<Record<string, string>>} */
export const params = signal({});

/** leaving lets a page with unsaved work ask before it is left; true: go on. @type {{ask: null|(() => boolean)}} */
export const leaving = { ask: null };

/**
 * left[page] is the fragment with which a page was left, to come back to.
 * @type {Record<string, Record<string, string>>}
 */
const left = {};
let writes = 0;

/** start reads the address and follows it from then on. */
export async function start() {
  addEventListener('popstate', () => void read());
  addEventListener('hashchange', () => void read());
  await read();
}

async function read() {
  const path = location.pathname.slice(base.pathname.length).replace(/\/.*$/, '');
  const found = await unpack(location.hash.slice(1));
  batch(() => {
    page.value = path;
    if (format(found) !== format(params.value)) params.value = found;
  });
}

/** format writes keys as a fragment, in order. @param {Record<string, string>} keys */
export function format(keys) {
  return new URLSearchParams(Object.entries(keys)).toString().replaceAll('%3A', ':').replaceAll('%2C', ',')
    .replaceAll('%2F', '/');
}

/** @param {string} fragment @returns {Promise<Record<string, string>>} */
async function unpack(fragment) {
  const keys = Object.fromEntries(new URLSearchParams(fragment));
  if (!keys.z) return keys;
  try {
    const packed = Uint8Array.from(atob(keys.z.replaceAll('-', '+').replaceAll('_', '/')), (c) => c.charCodeAt(0));
    const stream = new Blob([packed]).stream().pipeThrough(new DecompressionStream('deflate-raw'));
    const reader = stream.getReader();
    const decoder = new TextDecoder();
    let text = '';
    for (let step = await reader.read(); !step.done; step = await reader.read()) {
      text += decoder.decode(step.value, { stream: true });
      if (text.length > mostUnpacked) return {};
    }
    return Object.fromEntries(new URLSearchParams(text + decoder.decode()));
  } catch {
    return {};
  }
}

/** @param {string} text */
async function pack(text) {
  const stream = new Blob([text]).stream().pipeThrough(new CompressionStream('deflate-raw'));
  const bytes = new Uint8Array(await new Response(stream).arrayBuffer());
  let binary = '';
  for (const b of bytes) binary += String.fromCharCode(b);
  return 'z=' + btoa(binary).replaceAll('+', '-').replaceAll('/', '_').replaceAll('=', '');
}

/**
 * address gives the address of a page with keys.
 * @param {string} name
 * @param {Record<string, string>} keys
 */
export async function address(name, keys) {
  const text = format(keys);
  const fragment = text.length > long ? await pack(text) : text;
  return new URL(name, base).href + (fragment ? '#' + fragment : '');
}

/**
 * write puts keys into the address: as a step of the history, or in place of the present one.
 * @param {Record<string, string>} keys
 * @param {boolean} step
 * @param {string} [name] the page; the present one when left out
 */
export function write(keys, step, name = page.value) {
  if (name === page.value && format(keys) === format(params.value)) return;
  const text = format(keys);
  const to = new URL(name, base);
  const turn = ++writes;
  history[step ? 'pushState' : 'replaceState'](null, '', to.pathname + (text ? '#' + text : ''));
  if (text.length > long) {
    void pack(text).then((z) => {
      if (turn === writes) history.replaceState(null, '', to.pathname + '#' + z);
    });
  }
  batch(() => {
    page.value = name;
    params.value = keys;
  });
}

/**
 * go opens a page, with the keys given or those with which it was left. The database goes along, and so does the range,
 * unless one of both pages has its own.
 * @param {string} name
 * @param {Record<string, string>} [keys]
 */
export function go(name, keys) {
  if (name !== page.value && leaving.ask && !leaving.ask()) return false;
  leaving.ask = null;
  left[page.value || 'logs'] = params.value;
  if (params.value.own !== '1') common = only(params.value, rangeKeys);
  const kept = left[name] ?? {};
  const range = kept.own === '1' ? only(kept, ['own', ...rangeKeys]) : common;
  write({ ...only(params.value, ['db']), ...range, ...(keys ?? without(kept, ['db', 'own', ...rangeKeys])) }, true,
    name);
  return true;
}

const rangeKeys = ['from', 'to'];

/** common is the range of the tab, while a page is shown that has its own. @type {Record<string, string>} */
let common = {};

/** unlink lets the page shown have a range of its own, or follow that of the tab again. */
export function unlink() {
  if (params.value.own === '1') return write({ ...without(params.value, ['own', ...rangeKeys]), ...common }, true);
  common = only(params.value, rangeKeys);
  write({ ...params.value, own: '1' }, true);
}

/** @param {Record<string, string>} keys @param {string[]} names */
const only = (keys, names) => Object.fromEntries(Object.entries(keys).filter(([k]) => names.includes(k)));

/** @param {Record<string, string>} keys @param {string[]} names */
const without = (keys, names) => Object.fromEntries(Object.entries(keys).filter(([k]) => !names.includes(k)));
