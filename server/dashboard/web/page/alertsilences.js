// Silences of Alertmanagers: those that there are, and making one.

import { html, useState } from '../lib/ui.js';
import { described, isAbort } from '../core/api.js';
import { oneLine, plural } from '../core/format.js';
import { expire, longOf, matchersOf, matcherText, silence } from '../core/rules.js';
import { closed, zone } from '../core/state.js';
import { showTime } from '../core/time.js';
import { ask } from '../ui/ask.js';
import { toast } from '../ui/toast.js';
import { instant } from './alertparts.js';

/** The most silences that are listed. */
const most = 50;

/** @typedef {import('../core/rules.js').Silences} Silences */

/** until writes when a silence begins or ends. @param {string} text */
function until(text) {
  const ns = instant(text);
  return ns === null ? '–' : showTime(ns, 0, zone.value);
}

/**
 * List shows the silences that are in force or to come.
 * @param {{found: Silences, onChange: () => void}} props
 */
export function List({ found, onChange }) {
  const live = found.silences.filter((s) => s.status.state !== 'expired');
  const end = async (/** @type {import('../core/rules.js').Silence} */ s) => {
    if (await ask({ title: 'Expire the silence', text: 'People are told of its alerts again.',
      code: s.matchers.map(matcherText).join(', '), yes: 'Expire' }) === null) return;
    try {
      await expire(s.id);
      toast('The silence has ended', { kind: 'good' });
      onChange();
    } catch (e) {
      if (!isAbort(e)) toast(described(e).message, { kind: 'bad' });
    }
  };
  return html`${(found.failed ?? []).map((f) => html`<p key=${f.url} class="warn small">${oneLine(f.error, 300)}</p>`)}
    ${live.length > 0 && html`<section class="silences" aria-label="Silences"><h2>Silences
      <span class="soft small">${live.length > most ? `the first ${most} of ` : ''}${plural(live.length, 'silence')}
      </span></h2>
      <div class="scroll" tabindex="0" role="region" aria-label="Silences of alerts"><table class="list">
        <thead><tr><th scope="col">State</th><th scope="col">Of alerts with</th><th scope="col">Until</th>
          <th scope="col">By</th><th scope="col">Because</th><th scope="col" aria-label="Acts"></th></tr>
        </thead>
        <tbody>${live.slice(0, most).map((s) => html`<tr key=${s.id}>
          <td>${s.status.state === 'pending' ? `from ${until(s.startsAt)}` : 'in force'}</td>
          <td class="named"><span class="labels">${s.matchers.map((m) => html`<code key=${matcherText(m)}>
            ${oneLine(matcherText(m), 300)}</code>`)}</span></td>
          <td class="nowrap">${until(s.endsAt)}</td><td>${oneLine(s.createdBy, 80)}</td>
          <td class="text">${oneLine(s.comment, 300)}</td>
          <td><button class="small" disabled=${closed.value !== ''} title=${closed.value}
            onClick=${() => void end(s)}>Expire</button></td></tr>`)}</tbody></table></div></section>`}`;
}

/**
 * Make is the form of a new silence.
 * @param {{state: import('../core/state.js').PageState, onClose: () => void, onMade: () => void}} props
 */
export function Make({ state, onClose, onMade }) {
  const [busy, setBusy] = useState(false);
  const v = state.values.value, matchers = matchersOf(v.of), ms = longOf(v.lasts);
  const reason = closed.value || (matchers === null ? 'Conditions are written a="b", c=~"d|e".'
    : matchers.length === 0 ? 'Write which alerts it is for.' : ms === null ? 'A time is written 30m, 2h or 3d.'
      : v.why.trim() === '' ? 'Say why.' : '');
  const keep = async () => {
    setBusy(true);
    try {
      await silence({ matchers: matchers ?? [], endsAt: new Date(Date.now() + (ms ?? 0)).toISOString(),
        comment: v.why.trim(), createdBy: 'dashboard' });
      toast('The alerts are silenced', { kind: 'good' });
      onMade();
    } catch (e) {
      if (!isAbort(e)) toast(described(e).message, { kind: 'bad' });
    } finally {
      setBusy(false);
    }
  };
  const field = (/** @type {string} */ key, /** @type {string} */ text, /** @type {string} */ hint, kind = '') =>
    html`<label class=${kind}>${text}<input value=${v[key]} placeholder=${hint}
      onInput=${(e) => state.set({ [key]: e.target.value }, false)} /></label>`;
  return html`<section class="make" aria-label="New silence"><h2>New silence</h2>
    <div class="fields">${field('of', 'Of alerts with', 'alertname="ManyErrors", host=~"a.*"', 'wide')}
      ${field('lasts', 'For', '2h')}${field('why', 'Because', 'the disk is replaced', 'wide')}</div>
    <p class="actions"><button class="primary" disabled=${reason !== '' || busy} title=${reason}
        onClick=${() => void keep()}>Silence</button>
      <button onClick=${onClose}>Close</button><span class="soft">${reason}</span></p></section>`;
}
