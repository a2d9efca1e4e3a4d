// Questions before something that cannot be taken back.

import { html, signal, useState } from '../lib/ui.js';
import { Dialog } from './pop.js';

/** @typedef {{title: string, text: string, code?: string, typed?: string, field?: string, value?: string, check?: string, yes: string, resolve: (answer: string|null) => void}} Question */

/** @type {import('../lib/ui.js').Signal<Question|null>} */
const question = signal(null);

/**
 * ask puts a question; the answer is null when it is refused, else the text of the field ('' without one), or 'checked' where
 * there is something to check and it is. typed must be typed before the button works.
 * @param {Omit<Question, 'resolve'>} q
 * @returns {Promise<string|null>}
 */
export const ask = (q) => new Promise((resolve) => { question.value = { ...q, resolve }; });

export function Asking() {
  const q = question.value;
  return q && html`<${Form} key=${q.title} q=${q} />`;
}

/** @param {{q: Question}} props */
function Form({ q }) {
  const [text, setText] = useState(q.value ?? '');
  const [checked, setChecked] = useState(false);
  const done = (/** @type {string|null} */ answer) => { question.value = null; q.resolve(answer); };
  const ready = q.typed === undefined ? q.field === undefined || text.trim() !== '' : text === q.typed;
  return html`<${Dialog} title=${q.title} onClose=${() => done(null)}>
    <form onSubmit=${(/** @type {Event} */ e) => { e.preventDefault(); if (ready) done(checked ? 'checked' : text); }}>
      <p>${q.text}</p>
      ${q.code && html`<pre class="json">${q.code}</pre>`}
      ${(q.typed !== undefined || q.field !== undefined) && html`<label>${q.field ?? `Type ${q.typed} to confirm`}
        <input value=${text} autofocus onInput=${(/** @type {any} */ e) => setText(e.target.value)} /></label>`}
      ${q.check && html`<label class="check"><input type="checkbox" checked=${checked} onChange=${(/** @type {any} */ e) => setChecked(e.target.checked)} />${q.check}</label>`}
      <div class="buttons"><button type="button" onClick=${() => done(null)}>Cancel</button>
        <button class="primary" disabled=${!ready}>${q.yes}</button></div>
    </form>
  </${Dialog}>`;
}
