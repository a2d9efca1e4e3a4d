// Shortcuts, and the dialog of the frame that they opened. A page lists its own while it is shown; none fires while
// somebody types, except those with a modifier.

import { signal, useLayoutEffect, useRef } from '../lib/ui.js';

/**
 * @typedef {object} Shortcut
 * @property {string} keys
 * @property {string} text
 * @property {(e: KeyboardEvent) => unknown} run gives false to leave the key to the browser
 * @property {boolean} [field] it opens a field: the promise that run may give ends when the field has the focus, and
 *   what is typed until then goes there
 */

/** opened names the dialog of the frame that is open. @type {import('../lib/ui.js').Signal<''|'palette'|'help'>} */
export const opened = signal('');

/** @type {Shortcut[][]} */
const layers = [];
/** coming ends when the field that a shortcut opens has the focus. @type {Promise<unknown>|null} */
let coming = null;
/** kept are the keys typed before their field or dialog was there. @type {string[]} */
let kept = [];
const mostKept = 200;
let handing = false; // kept keys are being given to their field
let pressing = false; // the key pressed now is one of them
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

/** hand gives the kept keys to the field that has the focus, one by one as if they were typed now. */
export async function hand() {
  if (handing) return;
  handing = true;
  while (kept.length > 0) {
    const field = deepest(document.activeElement ?? document.body);
    if (!typing(field)) kept = [];
    else press(field, kept[0]);
    await new Promise((r) => { setTimeout(r); }); // what the key changed is shown before the next one
    kept.shift(); // not before: keys typed meanwhile come behind it
  }
  handing = false;
}

/** press does what a key does in a field. @param {Element} field @param {string} key */
function press(field, key) {
  pressing = true;
  const free = field.dispatchEvent(new KeyboardEvent('keydown',
    { key, bubbles: true, cancelable: true, composed: true }));
  pressing = false;
  if (free && key === 'Backspace') document.execCommand('delete');
  else if (free && key.length === 1) document.execCommand('insertText', false, key);
}

/** expect keeps keys until a field has the focus. @param {Promise<unknown>} field */
function expect(field) {
  coming = field;
  field.catch(() => { kept = []; }).then(() => {
    if (coming !== field) return;
    coming = null;
    void hand();
  });
}

/** keep keeps a key that is for a field or dialog on its way; Escape gives it up. @param {KeyboardEvent} e */
function keep(e) {
  const opening = opened.value !== '' && !document.querySelector('dialog:modal');
  if (pressing || e.isComposing || !(coming || opening || kept.length > 0)) return;
  if (e.key === 'Escape') {
    giveUp();
    if (opening) opened.value = '';
  } else if (e.ctrlKey || e.metaKey || e.altKey || (e.key.length > 1 && e.key !== 'Enter' && e.key !== 'Backspace')) {
    return;
  } else if (kept.length < mostKept) {
    kept.push(e.key);
  }
  e.preventDefault();
  e.stopPropagation();
}

function giveUp() {
  coming = null;
  kept = [];
}

/** start listens for all shortcuts of the page. */
export function start() {
  addEventListener('keydown', keep, true);
  addEventListener('pointerdown', giveUp, true); // somebody goes elsewhere
  addEventListener('keydown', (e) => {
    // an open dialog handles the keys itself
    if (e.defaultPrevented || e.isComposing || document.querySelector('dialog:modal')) return;
    const name = keyName(e);
    const two = prefix && e.timeStamp - prefixAt < 1500 ? `${prefix} ${name}` : '';
    prefix = '';
    if (typing(e.target) && !name.startsWith('Mod+')) return;
    const named = (/** @type {string} */ keys) => all().find((s) => s.keys === keys);
    const hit = (two && named(two)) || named(name);
    if (hit) {
      const done = hit.run(e);
      if (done !== false) e.preventDefault();
      if (hit.field && done instanceof Promise) expect(done);
      return;
    }
    if (all().some((s) => s.keys.startsWith(name + ' '))) {
      prefix = name;
      prefixAt = e.timeStamp;
    }
  });
}
