// The documents that are built in, to read beside the page.

import { html, useEffect, useMemo, useRef, useState } from '../lib/ui.js';
import { asset, described } from '../core/api.js';
import { documents, follow, reading } from '../core/documents.js';
import { blocks, parts } from '../core/markdown.js';
import { ErrorBox } from './error.js';

/** Documents lists them, or shows the one that is open. */
export function Documents() {
  const [name] = reading.value.split('#');
  if (name === '') return html`<p class="soft">Of this version, as built into the server.</p>
    <ul class="documents">${documents.map(([file, title]) => html`<li key=${file}>
      <button class="link" onClick=${() => { reading.value = file; }}>${title}</button></li>`)}</ul>`;
  return html`<p><button class="small" onClick=${() => { reading.value = ''; }}>All documents</button></p>
    <${Reading} key=${name} name=${name} />`;
}

/** @param {{name: string}} props */
function Reading({ name }) {
  const [text, setText] = useState(/** @type {string|null} */ (null));
  const [error, setError] = useState(/** @type {any} */ (null));
  const box = useRef(/** @type {HTMLElement|null} */ (null));
  const list = useMemo(() => blocks(text ?? ''), [text]);
  const place = reading.value.split('#')[1] ?? '';
  useEffect(() => {
    let wanted = true;
    asset(`docs/${name}`).then((t) => { if (wanted) setText(t); }, (e) => { if (wanted) setError(described(e)); });
    return () => { wanted = false; };
  }, [name]);
  useEffect(() => {
    const there = place && box.current?.querySelector(`[data-place="${CSS.escape(place)}"]`);
    if (there) there.scrollIntoView({ block: 'start' });
    else box.current?.closest('.body')?.scrollTo(0, 0);
  }, [list, place]);
  if (error) return html`<${ErrorBox} error=${error} />`;
  if (text === null) return html`<p class="state soft wait" role="status">Reading …</p>`;
  return html`<article class="document-text" ref=${box}><${Blocks} list=${list} from=${name} /></article>`;
}

/**
 * Blocks draws a text that is written in Markdown.
 * @param {{list: import('../core/markdown.js').Block[], from: string}} props from: the document it stands in
 */
export function Blocks({ list, from }) {
  const say = (/** @type {string} */ t) => within(t, from);
  return list.map((b, i) => {
    switch (b.kind) {
      case 'heading': return html`<div key=${i} role="heading" aria-level=${b.level + 2}
        class=${`heading level-${b.level}`} data-place=${b.id}>${say(b.text)}</div>`;
      case 'code': return html`<pre key=${i} class="mono" tabindex="0" role="region" aria-label="Example">${b.text}
        </pre>`;
      case 'list': return html`<ul key=${i} class=${b.ordered ? 'ordered' : ''}>
        ${b.items.map((t, k) => html`<li key=${k}>${say(t)}</li>`)}</ul>`;
      case 'table': return html`<div key=${i} class="scroll" tabindex="0" role="region" aria-label="Table">
        <table class="list"><thead><tr>${b.head.map((c, k) => html`<th key=${k} scope="col">${say(c)}</th>`)}</tr>
          </thead>
        <tbody>${b.rows.map((r, k) => html`<tr key=${k}>${r.map((c, n) => html`<td key=${n}>${say(c)}</td>`)}</tr>`)}
          </tbody></table></div>`;
      default: return html`<p key=${i}>${say(b.text)}</p>`;
    }
  });
}

/**
 * within draws the parts of a text.
 * @param {string} text
 * @param {string} from the document it stands in
 * @returns {any}
 */
const within = (text, from) => parts(text).map((p, i) => one(p, i, from));

/** @param {import('../core/markdown.js').Part} p @param {number} key @param {string} from the document it stands in */
function one(p, key, from) {
  if (p.kind === 'code') return html`<code key=${key}>${p.text}</code>`;
  if (p.kind === 'bold') return html`<b key=${key}>${within(p.text, from)}</b>`;
  if (p.kind === 'soft') return html`<em key=${key}>${within(p.text, from)}</em>`;
  const to = p.kind === 'link' ? follow(from, p.to) : '';
  return to ? html`<button key=${key} class="link" onClick=${() => { reading.value = to; }}>${within(p.text, from)}
    </button>` : p.kind === 'link' ? within(p.text, from) : p.text;
}
