// What a trial of a document gives: its rows, what each entry was after each processor, the table it wants, its
// versions.

import { html, useEffect, useState } from '../lib/ui.js';
import { described, isAbort, list } from '../core/api.js';
import * as diff from '../core/diff.js';
import { plural, visible } from '../core/format.js';
import { ddl, read } from '../core/pipelines.js';
import { closed } from '../core/state.js';
import { ErrorBox } from '../ui/error.js';
import { copy, toast } from '../ui/toast.js';
import { DryTables } from './drytables.js';

/** @param {{trial: import('../core/pipelines.js').Trial, before: import('../core/pipelines.js').Trial|null}} props */
export function Rows({ trial, before }) {
  const failed = trial.entries.filter((e) => e.error),
    dropped = trial.entries.filter((e) => !e.error && e.rows?.length === 0);
  return html`
    ${trial.warnings.map((w) => html`<p key=${w} class="warn">${visible(w)}</p>`)}
    ${failed.map((e) => html`<p key=${e.entry} class="entry-error" role="alert"><b>Entry ${e.entry}
      </b> ${visible(e.error ?? '')}</p>`)}
    ${dropped.length > 0 && html`<p class="soft">
      ${dropped.length === 1 ? 'Entry' : 'Entries'} ${dropped.map((e) => e.entry).join(', ')} gave no row: dropped
        by ${[...new Set(dropped.map((e) => e.steps?.[e.steps.length - 1]?.processor ??
          'the document'))].join(', ')}.</p>`}
    ${(trial.tables.some((t) => t.rows.length > 0) || failed.length === 0) &&
      html`<${DryTables} tables=${trial.tables} before=${before?.tables} />`}
    ${before && html`<p class="soft">Marked cells differ from what the stored version gives.</p>`}`;
}

/** @param {{trial: import('../core/pipelines.js').Trial}} props */
export function Steps({ trial }) {
  const [which, setWhich] = useState(1);
  const entry = trial.entries.find((e) => e.entry === which) ?? trial.entries[0];
  if (!entry) return html`<p class="soft">There are no entries.</p>`;
  let before = entry.before;
  return html`<div class="row">
    ${trial.entries.map((e) => html`<button key=${e.entry} class="small ${e.error ? 'danger' : ''}"
      aria-pressed=${e === entry ? 'true' : 'false'} onClick=${() => setWhich(e.entry)}>Entry ${e.entry}</button>`)}
      </div>
    <ol class="steps">${(entry.steps ?? []).map((s, i) => {
      const from = before;
      before = s.after ?? before;
      return html`<li key=${i}>
        <h3>${s.pipeline ? html`<span class="soft">${s.pipeline}: </span>` : ''}${s.index + 1}. ${s.processor}
          ${s.after === null && html` <span class="badge">dropped</span>`}
            ${s.after === undefined && html` <span class="badge bad">failed</span>`}</h3>
        ${s.after && html`<table aria-label="Fields" class="fields mono">
          ${diff.fields(from, s.after)
            .map((f) => html`<tr key=${f.key}
              class=${{ '+': 'added', '-': 'removed', '~': 'changed', '=': 'same' }[f.kind]}>
          <td class="sign" aria-label=${{ '+': 'new', '-': 'removed', '~': 'changed', '=': 'as before' }[f.kind]}>
            ${f.kind === '=' ? ' ' : f.kind}</td><td>${visible(f.key)}</td>
          <td>${f.kind === '~' && html`<del>${text(f.before)}</del> `}${text(f.kind === '-' ? f.before : f.after)}</td>
            </tr>`)}</table>`}</li>`;
    })}</ol>
    ${(entry.steps ?? []).length === 0 && html`<p class="soft">The document has no processors that ran.</p>`}
    ${entry.error && html`<p class="entry-error" role="alert">${visible(entry.error)}</p>`}`;
}

/** @param {any} v */
// a long integer is text
const text = (v) => (typeof v === 'string' && /^-?\d{16,}$/.test(v) ? v
  : visible(JSON.stringify(v) ?? '').slice(0, 1000));

/** @param {{name: string, table: string, onTable: (table: string) => void, changed: boolean}} props */
export function TableOf({ name, table, onTable, changed }) {
  const [found, setFound] = useState(/** @type {{sql: string, message?: string}|null} */ (null));
  const [error, setError] = useState(/** @type {any} */ (null));
  useEffect(() => {
    if (!name || !table) return;
    const control = new AbortController();
    ddl(name, table, control.signal)
      .then((d) => { setFound(d); setError(null); },
        (e) => { if (!isAbort(e)) { setError(described(e)); setFound(null); } });
    return () => control.abort(new DOMException('newer', 'AbortError'));
  }, [name, table]);
  const create = async () => {
    try {
      await list(found?.sql ?? '', { retry: false });
      toast(`The table ${table} is there`, { kind: 'good' });
    } catch (e) {
      if (!isAbort(e)) setError(described(e));
    }
  };
  if (!name) return html`<p class="soft">Save the document first: the table is made from the stored version.</p>`;
  return html`<div class="row">
    <label>Table <input value=${table} placeholder="name" onInput=${(e) => onTable(e.target.value)} /></label>
      ${changed && html`<span class="soft">Of the stored version, without your changes.</span>`}</div>
    ${error && html`<${ErrorBox} error=${error} />`}
    ${found && html`${found.message && html`<p class="warn">${visible(found.message)}</p>`}
      <pre class="mono ddl">${found.sql}</pre>
      <div class="row"><button class="primary" disabled=${closed.value !== ''} title=${closed.value}
        onClick=${() => void create()}>Create the table</button><button onClick=${() => copy(found.sql)}>Copy</button>
        </div>`}`;
}

/**
 * @param {{name: string, versions: import('../core/pipelines.js').Version[], document: string, onRestore: (text:
 *   string) => void, onDelete: (version: string) => void}} props
 */
export function Versions({ name, versions, document, onRestore, onDelete }) {
  const own = 'in the editor';
  const [a, setA] = useState(versions[0]?.version ?? own);
  const [b, setB] = useState(own);
  const [texts, setTexts] = useState(/** @type {Record<string, string>} */ ({}));
  const [error, setError] = useState(/** @type {any} */ (null));
  useEffect(() => {
    const control = new AbortController();
    for (const v of [a, b]) {
      if (v === own || texts[v] !== undefined || !versions.some((x) => x.version === v)) continue;
      read(name, v, control.signal)
        .then((t) => setTexts((all) => ({ ...all, [v]: t })), (e) => { if (!isAbort(e)) setError(described(e)); });
    }
    return () => control.abort(new DOMException('newer', 'AbortError'));
  }, [a, b, name]);
  if (versions.length === 0) return html`<p class="soft">No version is stored yet.</p>`;
  const of = (/** @type {string} */ v) => (v === own ? document : texts[v]);
  const x = of(a), y = of(b);
  const choice = (/** @type {string} */ label, /** @type {string} */ v, /** @type {(v: string) => void} */ set) =>
    html`<label>${label} <select value=${v} onChange=${(e) => set(e.target.value)}>
    <option value=${own}>${own}</option>
      ${versions.map((o, i) => html`<option key=${o.version} value=${o.version}>${o.version.slice(0, 23)}
        ${i === 0 ? ' (in use)' : ''}</option>`)}</select></label>`;
  const restore = async (/** @type {string} */ v) => {
    try {
      onRestore(await read(name, v));
    } catch (e) {
      if (!isAbort(e)) setError(described(e));
    }
  };
  return html`${error && html`<${ErrorBox} error=${error} />`}
    <table aria-label="Versions" class="list versions">
      <tbody>${versions.map((v, i) => html`<tr key=${v.version}><td class="num nowrap">${v.version}</td>
        <td>${i === 0 ? html`<span class="badge">in use</span>` : ''}</td><td class="num soft">${plural(v.size, 'byte')}
          </td>
      <td class="nowrap"><button class="small" disabled=${i === 0 || closed.value !== ''}
        onClick=${() => void restore(v.version)}>Restore</button> <button class="small danger"
          disabled=${closed.value !== ''} title=${closed.value} onClick=${() => onDelete(v.version)}>Delete</button>
            </td></tr>`)}</tbody></table>
    <div class="row">${choice('From', a, setA)}${choice('to', b, setB)}</div>
    ${x !== undefined && y !== undefined &&
      (x === y ? html`<p class="soft">Both are equal.</p>`
        : html`<pre class="diff mono" tabindex="0" role="region" aria-label="Difference">
          ${diff.lines(x, y).map((l, i) => html`<div key=${i}
            class=${{ '+': 'added', '-': 'removed', '=': 'same' }[l.kind]}>
              ${l.kind === '=' ? ' ' : l.kind} ${visible(l.text)}</div>`)}</pre>`)}`;
}
