// The drawer beside a list, with tabs; on small screens it comes from below.

import { html } from '../lib/ui.js';
import { Icon } from './icons.js';
import { Tabs } from './tabs.js';

/**
 * @param {{label: string, tabs: {id: string, text: string}[], tab: string, onTab: (id: string) => void, onClose: () =>
 *   void, onPrevious?: () => void, onNext?: () => void, actions?: any, children: any}} props
 */
export function Drawer({ label, tabs, tab, onTab, onClose, onPrevious, onNext, actions, children }) {
  return html`<aside class="drawer" aria-label=${label}>
    <header>
      <${Tabs} tabs=${tabs} tab=${tab} onTab=${onTab} label=${label} />
      <span class="grow"></span>${actions}
      ${onPrevious && html`<button class="quiet small icon" title="Previous row (k)" aria-label="Previous row"
        onClick=${onPrevious}><${Icon} name="up" /></button>`}
      ${onNext && html`<button class="quiet small icon" title="Next row (j)" aria-label="Next row" onClick=${onNext}>
        <${Icon} name="down" /></button>`}
      <button class="quiet small icon" title="Close (Esc)" aria-label="Close" onClick=${onClose}>
        <${Icon} name="close" /></button>
    </header>
    <div class="body">${children}</div>
  </aside>`;
}
