// Statements that were run before, and statements kept by name.

import { html, useState } from '../lib/ui.js';
import { count, duration } from '../core/format.js';
import { zone } from '../core/state.js';
import { showTime } from '../core/time.js';
import * as saved from '../core/saved.js';
import { Icon } from '../ui/icons.js';
import { keep, remove } from '../ui/keep.js';

/** Runs that are listed. */
const most = 200;

/**
 * @param {{run: import('./sqlrun.js').SQLRun, onOpen: (sql: string, name?: string) => void, onClose: () => void}} props
 */
export function History({ run, onOpen, onClose }) {
  const [text, setText] = useState('');
  const kept = saved.all.value.filter((s) => s.kind === 'query');
  const has = (/** @type {string} */ t) => t.toLowerCase().includes(text.toLowerCase());
  const list = run.history.value.filter((h) => has(h.sql));
  return html`<aside class="sql-history" aria-label="History">
    <div class="head"><input placeholder="Find a query" aria-label="Find a query" value=${text}
      onInput=${(e) => setText(e.target.value)} />
        <button class="quiet small icon" aria-label="Close" onClick=${onClose}><${Icon} name="close" /></button></div>
    <div class="scroll">
      ${kept.length > 0 && html`<h2>Kept</h2>
        ${kept.filter((s) => has(s.name))
          .map((s) => html`<div class="row" key=${s.id}>
            <button class="quiet node grow" onClick=${() => onOpen(s.definition.sql, s.name)}><${Icon} name="star" />
              <span class="text">${s.name}</span>${s.local && html`<span class="faint end">this browser</span>`}
                </button><button class="quiet small icon" aria-label=${`Remove ${s.name}`}
                  onClick=${() => void remove(s)}><${Icon} name="trash" /></button></div>`)}`}
      <h2>Run before</h2>
      ${list.slice(0, most).map((h) => html`<div class="history-entry" key=${h.at + h.sql}>
        <button class="quiet" title=${h.sql} onClick=${() => onOpen(h.sql)}><code>${h.sql.slice(0, 300)}</code></button>
        <div class="faint num"><span>${showTime(BigInt(h.at) * 1_000_000n, 0, zone.value)}</span>
          <span>${duration(h.elapsedMS)}</span>
            <span class=${h.error ? 'level-error' : ''}>
              ${h.error ? 'error' : h.rows === null ? '' : `${count(h.rows)} rows`}</span>
          <button class="quiet small icon" title="Keep by name" aria-label="Keep by name"
            onClick=${() => void keep('query', 'It can be opened by everybody who uses this server.', { sql: h.sql })}>
              <${Icon} name="star" /></button></div></div>`)}
      ${list.length > most && html`<p class="faint pad cut">${count(list.length - most)} more: type a part of one</p>`}
      ${list.length === 0 && html`<p class="faint pad">nothing yet</p>`}
      ${run.history.value.length > 0 &&
        html`<button class="small" onClick=${() => run.clearHistory()}>Clear the history</button>`}
    </div></aside>`;
}
