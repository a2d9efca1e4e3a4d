// Making a rule: what it asks and says, and what it would have done over the last day, before it is saved.

import { html, useEffect, useState } from '../lib/ui.js';
import { described, isAbort } from '../core/api.js';
import { count, duration, plural } from '../core/format.js';
import { documentOf, documents, labelsOf, linesOf, save, trial } from '../core/rules.js';
import { closed } from '../core/state.js';
import { ask } from '../ui/ask.js';
import { ErrorBox } from '../ui/error.js';
import { copy, toast } from '../ui/toast.js';
import { Strip, Values } from './alerthistory.js';
import { Labels } from './alertparts.js';

/** The most strips that are drawn. */
const most = 20;
/** A trial begins so long after the last key, ms. */
const pause = 500;

/** @typedef {import('../core/rules.js').Draft} Draft */
/** @typedef {import('../core/rules.js').Trial} Trial */

/** written reads the address. @param {Record<string, any>} v @returns {Draft} */
const written = (v) => ({ kind: v.kind, name: v.name.trim(), language: v.lang, expr: v.e, every: v.every.trim(),
  holds: v.for.trim(), labels: v.labels, summary: v.says });

/** missing says what a draft needs yet; '' when it is complete. @param {Draft} d */
function missing(d) {
  if (d.expr.trim() === '') return 'Write an expression.';
  return labelsOf(d.labels) ? '' : 'Labels are written a=b, c=d.';
}

/**
 * @param {{state: import('../core/state.js').PageState, onClose: () => void, onSaved: (name: string) => void}} props
 */
export function Make({ state, onClose, onSaved }) {
  const [tried, setTried] = useState(/** @type {{of: string, trial: Trial|null, error: any}|null} */ (null));
  const [busy, setBusy] = useState(false);
  const v = state.values.value, draft = written(v), lacks = missing(draft);
  const tryable = documentOf({ ...draft, name: draft.name || (draft.kind === 'alert' ? 'Trial' : 'trial') });
  useEffect(() => {
    if (lacks) return setTried(null);
    const control = new AbortController();
    const timer = setTimeout(() => {
      trial(tryable, control.signal).then((found) => setTried({ of: tryable, trial: found, error: null }),
        (e) => { if (!isAbort(e)) setTried({ of: tryable, trial: null, error: described(e) }); });
    }, pause);
    return () => {
      clearTimeout(timer);
      control.abort(new DOMException('superseded', 'AbortError'));
    };
  }, [tryable, lacks]);
  const field = (/** @type {string} */ key, /** @type {string} */ text, /** @type {string} */ hint) =>
    html`<label>${text}<input value=${v[key]} placeholder=${hint}
      onInput=${(e) => state.set({ [key]: e.target.value }, false)} /></label>`;
  const choice = (/** @type {string} */ key, /** @type {string} */ text, /** @type {[string, string][]} */ of) =>
    html`<label>${text}<select value=${v[key]} onChange=${(e) => state.set({ [key]: e.target.value }, false)}>
      ${of.map(([id, title]) => html`<option key=${id} value=${id}>${title}</option>`)}</select></label>`;
  const keep = async () => {
    setBusy(true);
    try {
      if ((await documents()).includes(draft.name) && await ask({ title: `Replace ${draft.name}`,
        text: 'A rule is kept under this name already.', yes: 'Replace' }) === null) return;
      await save(draft.name, documentOf(draft));
      toast(`${draft.name} is evaluated from now on`, { kind: 'good' });
      onSaved(draft.name);
    } catch (e) {
      if (!isAbort(e)) toast(described(e).message, { kind: 'bad' });
    } finally {
      setBusy(false);
    }
  };
  const reason = closed.value || lacks || (draft.name === '' ? 'Give it a name.' : '');
  return html`<section class="make" aria-label="New rule"><h2>New rule</h2>
    <div class="fields">
      ${choice('kind', 'Makes', [['alert', 'an alert'], ['record', 'a metric']])}
      ${field('name', 'Name', v.kind === 'alert' ? 'ManyErrors' : 'shop:errors:rate5m')}
      ${choice('lang', 'Language', [['promql', 'PromQL'], ['sql', 'SQL']])}
      ${field('every', 'Every', '1m')}
      ${v.kind === 'alert' && field('for', 'Fires after', 'at once')}
      ${field('labels', 'Labels', 'severity=page')}
      ${v.kind === 'alert' && field('says', 'Says', '{{ $labels.host }} has {{ $value }}')}
    </div>
    <textarea class="mono" aria-label="Expression" rows="3" spellcheck=${false} value=${v.e}
      placeholder=${v.lang === 'sql' ? 'SELECT host, count(*) AS value FROM app WHERE ts >= :from GROUP BY host'
        : 'sum(rate(http_requests_total{code=~"5.."}[5m])) > 1'}
      onInput=${(e) => state.set({ e: e.target.value }, false)}></textarea>
    ${v.lang === 'sql' && html`<p class="soft small">Each row is a result: the column <code>value</code> is its value,
      the others are labels. <code>:to</code> is the time of the evaluation, <code>:from</code> one interval before.
      </p>`}
    <div class="trial" aria-live="polite">${tried?.error ? html`<${ErrorBox} error=${tried.error} />` : tried?.trial
      ? html`<div class=${tried.of === tryable ? '' : 'stale'}>
        <${Outcome} trial=${tried.trial} alert=${draft.kind === 'alert'} /></div>`
      : html`<p class="soft">${lacks || 'Trying it over the last day …'}</p>`}</div>
    <p class="actions"><button class="primary" disabled=${reason !== '' || busy} title=${reason}
        onClick=${() => void keep()}>Save</button>
      <button onClick=${() => copy(documentOf(draft))}>Copy as a file</button>
      <button onClick=${onClose}>Close</button>
      <span class="soft">${reason}</span></p></section>`;
}

/** Outcome draws a trial. @param {{trial: Trial, alert: boolean}} props */
function Outcome({ trial: t, alert }) {
  const grid = { start: t.from, end: t.to, step: t.step };
  const place = (/** @type {number} */ s) => Math.round((s - t.from) / t.step);
  const fired = t.series.flatMap((s) => s.states).filter((s) => s.state === 'firing');
  const long = fired.reduce((sum, s) => sum + s.to - s.from + t.step, 0), all = t.series.length + t.left_out;
  const lines = linesOf(t, most);
  return html`<p><b>${alert ? fired.length === 0 ? 'It would not have fired over the last day'
      : `It would have fired ${plural(fired.length, 'time')} over the last day, for ${duration(long * 1000)} in all`
    : `It would have written ${plural(all, 'series', 'series')} over the last day`}</b>
      <span class="soft">, looked at every ${duration(t.step * 1000)}${all > most ? `; ${most} of ${count(all)} shown`
        : ''}</span></p>
    ${alert && t.series.length > 0 && html`<ul class="alert-history">${t.series.slice(0, most).map((s, i) =>
      html`<li key=${i}><${Labels} of=${s.labels} /><${Strip} grid=${grid} before=${0}
        runs=${s.states.map((x) => ({ state: x.state, from: place(x.from), to: place(x.to) + 1 }))} /></li>`)}</ul>`}
    ${lines.some((l) => l.values.some((x) => x !== null)) && html`<${Values}
      values=${{ grid, lines, said: {}, count: all }} title="Values" when="of the last day" />`}`;
}
