// Importing a board from a file.

import { html, useState } from '../lib/ui.js';
import { described } from '../core/api.js';
import { Conflict, mostBytes, save } from '../core/boards.js';
import { read } from '../core/boardimport.js';
import { plural } from '../core/format.js';
import { db } from '../core/state.js';
import { Dialog } from '../ui/pop.js';
import { toast } from '../ui/toast.js';

/** A file of more bytes is no dashboard: those that people share have some 100 KiB. */
const mostFile = 16 * mostBytes;

/** @param {{onClose: () => void, onKept: (id: string) => void}} props */
export function Import({ onClose, onKept }) {
  const [text, setText] = useState('');
  const [name, setName] = useState('');
  let found = null, wrong = '';
  try {
    if (text.trim() !== '') found = read(text, db.value);
  } catch (e) {
    wrong = described(e).message;
  }
  const take = async (/** @type {Event} */ e) => {
    const file = /** @type {HTMLInputElement} */ (e.target).files?.[0];
    if (!file) return;
    if (file.size > mostFile) return toast(`The file is larger than ${mostFile >> 20} MiB.`, { kind: 'bad' });
    setName('');
    setText(await file.text());
  };
  const keep = async () => {
    if (!found) return;
    const board = { ...found.board, name: name.trim() || found.board.name };
    try {
      onKept((await save(board)).id);
      toast(`${board.name} is kept`, { kind: 'good' });
    } catch (e) {
      toast(e instanceof Conflict ? `There is a board ${board.name} already: give this one another name.`
        : described(e).message, { kind: 'bad' });
    }
  };
  return html`<${Dialog} className="board-edit" title="Import a board" onClose=${onClose}>
    <form onSubmit=${(e) => { e.preventDefault(); void keep(); }}>
      <p>A board that was exported here, or a dashboard in the form that most tools share, as far as its panels ask
        PromQL or SQL.</p>
      <p><input type="file" accept=".json,application/json" aria-label="File" onChange=${take} /></p>
      <label class="wide">or its text<textarea class="mono" rows="6" spellcheck=${false} value=${text}
        onInput=${(e) => setText(e.target.value)}></textarea></label>
      ${wrong && html`<p class="warn" role="alert">${wrong}</p>`}
      ${found && html`<label class="wide">Name<input value=${name || found.board.name}
          onInput=${(e) => setName(e.target.value)} /></label>
        <p role="status">${plural(found.board.panels.length, 'panel')},
          ${' '}${plural(found.board.variables.length, 'variable')}${found.left.length > 0
            ? '. Left out or changed:' : '.'}</p>
        <ul class="board-left">${found.left.map((l, i) => html`<li key=${i}>${l}</li>`)}</ul>`}
      <div class="buttons"><button type="button" onClick=${onClose}>Cancel</button>
        <button class="primary" disabled=${!found}>Keep it</button></div>
    </form></${Dialog}>`;
}
