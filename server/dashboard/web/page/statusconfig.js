// The running configuration: what differs from the default is marked, and each key is explained.

import { html, useState } from '../lib/ui.js';
import { explained } from '../core/configkeys.js';
import { plural } from '../core/format.js';
import { plain } from '../core/toml.js';
import { ErrorBox } from '../ui/error.js';

/** @param {{settings: import('../core/toml.js').Setting[]|null, error: any}} props */
export function Configuration({ settings, error }) {
  const [find, setFind] = useState('');
  const [changed, setChanged] = useState(false);
  if (error) return html`<${ErrorBox} error=${error} />`;
  if (!settings) return html`<p class="state soft wait" role="status">Reading …</p>`;
  const differs = (/** @type {import('../core/toml.js').Setting} */ s) => explained[s.key] !== undefined && plain(s.value) !== explained[s.key].default;
  const needle = find.toLowerCase();
  const shown = settings.filter((s) => (!changed || differs(s)) && `${s.key} ${s.value} ${explained[s.key]?.text ?? ''}`.toLowerCase().includes(needle));
  return html`<div class="row"><input type="search" aria-label="Find a key" placeholder="Find a key or a word" value=${find} onInput=${(/** @type {any} */ e) => setFind(e.target.value)} />
      <label class="check"><input type="checkbox" checked=${changed} onChange=${(/** @type {any} */ e) => setChanged(e.target.checked)} /> only what differs from the default (${plural(settings.filter(differs).length, 'key')})</label></div>
    <div class="scroll" tabindex="0" role="region" aria-label="Configuration"><table class="list config"><thead><tr><th scope="col">Key</th><th scope="col">Value</th><th scope="col">Default</th><th scope="col">Meaning</th></tr></thead>
      <tbody>${shown.map((s) => html`<tr key=${s.key} class=${differs(s) ? 'differs' : ''}><td class="mono nowrap">${s.key}</td><td class="mono value">${plain(s.value)}${differs(s) && html` <span class="badge">set</span>`}</td>
        <td class="mono soft">${explained[s.key]?.default ?? ''}</td><td>${(explained[s.key]?.text ?? '').replaceAll('`', '')}</td></tr>`)}</tbody></table></div>
    ${shown.length === 0 && html`<p class="soft">No key matches.</p>`}`;
}
