// One rule: its query, what it says, its alerts, and what it did.

import { html } from '../lib/ui.js';
import * as router from '../core/router.js';
import { count, duration, oneLine, visible } from '../core/format.js';
import { keyOf } from '../core/rules.js';
import { closed } from '../core/state.js';
import { Icon } from '../ui/icons.js';
import { copy } from '../ui/toast.js';
import { History } from './alerthistory.js';
import { figure, instant, Labels, When } from './alertparts.js';

/** The most alerts that are listed. */
const most = 100;

/** A quoted text or name, a comment, a cast, or a parameter. */
const pieces = /'[^']*'|"[^"]*"|`[^`]*`|--.*|\/\*[^]*?\*\/|::|:(from|to)\b/g;

/**
 * Hushed is what silences do to alerts: the ids of those of an alert, and making one for labels; null: nobody could.
 * @typedef {{by: Map<string, string[]>, onSilence: ((labels: Record<string, string>) => void)|null}} Hushed
 */

/** asSQL is a statement with the range of the page in place of that of an evaluation. @param {string} query */
const asSQL = (query) => query.replace(pieces, (piece, name) => (name ? `$${name}` : piece));

/**
 * @param {{rule: import('../core/rules.js').Rule, group: import('../core/rules.js').Group} & Hushed} props
 */
export function Details({ rule, group, by, onSilence }) {
  const sql = rule.language === 'sql', annotations = Object.entries(rule.annotations ?? {});
  /** @type {Record<string, string>} */
  const at = group.database ? { db: group.database } : {};
  return html`<div class="rule-details">
    ${rule.lastError && html`<div class="error" role="note"><div class="text">${visible(rule.lastError)}</div></div>`}
    <pre class="query">${visible(rule.query)}</pre>
    <p class="actions">
      <button class="small" onClick=${() => (sql ? router.go('sql', { ...at, sql: asSQL(rule.query) })
        : router.go('metrics', { ...at, q: rule.query }))}>Open in ${sql ? 'SQL' : 'Metrics'}</button>
      <button class="small" onClick=${() => copy(rule.query)}><${Icon} name="copy" />Copy</button></p>
    <dl class="about">
      ${rule.type === 'alerting' && html`<div><dt>Fires after</dt><dd>
        ${rule.duration ? duration(rule.duration * 1000) : 'at once'}</dd></div>`}
      ${(rule.keepFiringFor ?? 0) > 0 && html`<div><dt>Keeps firing for</dt><dd>
        ${duration((rule.keepFiringFor ?? 0) * 1000)}</dd></div>`}
      <div><dt>Evaluated</dt><dd><${When} at=${rule.lastEvaluation} never="not yet" /></dd></div>
      <div><dt>Took</dt><dd>${rule.evaluationTime > 0 ? duration(rule.evaluationTime * 1000) : 'not known'}</dd></div>
      <div><dt>Every</dt><dd>${duration(group.interval * 1000)}</dd></div>
      <div><dt>Health</dt><dd>${rule.health === 'err' ? 'failing' : rule.health}</dd></div>
    </dl>
    ${Object.keys(rule.labels ?? {}).length > 0 && html`<h3>Labels</h3><p><${Labels} of=${rule.labels} /></p>`}
    ${annotations.length > 0 && html`<h3>Annotations</h3><dl class="annotations">${annotations.map(([k, text]) =>
      html`<div key=${k}><dt>${oneLine(k, 80)}</dt><dd>${visible(text)}</dd></div>`)}</dl>`}
    ${rule.type === 'alerting' && (rule.alerts?.length ?? 0) > 0 && html`<${Alerts} rule=${rule} by=${by}
      onSilence=${onSilence} />`}
    <${History} rule=${rule} group=${group} /></div>`;
}

/** @param {{rule: import('../core/rules.js').Rule} & Hushed} props */
function Alerts({ rule, by, onSilence }) {
  const order = [...rule.alerts ?? []].sort((a, b) => Number(a.state !== 'firing') - Number(b.state !== 'firing') ||
    Number((instant(b.activeAt) ?? 0n) - (instant(a.activeAt) ?? 0n)));
  const says = (/** @type {import('../core/rules.js').Alert} */ a) =>
    a.annotations?.summary ?? a.annotations?.description ?? Object.values(a.annotations ?? {})[0] ?? '';
  return html`<h3>Alerts <span class="soft">${order.length > most
      ? `the first ${most} of ${count(order.length)}` : count(order.length)}</span></h3>
    <div class="scroll" tabindex="0" role="region" aria-label="Alerts of the rule"><table class="list">
      <thead><tr><th scope="col">State</th><th scope="col">Labels</th><th scope="col">Since</th>
        <th scope="col" class="num">Value</th><th scope="col">Says</th>
        ${onSilence && html`<th scope="col" aria-label="Acts"></th>`}</tr></thead>
      <tbody>${order.slice(0, most).map((a) => html`<tr key=${JSON.stringify(a.labels)}>
        <td><span class=${`alert-state ${a.state}`}>${a.state}</span>
          ${by.has(keyOf(a.labels)) && html`<span class="badge">silenced</span>`}</td>
        <td class="named"><${Labels} of=${a.labels} but=${rule} /></td>
        <td class="nowrap"><${When} at=${a.activeAt} never="not known" /></td>
        <td class="num" title=${a.value}>${figure(a.value)}</td>
        <td class="text">${oneLine(says(a), 400)}</td>
        ${onSilence && html`<td><button class="small" disabled=${closed.value !== ''} title=${closed.value}
          onClick=${() => onSilence(a.labels)}>Silence</button></td>`}</tr>`)}</tbody></table></div>`;
}
