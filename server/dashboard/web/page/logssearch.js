// The search line of the Logs page, with what is wrong below it while typing, and the table chooser.

import { html, useEffect, useMemo, useRef, useState } from '../lib/ui.js';
import { count, oneLine, short } from '../core/format.js';
import { score } from '../core/fuzzy.js';
import { search } from '../core/search.js';
import * as store from '../core/store.js';
import { Icon } from '../ui/icons.js';
import { OfferList, useOffers } from '../ui/offers.js';
import { Pop } from '../ui/pop.js';

/** @param {{run: import('./logsrun.js').LogsRun, state: import('../core/state.js').PageState}} props */
export function TableChooser({ run, state }) {
  const [text, setText] = useState('');
  const db = state.get('db');
  const [stars, setStars] = useState(/** @type {string[]} */ (store.read(`logs.stars.${db}`, [])));
  const tables = run.tables.value ?? [];
  const current = run.scope.value?.table ?? run.table();
  const sorted = tables.map((t) => ({ t, s: score(text, t.name) })).filter(({ s }) => s > 0)
    .sort((a, b) => Number(stars.includes(b.t.name)) - Number(stars.includes(a.t.name)) || (text ? b.s - a.s : 0) || a.t.name.localeCompare(b.t.name)).slice(0, 200);
  const star = (/** @type {string} */ name) => {
    const next = stars.includes(name) ? stars.filter((s) => s !== name) : [...stars, name];
    store.write(`logs.stars.${db}`, next);
    setStars(next);
  };
  return html`<${Pop} title="Table" className="table-button" label=${html`<${Icon} name="table" /><span class="name">${current ? oneLine(current, 60) : 'no table'}</span><${Icon} name="chevron" />`} onOpen=${() => setText('')}>
    ${(/** @type {() => void} */ close) => html`<div class="table-list">
      <input placeholder="Find a table" aria-label="Find a table" value=${text} onInput=${(/** @type {any} */ e) => setText(e.target.value)}
        onKeyDown=${(/** @type {KeyboardEvent} */ e) => { if (e.key === 'Enter' && sorted[0]) { state.set({ t: sorted[0].t.name, f: [], cols: [] }); close(); } }} />
      <div class="menu">${sorted.map(({ t }) => html`<span class="row" key=${t.name}>
        <button class="grow" aria-current=${t.name === current ? 'true' : undefined} onClick=${() => { state.set({ t: t.name, f: [], cols: [] }); close(); }}>${t.name}<span class="end num" title=${t.rows === null ? '' : `${count(t.rows)} rows`}>${t.rows === null ? t.kind.toLowerCase() : short(t.rows)}</span></button>
        <button class="star ${stars.includes(t.name) ? 'on' : ''}" aria-pressed=${stars.includes(t.name) ? 'true' : 'false'} aria-label=${`Favourite ${t.name}`} onClick=${() => star(t.name)}><${Icon} name="star" /></button></span>`)}
        ${sorted.length === 0 && html`<p class="soft">No table is called so.</p>`}</div></div>`}
  </${Pop}>`;
}

/** @param {{run: import('./logsrun.js').LogsRun, state: import('../core/state.js').PageState, found: import('../core/search.js').Found}} props */
export function SearchBox({ run, state }) {
  const [text, setText] = useState(state.get('q'));
  const box = useRef(/** @type {HTMLInputElement|null} */ (null));
  const clause = state.get('w');
  const anyCase = state.get('any');
  useEffect(() => setText(state.get('q')), [state.get('q')]);
  const columns = run.columns.value, roles = run.roles.value;
  const typed = useMemo(() => search(text, { message: roles?.message ?? null, fields: columns, anyCase }), [text, columns, roles, anyCase]);
  const apply = (/** @type {string} */ q) => {
    close();
    setText(q);
    if (q === state.get('q')) void run.run();
    else state.set({ q });
  };
  const { offers, at, complete, take, key: offersKey, close } = useOffers(box, text, setText, async (typed, cursor) => {
    const { offersAt } = await import('./logsoffers.js');
    return offersAt(typed, cursor, columns, run.scope.value);
  });
  const key = (/** @type {KeyboardEvent} */ e) => {
    if (offersKey(e)) return;
    if (e.key === 'Escape') {
      e.stopPropagation();
      e.preventDefault();
      box.current?.blur();
    } else if (e.key === 'Enter') {
      e.preventDefault();
      if (!typed.problem) apply(text);
    }
  };
  if (clause) return html`<${ClauseBox} state=${state} run=${run} />`;
  const problem = typed.problem;
  return html`<div class="search grow">
    <${Icon} name="search" />
    <input id="logs-search" ref=${box} role="combobox" aria-expanded=${offers.length > 0 ? 'true' : 'false'} aria-controls="search-offers" aria-label="Search" aria-invalid=${problem ? 'true' : 'false'} aria-describedby="search-note"
      placeholder="Search: level:error timeout -host:cart-7 status:>=500" value=${text} spellcheck=${false} autocomplete="off" autocapitalize="off"
      onInput=${(/** @type {any} */ e) => { setText(e.target.value); void complete(e.target); }} onFocus=${(/** @type {any} */ e) => { if (e.target.value === '') void complete(e.target); }} onBlur=${() => setTimeout(close, 150)} onKeyDown=${key} />
    <button class="quiet small" aria-pressed=${anyCase ? 'false' : 'true'} title=${anyCase ? 'Words are found in any case: click to tell case apart' : 'Words are found as written: click for any case'} onClick=${() => state.set({ any: !anyCase })}>Aa</button>
    <button class="quiet small" title="Write the WHERE clause itself" onClick=${() => state.set({ w: typed.sql || 'true' })}>SQL</button>
    ${problem && html`<div id="search-note" class="search-note" role="status"><span class="level-error">${problem.message}</span>
      ${(problem.near ?? []).map((n) => html`<button key=${n} class="small" onClick=${() => apply(text.slice(0, problem.from) + n + text.slice(problem.to))}>${n}</button>`)}
      ${problem.asText && html`<button class="small" onClick=${() => apply(/** @type {string} */ (problem.asText))}>search as text instead</button>`}</div>`}
    ${!problem && text !== state.get('q') && html`<div id="search-note" class="search-note"><code>${typed.sql || 'all rows'}</code><span class="faint">Enter runs it</span></div>`}
    <${OfferList} id="search-offers" offers=${offers} at=${at} take=${take} />
  </div>`;
}

/** ClauseBox holds the WHERE clause itself. @param {{state: import('../core/state.js').PageState, run: import('./logsrun.js').LogsRun}} props */
function ClauseBox({ state, run }) {
  const [text, setText] = useState(state.get('w'));
  useEffect(() => setText(state.get('w')), [state.get('w')]);
  const submit = (/** @type {Event} */ e) => {
    e.preventDefault();
    if (text === state.get('w')) void run.run();
    else state.set({ w: text });
  };
  return html`<form class="search grow" onSubmit=${submit}><span class="kw">WHERE</span>
    <input id="logs-search" class="mono" aria-label="WHERE clause" value=${text} spellcheck=${false} autocomplete="off" onInput=${(/** @type {any} */ e) => setText(e.target.value)} /></form>`;
}
