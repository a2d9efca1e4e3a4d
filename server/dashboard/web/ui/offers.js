// Completions below a field: chosen by arrows and Tab, or by the mouse.

import { html, useState } from '../lib/ui.js';

/** @typedef {{text: string, kind: string, from: number, to: number, note?: string}} Offer text replaces what stands from one place to another */

/**
 * useOffers keeps the completions of a field. key takes the keys that are theirs, the others are the field's.
 * @param {{current: HTMLInputElement|null}} box @param {string} text @param {(text: string) => void} setText
 * @param {(text: string, cursor: number) => Promise<Offer[]>} ask
 */
export function useOffers(box, text, setText, ask) {
  const [offers, setOffers] = useState(/** @type {Offer[]} */ ([]));
  const [at, setAt] = useState(-1);
  const complete = async (/** @type {HTMLInputElement} */ input) => {
    setAt(-1);
    setOffers(await ask(input.value, input.selectionStart ?? input.value.length));
  };
  const take = (/** @type {Offer} */ o) => {
    setText(text.slice(0, o.from) + o.text + text.slice(o.to));
    setOffers([]);
    const input = box.current;
    if (!input) return;
    input.focus();
    requestAnimationFrame(() => {
      input.setSelectionRange(o.from + o.text.length, o.from + o.text.length);
      if (o.text.endsWith(':')) void complete(input);
    });
  };
  const key = (/** @type {KeyboardEvent} */ e) => {
    const by = { ArrowDown: 1, ArrowUp: -1 }[e.key];
    if (offers.length > 0 && by) setAt((at + 1 + by + offers.length + 1) % (offers.length + 1) - 1); // -1: what is typed
    else if (offers.length > 0 && (e.key === 'Tab' || (e.key === 'Enter' && at >= 0))) take(offers[Math.max(0, at)]);
    else if (offers.length > 0 && e.key === 'Escape') setOffers([]);
    else return false;
    e.preventDefault();
    e.stopPropagation();
    return true;
  };
  return { offers, at, complete, take, key, close: () => setOffers([]) };
}

/** OfferList shows them. @param {{id: string, offers: Offer[], at: number, take: (o: Offer) => void}} props */
export const OfferList = ({ id, offers, at, take }) => offers.length > 0 && html`<ul id=${id} class="offers" role="listbox" aria-label="Completions">${offers.map((o, i) => html`<li key=${o.text} role="option" aria-selected=${i === at ? 'true' : 'false'} onPointerDown=${(/** @type {Event} */ e) => { e.preventDefault(); take(o); }}><span class="mono">${o.text}</span><span class="kind">${o.note ?? o.kind}</span></li>`)}</ul>`;
