// Ctrl+K: pages, tables and actions by a few letters. And ?: the shortcuts that work now.

import { html, signal, useEffect, useMemo, useState } from '../lib/ui.js';
import { score } from '../core/fuzzy.js';
import * as keys from '../core/keys.js';
import { Dialog } from './pop.js';

/** @typedef {{text: string, kind: string, run: () => void}} Command */

export const paletteOpen = signal(false);
export const shortcutsOpen = signal(false);

/** sources give the commands; pages add theirs. @type {Set<() => Command[]|Promise<Command[]>>} */
export const sources = new Set();

export function Palette() {
  const [text, setText] = useState('');
  const [at, setAt] = useState(0);
  const [all, setAll] = useState(/** @type {Command[]} */ ([]));
  useEffect(() => {
    setText('');
    setAt(0);
    if (!paletteOpen.value) return;
    let wanted = true;
    setAll([]);
    for (const source of sources) {
      Promise.resolve(source()).then((list) => { if (wanted) setAll((before) => [...before, ...list]); }, () => {});
    }
    return () => { wanted = false; };
  }, [paletteOpen.value]);
  const found = useMemo(() => all.map((c) => ({ c, s: score(text, `${c.text} ${c.kind}`) })).filter(({ s }) => s > 0)
    .sort((a, b) => b.s - a.s).slice(0, 50).map(({ c }) => c), [all, text]);
  if (!paletteOpen.value) return null;
  const close = () => { paletteOpen.value = false; };
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

export function Shortcuts() {
  if (!shortcutsOpen.value) return null;
  const seen = new Set();
  const list = keys.all().filter((s) => s.text && !seen.has(s.keys) && seen.add(s.keys));
  const mac = /Mac|iP(hone|ad)/.test(navigator.platform);
  return html`<${Dialog} title="Keyboard" onClose=${() => { shortcutsOpen.value = false; }}>
    <div class="shortcuts">${list.map((s) => html`<kbd key=${s.keys}>${s.keys.replace('Mod', mac ? '⌘' : 'Ctrl')}</kbd><span>${s.text}</span>`)}
      <kbd>j k ↑ ↓</kbd><span>Next, previous row of a list</span><kbd>Home End PgUp PgDn</kbd><span>Move in a list</span></div>
    <div class="buttons"><button autofocus onClick=${() => { shortcutsOpen.value = false; }}>Close</button></div>
  </${Dialog}>`;
}
