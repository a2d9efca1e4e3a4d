// What alerts did over the range: strips of when they were pending and fired, and the values of a rule.

import { html, useState } from '../lib/ui.js';
import { described, isAbort } from '../core/api.js';
import { count, oneLine, plural, short } from '../core/format.js';
import { linesOf, runsOf, trial, tryable } from '../core/rules.js';
import { range, zone } from '../core/state.js';
import { showTime } from '../core/time.js';
import { Chart } from '../ui/chart.js';
import { ErrorBox } from '../ui/error.js';
import { usePoll } from '../ui/usepoll.js';
import { Labels } from './alertparts.js';
import * as ask from './metricsask.js';
import { autoStep, gridOf, stepText } from './metricsrun.js';

/** The most strips and lines that are drawn for a rule. */
const most = 20;
/** The most series of states that are read. */
const mostStates = 5000;

/** @typedef {import('../core/series.js').Grid} Grid */
/** @typedef {{firing?: (number|null)[], pending?: (number|null)[]}} States values for each step of the grid */
/** @typedef {{grid: Grid, states: Map<string, States>}} History */

/** gridNow is the range as of now, at whole steps: a third of those of a graph. */
function gridNow() {
  const { start, end } = gridOf(0);
  return gridOf(autoStep((end - start) * 3));
}

/** at writes a moment. @param {number} s */
const at = (s) => showTime(BigInt(Math.round(s)) * 1_000_000_000n, 0, zone.value);

/**
 * states asks when alerts were in which state: at each step whatever they were since the step before.
 * @param {string} selector
 * @param {string} by keeps the labels that name an alert
 * @param {(metric: Record<string, string>) => string} nameOf
 * @param {{db?: string, signal: AbortSignal}} options db: of the rules
 * @returns {Promise<History & {labels: Map<string, Record<string, string>>}>}
 */
async function states(selector, by, nameOf, options) {
  const grid = gridNow(), within = `last_over_time(${selector}[${grid.step}s])`;
  const query = `${by} (${within} or ${selector})`.trim();
  const { lines } = await ask.read('readRange', 'query_range', { query, ...grid }, [grid, mostStates],
    { ...options, background: true });
  const found = new Map(), labels = new Map();
  for (const { metric, values } of lines) {
    const { alertstate, ...rest } = metric, name = nameOf(rest);
    labels.set(name, rest);
    found.set(name, { ...found.get(name), [alertstate]: values });
  }
  return { grid, states: found, labels };
}

/**
 * historyOfAll asks when the alerts of each name were pending and fired.
 * @param {string|undefined} db of the rules
 * @param {AbortSignal} signal
 */
export const historyOfAll = (db, signal) =>
  states('ALERTS', 'count by (alertname, alertstate)', (m) => m.alertname ?? '', { db, signal });

/**
 * Strip draws when an alert was pending and fired.
 * @param {{grid: Grid, runs: import('../core/rules.js').Run[], before?: number}} props before: so many steps before its
 *   own a run may have begun
 */
export function Strip({ grid, runs, before = 1 }) {
  const n = Math.round((grid.end - grid.start) / grid.step) + 1;
  const place = (/** @type {number} */ i) => at(grid.start + i * grid.step);
  const stretch = (/** @type {import('../core/rules.js').Run} */ r) =>
    `${r.state === 'firing' ? 'fired' : 'pending'} ${place(r.from - before)} to ${place(r.to - 1)}`;
  const text = runs.length === 0 ? 'Did not fire in the range'
    : `${runs.slice(-5).map(stretch).join(', ')}${runs.length > 5 ? `, and ${plural(runs.length - 5, 'time')} before`
      : ''}`;
  return html`<svg class="strip" viewBox=${`0 0 ${n} 10`} preserveAspectRatio="none" role="img" aria-label=${text}>
    <title>${text}</title><path class="rest" d=${`M0 5H${n}`} />
    ${runs.map((r) => html`<rect key=${r.from} class=${r.state} x=${r.from} y="1" width=${r.to - r.from}
      height="8" />`)}
  </svg>`;
}

/**
 * selectorOf is the selector of the series that a rule writes. Labels with templates are left out.
 * @param {import('../core/rules.js').Rule} rule
 */
function selectorOf(rule) {
  const fixed = Object.entries(rule.labels ?? {}).filter(([, v]) => v !== '' && !v.includes('{{'))
    .map(([name, value]) => ({ name, type: '=', value }));
  return rule.type === 'recording' ? ask.selector(rule.name, fixed)
    : ask.selector('ALERTS', [{ name: 'alertname', type: '=', value: rule.name }, ...fixed]);
}

/** @typedef {{rule: import('../core/rules.js').Rule, group: import('../core/rules.js').Group}} Of */

/** History is that of a rule; another range asks anew. @param {Of} props */
export const History = ({ rule, group }) =>
  html`<${Latest} key=${JSON.stringify(range.value)} rule=${rule} group=${group} />`;

/**
 * tried asks what the statement of a rule gave over the range. Each step is a statement, so the grid is a coarse one,
 * whose steps are as the server takes them.
 * @param {import('../core/rules.js').Rule} rule
 * @param {import('../core/rules.js').Group} group
 * @param {AbortSignal} signal
 */
async function tried(rule, group, signal) {
  const t = await trial(tryable(rule, group), signal, gridNow());
  const said = Object.fromEntries(Object.entries({ ...rule.labels, alertname: rule.name })
    .filter(([, v]) => !v.includes('{{')));
  return { grid: { start: t.from, end: t.to, step: t.step }, lines: linesOf(t, most), said,
    count: t.series.length + t.left_out };
}

/** @param {Of} props */
function Latest({ rule, group }) {
  const [found, setFound] = useState(/** @type {Awaited<ReturnType<typeof states>>|null} */ (null));
  const [values, setValues] = useState(/** @type {Parameters<typeof Values>[0]['values']|null} */ (null));
  const [error, setError] = useState(/** @type {import('../core/api.js').ApiError|null} */ (null));
  const alerting = rule.type === 'alerting', query = alerting ? rule.query : selectorOf(rule);
  const sql = alerting && rule.language === 'sql';
  usePoll(async (signal) => {
    const grid = gridNow();
    try {
      const [when, what] = await Promise.all([
        alerting ? states(selectorOf(rule), '', (m) => JSON.stringify(m), { db: group.database, signal }) : null,
        sql ? tried(rule, group, signal) : ask.read('readRange', 'query_range', { query, ...grid }, [grid, most],
          { signal, background: true, db: group.database })]);
      setFound(when);
      setValues({ grid, ...what });
      setError(null);
    } catch (e) {
      if (!isAbort(e)) setError(described(e));
    }
  }, sql ? 60_000 : 10_000); // a statement of SQL runs once for each step
  const names = found ? [...found.states.keys()] : [];
  return html`${error && html`<${ErrorBox} error=${error} />`}
    ${alerting && found && html`<h3>History <span class="soft">of the range, a step is ${stepText(found.grid.step)}
      ${names.length > most && `; ${most} of ${count(names.length)} alerts`}</span></h3>
      ${names.length === 0 ? html`<p class="soft">No alert of this rule was pending or fired.</p>`
        : html`<ul class="alert-history">${names.slice(0, most).map((name) => html`<li key=${name}>
          <${Labels} of=${found.labels.get(name)} but=${rule} />
          <${Strip} grid=${found.grid} runs=${runsOf(found.states.get(name) ?? {})} /></li>`)}</ul>`}`}
    ${values && html`<${Values} values=${values} title=${alerting ? 'Values that meet the condition' : 'Values'} />`}`;
}

/**
 * Values draws what the expression of a rule gave.
 * @param {{values: {grid: Grid, lines: {metric: Record<string, string>, values: (number|null)[]}[], said:
 *   Record<string, string>, count: number}, title: string, when?: string}} props
 */
export function Values({ values: { grid, lines, said, count: all }, title, when = 'of the range' }) {
  const name = (/** @type {Record<string, string>} */ metric) => oneLine(Object.entries(metric)
    .filter(([k]) => said[k] === undefined && k !== '__name__').map(([k, v]) => `${k}=${v}`).join(' ') || 'value', 120);
  const x = Array.from({ length: Math.round((grid.end - grid.start) / grid.step) + 1 },
    (_, i) => grid.start + i * grid.step);
  return html`<h3>${title} <span class="soft">${when}
      ${all > lines.length && `; the highest ${lines.length} of ${plural(all, 'series', 'series')}`}</span></h3>
    ${lines.length === 0 ? html`<p class="soft">There are none.</p>`
      : html`<div class="alert-values"><${Chart} x=${x} kind="line" unit=${short} label=${title}
        series=${lines.map((l) => ({ name: name(l.metric), values: l.values }))} /></div>`}`;
}
