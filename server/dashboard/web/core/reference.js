// The functions of both query languages by subject: the product's own list, made from its source and packed by a test.

import { asset } from './api.js';

/** @typedef {Record<'sql'|'metrics', [string, string[]][]>} Reference */

/** @type {Promise<Reference>|null} */
let kept = null;

/** reference reads the list, once. @returns {Promise<Reference>} */
export function reference() {
  const read = kept ??= asset('core/reference.json').then(JSON.parse);
  read.catch(() => { kept = null; });
  return read;
}
