// Components that are loaded when they are first shown, with their sheets of styles, so that a first visit brings what
// it needs only.

import { html, useEffect, useState } from '../lib/ui.js';
import { bring } from '../core/api.js';

/** @type {Map<string, Promise<void>>} */
const sheets = new Map();

/**
 * sheet adds a sheet of styles and waits for it, so that nothing is shown unstyled. The sheets of pages come last, and
 * win.
 * @param {string} name
 */
export function sheet(name) {
  const there = sheets.get(name);
  if (there) return there;
  const link = document.createElement('link');
  link.rel = 'stylesheet';
  link.href = new URL(`../${name}`, import.meta.url).href;
  const loaded = new Promise((/** @type {(v: void) => void} */ resolve, reject) => {
    link.onload = () => resolve();
    link.onerror = () => {
      link.remove();
      sheets.delete(name);
      reject(new Error(name));
    };
  });
  sheets.set(name, loaded);
  const pages = name.startsWith('page/') ? null : document.querySelector('link[rel=stylesheet][href*="/page/"]');
  if (pages) pages.before(link);
  else document.head.append(link);
  return loaded;
}

/** over is the sheet of all that opens over a page or beside it. */
export const over = () => sheet('over.css');

/**
 * lazy makes a component of one in a module that is not loaded yet. Its function load brings the module before it is
 * shown: then it is there at once.
 * @template T
 * @param {() => Promise<T>} load
 * @param {keyof T} name
 * @param {string} [styles] a sheet of its own
 * @param {boolean} [said] a word stands in its place until then
 */
export function lazy(load, name, styles, said) {
  /** @type {any} */
  let is = null;
  const whole = () => bring(() => Promise.all([load(), over(), styles && sheet(styles)]))
    .then(([m]) => { is = m[name]; });
  const Lazy = (/** @type {any} */ props) => {
    const [, setLoaded] = useState(is !== null);
    const [failed, setFailed] = useState(false);
    useEffect(() => { if (!is) whole().then(() => setLoaded(true), () => setFailed(true)); }, []);
    if (failed) return html`<p
      class="state">A part of this page is gone: a new version is installed. <button
        onClick=${() => location.reload()}>Reload</button></p>`;
    return is ? html`<${is} ...${props} />`
      : said && html`<p class="state soft wait" role="status">Loading …</p>`;
  };
  return Object.assign(Lazy, { load: whole });
}
