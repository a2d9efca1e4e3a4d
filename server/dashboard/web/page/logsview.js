// How the rows of the Logs page look, and the selected ones as text.

import { html } from '../lib/ui.js';
import { plural } from '../core/format.js';
import { zone } from '../core/state.js';
import { copy } from '../ui/toast.js';

/** @type {[string, import('../core/rowtext.js').TextOptions['format']][]} */
const forms = [['text', 'text'], ['JSON', 'ndjson'], ['CSV', 'csv'], ['Markdown', 'markdown']];

/**
 * copyRows copies the selected rows.
 * @param {import('../core/rows.js').Rows|null} rows
 * @param {import('../ui/grid.js').Grid|null} grid
 * @param {import('../core/rowtext.js').TextOptions['format']} [format]
 */
export async function copyRows(rows, grid, format = 'ndjson') {
  const [from, to] = grid?.selection() ?? [0, 0];
  if (rows && to > from) await copy(await rows.text({ format, from, to, zone: zone.value }),
    `${plural(to - from, 'row')} copied`);
}

/**
 * @param {{state: import('../core/state.js').PageState, rows: import('../core/rows.js').Rows|null, grid:
 *   import('../ui/grid.js').Grid|null, onDefaults: () => void, close: () => void}} props
 */
export function ViewMenu({ state, rows, grid, onDefaults, close }) {
  const choice = (/** @type {string} */ key, /** @type {string} */ text, /** @type {string} */ shortcut) => html`<button
    role="menuitemcheckbox" aria-checked=${state.get(key) ? 'true' : 'false'}
      onClick=${() => { state.set({ [key]: !state.get(key) }, false); close(); }}>${text}
        <span class="end">${state.get(key) ? 'on' : 'off'} · ${shortcut}</span></button>`;
  const [from, to] = grid?.selection() ?? [0, 0];
  return html`${choice('wrap', 'Wrap long lines', 'w')}${choice('json', 'Rows as JSON', 'o')}
    ${choice('fold', 'Fold equal rows', 'd')}
    <button role="menuitem" onClick=${() => { close(); onDefaults(); }}>Columns as at first</button><hr />
    <span class="soft small">${to > from ? plural(to - from, 'selected row') : 'Select rows by a click and Shift'}
      </span>
    ${forms.map(([title, format]) => html`<button key=${format} role="menuitem" disabled=${to === from}
      onClick=${() => { close(); void copyRows(rows, grid, format); }}>Copy as ${title}</button>`)}`;
}
