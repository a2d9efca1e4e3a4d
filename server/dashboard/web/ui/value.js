// One value in full: exact to the digit, JSON as a tree, long texts folded.

import { html, useState } from '../lib/ui.js';
import { cell as cellText, plural, raw, visible } from '../core/format.js';
import * as router from '../core/router.js';
import * as sqltext from '../core/sqltext.js';
import { zone } from '../core/state.js';
import { ago, zoneLabel } from '../core/time.js';
import { parse } from '../core/lossless.js';
import { JSONTree } from './json.js';

const foldAt = 2000;
const mostShown = 1 << 20;

/**
 * Value shows one value in full, folded when it is long.
 * @param {{value: any, type: string, onValue?: (path: import('./json.js').Path, value: any) => any}} props onValue
 *   gives what stands behind a member
 */
export function Value({ value, type, onValue }) {
  const [all, setAll] = useState(false);
  if (value === null || value === undefined) return html`<span class="null">NULL</span>`;
  if (value === '') return html`<span class="faint">''</span>`;
  const text = cellText(value, type, zone.value);
  const isTime = sqltext.isTime(type);
  const parsed = tree(value);
  if (parsed !== undefined) return html`<div class="json in"><${JSONTree} value=${parsed} onValue=${onValue} /></div>`;
  const shown = !all && text.length > foldAt ? text.slice(0, foldAt) : text.slice(0, mostShown);
  return html`<span class="text ${isTime || sqltext.isNumeric(type) ? 'tabular' : ''}">${visible(shown)}</span>
    ${isTime &&
      html`<span
        class="faint"> ${zoneLabel(zone.value)} · ${ago(BigInt(value) * sqltext.unitNanos(type))} · ${raw(value)}
        </span>`}
    ${/^[0-9a-f]{32}$/.test(text) &&
      html` <button class="link" onClick=${() => router.go('traces', { id: text })}>open trace</button>`}
    ${text.length > shown.length && !all &&
      html` <button class="link" onClick=${() => setAll(true)}>show all ${plural(text.length, 'character')}</button>`}
    ${all && text.length > mostShown &&
      html` <a download="value.txt"
        href=${URL.createObjectURL(new Blob([text], { type: 'application/octet-stream' }))}>
          the rest is in the file: download</a>`}`;
}

/** tree gives what a text in JSON means; undefined for other texts. @param {any} v */
export function tree(v) {
  if (typeof v === 'object') return v;
  if (typeof v !== 'string' || !/^\s*[[{]/.test(v) || v.length > mostShown) return undefined;
  try {
    return parse(v);
  } catch {
    return undefined;
  }
}
