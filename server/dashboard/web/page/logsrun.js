// One run of the Logs page: which table, what it asks, and what came back. Rows and histogram are asked for together;
// all statements of a run see the same instants. Parts that came from another run than the last one are stale, and are
// shown so.

import { batch, signal } from '../lib/ui.js';
import { bring, described, isAbort, list, query } from '../core/api.js';
import { user } from '../core/auth.js';
import * as catalog from '../core/catalog.js';
import { levels, levelOf } from '../core/levels.js';
import * as router from '../core/router.js';
import * as sqltext from '../core/sqltext.js';
import { instants, zone } from '../core/state.js';
import * as store from '../core/store.js';
import { plural } from '../core/format.js';
import { nowNanos } from '../core/time.js';
import { tell } from '../ui/toast.js';
import * as logsql from './logsquery.js';

export const pageSize = 500;
const mostKeys = 8;

/**
 * @typedef {[field: string, value: any, flags: string, path?: (string|number)[]]} Chip flags: n negated, o switched
 *   off; path leads to a member of a JSON value
 */

/** chips reads the filters that were clicked together. @param {string[]} list @returns {Chip[]} */
export function chips(list) {
  /** @type {Chip[]} */
  const found = [];
  for (const text of list) {
    try {
      const [field, value, flags, path] = JSON.parse(text);
      if (typeof field !== 'string') continue;
      found.push(Array.isArray(path) ? [field, value, String(flags ?? ''), path] : [field, value, String(flags ?? '')]);
    } catch {
      // A chip that cannot be read is left out.
    }
  }
  return found;
}

/** chipCondition writes a chip as SQL. @param {Chip} chip @param {catalog.Column[]} columns */
export function chipCondition([field, value, flags, path], columns) {
  const type = columns.find((c) => c.name === field)?.type ?? 'string';
  if (path) return sqltext.member(field, type, path, value, flags.includes('n'));
  return flags.includes('n') ? sqltext.differs(field, value, type) : sqltext.equals(field, value, type);
}

/** reader reads the search language; null until the first search, which loads it. */
export const reader = signal(/** @type {typeof import('../core/search.js')|null} */ (null));

/** loadReader is to be called when a search is near. */
export async function loadReader() {
  reader.value ??= await bring(() => import('../core/search.js'));
  return reader.value;
}

/**
 * searched returns the condition of a search; nothing while the reader is on its way.
 * @param {string} text
 * @param {import('../core/search.js').Context} context
 * @returns {import('../core/search.js').Found}
 */
export const searched = (text, context) => (reader.value && text !== '' ? reader.value.search(text, context)
  : { sql: '', parts: [], words: [], problem: null });

/** @typedef {'scope'|'rows'|'histogram'} Part of the result of a run */
/** Take shows a part of a run. @typedef {(part: Part, show: () => void) => void} Take */

/**
 * Place finds the place where somebody reads in the rows of a new run, and loads more of these until it has it. It
 * returns what shows the rows at this place, and whether they are complete; null when the place is too far down.
 * @typedef {(rows: import('../core/rows.js').Rows, scope: logsql.Scope, signal: AbortSignal) => Promise<{show: () =>
 *   void, complete: boolean}|null>} Place
 */

/**
 * Bars of the histogram: values[i] is the raw value of the i-th key, of the column split; both ends of their range are
 * known.
 * @typedef {import('../ui/histogram.js').Buckets & {values: any[], range: {from: bigint, to: bigint}, split:
 *   string|null}} Bars
 */

export class LogsRun {
  /** @param {import('../core/state.js').PageState} state */
  constructor(state) {
    this.state = state;
    /** tables of the database; null while they are being asked for. */
    this.tables = signal(/** @type {catalog.Table[]|null} */ (null));
    this.columns = signal(/** @type {catalog.Column[]} */ ([]));
    this.roles = signal(/** @type {logsql.Roles|null} */ (null));
    this.scope = signal(/** @type {logsql.Scope|null} */ (null));
    this.rows = signal(/** @type {import('../core/rows.js').Rows|null} */ (null));
    /** grown is how often rows were added to this.rows. */
    this.grown = signal(0);
    /** folded is how often equal rows were folded or unfolded. */
    this.folded = signal(0);
    this.complete = signal(false);
    /** turn counts the runs. parts holds the run from which each part came. */
    this.turn = signal(0);
    this.parts = signal(/** @type {Record<Part, number>} */ ({ scope: 0, rows: 0, histogram: 0 }));
    /** held: everything shown is of the run before, because the place was not found in the rows of the new one. */
    this.held = signal(false);
    this.buckets = signal(/** @type {Bars|null} */ (null));
    /** problem is the reason why the search cannot be read: then nothing is asked. */
    this.problem = signal(/** @type {import('../core/search.js').Problem|null} */ (null));
    this.total = signal(/** @type {number|null} */ (null));
    this.error = signal(/** @type {import('../core/api.js').ApiError|null} */ (null));
    this.histogramError = signal(/** @type {import('../core/api.js').ApiError|null} */ (null));
    this.busy = signal(false);
    /** asked counts the runs of a log query, which logslogql.js asks. */
    this.asked = signal(0);
    this.elapsedMS = signal(0);
    this.sql = signal({ rows: '', histogram: '' });
    this.control = new AbortController();
    /**
     * adopted is the table that the page chose because the address named none. The address names it from then on, so
     * that the address is the whole state.
     */
    this.adopted = '';
    /** longest is the text column that stands for the message of a table without one. */
    this.longest = { table: '', column: '' };
  }

  /**
   * table is the one of the address, else the last one looked at, else the fullest that does not hold metrics or spans.
   */
  table() {
    const named = this.state.get('t');
    const known = this.tables.value ?? [];
    if (named || known.length === 0) return named;
    const last = store.read(`logs.table.${this.state.get('db')}`, '');
    if (known.some((t) => t.name === last)) return last;
    const names = new Set(known.map((t) => t.name));
    const other = (/** @type {catalog.Table} */ { name, options }) => {
      const of = name.replace(/_(services|operations)$/, '');
      return Number(/physical_(metric_)?table=|signal=metric|service_trace/.test(options) || of !== name &&
        names.has(of));
    };
    return [...known].sort((a, b) => other(a) - other(b) || (b.rows ?? 0) - (a.rows ?? 0))[0].name;
  }

  /** stop ends the requests under way. */
  stop() {
    this.control.abort(new DOMException('superseded', 'AbortError'));
    this.busy.value = false;
  }

  /** stale reports whether a part came from a run before. @param {Part} part */
  stale(part) { return this.parts.value[part] !== this.turn.value; }

  /** show shows parts of a run. @param {number} turn @param {[Part, () => void][]} list */
  show(turn, list) {
    batch(() => {
      this.turn.value = turn;
      for (const [part, show] of list) {
        show();
        this.parts.value = { ...this.parts.value, [part]: turn };
      }
    });
  }

  /**
   * run asks everything anew, and shows each part as it comes. With a place, the page runs the same question again by
   * itself: then all parts are shown together.
   * @param {Place} [place]
   */
  async run(place) {
    this.stop();
    if (this.state.get('lq') !== '') {
      this.asked.value++;
      return;
    }
    const control = this.control = new AbortController(), { signal } = control;
    const turn = this.turn.value + 1;
    /** @type {[Part, () => void][]} */
    const parts = [];
    const take = (/** @type {Part} */ part, /** @type {() => void} */ show) => {
      if (signal.aborted) return;
      if (place) parts.push([part, show]);
      else this.show(turn, [[part, show]]);
    };
    batch(() => {
      this.busy.value = true;
      if (place) return;
      this.turn.value = turn;
      this.held.value = false;
      this.error.value = this.histogramError.value = null;
    });
    try {
      const scope = await this.prepare(take);
      if (signal.aborted || !scope) return;
      const [found] = await Promise.all([this.loadRows(scope, signal, take, place),
        this.loadHistogram(scope, signal, take)]);
      if (signal.aborted || !place) return;
      this.held.value = !found && !this.error.value;
      if (found) this.show(turn, parts);
    } catch (e) {
      if (!signal.aborted && !isAbort(e)) this.error.value = described(e);
    } finally {
      if (control === this.control) {
        this.busy.value = false;
        const error = this.error.value ?? this.histogramError.value;
        if (!place && !signal.aborted && (this.scope.value || error)) tell(plural(this.total.value ?? 0, 'row'), error);
      }
    }
  }

  /**
   * prepare learns the table's columns and makes the scope of the run; null where there is nothing to ask.
   * @param {Take} take
   * @returns {Promise<logsql.Scope|null>}
   */
  async prepare(take) {
    const db = this.state.get('db');
    this.tables.value = await catalog.tables(db);
    const name = this.table();
    if (!name) {
      take('scope', () => { this.scope.value = this.problem.value = null; });
      return null;
    }
    const columns = await catalog.columns(db, name);
    store.write(`logs.table.${db}`, name);
    if (this.state.get('t') === '' && this.state.get('db') === db) {
      this.adopted = name;
      this.state.set({ t: name }, false);
    }
    const roles = logsql.rolesOf(columns,
      { ...(this.longest.table === name && { message: this.longest.column }),
        ...store.read(`logs.roles.${db}.${name}`, {}) });
    const { filters, problem } = await this.filters(columns, roles);
    const scope = columns.length === 0 || !roles.time ? null
      : { table: name, columns, roles, range: instants(), filters };
    take('scope', () => {
      if (problem || this.scope.value?.table !== scope?.table) this.forget();
      this.columns.value = columns;
      this.roles.value = roles;
      this.scope.value = scope;
      this.problem.value = problem;
    });
    return problem ? null : scope;
  }

  /** forget removes the shown rows: they are of another table, or of none. */
  forget() {
    this.rows.value?.free();
    this.rows.value = this.buckets.value = this.total.value = null;
  }

  /**
   * filters are the conditions of the search line or the clause, and of the chips.
   * @param {catalog.Column[]} columns
   * @param {logsql.Roles} roles
   */
  async filters(columns, roles) {
    const clause = this.state.get('w');
    const q = this.state.get('q');
    if (q !== '') await loadReader();
    const { parts, problem } =
      searched(clause ? '' : q, { message: roles.message, fields: columns, anyCase: this.state.get('any') });
    return { filters: [...(clause ? [`(${clause})`] : parts),
      ...chips(this.state.get('f')).filter((c) => !c[2].includes('o')).map((c) => chipCondition(c, columns))],
      problem };
  }

  /**
   * loadRows asks for the rows and reports whether they are to be shown: not when place does not find where somebody
   * reads.
   * @param {logsql.Scope} scope
   * @param {AbortSignal} signal
   * @param {Take} take
   * @param {Place} [place]
   */
  async loadRows(scope, signal, take, place) {
    const sql = logsql.rows(scope, logsql.columnList(scope, this.state.get('cols')), pageSize);
    const started = performance.now(), fold = this.state.get('fold');
    try {
      const rows = await query(sql, { signal }), elapsed = performance.now() - started;
      const roles = signal.aborted ? null : await this.shape(rows, scope, fold);
      const found = signal.aborted ? null : await place?.(rows, scope, signal);
      if (signal.aborted || found === null) {
        rows.free();
        return false;
      }
      take('rows', () => {
        this.rows.value?.free();
        found?.show();
        this.rows.value = rows;
        this.complete.value = found?.complete ?? rows.total < pageSize;
        this.elapsedMS.value = elapsed;
        this.sql.value = { ...this.sql.value, rows: sql };
        this.error.value = null;
        if (fold !== this.state.get('fold')) void this.refold(); // switched meanwhile
        if (!roles) return;
        this.roles.value = roles;
        this.scope.value = { ...scope, roles };
      });
      return true;
    } catch (e) {
      if (!signal.aborted) this.error.value = described(e);
      return false;
    }
  }

  /**
   * shape folds equal rows if the switch is on. For a table without a column named like a message it returns other
   * roles, with the longest text column as the message.
   * @param {import('../core/rows.js').Rows} rows
   * @param {logsql.Scope} scope
   * @param {boolean} fold
   * @returns {Promise<logsql.Roles|null>}
   */
  async shape(rows, scope, fold) {
    await rows.fold(fold ? this.timeOf(rows, scope) : -1);
    if (scope.roles.message !== null || rows.total === 0) return null;
    const summary = await rows.summary();
    const texts = rows.columns.map((c, i) => ({ name: c.name, length: summary[i].length,
      text: sqltext.isText(c.type) }))
      .filter((c) => c.text && c.name !== scope.roles.level && !scope.roles.stream.includes(c.name));
    const longest = texts.sort((a, b) => b.length - a.length)[0];
    if (!longest) return null;
    this.longest = { table: scope.table, column: longest.name };
    return { ...scope.roles, message: longest.name };
  }

  /** refold folds or unfolds equal rows after the switch was changed. */
  async refold() {
    const rows = this.rows.value, scope = this.scope.value;
    if (!rows || !scope) return;
    try {
      await rows.fold(this.state.get('fold') ? this.timeOf(rows, scope) : -1);
    } catch (e) {
      if (rows === this.rows.value) this.error.value = described(e);
      return; // other rows came meanwhile: they are folded by the switch as it is
    }
    if (rows === this.rows.value) this.folded.value++;
  }

  /** @param {import('../core/rows.js').Rows} rows @param {logsql.Scope} scope */
  timeOf(rows, scope) {
    return rows.columns.findIndex((c) => c.name === scope.roles.time?.name);
  }

  /**
   * choose keeps which column is the message or the level of the table, in this browser.
   * @param {Partial<Record<'message'|'level', string>>} role
   */
  choose(role) {
    const key = `logs.roles.${this.state.get('db')}.${this.scope.value?.table}`;
    store.write(key, { ...store.read(key, {}), ...role });
    void this.run();
  }

  /**
   * split is the column whose values the bars are made of; null: none.
   * @param {catalog.Column[]} [columns]
   * @param {logsql.Roles|null} [roles]
   */
  split(columns = this.columns.value, roles = this.roles.value) {
    const chosen = this.state.get('split');
    if (chosen === '-') return null;
    if (chosen && columns.some((c) => c.name === chosen)) return chosen;
    return roles?.level ?? null;
  }

  /**
   * loadHistogram counts the rows, over time.
   * @param {logsql.Scope} scope
   * @param {AbortSignal} signal
   * @param {Take} take
   */
  async loadHistogram(scope, signal, take) {
    const set = (/** @type {Bars|null} */ bars, /** @type {number|null} */ total,
      /** @type {unknown} */ error = null) => take('histogram', () => {
      this.buckets.value = bars;
      this.total.value = total;
      this.histogramError.value = error ? described(error) : null;
    });
    try {
      const range = await this.closedRange(scope, signal);
      if (!range) return set(null, 0);
      const split = this.split(scope.columns, scope.roles);
      let top = null;
      if (split && split !== scope.roles.level) {
        const found = await list(logsql.values(scope, split, mostKeys + 1), { signal, background: true });
        top = found.length > mostKeys ? found.slice(0, mostKeys).map((r) => r[0]).filter((v) => v !== null) : null;
      }
      const bin = logsql.bins(range, zone.value);
      const sql = logsql.histogram(scope, bin, split, top);
      const answer = await query(sql, { signal, background: true });
      const cells = await answer.all();
      answer.free();
      if (signal.aborted) return;
      const unit = sqltext.unitNanos(answer.columns[0]?.type ?? 'timestamp(9)');
      this.sql.value = { ...this.sql.value, histogram: sql };
      set({ ...this.stack(cells, bin, range, unit, split !== null && split === scope.roles.level), range, split },
        cells.reduce((sum, [, , n]) => sum + Number(n), 0));
    } catch (e) {
      if (!signal.aborted && !isAbort(e)) set(null, null, e);
    }
  }

  /** recount asks for the histogram and the total again, for the range as of now; the rows stay as they are. */
  async recount() {
    if (this.scope.value && !this.busy.value)
      await this.loadHistogram({ ...this.scope.value, range: instants() }, this.control.signal,
        (part, show) => this.show(this.turn.value, [[part, show]]));
  }

  /**
   * closedRange finds the ends of an open range in the table.
   * @param {logsql.Scope} scope
   * @param {AbortSignal} signal
   */
  async closedRange(scope, signal) {
    const { from, to } = scope.range;
    if (from !== null) return { from, to: to ?? nowNanos() };
    const time = /** @type {catalog.Column} */ (scope.roles.time);
    const [[low, high]] = await list(logsql.span(scope.table, time.name), { signal, background: true });
    if (low === null) return null;
    const unit = sqltext.unitNanos(time.type);
    const end = BigInt(high) * unit + unit;
    return { from: BigInt(low) * unit, to: to !== null && to < end && to > BigInt(low) * unit ? to : end };
  }

  /**
   * stack makes bars of the answer.
   * @param {any[][]} cells
   * @param {{step: bigint, origin: bigint}} bin
   * @param {{from: bigint, to: bigint}} range
   * @param {bigint} unit
   * @param {boolean} byLevel
   */
  stack(cells, bin, range, unit, byLevel) {
    /** @type {Map<any, number>} */
    const sums = new Map();
    for (const [, k, n] of cells) sums.set(k, (sums.get(k) ?? 0) + Number(n));
    const rank = (/** @type {any} */ k) => (k === null ? 99 : levels.indexOf(levelOf(k)));
    let order = [...sums.keys()].sort((a, b) => (byLevel ? rank(a) - rank(b) : 0) ||
      Number(sums.get(b)) - Number(sums.get(a)));
    if (order.length > 12) order =
      [...[...order].sort((a, b) => Number(sums.get(b)) - Number(sums.get(a))).slice(0, 11)];
    const folded = order.length < sums.size;
    const keys = order.map((k) => (k === null ? '(none)' : String(k)));
    if (folded) keys.push('(other)');
    const count = Math.max(1, Number((range.to - bin.origin + bin.step - 1n) / bin.step));
    const counts = keys.map(() => new Float64Array(count));
    for (const [t, k, n] of cells) {
      const b = Number((BigInt(t) * unit - bin.origin) / bin.step);
      const i = order.indexOf(k);
      if (b >= 0 && b < count) counts[i < 0 ? keys.length - 1 : i][b] += Number(n);
    }
    return { start: bin.origin, step: bin.step, keys, counts, values: folded ? [...order, undefined]
      : order.map((k) => (k === '(other)' ? undefined : k)) };
  }
}

/** @typedef {{keys: Record<string, string>, at: number, rows: number|null, ms: number}} Look */

export const historyName = () => `logs.history.${user.value}`;

/** remember keeps a run for the history; the same keys only once. @param {LogsRun} run */
export function remember(run) {
  const keys = router.params.value;
  const list = /** @type {Look[]} */ (store.read(historyName(), []));
  store.write(historyName(),
    [{ keys: { ...keys, t: run.scope.value?.table ?? '' }, at: Date.now(), rows: run.total.value,
      ms: Math.round(run.elapsedMS.value) },
    ...list.filter((l) => router.format({ ...l.keys, t: '' }) !== router.format({ ...keys, t: '' }) ||
      l.keys.t !== run.scope.value?.table)].slice(0, 200));
}
