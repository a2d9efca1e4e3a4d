// The page where nothing was found: the matcher without a match, the time of the last sample, or how to send the first.

import { html } from '../lib/ui.js';
import { root } from '../core/api.js';
import * as api from '../core/api.js';
import * as catalog from '../core/catalog.js';
import * as sqltext from '../core/sqltext.js';
import { db, setRange, zone } from '../core/state.js';
import { rfc3339, second, showTime } from '../core/time.js';
import { FirstSend } from '../ui/firstsend.js';
import { useAnswer } from '../ui/useanswer.js';
import * as ask from './metricsask.js';
import { selectors } from './metricsslips.js';

const mostChecks = 12;

/** @typedef {{first: bigint, last: bigint}} Span ns */

/**
 * spanOf finds when the first and the last sample of a metric came.
 * @param {string} metric
 * @returns {Promise<Span|null>}
 */
async function spanOf(metric) {
  const time = (await catalog.columns(db.value, metric)).find((c) => c.timeIndex);
  if (!time) return null;
  const [row] = await api.list(
    `SELECT min(${sqltext.name(time.name)}), max(${sqltext.name(time.name)}) FROM ${sqltext.name(metric)}`,
    { background: true });
  if (!row || row[0] === null) return null;
  const unit = sqltext.unitNanos(time.type);
  return { first: BigInt(row[0]) * unit, last: BigInt(row[1]) * unit };
}

/** words returns the sentence about it. @param {Span|null} span */
const words = (span) => (span
  ? `Its first sample is from ${showTime(span.first, 0, zone.value)}, its last from ${
    showTime(span.last, 0, zone.value)}.`
  : '');

/**
 * reasons finds the matchers without a match, and the time of samples that match.
 * @param {any} tree
 * @returns {Promise<{list: string[], span: Span|null}>}
 */
async function reasons(tree) {
  /** @type {string[]} */
  const found = [];
  /** @type {Span|null} */
  let there = null;
  const has = async (/** @type {string} */ match) =>
    (await ask.post('series', { 'match[]': [match], limit: 1 }, { background: true })).data.length > 0;
  for (const s of selectors(tree).filter((n) => n.name).slice(0, 4)) {
    const span = await spanOf(s.name);
    if (!await has(ask.selector(s.name))) {
      found.push(`There is no metric ${s.name} in the database ${db.value}.`);
      continue;
    }
    const before = found.length;
    for (const m of s.matchers.filter((/** @type {any} */ m) => m.name !== '__name__').slice(0, mostChecks)) {
      if (!await has(ask.selector(s.name, [m])))
        found.push(`No series of ${s.name} matches ${ask.label(m.name)}${m.type}${ask.quoted(m.value)}.`);
    }
    const matches = before === found.length;
    if (matches && span) there = { first: there && there.first < span.first ? there.first : span.first,
      last: there && there.last > span.last ? there.last : span.last };
    found.push(matches ? `${s.name} has series. ${words(span)}` : words(span));
  }
  return { list: found.filter(Boolean), span: there };
}

/** @param {{tree: any, at: number|null}} props at is the moment of a table, s */
export function NoData({ tree, at }) {
  // only hints: when they cannot be found the page shows the empty answer without them
  const { found, stale } = useAnswer(() => (tree ? reasons(tree) : null), [tree, at]);
  const { list, span } = (!stale && found) || { list: [], span: null };
  return html`<div class="state">
    <h2>No data ${at === null ? 'in this range'
      : `at ${showTime(BigInt(Math.round(at * 1000)) * 1_000_000n, 0, zone.value)}`}</h2>
        ${list.map((r) => html`<p key=${r}>${r}</p>`)}
    ${span && html`<div class="actions">
      <button onClick=${() => setRange(rfc3339(span.first), rfc3339(span.last + second))}>
        From the first to the last</button></div>`}</div>`;
}

/** NoMetrics shows how to send the first. */
export function NoMetrics() {
  const snippet = `remote_write:\n  - url: ${new URL(`v1/metricsapi/write?db=${encodeURIComponent(db.value)}`,
    root).href}`;
  return html`<${FirstSend} title="No metrics yet"
    snippet=${snippet}>
      Every sender that speaks remote write can fill this database. In its configuration:</${FirstSend}>`;
}
