// The live list: asks for new rows again and again, newest at the bottom. It follows the end until somebody scrolls up,
// opens a row or pauses; then nothing moves.

import { html, useEffect, useMemo, useRef, useState } from '../lib/ui.js';
import { described, isAbort, list, query } from '../core/api.js';
import { count, plural } from '../core/format.js';
import { Seen } from '../core/tail.js';
import * as sqltext from '../core/sqltext.js';
import { zone } from '../core/state.js';
import * as store from '../core/store.js';
import { nowNanos, second, showTime } from '../core/time.js';
import { ErrorBox } from '../ui/error.js';
import { useKeys } from '../ui/usekeys.js';
import { LogsList } from './logslist.js';
import * as logsql from './logsquery.js';

const perPoll = 1000;
/** How late rows may come and still be seen, s; and how many rows are kept. */
const lateness = [10, 60, 300];
const kept = [10_000, 100_000];
const intervals = [0.5, 1, 2, 5, 10];

/** Tail holds the rows of a live list. */
class Tail {
  /** @param {logsql.Scope} scope @param {number} keep @param {number} late s */
  constructor(scope, keep, late) {
    this.scope = scope;
    this.keep = keep;
    this.overlap = BigInt(late) * second;
    this.seen = new Seen();
    /** @type {any[][]} */
    this.list = [];
    /** @type {import('../core/rowset.js').Column[]} */
    this.columns = [];
    /** high is the newest instant shown, ns. @type {bigint|null} */
    this.high = null;
    this.time = -1;
    this.unit = 1n;
    /** @type {{at: number, n: number}[]} rows of each poll of the last 30 s */
    this.rates = [];
  }

  get count() { return this.list.length; }

  /** @param {number} from @param {number} to */
  slice(from, to) { return Promise.resolve(this.list.slice(from, to)); }

  /** poll asks once; gives the number of lines added. @param {AbortSignal} signal */
  async poll(signal) {
    const first = this.high === null;
    const after = first ? null : /** @type {bigint} */ (this.high) - this.overlap;
    const answer = await query(logsql.live(this.scope, after, first ? 200 : perPoll), { signal, background: true });
    if (this.columns.length === 0) {
      this.columns = answer.columns;
      this.time = answer.columns.findIndex((c) => c.name === this.scope.roles.time?.name);
      this.unit = sqltext.unitNanos(answer.columns[this.time].type);
    }
    const rows = (await answer.all()).reverse();
    answer.free();
    const fresh = this.seen.fresh(rows);
    const newer = fresh.filter((r) => first || this.instant(r) > /** @type {bigint} */ (this.high));
    const newest = rows.length > 0 ? this.instant(rows[rows.length - 1]) : this.high;
    let added = 0;
    if (!first && rows.length === perPoll && this.high !== null && newest !== null) added += await this.leftOut(newest, newer.length, signal);
    for (const row of fresh) this.list.push(row);
    added += fresh.length;
    if (newest !== null && (this.high === null || newest > this.high)) this.high = newest;
    if (this.high === null) this.high = nowNanos() - this.overlap;
    const now = performance.now();
    this.rates = [...this.rates.filter((r) => now - r.at < 30_000), { at: now, n: first ? 0 : fresh.length }];
    return added;
  }

  /** leftOut puts a line for the rows that were too many to show. @param {bigint} newest @param {number} shown @param {AbortSignal} signal */
  async leftOut(newest, shown, signal) {
    const time = /** @type {import('../core/catalog.js').Column} */ (this.scope.roles.time);
    const digits = sqltext.digitsOf(time.type), name = sqltext.name(time.name);
    const [[n]] = await list(`SELECT count(*) FROM ${sqltext.table(this.scope.table)}${sqltext.where(`${name} > ${sqltext.string(sqltext.instant(/** @type {bigint} */ (this.high), digits))}`, `${name} <= ${sqltext.string(sqltext.instant(newest, digits))}`, ...this.scope.filters)}`, { signal, background: true });
    const left = Number(n) - shown;
    if (left <= 0) return 0;
    this.marker(`${plural(left, 'row')} left out`);
    return 1;
  }

  /** @param {any[]} row */
  instant(row) { return BigInt(row[this.time]) * this.unit; }

  /** marker puts a line of ours between the rows. @param {string} text */
  marker(text) {
    this.list.push(Object.assign(this.columns.map(() => null), { marker: text }));
  }

  /** trim forgets the oldest lines; gives how many. */
  trim() {
    const n = Math.max(0, this.list.length - this.keep);
    this.list.splice(0, n);
    return n;
  }

  /** perSecond is the rate of the last ten seconds. */
  perSecond() {
    const now = performance.now();
    const recent = this.rates.filter((r) => now - r.at < 10_000);
    return recent.length < 2 ? 0 : recent.slice(1).reduce((s, r) => s + r.n, 0) / ((now - recent[0].at) / 1000 || 1);
  }
}

/** Choice is a setting of live lists, kept in this browser. @param {{text: string, name: string, value: number, set: (n: number) => void, of: number[], unit: string}} props */
const Choice = ({ text, name, value, set, of, unit }) => html`<label>${text} <select aria-label=${`${text}, ${unit}`} value=${String(value)} onChange=${(/** @type {any} */ e) => { set(Number(e.target.value)); store.write(`logs.live.${name}`, Number(e.target.value)); }}>${of.map((n) => html`<option key=${n} value=${String(n)}>${count(n)} ${unit}</option>`)}</select></label>`;

/** @param {{run: import('./logsrun.js').LogsRun, shown: string[], hits: RegExp|null, wrap: boolean, onRow: (row: any[], columns: import('../core/rowset.js').Column[]) => void, held: boolean, onStop: () => void}} props */
export function Live({ run, shown, hits, wrap, onRow, held, onStop }) {
  const scope = run.scope.value;
  const [keep, setKeep] = useState(/** @type {number} */ (store.read('logs.live.keep', kept[0])));
  const [late, setLate] = useState(/** @type {number} */ (store.read('logs.live.late', lateness[0])));
  const tail = useMemo(() => (scope ? new Tail(scope, keep, late) : null), [scope, keep, late]);
  const [, draw] = useState(0);
  const [paused, setPaused] = useState(false);
  const [every, setEvery] = useState(/** @type {number} */ (store.read('logs.live.every', 1)));
  const [waiting, setWaiting] = useState(0);
  const [error, setError] = useState(/** @type {any} */ (null));
  const grid = useRef(/** @type {import('../ui/grid.js').Grid|null} */ (null));
  const follow = useRef(true);
  const now = useRef({ paused, held, every });
  now.current = { paused, held, every };
  const moves = () => follow.current && !now.current.paused && !now.current.held && String(getSelection()) === '';

  useEffect(() => {
    if (!tail) return;
    const control = new AbortController();
    const source = /** @type {any} */ (tail);
    const loop = async () => {
      while (!control.signal.aborted) {
        const began = performance.now();
        if (!now.current.paused) {
          try {
            const follows = moves();
            const added = await tail.poll(control.signal);
            setError(null);
            const g = grid.current;
            if (follows) {
              tail.trim();
              g?.setSource(source, true);
              if (added > 0 && moves()) g?.toEnd();
            } else if (added > 0) {
              g?.grew();
              setWaiting((n) => n + added);
            }
            draw((n) => n + 1);
          } catch (e) {
            if (isAbort(e) || control.signal.aborted) return;
            setError(described(e));
          }
        }
        const wait = (document.hidden ? 10_000 : now.current.every * 1000) - (performance.now() - began);
        await new Promise((r) => { setTimeout(r, Math.max(100, wait)); });
      }
    };
    void loop();
    return () => control.abort();
  }, [tail]);

  const toEnd = () => {
    follow.current = true;
    setWaiting(0);
    setPaused(false);
    if (tail?.trim()) grid.current?.setSource(/** @type {any} */ (tail), true);
    grid.current?.toEnd();
  };
  const mark = () => {
    tail?.marker(`marked ${showTime(nowNanos(), 0, zone.value).slice(11)}`);
    grid.current?.grew();
    if (moves()) grid.current?.toEnd();
  };
  useKeys([
    { keys: 'Space', text: 'Pause the live list', run: () => setPaused(!paused) },
    { keys: 'm', text: 'Mark this place', run: mark },
    { keys: 'End', text: 'Go on at the end', run: toEnd },
  ]);
  if (!tail || !scope) return null;
  const rate = tail.perSecond();
  const top = Math.max(1, ...tail.rates.map((r) => r.n));
  return html`<div class="live-bar small">
      <span class="live-dot ${paused ? 'paused' : ''}"></span><b>${paused ? 'paused' : 'live'}</b>
      <span class="num soft">${rate < 10 ? rate.toFixed(1) : count(Math.round(rate))} rows/s</span>
      <svg class="spark" viewBox="0 0 60 16" preserveAspectRatio="none" aria-hidden="true">${tail.rates.length > 1 && html`<polyline points=${tail.rates.map((r, i) => `${(i / (tail.rates.length - 1)) * 60},${15 - (r.n / top) * 14}`).join(' ')} />`}</svg>
      <span class="num soft">${plural(tail.count, 'row')} kept</span>
      <span class="grow"></span>
      ${waiting > 0 && html`<button class="primary small" onClick=${toEnd}>${count(waiting)} new ${waiting === 1 ? 'row' : 'rows'}</button>`}
      <${Choice} text="every" name="every" value=${every} set=${setEvery} of=${intervals} unit="s" />
      <${Choice} text="late by" name="late" value=${late} set=${setLate} of=${lateness} unit="s" />
      <${Choice} text="keep" name="keep" value=${keep} set=${setKeep} of=${kept} unit="rows" />
      <button class="small" onClick=${mark} title="m">Mark</button>
      <button class="small" onClick=${() => setPaused(!paused)} title="Space">${paused ? 'Go on' : 'Pause'}</button>
      <button class="small" onClick=${onStop} title="l">Stop</button></div>
    ${error && html`<${ErrorBox} error=${error} />`}
    ${tail.columns.length > 0 && html`<${LogsList} label="Log rows, newest last" rows=${tail} grown=${0} roles=${scope.roles} shown=${shown} hits=${hits} wrap=${wrap} widths=${{}} onWidth=${() => {}}
      onOpen=${(/** @type {number} */ i) => { const row = tail.list[i]; if (row && !(/** @type {any} */ (row).marker)) onRow(row, tail.columns); }} onMove=${() => {}} onEnd=${() => {}}
      onGrid=${(/** @type {any} */ g) => { grid.current = g; if (g) requestAnimationFrame(() => g.toEnd()); }} onScrolled=${(/** @type {boolean} */ atEnd, /** @type {boolean} */ up) => { if (atEnd) follow.current = true; else if (up) follow.current = false; if (atEnd && waiting > 0) setWaiting(0); }}
      rowClass=${(/** @type {any} */ row) => (row.marker ? 'marker' : '')} />`}`;
}
