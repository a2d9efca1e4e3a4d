// What statements gave: table, chart, plan, JSON, and the log of all that ran.

import { html, useEffect, useRef, useState } from '../lib/ui.js';
import { count, duration, plural } from '../core/format.js';
import { zone } from '../core/state.js';
import { showTime } from '../core/time.js';
import { ErrorBox } from '../ui/error.js';
import { lazy } from '../ui/lazy.js';
import { Tabs } from '../ui/tabs.js';
import { ResultGrid } from './sqlgrid.js';
import { Plan, isPlan, planSoFar, readPlan } from './sqlplan.js';

const ResultChart = lazy(() => import('./sqlchart.js'), 'ResultChart');

const views = [{ id: 'table', text: 'Table' }, { id: 'chart', text: 'Chart' }, { id: 'plan', text: 'Plan' },
  { id: 'json', text: 'JSON' }, { id: 'log', text: 'Log' }];

/** @param {{run: import('./sqlrun.js').SQLRun, state: import('../core/state.js').PageState, limit: number}} props */
export function Results({ run, state, limit }) {
  const results = run.results.value;
  const r = run.running.value ?? results[run.shown.value];
  const view = state.get('view');
  const plan = Boolean(r?.measured || (r?.rows && isPlan(r.rows.columns)));
  return html`<div class="sql-results">
    <div class="sql-views">
      <${Tabs} label="View of the result" tabs=${views} tab=${view}
        onTab=${(/** @type {string} */ id) => state.set({ view: id })} />
      <span class="grow"></span>
      ${results.length > 1 && html`<span class="result-list small">
        ${results.map((x, i) => html`<button key=${i} class="small ${x.error ? 'danger' : ''}"
          aria-pressed=${i === run.shown.value ? 'true' : 'false'} title=${x.sql.slice(0, 300)}
            onClick=${() => { run.shown.value = i; }}>${i + 1}</button>`)}</span>`}
      ${r && !r.measured && html`<span class="soft num">${duration(r.elapsedMS)}</span>`}
    </div>
    ${view === 'log' ? html`<${Log} run=${run} />` : r?.error ? html`<${ErrorBox} error=${r.error} />`
    : r && (view === 'plan' || plan && view === 'table') && (r.rows || r.measured)
      ? html`<${PlanView} key=${r.look.id} rows=${r.rows} measured=${r.measured} plan=${plan} />`
    : r?.rows ? ( view === 'chart'
      ? html`<div class="sql-chart" key=${r.look.id}><${ResultChart} rows=${r.rows} state=${state} /></div>`
      : view === 'json' ? html`<${JSONView} key=${r.look.id} rows=${r.rows} />`
      : html`<${ResultGrid} key=${r.look.id} rows=${r.rows} look=${r.look} cut=${r.cut} limit=${limit}
        again=${r.again} />`)
    : r?.measured ? html`<p class="state soft">Running…</p>`
      : r && html`<p class="state">${plural(r.affected ?? 0, 'row')} changed.</p>`}
  </div>`;
}

/**
 * @param {{rows: import('../core/rows.js').Rows|null, measured: import('./sqlanalyze.js').Measured|undefined, plan:
 *   boolean}} props measured: while the statement runs, in place of rows
 */
function PlanView({ rows, measured, plan }) {
  const [plans, setPlans] = useState(/** @type {import('./sqlplan.js').OnePlan[]} */ ([]));
  useEffect(() => {
    if (!plan || !rows) return;
    const at = rows.columns.findIndex((c) => c.name === 'plan');
    rows.slice(0, 20).then((list) => setPlans(list.filter((r) => !/^Total rows/.test(r[at]))
      .map((r) => ({ title: rows.columns[0].name === 'plan_type' ? String(r[0]).replace('_', ' ') : 'Measured plan',
        text: String(r[at]), ...readPlan(String(r[at])) }))), () => {});
  }, [rows]);
  const before = useRef(/** @type {import('./sqlplan.js').OnePlan[]} */ ([])); // until the last plan is read
  if (measured) before.current = [planSoFar(measured)];
  if (!plan) return html`<p
    class="state soft">
      The plan of a statement is shown by Explain above: it runs the statement and measures each step.</p>`;
  return html`<${Plan} plans=${measured || plans.length === 0 ? before.current : plans} />`;
}

/** @param {{rows: import('../core/rows.js').Rows}} props */
function JSONView({ rows }) {
  const [text, setText] = useState('');
  const most = 1000;
  useEffect(() => { rows.text({ format: 'json', from: 0, to: most }).then(setText, () => {}); }, [rows]);
  return html`<div class="content json"><pre>${text}</pre>
    ${rows.count > most && html`<p class="soft">${count(rows.count)} rows, the first ${count(most)} are shown here</p>`}
    </div>`;
}

/** Log lists each statement with its time and rows. @param {{run: import('./sqlrun.js').SQLRun}} props */
const Log = ({ run }) => html`<div class="content">
  <table aria-label="Statements" class="list">
    <thead><tr><th scope="col">began</th><th scope="col" class="num">took</th><th scope="col" class="num">rows</th>
      <th scope="col">statement</th></tr></thead><tbody>
  ${run.results.value.map((r, i) => html`<tr key=${i}>
    <td class="num nowrap">${showTime(BigInt(r.at) * 1_000_000n, 3, zone.value)}</td>
      <td class="num">${duration(r.elapsedMS)}</td>
        <td class="num">${r.error ? 'error' : r.rows ? count(r.rows.count) + (r.cut ? '+' : '')
          : count(r.affected ?? 0)}</td>
            <td><pre>${r.sql}</pre>${r.error && html`<div class="level-error">${r.error.message}</div>`}</td>
            </tr>`)}</tbody></table></div>`;
