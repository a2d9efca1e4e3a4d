// Pieces of the Alerts page: times of evaluations, labels and values.

import { html } from '../lib/ui.js';
import { count, oneLine } from '../core/format.js';
import { zone } from '../core/state.js';
import { ago, parseTime, showTime } from '../core/time.js';

/** instant reads a time of an answer; null: there is none yet. @param {string} text */
export function instant(text) {
  const t = parseTime(text, 'UTC', 0n);
  return t && t.ns > 0n ? t.ns : null;
}

/** When says how long ago something was. @param {{at: string, never: string}} props */
export function When({ at, never }) {
  const ns = instant(at);
  return ns === null ? html`<span class="soft">${never}</span>`
    : html`<span title=${showTime(ns, 3, zone.value)}>${ago(ns)}</span>`;
}

/**
 * Labels shows labels; those that every alert of a rule has are left out.
 * @param {{of: Record<string, string>|undefined, but?: import('../core/rules.js').Rule}} props
 */
export function Labels({ of, but }) {
  const list = Object.entries(of ?? {}).filter(([k, v]) => k !== '__name__' && !(but && (k === 'alertname' ||
    but.labels?.[k] === v)));
  return html`<span class="labels">${list.map(([k, v]) => html`<code key=${k} title=${`${k}=${v}`}>
    <span class="soft">${oneLine(k, 80)}=</span>${oneLine(v, 200)}</code>`)}
    ${list.length === 0 && html`<span class="faint">no ${but ? 'other ' : ''}labels</span>`}</span>`;
}

/** figure writes a value, which comes with an exponent. @param {string} text */
export function figure(text) {
  const v = Number(text);
  return Number.isInteger(v) && Math.abs(v) < 1e15 ? count(v) : String(Number(v.toPrecision(6)));
}
