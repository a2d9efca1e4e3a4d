// The drawer that explores: metrics by name, what one is made of, and how it divides by a label.

import { html, useEffect, useRef, useState } from '../lib/ui.js';
import { described } from '../core/api.js';
import { count, oneLine, plural, short } from '../core/format.js';
import { db, range } from '../core/state.js';
import { ErrorBox } from '../ui/error.js';
import { Icon } from '../ui/icons.js';
import { Spark } from '../ui/spark.js';
import { faded, useAnswer } from '../ui/useanswer.js';
import * as ask from './metricsask.js';
import { gridOf, stepText } from './metricsrun.js';

const mostNames = 500;
const mostSeries = 10_000;
const mostValues = 50;
const mostCharts = 12;

/** @typedef {import('./metricsask.js').Matcher} Matcher */

/**
 * suggested is the expression that shows a metric of its kind.
 * @param {string} metric
 * @param {string} type
 * @param {Matcher[]} matchers
 * @param {number} step
 * @param {string} [by]
 */
export function suggested(metric, type, matchers, step, by) {
  const of = ask.selector(metric, matchers), window = stepText(Math.max(300, 4 * step));
  const group = by ? ask.label(by) : '';
  if (/_bucket$/.test(metric))
    return `histogram_quantile(0.95, sum by (le${group && ', ' + group}) (rate(${of}[${window}])))`;
  if (type === 'histogram' && !/_(count|sum)$/.test(metric))
    return `histogram_quantile(0.95, sum${by ? ` by (${group}) ` : ''}(rate(${of}[${window}])))`;
  const value = type === 'counter' || /_(total|count|sum)$/.test(metric) ? `rate(${of}[${window}])` : of;
  return by ? `sum by (${group}) (${value})` : value;
}

/**
 * Explore lists the metrics, of one service or of all.
 * @param {{service: string, onService: (service: string) => void, onQuery: (query: string) => void, onClose: () =>
 *   void}} props
 */
export function Explore({ service, onService, onQuery, onClose }) {
  const [open, setOpen] = useState(/** @type {string|null} */ (null));
  return html`<aside class="metrics-explore" aria-label="Explore">
    ${open === null ? html`<${Names} service=${service} onService=${onService} onOpen=${setOpen} onClose=${onClose} />`
      : html`<${Metric} key=${open} metric=${open} service=${service} onQuery=${onQuery} onBack=${() => setOpen(null)}
        onClose=${onClose} />`}
  </aside>`;
}

/**
 * @param {{service: string, onService: (service: string) => void, onOpen: (name: string) => void, onClose: () => void}}
 *   props
 */
function Names({ service, onService, onOpen, onClose }) {
  const [text, setText] = useState('');
  const [names, setNames] = useState(/** @type {string[]|null} */ (null));
  const [known, setKnown] = useState(/** @type {Record<string, {type: string, help: string}[]>} */ ({}));
  const [tables, setTables] =
    useState({ list: /** @type {import('./metricsask.js').TableMetric[]} */ ([]), cut: false });
  const [error, setError] = useState(/** @type {any} */ (null));
  useEffect(() => {
    let wanted = true;
    ask.tableMetrics().then((t) => { if (wanted) setTables(t); }, (e) => { if (wanted) setError(described(e)); });
    return () => { wanted = false; };
  }, [db.value]);
  useEffect(() => {
    let wanted = true;
    const timer = setTimeout(() => {
      Promise.all([ask.names(text.trim(), mostNames + 1, service), ask.metadata()]).then(([list, said]) => {
        if (!wanted) return;
        setNames(list);
        setKnown(said);
        setError(null);
      }, (e) => { if (wanted) setError(described(e)); });
    }, names === null ? 0 : 200);
    return () => { wanted = false; clearTimeout(timer); };
  }, [text, service, db.value]);
  let before = '';
  const others = service ? [] : tables.list.filter((t) => t.name.toLowerCase().includes(text.trim().toLowerCase()));
  return html`<div class="head">
    <input type="search" aria-label="Search metrics" placeholder="Search metrics" value=${text}
      onInput=${(e) => setText(e.target.value)} />
        <button class="quiet icon" title="Close" aria-label="Close" onClick=${onClose}><${Icon} name="close" /></button>
        </div>
    ${service && html`<p class="pad of">Metrics of <b title=${service}>${oneLine(service, 60)}
      </b> <button class="small" onClick=${() => onService('')}>All metrics</button></p>`}
    <div class="scroll">${error && html`<${ErrorBox} error=${error} />`}
      ${names?.length === 0 && others.length === 0 &&
        html`<p class="soft pad">
          ${service && !text ? 'No metric has this service in one of its labels job, service_name, service or app.'
            : text ? 'No metric has this in its name.'
            : 'There are no metrics in this database, and no tables with a time and numbers.'}</p>`}
      ${names?.slice(0, mostNames).map((n) => {
        const group = /^[^_:.]+/.exec(n)?.[0] ?? n;
        const head = group !== before && html`<h2>${group}</h2>`;
        before = group;
        return html`<div key=${n}>${head}
          <button class="quiet node" title=${known[n]?.[0]?.help || n} onClick=${() => onOpen(n)}>
            <span class="text">${oneLine(n, 200)}</span>
              ${known[n]?.[0]?.type && known[n][0].type !== 'unknown' &&
                html`<span class="badge end">${known[n][0].type}</span>`}</button></div>`;
      })}
      ${(names?.length ?? 0) > mostNames &&
        html`<p class="soft pad">The first ${mostNames} are shown: search for more.</p>`}
      ${others.length > 0 && html`<h2>Tables with numbers</h2>`}
      ${others.slice(0, mostNames)
        .map((t) => html`<button key=${t.name} class="quiet node table"
          title=${`${plural(t.fields.length, 'number')}: ${t.fields.slice(0, 20).join(', ')}`}
            onClick=${() => onOpen(t.name)}><span class="text">${oneLine(t.name, 200)}</span>
              <span class="badge end">${t.fields.length === 1 ? 'table' : plural(t.fields.length, 'field')}</span>
              </button>`)}
      ${others.length > mostNames &&
        html`<p class="soft pad">The first ${mostNames} tables are shown: search for more.</p>`}
      ${tables.cut && html`<p class="soft pad">
        There are more tables than were looked at: write the name of another as an expression.</p>`}</div>`;
}

/**
 * @param {{metric: string, service: string, onQuery: (query: string) => void, onBack: () => void, onClose: () => void}}
 *   props
 */
function Metric({ metric, service, onQuery, onBack, onClose }) {
  const [said, setSaid] = useState({ type: '', help: '' });
  const [fields, setFields] = useState(/** @type {string[]} */ ([]));
  const [error, setError] = useState(/** @type {any} */ (null));
  const [matchers, setMatchers] = useState(/** @type {Matcher[]} */ ([]));
  const [opened, setOpened] = useState('');
  const [by, setBy] = useState('');
  const { start, end, step } = gridOf(0);
  const fail = (/** @type {unknown} */ e) => setError(described(e));
  const { found: series, error: unread, stale } = useAnswer((signal) => ask.read('readLabels', 'series',
    { 'match[]': [ask.selector(metric)], start, end, limit: mostSeries + 1 }, [mostSeries],
    { background: true, signal }), [range.value.from, range.value.to]);
  const asked = useRef(false);
  useEffect(() => { // once; for a service, when it is known which label names it
    if (asked.current || (service && !series && !unread)) return;
    asked.current = true;
    ask.values('__field__', metric).then(setFields, fail);
    ask.metadata().then((all) => {
      const s = all[metric]?.[0] ?? { type: '', help: '' }, its = service && series ? sent(series, service) : [];
      setSaid(s);
      setMatchers(its);
      onQuery(suggested(metric, s.type, its, step));
    }, fail);
  }, [series, unread]);
  const choose = (/** @type {string} */ name, /** @type {string} */ value) => {
    const had = matchers.some((m) => m.name === name && m.value === value);
    const next = [...matchers.filter((m) => m.name !== name), ...had || !value ? [] : [{ name, value, type: '=' }]];
    setMatchers(next);
    onQuery(suggested(metric, said.type, next, step));
  };
  const labels = series?.labels ?? [];
  return html`<div class="head">
    <button class="quiet icon" title="All metrics" aria-label="All metrics" onClick=${onBack}><${Icon} name="left" />
      </button><b class="grow name" title=${metric}>${metric}</b>
        <button class="quiet icon" title="Close" aria-label="Close" onClick=${onClose}><${Icon} name="close" /></button>
        </div>
    <div class="scroll">${(error ?? unread) && html`<${ErrorBox} error=${error ?? unread} />`}
      ${(said.type || said.help) &&
        html`<p class="pad soft">${said.type && html`<span class="badge">${said.type}</span> `}${said.help}</p>`}
      ${fields.length > 1 && html`<label
        class="pad">value <select onChange=${(e) => choose('__field__', e.target.value)}>
          <option value="">the first field</option>${fields.map((f) => html`<option key=${f} value=${f}>${f}</option>`)}
            </select></label>`}
      <div ...${faded('counts', stale)}>
        ${series && html`<p class="pad soft series">
          ${series.total > mostSeries
            ? `More than ${count(mostSeries)} series in the range; counts are of the first ${count(mostSeries)}`
            : `${plural(series.total, 'series', 'series')} in the range`}</p>`}
      ${labels.map(([name, values]) => html`<div class="label" key=${name} data-label=${name}>
        <div class="row"><button class="quiet node" aria-expanded=${opened === name ? 'true' : 'false'}
          onClick=${() => setOpened(opened === name ? '' : name)}>
            <${Icon} name=${opened === name ? 'chevron' : 'right'} /><span class="text">${name}</span>
              <span class="end soft num">${plural(values.length, 'value')}</span></button>
          <button class="quiet small" aria-pressed=${by === name ? 'true' : 'false'} title="Divide by this label"
            onClick=${() => setBy(by === name ? '' : name)}>by</button></div>
        ${opened === name && values.slice(0, mostValues)
          .map(([v, n]) => html`<button key=${v} class="quiet node value"
            aria-pressed=${matchers.some((m) => m.name === name && m.value === v) ? 'true' : 'false'}
              onClick=${() => choose(name, v)}><span class="text">${oneLine(v, 200)}</span>
                <span class="end soft num">${count(n)}</span></button>`)}
        ${opened === name && values.length > mostValues &&
          html`<p class="soft pad">${count(values.length)} values, the ${mostValues} of most series shown</p>`}
        ${by === name && html`<${Breakdown} key=${JSON.stringify([start, end, matchers])}
          query=${suggested(metric, said.type, matchers, step, name)} label=${name} onQuery=${onQuery} />`}
          </div>`)}</div></div>`;
}

/**
 * sent returns the matcher that finds the series of a service: with the first label whose value is the service.
 * @param {import('../core/series.js').Labels} series
 * @param {string} service
 * @returns {Matcher[]}
 */
function sent(series, service) {
  for (const m of ask.ofService(service)) {
    const value = series.labels.find(([name]) => name === m.name)?.[1].find(([v]) =>
      (m.type === '=' ? v === m.value : v === service || v.endsWith('/' + service)))?.[0];
    if (value !== undefined) return [{ name: m.name, type: '=', value }];
  }
  return [];
}

/**
 * Breakdown draws the twelve highest values of a label.
 * @param {{query: string, label: string, onQuery: (query: string) => void}} props
 */
function Breakdown({ query, label, onQuery }) {
  const [list, setList] = useState(/** @type {{name: string, values: number[], last: number}[]|null} */ (null));
  const [total, setTotal] = useState(0);
  const [error, setError] = useState(/** @type {any} */ (null));
  useEffect(() => {
    const control = new AbortController();
    const grid = gridOf(0);
    const coarse = { ...grid, step: grid.step * 5 }; // these graphs are small: a fifth of the points is enough
    ask.read('readRange', 'query_range', { query, ...coarse }, [coarse, mostCharts],
      { background: true, signal: control.signal }).then((a) => {
      setTotal(a.count);
      setList(a.lines.map((s) =>
        ({ name: s.metric[label] ?? '(none)', values: s.values.map((v) => v ?? NaN), last: s.last ?? NaN })));
    }, (e) => { if (!control.signal.aborted) setError(described(e)); });
    return () => control.abort(new DOMException('left', 'AbortError'));
  }, [query]);
  return html`<div class="breakdown">${error && html`<${ErrorBox} error=${error} />`}
    ${list?.map((s) => html`<div key=${s.name} class="spark-row">
      <span class="text" title=${oneLine(s.name, 400)}>${oneLine(s.name, 100)}</span>
        <${Spark} values=${s.values} label=${s.name} /><span class="num">${Number.isFinite(s.last) ? short(s.last) : ''}
          </span></div>`)}
    ${list && html`<p class="soft pad">
      ${total > mostCharts ? `${count(total)} values, the ${mostCharts} highest drawn. ` : ''}
        <button class="link" onClick=${() => onQuery(query)}>As a graph</button></p>`}</div>`;
}
