// Where panels of a board lie: on a grid of 24 columns and rows without end. No two overlap, and none floats.

/** columns of a board. */
export const columns = 24;

/** @typedef {{x: number, y: number, w: number, h: number}} Place */

/** @param {Place} a @param {Place} b */
const overlap = (a, b) => a.x < b.x + b.w && b.x < a.x + a.w && a.y < b.y + b.h && b.y < a.y + a.h;

/**
 * compact moves panels down where they overlap one before them, and then up as far as there is room. The order is by
 * rows; one that was just moved comes first among those of its row.
 * @template {Place & {id: number}} P
 * @param {P[]} panels
 * @param {number} [moved] its id
 * @returns {P[]} in the order of their places
 */
export function compact(panels, moved = -1) {
  const order = [...panels].sort((a, b) =>
    a.y - b.y || Number(b.id === moved) - Number(a.id === moved) || a.x - b.x || a.id - b.id);
  /** @type {P[]} */
  const done = [];
  for (const p of order) {
    const next = { ...p };
    for (let hit; (hit = done.find((d) => overlap(d, next)));) next.y = hit.y + hit.h;
    while (next.y > 0 && !done.some((d) => overlap(d, { ...next, y: next.y - 1 }))) next.y--;
    done.push(next);
  }
  return done.sort((a, b) => a.y - b.y || a.x - b.x);
}

/**
 * placed gives a panel another place or size, within the columns; the others make room.
 * @template {Place & {id: number}} P
 * @param {P[]} panels
 * @param {number} id
 * @param {Partial<Place>} to
 */
export function placed(panels, id, to) {
  return compact(panels.map((p) => {
    if (p.id !== id) return p;
    const w = Math.max(2, Math.min(columns, to.w ?? p.w)), h = Math.max(2, Math.min(100, to.h ?? p.h));
    return { ...p, w, h, x: Math.max(0, Math.min(columns - w, to.x ?? p.x)), y: Math.max(0, to.y ?? p.y) };
  }), id);
}

/**
 * free is the first place where a panel of a size fits without moving others.
 * @param {Place[]} panels
 * @param {number} w
 * @param {number} h
 */
export function free(panels, w, h) {
  for (let y = 0; ; y++) for (let x = 0; x + w <= columns; x++) {
    if (!panels.some((p) => overlap(p, { x, y, w, h }))) return { x, y };
  }
}

/**
 * stepped moves a panel by a key: past its neighbour, so that each press changes something.
 * @template {Place & {id: number}} P
 * @param {P[]} panels
 * @param {number} id
 * @param {'ArrowLeft'|'ArrowRight'|'ArrowUp'|'ArrowDown'} key
 * @returns {P[]}
 */
export function stepped(panels, id, key) {
  const p = panels.find((o) => o.id === id);
  if (!p) return panels;
  if (key === 'ArrowLeft') return placed(panels, id, { x: p.x - 1 });
  if (key === 'ArrowRight') return placed(panels, id, { x: p.x + 1 });
  if (key === 'ArrowUp') {
    const above = panels.filter((o) => o.y < p.y).map((o) => o.y);
    return above.length === 0 ? panels : placed(panels, id, { y: Math.max(...above) });
  }
  const below = panels.filter((o) => o.id !== id && o.y >= p.y && overlap({ ...o, y: 0, h: 1 }, { ...p, y: 0, h: 1 }));
  return below.length === 0 ? panels : placed(panels, id, { y: Math.min(...below.map((o) => o.y + o.h)) });
}
