// What belongs to a whole board: its name, its range, its variables, and the revisions before.

import { html, useEffect, useState } from '../lib/ui.js';
import { described, isAbort } from '../core/api.js';
import { everything, mostVariables, revisions, variableOf } from '../core/boards.js';
import { moved } from './metricspanels.js';
import { oneLine, plural } from '../core/format.js';
import { range } from '../core/state.js';
import { Icon } from '../ui/icons.js';
import { Dialog } from '../ui/pop.js';
import { toast } from '../ui/toast.js';

/** @typedef {import('../core/boards.js').Board} Board */
/** @typedef {import('../core/boards.js').Variable} Variable */

/** refreshes are those that the time picker offers, s. */
const refreshes = [0, 5, 10, 30, 60, 300];

/** fresh is a variable that is not named yet. @type {Variable} */
const fresh = { name: '', label: '', kind: 'query', lang: 'promql', query: '', options: [], multi: true, all: true,
  value: [everything] };

/** @param {{id: string, board: Board, onDone: (b: Board) => void, onClose: () => void}} props */
export function Settings({ id, board, onDone, onClose }) {
  const [b, setBoard] = useState(board);
  const set = (/** @type {Partial<Board>} */ patch) => setBoard((now) => ({ ...now, ...patch }));
  const bad = b.variables.find((v, i) => variableOf(v) === null ||
    b.variables.findIndex((o) => o.name === v.name) !== i);
  const wrong = b.name.trim() === '' ? 'Give the board a name.'
    : bad ? `A variable needs a name of its own, of letters, digits and _: ${JSON.stringify(bad.name)} is none.` : '';
  return html`<${Dialog} className="board-edit" title="Settings" onClose=${onClose}>
    <form onSubmit=${(e) => { e.preventDefault(); if (!wrong) onDone({ ...b, name: b.name.trim() }); }}>
      <div class="fields">
        <label class="wide">Name<input value=${b.name} autofocus onInput=${(e) => set({ name: e.target.value })} />
          </label>
        <label class="wide">About<input value=${b.about} onInput=${(e) => set({ about: e.target.value })} /></label>
        <label>Asks again<select value=${String(b.refresh)} onChange=${(e) => set({ refresh: Number(e.target.value) })}>
          ${refreshes.map((s) => html`<option key=${s} value=${String(s)}>${s === 0 ? 'by hand' : `every ${s} s`}
            </option>`)}</select></label>
        <label>Opens with<select value=${b.from === '' ? '' : 'now'} onChange=${(e) => set(e.target.value === ''
          ? { from: '', to: '' } : range.value)}><option value="">the range of the tab</option>
          <option value="now">${b.from !== '' ? `${b.from} to ${b.to}` : `${range.value.from} to ${range.value.to}`}
            </option></select></label></div>
      <h3>Variables</h3>
      ${b.variables.map((v, i) => html`<${VariableForm} key=${i} variable=${v}
        onChange=${(/** @type {Variable} */ next) =>
          set({ variables: b.variables.map((o, k) => (k === i ? next : o)) })}
        onUp=${i > 0 ? () => set({ variables: moved(b.variables, i, i - 1) }) : null}
        onRemove=${() => set({ variables: b.variables.filter((_, k) => k !== i) })} />`)}
      <p><button type="button" class="small" disabled=${b.variables.length >= mostVariables}
        onClick=${() => set({ variables: [...b.variables, fresh] })}><${Icon} name="plus" />Variable</button></p>
      ${!id.startsWith('ready:') && html`<${Revisions} id=${id} revision=${board.revision}
        onTake=${(/** @type {Board} */ old) => { onDone({ ...old, revision: board.revision });
          toast(`Revision ${old.revision} is shown: save it to keep it`); }} />`}
      ${wrong && html`<p class="warn" role="alert">${wrong}</p>`}
      <div class="buttons"><button type="button" onClick=${onClose}>Cancel</button>
        <button class="primary" disabled=${wrong !== ''}>Done</button></div>
    </form></${Dialog}>`;
}

/**
 * @param {{variable: Variable, onChange: (v: Variable) => void, onUp: (() => void)|null, onRemove: () => void}} props
 */
function VariableForm({ variable: v, onChange, onUp, onRemove }) {
  const set = (/** @type {Partial<Variable>} */ patch) => onChange({ ...v, ...patch });
  const text = (/** @type {'name'|'label'} */ key, /** @type {string} */ title, /** @type {string} */ hint) =>
    html`<label>${title}<input value=${v[key]} placeholder=${hint} onInput=${(e) => set({ [key]: e.target.value })} />
      </label>`;
  return html`<div class="fields board-variable-form" role="group" aria-label=${`Variable ${v.name}`}>
    ${text('name', 'Name', 'host')}${text('label', 'Shown as', v.name || 'Host')}
    <label>Values<select value=${v.kind === 'query' ? v.lang : v.kind} onChange=${(e) => set(['promql', 'sql'].includes(
      e.target.value) ? { kind: 'query', lang: e.target.value } : { kind: e.target.value })}>
      <option value="promql">of a label</option><option value="sql">from SQL</option>
      <option value="list">a list</option><option value="text">any text</option></select></label>
    ${v.kind === 'query' && html`<label class="wide">${v.lang === 'sql' ? 'Statement' : 'Label'}<input class="mono"
      value=${v.query} placeholder=${v.lang === 'sql' ? 'SELECT DISTINCT host FROM app' : 'label_values(up, job)'}
      onInput=${(e) => set({ query: e.target.value })} /></label>`}
    ${v.kind === 'list' && html`<label class="wide">With commas between<input value=${v.options.join(', ')}
      onChange=${(e) => set({ options: e.target.value.split(',').map((/** @type {string} */ o) => o.trim())
        .filter((/** @type {string} */ o) => o !== '') })} /></label>`}
    ${v.kind === 'text' && html`<label class="wide">At first<input value=${v.value[0] ?? ''}
      onInput=${(e) => set({ value: [e.target.value] })} /></label>`}
    ${v.kind !== 'text' && html`<label class="check"><input type="checkbox" checked=${v.multi}
        onChange=${(e) => set({ multi: e.target.checked })} />several</label>
      <label class="check"><input type="checkbox" checked=${v.all} onChange=${(e) => set({ all: e.target.checked,
        value: e.target.checked ? [everything] : [] })} />all</label>`}
    <span class="ends">${onUp && html`<button type="button" class="quiet small icon" title="Up" aria-label="Up"
        onClick=${onUp}><${Icon} name="up" /></button>`}
      <button type="button" class="quiet small icon" title="Remove" aria-label=${`Remove ${v.name}`}
        onClick=${onRemove}><${Icon} name="trash" /></button></span></div>`;
}

/** @param {{id: string, revision: number, onTake: (b: Board) => void}} props */
function Revisions({ id, revision, onTake }) {
  const [list, setList] = useState(/** @type {Board[]|null} */ (null));
  useEffect(() => {
    revisions(id).then(setList, (e) => { if (!isAbort(e)) toast(described(e).message, { kind: 'bad' }); });
  }, [id]);
  return html`<h3>Revisions <span class="soft">this is ${revision}</span></h3>
    ${list !== null && list.length === 0 && html`<p class="soft">None before this one.</p>`}
    <ul class="board-revisions">${(list ?? []).map((r) => html`<li key=${r.revision}>
      ${r.revision}: ${oneLine(r.name, 80)} <span class="soft">${plural(r.panels.length, 'panel')}</span>
      <button type="button" class="small" onClick=${() => onTake(r)}>Take it</button></li>`)}</ul>`;
}
