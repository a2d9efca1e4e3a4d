// The one grid: as many rows as there are, as many elements as fit the screen. Rows come from a source in pages and are
// placed in a box as high as all of them; scrolling only requests a frame, in which the grid is painted.

import { Columns } from './columns.js';

/**
 * @typedef {object} Column
 * @property {string} name
 * @property {string} [title]
 * @property {string} [hint] the tooltip of the head
 * @property {(th: HTMLElement) => void} [drawHead] in place of the title
 * @property {string} [type] shown beside the name
 * @property {number} width px
 * @property {boolean} [flex] takes what is left of the width
 * @property {boolean} [frozen] stays in view when others are scrolled; the first columns alone
 * @property {string} [kind] class of its cells: num, time
 * @property {(cell: HTMLElement, row: any[], index: number) => void} draw
 */

/**
 * @typedef {object} Source
 * @property {number} count
 * @property {(from: number, to: number) => Promise<any[][]>} slice
 */

/**
 * @typedef {object} Handlers
 * @property {string} label
 * @property {(index: number, row: any[]) => void} [open] Enter or click on a row
 * @property {(index: number) => void} [move] the focus went to a row
 * @property {(column: number, e: MouseEvent) => void} [head] click on a column's head
 * @property {(column: number, width: number) => void} [resized]
 * @property {(from: number, to: number) => boolean} [moved] a column was moved; false: it stays
 * @property {(column: number) => void} [removed]
 * @property {() => void} [end] the end of the rows is near
 * @property {(atEnd: boolean, up: boolean) => void} [scrolled] up: somebody moved towards the beginning
 * @property {(row: any[], index: number) => string} [rowClass]
 */

export const pageRows = 200;
const mostPages = 25;
/** Browsers draw boxes up to about 16 million px; a higher one is scrolled in proportion. */
const highest = 15_000_000;
const spare = 6, headHeight = 24;

/**
 * The class Heights is needed, and loaded, only when lines are wrapped.
 * @type {typeof import('./heights.js').Heights|null}
 */
let Heights = null;
/** rowOf is the row that an element shows, -1: none. @param {HTMLElement} el */
const rowOf = (el) => (el.dataset.row ? Number(el.dataset.row) : -1);
export class Grid {
  /** @param {HTMLElement} host @param {Handlers} on */
  constructor(host, on) {
    this.on = on;
    this.rowHeight = 20;
    /** @type {Source} */
    this.source = { count: 0, slice: async () => [] };
    /** @type {Map<number, any[][]|null>} null: on its way */
    this.pages = new Map();
    this.focus = -1;
    this.anchor = -1;
    this.focusColumn = 0;
    this.wrap = false;
    /** @type {import('./heights.js').Heights|null} */
    this.heights = null;
    this.version = 0;
    this.scheduled = 0;

    this.root = document.createElement('div');
    this.root.className = 'grid';
    this.root.tabIndex = 0;
    this.root.setAttribute('role', 'grid');
    this.root.setAttribute('aria-label', on.label);
    this.root.ariaBusy = 'true';
    this.heads = new Columns(this);
    this.body = document.createElement('div');
    this.body.className = 'grid-body';
    this.root.append(this.heads.head, this.body);
    host.append(this.root);
    /** @type {HTMLElement[]} */
    this.pool = [];

    this.root.addEventListener('scroll', () => this.schedule(), { passive: true });
    this.root.addEventListener('keydown', (e) => this.key(e));
    this.body.addEventListener('click', (e) => this.click(e));
    this.body.addEventListener('dblclick', (e) => this.open(this.indexOf(e.target)));
    this.observer = new ResizeObserver(() => { this.width = 0; this.schedule(); });
    this.observer.observe(this.root);
    this.width = this.height = 0;
    this.atEnd = false;
    this.endTold = -1;
    this.lastTop = 0;
  }

  /** columns are the columns that are shown. */
  get columns() { return this.heads.list; }

  destroy() {
    this.observer.disconnect();
    cancelAnimationFrame(this.scheduled);
    clearTimeout(this.resting);
    this.root.remove();
  }

  /** setColumns changes which columns are shown. @param {Column[]} columns */
  setColumns(columns) {
    this.heads.list = columns;
    this.width = 0;
    this.schedule();
  }

  /** setSource shows other rows; with keep the view stays. @param {Source} source @param {boolean} [keep] */
  setSource(source, keep = false) {
    this.show(source, new Map());
    if (keep) {
      this.focus = Math.min(this.focus, source.count - 1);
      this.anchor = Math.min(this.anchor, source.count - 1);
    } else {
      this.focus = this.anchor = -1;
      this.root.scrollTop = this.first = 0;
      this.root.classList.add('stale'); // until these rows are painted
    }
    this.want(this.first, this.first + (keep ? this.pool.length : 1));
    this.coming = this.pages.size > 0;
  }

  /** show shows other rows, some pages at once. @param {Source} source @param {Map<number, any[][]|null>} pages */
  show(source, pages) {
    this.source = source;
    this.pages = pages;
    this.version++;
    this.endTold = -1;
    this.heights = null;
    this.coming = this.still = false;
    this.schedule();
  }

  /** grew tells that the source has more rows behind those it had, the last of which may have changed. */
  grew() {
    this.endTold = -1;
    // an incomplete page stays in view until it is loaded again
    for (const [page, rows] of this.pages) if (!rows || rows.length < pageRows || !this.pages.has(page + 1))
      this.fetchPage(page);
    if (this.heights) this.heights = this.heights.of(this.source.count);
    this.schedule();
  }

  /** @param {boolean} wrap */
  setWrap(wrap) {
    this.wrap = wrap;
    if (wrap && !Heights) void import('./heights.js').then((m) => { Heights = m.Heights; this.schedule(); },
      () => this.setWrap(false));
    this.heights = null;
    this.root.classList.toggle('wrap', wrap);
    this.width = 0;
    this.schedule();
  }

  /** redraw paints all cells anew: the same rows look different now. */
  redraw() {
    this.version++;
    this.schedule();
  }

  schedule() {
    this.scheduled ||= requestAnimationFrame(() => {
      this.scheduled = 0;
      this.paint();
    });
  }

  /** total is the height of all rows. */
  total() {
    return this.wrap && this.heights ? this.heights.total() : this.source.count * this.rowHeight;
  }

  /** @param {number} row */
  top(row) {
    return this.wrap && this.heights ? this.heights.top(row) : row * this.rowHeight;
  }

  /** scale is how much of the rows one px of the scroll bar stands for. */
  scale() {
    const total = this.total();
    const view = Math.max(1, this.height - headHeight);
    return total <= highest ? 1 : (total - view) / (highest - view);
  }

  /** row gives a row if it is here. @param {number} index @returns {any[]|undefined} */
  row(index) {
    return this.pages.get(Math.floor(index / pageRows))?.[index % pageRows];
  }

  /** want asks for the pages of a range that are not here. @param {number} from @param {number} to */
  want(from, to) {
    for (let p = Math.floor(from / pageRows); p <= Math.floor(Math.max(from, to - 1) / pageRows); p++) {
      if (this.pages.has(p) || p * pageRows >= this.source.count) continue;
      this.pages.set(p, null);
      this.fetchPage(p);
    }
  }

  /** @param {number} p */
  fetchPage(p) {
    const source = this.source;
    source.slice(p * pageRows, Math.min((p + 1) * pageRows, source.count)).then((rows) => {
      if (source !== this.source) return;
      if (this.pages.get(p)) this.version++; // rows that had no page are painted in any case
      this.pages.set(p, rows);
      this.coming &&= [...this.pages.values()].includes(null);
      this.drop(p);
      this.schedule();
    }, () => {
      this.pages.delete(p);
      if (source !== this.source || !this.coming) return;
      this.coming = false;
      this.schedule();
    });
  }

  /** drop forgets pages far away, so that at most mostPages are kept. @param {number} near */
  drop(near) {
    if (this.pages.size <= mostPages) return;
    const far = [...this.pages.keys()].sort((a, b) => Math.abs(b - near) - Math.abs(a - near));
    for (const p of far.slice(0, this.pages.size - mostPages)) this.pages.delete(p);
  }

  /** measure reads the size of the view, once after it changed. */
  measure() {
    this.width = this.root.clientWidth;
    this.height = this.root.clientHeight;
    this.heads.measure(this.width);
    this.version++;
  }

  paint() {
    if (this.coming || this.columns.length === 0) return;
    this.root.classList.remove('stale');
    if (this.width === 0) this.measure();
    let scrollTop = this.root.scrollTop;
    this.ending &&= scrollTop >= this.lastTop - 1; // a smaller scrollTop: somebody scrolled up meanwhile
    const count = this.source.count;
    if (this.wrap && Heights && this.heights?.count !== count) this.heights = new Heights(count, this.rowHeight);
    this.body.style.height = Math.min(this.total(), highest) + 'px';
    this.body.style.width = this.heads.fullWidth + 'px';
    if (this.ending) {
      this.root.scrollTop = this.root.scrollHeight;
      scrollTop = this.lastTop = this.root.scrollTop;
    }
    const view = Math.max(0, this.height - headHeight), top = scrollTop * this.scale();
    const at = (/** @type {number} */ y) =>
      (this.wrap && this.heights ? this.heights.at(y) : Math.floor(y / this.rowHeight));
    const first = Math.max(0, at(top) - spare);
    const last = Math.min(count, at(top + view) + 1 + spare);
    this.first = Math.min(count, at(top));
    this.want(first, last);
    if (this.heads.follow(this.root.scrollLeft, this.width)) this.version++;
    this.root.ariaBusy = null;
    this.body.role = last > first ? 'rowgroup' : null;
    this.root.setAttribute('aria-rowcount', String(count));
    this.root.setAttribute('aria-colcount', String(this.columns.length));
    while (this.pool.length < last - first) {
      const el = document.createElement('div');
      el.setAttribute('role', 'row');
      this.pool.push(el);
      this.body.append(el);
    }
    /** @type {HTMLElement[]} */
    const free = [];
    /** @type {Map<number, HTMLElement>} */
    const there = new Map();
    for (const el of this.pool) {
      const i = rowOf(el);
      if (i >= first && i < last && !there.has(i)) there.set(i, el);
      else free.push(el);
    }
    for (let i = first; i < last; i++) {
      const el = there.get(i) ?? /** @type {HTMLElement} */ (free.shift());
      this.paintRow(el, i);
      el.style.transform = `translateY(${this.top(i) - top + scrollTop}px)`;
    }
    for (const el of free) {
      if (el.dataset.row === '') continue;
      el.dataset.row = '';
      el.className = 'grid-row hidden';
    }
    while (this.pool.length > last - first + 40)
      this.pool.splice(this.pool.indexOf(/** @type {HTMLElement} */ (free.shift())), 1)[0].remove();
    if (this.focus >= first && this.focus < last)
      this.root.setAttribute('aria-activedescendant', `${this.id}-${this.focus}`);
    else this.root.removeAttribute('aria-activedescendant');
    if (this.wrap && this.measureRows()) return;
    this.ending &&= !this.row(first) || !this.row(last - 1) || this.wrap && !this.heights;
    this.tellEnds(last, scrollTop);
    clearTimeout(this.resting);
    this.resting = setTimeout(() => this.inOrder(), 300);
  }

  /** @type {ReturnType<typeof setTimeout>|undefined} */
  resting;

  /**
   * inOrder puts the rows into the elements in order when nobody has scrolled for a while, so that text is selected and
   * read aloud in the order in which it is seen.
   */
  inOrder() {
    const rows = this.pool.map(rowOf).filter((i) => i >= 0);
    if (rows.every((r, i) => i === 0 || r > rows[i - 1]) || String(getSelection()) !== '') return;
    for (const el of this.pool) el.dataset.row = '-1';
    this.paint();
  }

  id = 'grid' + Math.random().toString(36).slice(2, 8);
  first = 0;
  /**
   * coming: the first rows of another source are on their way. Until they are here the rows before stay in view, with
   * their count.
   */
  coming = false;

  /**
   * still: the view does not move when wrapped rows above it turn out to be higher than estimated. A list that follows
   * its end does not need this.
   */
  still = false;
  /** ending: the view keeps moving to the end until the last rows are loaded and measured. */
  ending = false;

  /** @param {number} last @param {number} scrollTop */
  tellEnds(last, scrollTop) {
    const count = this.source.count;
    this.atEnd = scrollTop + this.height >= Math.min(this.total(), highest) + headHeight - 4;
    this.on.scrolled?.(this.atEnd, scrollTop < this.lastTop - 1);
    this.lastTop = scrollTop;
    if (last >= count - 50 && count > 0 && this.endTold !== count) {
      this.endTold = count;
      this.on.end?.();
    }
  }

  /** @param {HTMLElement} el @param {number} index */
  paintRow(el, index) {
    const { drawn, layout, fullWidth } = this.heads;
    const row = this.row(index);
    const from = Math.min(this.anchor, this.focus), to = Math.max(this.anchor, this.focus);
    const on = this.focus >= 0 && index >= from && index <= to;
    el.className = 'grid-row' + (on ? ' on' : '') + (index === this.focus ? ' focus' : '') +
      (row && this.on.rowClass ? ' ' + this.on.rowClass(row, index) : '');
    el.setAttribute('aria-selected', String(on));
    el.dataset.row = String(index);
    const mark = `${this.version}:${index}:${row ? 1 : 0}`;
    this.markCell(el, index);
    if (el.dataset.mark === mark) return;
    el.dataset.mark = mark;
    el.id = `${this.id}-${index}`;
    el.setAttribute('aria-rowindex', String(index + 1));
    el.style.width = fullWidth + 'px';
    while (el.children.length > drawn.length) el.lastElementChild?.remove();
    while (el.children.length < drawn.length) {
      const cell = document.createElement('div');
      cell.setAttribute('role', 'gridcell');
      el.append(cell);
    }
    for (let i = 0; i < drawn.length; i++) {
      const cell = /** @type {HTMLElement} */ (el.children[i]);
      const column = this.columns[drawn[i]];
      cell.className = 'grid-cell' + (column.kind ? ' ' + column.kind : '') + (column.flex ? ' flex' : '');
      this.heads.place(cell, drawn[i]);
      const below = this.wrap && column.flex;
      if (below) cell.style.left = '0';
      cell.style.marginLeft = below ? layout[drawn[i]].left + 'px' : '';
      cell.removeAttribute('title');
      if (row) column.draw(cell, row, index);
      else cell.textContent = '';
    }
    this.markCell(el, index);
  }

  /** markCell shows which cell of the focused row keys mean. @param {HTMLElement} el @param {number} index */
  markCell(el, index) {
    for (let i = 0; i < el.children.length; i++)
      el.children[i].classList.toggle('at',
        this.cells && index === this.focus && this.heads.drawn[i] === this.focusColumn);
  }

  /** cells: keys move between cells too, not only rows. */
  cells = false;
  /** clickOpens: one click opens a row; else it takes two. */
  clickOpens = true;

  /**
   * measureRows reads the heights of wrapped rows after they were drawn. When one differs from the estimate the grid is
   * painted again: at once, and the result is true, when rows in the view would move.
   */
  measureRows() {
    let changed = false, above = 0;
    for (const el of this.pool) {
      const i = rowOf(el), by = i >= 0 && this.row(i) && this.heights?.set(i, el.offsetHeight);
      if (by) changed = true;
      if (by && this.still && i < this.first) above += by;
    }
    if (changed) this.schedule();
    if (above === 0 && !(changed && this.ending)) return false;
    this.body.style.height = Math.min(this.total(), highest) + 'px';
    this.root.scrollTop += above / this.scale();
    this.paint();
    return true;
  }

  /** @param {EventTarget|null} target */
  indexOf(target) {
    const el = target instanceof Element ? target.closest('.grid-row') : null;
    return el instanceof HTMLElement ? rowOf(el) : -1;
  }

  /** @param {MouseEvent} e */
  click(e) {
    const index = this.indexOf(e.target);
    if (index < 0) return;
    const cell = e.target instanceof Element ? e.target.closest('.grid-cell') : null;
    if (cell?.parentElement) this.focusColumn = this.heads.drawn[[...cell.parentElement.children].indexOf(cell)];
    if (String(getSelection()) !== '' && !e.shiftKey) return; // somebody selects text
    this.select(index, e.shiftKey);
    if (!e.shiftKey && this.clickOpens) this.open(index);
  }

  /** @param {number} index */
  open(index) {
    const row = this.row(index);
    if (row) this.on.open?.(index, row);
  }

  /** select moves the focus to a row, or widens the selection to it. @param {number} index @param {boolean} [widen] */
  select(index, widen = false) {
    if (this.source.count === 0) return;
    this.focus = Math.max(0, Math.min(index, this.source.count - 1));
    if (!widen || this.anchor < 0) this.anchor = this.focus;
    this.reveal(this.focus);
    this.on.move?.(this.focus);
    this.schedule();
  }

  /** selection is the range of rows selected, none when empty. @returns {[number, number]} */
  selection() {
    if (this.focus < 0) return [0, 0];
    return [Math.min(this.anchor, this.focus), Math.max(this.anchor, this.focus) + 1];
  }

  /** reveal scrolls a row into view. @param {number} index @param {'near'|'middle'} [where] */
  reveal(index, where = 'near') {
    const view = this.height - headHeight;
    const top = this.top(index) / this.scale(), bottom = top + this.rowHeight;
    if (where === 'middle') this.root.scrollTop = top - view / 2;
    else if (top < this.root.scrollTop) this.root.scrollTop = top;
    else if (bottom > this.root.scrollTop + view) this.root.scrollTop = bottom - view;
    this.schedule();
  }

  /** toEnd scrolls to the last row. */
  toEnd() {
    this.ending = true;
    this.lastTop = this.root.scrollTop;
    this.paint();
  }

  /**
   * move moves the focus by some rows, from the first row in the view when none has it.
   * @param {number} by
   * @param {boolean} [widen]
   */
  move(by, widen) {
    const from = this.focus < 0 ? (by > 0 ? this.first - 1 : this.first + 1) : this.focus;
    this.root.focus({ preventScroll: true });
    this.select(from + by, widen);
  }

  /** key moves by keyboard. @param {KeyboardEvent} e */
  key(e) {
    if (e.target !== this.root || e.ctrlKey || e.metaKey || e.altKey) return;
    const page = Math.max(1, Math.floor((this.height - headHeight) / this.rowHeight) - 1);
    const by = { ArrowDown: 1, j: 1, ArrowUp: -1, k: -1, PageDown: page, PageUp: -page, Home: -Infinity,
      End: Infinity }[e.key];
    if (by !== undefined) {
      this.move(by, e.shiftKey);
    } else if (this.cells && this.heads.key(e)) {
      this.schedule();
    } else if (this.cells && (e.key === 'ArrowLeft' || e.key === 'ArrowRight')) {
      this.focusColumn = Math.max(0,
        Math.min(this.columns.length - 1, this.focusColumn + (e.key === 'ArrowLeft' ? -1 : 1)));
      this.schedule();
    } else if (e.key === 'Enter' && this.focus >= 0) {
      this.open(this.focus);
    } else {
      return;
    }
    e.preventDefault();
  }
}
