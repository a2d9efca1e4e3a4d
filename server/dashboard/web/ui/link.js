// The address of what one looks at, for somebody else.

import * as router from '../core/router.js';
import { instants } from '../core/state.js';
import { nowNanos, rfc3339 } from '../core/time.js';
import { copy } from './toast.js';

/** pinned is the address with the range as it is now, in absolute times. */
async function pinned() {
  const { from, to } = instants();
  /** @type {Record<string, string>} */
  const at = { ...router.params.value, to: rfc3339(to ?? nowNanos()) };
  if (from !== null) at.from = rfc3339(from);
  return router.address(router.page.value, at);
}

/** copyLink copies the address, as it is or with the times of now. @param {boolean} pin */
export async function copyLink(pin) {
  await copy(pin ? await pinned() : location.href, pin ? 'Link with fixed times copied' : 'Link copied');
}
