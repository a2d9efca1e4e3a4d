// Putting what another page shows on a board.

import { html, render, useEffect, useState } from '../lib/ui.js';
import { described, isAbort } from '../core/api.js';
import * as boards from '../core/boards.js';
import { oneLine } from '../core/format.js';
import * as router from '../core/router.js';
import { db } from '../core/state.js';
import { Dialog } from '../ui/pop.js';
import { toast } from '../ui/toast.js';

/** @typedef {Partial<import('../core/boards.js').Panel>} Part */

/** put asks for the board, and puts a panel on it. @param {Part} panel */
export function put(panel) {
  const host = document.createElement('div');
  document.body.append(host);
  const done = () => {
    render(null, host);
    host.remove();
  };
  render(html`<${Choose} panel=${panel} done=${done} />`, host);
}

/** @param {{panel: Part, done: () => void}} props */
function Choose({ panel, done }) {
  const [kept, setKept] = useState(/** @type {boards.Kept[]|null} */ (null));
  const [to, setTo] = useState('');
  const [name, setName] = useState('');
  const [title, setTitle] = useState(panel.title ?? '');
  const [busy, setBusy] = useState(false);
  useEffect(() => {
    const control = new AbortController();
    boards.readAll(control.signal).then((all) => setKept(all.boards), (e) => {
      if (isAbort(e)) return;
      toast(described(e).message, { kind: 'bad' });
      done();
    });
    return () => control.abort(new DOMException('left', 'AbortError'));
  }, []);
  const keep = async () => {
    setBusy(true);
    try {
      const board = to === '' ? boards.blank(name.trim(), db.value) : await boards.read(to);
      const { board: whole } = boards.added(board, { w: 12, h: 8, ...panel, title });
      const { id } = await boards.save(whole);
      toast(`It is on ${whole.name}`, { kind: 'good', action: { text: 'Open', run: () => {
        void router.go('boards', { board: id });
      } } });
      done();
    } catch (e) {
      setBusy(false);
      toast(e instanceof boards.Conflict ? (to === '' ? `There is a board ${name.trim()} already.` : e.message)
        : described(e).message, { kind: 'bad' });
    }
  };
  return html`<${Dialog} title="Put on a board" onClose=${done}>
    <form onSubmit=${(e) => { e.preventDefault(); void keep(); }}>
      <label>Title<input value=${title} autofocus onInput=${(e) => setTitle(e.target.value)} /></label>
      <label>Board<select value=${to} onChange=${(e) => setTo(e.target.value)}>
        <option value="">a new one</option>${(kept ?? []).map((k) =>
          html`<option key=${k.id} value=${k.id}>${oneLine(k.board.name, 80)}</option>`)}</select></label>
      ${to === '' && html`<label>Its name<input value=${name} onInput=${(e) => setName(e.target.value)} /></label>`}
      <div class="buttons"><button type="button" onClick=${done}>Cancel</button>
        <button class="primary" disabled=${busy || kept === null || (to === '' && name.trim() === '')}>Put it there
          </button></div>
    </form></${Dialog}>`;
}
