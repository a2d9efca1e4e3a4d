// Toasts show the result of an action. The outcome of a query is shown in its own place; here it is only said to
// readers of the screen.

import { html, signal, useEffect } from '../lib/ui.js';
import { refresh } from '../core/state.js';
import { Icon } from './icons.js';

/**
 * @type {import('../lib/ui.js').Signal<{id: number, text: string, kind: string, action?: {text: string, run: () =>
 *   void}}[]>}
 */
const shown = signal([]);
/** told is what was said last to readers of the screen. */
const told = signal(/** @type {any[]} */ ([]));
let last = '';
let ids = 0;

/**
 * toast shows a sentence for a while; a bad one stays until it is closed.
 * @param {string} text
 * @param {{kind?: 'good'|'bad'|'', action?: {text: string, run: () => void}}} [more]
 */
export function toast(text, more = {}) {
  const id = ++ids;
  shown.value = [...shown.value.slice(-3), { id, text, kind: more.kind ?? '', action: more.action }];
  if (more.kind !== 'bad') setTimeout(() => close(id), more.action ? 10_000 : 4000);
}

/**
 * tell says the outcome of a run to readers of the screen, once at its end; while the page runs by itself, only when
 * the outcome differs from the one before.
 * @param {string} text
 * @param {unknown} [error] why it gave nothing
 */
export function tell(text, error) {
  const now = error ? 'The query failed.' : text;
  if (!refresh.value || now !== last) say(now);
  last = now;
}

/**
 * useTyped says to readers of the screen what is wrong with a text, once nobody types for a while.
 * @param {string} text
 * @param {string} [wrong]
 */
export function useTyped(text, wrong) {
  useEffect(() => {
    if (!wrong) return;
    const timer = setTimeout(() => say(wrong), 1000);
    return () => clearTimeout(timer);
  }, [text, wrong]);
}

/** @param {string} text */
const say = (text) => { told.value = [...told.value.slice(-3), html`<p key=${++ids}>${text}</p>`]; };

/** @param {number} id */
function close(id) {
  shown.value = shown.value.filter((t) => t.id !== id);
}

export const Toasts = () => html`<div class="toasts" role="status">
  ${shown.value.map((t) => html`<div class="toast ${t.kind}" key=${t.id}>
    <span class="grow">${t.text}</span>
    ${t.action && html`<button class="small" onClick=${() => { t.action?.run(); close(t.id); }}>${t.action.text}
      </button>`}
    <button class="quiet small icon" aria-label="Close" onClick=${() => close(t.id)}><${Icon} name="close" /></button>
  </div>`)}
</div>
<div id="told" class="only-read" aria-live="polite">${told.value}</div>`;

/** copy puts text into the clipboard and says so. @param {string} text @param {string} [what] */
export async function copy(text, what = 'Copied') {
  try {
    await navigator.clipboard.writeText(text);
    toast(what);
  } catch {
    const area = document.createElement('textarea'); // without TLS there is no clipboard to write to
    area.value = text;
    area.className = 'only-read';
    document.body.append(area);
    area.select();
    const done = document.execCommand('copy');
    area.remove();
    toast(done ? what : 'The browser did not allow copying', done ? {} : { kind: 'bad' });
  }
}
