// A value as a tree: closed below the second level, at most a thousand nodes at a time, text beyond a hundred levels.

import { html, useState } from '../lib/ui.js';
import { visible } from '../core/format.js';

const mostNodes = 1000;
const deepest = 100;

/** Path leads to a member: names, and places in arrays. @typedef {(string|number)[]} Path */

/**
 * @param {{value: any, name?: string, depth?: number, path?: Path, onValue?: (path: Path, value: any) => any}} props
 *   onValue gives what stands behind a leaf
 */
export function JSONTree({ value, name, depth = 0, path = [], onValue }) {
  if (value === null || typeof value !== 'object')
    return html`<div class="leaf">${name !== undefined && html`<span class="k">${visible(name)}</span>: `}
      ${leaf(value)} ${onValue?.(path, value)}</div>`;
  if (depth > deepest) return html`<div class="leaf">
    ${name !== undefined && html`<span class="k">${visible(name)}</span>: `}${JSON.stringify(value).slice(0, 10_000)}
    </div>`;
  return html`<${Branch} value=${value} name=${name} depth=${depth} path=${path} onValue=${onValue} />`;
}

/** @param {{value: any, name?: string, depth: number, path: Path, onValue?: (path: Path, value: any) => any}} props */
function Branch({ value, name, depth, path, onValue }) {
  const [open, setOpen] = useState(depth < 2);
  const [most, setMost] = useState(mostNodes);
  const entries = Object.entries(value);
  const kind = Array.isArray(value) ? `[${entries.length}]` : `{${entries.length}}`;
  return html`<details open=${open} onToggle=${(e) => setOpen(e.currentTarget.open)}>
    <summary>${name !== undefined && html`<span class="k">${visible(name)}</span> `}<span class="z">${kind}</span>
      </summary>
    ${open && entries.slice(0, most)
      .map(([k, v]) => html`<${JSONTree} key=${k} name=${k} value=${v} depth=${depth + 1}
        path=${[...path, Array.isArray(value) ? Number(k) : k]} onValue=${onValue} />`)}
    ${open && entries.length > most &&
      html`<button class="small" onClick=${() => setMost(most + mostNodes)}>${entries.length - most} more</button>`}
  </details>`;
}

/** @param {any} v */
function leaf(v) {
  if (v === null) return html`<span class="z">null</span>`;
  if (typeof v === 'string') return html`<span class="s">${visible(JSON.stringify(v))}</span>`;
  return html`<span class="n">${String(v)}</span>`;
}
