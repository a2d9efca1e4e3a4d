// The figures of the server over the last half hour, as far as this tab has looked.

import { signal } from '../lib/ui.js';
import { request } from './api.js';
import { Figures, rate } from './exposition.js';

/** The most readings that are kept: half an hour, one each five seconds. */
const most = 360;

/** readings are kept while the tab lives, oldest first. @type {import('../lib/ui.js').Signal<Figures[]>} */
export const readings = signal([]);

/** look takes one more reading. @param {AbortSignal} abort */
export async function look(abort) {
  const answer = await request('metrics', { background: true, signal: abort });
  readings.value = [...readings.value.slice(1 - most), new Figures(await answer.text(), Date.now())];
}

/**
 * rates are by how much a counter grew a second between each two readings.
 * @param {Figures[]} list @param {string} name @param {(labels: Record<string, string>) => boolean} [pass]
 */
export const rates = (list, name, pass) => list.slice(1).map((f, i) => rate(list[i], f, name, pass));

/** values returns the values of a gauge. @param {Figures[]} list @param {string} name */
export const values = (list, name) => list.map((f) => f.sum(name));

/** last is the last of some values that is a number. @param {number[]} list */
export const last = (list) => list.findLast(Number.isFinite) ?? NaN;
