// Shortcuts, and the dialog of the frame that they opened. A page lists its own while it is shown; none fires while
// somebody types, except those with a modifier.

import { signal, useLayoutEffect, useRef } from '../lib/ui.js';

/**
 * @typedef {{keys: string, text: string, run: (e: KeyboardEvent) => unknown}} Shortcut run gives false to leave the key
 *   to the browser, a promise where something has to be loaded first
 */

/** opened names the dialog of the frame that is open. @type {import('../lib/ui.js').Signal<''|'palette'|'help'>} */
export const opened = signal('');

/** @type {Shortcut[][]} */
const layers = [];
/** waiting: a shortcut is under way. Keys typed meanwhile go to the field that it opens. */
let waiting = false;
let prefix = '';
let prefixAt = 0;

/**
 * push adds shortcuts and gives the function that takes them away. The last added comes first.
 * @param {Shortcut[]} list
 */
export function push(list) {
  layers.push(list);
  return () => {
    const i = layers.indexOf(list);
    if (i >= 0) layers.splice(i, 1);
  };
}

/**
 * useKeys adds the shortcuts of a component for as long as it is shown; they always run the newest functions.
 * @param {Shortcut[]} list
 */
export function useKeys(list) {
  const latest = useRef(list);
  latest.current = list;
  // at once: a key that is pressed before the next frame is heard
  useLayoutEffect(() => push(list.map((s, i) => ({ ...s, run: (e) => latest.current[i].run(e) }))), []);
}

/** all lists the shortcuts that work now. */
export const all = () => [...layers].reverse().flat();

/** typing reports whether keys belong to a text field. @param {EventTarget|null} target */
function typing(target) {
  const path = target instanceof Element ? deepest(target) : null;
  return path instanceof HTMLElement &&
    (path.isContentEditable || path.matches('input:not([type=checkbox]):not([type=radio]), textarea, select'));
}

/** @param {Element} e @returns {Element} */
const deepest = (e) => (e.shadowRoot?.activeElement ? deepest(e.shadowRoot.activeElement) : e);

/** keyName is how a shortcut is written: Mod+k, Shift+Enter, g l. @param {KeyboardEvent} e */
function keyName(e) {
  const key = e.key === ' ' ? 'Space' : e.key;
  const shift = e.shiftKey && key.length > 1 ? 'Shift+' : '';
  return (e.ctrlKey || e.metaKey ? 'Mod+' : '') + (e.altKey ? 'Alt+' : '') + shift +
    ((e.ctrlKey || e.metaKey) && key.length === 1 ? key.toLowerCase() : key);
}

/** start listens for all shortcuts of the page. */
export function start() {
  // the dialog is still being loaded: keys are kept for it, Escape gives it up
  addEventListener('keydown', (e) => {
    if (!opened.value || document.querySelector('dialog:modal')) return;
    if (e.key === 'Escape') opened.value = '';
    else if (keyName(e).length > 1) return;
    e.preventDefault();
    e.stopPropagation();
  }, true);
  addEventListener('keydown', (e) => {
    // an open dialog handles the keys itself
    if (e.defaultPrevented || e.isComposing || document.querySelector('dialog:modal')) return;
    const name = keyName(e);
    const two = prefix && e.timeStamp - prefixAt < 1500 ? `${prefix} ${name}` : '';
    prefix = '';
    if (typing(e.target) ? !name.startsWith('Mod+') : waiting && name.length === 1) return;
    const named = (/** @type {string} */ keys) => all().find((s) => s.keys === keys);
    const hit = (two && named(two)) || named(name);
    if (hit) {
      const done = hit.run(e);
      if (done !== false) e.preventDefault();
      if (done instanceof Promise) {
        waiting = true;
        void done.finally(() => { waiting = false; });
      }
      return;
    }
    if (all().some((s) => s.keys.startsWith(name + ' '))) {
      prefix = name;
      prefixAt = e.timeStamp;
    }
  });
}
