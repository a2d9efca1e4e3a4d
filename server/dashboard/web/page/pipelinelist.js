// The list of pipelines beside the editor: open one, or begin a new one.

import { html, useState } from '../lib/ui.js';
import { bytes, count, plural } from '../core/format.js';
import { builtIn } from '../core/pipelines.js';
import { Icon } from '../ui/icons.js';

/** Pipelines that are listed at a time. */
const most = 150;

/**
 * @param {{stored: import('../core/pipelines.js').Stored[]|null, name: string, onOpen: (name: string) => void, onNew:
 *   () => void}} props
 */
export function PipelineList({ stored, name, onOpen, onNew }) {
  const [find, setFind] = useState('');
  const needle = find.toLowerCase();
  const shown = (stored ?? []).filter((p) => p.name.toLowerCase().includes(needle));
  return html`<nav class="pipelines-list" aria-label="Pipelines">
    <button class="primary" onClick=${onNew}><${Icon} name="plus" />New</button>
    ${(stored?.length ?? 0) > 8 &&
      html`<input type="search" aria-label="Find a pipeline" placeholder="Find" value=${find}
        onInput=${(e) => setFind(e.target.value)} />`}
    <ul>${shown.slice(0, most)
      .map((p) => html`<li key=${p.name}>
        <button class="quiet" aria-pressed=${p.name === name ? 'true' : 'false'} onClick=${() => onOpen(p.name)}>
        <b>${p.name}</b><span class="soft num">
          ${p.versions[0].version.slice(0, 16)}, ${plural(p.versions.length, 'version')}, ${bytes(p.versions[0].size)}
            </span></button></li>`)}
      ${shown.length > most &&
        html`<li class="soft none">${count(shown.length - most)} more: type a part of the name</li>`}
      ${stored?.length === 0 && html`<li class="soft none">None is stored yet.</li>`}
      ${builtIn.filter((b) => b.name.includes(needle))
        .map((b) => html`<li key=${b.name} class="built-in" title="Built in: it has no document"><b>${b.name}</b>
          <span>${b.text}</span></li>`)}</ul>
  </nav>`;
}
