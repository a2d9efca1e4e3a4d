// The panels of the Metrics page in its address: the first by keys of its own, so that a link to one expression stays
// short, the others as JSON.

/** The most panels of a page. */
export const mostPanels = 20;

/** keys are the keys of a panel in the address. @satisfies {Record<string, import('../core/state.js').Key>} */
export const keys = /** @type {const} */ ({
  q: { type: 'text', default: '' },
  view: { type: 'text', default: 'graph', of: ['graph', 'table', 'explain'] },
  stack: { type: 'switch', default: false },
  log: { type: 'switch', default: false },
  zero: { type: 'switch', default: false },
  lines: { type: 'switch', default: false }, // whether lines are drawn instead of a heat map
  ex: { type: 'switch', default: true }, // whether exemplars are drawn
  unit: { type: 'text', default: 'auto', of: ['auto', 'number', 'bytes', 's', 'ms', 'share', 'percent'] },
  at: { type: 'text', default: '' }, // moment of the table, empty: the end of the range
  fold: { type: 'switch', default: false },
});

/**
 * @typedef {{q: string, view: 'graph'|'table'|'explain', stack: boolean, log: boolean, zero: boolean, lines: boolean,
 *   ex: boolean, unit: string, at: string, fold: boolean}} Panel
 */

/** blank is a panel without an expression. */
export const blank = /** @type {Panel} */ (Object.fromEntries(Object.entries(keys)
  .map(([k, key]) => [k, key.default])));

/** checked takes the valid keys of a panel from any value. @param {any} from @returns {Panel} */
function checked(from) {
  const fits = Object.entries(keys)
    .filter(([k, key]) => typeof from?.[k] === typeof key.default &&
      (!('of' in key) || /** @type {readonly string[]} */ (key.of).includes(from[k])));
  return { ...blank, ...Object.fromEntries(fits.map(([k]) => [k, from[k]])) };
}

/** panelsOf reads the panels of an address. @param {Record<string, any>} values @returns {Panel[]} */
export function panelsOf(values) {
  let more = [];
  try {
    const read = JSON.parse(values.more || '[]');
    if (Array.isArray(read)) more = read.slice(0, mostPanels - 1);
  } catch {
    // An address that was cut off: the first panel is there.
  }
  return [checked(values), ...more.map(checked)];
}

/**
 * patchOf writes panels for the address, without default values.
 * @param {Panel[]} panels
 * @returns {Record<string, any>}
 */
export function patchOf(panels) {
  const [first = blank, ...rest] = panels.slice(0, mostPanels);
  const short = rest.map((p) =>
    Object.fromEntries(Object.entries(p).filter(([k, v]) => v !== /** @type {any} */ (blank)[k])));
  return { ...first, more: short.length > 0 ? JSON.stringify(short) : '' };
}

/**
 * moved takes a panel to another place.
 * @template T
 * @param {T[]} list
 * @param {number} from
 * @param {number} to
 * @returns {T[]}
 */
export function moved(list, from, to) {
  const next = [...list];
  next.splice(to, 0, ...next.splice(from, 1));
  return next;
}
