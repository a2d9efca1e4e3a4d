// The live list: asks for new rows again and again, newest at the bottom. It follows the end until somebody scrolls up,
// opens a row or pauses; then nothing moves.

import { html, useEffect, useMemo, useRef, useState } from '../lib/ui.js';
import { described, isAbort } from '../core/api.js';
import { count } from '../core/format.js';
import { zone } from '../core/state.js';
import * as store from '../core/store.js';
import { nowNanos, showTime } from '../core/time.js';
import { ErrorBox } from '../ui/error.js';
import { useKeys } from '../core/keys.js';
import { usePoll } from '../ui/usepoll.js';
import { LogsList } from './logslist.js';
import { Tail } from './logstail.js';

/** The choices of how late rows may come and still be shown, s, and of how many rows are kept. */
const lateness = [10, 60, 300];
const kept = [10_000, 100_000];
const intervals = [0.5, 1, 2, 5, 10];
/** The histogram and the total above the list are counted anew so often, ms. */
const recounts = 5000;

/**
 * Choice is a setting of live lists, kept in this browser.
 * @param {{text: string, name: string, value: number, set: (n: number) => void, of: number[], unit: string}} props
 */
const Choice = ({ text, name, value, set, of, unit }) => html`<label>
  ${text} <select aria-label=${`${text}, ${unit}`} value=${String(value)}
    onChange=${(e) => { set(Number(e.target.value)); store.write(`logs.live.${name}`, Number(e.target.value)); }}>
      ${of.map((n) => html`<option key=${n} value=${String(n)}>${count(n)}${unit === 's' ? ' s' : ''}</option>`)}
        </select></label>`;

/**
 * left reports whether somebody has just scrolled up: the grid itself learns of it in its next frame only.
 * @param {import('../ui/grid.js').Grid|null} grid
 */
function left(grid) {
  if (!grid) return false;
  const { scrollTop, clientHeight, scrollHeight } = grid.root;
  return scrollTop < grid.lastTop - 1 && scrollTop + clientHeight < scrollHeight - 4;
}

/**
 * @param {{run: import('./logsrun.js').LogsRun, shown: string[], hits: RegExp|null, wrap: boolean, json: boolean, fold:
 *   boolean, onRow: (row: any[], columns: import('../core/rowset.js').Column[]) => void, held: boolean, onStop: () =>
 *   void}} props
 */
export function Live({ run, shown, hits, wrap, json, fold, onRow, held, onStop }) {
  const scope = run.scope.value;
  const [keep, setKeep] = useState(/** @type {number} */ (store.read('logs.live.keep', kept[0])));
  const [late, setLate] = useState(/** @type {number} */ (store.read('logs.live.late', lateness[0])));
  const tail = useMemo(() => (scope ? new Tail(scope, keep, late) : null), [scope, keep, late]);
  const [, draw] = useState(0);
  const [paused, setPaused] = useState(false);
  const [every, setEvery] = useState(/** @type {number} */ (store.read('logs.live.every', 1)));
  const [waiting, setWaiting] = useState(0);
  const [full, setFull] = useState(false);
  const [error, setError] = useState(/** @type {any} */ (null));
  const grid = useRef(/** @type {import('../ui/grid.js').Grid|null} */ (null));
  const follow = useRef(true);
  const now = useRef({ paused, held, every });
  now.current = { paused, held, every };
  const moves = () => follow.current && !left(grid.current) && !now.current.paused && !now.current.held &&
    String(getSelection()) === '';

  useEffect(() => {
    if (!tail) return;
    const control = new AbortController();
    const source = /** @type {any} */ (tail);
    const loop = async () => {
      while (!control.signal.aborted) {
        const began = performance.now();
        const enough = !moves() && tail.full();
        setFull(enough);
        if (!now.current.paused) {
          try {
            const added = enough ? 0 : await tail.poll(control.signal), came = await tail.came(control.signal);
            setError(null);
            const g = grid.current;
            if (moves()) {
              if (tail.trim() > 0) g?.setSource(source, true);
              else g?.grew();
              if (added > 0) g?.toEnd();
            } else {
              if (added > 0) g?.grew();
              setWaiting((n) => n + came);
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

  usePoll(() => (now.current.paused ? Promise.resolve() : run.recount()), recounts);

  useEffect(() => { // a view that follows the end stays at the end; any other keeps its first row
    if (!tail || tail.folds === fold) return;
    tail.fold(fold);
    grid.current?.setSource(/** @type {any} */ (tail), true);
    if (moves()) grid.current?.toEnd();
  }, [tail, fold]);

  useEffect(() => { if (moves()) grid.current?.toEnd(); }, [wrap, json]); // all of these change the heights of rows

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
      <svg class="spark" viewBox="0 0 60 16" preserveAspectRatio="none" aria-hidden="true">
        ${tail.rates.length > 1 &&
          html`<polyline points=${tail.rates.map((r, i) =>
            `${(i / (tail.rates.length - 1)) * 60},${15 - (r.n / top) * 14}`).join(' ')} />`}</svg>
      <span class="num soft" title="Rows kept in this list">${count(tail.rows)} kept</span>
      ${full && html`<span class="soft">no more is read until you go to the end</span>`}
      <span class="grow"></span>
      ${waiting > 0 && html`<button class="primary small" onClick=${toEnd}>
        ${count(waiting)} new ${waiting === 1 ? 'row' : 'rows'}</button>`}
      <${Choice} text="every" name="every" value=${every} set=${setEvery} of=${intervals} unit="s" />
      <${Choice} text="late by" name="late" value=${late} set=${setLate} of=${lateness} unit="s" />
      <${Choice} text="keep" name="keep" value=${keep} set=${setKeep} of=${kept} unit="rows" />
      <button class="small" onClick=${mark} title="m">Mark</button>
      <button class="small" onClick=${() => setPaused(!paused)} title="Space">${paused ? 'Go on' : 'Pause'}</button>
      <button class="small" onClick=${onStop} title="l">Stop</button></div>
    ${error && html`<${ErrorBox} error=${error} />`}
    ${tail.columns.length > 0 &&
      html`<${LogsList} label="Log rows, newest last" rows=${tail} grown=${0} roles=${scope.roles} shown=${shown}
        hits=${hits} wrap=${wrap} json=${json} widths=${{}} onWidth=${() => {}}
      onOpen=${(/** @type {number} */ i) => {
        const row = tail.lines[i]?.row;
        if (row && !(/** @type {any} */ (row).marker)) onRow(row, tail.columns);
      }} onMove=${() => {}} onEnd=${() => {}}
      onGrid=${(g) => { grid.current = g; if (g) requestAnimationFrame(() => g.toEnd()); }}
        onScrolled=${(/** @type {boolean} */ atEnd, /** @type {boolean} */ up) => {
          if (atEnd) follow.current = true; else if (up) follow.current = false;
          if (atEnd && waiting > 0) setWaiting(0);
        }}
      rowClass=${(row) => (row.marker ? 'marker' : '')} />`}`;
}
