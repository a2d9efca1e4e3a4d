// The Boards page: the boards that the server keeps and those that come with it; one of them opened is boardview.js.

import { html, useEffect, useRef, useState } from '../lib/ui.js';
import { described, isAbort } from '../core/api.js';
import * as boards from '../core/boards.js';
import { oneLine, plural } from '../core/format.js';
import { useKeys } from '../core/keys.js';
import { closed, db, frame } from '../core/state.js';
import { ask } from '../ui/ask.js';
import { ErrorBox } from '../ui/error.js';
import { Icon } from '../ui/icons.js';
import { lazy } from '../ui/lazy.js';
import { TimePicker } from '../ui/timepicker.js';
import { toast } from '../ui/toast.js';
import { ready } from './boardready.js';
import { BoardView } from './boardview.js';

const Import = lazy(() => import('./boardfile.js'), 'Import');

/** @type {Record<string, import('../core/state.js').Key>} */
export const state = {
  board: { type: 'text', default: '' },
  v: { type: 'text', default: '' }, // values of variables, as JSON
  full: { type: 'number', default: 0 }, // the panel that fills the page
  q: { type: 'text', default: '' },
};

/** @param {{state: import('../core/state.js').PageState}} props */
export function Page({ state }) {
  const id = state.get('board');
  return id === '' ? html`<${List} state=${state} />` : html`<${BoardView} key=${id} id=${id} state=${state} />`;
}

/** @param {{state: import('../core/state.js').PageState}} props */
function List({ state }) {
  const [found, setFound] = useState(/** @type {Awaited<ReturnType<typeof boards.readAll>>|null} */ (null));
  const [error, setError] = useState(/** @type {import('../core/api.js').ApiError|null} */ (null));
  const [reading, setReading] = useState(false);
  const [turn, setTurn] = useState(0);
  const search = useRef(/** @type {HTMLInputElement|null} */ (null));
  useEffect(() => {
    const control = new AbortController();
    boards.readAll(control.signal).then((all) => { setFound(all); setError(null); },
      (e) => { if (!isAbort(e)) setError(described(e)); });
    return () => control.abort(new DOMException('left', 'AbortError'));
  }, [turn]);
  const q = state.get('q'), fits = (/** @type {string} */ name) => name.toLowerCase().includes(q.trim().toLowerCase());
  const open = (/** @type {string} */ id, /** @type {import('../core/boards.js').Board} */ b) => {
    state.set({ board: id, v: '', full: 0, q: '' });
    if (b.from !== '' && b.to !== '') frame.set({ from: b.from, to: b.to }, false);
    if (b.db !== db.value) frame.set({ db: b.db }, false);
  };
  const make = async () => {
    const name = await ask({ title: 'New board', text: 'A board holds panels, each with a query.', field: 'Name',
      yes: 'Make it' });
    if (name === null) return;
    try {
      const kept = await boards.save(boards.blank(name.trim(), db.value));
      state.set({ board: kept.id, v: '', full: 0 });
    } catch (e) {
      toast(e instanceof boards.Conflict ? `There is a board ${name.trim()} already.` : described(e).message,
        { kind: 'bad' });
    }
  };
  const attempt = async (/** @type {() => Promise<unknown>} */ act) => {
    try {
      await act();
    } catch (e) {
      if (!isAbort(e)) toast(described(e).message, { kind: 'bad' });
    }
  };
  const drop = (/** @type {import('../core/boards.js').Kept} */ k) => attempt(async () => {
    const question = { title: `Remove ${k.board.name}`, text: 'Its revisions go with it.', yes: 'Remove' };
    if (await ask(question) === null) return;
    await boards.remove(k.id);
    setTurn(turn + 1);
  });
  useKeys([
    { keys: '/', text: 'Search', run: () => search.current?.focus() },
    { keys: 'n', text: 'New board', run: () => { if (!closed.value) void make(); } },
  ]);
  const kept = (found?.boards ?? []).filter((k) => fits(k.board.name));
  return html`<div class="toolbar"><h1>Boards</h1>
      <input type="search" class="grow" aria-label="Search the boards" placeholder="Name of a board" ref=${search}
        value=${q} onInput=${(e) => state.set({ q: e.target.value }, false)} />
      <button disabled=${closed.value !== ''} title=${closed.value || 'New board (n)'} onClick=${() => void make()}>
        <${Icon} name="plus" />Board</button>
      <button disabled=${closed.value !== ''} title=${closed.value || 'From a file'}
        onClick=${() => setReading(true)}>Import</button><${TimePicker} /></div>
    <div class="content boards">
      ${error && html`<${ErrorBox} error=${error} />`}
      ${!found && !error && html`<p class="state soft wait" role="status">Reading …</p>`}
      ${found && html`<h2>Kept on this server</h2>
        ${kept.length === 0 ? html`<p class="soft">${found.boards.length === 0
          ? 'None yet. Make one, import one, or put what another page shows on a board from its menu.'
          : 'None has this name.'}</p>`
          : html`<ul>${kept.map((k) => html`<li key=${k.id}>
            <button class="quiet" onClick=${() => open(k.id, k.board)}><b>${oneLine(k.board.name, 120)}</b>
              <span class="soft">${plural(k.board.panels.length, 'panel')} · ${k.board.db} · revision
                ${' '}${k.board.revision}${k.board.about && ` · ${oneLine(k.board.about, 200)}`}</span></button>
            <button class="quiet small icon" aria-label=${`Remove ${k.board.name}`} disabled=${closed.value !== ''}
              title=${closed.value || 'Remove'} onClick=${() => void drop(k)}><${Icon} name="trash" /></button>
            </li>`)}</ul>`}
        ${found.broken.length > 0 && html`<p class="soft">Not read as boards: ${found.broken.map((n) =>
          oneLine(n, 80)).join(', ')}</p>`}`}
      <h2>Ready to use</h2>
      <ul>${ready.filter((r) => fits(r.name)).map((r) => html`<li key=${r.id}><button class="quiet"
        onClick=${() => state.set({ board: `ready:${r.id}`, v: '', full: 0, q: '' })}><b>${r.name}</b>
        <span class="soft">${r.about}</span></button></li>`)}</ul>
    </div>
    ${reading && html`<${Import} onClose=${() => setReading(false)}
      onKept=${(/** @type {string} */ id) => { setReading(false); state.set({ board: id, v: '', full: 0 }); }} />`}`;
}
