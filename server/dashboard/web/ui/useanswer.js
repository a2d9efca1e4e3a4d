// The answer to a question that changes: what was found stays until the next answer is here, and is stale until then.

import { useEffect, useMemo, useState } from '../lib/ui.js';
import { described } from '../core/api.js';

/**
 * useAnswer asks again whenever one of several values changes. stale: what was found is the answer to the question
 * before.
 * @template T
 * @param {(signal: AbortSignal, show: (part: T) => void) => Promise<T>|null} ask show shows a part of the answer while
 *   the rest is on its way; null: there is nothing to ask
 * @param {any[]} of the values
 * @param {number} [tick] the same question is asked again when it changes, and what was found is not stale then
 * @returns {{found: T|null, error: import('../core/api.js').ApiError|null, stale: boolean}}
 */
export function useAnswer(ask, of, tick = 0) {
  const question = useMemo(() => ({}), of);
  const [got, setGot] = useState(
    /** @type {{to: {}|null, found: T|null, error: import('../core/api.js').ApiError|null}} */
    ({ to: null, found: null, error: null }));
  useEffect(() => {
    const control = new AbortController();
    const take = (/** @type {T|null} */ found, /** @type {import('../core/api.js').ApiError|null} */ error) => {
      if (!control.signal.aborted) setGot({ to: question, found, error });
    };
    ask(control.signal, (part) => take(part, null))
      ?.then((found) => take(found, null), (e) => take(null, described(e)));
    return () => control.abort(new DOMException('superseded', 'AbortError'));
  }, [question, tick]);
  const stale = got.to !== question;
  return { found: got.found, error: stale ? null : got.error, stale };
}

/**
 * faded returns the attributes of an element that show whether its content is stale.
 * @param {string} name of its class
 * @param {boolean} stale
 */
export const faded = (name, stale) =>
  ({ class: stale ? `${name} stale` : name, 'aria-busy': stale ? 'true' : 'false' });
