// What is shown instead of rows when a search cannot be read: no request was made for it.

import { html } from '../lib/ui.js';
import { oneLine, visible } from '../core/format.js';

/** @param {{q: string, problem: import('../core/search.js').Problem, onSearch: (q: string) => void}} props */
export const Unread = ({ q, problem, onSearch }) => html`<div class="state" role="alert">
  <h2>This search cannot be read, so nothing is shown</h2><p>In <code>${visible(q)}</code>: ${problem.message}.</p>
  <div class="actions">${(problem.near ?? []).map((n) => html`<button key=${n}
    onClick=${() => onSearch(q.slice(0, problem.from) + n + q.slice(problem.to))}>${oneLine(n, 60)}</button>`)}
    ${problem.asText && html`<button
      onClick=${() => onSearch(/** @type {string} */ (problem.asText))}>Search as text instead</button>`}
    <button onClick=${() => onSearch('')}>Without the search</button></div></div>`;
