// The values of a field over all matching rows, exact, and the spread of a numeric one.

import { html, useEffect, useState } from '../lib/ui.js';
import { described, isAbort, list } from '../core/api.js';
import { cell as cellText, count, oneLine, percent, plural, raw, short } from '../core/format.js';
import * as router from '../core/router.js';
import * as sqltext from '../core/sqltext.js';
import { zone } from '../core/state.js';
import { ErrorBox } from '../ui/error.js';
import { Icon } from '../ui/icons.js';
import { copy } from '../ui/toast.js';
import * as logsql from './logsparts.js';

/** @typedef {{values: any[][], rows: number, present: number, distinct: number}} Found */

/** @param {{run: import('./logsrun.js').LogsRun, state: import('../core/state.js').PageState, column: import('../core/catalog.js').Column, shown: boolean, onFilter: (field: string, value: any, negated: boolean) => void, onColumn: (name: string) => void}} props */
export function FieldValues({ run, state, column, shown, onFilter, onColumn }) {
  const scope = run.scope.value;
  const [found, setFound] = useState(/** @type {Found|null} */ (null));
  const [error, setError] = useState(/** @type {any} */ (null));
  const [most, setMost] = useState(11);
  useEffect(() => {
    if (!scope) return;
    const control = new AbortController();
    const options = { signal: control.signal, background: true };
    Promise.all([list(logsql.values(scope, column.name, most), options), list(logsql.presence(scope, column.name), options)]).then(([values, [[rows, present, distinct]]]) => {
      setFound({ values, rows: Number(rows), present: Number(present), distinct: Number(distinct) });
      setError(null);
    }).catch((e) => { if (!isAbort(e)) setError(described(e)); });
    return () => control.abort();
  }, [scope, column.name, most]);
  if (error) return html`<${ErrorBox} error=${error} />`;
  if (!found) return html`<p class="faint pad">Counting…</p>`;
  const values = found.values.filter(([v]) => v !== null).slice(0, most === 11 ? 10 : most);
  const absent = found.rows - found.present;
  const share = (/** @type {number} */ n) => (found.rows === 0 ? 0 : n / found.rows);
  return html`<div class="values">
    <p class="soft num">${found.distinct <= found.values.length ? plural(found.values.filter(([v]) => v !== null).length, 'value') : `about ${plural(found.distinct, 'value')}`} in ${plural(found.present, 'row')}</p>
    ${sqltext.isNumeric(column.type) && scope && html`<${Numbers} scope=${scope} column=${column} />`}
    ${values.map(([v, n]) => html`<div class="value" key=${String(v)}>
      <span class="bar-bg" style=${{ width: `${Math.max(1, share(Number(n)) * 100)}%` }}></span>
      <span class="text" title=${raw(v)}>${v === '' ? "''" : oneLine(cellText(v, column.type, zone.value), 200)}</span>
      <span class="num n" title=${`${count(n)} rows`}>${short(Number(n))}</span><span class="num p">${percent(share(Number(n)))}</span>
      <span class="acts small"><button class="quiet small icon" title="Only this" aria-label=${`Only ${raw(v)}`} onClick=${() => onFilter(column.name, v, false)}><${Icon} name="plus" /></button>
        <button class="quiet small icon" title="Not this" aria-label=${`Not ${raw(v)}`} onClick=${() => onFilter(column.name, v, true)}><${Icon} name="minus" /></button>
        <button class="quiet small icon" title="Copy" aria-label=${`Copy ${raw(v)}`} onClick=${() => copy(raw(v))}><${Icon} name="copy" /></button></span></div>`)}
    ${absent > 0 && html`<div class="value none"><span class="bar-bg" style=${{ width: `${Math.max(1, share(absent) * 100)}%` }}></span><span class="text null">not there</span><span class="num n" title=${`${count(absent)} rows`}>${short(absent)}</span><span class="num p">${percent(share(absent))}</span>
      <span class="acts small"><button class="quiet small icon" title="Only rows without" aria-label=${`Only rows without ${column.name}`} onClick=${() => onFilter(column.name, null, false)}><${Icon} name="plus" /></button>
      <button class="quiet small icon" title="Only rows with" aria-label=${`Only rows with ${column.name}`} onClick=${() => onFilter(column.name, null, true)}><${Icon} name="minus" /></button></span></div>`}
    <div class="small acts-line">${most === 11 && found.values.length >= 11 && html`<button class="small" onClick=${() => setMost(100)}>More, up to 100</button>`}
      <button class="small" onClick=${() => state.set({ split: column.name })}>Histogram by this</button>
      <button class="small" aria-pressed=${shown ? 'true' : 'false'} onClick=${() => onColumn(column.name)}>Column</button>
      <button class="small" title="Its values over time, as a chart" onClick=${() => scope && router.go('sql', { sql: logsql.histogram(scope, logsql.bins(run.range, zone.value), column.name, found.distinct > 12 ? values.map(([v]) => v) : null), view: 'chart' })}>Chart in SQL</button>
      ${sqltext.isText(column.type) && html`<button class="small" aria-pressed=${run.roles.value?.message === column.name ? 'true' : 'false'} onClick=${() => run.choose({ message: column.name })}>Is the message</button>`}
      <button class="small" aria-pressed=${run.roles.value?.level === column.name ? 'true' : 'false'} onClick=${() => run.choose({ level: column.name })}>Is the level</button>
      <button class="small" onClick=${() => scope && copy(logsql.values(scope, column.name, 100), 'SQL copied')}>SQL</button></div>
  </div>`;
}

/** Numbers shows the spread of a numeric field. @param {{scope: logsql.Scope, column: import('../core/catalog.js').Column}} props */
function Numbers({ scope, column }) {
  const [found, setFound] = useState(/** @type {any[]|null} */ (null));
  const [bars, setBars] = useState(/** @type {number[]} */ ([]));
  useEffect(() => {
    const control = new AbortController();
    const options = { signal: control.signal, background: true };
    list(logsql.numbers(scope, column.name), options).then(async ([row]) => {
      setFound(row);
      const low = Number(row[1]), high = Number(row[2]);
      if (row[1] === null || !(high > low)) return;
      const cells = await list(logsql.distribution(scope, column.name, low, (high - low) / 20), options);
      const counts = new Array(20).fill(0);
      for (const [b, n] of cells) counts[Math.max(0, Math.min(19, Number(b)))] += Number(n);
      setBars(counts);
    }).catch(() => {}); // the counts above are there all the same
    return () => control.abort();
  }, [scope, column.name]);
  if (!found || found[1] === null) return null;
  const top = Math.max(1, ...bars);
  const figure = (/** @type {any} */ v) => (v === null ? '' : String(typeof v === 'number' && !Number.isInteger(v) ? Number(v.toPrecision(6)) : v));
  return html`<div class="numbers">
    ${bars.length > 0 && html`<svg viewBox="0 0 200 34" preserveAspectRatio="none" role="img" aria-label=${`Distribution from ${found[1]} to ${found[2]}`}>${bars.map((n, i) => html`<rect key=${i} x=${i * 10} width="9" y=${34 - (n / top) * 34} height=${(n / top) * 34}><title>${count(n)}</title></rect>`)}</svg>`}
    <dl>${[['min', 1], ['p50', 4], ['p90', 5], ['p99', 6], ['max', 2], ['avg', 3]].map(([k, i]) => html`<div key=${k}><dt>${k}</dt><dd class="num">${figure(found[/** @type {number} */ (i)])}</dd></div>`)}</dl></div>`;
}
