// What stands on a page that has no data yet: what to set in a sender, and the way to the others.

import { html } from '../lib/ui.js';
import * as router from '../core/router.js';
import { copy } from './toast.js';

/** @param {{title: string, snippet: string, children?: any}} props */
export const FirstSend = ({ title, snippet, children }) => html`<div class="state"><h2>${title}</h2><p>${children}</p>
  <pre class="sample">${snippet}</pre>
  <div class="actions"><button onClick=${() => copy(snippet)}>Copy</button>
    <button onClick=${() => void router.go('ingest')}>Other ways to send</button></div></div>`;
