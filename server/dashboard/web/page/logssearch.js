// The search line of the Logs page, with the error below it while typing, and the table chooser.

import { html, useLayoutEffect, useMemo, useRef, useState } from '../lib/ui.js';
import { oneLine } from '../core/format.js';
import { Icon } from '../ui/icons.js';
import { lazy } from '../ui/lazy.js';
import { OfferList, offerID, useOffers } from '../ui/offers.js';
import { Pop } from '../ui/pop.js';
import { useTyped } from '../ui/toast.js';
import { loadReader, reader, searched } from './logsrun.js';

const TableList = lazy(() => import('./logstables.js'), 'TableList', 'page/logsparts.css');

/** @param {{run: import('./logsrun.js').LogsRun, state: import('../core/state.js').PageState}} props */
export function TableChooser({ run, state }) {
  const current = run.scope.value?.table ?? run.table();
  return html`<${Pop} title="Table" className="table-button"
    label=${html`<${Icon} name="table" /><span class="name">${current ? oneLine(current, 60) : 'no table'}</span>
    <${Icon} name="chevron" />`}>
    ${(close) => html`<${TableList} tables=${run.tables.value ?? []} current=${current} db=${state.get('db')}
      onTable=${(/** @type {string} */ t) => { state.set({ t, f: [], cols: [] }); close(); }} />`}
  </${Pop}>`;
}

/**
 * @param {{run: import('./logsrun.js').LogsRun, state: import('../core/state.js').PageState, found:
 *   import('../core/search.js').Found}} props
 */
export function SearchBox({ run, state }) {
  const [text, setText] = useState(state.get('q'));
  const box = useRef(/** @type {HTMLInputElement|null} */ (null));
  const clause = state.get('w');
  const anyCase = state.get('any');
  useLayoutEffect(() => setText(state.get('q')), [state.get('q')]);
  const columns = run.columns.value, roles = run.roles.value;
  const context = { message: roles?.message ?? null, fields: columns, anyCase };
  const typed = useMemo(() => searched(text, context), [text, columns, roles, anyCase, reader.value]);
  const apply = (/** @type {string} */ q) => {
    close();
    setText(q);
    if (q === state.get('q')) void run.run();
    else state.set({ q });
  };
  const { offers, at, coming, complete, take, key: offersKey, close } =
    useOffers(box, setText, async (typed, cursor, signal) => {
    const { offersAt } = await import('./logsoffers.js');
    return offersAt(typed, cursor, signal, columns, run.scope.value);
  });
  const key = (/** @type {KeyboardEvent} */ e) => {
    if (offersKey(e)) return;
    if (e.key === 'Escape') {
      e.stopPropagation();
      e.preventDefault();
      box.current?.blur();
    } else if (e.key === 'Enter') {
      e.preventDefault();
      // when it cannot be loaded, the run shows the error
      if (text !== '' && !reader.value)
        void loadReader().catch(() => null)
          .then((r) => { if (box.current?.value === text && !r?.search(text, context).problem) apply(text); });
      else if (!typed.problem) apply(text);
    }
  };
  const problem = typed.problem;
  useTyped(text, problem?.message);
  if (state.get('lq')) return html`<${QueryBox} state=${state} run=${run} />`;
  if (clause) return html`<${ClauseBox} state=${state} run=${run} />`;
  return html`<div class="search grow">
    <${Icon} name="search" />
    <input id="logs-search" ref=${box} role="combobox" aria-expanded=${offers.length > 0 ? 'true' : 'false'}
      aria-controls="search-offers" aria-activedescendant=${offerID('search-offers', at)} aria-label="Search"
        aria-invalid=${problem ? 'true' : 'false'} aria-describedby="search-note"
      placeholder="Search: level:error timeout -host:cart-7 status:>=500" value=${text} spellcheck=${false}
        autocomplete="off" autocapitalize="off"
      onInput=${(e) => { setText(e.target.value); void complete(e.target); }}
        onFocus=${(e) => { loadReader().catch(() => {}); if (e.target.value === '') void complete(e.target); }}
          onBlur=${() => setTimeout(close, 150)} onKeyDown=${key} />
    <button class="quiet small" aria-pressed=${anyCase ? 'false' : 'true'}
      title=${anyCase ? 'Words are found in any case: click to tell case apart'
        : 'Words are found as written: click for any case'} onClick=${() => state.set({ any: !anyCase })}>Aa</button>
    <button class="quiet small" title="Write the WHERE clause itself"
      onClick=${() => state.set({ w: typed.sql || 'true' })}>SQL</button>
    <button class="quiet small" title="Write a query in the language of log queries" onClick=${() =>
      state.set({ lq: `{service_table=${JSON.stringify(run.scope.value?.table ?? 'loki_logs')}}` })}>LogQL</button>
    ${problem && html`<div id="search-note" class="search-note"><span class="level-error">${problem.message}</span>
      ${(problem.near ?? []).map((n) => html`<button key=${n} class="small"
        onClick=${() => apply(text.slice(0, problem.from) + n + text.slice(problem.to))}>${n}</button>`)}
      ${problem.asText && html`<button class="small"
        onClick=${() => apply(/** @type {string} */ (problem.asText))}>search as text instead</button>`}</div>`}
    ${!problem && text !== state.get('q') &&
      html`<div id="search-note" class="search-note"><code>${typed.sql || 'all rows'}</code>
        <span class="faint">Enter runs it</span></div>`}
    <${OfferList} id="search-offers" offers=${offers} at=${at} coming=${coming} take=${take} />
  </div>`;
}

/**
 * ClauseBox holds the WHERE clause itself.
 * @param {{state: import('../core/state.js').PageState, run: import('./logsrun.js').LogsRun}} props
 */
function ClauseBox({ state, run }) {
  const [text, setText] = useState(state.get('w'));
  useLayoutEffect(() => setText(state.get('w')), [state.get('w')]);
  const submit = (/** @type {Event} */ e) => {
    e.preventDefault();
    if (text === state.get('w')) void run.run();
    else state.set({ w: text });
  };
  return html`<form class="search grow" onSubmit=${submit}><span class="kw">WHERE</span>
    <input id="logs-search" class="mono" aria-label="WHERE clause" value=${text} spellcheck=${false} autocomplete="off"
      onInput=${(e) => setText(e.target.value)} /></form>`;
}

/**
 * QueryBox holds a log query.
 * @param {{state: import('../core/state.js').PageState, run: import('./logsrun.js').LogsRun}} props
 */
function QueryBox({ state, run }) {
  const [text, setText] = useState(state.get('lq'));
  useLayoutEffect(() => setText(state.get('lq')), [state.get('lq')]);
  const submit = (/** @type {Event} */ e) => {
    e.preventDefault();
    if (text === state.get('lq')) void run.run();
    else state.set({ lq: text });
  };
  return html`<form class="search grow" onSubmit=${submit}>
    <input id="logs-search" class="mono" aria-label="Log query" value=${text} spellcheck=${false} autocomplete="off"
      onInput=${(e) => setText(e.target.value)} />
    <button type="button" class="quiet small" onClick=${() => state.set({ lq: '' })}>Back to search</button></form>`;
}
