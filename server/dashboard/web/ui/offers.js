// Completions below a field: chosen by arrows and Tab, or by the mouse.

import { html, useEffect, useRef, useState } from '../lib/ui.js';

/**
 * @typedef {{text: string, kind: string, from: number, to: number, note?: string}} Offer text replaces what stands from
 *   one place to another
 */

/**
 * useOffers keeps the completions of a field. Its function key handles the keys that choose among them; all other keys
 * are left to the field.
 * @param {{current: HTMLInputElement|null}} box @param {(text: string) => void} setText
 * @param {(text: string, cursor: number, signal: AbortSignal) => Promise<Offer[]>} ask its signal ends when the offers
 *   are closed
 */
export function useOffers(box, setText, ask) {
  const [offers, setOffers] = useState(/** @type {Offer[]} */ ([]));
  const [at, setAt] = useState(-1);
  const [coming, setComing] = useState(false); // offers for the present text are on their way
  const asked = useRef(0);
  const of = useRef(''); // the text that the offers are for
  const control = useRef(new AbortController());
  const complete = async (/** @type {HTMLInputElement} */ input) => {
    const turn = ++asked.current, typed = input.value;
    setAt(-1);
    setComing(true);
    const list = await ask(typed, input.selectionStart ?? typed.length, control.current.signal);
    if (turn !== asked.current) return [];
    of.current = typed;
    setComing(false);
    setOffers(list);
    return list;
  };
  const close = () => {
    asked.current++;
    control.current.abort(new DOMException('closed', 'AbortError'));
    control.current = new AbortController();
    setAt(-1);
    setComing(false);
    setOffers([]);
  };
  const take = (/** @type {Offer} */ o) => {
    const input = box.current;
    if (!input) return;
    const cursor = Math.max(o.to, input.selectionStart ?? o.to); // somebody may have typed on since they were asked for
    setText(input.value.slice(0, o.from) + o.text + input.value.slice(cursor));
    close();
    input.focus();
    requestAnimationFrame(() => {
      input.setSelectionRange(o.from + o.text.length, o.from + o.text.length);
      if (o.text.endsWith(':')) void complete(input);
    });
  };
  /**
   * takeFirst asks anew: the offers shown may be for an earlier text, and taking one would replace letters typed since.
   */
  const takeFirst = async (/** @type {HTMLInputElement} */ input) => {
    const [first] = await complete(input);
    if (first) take(first);
  };
  const key = (/** @type {KeyboardEvent} */ e) => {
    const by = { ArrowDown: 1, ArrowUp: -1 }[e.key];
    const input = /** @type {HTMLInputElement} */ (e.target);
    // -1: what is typed
    if (offers.length > 0 && by) setAt((at + 1 + by + offers.length + 1) % (offers.length + 1) - 1);
    else if (offers.length > 0 && e.key === 'Tab' && input.value !== of.current) void takeFirst(input);
    else if (offers.length > 0 && (e.key === 'Tab' || (e.key === 'Enter' && at >= 0))) take(offers[Math.max(0, at)]);
    else if (offers.length > 0 && e.key === 'Escape') close();
    else return false;
    e.preventDefault();
    e.stopPropagation();
    return true;
  };
  return { offers, at, coming, complete, take, key, close };
}

/**
 * offerID is the element of the chosen offer, for the field to name; undefined: none is.
 * @param {string} id of the list
 * @param {number} at
 */
export const offerID = (id, at) => (at >= 0 ? `${id}-${at}` : undefined);

/**
 * OfferList shows them; the chosen one stays in the view.
 * @param {{id: string, offers: Offer[], at: number, coming: boolean, take: (o: Offer) => void}} props
 */
export function OfferList({ id, offers, at, coming, take }) {
  useEffect(() => { document.getElementById(`${id}-${at}`)?.scrollIntoView({ block: 'nearest' }); }, [at, offers]);
  return offers.length > 0 &&
    html`<ul id=${id} class="offers ${coming ? 'coming' : ''}" role="listbox" aria-label="Completions">
      ${offers.map((o, i) => html`<li key=${o.text} id=${`${id}-${i}`} role="option"
        aria-selected=${i === at ? 'true' : 'false'}
          onPointerDown=${(/** @type {Event} */ e) => { e.preventDefault(); take(o); }}><span class="mono">${o.text}
            </span><span class="kind">${o.note ?? o.kind}</span></li>`)}</ul>`;
}
