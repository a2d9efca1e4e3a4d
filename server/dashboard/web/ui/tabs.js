// A row of tabs.

import { html } from '../lib/ui.js';

/**
 * Tabs shows them; arrows move between.
 * @param {{tabs: {id: string, text: any}[], tab: string, onTab: (id: string) => void, label: string}} props
 */
export function Tabs({ tabs, tab, onTab, label }) {
  const key = (/** @type {KeyboardEvent} */ e) => {
    const by = { ArrowRight: 1, ArrowLeft: -1 }[e.key];
    if (!by) return;
    e.preventDefault();
    const next = tabs[(tabs.findIndex((t) => t.id === tab) + by + tabs.length) % tabs.length];
    onTab(next.id);
    const el = /** @type {HTMLElement} */ (e.currentTarget).querySelector(`[data-tab="${next.id}"]`);
    if (el instanceof HTMLElement) el.focus();
  };
  return html`<div class="tabs" role="tablist" aria-label=${label} onKeyDown=${key}>
    ${tabs.map((t) => html`<button key=${t.id} role="tab" data-tab=${t.id}
      aria-selected=${t.id === tab ? 'true' : 'false'} tabindex=${t.id === tab ? 0 : -1} onClick=${() => onTab(t.id)}>
        ${t.text}</button>`)}
  </div>`;
}
