// Shortcuts of a component, for as long as it is shown.

import { useEffect, useRef } from '../lib/ui.js';
import * as keys from '../core/keys.js';

/** useKeys adds shortcuts; they always run the newest functions. @param {import('../core/keys.js').Shortcut[]} list */
export function useKeys(list) {
  const latest = useRef(list);
  latest.current = list;
  useEffect(() => keys.push(list.map((s, i) => ({ ...s, run: (/** @type {KeyboardEvent} */ e) => latest.current[i].run(e) }))), []);
}
