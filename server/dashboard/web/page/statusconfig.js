// The running configuration: what differs from the default is marked, and each key is explained.

import { html, useEffect, useState } from '../lib/ui.js';
import { asset, described } from '../core/api.js';
import { plural } from '../core/format.js';
import { blocks, parts } from '../core/markdown.js';
import { plain } from '../core/toml.js';
import { ErrorBox } from '../ui/error.js';

/** @typedef {{default: string, text: string}} Meaning */

/** words is a cell without its marks. @param {string} cell */
const words = (cell) => parts(cell).map((p) => p.text).join('');

/**
 * meanings are the keys as the table of a document explains them.
 * @param {string} text
 * @returns {Record<string, Meaning>}
 */
function meanings(text) {
  const rows = blocks(text).flatMap((b) => (b.kind === 'table' && b.head[0] === 'Key' ? b.rows : []));
  return Object.fromEntries(rows.map(([key, initial, meaning]) =>
    [words(key), { default: words(initial), text: words(meaning) }]));
}

/** @param {{settings: import('../core/toml.js').Setting[]|null, error: any}} props */
export function Configuration({ settings, error }) {
  const [find, setFind] = useState('');
  const [changed, setChanged] = useState(false);
  const [explained, setExplained] = useState(/** @type {Record<string, Meaning>|null} */ (null));
  const [unread, setUnread] = useState(/** @type {any} */ (null));
  useEffect(() => {
    asset('docs/config.md').then((text) => setExplained(meanings(text)), (e) => setUnread(described(e)));
  }, []);
  if (error || unread) return html`<${ErrorBox} error=${error || unread} />`;
  if (!settings || !explained) return html`<p class="state soft wait" role="status">Reading …</p>`;
  const differs = (/** @type {import('../core/toml.js').Setting} */ s) => explained[s.key] !== undefined &&
    plain(s.value) !== explained[s.key].default;
  const needle = find.toLowerCase();
  const shown = settings.filter((s) => (!changed || differs(s)) &&
    `${s.key} ${s.value} ${explained[s.key]?.text ?? ''}`.toLowerCase().includes(needle));
  return html`<div class="row">
    <input type="search" aria-label="Find a key" placeholder="Find a key or a word" value=${find}
      onInput=${(e) => setFind(e.target.value)} />
      <label class="check"><input type="checkbox" checked=${changed}
        onChange=${(e) => setChanged(e.target.checked)} /> only what differs from the default
          (${plural(settings.filter(differs).length, 'key')})</label></div>
    <div class="scroll" tabindex="0" role="region" aria-label="Configuration">
      <table class="list config">
        <thead><tr><th scope="col">Key</th><th scope="col">Value</th><th scope="col">Default</th>
          <th scope="col">Meaning</th></tr></thead>
      <tbody>${shown.map((s) => html`<tr key=${s.key} class=${differs(s) ? 'differs' : ''}>
        <td class="mono nowrap">${s.key}</td>
          <td class="mono value">${plain(s.value)}${differs(s) && html` <span class="badge">set</span>`}</td>
        <td class="mono soft">${explained[s.key]?.default ?? ''}</td><td>${explained[s.key]?.text ?? ''}</td>
          </tr>`)}</tbody></table></div>
    ${shown.length === 0 && html`<p class="soft">No key matches.</p>`}`;
}
