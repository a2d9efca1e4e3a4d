// Marks over a chart: single events as buttons at their place, so that the keyboard reaches them, too.

import { html } from '../lib/ui.js';

/**
 * @typedef {{x: number, y: number|null, title: string, onOpen?: () => void}} Mark y in the chart's scale; null: at the
 *   bottom; outside of it: at that edge
 */
/** @typedef {{left: number, top: number, mark: Mark}} Placed */

/** place finds where marks lie on a plot. @param {any} u @param {Mark[]} marks @returns {Placed[]} */
export function place(u, marks) {
  const { min, max } = u.scales.x, bottom = u.over.clientHeight;
  return marks.filter((m) => m.x >= min && m.x <= max).map((mark) => {
    const y = mark.y === null ? bottom : u.valToPos(mark.y, 'y');
    return { left: u.over.offsetLeft + u.valToPos(mark.x, 'x'),
      top: u.over.offsetTop + Math.min(bottom - 5, Math.max(5, y || 0)), mark };
  });
}

/** @param {{placed: Placed[]}} props */
export const Marks = ({ placed }) => html`${placed.map(({ left, top, mark }, i) => html`<button key=${i} type="button"
  class="chart-mark" style=${{ left: `${left}px`, top: `${top}px` }} title=${mark.title} aria-label=${mark.title}
    disabled=${!mark.onOpen} onClick=${mark.onOpen}></button>`)}`;
