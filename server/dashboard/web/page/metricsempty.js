// What stands where nothing was found: which matcher has no match, when the last sample came, or how to send the first.

import { html, useEffect, useState } from '../lib/ui.js';
import { root } from '../core/api.js';
import * as api from '../core/api.js';
import * as catalog from '../core/catalog.js';
import * as router from '../core/router.js';
import * as sqltext from '../core/sqltext.js';
import { db, zone } from '../core/state.js';
import { showTime } from '../core/time.js';
import { copy } from '../ui/toast.js';
import * as ask from './metricsask.js';
import { selectors } from './metricsslips.js';

const mostChecks = 12;

/** spanOf says when the first and the last sample of a metric came. @param {string} metric */
async function spanOf(metric) {
  const time = (await catalog.columns(db.value, metric)).find((c) => c.timeIndex);
  if (!time) return '';
  const [row] = await api.list(`SELECT min(${sqltext.name(time.name)}), max(${sqltext.name(time.name)}) FROM ${sqltext.name(metric)}`, { background: true });
  if (!row || row[0] === null) return '';
  const at = (/** @type {any} */ v) => showTime(BigInt(v) * sqltext.unitNanos(time.type), 0, zone.value);
  return `Its first sample is of ${at(row[0])}, its last of ${at(row[1])}.`;
}

/** reasons finds out what has no match. @param {any} tree @returns {Promise<string[]>} */
async function reasons(tree) {
  /** @type {string[]} */
  const found = [];
  const has = async (/** @type {string} */ match) => (await ask.post('series', { 'match[]': [match], limit: 1 }, { background: true })).data.length > 0;
  for (const s of selectors(tree).filter((n) => n.name).slice(0, 4)) {
    const span = await spanOf(s.name);
    if (!await has(ask.selector(s.name))) {
      found.push(`There is no metric ${s.name} in the database ${db.value}.`);
      continue;
    }
    const before = found.length;
    for (const m of s.matchers.filter((/** @type {any} */ m) => m.name !== '__name__').slice(0, mostChecks)) {
      if (!await has(ask.selector(s.name, [m]))) found.push(`No series of ${s.name} matches ${ask.label(m.name)}${m.type}${ask.quoted(m.value)}.`);
    }
    found.push(before === found.length ? `${s.name} has series. ${span}` : span);
  }
  return found.filter(Boolean);
}

/** @param {{tree: any}} props */
export function NoData({ tree }) {
  const [list, setList] = useState(/** @type {string[]} */ ([]));
  useEffect(() => {
    let wanted = true;
    if (tree) reasons(tree).then((r) => { if (wanted) setList(r); }, () => {}); // the answer itself stands: these are hints
    return () => { wanted = false; };
  }, [tree]);
  return html`<div class="state"><h2>No data in this range</h2>${list.map((r) => html`<p key=${r}>${r}</p>`)}</div>`;
}

/** NoMetrics shows how to send the first. */
export function NoMetrics() {
  const snippet = `remote_write:\n  - url: ${new URL(`v1/metricsapi/write?db=${encodeURIComponent(db.value)}`, root).href}`;
  return html`<div class="state"><h2>No metrics yet</h2><p>Every sender that speaks remote write can fill this database. In its configuration:</p>
    <pre class="pad">${snippet}</pre>
    <div class="actions"><button onClick=${() => copy(snippet)}>Copy</button><button onClick=${() => void router.go('ingest')}>Other ways to send</button></div></div>`;
}
