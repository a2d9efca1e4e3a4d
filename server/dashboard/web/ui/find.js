// Finding a text in all loaded rows of a grid: how many have it, and from one to the next.

import { html, useEffect, useRef, useState } from '../lib/ui.js';
import { count } from '../core/format.js';

/**
 * Find is the box. It closes when other rows are shown.
 * @param {{rows: {find: (text: string) => Promise<number[]>}|null, grid: {current: import('./grid.js').Grid|null}, onClose: () => void}} props
 */
export function Find({ rows, grid, onClose }) {
  const [found, setFound] = useState({ text: '', places: /** @type {number[]} */ ([]), at: 0 });
  const asked = useRef(0);
  const box = useRef(/** @type {HTMLInputElement|null} */ (null));
  useEffect(() => {
    box.current?.focus();
    return onClose;
  }, [rows]);
  const find = async (/** @type {string} */ text) => {
    const turn = ++asked.current;
    const places = text === '' || !rows ? [] : await rows.find(text);
    if (turn !== asked.current) return;
    setFound({ text, places, at: 0 });
    if (places.length > 0) grid.current?.select(places[0]);
  };
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
  return html`<span class="find" role="search"><input aria-label="Find in the loaded rows" placeholder="Find" value=${found.text} ref=${box}
    onInput=${(/** @type {any} */ e) => void find(e.target.value)} onKeyDown=${key} /><span class="num soft">${found.places.length === 0 ? 'none' : `${count(found.at + 1)} of ${count(found.places.length)}`}</span></span>`;
}
