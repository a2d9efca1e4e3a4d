// Finding a text in all loaded rows of a grid: how many have it, and from one to the next.

import { html, useEffect, useLayoutEffect, useRef, useState } from '../lib/ui.js';
import { count } from '../core/format.js';

/**
 * Find is the box. When the rows or their order change it looks again, and leaves the focus of the grid where it is.
 * @param {{rows: {find: (text: string) => Promise<number[]>}|null, turn?: any, grid: {current:
 *   import('./grid.js').Grid|null}, onClose: () => void}} props turn: another number when the order changed
 */
export function Find({ rows, turn, grid, onClose }) {
  const [found, setFound] = useState({ text: '', places: /** @type {number[]} */ ([]), at: 0 });
  const asked = useRef(0);
  const box = useRef(/** @type {HTMLInputElement|null} */ (null));
  useLayoutEffect(() => box.current?.focus(), []);
  const find = async (/** @type {string} */ text, at = 0) => {
    const turn = ++asked.current;
    const places = text === '' || !rows ? [] : await rows.find(text).catch(() => []);
    if (turn !== asked.current) return;
    setFound({ text, places, at: Math.min(at, Math.max(0, places.length - 1)) });
    return places;
  };
  useEffect(() => { void find(found.text, found.at); }, [rows, turn]);
  const step = (/** @type {number} */ by) => {
    if (found.places.length === 0) return;
    const at = (found.at + by + found.places.length) % found.places.length;
    setFound({ ...found, at });
    grid.current?.select(found.places[at]);
  };
  const key = (/** @type {KeyboardEvent} */ e) => {
    if (e.key === 'Enter') step(e.shiftKey ? -1 : 1);
    if (e.key !== 'Escape') return;
    e.stopPropagation();
    onClose();
  };
  return html`<span class="find" role="search">
    <input aria-label="Find in the loaded rows" placeholder="Find" value=${found.text} ref=${box}
    onInput=${async (e) => {
      const [first] = await find(e.target.value) ?? [];
      if (first !== undefined) grid.current?.select(first);
    }} onKeyDown=${key} /><span class="num soft">
      ${found.places.length === 0 ? 'none' : `${count(found.at + 1)} of ${count(found.places.length)}`}</span></span>`;
}
