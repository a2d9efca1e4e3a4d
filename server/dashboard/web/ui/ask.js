// Questions before something that cannot be taken back.

import { html, render, useState } from '../lib/ui.js';
import { Dialog } from './pop.js';

/**
 * @typedef {{title: string, text: string, code?: string, typed?: string, field?: string, value?: string, check?:
 *   string, yes: string}} Question
 */

/**
 * ask puts a question; the answer is null when it is refused, else the text of the field ('' without one), or 'checked'
 * where there is something to check and it is. typed must be typed before the button works.
 * @param {Question} q
 * @returns {Promise<string|null>}
 */
export const ask = (q) => new Promise((resolve) => {
  const host = document.createElement('div'); // the component that asks may be removed meanwhile
  document.body.append(host);
  const done = (/** @type {string|null} */ answer) => {
    render(null, host);
    host.remove();
    resolve(answer);
  };
  render(html`<${Form} q=${q} done=${done} />`, host);
});

/** @param {{q: Question, done: (answer: string|null) => void}} props */
function Form({ q, done }) {
  const [text, setText] = useState(q.value ?? '');
  const [checked, setChecked] = useState(false);
  const ready = q.typed === undefined ? q.field === undefined || text.trim() !== '' : text === q.typed;
  return html`<${Dialog} title=${q.title} onClose=${() => done(null)}>
    <form onSubmit=${(e) => { e.preventDefault(); if (ready) done(checked ? 'checked' : text); }}>
      <p>${q.text}</p>
      ${q.code && html`<pre class="json">${q.code}</pre>`}
      ${(q.typed !== undefined || q.field !== undefined) && html`<label>${q.field ?? `Type ${q.typed} to confirm`}
        <input value=${text} autofocus onInput=${(e) => setText(e.target.value)} /></label>`}
      ${q.check && html`<label class="check">
        <input type="checkbox" checked=${checked} onChange=${(e) => setChecked(e.target.checked)} />${q.check}</label>`}
      <div class="buttons"><button type="button" onClick=${() => done(null)}>Cancel</button>
        <button class="primary" disabled=${!ready}>${q.yes}</button></div>
    </form>
  </${Dialog}>`;
}
