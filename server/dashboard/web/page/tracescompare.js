// Two traces beside each other: what each operation took in the one and in the other, the greatest difference first.

import { html, useEffect, useMemo, useState } from '../lib/ui.js';
import { described } from '../core/api.js';
import { count, duration, oneLine, plural } from '../core/format.js';
import { zone } from '../core/state.js';
import { showTime } from '../core/time.js';
import { hashColour } from '../ui/canvas.js';
import { ErrorBox } from '../ui/error.js';
import { traceOf } from './waterfalltree.js';
import * as sql from './tracesquery.js';

const most = 500;

/** @typedef {import('./waterfalltree.js').Trace} Trace */
/** @typedef {{spans: number, errors: number, own: number, critical: number}} Side times in ns */
/** @typedef {{service: string, name: string, a: Side, b: Side}} Difference */

const none = () => ({ spans: 0, errors: 0, own: 0, critical: 0 });

/** compare sums both traces by service and operation. @param {Trace} a @param {Trace} b @returns {Difference[]} */
export function compare(a, b) {
  /** @type {Map<string, Difference>} */
  const all = new Map();
  for (const [side, trace] of /** @type {['a'|'b', Trace][]} */ ([['a', a], ['b', b]])) {
    for (const s of trace.spans) {
      const key = `${s.service}\u0001${s.name}`;
      const d = all.get(key) ?? { service: s.service, name: s.name, a: none(), b: none() };
      d[side].spans++;
      d[side].errors += Number(s.error);
      d[side].own += s.own;
      d[side].critical += s.critical.reduce((n, [from, to]) => n + to - from, 0);
      all.set(key, d);
    }
  }
  return [...all.values()].sort((x, y) => Math.abs(y.b.own - y.a.own) - Math.abs(x.b.own - x.a.own) ||
    (x.name < y.name ? -1 : 1));
}

/**
 * @param {{trace: Trace, id: string, other: string, tables: string[], onSwap: () => void, onNone: () => void}} props
 */
export function Compare({ trace, id, other, tables, onSwap, onNone }) {
  const [found, setFound] = useState(/** @type {{of: string, trace: Trace|null}|null} */ (null));
  const [error, setError] = useState(/** @type {any} */ (null));
  useEffect(() => {
    const control = new AbortController();
    setError(null);
    sql.trace(tables, other, control.signal)
      .then((f) => {
        if (!control.signal.aborted)
          setFound({ of: other, trace: f && traceOf(f.columns, f.rows.slice(0, sql.mostSpans)) });
      }, (e) => { if (!control.signal.aborted) setError(described(e)); });
    return () => control.abort(new DOMException('superseded', 'AbortError'));
  }, [other, tables.join()]);
  const second = found?.of === other ? found.trace : null;
  const list = useMemo(() => (second ? compare(trace, second) : []), [trace, second]);
  if (error) return html`<${ErrorBox} error=${error}><button class="small" onClick=${onNone}>Another trace</button>
    </${ErrorBox}>`;
  if (found?.of !== other) return html`<p class="state soft wait" role="status">Asking for the other trace…</p>`;
  if (!second) return html`<div class="state"><h2>No spans of the other trace</h2>
    <p>Trace <code>${other}</code> is not in ${tables.join(', ')}.</p>
      <div class="actions"><button onClick=${onNone}>Choose another</button></div></div>`;
  const top = list.reduce((m, d) => Math.max(m, Math.abs(d.b.own - d.a.own)), 1);
  const head = (/** @type {string} */ letter, /** @type {string} */ of, /** @type {Trace} */ t) => html`<tr>
    <th scope="row">${letter}</th><td><code>${of}</code></td><td class="num at">${showTime(t.begin, 3, zone.value)}</td>
      <td class="num"><b>${duration(t.duration / 1e6)}</b></td><td class="num">${plural(t.spans.length, 'span')}</td>
        <td class="num ${t.errors > 0 ? 'level-error' : ''}">${plural(t.errors, 'error')}</td></tr>`;
  const cell = (/** @type {Side} */ s) => html`<td class="num">
    ${s.spans === 0 ? html`<span class="faint">not there</span>` : `${duration(s.own / 1e6)}`}</td>
    <td class="num soft spans">${s.spans || ''}</td>`;
  return html`<div class="trace-logs compare">
    <table aria-label="Both traces" class="compare-head"><tbody>${head('A', id, trace)}${head('B', other, second)}
      </tbody></table>
    <p class="small acts-line pad"><button onClick=${onSwap}>Swap A and B</button>
      <button onClick=${onNone}>Another trace</button>
        <span class="soft">${longer(second.duration - trace.duration)}; own times summed by operation, the greatest
          difference first</span></p>
    <table aria-label="Own times by operation" class="list">
      <thead><tr><th scope="col">service and operation</th><th scope="col" class="num">own time A</th>
        <th scope="col" class="num spans">spans</th><th scope="col" class="num">own time B</th>
          <th scope="col" class="num spans">spans</th><th scope="col" class="num">difference</th>
            <th scope="col" class="bars" aria-hidden="true"></th></tr></thead><tbody>
      ${list.slice(0, most).map((d) => {
        const by = d.b.own - d.a.own, width = `${(Math.abs(by) / top) * 50}%`;
        return html`<tr key=${`${d.service} ${d.name}`}>
          <td><span class="swatch" style=${{ background: hashColour(d.service) }}></span>
            ${oneLine(d.service || 'no service', 60)} <b>${oneLine(d.name, 120)}</b>
              ${d.a.errors !== d.b.errors &&
                html` <span class="level-error">${count(d.a.errors)} → ${count(d.b.errors)} errors</span>`}</td>
          ${cell(d.a)}${cell(d.b)}<td class="num ${by > 0 ? 'slower' : by < 0 ? 'quicker' : ''}">${sign(by)}</td>
            <td class="bars" aria-hidden="true">
              <span class=${by > 0 ? 'slower' : 'quicker'}
                style=${by > 0 ? { left: '50%', width } : { right: '50%', width }}></span></td></tr>`;
      })}</tbody></table>${list.length > most &&
        html`<p class="soft pad">${count(list.length)} operations, the ${most} of the greatest difference shown</p>`}
        </div>`;
}

/** sign writes a difference. @param {number} ns */
const sign = (ns) => (ns === 0 ? '0' : `${ns > 0 ? '+' : '−'}${duration(Math.abs(ns) / 1e6)}`);

/** longer says how the durations differ. @param {number} ns */
const longer = (ns) => (ns === 0 ? 'Both take as long'
  : `B takes ${duration(Math.abs(ns) / 1e6)} ${ns > 0 ? 'longer' : 'less'}`);

/**
 * Choose asks for the trace to compare with: an id, or another of the same operation.
 * @param {{trace: Trace, id: string, table: string, columns: {name: string, type: string}[], onChoose: (id: string) =>
 *   void}} props
 */
export function Choose({ trace, id, table, columns, onChoose }) {
  const [text, setText] = useState('');
  const [list, setList] = useState(/** @type {sql.Dot[]|null} */ (null));
  const [error, setError] = useState(/** @type {any} */ (null));
  const root = trace.roots.find((r) => !r.missing) ?? trace.spans[0];
  useEffect(() => {
    const control = new AbortController();
    sql.alike(table, columns, root, trace.begin, control.signal)
      .then((d) => { if (!control.signal.aborted) setList(d.filter((x) => x.trace !== id)); },
        (e) => { if (!control.signal.aborted) setError(described(e)); });
    return () => control.abort(new DOMException('left', 'AbortError'));
  }, [id]);
  const good = /^[0-9a-f]{32}$/i.test(text.trim());
  return html`<div class="state compare-choose"><h2>Compare with another trace</h2>
    <form onSubmit=${(e) => { e.preventDefault(); if (good) onChoose(text.trim().toLowerCase()); }}>
      <input class="mono" aria-label="Id of the other trace" placeholder="the other trace's id, 32 hex digits"
        value=${text} aria-invalid=${text !== '' && !good ? 'true' : 'false'}
          onInput=${(e) => setText(e.target.value)} /><button class="primary" disabled=${!good}>Compare</button></form>
    ${error && html`<${ErrorBox} error=${error} />`}
    ${list?.length === 0 && html`<p>
      No other trace within a day begins with ${oneLine(root.service, 60)} ${oneLine(root.name, 120)}.</p>`}
    ${list && list.length > 0 &&
      html`<p>Others that begin with <b>${oneLine(root.service, 60)} ${oneLine(root.name, 120)}
        </b>, within a day; the slowest and the quickest:</p>
      <table aria-label="Traces to compare with" class="list">
        <tbody>${list.map((d) => html`<tr key=${d.trace}>
          <td><button class="link mono" onClick=${() => onChoose(d.trace)}>${d.trace.slice(0, 12)}…</button></td>
            <td class="num">${showTime(d.time, 3, zone.value)}</td><td class="num"><b>${duration(d.duration / 1e6)}</b>
              </td><td class="num soft">${sign(d.duration - (root.end - root.start))}</td>
                <td>${d.error ? html`<span class="level-error">error</span>` : ''}</td></tr>`)}</tbody></table>`}
                </div>`;
}
