// An error where the result would stand: its text, the statement with a mark at the place, and what helps.

import { html } from '../lib/ui.js';
import { visible } from '../core/format.js';
import { copy } from './toast.js';

/** @type {[RegExp, string][]} */
const advice = [
  [/memory|6000/i, 'Less memory is needed for a shorter range, fewer columns or fewer groups.'],
  [/timed? ?out|deadline|canceled|cancelled/i, 'A shorter range or a more selective condition is quicker.'],
  [/not authorized|7006/i, 'Your user may not do this: ask who runs the server for the right to.'],
];

/**
 * ErrorBox shows an ApiError.
 * @param {{error: import('../core/api.js').ApiError, language?: string, children?: any}} props
 */
export function ErrorBox({ error, language = 'SQL', children }) {
  const helps = advice.find(([about]) => about.test(`${error.message} ${error.code ?? ''}`));
  return html`<div class="error" role="alert">
    <div class="text">${visible(error.message)} ${error.code !== undefined &&
      html`<span class="badge">code ${error.code}</span>`}</div>
    ${helps && html`<p class="soft">${helps[1]}</p>`}
    ${error.statement && html`<pre>${marked(error.statement, error.position)}</pre>`}
    <div class="actions">${children}
      ${error.statement && html`<button class="small" onClick=${() => copy(error.statement ?? '')}>Copy ${language}
        </button>`}
      ${error.curl && html`<button class="small" onClick=${() => copy(error.curl)}>Copy as curl</button>`}
    </div>
  </div>`;
}

/**
 * marked underlines what an error is about.
 * @param {string} text
 * @param {{line: number, column: number, length?: number}|undefined} at
 */
function marked(text, at) {
  if (!at) return text;
  const lines = text.split('\n');
  let from = 0;
  for (let i = 0; i < at.line - 1 && i < lines.length; i++) from += lines[i].length + 1;
  from += at.column - 1;
  const rest = text.slice(from);
  const length = at.length ?? (/^("[^"]*"|[\w.]+|.)/.exec(rest)?.[0].length || 1);
  if (from >= text.length) return html`${text}<span class="pos"> </span>`;
  return html`${text.slice(0, from)}<span class="pos">${rest.slice(0, length)}</span>${rest.slice(length)}`;
}
