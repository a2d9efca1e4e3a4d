// The drawer beside a list, with tabs; on small screens it comes from below.

import { html } from '../lib/ui.js';
import { Icon } from './icons.js';

/**
 * @param {{label: string, tabs: {id: string, text: string}[], tab: string, onTab: (id: string) => void, onClose: () => void, onPrevious?: () => void, onNext?: () => void, actions?: any, children: any}} props
 */
export function Drawer({ label, tabs, tab, onTab, onClose, onPrevious, onNext, actions, children }) {
  return html`<aside class="drawer" aria-label=${label}>
    <header>
      <${Tabs} tabs=${tabs} tab=${tab} onTab=${onTab} label=${label} />
      <span class="grow"></span>${actions}
      ${onPrevious && html`<button class="quiet small icon" title="Previous row (k)" aria-label="Previous row" onClick=${onPrevious}><${Icon} name="up" /></button>`}
      ${onNext && html`<button class="quiet small icon" title="Next row (j)" aria-label="Next row" onClick=${onNext}><${Icon} name="down" /></button>`}
      <button class="quiet small icon" title="Close (Esc)" aria-label="Close" onClick=${onClose}><${Icon} name="close" /></button>
    </header>
    <div class="body">${children}</div>
  </aside>`;
}

/** Tabs is a row of them; arrows move between. @param {{tabs: {id: string, text: any}[], tab: string, onTab: (id: string) => void, label: string}} props */
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
    ${tabs.map((t) => html`<button key=${t.id} role="tab" data-tab=${t.id} aria-selected=${t.id === tab ? 'true' : 'false'} tabindex=${t.id === tab ? 0 : -1} onClick=${() => onTab(t.id)}>${t.text}</button>`)}
  </div>`;
}
