// Asking again and again: after the last answer, and only while somebody can see it.

import { useEffect, useRef } from '../lib/ui.js';

/**
 * usePoll runs a function at once and then every so often. The function gets a signal that is aborted when the
 * component is removed; in a hidden tab it waits until the tab is shown.
 * @param {(signal: AbortSignal) => Promise<void>} run
 * @param {number} ms
 */
export function usePoll(run, ms) {
  const latest = useRef(run);
  latest.current = run;
  useEffect(() => {
    const control = new AbortController();
    /** @type {ReturnType<typeof setTimeout>|undefined} */
    let timer;
    let busy = false;
    const turn = async () => {
      timer = undefined;
      if (document.hidden || busy) return;
      busy = true;
      try {
        await latest.current(control.signal);
      } finally {
        busy = false;
        if (!control.signal.aborted) timer = setTimeout(() => void turn(), ms);
      }
    };
    const seen = () => { if (!document.hidden && timer === undefined) void turn(); };
    document.addEventListener('visibilitychange', seen);
    void turn();
    return () => {
      document.removeEventListener('visibilitychange', seen);
      clearTimeout(timer);
      control.abort(new DOMException('left', 'AbortError'));
    };
  }, [ms]);
}
