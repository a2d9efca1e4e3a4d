// One panel of a board: its frame, its menu, and how it is moved and sized by mouse and keys.

import { html, useRef } from '../lib/ui.js';
import { fillText } from '../core/boardvars.js';
import { columns } from '../core/boardlayout.js';
import * as router from '../core/router.js';
import { closed, session } from '../core/state.js';
import { ErrorBox } from '../ui/error.js';
import { Icon } from '../ui/icons.js';
import { Pop } from '../ui/pop.js';
import { copy, toast } from '../ui/toast.js';
import { faded } from '../ui/useanswer.js';
import { filled } from './boardask.js';
import { Drawing } from './boarddraw.js';

/** The height of a row and the gap between rows, px; boards.css has the same. */
export const rowHeight = 30, gap = 8;

/** @typedef {import('../core/boards.js').Panel} Panel */

/**
 * @typedef {object} Acts what can be done with a panel
 * @property {() => void} edit
 * @property {() => void} duplicate
 * @property {() => void} remove
 * @property {(full: boolean) => void} full
 * @property {(to: Partial<import('../core/boardlayout.js').Place>, done: boolean) => void} place
 * @property {(key: 'ArrowLeft'|'ArrowRight'|'ArrowUp'|'ArrowDown') => void} step
 */

/**
 * @param {{panel: Panel, shown: import('./boardrun.js').Shown|undefined, asked: string|undefined, env:
 *   import('../core/boardvars.js').Env, arranging: boolean, full: boolean, acts: Acts}} props
 */
export function BoardPanel({ panel: p, shown, asked, env, arranging, full, acts }) {
  const box = useRef(/** @type {HTMLElement|null} */ (null));
  const stale = shown !== undefined && shown.of !== asked;
  const title = fillText(p.title, env);
  const key = (/** @type {KeyboardEvent} */ e) => {
    if (!arranging || e.target !== box.current || !e.key.startsWith('Arrow')) return;
    e.preventDefault();
    const by = /** @type {Record<string, {w?: number, h?: number}>} */ ({ ArrowLeft: { w: p.w - 1 },
      ArrowRight: { w: p.w + 1 }, ArrowUp: { h: p.h - 1 }, ArrowDown: { h: p.h + 1 } })[e.key];
    if (e.shiftKey) acts.place(by, true);
    else acts.step(/** @type {any} */ (e.key));
  };
  const style = full ? {} : { gridColumn: `${p.x + 1} / span ${p.w}`, gridRow: `${p.y + 1} / span ${p.h}` };
  return html`<section ref=${box} class="board-panel ${arranging ? 'arranging' : ''} ${full ? 'full' : ''}"
    data-panel=${p.id} style=${style} tabindex=${arranging ? 0 : -1} aria-label=${title || `Panel ${p.id}`}
    aria-description=${arranging ? 'Arrows move it, Shift and arrows size it' : undefined} onKeyDown=${key}>
    <header onPointerDown=${arranging ? (e) => drag(e, box.current, p, acts, false) : undefined}>
      <h2 class="text" title=${title}>${title}</h2>
      <${Menu} panel=${p} env=${env} full=${full} acts=${acts} /></header>
    <div ...${faded('board-content', stale)}>
      ${shown?.error ? html`<${ErrorBox} error=${shown.error} language=${p.lang === 'sql' ? 'SQL' : 'PromQL'} />`
        : shown?.answer ? html`<${Drawing} panel=${p} answer=${shown.answer} text=${fillText(p.text, env)} />`
          : html`<p class="state soft wait">Asking …</p>`}</div>
    ${arranging && html`<div class="board-corner" title="Drag to size" aria-hidden="true"
      onPointerDown=${(e) => drag(e, box.current, p, acts, true)}></div>`}
  </section>`;
}

/**
 * drag moves or sizes a panel with the pointer, by whole columns and rows; Escape puts it back.
 * @param {PointerEvent} e
 * @param {HTMLElement|null} el
 * @param {Panel} p
 * @param {Acts} acts
 * @param {boolean} sizes
 */
function drag(e, el, p, acts, sizes) {
  if (e.button !== 0 || !el || (e.target instanceof Element && e.target.closest('button'))) return;
  e.preventDefault();
  const wide = (/** @type {HTMLElement} */ (el.parentElement).clientWidth + gap) / columns, high = rowHeight + gap;
  const { pageX: x0, pageY: y0 } = e, scroller = el.closest('.content'), top = scroller?.scrollTop ?? 0;
  let to = /** @type {Partial<import('../core/boardlayout.js').Place>} */ ({});
  const move = (/** @type {PointerEvent} */ m) => {
    const dx = Math.round((m.pageX - x0) / wide);
    const dy = Math.round((m.pageY - y0 + (scroller?.scrollTop ?? 0) - top) / high);
    to = sizes ? { w: p.w + dx, h: p.h + dy } : { x: p.x + dx, y: p.y + dy };
    acts.place(to, false);
  };
  const end = (/** @type {boolean} */ kept) => {
    removeEventListener('pointermove', move);
    removeEventListener('pointerup', up);
    removeEventListener('pointercancel', away);
    removeEventListener('keydown', escape, true);
    acts.place(kept ? to : {}, true);
  };
  const up = () => end(true), away = () => end(false);
  const escape = (/** @type {KeyboardEvent} */ k) => {
    if (k.key !== 'Escape') return;
    k.preventDefault();
    k.stopPropagation();
    end(false);
  };
  addEventListener('pointermove', move);
  addEventListener('pointerup', up);
  addEventListener('pointercancel', away);
  addEventListener('keydown', escape, true);
}

/**
 * @param {{panel: Panel, env: import('../core/boardvars.js').Env, full: boolean, acts: Acts}} props
 */
function Menu({ panel: p, env, full, acts }) {
  const reason = closed.value;
  const texts = () => {
    try {
      return filled(p, env);
    } catch (e) {
      toast(e instanceof Error ? e.message : String(e), { kind: 'bad' });
      return [];
    }
  };
  const open = () => {
    const [first] = texts();
    if (first === undefined) return;
    if (p.lang === 'sql') void router.go('sql', { sql: first });
    else void router.go('metrics', { q: first });
  };
  const rule = () => {
    const [e] = texts();
    if (e !== undefined) void router.go('alerts', { make: '1', e, lang: p.lang });
  };
  const asks = p.type !== 'text' && p.queries.length > 0;
  return html`<${Pop} menu side="right" className="quiet small icon" title=${`Panel ${p.title || p.id}`}
    label=${html`<${Icon} name="menu" />`}>${(/** @type {() => void} */ close) => {
    const item = (/** @type {string} */ text, /** @type {() => void} */ run, off = '') => html`<button role="menuitem"
      disabled=${off !== ''} title=${off} onClick=${() => { close(); run(); }}>${text}</button>`;
    return html`${item(full ? 'Back to the board' : 'Full screen', () => acts.full(!full))}
      ${asks && item(p.lang === 'sql' ? 'Open on SQL' : 'Open on Metrics', open)}
      ${asks && item('Copy the queries', () => void copy(texts().join('\n')))}
      ${asks && session.value.features?.includes('rules') && item('Make a rule', rule, reason)}<hr />
      ${item('Edit', acts.edit)}${item('Duplicate', acts.duplicate)}${item('Remove', acts.remove)}`;
  }}</${Pop}>`;
}
