// Things that open over the page: a menu or panel at a button, and dialogs. All close by Escape and give the focus
// back.

import { html, useLayoutEffect, useRef, useState } from '../lib/ui.js';
import { hand } from '../core/keys.js';

/**
 * Pop is a button with a panel below it.
 * @param {{label: any, title?: string, className?: string, side?: 'left'|'right', sheet?: boolean, menu?: boolean,
 *   disabled?: boolean, id?: string, children: any, onOpen?: () => void}} props
 * children may be a function that is given close.
 */
export function Pop({ label, title, className = '', side = 'left', sheet, menu, disabled, id, children, onOpen }) {
  const [open, setOpen] = useState(false);
  const box = useRef(/** @type {HTMLElement|null} */ (null));
  const close = () => {
    setOpen(false);
    box.current?.querySelector('button')?.focus();
  };
  useLayoutEffect(() => {
    if (!open) return;
    const outside = (/** @type {Event} */ e) => {
      if (!e.composedPath().includes(/** @type {any} */ (box.current))) setOpen(false);
    };
    document.addEventListener('pointerdown', outside);
    const enter = () => {
      const first = box.current?.querySelector('.pop input, .pop select, .pop button');
      if (!(first instanceof HTMLElement)) return false;
      first.focus();
      return true;
    };
    const late = new MutationObserver(() => { if (enter()) late.disconnect(); }); // its content may still be loading
    if (!enter() && box.current) late.observe(box.current, { childList: true, subtree: true });
    return () => {
      late.disconnect();
      document.removeEventListener('pointerdown', outside);
    };
  }, [open]);
  const key = (/** @type {KeyboardEvent} */ e) => {
    if (e.key === 'Escape' && open) {
      e.preventDefault();
      e.stopPropagation();
      close();
    } else if (menu && open) {
      walk(e, box.current?.querySelector('.pop'));
    }
  };
  const toggle = () => {
    if (!open) onOpen?.();
    setOpen(!open);
  };
  return html`<span class="pop-anchor" ref=${box} onKeyDown=${key}>
    <button type="button" class=${className} id=${id} title=${title}
      aria-label=${/\bicon\b/.test(className) ? title : undefined} aria-haspopup=${menu ? 'menu' : 'dialog'}
        aria-expanded=${open ? 'true' : 'false'} disabled=${disabled} onClick=${toggle}>${label}</button>
    ${open && html`<div class="pop ${side} ${sheet ? 'sheet' : ''} ${menu ? 'menu' : ''}"
      role=${menu ? 'menu' : 'dialog'} aria-label=${title}>
      ${typeof children === 'function' ? children(close) : children}
    </div>`}
  </span>`;
}

/**
 * walk moves the focus in a menu: by arrows, Home and End, and by a letter to the next item that begins with it.
 * @param {KeyboardEvent} e
 * @param {Element|null|undefined} menu
 */
export function walk(e, menu) {
  const items = [.../** @type {NodeListOf<HTMLElement>} */ (menu?.querySelectorAll('[role^=menuitem]:not(:disabled)') ??
    [])];
  const at = items.indexOf(/** @type {HTMLElement} */ (document.activeElement)), n = items.length;
  const letter = /^\S$/.test(e.key) && !e.ctrlKey && !e.metaKey && !e.altKey;
  const next = letter ? [...items.slice(at + 1),
    ...items.slice(0, at + 1)].find((i) => i.innerText.trim().toLowerCase().startsWith(e.key.toLowerCase()))
    : items[{ ArrowDown: (at + 1) % n, ArrowUp: (Math.max(at, 0) - 1 + n) % n, Home: 0, End: n - 1 }[e.key] ?? n];
  if (!next && !letter) return;
  e.preventDefault();
  e.stopPropagation();
  next?.focus();
}

/**
 * Dialog is a modal one: the browser traps the focus in it.
 * @param {{title: string, onClose: () => void, className?: string, children: any, bare?: boolean}} props
 */
export function Dialog({ title, onClose, className = '', children, bare }) {
  const box = useRef(/** @type {HTMLDialogElement|null} */ (null));
  // A layout effect, before the next key: that would go to what lies behind.
  useLayoutEffect(() => {
    const before = document.activeElement, dialog = box.current;
    dialog?.showModal();
    void hand();
    return () => {
      dialog?.close(); // first the dialog closes: what lies behind takes no focus before
      if (before instanceof HTMLElement) before.focus();
    };
  }, []);
  return html`<dialog ref=${box} class=${className} aria-label=${title}
    onCancel=${(e) => { e.preventDefault(); onClose(); }}
    onClick=${(e) => { if (e.target === box.current) onClose(); }}>
    ${!bare && html`<h2>${title}</h2>`}${children}
  </dialog>`;
}
