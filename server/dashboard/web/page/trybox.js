// The box of the Ingest page in which lines are tried: what they would become, and sending them.

import { html, useEffect, useLayoutEffect, useMemo, useRef, useState } from '../lib/ui.js';
import * as router from '../core/router.js';
import { described, isAbort, request, stopped } from '../core/api.js';
import { forget } from '../core/catalog.js';
import { bytes, count, duration, oneLine, plural, visible } from '../core/format.js';
import * as pipelines from '../core/pipelines.js';
import * as samples from '../core/samples.js';
import { sendFile } from '../core/commands.js';
import { user } from '../core/auth.js';
import { failedLine, ingest, mostBytes } from '../core/send.js';
import { closed, db, instants, session } from '../core/state.js';
import { nowNanos, rfc3339, second } from '../core/time.js';
import { ErrorBox } from '../ui/error.js';
import { useKeys } from '../core/keys.js';
import { NameField, TableName } from '../ui/tablename.js';
import { copy } from '../ui/toast.js';
import { DryTables } from './drytables.js';

/**
 * The other forms that the same box sends.
 * @type {{id: string, title: string, path: string, type: string, needs: string, example: () => string}[]}
 */
const otherForms = [
  { id: 'lineproto', title: 'Line protocol', path: 'v1/lineproto/write', type: 'text/plain', needs: 'lineproto',
    example: () => 'demo_cpu,host=web-1 usage=0.42,count=7i\ndemo_cpu,host=web-2 usage=0.17,count=3i\n' },
  { id: 'jsonput', title: 'JSON put', path: 'v1/jsonput/api/put?details', type: 'application/json', needs: 'jsonput',
    example: () => JSON.stringify([{ metric: 'demo_load', timestamp: Math.floor(Date.now() / 1000), value: 0.5,
      tags: { host: 'web-1' } }], null, 1) },
  { id: 'logpush', title: 'Log push JSON', path: 'v1/logpush/api/v1/push', type: 'application/json', needs: 'logpush',
    example: () => JSON.stringify(
      { streams: [{ stream: { app: 'demo' }, values: [[`${Date.now()}000000`, 'hello']] }] }, null, 1) },
];

/** The pipeline that is used when none is named: it takes lines as they are. */
const identity = 'service_identity';
/** The table that lines go to where none is named. */
export const tableAtFirst = 'app';

/** @param {{state: import('../core/state.js').PageState}} props */
export function TryBox({ state }) {
  const [text, setText] = useState('');
  const [result, setResult] = useState(/** @type {any} */ (null));
  const [busy, setBusy] = useState('');
  const control = useRef(new AbortController());
  const form = state.get('form');
  const chosen = state.get('kind');
  const kind = chosen === 'auto' ? samples.guessKind(text) : /** @type {samples.Kind} */ (chosen);
  const head = useMemo(() => samples.entries(text.slice(0, 400_000), kind, 200), [text, kind]);
  const times = useMemo(() => samples.timeFields(head), [head]);
  const pipeline = state.get('p').trim() || identity, table = state.get('t').trim() || tableAtFirst;
  const time = times.find((t) => t.field === state.get('time')) ??
    (state.get('time') === 'auto' ? times[0] : undefined);
  const index = pipeline === identity ? time?.index : undefined;
  const other = otherForms.find((f) => f.id === form);
  const readOnly = closed.value !== '';

  useEffect(() => () => control.current.abort(new DOMException('left', 'AbortError')), []);

  /**
   * run does one thing at a time and shows its outcome.
   * @param {string} what
   * @param {(signal: AbortSignal) => Promise<any>} work
   */
  const run = async (what, work) => {
    control.current.abort(new DOMException('newer', 'AbortError'));
    const { signal } = control.current = new AbortController();
    setBusy(what);
    setResult(null);
    try {
      setResult(await work(signal));
    } catch (e) {
      if (isAbort(e)) return; // another action was begun since
      setResult({ error: described(e) });
    }
    setBusy('');
  };
  const dryRun = () => run('Dry run', async (signal) => {
    const part = samples.firstEntries(text, kind, 10);
    const data = { pipeline_name: pipeline, data: part, data_type: samples.mediaTypes[kind], custom_time_index: index,
      max_nested_levels: state.get('depth') };
    const dry = await pipelines.dryRun({ body: JSON.stringify(data), headers: { 'Content-Type': 'application/json' },
      signal });
    for (const t of dry) t.table_name = t.table_name.replace(/^dry_run/, () => table); // a trial calls it dry_run
    return { dry, first: Math.min(10, samples.countEntries(text, kind)) };
  });
  const send = () => run('Sending', async (signal) => {
    if (other) {
      const began = performance.now();
      const answer = await request(other.path,
        { method: 'POST', body: text, query: { db: db.value },
          headers: { 'Content-Type': other.type, 'x-service-db-name': db.value }, signal, retry: false });
      return { sent: { status: answer.status, answer: await answer.text(), elapsedMS: performance.now() - began } };
    }
    const sent = await ingest(text, kind,
      { table, pipeline, index, skip: state.get('skip'), depth: state.get('depth') },
      { signal, onProgress: (n, of) => setBusy(of > 1 ? `Sending ${n} of ${of}` : 'Sending') });
    forget();
    const last = kind === 'ndjson' ? samples.entries(text.slice(-200_000).replace(/^.*\n/, ''), kind, 2000) : [];
    return { sent: { ...sent, table, span: index && time ? samples.spanOf([...head, ...last], time) : null } };
  });
  /**
   * commandFor sends a file from a terminal as the box would.
   * @param {string} name
   * @param {string} begin of the file
   */
  const commandFor = (name, begin) => {
    if (other) return sendFile(name, other.id, {});
    const array = begin.trimStart().startsWith('[') && chosen !== 'text';
    const as = array ? 'json' : chosen === 'auto' ? samples.guessKind(begin) : /** @type {samples.Kind} */ (chosen);
    const found = samples.timeFields(samples.entries(array ? begin.slice(0, begin.lastIndexOf('},') + 1) + ']' : begin,
      as, 200)), by = found.find((t) => t.field === state.get('time')) ??
      (state.get('time') === 'auto' ? found[0] : undefined);
    return sendFile(name, as,
      { table, pipeline, index: pipeline === identity ? by?.index : undefined, skip: state.get('skip'),
        depth: state.get('depth') });
  };
  const take = async (/** @type {File|undefined} */ file) => {
    if (!file) return;
    if (file.size > mostBytes) {
      setResult({ large: file, command: commandFor(file.name, await file.slice(0, 400_000).text()) });
      return;
    }
    setText(await file.text());
    setResult(null);
  };
  useLayoutEffect(() => {
    const paste = (/** @type {ClipboardEvent} */ e) => { // also where no field has the focus
      const lines = e.clipboardData?.getData('text') ?? '';
      if (!lines || /** @type {HTMLElement} */ (e.target).closest('input, textarea, select')) return;
      setText(lines);
      setResult(null);
    };
    document.addEventListener('paste', paste);
    return () => document.removeEventListener('paste', paste);
  }, []);
  const ready = text.trim() !== '' && !busy;
  useKeys([{ keys: 'Mod+Enter', text: 'Send', run: () => { if (ready && !readOnly) void send(); } }]);
  const set = (/** @type {string} */ k) => (/** @type {any} */ e) => {
    state.set({ [k]: e.target.type === 'checkbox' ? e.target.checked : e.target.value }, false);
    setResult(null);
  };

  return html`<section class="try" aria-label="Try it"
    onDragOver=${(e) => e.preventDefault()}
      onDrop=${(/** @type {DragEvent} */ e) => { e.preventDefault(); void take(e.dataTransfer?.files[0]); }}>
    <h2>Try it</h2>
    <div class="fields">
      <label>Form <select value=${form}
        onChange=${(e) => {
          set('form')(e);
          const f = otherForms.find((x) => x.id === e.target.value);
          setText(f ? f.example() : '');
        }}>
        <option value="ingest">Lines and JSON</option>
        ${otherForms.filter((f) => session.value.features?.includes(f.needs))
          .map((f) => html`<option key=${f.id} value=${f.id}>${f.title}</option>`)}
      </select></label>
      ${!other && html`
        <label>Table <${TableName} id="ingest-tables" value=${state.get('t')} placeholder=${tableAtFirst}
          onInput=${set('t')} /></label>
        <label>Read as <select value=${chosen} onChange=${set('kind')}>
          <option value="auto">${text ? `found: ${samples.kindNames[kind]}` : 'what it looks like'}</option>
          ${Object.entries(samples.kindNames).map(([id, name]) => html`<option key=${id} value=${id}>${name}</option>`)}
            </select></label>
        <label>Pipeline <${NameField} id="ingest-pipelines" value=${state.get('p')} placeholder=${identity}
          what="pipelines" names=${pipelines.names} onInput=${set('p')} /></label>
        ${pipeline === identity && html`<label>Time <select value=${time?.field ?? 'now'} onChange=${set('time')}>
          <option value="now">when it arrives</option>
          ${times.map((t) => html`<option key=${t.field} value=${t.field}>${t.field}</option>`)}</select></label>
        <label>Levels <${Levels} value=${state.get('depth')} onInput=${set('depth')} /></label>`}
        <label class="check" title="Entries that fail are left out and counted">
          <input type="checkbox" checked=${state.get('skip')} onChange=${set('skip')} /> leave out bad entries</label>`}
    </div>
    <textarea class="mono" aria-label="Lines to send" spellcheck="false" rows="10" value=${text}
      placeholder="Paste lines here, or drop a file." onInput=${(e) => { setText(e.target.value); setResult(null); }}>
        </textarea>
    <p class="facts soft">${text
      ? html`${plural(other ? samples.lines(text).length : samples.countEntries(text, kind), other ? 'line' : 'entry',
        other ? 'lines' : 'entries')}, ${bytes(new Blob([text]).size)}` : html`<button class="link" onClick=${() => {
        setText(other ? other.example() : samples.example());
      }}>Fill in an example</button>`}
      ${index && time && html` · <code>${time.field}
        </code> is read as ${time.shown.map((s) => html`<span class="num time-shown">${s}</span> `)}`}</p>
    ${!other && samples.badLine(text, kind) > 0 &&
      html`<p class="warn">Line ${samples.badLine(text, kind)} is not a JSON object: <code>
        ${visible(text.split(/\r?\n/)[samples.badLine(text, kind) - 1].slice(0, 200))}</code></p>`}
    <div class="actions">
      ${!other && html`<button disabled=${!ready} onClick=${() => void dryRun()}>Dry run</button>`}
      <button class="primary" disabled=${!ready || readOnly} title=${closed.value || 'Ctrl+Enter'}
        onClick=${() => void send()}>Send</button>
      <label class="button">Choose a file<input class="only-read" type="file"
        onChange=${(e) => void take(e.target.files[0])} /></label>
      ${busy && html`<span role="status">
        ${busy} … <button class="small" onClick=${() => control.current.abort(stopped)}>Cancel</button></span>`}
      ${readOnly && html`<span class="soft">${closed.value}</span>`}
    </div>
    <div aria-live="polite">${result && html`<${Outcome} result=${result} text=${text} />`}</div>
  </section>`;
}

/**
 * Levels says how deep objects become columns; while another number is being typed the one before holds.
 * @param {{value: number, onInput: (e: Event) => void}} props
 */
function Levels({ value, onInput }) {
  const [text, setText] = useState(String(value));
  return html`<input class="depth" type="number" required min="1" max="64" value=${text}
    title="How deep objects become columns" onInput=${(e) => {
    setText(e.target.value);
    if (e.target.validity.valid) onInput(e);
  }} />`;
}

/**
 * rangeOf returns the range that shows what was sent; {} when the present one does.
 * @param {{from: bigint, to: bigint}|null} span
 * @returns {Record<string, string>}
 */
function rangeOf(span) {
  const { from, to } = instants();
  if (!span || ((from === null || from <= span.from) && (to ?? nowNanos()) > span.to)) return {};
  return { from: rfc3339(span.from), to: rfc3339(span.to + second) };
}

/** @param {{result: any, text: string}} props */
function Outcome({ result, text }) {
  if (result.large) {
    return html`<div class="state-line">
      <p>${visible(result.large.name)} has ${bytes(result.large.size)}; a page sends up to ${bytes(mostBytes)}. In a
        terminal this command sends it, whatever its size${user.value && ', and asks for the password'}:</p>
      <pre class="mono">${result.command}</pre>
        <div class="actions"><button onClick=${() => copy(result.command, 'Command copied')}>Copy</button></div></div>`;
  }
  if (result.error) {
    const line = failedLine(result.error.message, text);
    return html`<${ErrorBox} error=${result.error} />
      ${line > 0 && html`<p class="bad-line">Line ${count(line)}: <code>
        ${visible((text.split('\n')[line - 1] ?? '').slice(0, 2000))}</code></p>`}`;
  }
  if (result.dry) return html`<p
    class="soft">What the first ${plural(result.first, 'entry', 'entries')} would become. Nothing is stored.</p>
    <${DryTables} tables=${result.dry} />`;
  const s = result.sent;
  return html`<div class="sent">
    <b class="good">${s.rows === undefined ? `Answered ${s.status}.`
      : `${plural(s.rows, 'row')} stored in ${oneLine(s.table, 60)}.`}</b>
    ${s.skipped > 0 && html` <span class="warn">${plural(s.skipped, 'entry', 'entries')} left out.</span>`}
    <span class="soft num">${duration(s.elapsedMS)}</span>
    ${s.table && html`<button
      onClick=${() => router.go('logs', { t: s.table, ...rangeOf(s.span) })}>See them in Logs</button>`}
    <pre class="mono">${visible(s.answer || '(no body)')}</pre></div>`;
}
