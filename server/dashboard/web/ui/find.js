// Finding a text in all loaded rows of a grid: how many have it, and from one to the next.

import { html, useEffect, useLayoutEffect, useRef, useState } from '../lib/ui.js';
import { count } from '../core/format.js';

/**
 * @typedef {object} Found
 * @property {number[]|null} places rows that hold the text; null: these rows cannot be searched
 * @property {number} at the place gone to
 */

/**
 * Find is the box. When the rows or their order change it looks again, and leaves the focus of the grid where it is.
 * The text is the field's own and is never written, so that a late answer takes no letter away.
 * @param {{rows: {find: (text: string) => Promise<number[]>}|null, turn?: any, grid: {current:
 *   import('./grid.js').Grid|null}, onClose: () => void}} props turn: another value when the order changed
 */
export function Find({ rows, turn, grid, onClose }) {
  const [found, setFound] = useState(/** @type {Found} */ ({ places: [], at: 0 }));
  const box = useRef(/** @type {HTMLInputElement|null} */ (null));
  /** last is what the last question or step finds. A step before the answer is here waits for it. */
  const last = useRef(Promise.resolve(found));
  const going = useRef(false); // the grid goes to the place once it is known
  useLayoutEffect(() => box.current?.focus(), []);
  const show = async (/** @type {Promise<Found>} */ next) => {
    last.current = next;
    const { places, at } = await next;
    if (next !== last.current) return;
    setFound({ places, at });
    if (going.current && places?.length) grid.current?.select(places[at]);
    going.current = false;
  };
  const look = async (/** @type {Promise<Found>|null} */ before) => {
    const text = box.current?.value ?? '';
    const places = text === '' || !rows ? [] : await rows.find(text).catch(() => null);
    return { places, at: Math.max(0, Math.min((await before)?.at ?? 0, (places?.length ?? 0) - 1)) };
  };
  useEffect(() => { void show(look(last.current)); }, [rows, turn]);
  const step = async (/** @type {Promise<Found>} */ before, /** @type {number} */ by) => {
    const { places, at } = await before, n = places?.length ?? 0;
    return { places, at: n > 0 ? (at + by + n) % n : 0 };
  };
  const key = (/** @type {KeyboardEvent} */ e) => {
    if (e.key === 'Enter') {
      going.current = true;
      void show(step(last.current, e.shiftKey ? -1 : 1));
    }
    if (e.key !== 'Escape') return;
    e.stopPropagation();
    onClose();
  };
  const { places, at } = found;
  return html`<span class="find" role="search">
    <input aria-label="Find in the loaded rows" placeholder="Find" ref=${box} onKeyDown=${key}
      onInput=${() => {
        going.current = true;
        void show(look(null));
      }} /><span class="num soft">
      ${places === null ? 'not searched' : places.length === 0 ? 'none'
        : `${count(at + 1)} of ${count(places.length)}`}</span></span>`;
}
