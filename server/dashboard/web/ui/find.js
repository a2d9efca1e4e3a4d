// Finding a text in all loaded rows of a grid: how many have it, and from one to the next.

import { html, useEffect, useRef, useState } from '../lib/ui.js';
import { count } from '../core/format.js';

/**
 * useFind is the box, and what opens and closes it. open is false where it is open: the key is the browser's then.
 * @param {{find: (text: string) => Promise<number[]>}|null} rows
 * @param {{current: import('./grid.js').Grid|null}} grid
 */
export function useFind(rows, grid) {
  const [found, setFound] = useState(/** @type {{text: string, places: number[], at: number}|null} */ (null));
  const asked = useRef(0);
  const close = () => setFound(null);
  useEffect(close, [rows]);
  const find = async (/** @type {string} */ text) => {
    const turn = ++asked.current;
    const places = text === '' || !rows ? [] : await rows.find(text);
    if (turn !== asked.current) return;
    setFound({ text, places, at: 0 });
    if (places.length > 0) grid.current?.select(places[0]);
  };
  const step = (/** @type {number} */ by) => {
    if (!found || found.places.length === 0) return;
    const at = (found.at + by + found.places.length) % found.places.length;
    setFound({ ...found, at });
    grid.current?.select(found.places[at]);
  };
  const key = (/** @type {KeyboardEvent} */ e) => {
    if (e.key === 'Enter') step(e.shiftKey ? -1 : 1);
    if (e.key !== 'Escape') return;
    e.stopPropagation();
    close();
  };
  const open = () => {
    if (found) return false;
    setFound({ text: '', places: [], at: 0 });
    return true;
  };
  const box = found && html`<span class="find" role="search"><input aria-label="Find in the loaded rows" placeholder="Find" value=${found.text} ref=${(/** @type {any} */ e) => { if (e && found.text === '') e.focus(); }}
    onInput=${(/** @type {any} */ e) => void find(e.target.value)} onKeyDown=${key} /><span class="num soft">${found.places.length === 0 ? 'none' : `${count(found.at + 1)} of ${count(found.places.length)}`}</span></span>`;
  return { box, open, close };
}
