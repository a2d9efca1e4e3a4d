// The one time range as it stands in a toolbar, with arrows to earlier and later; how it is chosen is in timepanel.js.

import { html } from '../lib/ui.js';
import { own, range, setRange, zone } from '../core/state.js';
import { nowNanos, parseTime, resolve, rfc3339, showShort, showTime, zoneLabel } from '../core/time.js';
import { Icon } from './icons.js';
import { lazy } from './lazy.js';
import { Pop } from './pop.js';

const TimePanel = lazy(() => import('./timepanel.js'), 'TimePanel');

/** rangeText says a range shortly. @param {{from: string, to: string}} r @param {string} z */
export function rangeText(r, z) {
  if (r.from === 'all' || r.from === '') return 'All time';
  const m = /^now-(\d+)(s|m|h|d|w)$/.exec(r.from);
  if (m && r.to === 'now') return `Last ${m[1]} ${m[2]}`;
  const now = nowNanos();
  const end = (/** @type {string} */ text) => {
    const t = parseTime(text, z, now);
    return t && !t.relative ? showShort(t.ns, z, now) : text;
  };
  return `${end(r.from)} – ${end(r.to)}`;
}

/** shift moves the range by its own length, or makes it twice as wide around its middle. @param {-1|1|0} by */
export function shift(by) {
  const now = nowNanos();
  const { from, to } = resolve(range.value, zone.value, now);
  if (from === null) return;
  const end = to ?? now;
  const length = end - from;
  if (by === 0) setRange(rfc3339(from - length / 2n),
    rfc3339(end + length / 2n > now && end <= now ? now : end + length / 2n));
  else setRange(rfc3339(from + BigInt(by) * length), rfc3339(end + BigInt(by) * length));
}

export function TimePicker() {
  const r = range.value;
  const at = resolve(r, zone.value);
  const title = at.from === null ? 'All time'
    : `${showTime(at.from, 0, zone.value)} to ${showTime(at.to ?? nowNanos(), 0, zone.value)} ${zoneLabel(zone.value)}`;
  return html`<span class="pop-anchor timepicker">
    <button class="icon quiet" title="One range earlier" aria-label="One range earlier" disabled=${at.from === null}
      onClick=${() => shift(-1)}><${Icon} name="left" /></button>
    <${Pop} id="timerange" title=${`Time range: ${title}`} side="right" sheet
      label=${html`<${Icon} name="clock" /><span class="nowrap">${rangeText(r, zone.value)}</span>
      ${own.value && html`<span class="badge" title="Of this page alone">own</span>`} <span class="faint nowrap">
        ${zoneLabel(zone.value)}</span>`}>
      ${(close) => html`<${TimePanel} close=${close} />`}
    </${Pop}>
    <button class="icon quiet" title="One range later" aria-label="One range later" disabled=${at.from === null}
      onClick=${() => shift(1)}><${Icon} name="right" /></button>
    <button class="icon quiet" title="Twice as wide" aria-label="Twice as wide" disabled=${at.from === null}
      onClick=${() => shift(0)}><${Icon} name="wider" /></button>
  </span>`;
}
