// How a time range is chosen.

import { html, useState } from '../lib/ui.js';
import * as store from '../core/store.js';
import { unlink } from '../core/router.js';
import { own, range, refresh, setRange, zone } from '../core/state.js';
import { fromFields, isZone, localFields, nowNanos, parseTime, rfc3339, showTime, span,
  zoneLabel } from '../core/time.js';
import { Icon } from './icons.js';
import { rangeText } from './timepicker.js';

const quick = ['5m', '15m', '30m', '1h', '3h', '6h', '12h', '24h', '2d', '7d', '30d'];
const refreshes = [0, 5, 10, 30, 60, 300];

/** remember keeps a range for the list of recent ones. @param {string} from @param {string} to */
function remember(from, to) {
  const list = /** @type {{from: string, to: string}[]} */ (store.read('ranges', []));
  store.write('ranges', [{ from, to }, ...list.filter((r) => r.from !== from || r.to !== to)].slice(0, 6));
}

/** choose sets the range. @param {string} from @param {string} to */
function choose(from, to) {
  remember(from, to);
  setRange(from, to);
}

/** @param {{close: () => void}} props */
export function TimePanel({ close }) {
  const [from, setFrom] = useState(shown(range.value.from));
  const [to, setTo] = useState(shown(range.value.to));
  const now = nowNanos();
  const a = from.trim() === 'all' ? { ns: null } : parseTime(from, zone.value, now);
  const b = parseTime(to, zone.value, now);
  const wrong = a === null || b === null || (a.ns !== null && a.ns >= b.ns);
  const apply = (/** @type {Event} */ e) => {
    e.preventDefault();
    if (wrong) return;
    const text = (/** @type {string} */ t, /** @type {any} */ p) =>
      (p.ns === null ? 'all' : p.relative ? t.trim() : rfc3339(p.ns));
    choose(text(from, a), text(to, b));
    close();
  };
  const recent = /** @type {{from: string, to: string}[]} */ (store.read('ranges', []));
  return html`<div class="picker">
    <div>
      <div class="quick">
        ${quick.map((q) => html`<button key=${q}
          aria-pressed=${range.value.from === `now-${q}` && range.value.to === 'now' ? 'true' : 'false'}
            onClick=${() => { choose(`now-${q}`, 'now'); close(); }}>${q}</button>`)}
        <button aria-pressed=${range.value.from === 'all' ? 'true' : 'false'}
          onClick=${() => { choose('all', 'now'); close(); }}>all</button>
      </div>
      ${recent.length > 0 && html`<p class="soft" style=${{ margin: '10px 0 3px', fontSize: '12px' }}>Recent</p>
        <div class="menu" style=${{ padding: 0, minWidth: 0 }}>
          ${recent.map((r) => html`<button key=${r.from + r.to} onClick=${() => { choose(r.from, r.to); close(); }}>
            ${rangeText(r, zone.value)}</button>`)}</div>`}
    </div>
    <div>
      <form onSubmit=${apply}>
        <label>From<input name="from" value=${from} spellcheck=${false} autocomplete="off"
          onInput=${(e) => setFrom(e.target.value)} />
          <${Understood} time=${a} /></label>
        <label>To<input name="to" value=${to} spellcheck=${false} autocomplete="off"
          onInput=${(e) => setTo(e.target.value)} />
          <${Understood} time=${b} wrong=${a !== null && b !== null && wrong} /></label>
        <button class="primary" disabled=${wrong}>Apply</button>
      </form>
      <${Calendar} onDay=${(/** @type {bigint} */ start, /** @type {bigint} */ end) => {
        setFrom(showTime(start, 0, zone.value));
        setTo(showTime(end, 0, zone.value));
      }} from=${a?.ns ?? null} to=${b?.ns ?? null} />
      <div style=${{ display: 'flex', gap: '8px', marginTop: '8px' }}>
        <label class="grow">Time zone<${ZoneField} /></label>
        <label>Refresh<br /><select value=${String(refresh.value)}
          onChange=${(e) => { refresh.value = Number(e.target.value); }}>
          ${refreshes.map((s) => html`<option value=${String(s)}>${s === 0 ? 'off' : s < 60 ? `${s} s` : `${s / 60} m`}
            </option>`)}</select></label>
      </div>
      <label class="check" title="Else one range holds on all pages of this tab">
        <input type="checkbox" checked=${own.value} onChange=${unlink} /> This page has its own range</label>
    </div>
  </div>`;
}

/** shown is an end of the range in the form people write. @param {string} text */
function shown(text) {
  const t = parseTime(text, zone.value, nowNanos());
  return t && !t.relative
    ? showTime(t.ns, 9, zone.value).replace(/\.?0+$/, (z) => (z.startsWith('.') ? '' : z.includes('.') ? '' : z))
    .replace(/(\.\d*?)0+$/, '$1') : text;
}

/** @param {{time: {ns: bigint|null}|null, wrong?: boolean}} props */
function Understood({ time, wrong }) {
  if (time === null) return html`<span class="understood bad">not understood as a time</span>`;
  if (wrong) return html`<span class="understood bad">the end is not after the beginning</span>`;
  if (time.ns === null) return html`<span class="understood">from the first row on</span>`;
  const away = nowNanos() - time.ns;
  const text = showTime(time.ns, 9, zone.value).replace(/(\.\d*?)0+$/, '$1').replace(/\.$/, '');
  const rel = away > -1_000_000_000n && away < 1_000_000_000n ? 'now' : away > 0n ? `${span(away)} ago`
    : `in ${span(-away)}`;
  return html`<span class="understood">${text} ${zoneLabel(zone.value, time.ns)} · ${rel}</span>`;
}

/** ZoneField takes Local, UTC or a name. */
export function ZoneField() {
  const [text, setText] = useState(zone.value === 'local' ? 'Local' : zone.value);
  const name = /^local$/i.test(text.trim()) ? 'local' : text.trim();
  const ok = isZone(name);
  return html`<input list="zones" name="zone" value=${text} spellcheck=${false} aria-invalid=${ok ? 'false' : 'true'}
    onInput=${(e) => {
    setText(e.target.value);
    const z = /^local$/i.test(e.target.value.trim()) ? 'local' : e.target.value.trim();
    if (isZone(z)) zone.value = z;
  }} /><datalist id="zones">${zones().map((z) => html`<option key=${z} value=${z} />`)}</datalist>`;
}

/** zones lists what the browser knows. @returns {string[]} */
export const zones = () => ['Local', 'UTC', ...(/** @type {any} */ (Intl).supportedValuesOf?.('timeZone') ?? [])];

/**
 * Calendar chooses a day; a second click later widens to there.
 * @param {{onDay: (from: bigint, to: bigint) => void, from: bigint|null, to: bigint|null}} props
 */
function Calendar({ onDay, from, to }) {
  const here = localFields(to ?? nowNanos(), zone.value);
  const [month, setMonth] = useState(here.getUTCFullYear() * 12 + here.getUTCMonth());
  const [first, setFirst] = useState(/** @type {bigint|null} */ (null));
  const year = Math.floor(month / 12), m = month % 12;
  const lead = (new Date(Date.UTC(year, m, 1)).getUTCDay() + 6) % 7;
  const days = new Date(Date.UTC(year, m + 1, 0)).getUTCDate();
  const today = showTime(nowNanos(), 0, zone.value).slice(0, 10);
  const title = `${new Date(Date.UTC(year, m, 1)).toLocaleString('en', { month: 'long', timeZone: 'UTC' })} ${year}`;
  const midnight = (/** @type {number} */ d) => fromFields(Date.UTC(year, m, d), zone.value);
  const pick = (/** @type {number} */ d) => {
    const start = midnight(d), end = midnight(d + 1);
    if (first !== null && start > first) {
      onDay(first, end);
      setFirst(null);
    } else {
      onDay(start, end);
      setFirst(start);
    }
  };
  return html`<div>
    <div style=${{ display: 'flex', alignItems: 'center', marginTop: '8px' }}>
      <button type="button" class="quiet small icon" aria-label="Month before" onClick=${() => setMonth(month - 1)}>
        <${Icon} name="left" /></button>
      <span class="grow" style=${{ textAlign: 'center', fontWeight: 600 }}>${title}</span>
      <button type="button" class="quiet small icon" aria-label="Month after" onClick=${() => setMonth(month + 1)}>
        <${Icon} name="right" /></button>
    </div>
    <div class="calendar">
      ${['Mo', 'Tu', 'We', 'Th', 'Fr', 'Sa', 'Su'].map((d) => html`<span key=${d} class="faint">${d}</span>`)}
      ${Array.from({ length: lead }, (_, i) => html`<span key=${'b' + i}></span>`)}
      ${Array.from({ length: days }, (_, i) => {
    const d = i + 1;
    const name = `${year}-${String(m + 1).padStart(2, '0')}-${String(d).padStart(2, '0')}`;
    const inside = from !== null && to !== null && midnight(d) < to && midnight(d + 1) > from;
    return html`<button type="button" key=${name} aria-label=${`${d} ${title}`}
      class="${inside ? 'in' : ''} ${name === today ? 'today' : ''}" onClick=${() => pick(d)}>${d}</button>`;
  })}
    </div>
  </div>`;
}
