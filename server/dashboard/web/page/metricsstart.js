// What the Metrics page begins with: small charts of the metrics there are, by the beginnings of their names.

import { html, useEffect, useState } from '../lib/ui.js';
import { ErrorBox } from '../ui/error.js';
import { count, oneLine, plural, short } from '../core/format.js';
import { db, range } from '../core/state.js';
import { Spark } from '../ui/spark.js';
import { faded, useAnswer } from '../ui/useanswer.js';
import * as ask from './metricsask.js';
import { NoMetrics } from './metricsempty.js';
import { suggested } from './metricsexplore.js';
import { gridOf } from './metricsrun.js';

/** The most names that are listed. */
const most = 1000;
/** So many charts are drawn at first, and more at each press. */
const page = 24;

/** beginning is the part of a name that says who sends it. @param {string} name */
const beginning = (name) => /^[^_:.]+/.exec(name)?.[0] ?? name;

/** single drops the parts of a histogram but for its buckets. @param {string[]} names */
function single(names) {
  const all = new Set(names);
  return names.filter((n) => !(/_(sum|count)$/.test(n) && all.has(n.replace(/_(sum|count)$/, '_bucket'))));
}

/**
 * overview is the expression of a small chart, one line for all series, and what that line is.
 * @param {string} metric
 * @param {string} type
 * @param {number} step s
 * @returns {[string, string]}
 */
function overview(metric, type, step) {
  const whole = suggested(metric, type, [], step);
  if (whole.startsWith('histogram_quantile(')) return [whole, '95 % below'];
  return whole.startsWith('rate(') ? [`sum(${whole})`, 'a second'] : [`avg(${whole})`, 'mean'];
}

/** @param {{onQuery: (query: string) => void}} props */
export function Start({ onQuery }) {
  const [text, setText] = useState('');
  const [of, setOf] = useState('');
  const [shown, setShown] = useState(page);
  const [typed, setTyped] = useState('');
  useEffect(() => {
    const timer = setTimeout(() => setTyped(text.trim()), 250);
    return () => clearTimeout(timer);
  }, [text]);
  const { found, error, stale } = useAnswer(async () => {
    const [names, known] = await Promise.all([ask.names(typed, most + 1), ask.metadata()]);
    return { names, known, any: names.length > 0 || typed !== '' || await ask.anyMetric() };
  }, [typed, db.value]);
  if (error) return html`<${ErrorBox} error=${error} language="PromQL" />`;
  if (!found) return null;
  if (!found.any) return html`<${NoMetrics} />`;
  const names = single(found.names), groups = new Map();
  for (const n of names) groups.set(beginning(n), (groups.get(beginning(n)) ?? 0) + 1);
  const chosen = names.filter((n) => of === '' || !groups.has(of) || beginning(n) === of);
  return html`<div ...${faded('metrics-start', stale)}>
    <p class="soft">Write an expression and press <kbd>Enter</kbd>; <kbd>Ctrl</kbd> <kbd>Space</kbd> offers metrics,
      labels, values and functions, <kbd>Shift</kbd> <kbd>Enter</kbd> breaks the line. Or begin with a metric:</p>
    <div class="beginnings" role="group" aria-label="Beginnings of names">
      <input type="search" aria-label="Search the metrics" placeholder="Part of a name" value=${text}
        onInput=${(e) => { setText(e.target.value); setShown(page); }} />
      ${groups.size > 1 && [['', names.length], ...groups].map(([g, n]) => html`<button key=${g} class="small"
        aria-pressed=${of === g ? 'true' : 'false'} onClick=${() => { setOf(g); setShown(page); }}>
        ${g === '' ? 'All' : oneLine(g, 40)} <span class="num">${count(n)}</span></button>`)}</div>
    ${chosen.length === 0 && html`<p class="soft">${typed === '' ? 'Tables with a time and numbers are under Explore.'
      : 'No metric has this in its name.'}</p>`}
    <div class="small-charts">${chosen.slice(0, shown).map((n) => html`<${Small} key=${n} metric=${n}
      type=${found.known[n]?.[0]?.type ?? ''} help=${found.known[n]?.[0]?.help ?? ''} onQuery=${onQuery} />`)}</div>
    ${chosen.length > shown && html`<p class="soft">${shown} of ${plural(chosen.length, 'metric')}
      ${found.names.length > most && ' and more'} <button class="small" onClick=${() => setShown(shown + page)}>
        ${Math.min(page, chosen.length - shown)} more</button></p>`}</div>`;
}

/** @param {{metric: string, type: string, help: string, onQuery: (query: string) => void}} props */
function Small({ metric, type, help, onQuery }) {
  const grid = gridOf(0), coarse = { ...grid, step: grid.step * 5 };
  const [query, what] = overview(metric, type, coarse.step);
  // where a chart cannot be drawn the expression says why once it is chosen
  const { found, stale } = useAnswer((signal) => ask.read('readRange', 'query_range', { query, ...coarse },
    [coarse, 1], { background: true, signal }), [query, db.value, range.value.from, range.value.to]);
  const line = found?.lines[0];
  return html`<button class="small-chart" title=${help || metric}
    onClick=${() => onQuery(suggested(metric, type, [], grid.step))}>
    <span class="text">${oneLine(metric, 200)}</span>
    <span ...${faded('drawn', stale && found !== null)}>
      <${Spark} values=${(line?.values ?? []).map((v) => v ?? NaN)} label=${`${metric}, ${what}`} /></span>
    <span class="soft">${line && line.last !== null ? html`<b class="num">${short(line.last)}</b> ${what}`
      : found ? 'nothing in this range' : ''}</span></button>`;
}
