// The columns of a grid: where each lies, which can be seen, and their heads, by which they are resized and moved.

/** Columns up to this many are all drawn; of more, those in view. */
const mostDrawn = 30;
/** A head that was dragged by less was clicked, px. */
const slip = 6;

export class Columns {
  /** @param {import('./grid.js').Grid} grid */
  constructor(grid) {
    this.grid = grid;
    /** @type {import('./grid.js').Column[]} */
    this.list = [];
    /** @type {{left: number, width: number}[]} */
    this.layout = [];
    this.fullWidth = 0;
    /**
     * drawn are the columns that have cells now: those that stay in view, and those that can be seen.
     * @type {number[]}
     */
    this.drawn = [];
    this.head = document.createElement('div');
    this.head.className = 'grid-head';
  }

  /** measure lays the columns out. @param {number} width of the view */
  measure(width) {
    const fixed = this.list.reduce((sum, c) => sum + (c.flex ? 0 : c.width), 0);
    const flexible = this.list.filter((c) => c.flex).length;
    let left = 0;
    this.layout = this.list.map((c) => {
      const own = c.flex ? Math.max(c.width, (width - fixed) / flexible) : c.width;
      const at = { left, width: own };
      left += own;
      return at;
    });
    this.fullWidth = Math.max(left, width);
    this.grid.root.classList.toggle('frozen', this.list.some((c) => c.frozen));
    this.drawn = [];
  }

  /**
   * follow draws the heads of the columns that can be seen; true when they are others than before.
   * @param {number} left
   * @param {number} width
   */
  follow(left, width) {
    const seen = this.seen(left, left + width);
    if (seen.length === this.drawn.length && seen.every((c, i) => c === this.drawn[i])) return false;
    this.drawn = seen;
    this.head.style.width = this.fullWidth + 'px';
    this.head.role = seen.length > 0 ? 'row' : null; // a row needs cells
    this.head.replaceChildren(...seen.map((c) => this.cell(c)));
    return true;
  }

  /** @param {number} left @param {number} right */
  seen(left, right) {
    const all = this.list.map((_, c) => c);
    if (all.length <= mostDrawn) return all;
    return all.filter((c) => this.list[c].frozen ||
      (this.layout[c].left + this.layout[c].width > left - 100 && this.layout[c].left < right + 100));
  }

  /** place puts a head or a cell where its column lies. @param {HTMLElement} el @param {number} c */
  place(el, c) {
    el.style.left = this.layout[c].left + 'px';
    el.style.width = this.layout[c].width + 'px';
    el.classList.toggle('frozen', Boolean(this.list[c].frozen));
  }

  /** @param {number} c */
  cell(c) {
    const { on } = this.grid, column = this.list[c];
    const th = document.createElement('div');
    th.className = 'grid-th' + (on.head ? ' sorts' : '') + (column.kind === 'num' ? ' num' : '');
    th.setAttribute('role', 'columnheader');
    th.setAttribute('aria-colindex', String(c + 1));
    th.title = column.hint ?? column.title ?? column.name;
    if (column.drawHead) column.drawHead(th);
    else th.append(column.title ?? column.name);
    if (column.type) {
      const type = document.createElement('span');
      type.className = 'type';
      type.append(column.type);
      th.append(type);
    }
    this.place(th, c);
    if (on.head) th.addEventListener('click', (e) => { if (!this.dragged) on.head?.(c, e); });
    if (on.moved) th.addEventListener('pointerdown', (e) => this.drag(th, c, e));
    if (on.resized) th.append(this.grip(c));
    return th;
  }

  /** dragged: a drag is ending, and the click that follows it is to be ignored. */
  dragged = false;

  /**
   * drag moves a column with its head; where it would go is marked.
   * @param {HTMLElement} th
   * @param {number} c
   * @param {PointerEvent} down
   */
  drag(th, c, down) {
    this.dragged = false;
    if (down.button !== 0) return;
    th.setPointerCapture(down.pointerId);
    let to = c;
    const follow = (/** @type {PointerEvent} */ e) => {
      if (Math.abs(e.clientX - down.clientX) < slip && !this.dragged) return;
      this.dragged = true;
      const heads = /** @type {HTMLElement[]} */ ([...this.head.children]);
      const under = heads.findIndex((h) => {
        const r = h.getBoundingClientRect();
        return e.clientX >= r.left && e.clientX < r.right;
      });
      if (under >= 0) to = this.drawn[under];
      heads.forEach((h, i) => {
        h.classList.toggle('before', i === under && to < c);
        h.classList.toggle('behind', i === under && to > c);
      });
    };
    const end = (/** @type {PointerEvent} */ e) => {
      th.removeEventListener('pointermove', follow);
      for (const h of this.head.children) h.classList.remove('before', 'behind');
      if (e.type === 'pointerup' && to !== c) this.grid.on.moved?.(c, to);
    };
    th.addEventListener('pointermove', follow);
    th.addEventListener('pointerup', end, { once: true });
    th.addEventListener('pointercancel', end, { once: true });
  }

  /** grip changes a column's width by dragging. @param {number} c */
  grip(c) {
    const grip = document.createElement('span');
    grip.className = 'resize';
    grip.addEventListener('click', (e) => e.stopPropagation());
    grip.addEventListener('pointerdown', (e) => {
      e.preventDefault();
      e.stopPropagation();
      grip.setPointerCapture(e.pointerId);
      const from = e.clientX, width = this.layout[c].width;
      let wanted = width;
      const follow = (/** @type {PointerEvent} */ m) => { wanted = width + m.clientX - from; };
      grip.addEventListener('pointermove', follow);
      grip.addEventListener('pointerup', () => {
        grip.removeEventListener('pointermove', follow);
        this.resize(c, wanted);
      }, { once: true });
    });
    return grip;
  }

  /** resize gives a column another width. @param {number} c @param {number} width */
  resize(c, width) {
    const column = this.list[c];
    if (!column || !this.grid.on.resized) return;
    column.width = Math.max(36, Math.round(width));
    column.flex = false;
    this.grid.setColumns(this.list);
    this.grid.on.resized(c, column.width);
  }

  /**
   * key changes the column that keys mean: Shift and arrows move it, < and > make it narrower and wider, Delete takes
   * it away.
   * @param {KeyboardEvent} e
   */
  key(e) {
    const g = this.grid, c = g.focusColumn;
    const by = { ArrowLeft: -1, ArrowRight: 1 }[e.key];
    if (by && e.shiftKey) {
      if (g.on.moved?.(c, c + by)) g.focusColumn = c + by;
    } else if (e.key === '<' || e.key === '>') {
      this.resize(c, (this.layout[c]?.width ?? 0) + (e.key === '<' ? -16 : 16));
    } else if (e.key === 'Delete') {
      g.on.removed?.(c);
    } else {
      return false;
    }
    return true;
  }
}
