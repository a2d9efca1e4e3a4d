// Pipelines: a playground. The document on the left, samples on the right, and below what it makes of them, as one
// types.

import { html, useEffect, useLayoutEffect, useMemo, useRef, useState } from '../lib/ui.js';
import { ApiError, described, isAbort, root } from '../core/api.js';
import { columns, forget } from '../core/catalog.js';
import { draft } from '../core/draft.js';
import { plural, visible } from '../core/format.js';
import * as docs from '../core/pipelinedoc.js';
import * as pipelines from '../core/pipelines.js';
import * as router from '../core/router.js';
import * as samples from '../core/samples.js';
import { closed, db, session } from '../core/state.js';
import { ask } from '../ui/ask.js';
import { ErrorBox } from '../ui/error.js';
import { Icon } from '../ui/icons.js';
import { Pop } from '../ui/pop.js';
import { TableName } from '../ui/tablename.js';
import { Tabs } from '../ui/tabs.js';
import { copy, toast } from '../ui/toast.js';
import { useKeys } from '../core/keys.js';
import { DocumentEditor } from './pipelineeditor.js';
import { PipelineList } from './pipelinelist.js';
import { Rows, Steps, TableOf, Versions } from './pipelineresult.js';

const tabs = [{ id: 'rows', text: 'Rows' }, { id: 'steps', text: 'Steps' }, { id: 'table', text: 'Table' },
  { id: 'versions', text: 'Versions' }];

export const state = /** @type {Record<string, import('../core/state.js').Key>} */ ({
  name: { type: 'text', default: '' },
  doc: { type: 'text', default: '' },
  s: { type: 'text', default: '' },
  kind: { type: 'text', default: 'auto', of: ['auto', 'text', 'ndjson', 'json'] },
  tab: { type: 'text', default: 'rows', of: tabs.map((t) => t.id) },
  table: { type: 'text', default: '' },
});

const first = `processors:
  - dissect:
      field: message
      patterns: ['%{time} %{level} %{text}']
  - date: {field: time, formats: ['%+']}
transform:
  - {field: time, type: "time, ms", index: timestamp}
  - {field: level, type: string, index: inverted}
  - {field: "text, message", type: string, index: fulltext}
`;
const firstSamples =
  '2026-11-21T03:46:00.123Z INFO cart opened\n2026-11-21T03:46:01.500Z ERROR timeout after 30s calling payment\n';

/** How long after the last key a trial begins, ms. */
const pause = 500;

/** @param {{state: import('../core/state.js').PageState}} props */
export function Page({ state }) {
  const name = state.get('name'), text = state.get('s'), tab = state.get('tab');
  const [stored, setStored] = useState(/** @type {pipelines.Stored[]|null} */ (null));
  // the version in use, as stored
  const [kept, setKept] = useState(/** @type {{name: string, text: string}|null} */ (null));
  const [trial, setTrial] = useState(/** @type {pipelines.Trial|null} */ (null));
  const [before, setBefore] = useState(/** @type {pipelines.Trial|null} */ (null));
  const [failure, setFailure] = useState(/** @type {ApiError|null} */ (null));
  const [why, setWhy] = useState('');
  const [readError, setReadError] = useState(/** @type {any} */ (null));
  const [listError, setListError] = useState(/** @type {any} */ (null));
  const own = state.get('doc');
  const base = name ? (kept && kept.name === name ? kept.text : '') : first; // the text that changes are compared with
  const document = own || base;
  const data = text || (name ? '' : firstSamples);
  const changed = own !== '' && base !== '' && own !== base;
  const kind = state.get('kind') === 'auto' ? samples.guessKind(data) : /** @type {samples.Kind} */ (state.get('kind'));
  const versions = stored?.find((p) => p.name === name)?.versions ?? [];
  const readOnly = closed.value !== '';

  const refresh = async () => {
    try {
      forget();
      setStored(await pipelines.load());
      setListError(null);
    } catch (e) {
      if (!isAbort(e)) setListError(described(e));
    }
  };
  useEffect(() => { void refresh(); }, []);
  useEffect(() => {
    if (!name) return;
    const control = new AbortController();
    setReadError(null);
    // A version that was saved meanwhile is the newer one.
    pipelines.read(name, undefined, control.signal)
      .then((t) => setKept((k) => (k?.name === name ? k : { name, text: t })),
        (e) => { if (!isAbort(e)) setReadError(described(e)); });
    return () => control.abort(new DOMException('newer', 'AbortError'));
  }, [name]);

  // The trial of the document, a while after the last key.
  const running = useRef({ control: new AbortController(), of: '',
    outcome: /** @type {Promise<string|null>} */ (Promise.resolve('')) });
  const ready = document !== '' && data.trim() !== '';
  /** attempt returns the error of a trial, '' if there is none; null if it was given up. @param {AbortSignal} signal */
  const attempt = async (signal) => {
    const part = samples.firstEntries(data, kind, pipelines.mostEntries);
    try {
      const found = await pipelines.trial({ document }, part, kind, signal);
      const old = changed && name
        ? await pipelines.trial({ name }, part, kind, signal, false)
        .catch((e) => { if (isAbort(e)) throw e; return null; }) : null;
      setTrial(found);
      setBefore(old);
      setFailure(null);
      return found.entries.find((e) => e.error)?.error ?? '';
    } catch (e) {
      if (isAbort(e)) return null;
      running.current.of = '';
      setFailure(described(e));
      setTrial(null);
      return described(e).message;
    }
  };
  /** run gives the outcome for what is on the page now, which is tried once, or again. @param {boolean} [again] */
  const run = (again) => {
    const of = JSON.stringify([name, document, data, kind, base]);
    if (again || of !== running.current.of) {
      running.current.control.abort(new DOMException('newer', 'AbortError'));
      const control = new AbortController();
      running.current = { control, of, outcome: Promise.resolve('') };
      if (ready) running.current.outcome = attempt(control.signal);
    }
    return running.current.outcome;
  };
  const latest = useRef(run);
  latest.current = run;
  useEffect(() => {
    if (!ready) {
      void latest.current();
      setTrial(null);
      setFailure(null);
      return;
    }
    const timer = setTimeout(() => void latest.current(), pause);
    return () => clearTimeout(timer);
  }, [document, data, kind, kept]);
  useEffect(() => () => running.current.control.abort(new DOMException('left', 'AbortError')), []);
  useKeys([{ keys: 'Mod+Enter', text: 'Try the document', run: () => void run(true) },
    { keys: 'Mod+s', text: 'Save the document', run: () => void save() }]);

  // Leaving with changes asks: they are in the address, but not on the server.
  useLayoutEffect(() => {
    if (!changed) return;
    router.leaving.ask = () => confirm('The document has changes that are not saved. Leave it?');
    const unload = (/** @type {BeforeUnloadEvent} */ e) => e.preventDefault();
    addEventListener('beforeunload', unload);
    return () => {
      router.leaving.ask = null;
      removeEventListener('beforeunload', unload);
    };
  }, [changed]);

  const failedEntries = trial?.entries.filter((e) => e.error) ?? [];
  const marks = useMemo(() => {
    const messages = failure ? [failure.message] : failedEntries.map((e) => e.error ?? '').slice(0, 1);
    return messages.flatMap((m) => docs.place(m, document) ?? []);
  }, [failure, trial, document]);

  const setDoc = (/** @type {string} */ t) => state.set({ doc: t }, false);
  const open = async (/** @type {string} */ to) => {
    if (changed &&
      (await ask({ title: 'Leave the changes', text: 'The document has changes that are not saved.',
        yes: 'Leave them' })) === null) return;
    setWhy('');
    setTrial(null);
    setFailure(null);
    state.set({ name: to, doc: '', tab: 'rows' });
  };
  const save = async () => {
    if (readOnly) return;
    const to = name ||
      (await ask({ title: 'Save the pipeline', text: 'Names that begin with service_ are built in.', field: 'Name',
        value: '', yes: 'Save' }))?.trim();
    if (!to) return;
    if (to.startsWith('service_')) return void toast('A name may not begin with service_', { kind: 'bad' });
    const fails = await run();
    if (fails === null || fails &&
      (await ask({ title: 'Save although the trial fails', text: visible(fails).slice(0, 500),
        yes: 'Save all the same' })) === null) return;
    try {
      const { version, warnings } = await pipelines.save(to, document);
      toast(`Version ${version} is now the default${warnings.length > 0 ? `; ${warnings[0]}` : ''}`, { kind: 'good' });
      setKept({ name: to, text: document });
      state.set({ name: to, doc: '', s: data }); // the example samples stay
      await refresh();
    } catch (e) {
      if (!isAbort(e)) setFailure(described(e));
    }
  };
  const remove = async (/** @type {string} */ version) => {
    const last = versions.length === 1;
    if ((await ask({ title: 'Delete a version', text: last
      ? `This is the only version of ${name}: the pipeline is deleted with it.`
      : `Version ${version} of ${name} cannot be restored.`, typed: name, yes: 'Delete' })) === null) return;
    try {
      await pipelines.remove(name, version);
      toast(last ? `${name} is deleted` : 'The version is deleted', { kind: 'good' });
      setKept(null);
      state.set(last ? { name: '', doc: '' } : { doc: '' });
      if (!last) setKept({ name, text: await pipelines.read(name) });
      await refresh();
    } catch (e) {
      if (!isAbort(e)) toast(described(e).message, { kind: 'bad' });
    }
  };
  const restore = async (/** @type {string} */ old) => {
    setDoc(old);
    const { version } = await pipelines.save(name, old);
    toast(`Restored as version ${version}`, { kind: 'good' });
    setKept({ name, text: old });
    state.set({ doc: '' }, false);
    await refresh();
  };
  const makeDraft = () => {
    const d = draft(data);
    if (d.document) setDoc(d.document);
    setWhy(d.why);
  };
  const entries = samples.countEntries(data, kind);

  return html`<div class="toolbar"><h1>Pipelines</h1>
      <b class="doc-name">${name || 'New document'}</b>${changed && html`<span class="badge">changed</span>`}
      <span class="grow"></span>
      <button class="primary" disabled=${readOnly || document === '' || (name !== '' && !changed)}
        title=${closed.value || 'Ctrl+S'} onClick=${() => void save()}>Save</button>
      <${Pop} label=${html`<${Icon} name="menu" />`} title="More" className="icon" side="right" menu>
        ${(close) => html`
          <button role="menuitem" disabled=${!name}
            onClick=${() => { close(); state.set({ name: '', doc: document }); }}>Duplicate</button>
          <button role="menuitem" onClick=${() => {
            close();
            download(`${name || 'pipeline'}.yaml`, document);
          }}>Download</button>
          <button role="menuitem" disabled=${!name}
            onClick=${() => { close(); void copy(curlOf(name), 'curl copied'); }}>Copy curl</button>
          <button role="menuitem" class="danger" disabled=${!name || readOnly}
            onClick=${() => { close(); void remove(versions[0]?.version ?? ''); }}>
              Delete the version in use …</button>`}
      </${Pop}></div>
    <div class="playground">
      <${PipelineList} stored=${stored} name=${name} onOpen=${(/** @type {string} */ n) => void open(n)}
        onNew=${() => void open('')} />
      <section class="document" aria-label="Document"><h2>Document</h2>
        <${DocumentEditor} value=${document} onChange=${setDoc} marks=${marks}
          onRun=${() => void latest.current(true)} /></section>
      <section class="samples" aria-label="Samples"><h2>Samples
          <span class="soft">${plural(entries, 'entry', 'entries')}
            ${entries > pipelines.mostEntries ? `, the first ${pipelines.mostEntries} are tried` : ''}</span></h2>
        <textarea class="mono" aria-label="Samples" spellcheck="false" placeholder="Paste lines here, or drop a file."
          value=${data} onInput=${(e) => state.set({ s: e.target.value || '\n' }, false)}
          onDragOver=${(e) => e.preventDefault()} onDrop=${(/** @type {DragEvent} */ e) => void dropped(e, state)}>
            </textarea>
        <div class="row">
          <label>Read as <select value=${state.get('kind')}
            onChange=${(e) => state.set({ kind: e.target.value }, false)}>
              <option value="auto">found: ${samples.kindNames[kind]}</option>
            ${Object.entries(samples.kindNames).map(([id, n]) => html`<option key=${id} value=${id}>${n}</option>`)}
              </select></label>
          <${FromTable} onText=${(/** @type {string} */ t) => state.set({ s: t }, false)} />
          <button onClick=${makeDraft}
            title="A document from what the samples look like, by fixed rules">Make a start from these</button>
        </div>
        ${why && html`<p class="why" role="status">${why}</p>`}</section>
      <section class="result" aria-label="Result">
        <${Tabs} label="Result"
          tabs=${tabs.map((t) => (t.id === 'versions' && versions.length > 0
            ? { ...t, text: `Versions (${versions.length})` }
            : t))} tab=${tab} onTab=${(/** @type {string} */ id) => state.set({ tab: id })} />
        <div class="result-body">
          ${(readError ?? listError) && html`<${ErrorBox} error=${readError ?? listError} />`}
          ${failure && tab !== 'versions' &&
            html`<div class="error" role="alert">
              ${marks[0] && html`<b>Line ${marks[0].line}, column ${marks[0].column}. </b>`}
                <span class="text">${visible(failure.message)}</span></div>`}
          ${tab === 'rows' && trial && html`<${Rows} trial=${trial} before=${before} />`}
          ${tab === 'steps' && trial && html`<${Steps} trial=${trial} />`}
          ${tab === 'table' && html`<${TableOf} name=${name} table=${state.get('table') || name}
            onTable=${(/** @type {string} */ t) => state.set({ table: t }, false)} changed=${changed} />`}
          ${tab === 'versions' && html`<${Versions} key=${name + versions.length} name=${name} versions=${versions}
            document=${document} onRestore=${(/** @type {string} */ t) => void restore(t)
              .catch((e) => { if (!isAbort(e)) toast(described(e).message, { kind: 'bad' }); })}
                onDelete=${(/** @type {string} */ v) => void remove(v)} />`}
          ${!trial && !failure && !readError && (tab === 'rows' || tab === 'steps') &&
            html`<p class="soft">${data.trim() === ''
              ? 'Put some samples on the right: the result appears here while you type.' : 'Trying …'}</p>`}
        </div></section>
    </div>`;
}

/** FromTable takes the last rows of a table for samples. @param {{onText: (text: string) => void}} props */
function FromTable({ onText }) {
  const [text, setText] = useState('');
  const take = async (/** @type {string} */ table) => {
    if (table === '') return;
    try {
      const of = await columns(db.value, table);
      if (of.length === 0) return void toast(`There is no table ${table}.`, { kind: 'bad' });
      onText(await pipelines.samplesOf(db.value, table, of));
      setText('');
    } catch (e) {
      if (!isAbort(e)) toast(described(e).message, { kind: 'bad' });
    }
  };
  return html`<label>Rows of <${TableName} id="sample-tables" value=${text} placeholder="a table …"
    onInput=${(e) => setText(e.target.value)} onChange=${(e) => void take(e.target.value.trim())} /></label>`;
}

/** @param {DragEvent} e @param {import('../core/state.js').PageState} state */
async function dropped(e, state) {
  const file = e.dataTransfer?.files[0];
  if (!file) return;
  e.preventDefault();
  state.set({ s: (await file.slice(0, 200_000).text()).split('\n').slice(0, 100).join('\n') }, false);
}

/** @param {string} name @param {string} text */
function download(name, text) {
  const a = window.document.createElement('a');
  a.href = URL.createObjectURL(new Blob([text], { type: 'application/octet-stream' }));
  a.download = name;
  a.click();
  setTimeout(() => URL.revokeObjectURL(a.href), 10_000);
}

/** @param {string} name */
const curlOf = (name) => `curl ${session.value.user ? '-u "$USER" '
  : ''}'${root.href}v1/ingest?table=TABLE&pipeline_name=${encodeURIComponent(
    name)}' \\\n  -H 'Content-Type: text/plain' --data-binary @FILE`;
