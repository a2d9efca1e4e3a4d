// The histogram of the Logs page with its legend.

import { html, useEffect, useState } from '../lib/ui.js';
import { count, oneLine, short } from '../core/format.js';
import { levelOf } from '../core/levels.js';
import * as sqltext from '../core/sqltext.js';
import { frame, zone } from '../core/state.js';
import * as store from '../core/store.js';
import { showTime } from '../core/time.js';
import { colour, seriesColour } from '../ui/canvas.js';
import { Histogram } from '../ui/histogram.js';
import { Icon } from '../ui/icons.js';
import { lazy } from '../ui/lazy.js';
import { copy } from '../ui/toast.js';
import { instantOf } from './logsquery.js';

const ErrorBox = lazy(() => import('../ui/error.js'), 'ErrorBox');

/**
 * @param {{run: import('./logsrun.js').LogsRun, state: import('../core/state.js').PageState, onRow: (name: string) =>
 *   void, onRange: (from: bigint, to: bigint) => void, onWider: () => void, onFilter: (field: string, value: any,
 *   negated: boolean) => void}} props
 */
export function HistogramPanel({ run, state, onRow, onRange, onWider, onFilter }) {
  const [folded, setFolded] = useState(() => store.read('logs.nohistogram', false));
  const data = run.buckets.value, error = run.histogramError.value;
  const split = data ? data.split : null;
  const byLevel = split !== null && split === run.roles.value?.level;
  const color = (/** @type {string} */ key, /** @type {number} */ i) => (split === null ? colour('bar-info') : byLevel
    ? colour('bar-' + levelOf(key === '(none)' ? null : key, split ?? '')) : key === '(other)' || key === '(none)'
    ? colour('bar-none') : seriesColour(i));
  const loaded = useLoaded(run);
  const pins = state.get('pins').flatMap((/** @type {string} */ name) => {
    const at = instantOf(name);
    return at === null ? []
      : [{ at, title: `Pinned row of ${showTime(at, 3, zone.value)}`, onOpen: () => onRow(name) }];
  });
  const fold = () => {
    store.write('logs.nohistogram', !folded);
    setFolded(!folded);
  };
  const pick = (/** @type {MouseEvent} */ e, /** @type {number} */ i) => {
    if (split !== null && data?.values[i] !== undefined) onFilter(split, data.values[i], e.shiftKey);
  };
  const stale = run.stale('histogram');
  return html`<section class="logs-histogram ${folded ? 'folded' : ''}" aria-busy=${stale ? 'true' : 'false'}
    aria-label="Rows over time">
    <div class="legend">
      ${data && split !== null &&
        data.keys.map((k, i) => html`<button key=${k} class="quiet small ${stale ? 'stale' : ''}"
          title="Click: only this. Shift and click: not this." disabled=${data.values[i] === undefined}
            onClick=${(e) => pick(e, i)}>
        <span class="swatch" style=${{ background: color(k, i) }}></span>
          ${oneLine(k, 60)} <span class="faint num" title=${count(sum(data.counts[i]))}>${short(sum(data.counts[i]))}
            </span></button>`)}
      <span class="grow"></span>
      ${state.get('from').startsWith('2') &&
        html`<button class="small" title="Back to the last hour"
          onClick=${() => frame.set({ from: 'now-1h', to: 'now' })}>fixed range ×</button>`}
      <label class="soft nowrap by">by <select aria-label="Group the histogram by" value=${run.split() ?? '-'}
        onChange=${(e) => state.set({ split: e.target.value })}>
        <option value="-">nothing</option>
          ${run.columns.value.filter((c) => !c.timeIndex).slice(0, 300)
            .map((c) => html`<option key=${c.name} value=${c.name}>${c.name}</option>`)}</select></label>
      <button class="quiet small" title="Copy the statement of the histogram"
        onClick=${() => copy(run.sql.value.histogram, 'SQL copied')}>SQL</button>
      <button class="quiet small icon" aria-label=${folded ? 'Show the histogram' : 'Hide the histogram'}
        aria-expanded=${folded ? 'false' : 'true'} onClick=${fold}><${Icon} name=${folded ? 'down' : 'up'} /></button>
    </div>
    ${!folded && (error ? (run.error.value ? html`<p class="soft pad">No histogram: the query failed, see below.</p>`
      : html`<${ErrorBox} error=${error} />`) : data
      ? html`<${Histogram} stale=${stale} data=${data} range=${data.range} color=${color} onRange=${onRange}
        onWider=${onWider} loaded=${loaded} pins=${pins}
          label="Rows over time; left and right walk the bars, Enter zooms" />` : html`<div class="histogram"></div>`)}
  </section>`;
}

/**
 * useLoaded is the range of the rows that are loaded, while there are more.
 * @param {import('./logsrun.js').LogsRun} run
 */
function useLoaded(run) {
  const [loaded, setLoaded] = useState(/** @type {{of: any, from: bigint, to: bigint}|null} */ (null));
  const rows = run.rows.value, more = rows && rows.total > 0 && !run.complete.value;
  useEffect(() => {
    if (!more) return;
    let wanted = true;
    const at = rows.columns.findIndex((c) => c.name === run.roles.value?.time?.name);
    const unit = at < 0 ? 1n : sqltext.unitNanos(rows.columns[at].type);
    Promise.all([rows.slice(0, 1), rows.last()])
      .then(([[first], last]) => {
        if (wanted && first && at >= 0)
          setLoaded({ of: rows, from: BigInt(last[at]) * unit, to: BigInt(first[at]) * unit });
      }, () => {});
    return () => { wanted = false; };
  }, [rows, run.grown.value, more]);
  return more && loaded?.of === rows && !run.stale('rows') && !run.stale('histogram') ? loaded : null;
}

/** @param {Float64Array} list */
const sum = (list) => list.reduce((s, n) => s + n, 0);
