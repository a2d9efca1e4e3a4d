// A board that is opened: its variables, its panels on their grid, and what can be changed about it.

import { html, useEffect, useMemo, useState } from '../lib/ui.js';
import { described, isAbort } from '../core/api.js';
import * as boards from '../core/boards.js';
import { placed, stepped } from '../core/boardlayout.js';
import { oneLine } from '../core/format.js';
import { useKeys } from '../core/keys.js';
import * as router from '../core/router.js';
import { closed, db, instants, range, refresh, zone } from '../core/state.js';
import { nowNanos } from '../core/time.js';
import { ask } from '../ui/ask.js';
import { ErrorBox } from '../ui/error.js';
import { Icon } from '../ui/icons.js';
import { lazy } from '../ui/lazy.js';
import { Pop } from '../ui/pop.js';
import { save as saveFile } from '../ui/save.js';
import { TimePicker } from '../ui/timepicker.js';
import { toast } from '../ui/toast.js';
import { usePoll } from '../ui/usepoll.js';
import { choices } from './boardask.js';
import { BoardPanel } from './boardpanel.js';
import { readReady } from './boardready.js';
import { BoardRun } from './boardrun.js';
import { Variables } from './boardvariables.js';
import { gridOf } from './metricsrun.js';

const PanelEditor = lazy(() => import('./boardedit.js'), 'PanelEditor');
const Settings = lazy(() => import('./boardsettings.js'), 'Settings');

/** @typedef {import('../core/boards.js').Board} Board */
/** @typedef {import('../core/boards.js').Panel} Panel */
/** @typedef {import('../core/boardvars.js').Env} Env */

/**
 * saidOf reads the values of variables from the address.
 * @param {string} text
 * @returns {Record<string, string[]>}
 */
function saidOf(text) {
  try {
    const read = JSON.parse(text || '{}');
    return Object.fromEntries(Object.entries(read).filter(([, v]) => Array.isArray(v)).map(([k, v]) => [k,
      v.map(String)]));
  } catch {
    return {}; // an address that was cut off: the board's own values count
  }
}

/**
 * useBoard loads a board. changed: it differs from what the server keeps.
 * @param {string} id
 */
function useBoard(id) {
  const [board, setBoard] = useState(/** @type {Board|null} */ (null));
  const [kept, setKept] = useState('');
  const [error, setError] = useState(/** @type {import('../core/api.js').ApiError|null} */ (null));
  useEffect(() => {
    const control = new AbortController();
    const load = id.startsWith('ready:') ? readReady(id.slice('ready:'.length), db.value)
      : boards.read(id, control.signal);
    load.then((b) => {
      if (control.signal.aborted) return;
      setBoard(b);
      setKept(boards.documentOf(b));
      if (b.refresh > 0 && refresh.value === 0) refresh.value = b.refresh;
    }, (e) => { if (!isAbort(e)) setError(described(e)); });
    return () => control.abort(new DOMException('left', 'AbortError'));
  }, [id]);
  const changed = board !== null && boards.documentOf(board) !== kept;
  return { board, setBoard, changed, error, mark: (/** @type {Board} */ b) => setKept(boards.documentOf(b)) };
}

/**
 * @typedef {{env: Env, options: Map<string, string[]>, failed: Map<string, string>}} Found what a board asks with now
 */

/** rangeNow is the range as it is now, and the steps in it; all time begins where its graph does. */
function rangeNow() {
  const grid = gridOf(0), { from, to } = instants(), ms = (/** @type {bigint} */ ns) => Number(ns / 1_000_000n) / 1000;
  return { from: from === null ? grid.start : ms(from), to: ms(to ?? nowNanos()), step: grid.step, grid };
}

/**
 * useFound resolves the range and the variables whenever one of them changes.
 * @param {Board|null} board
 * @param {string} values of the address
 */
function useFound(board, values) {
  const [found, setFound] = useState(/** @type {Found|null} */ (null));
  const variables = board ? JSON.stringify(board.variables) : '';
  const find = async (/** @type {AbortSignal} */ signal) => {
    if (!board) return null;
    const base = { ...rangeNow(), db: db.value };
    const { values: chosen, options, failed } = await choices(board, base, saidOf(values), signal);
    return { env: { ...base, values: chosen }, options, failed };
  };
  useEffect(() => {
    const control = new AbortController();
    find(control.signal).then((f) => { if (!control.signal.aborted) setFound(f); }, (e) => {
      if (!isAbort(e)) toast(described(e).message, { kind: 'bad' });
    });
    return () => control.abort(new DOMException('superseded', 'AbortError'));
  }, [variables, values, range.value.from, range.value.to, zone.value, db.value, board === null]);
  return { found, setFound, find };
}

/** @param {{id: string, state: import('../core/state.js').PageState}} props */
export function BoardView({ id, state }) {
  const { board, setBoard, changed, error, mark } = useBoard(id);
  const v = state.values.value;
  const { found, setFound, find } = useFound(board, v.v);
  const run = useMemo(() => new BoardRun(), []);
  const [arranging, setArranging] = useState(false);
  const [moving, setMoving] = useState(/** @type {Panel[]|null} */ (null));
  const [editing, setEditing] = useState(/** @type {Panel|null} */ (null));
  const [settings, setSettings] = useState(false);
  useEffect(() => () => run.end(), []);
  useEffect(() => { if (board && found) void run.ask(board.panels, found.env, false); }, [board?.panels, found]);
  useEffect(() => {
    router.leaving.ask = changed ? () => confirm('The board has changes that are not saved. Leave it?') : null;
    return () => { router.leaving.ask = null; };
  }, [changed]);
  useEffect(() => { if (board) document.title = `${board.name} · Varve`; }, [board?.name]);
  const again = async (/** @type {AbortSignal} */ signal) => {
    const next = await find(signal);
    if (!board || !next) return;
    await run.ask(board.panels, next.env, true);
    setFound(next);
  };
  const add = () => setEditing(boards.panelOf({ w: 12, h: 8, queries: [{ q: '', name: '' }] }, 0));
  const quietly = () => void again(new AbortController().signal).catch((e) => {
    if (!isAbort(e)) toast(described(e).message, { kind: 'bad' });
  });
  useKeys([
    { keys: 'r', text: 'Ask again', run: quietly },
    { keys: 'a', text: 'Add a panel', run: () => { if (board) add(); } },
    { keys: 'm', text: 'Arrange the panels', run: () => setArranging(!arranging) },
    { keys: 'Mod+s', text: 'Save', run: () => { if (board && changed && !closed.value) void keep(); } },
    { keys: 'Escape', text: 'Back to the board, or to the list', run: () => {
      if (v.full) state.set({ full: 0 });
      else if (arranging) setArranging(false);
      else leave();
    } },
  ]);
  const leave = () => { if (!router.leaving.ask || router.leaving.ask()) state.set({ board: '', v: '', full: 0 }); };
  const keep = async (over = false) => {
    try {
      const kept = await boards.save(/** @type {Board} */ (board), over);
      setBoard(kept.board);
      mark(kept.board);
      toast(`${kept.board.name} is kept, revision ${kept.board.revision}`, { kind: 'good' });
      if (kept.id !== id) queueMicrotask(() => state.set({ board: kept.id }, false));
    } catch (e) {
      if (e instanceof boards.Conflict) {
        if (await ask({ title: `${e.other.name} was changed`, text: `${e.message} Its content stays as a revision.`,
          yes: 'Save over it' }) !== null) await keep(true);
      } else if (!isAbort(e)) {
        toast(described(e).message, { kind: 'bad' });
      }
    }
  };
  if (error) return html`<div class="toolbar"><h1>Boards</h1></div><div class="content"><${ErrorBox} error=${error} />
    <p><button onClick=${() => state.set({ board: '' })}>All boards</button></p></div>`;
  if (!board) return html`<div class="toolbar"><h1>Boards</h1></div>
    <p class="state soft wait" role="status">Reading …</p>`;
  const set = (/** @type {Partial<Board>} */ patch) => setBoard({ ...board, ...patch });
  return html`<${Tools} board=${board} changed=${changed} arranging=${arranging} onLeave=${leave} onAdd=${add}
      onArrange=${() => setArranging(!arranging)} onSettings=${() => setSettings(true)} onSave=${() => void keep()}
      onAgain=${quietly} />
    ${refresh.value > 0 && html`<${Again} key=${refresh.value} run=${again} ms=${refresh.value * 1000} />`}
    <div class="content board-page">
      ${board.variables.length > 0 && !v.full && html`<${Variables} board=${board} found=${found} said=${saidOf(v.v)}
        onChange=${(/** @type {Record<string, string[]>} */ said) => state.set({ v: JSON.stringify(said) }, false)} />`}
      ${board.panels.length === 0 && html`<div class="state"><h2>No panels yet</h2>
        <p>Add one here, or put what Logs, SQL or Metrics shows on this board from its menu.</p>
        <div class="actions"><button class="primary" onClick=${add}>Add a panel</button></div></div>`}
      ${found && html`<${Panels} panels=${moving ?? board.panels} run=${run} env=${found.env} arranging=${arranging}
        full=${v.full} onMoving=${setMoving} onPanels=${(/** @type {Panel[]} */ panels) => set({ panels })}
        onEdit=${setEditing} onFull=${(/** @type {number} */ full) => state.set({ full })} board=${board} />`}
    </div>
    ${editing && found && html`<${PanelEditor} panel=${editing} env=${found.env} onClose=${() => setEditing(null)}
      onDone=${(/** @type {Panel} */ p) => {
        setEditing(null);
        try {
          if (p.id === 0) setBoard(boards.added(board, p).board);
          else set({ panels: board.panels.map((o) => (o.id === p.id ? p : o)) });
        } catch (e) {
          toast(described(e).message, { kind: 'bad' });
        }
      }} />`}
    ${settings && html`<${Settings} id=${id} board=${board} onClose=${() => setSettings(false)}
      onDone=${(/** @type {Board} */ b) => { setBoard(b); setSettings(false); }} />`}`;
}

/** Again runs every so often. @param {{run: (signal: AbortSignal) => Promise<any>, ms: number}} props */
function Again({ run, ms }) {
  const [first, setFirst] = useState(true);
  usePoll(async (signal) => {
    if (first) return setFirst(false); // it was asked just now
    await run(signal).catch((e) => { if (!isAbort(e)) throw e; });
  }, ms);
  return null;
}

/**
 * @param {{board: Board, changed: boolean, arranging: boolean, onLeave: () => void, onAdd: () => void, onArrange: () =>
 *   void, onSettings: () => void, onSave: () => void, onAgain: () => void}} props
 */
function Tools({ board, changed, arranging, onLeave, onAdd, onArrange, onSettings, onSave, onAgain }) {
  const file = () => saveFile(boards.documentOf(board), `${board.name.replace(/[^\w.-]+/g, '-')}.board.json`);
  return html`<div class="toolbar"><button class="quiet icon" title="All boards (Escape)" aria-label="All boards"
      onClick=${onLeave}><${Icon} name="left" /></button>
    <h1 class="text">${oneLine(board.name, 120)}</h1>
    ${changed && html`<span class="badge" role="status">not saved</span>`}
    <span class="grow"></span>
    <button title="Add a panel (a)" onClick=${onAdd}><${Icon} name="plus" />Panel</button>
    <button aria-pressed=${arranging ? 'true' : 'false'} title="Move and size panels (m)"
      onClick=${onArrange}>Arrange</button>
    <button class="primary" disabled=${!changed || closed.value !== ''} title=${closed.value || 'Save (Ctrl+S)'}
      onClick=${onSave}>Save</button>
    <${Pop} menu side="right" className="quiet icon" title="Board" label=${html`<${Icon} name="menu" />`}>
      ${(/** @type {() => void} */ close) => html`
        <button role="menuitem" onClick=${() => { close(); onSettings(); }}>Settings and variables</button>
        <button role="menuitem" onClick=${() => { close(); onAgain(); }}>Ask again</button>
        <button role="menuitem" onClick=${() => { close(); file(); }}>Export as JSON</button>
        <button role="menuitem" onClick=${() => { close(); void document.documentElement.requestFullscreen(); }}>
          Fill the screen</button>`}</${Pop}>
    <${TimePicker} /></div>`;
}

/**
 * @param {{board: Board, panels: Panel[], run: BoardRun, env: Env, arranging: boolean, full: number, onMoving: (panels:
 *   Panel[]|null) => void, onPanels: (panels: Panel[]) => void, onEdit: (p: Panel) => void, onFull: (id: number) =>
 *   void}} props panels: as they lie while one is moved
 */
function Panels({ board, panels, run, env, arranging, full, onMoving, onPanels, onEdit, onFull }) {
  const only = panels.find((p) => p.id === full);
  const shown = only ? [only] : panels;
  const acts = (/** @type {Panel} */ p) => ({
    edit: () => onEdit(board.panels.find((o) => o.id === p.id) ?? p),
    duplicate: () => {
      try {
        onPanels(boards.added(board, p).board.panels);
      } catch (e) {
        toast(described(e).message, { kind: 'bad' });
      }
    },
    remove: () => onPanels(board.panels.filter((o) => o.id !== p.id)),
    full: (/** @type {boolean} */ on) => onFull(on ? p.id : 0),
    place: (/** @type {Partial<Panel>} */ to, /** @type {boolean} */ done) => {
      const next = placed(board.panels, p.id, to);
      onMoving(done ? null : next);
      if (done) onPanels(next);
    },
    step: (/** @type {'ArrowLeft'|'ArrowRight'|'ArrowUp'|'ArrowDown'} */ key) =>
      onPanels(stepped(board.panels, p.id, key)),
  });
  return html`<div class="board-grid ${only ? 'one' : ''}">${shown.map((p) => html`<${BoardPanel} key=${p.id} panel=${p}
    shown=${run.shown.value.get(p.id)} asked=${run.asked.value.get(p.id)} env=${env} arranging=${arranging && !only}
    full=${Boolean(only)} acts=${acts(p)} />`)}</div>`;
}
