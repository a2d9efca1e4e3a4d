// The figures of the Status page: the server's identity, its present work, and its data.

import { html } from '../lib/ui.js';
import { quantile } from '../core/exposition.js';
import { bytes, count, duration, percent, plural, short } from '../core/format.js';
import { last, rates, readings, values } from '../core/watch.js';
import { Spark } from '../ui/spark.js';

/** @param {number} n @param {(n: number) => string} write */
const known = (n, write) => (Number.isFinite(n) ? write(n) : '–');

/** @param {{name: string, value: string, spark?: number[], note?: string}} props */
const Figure = ({ name, value, spark, note }) => html`<div class="figure"><dt>${name}</dt>
  <dd><span class="num">${value}</span>
  ${spark && html`<${Spark} values=${spark} label=${`${name} of the last half hour`} />`}
    ${note && html`<span class="note soft">${note}</span>`}</dd></div>`;

/**
 * queues are what may wait: its name, for what, its figures, and the one that says how many are under way.
 * @type {[string, string, string[], string?][]}
 */
const queues = [
  ['Flushes', '', ['varve_flushes_waiting'], 'varve_flushes_running'],
    ['Merges', '', ['varve_merges_waiting'], 'varve_merges_running'],
  ['Writes', 'for memory', ['varve_writes_waiting']],
    ['Queries', 'for memory', ['varve_queries_waiting'], 'varve_sql_requests_running'],
  ['Bodies', 'for room', ['varve_http_bodies_waiting']],
    ['Messages', 'of listeners', ['varve_syslog_messages_waiting', 'varve_forward_messages_waiting']],
];

/** Waits shows the queues. @param {{list: import('../core/exposition.js').Figures[]}} props */
function Waits({ list }) {
  const now = list[list.length - 1];
  return html`<h2>Waits</h2><dl class="figures">${queues.map(([name, what, figures, running]) => {
    const each = list.map((f) => figures.reduce((sum, n) => sum + (f.sum(n) || 0), 0));
    return html`<${Figure} key=${name} name=${name} value=${count(each[each.length - 1])} spark=${each}
      note=${[what, running && `${count(now.sum(running) || 0)} under way`].filter(Boolean).join(', ')} />`;
  })}</dl>`;
}

/**
 * budgets are the parts that the memory is divided into: a title, and the name in the figures.
 * @type {[string, string][]}
 */
const budgets = [['Rows in memory', 'memtables'], ['Keys of series', 'series'], ['Cached blocks', 'cache'],
  ['Queries', 'queries'], ['Held for queries', 'held'], ['Bodies in hand', 'bodies'],
  ['Answers not read yet', 'answers']];

/**
 * Shares shows how much of each part of the memory is used.
 * @param {{list: import('../core/exposition.js').Figures[]}} props
 */
function Shares({ list }) {
  const sum = (/** @type {import('../core/exposition.js').Figures} */ f, /** @type {string} */ name,
    /** @type {string} */ of) => f.sum(name, (l) => l.budget === of);
  const now = list[list.length - 1];
  return html`<h2>Memory</h2>
    <dl class="figures">${budgets.map(([name, of]) =>
      html`<${Figure} key=${of} name=${name} value=${known(sum(now, 'varve_budget_bytes', of), bytes)}
    spark=${list.map((f) => sum(f, 'varve_budget_bytes', of))}
      note=${`of ${known(sum(now, 'varve_budget_limit_bytes', of), bytes)}`} />`)}</dl>`;
}

/**
 * Rules is a line about the rules that the server evaluates.
 * @param {{list: import('../core/exposition.js').Figures[]}} props
 */
function Rules({ list }) {
  const now = list[list.length - 1], groups = now.sum('varve_rule_groups');
  if (!Number.isFinite(groups)) return null; // it evaluates none
  const alerts = (/** @type {string} */ state) => (/** @type {import('../core/exposition.js').Figures} */ f) =>
    f.sum('varve_rule_alerts', (l) => l.state === state) || 0;
  const told = (/** @type {string} */ name) => now.sum(`varve_rule_notifications_${name}`) || 0;
  const wrong = now.sum('varve_rule_files_wrong') || 0;
  return html`<h2>Rules</h2><dl class="figures">
    <${Figure} name="Rules" value=${count(now.sum('varve_rules') || 0)} note=${`in ${plural(groups, 'group')}`} />
    <${Figure} name="Firing" value=${count(alerts('firing')(now))} spark=${list.map(alerts('firing'))}
      note=${`${count(alerts('pending')(now))} pending`} />
    <${Figure} name="Failing" value=${count(now.sum('varve_rules_failing') || 0)}
      spark=${values(list, 'varve_rules_failing')} note=${wrong > 0 ? `${plural(wrong, 'file is', 'files are')} wrong`
        : ''} />
    <${Figure} name="Notifications" value=${count(told('waiting'))}
      note=${`waiting, ${count(told('dropped_total'))} dropped`} />
  </dl>`;
}

/**
 * Cold is a line about the parts in a bucket.
 * @param {{list: import('../core/exposition.js').Figures[]}} props
 */
function Cold({ list }) {
  const now = list[list.length - 1], parts = now.sum('varve_cold_parts');
  if (!Number.isFinite(parts)) return null; // there is no bucket
  const at = (/** @type {string} */ place) => (/** @type {import('../core/exposition.js').Figures} */ f) =>
    f.sum('varve_cold_bytes', (l) => l.place === place) || 0;
  const read = (/** @type {string} */ how) => now.sum('varve_cold_cache_ranges_total', (l) => l.how === how) || 0;
  const asked = read('found') + read('fetched') + read('awaited');
  const failed = now.sum('varve_cold_last_failure_timestamp_seconds') * 1000;
  return html`<h2>Cold parts</h2><dl class="figures">
    <${Figure} name="In the bucket" value=${bytes(at('bucket')(now))} spark=${list.map(at('bucket'))}
      note=${plural(parts, 'part')} />
    <${Figure} name="Of them on the disk" value=${bytes(at('disk')(now))} />
    <${Figure} name="Cache" value=${known(now.sum('varve_cold_cache_bytes'), bytes)}
      spark=${values(list, 'varve_cold_cache_bytes')}
      note=${asked > 0 ? `${percent(read('found') / asked)} found there` : ''} />
    <${Figure} name="Waiting to move" value=${count(now.sum('varve_cold_parts_waiting') || 0)}
      spark=${values(list, 'varve_cold_parts_waiting')}
      note=${failed > 0 ? `last failure ${duration(Date.now() - failed)} ago` : ''} />
  </dl>`;
}

/** @param {{status: any, clockMS: number|null, zone: string, untold?: string}} props untold is why there is no clock */
export function About({ status, clockMS, zone, untold }) {
  const now = readings.value[readings.value.length - 1];
  const started = now?.sum('process_start_time_seconds') * 1000;
  const rows = [
    ['Version', status?.version], ['Commit', status?.commit], ['Go', status?.go_version], ['Host', status?.hostname],
    ['Up for', Number.isFinite(started) ? duration(Date.now() - started) : undefined], ['Time zone', zone],
    ['Clock', clockMS === null ? untold : Math.abs(clockMS) < 1000 ? 'agrees with this browser'
      : `this browser is ${duration(Math.abs(clockMS))} ${clockMS > 0 ? 'ahead' : 'behind'}`],
  ];
  return html`<dl class="about">${rows.map(([k, v]) => html`<div key=${k}><dt>${k}</dt><dd>${v ?? '–'}</dd></div>`)}
    </dl>`;
}

export function Activity() {
  const list = readings.value;
  if (list.length === 0) return html`<p class="state soft wait" role="status">Reading the figures …</p>`;
  const now = list[list.length - 1];
  const perSecond = (/** @type {number} */ n) => `${short(Math.round(n * 10) / 10)}/s`;
  const rowsIn = rates(list, 'varve_rows_written_total'), bodyIn = rates(list, 'varve_http_body_bytes_total');
  const all = rates(list, 'varve_http_requests_total'),
    bad = rates(list, 'varve_http_requests_total', (l) => l.status >= '500');
  const refused = rates(list, 'varve_http_requests_total', (l) => l.status >= '400' && l.status < '500');
  const p50 = list.slice(1).map((f, i) => 1000 * quantile(list[i], f, 'varve_sql_request_seconds', 0.5));
  const p99 = list.slice(1).map((f, i) => 1000 * quantile(list[i], f, 'varve_sql_request_seconds', 0.99));
  const memory = values(list, 'varve_process_anonymous_bytes');
  const fsync = list.slice(1).map((f, i) => 1000 * quantile(list[i], f, 'varve_wal_fsync_seconds', 0.99));
  return html`
    <h2>Now</h2>
    <dl class="figures">
      <${Figure} name="Rows in" value=${known(last(rowsIn), perSecond)} spark=${rowsIn}
        note=${`${short(now.sum('varve_rows_written_total'))} since the start`} />
      <${Figure} name="Bytes in" value=${known(last(bodyIn), (n) => bytes(n) + '/s')} spark=${bodyIn} />
      <${Figure} name="Requests" value=${known(last(all), perSecond)} spark=${all}
        note=${`${count(now.sum('varve_http_requests_in_flight'))} under way`} />
      <${Figure} name="Refused (4xx)" value=${known(last(refused), perSecond)} spark=${refused} />
      <${Figure} name="Failed (5xx)" value=${known(last(bad), perSecond)} spark=${bad} />
      <${Figure} name="SQL p50" value=${known(last(p50), duration)} spark=${p50} />
      <${Figure} name="SQL p99" value=${known(last(p99), duration)} spark=${p99} />
      <${Figure} name="Log sync p99" value=${known(last(fsync), duration)} spark=${fsync} />
    </dl>
    <${Waits} list=${list} />
    <${Shares} list=${list} />
    <${Rules} list=${list} />
    <${Cold} list=${list} />
    <h2>Has</h2>
    <dl class="figures">
      <${Figure} name="Memory" value=${known(last(memory), bytes)} spark=${memory}
        note=${`heap target ${known(now.sum('go_gc_gomemlimit_bytes'), bytes)}`} />
      <${Figure} name="Log (WAL)" value=${known(now.sum('varve_wal_bytes'), bytes)}
        spark=${values(list, 'varve_wal_bytes')} />
      <${Figure} name="Parts" value=${known(now.sum('varve_part_bytes'), bytes)}
        spark=${values(list, 'varve_part_bytes')} note=${`${count(now.sum('varve_parts'))} files`} />
      <${Figure} name="Disk free" value=${known(now.sum('varve_disk_free_bytes'), bytes)} />
      <${Figure} name="Goroutines" value=${known(now.sum('go_goroutines'), count)}
        spark=${values(list, 'go_goroutines')} />
      <${Figure} name="Open files" value=${known(now.sum('process_open_fds'), count)}
        note=${`of ${short(now.sum('process_max_fds'))}`} />
      <${Figure} name="Connections" value=${known(now.sum('varve_http_connections'), count)}
        spark=${values(list, 'varve_http_connections')} />
      <${Figure} name="GC" value=${known(last(rates(list, 'go_gc_duration_seconds_count')),
        (n) => `${short(Math.round(n * 600) / 10)}/min`)} />
      <${Figure} name="Flushes" value=${count(now.sum('varve_flushes_total') || 0)} note="since the start" />
      <${Figure} name="Merges" value=${count(now.sum('varve_merges_total') || 0)} note="since the start" />
    </dl>`;
}
