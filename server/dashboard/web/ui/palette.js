// Ctrl+K: pages, tables and actions by a few letters.

import { html, useEffect, useMemo, useState } from '../lib/ui.js';
import { opened, sources } from '../core/commands.js';
import { score } from '../core/fuzzy.js';
import { Dialog } from './pop.js';

/** @typedef {import('../core/commands.js').Command} Command */

export function Palette() {
  const [text, setText] = useState('');
  const [at, setAt] = useState(0);
  const [all, setAll] = useState(/** @type {Command[]} */ ([]));
  useEffect(() => {
    let wanted = true;
    for (const source of sources) {
      Promise.resolve(source()).then((list) => { if (wanted) setAll((before) => [...before, ...list]); }, () => {});
    }
    return () => { wanted = false; };
  }, []);
  const found = useMemo(() => all.map((c) => ({ c, s: score(text, `${c.text} ${c.kind}`) })).filter(({ s }) => s > 0)
    .sort((a, b) => b.s - a.s).slice(0, 50).map(({ c }) => c), [all, text]);
  const close = () => { opened.value = ''; };
  const run = (/** @type {Command|undefined} */ c) => {
    close();
    if (c) setTimeout(c.run);
  };
  const key = (/** @type {KeyboardEvent} */ e) => {
    if (e.key === 'ArrowDown' || e.key === 'ArrowUp') {
      e.preventDefault();
      setAt((at + (e.key === 'ArrowDown' ? 1 : -1) + found.length) % Math.max(1, found.length));
    } else if (e.key === 'Enter') {
      e.preventDefault();
      run(found[at]);
    }
  };
  return html`<${Dialog} title="Command palette" bare className="palette" onClose=${close}>
    <input role="combobox" aria-expanded="true" aria-controls="palette-list" aria-activedescendant=${found.length ? `palette-${at}` : undefined} aria-label="Command" placeholder="Page, table or action" value=${text} autofocus spellcheck=${false}
      onInput=${(/** @type {any} */ e) => { setText(e.target.value); setAt(0); }} onKeyDown=${key} />
    <ul id="palette-list" role="listbox" aria-label="Commands">
      ${found.map((c, i) => html`<li key=${c.kind + c.text} id=${`palette-${i}`} role="option" aria-selected=${i === at ? 'true' : 'false'} onPointerMove=${() => setAt(i)} onClick=${() => run(c)}>
        <span>${c.text}</span><span class="kind">${c.kind}</span></li>`)}
      ${found.length === 0 && html`<li class="faint">Nothing is called so</li>`}
    </ul>
  </${Dialog}>`;
}
