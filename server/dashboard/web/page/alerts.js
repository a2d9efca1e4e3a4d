// Alerts: the rules that the server evaluates by itself, in their groups: what fires, what is pending, and what was.

import { html, useRef, useState } from '../lib/ui.js';
import { described, isAbort, json } from '../core/api.js';
import { count, duration, oneLine, plural } from '../core/format.js';
import { definition, draftOf, fits, isKind, itemsOf, keyOf, kinds, matcherText, remove, runsOf, silences } from
  '../core/rules.js';
import { closed, db, range, session } from '../core/state.js';
import { useKeys } from '../core/keys.js';
import { ask } from '../ui/ask.js';
import { ErrorBox } from '../ui/error.js';
import { Icon } from '../ui/icons.js';
import { lazy } from '../ui/lazy.js';
import { TimePicker } from '../ui/timepicker.js';
import { toast } from '../ui/toast.js';
import { usePoll } from '../ui/usepoll.js';
import { historyOfAll, Strip } from './alerthistory.js';
import { figure, When } from './alertparts.js';
import { Details } from './alertrule.js';

const Make = lazy(() => import('./alertmake.js'), 'Make', undefined, true);
const Silences = lazy(() => import('./alertsilences.js'), 'List', undefined, true);
const Silence = lazy(() => import('./alertsilences.js'), 'Make', undefined, true);

export const state = /** @type {Record<string, import('../core/state.js').Key>} */ ({
  q: { type: 'text', default: '' },
  s: { type: 'text', default: '', of: ['', ...kinds] },
  r: { type: 'text', default: '' },
  // a rule that is being made
  make: { type: 'switch', default: false },
  kind: { type: 'text', default: 'alert', of: ['alert', 'record'] },
  name: { type: 'text', default: '' },
  lang: { type: 'text', default: 'promql', of: ['promql', 'sql'] },
  e: { type: 'text', default: '' },
  every: { type: 'text', default: '1m' },
  for: { type: 'text', default: '5m' },
  labels: { type: 'text', default: '' },
  says: { type: 'text', default: '' },
  // a silence that is being made
  silence: { type: 'switch', default: false },
  of: { type: 'text', default: '' },
  lasts: { type: 'text', default: '2h' },
  why: { type: 'text', default: '' },
});

/** unsilenced takes the silence that is being made out of the address. */
const unsilenced = { silence: false, of: '', lasts: '2h', why: '' };

/** unmade takes the rule that is being made out of the address. */
const unmade = { make: false, kind: 'alert', name: '', lang: 'promql', e: '', every: '1m', for: '5m', labels: '',
  says: '' };

/** The most rules that are listed at a time. */
const most = 300;

/** @typedef {import('../core/rules.js').Group} Group */
/** @typedef {import('../core/rules.js').Rule} Rule */
/**
 * Found is everything of one look. of: the range of the history; history is null where untold says why it is unknown.
 * quiet is null where no Alertmanager is told of alerts.
 * @typedef {{groups: Group[], history: import('./alerthistory.js').History|null, untold: string, of: string, quiet:
 *   import('../core/rules.js').Silences|null}} Found
 */

/** @param {{state: import('../core/state.js').PageState}} props */
export function Page({ state }) {
  const [found, setFound] = useState(/** @type {Found|null} */ (null));
  const [error, setError] = useState(/** @type {import('../core/api.js').ApiError|null} */ (null));
  const [turn, setTurn] = useState(0);
  const search = useRef(/** @type {HTMLInputElement|null} */ (null));
  const of = JSON.stringify(range.value);
  const load = async (/** @type {AbortSignal} */ signal) => {
    try {
      const [{ data }, hushed] = await Promise.all([json('v1/metricsapi/api/v1/rules', { background: true, signal }),
        canMake() ? silences(signal).catch((e) => {
          if (isAbort(e)) throw e;
          return null; // the rules are there without them
        }) : null]);
      const history = await historyOfAll(data.groups[0]?.database, signal).catch((e) => {
        if (isAbort(e)) throw e;
        return described(e).message;
      });
      setError(null);
      const fires = data.groups.some((/** @type {Group} */ g) => g.rules.some((r) => r.state === 'firing'));
      const untold = typeof history === 'string' ? history : fires && history.states.size === 0
        ? `database ${data.groups[0].database ?? db.value} has no alerts in this range` : '';
      setFound({ groups: data.groups, of, untold, history: typeof history === 'string' || untold ? null : history,
        quiet: hushed && hushed.alertmanagers.length > 0 ? hushed : null });
    } catch (e) {
      if (!isAbort(e)) setError(described(e));
    }
  };
  const v = state.values.value, groups = found ? itemsOf(found.groups) : [];
  const test = fits(v.q), named = groups.map(({ group, items }) => ({ group,
    items: items.filter(({ rule }) => test(group, rule)) }));
  const rules = named.flatMap((g) => g.items.map((i) => i.rule));
  const shown = named.map(({ group, items }) => ({ group,
    items: v.s ? items.filter(({ id, rule }) => isKind(rule, v.s) || id === v.r) : items }))
    .filter((g) => g.items.length > 0);
  const by = new Map((found?.quiet?.silenced_alerts ?? []).map((a) => [keyOf(a.labels), a.by]));
  const hush = (/** @type {Record<string, string>} */ labels) => state.set({ silence: true,
    of: Object.entries(labels).map(([name, value]) => matcherText({ name, value, isRegex: false })).join(', ') });
  const toggle = (/** @type {string} */ id) => state.set({ r: id === v.r ? '' : id });
  const change = (/** @type {import('../core/rules.js').Draft} */ d) => state.set({ make: true, kind: d.kind,
    name: d.name, lang: d.language, e: d.expr, every: d.every, for: d.holds, labels: d.labels, says: d.summary });
  const move = (/** @type {number} */ by) => {
    const all = [.../** @type {NodeListOf<HTMLElement>} */ (document.querySelectorAll('.rule > button'))];
    const at = all.findIndex((e) => e === document.activeElement);
    all[Math.max(0, Math.min(all.length - 1, at + by))]?.focus();
  };
  useKeys([
    { keys: '/', text: 'Search', run: () => search.current?.focus() },
    { keys: 'r', text: 'Ask again', run: () => setTurn(turn + 1) },
    { keys: 'j', text: 'Next rule', run: () => move(1) },
    { keys: 'k', text: 'Rule before', run: () => move(-1) },
    { keys: 'n', text: 'New rule', run: () => { if (canMake()) state.set({ make: true }); } },
    { keys: 'Escape', text: 'Close the rule', run: () => state.set({ r: '' }) },
  ]);
  let left = most;
  return html`<div class="toolbar"><h1>Alerts</h1>
      <input type="search" class="grow" aria-label="Search the rules" placeholder="Rule, group, query or label"
        ref=${search} value=${v.q} onInput=${(e) => state.set({ q: e.target.value }, false)} />
      ${canMake() && html`<button disabled=${closed.value !== ''} title=${closed.value || 'New rule (n)'}
        onClick=${() => state.set({ make: true })}><${Icon} name="plus" />Rule</button>`}
      ${found?.quiet && html`<button disabled=${closed.value !== ''} title=${closed.value}
        onClick=${() => state.set({ silence: true })}>Silence</button>`}
      <${TimePicker} /></div>
    <${Poll} key=${`${of} ${turn}`} load=${load} />
    <div class="content alerts">
      ${v.make && html`<${Make} state=${state} onClose=${() => state.set(unmade)}
        onSaved=${(/** @type {string} */ name) => {
          state.set({ ...unmade, r: `${name}/${name}`, q: '', s: '' });
          setTurn(turn + 1);
        }} />`}
      ${v.silence && html`<${Silence} state=${state} onClose=${() => state.set(unsilenced)} onMade=${() => {
        state.set(unsilenced);
        setTurn(turn + 1);
      }} />`}
      ${error && html`<${ErrorBox} error=${error} />`}
      ${!found ? !error && html`<p class="state soft wait" role="status">Reading …</p>`
        : found.groups.length === 0 ? html`<${None} />` : html`
        <${Summary} rules=${groups.flatMap((g) => g.items.map((i) => i.rule))} by=${by} />
        ${found.quiet && html`<${Silences} found=${found.quiet} onChange=${() => setTurn(turn + 1)} />`}
        <div class="kinds" role="group" aria-label="Rules that are shown">
          ${['', ...kinds].map((k) => html`<button key=${k} class="small" aria-pressed=${v.s === k ? 'true' : 'false'}
            onClick=${() => state.set({ s: k })}>${k === '' ? 'All' : names[k]} <span class="num">
              ${count(k === '' ? rules.length : rules.filter((r) => isKind(r, k)).length)}</span></button>`)}</div>
        ${found.untold && html`<p class="soft">The history is not known: ${oneLine(found.untold, 300)}</p>`}
        ${shown.length === 0 && html`<p class="state soft">No rule fits.</p>`}
        <div class=${found.of === of ? '' : 'stale'}>${shown.map(({ group, items }) => {
          const listed = items.slice(0, left);
          left -= listed.length;
          return listed.length > 0 && html`<${GroupOf} key=${`${group.file} ${group.name}`} group=${group}
            items=${listed} open=${v.r} onToggle=${toggle} history=${found.history} onChange=${change}
            by=${by} onSilence=${found.quiet ? hush : null} onGone=${() => setTurn(turn + 1)} />`;
        })}</div>
        ${shown.reduce((n, g) => n + g.items.length, 0) > most &&
          html`<p class="soft">The first ${most} are shown: type a part of a name.</p>`}`}
    </div>`;
}

/** canMake reports whether the server keeps documents of rules. */
const canMake = () => Boolean(session.value.features?.includes('rules'));

/** @type {Record<string, string>} */
const names = { firing: 'Firing', pending: 'Pending', error: 'Failing', inactive: 'Inactive', recording: 'Recording' };

/**
 * Poll asks every five seconds; with another key it asks at once.
 * @param {{load: (signal: AbortSignal) => Promise<void>}} props
 */
function Poll({ load }) {
  usePoll(load, 5000);
  return null;
}

/**
 * Summary says in a sentence whether anything needs a look.
 * @param {{rules: Rule[], by: Map<string, string[]>}} props by: the silences of alerts
 */
function Summary({ rules, by }) {
  const alerts = rules.flatMap((r) => r.alerts ?? []);
  const firing = alerts.filter((a) => a.state === 'firing').length, pending = alerts.length - firing;
  const failing = rules.filter((r) => r.health === 'err').length;
  const silenced = alerts.filter((a) => by.has(keyOf(a.labels))).length;
  const more = [silenced > 0 && `${silenced} silenced`, pending > 0 && `${plural(pending, 'alert')} pending`,
    failing > 0 && `${plural(failing, 'rule')} failing`].filter(Boolean).join(', ');
  return html`<p class="summary" role="status"><span class=${`dot ${firing > 0 ? 'firing' : failing + pending > 0
    ? 'pending' : 'on'}`}></span><b>${firing > 0 ? `${plural(firing, 'alert')} firing` : 'Nothing fires'}</b>
    ${more && html`<span>, ${more}</span>`}</p>`;
}

/** None is shown where no rules are. */
const None = () => html`<div class="state"><h2>There are no rules</h2>
  <p>Rules are expressions that the server evaluates by itself. An alerting rule says when something needs a look, a
    recording rule keeps what an expression gives as a metric.</p>
  <p>They are files in the form that Prometheus reads. Name them in the configuration, as
    <code>rules.files = ["/etc/varve/rules/*.yml"]</code>:</p>
  <pre class="sample">${`groups:
  - name: shop
    rules:
      - alert: ManyErrors
        expr: sum(rate(http_requests_total{code=~"5.."}[5m])) > 1
        for: 5m
        labels: {severity: page}
        annotations: {summary: "{{ $value }} errors a second"}
`}</pre></div>`;

/**
 * @param {{group: Group, items: import('../core/rules.js').Item[], open: string, onToggle: (id: string) => void,
 *   history: import('./alerthistory.js').History|null, onChange: (d: import('../core/rules.js').Draft) => void,
 *   onGone: () => void, by: Map<string, string[]>, onSilence: ((labels: Record<string, string>) => void)|null}} props
 */
function GroupOf({ group, items, open, onToggle, history, onChange, onGone, by, onSilence }) {
  const kept = (canMake() && group.document) || '';
  const attempt = async (/** @type {() => Promise<void>} */ act) => {
    try {
      await act();
    } catch (e) {
      if (!isAbort(e)) toast(described(e).message, { kind: 'bad' });
    }
  };
  const drop = () => attempt(async () => {
    if (await ask({ title: `Remove ${kept}`, text: 'Its rules are not evaluated any more.', yes: 'Remove' }) === null)
      return;
    await remove(kept);
    toast(`${kept} was removed`, { kind: 'good' });
    onGone();
  });
  const change = () => attempt(async () => {
    const draft = draftOf(await definition(kept));
    if (draft) onChange(draft);
    else toast(`${kept} holds more than this page can write. PUT /v1/rules replaces it.`, { kind: 'bad' });
  });
  return html`<section class="rule-group" aria-label=${`Group ${group.name}`}>
    <h2>${oneLine(group.name, 120)} <span class="soft small">
      ${oneLine(group.file, 200)} · every ${duration(group.interval * 1000)} · ${' '}
      <${When} at=${group.lastEvaluation} never="not evaluated yet" />
      ${group.evaluationTime > 0 && html`, took ${duration(group.evaluationTime * 1000)}`}
      ${(group.missed ?? 0) > 0 && html` · <span class="warn">${plural(group.missed ?? 0, 'evaluation')} left out
        </span>`}</span></h2>
    ${kept && html`<p class="acts small"><button class="small" disabled=${closed.value !== ''}
        title=${closed.value} onClick=${() => void change()}>Change</button>
      <button class="small" disabled=${closed.value !== ''} title=${closed.value}
        onClick=${() => void drop()}>Remove</button></p>`}
    <ul>${items.map(({ id, rule }) => html`<li key=${id} class=${`rule ${open === id ? 'open' : ''}`}>
      <button class="quiet" aria-expanded=${open === id ? 'true' : 'false'} onClick=${() => onToggle(id)}>
        <${Icon} name=${open === id ? 'chevron' : 'right'} /><${State} rule=${rule} by=${by} />
        <b class="text">${oneLine(rule.name, 200)}</b><code class="text soft">${oneLine(rule.query, 300)}</code>
        </button>
      ${rule.type === 'alerting' && history &&
        html`<${Strip} grid=${history.grid} runs=${runsOf(history.states.get(rule.name) ?? {})} />`}
      <span class="num alert-count">${alertsOf(rule)}</span>
      <span class="num last"><${When} at=${rule.lastEvaluation} never="not yet" /></span>
      <span class="num took">${rule.evaluationTime > 0 && duration(rule.evaluationTime * 1000)}</span>
      ${open === id && html`<${Details} rule=${rule} group=${group} by=${by}
        onSilence=${onSilence} />`}</li>`)}</ul></section>`;
}

/** alertsOf is the number of alerts of a rule, or the value of its only one. @param {Rule} rule */
const alertsOf = ({ alerts }) => (!alerts || alerts.length === 0 ? ''
  : alerts.length === 1 ? html`<span title="The value of its only alert">= ${figure(alerts[0].value)}</span>`
    : plural(alerts.length, 'alert'));

/** State is a word, coloured where it needs a look. @param {{rule: Rule, by: Map<string, string[]>}} props */
function State({ rule, by }) {
  const alerts = rule.alerts ?? [], silenced = alerts.length > 0 && alerts.every((a) => by.has(keyOf(a.labels)));
  const failing = rule.health === 'err';
  const text = rule.type === 'recording' ? 'recording' : rule.state ?? 'inactive';
  return html`<span class=${`alert-state ${text}`}>${text}</span>
    ${silenced && html`<span class="badge">silenced</span>`}
    ${failing && html`<span class="badge bad">failing</span>`}`;
}
