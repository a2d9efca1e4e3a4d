// The filters of the Logs page that were clicked together, as chips: each can be negated, switched off and removed.

import { html } from '../lib/ui.js';
import { oneLine } from '../core/format.js';
import { term } from '../core/search.js';
import { chipCondition } from './logsrun.js';

/**
 * @param {{list: import('./logsrun.js').Chip[], columns: import('../core/catalog.js').Column[], state:
 *   import('../core/state.js').PageState}} props
 */
export function Chips({ list, columns, state }) {
  const set = (/** @type {number} */ i, /** @type {string|null} */ flags) => state.set({
    f: list.flatMap((c, k) =>
      (k === i ? (flags === null ? [] : [JSON.stringify([c[0], c[1], flags, ...c.slice(3)])]) : [JSON.stringify(c)])),
  });
  const flip = (/** @type {string} */ flags, /** @type {string} */ flag) =>
    (flags.includes(flag) ? flags.replace(flag, '') : flags + flag);
  return list.map((c, i) =>
    html`<span key=${i} class="chip ${c[2].includes('o') ? 'off' : ''} ${c[2].includes('n') ? 'not' : ''}">
    <button title=${chipCondition(c, columns)} onClick=${() => set(i, flip(c[2], 'o'))}>
      ${oneLine(term([c[0], ...(c[3] ?? [])].join('.'), c[1], c[2].includes('n')), 80)}</button>
    <button title="Negate" aria-label="Negate" onClick=${() => set(i, flip(c[2], 'n'))}>
      ${c[2].includes('n') ? '≠' : '='}</button>
    <button title="Remove" aria-label="Remove this filter" onClick=${() => set(i, null)}>×</button></span>`);
}
