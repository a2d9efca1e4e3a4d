// The plan of EXPLAIN and EXPLAIN ANALYZE as a tree: rows, time and share of each node, the most expensive ones marked.

import { html } from '../lib/ui.js';
import { count, duration, percent, plural } from '../core/format.js';
import { copy } from '../ui/toast.js';

/**
 * @typedef {object} Node
 * @property {number} depth
 * @property {string} text
 * @property {Record<string, string>} figures
 * @property {number} timeMS own time
 */

/** isPlan reports whether a result is one. @param {import('../core/rowset.js').Column[]} columns */
export const isPlan = (columns) => columns.some((c) => c.name === 'plan') && columns.length <= 3 &&
  columns.some((c) => c.name === 'plan_type' || c.name === 'stage');

/** readPlan reads the text of a plan. @param {string} text @returns {{nodes: Node[], notes: string[]}} */
export function readPlan(text) {
  const nodes = [], notes = [];
  let inNotes = false;
  for (const line of text.split('\n')) {
    if (/^(rows: |scan: |time is |Total rows)/.test(line)) inNotes = true;
    if (inNotes || line.trim() === '') {
      if (line.trim()) notes.push(line);
      continue;
    }
    const m = /^( *)(.*?)(?:  \[((?:[a-z_]+=[^,\]]+(?:, )?)+)\])?$/.exec(line);
    if (!m) continue;
    /** @type {Record<string, string>} */
    const figures = {};
    for (const part of (m[3] ?? '').split(', ')) {
      const [k, v] = part.split('=');
      if (v !== undefined) figures[k] = v;
    }
    nodes.push({ depth: m[1].length / 2, text: m[2], figures, timeMS: milliseconds(figures.time) });
  }
  return { nodes, notes };
}

/** milliseconds reads a duration such as 1.353ms or 1m2s. @param {string|undefined} text */
export function milliseconds(text) {
  let ms = 0;
  for (const [, n, unit] of (text ?? '').matchAll(/([\d.]+)(ns|µs|us|ms|s|m|h)/g))
    ms += Number(n) * { ns: 1e-6, 'µs': 1e-3, us: 1e-3, ms: 1, s: 1000, m: 60_000,
      h: 3_600_000 }[/** @type {'ms'} */ (unit)];
  return ms;
}

/**
 * @typedef {{title: string, text: string, nodes: Node[], notes: string[], running?: boolean}} OnePlan text: '' while it
 *   runs
 */

/** planSoFar is a plan that runs. @param {import('./sqlanalyze.js').Measured} m @returns {OnePlan} */
export function planSoFar(m) {
  /** @type {Node[]} */
  const nodes = [];
  const add = (/** @type {import('./sqlanalyze.js').Tree} */ tree, /** @type {number} */ depth) => {
    const figures = Object.entries(tree.figures ?? {})
      .map(([k, v]) => (k.endsWith('_ns') ? [k.slice(0, -3), `${v}ns`] : [k, String(v)]));
    nodes.push({ depth, text: tree.node, figures: Object.fromEntries(figures),
      timeMS: (tree.figures?.time_ns ?? 0) / 1e6 });
    for (const input of tree.inputs ?? []) add(input, depth + 1);
  };
  add(m.plan, 0);
  return { title: 'Measured plan', text: '', nodes,
    notes: [`running for ${duration(m.running_ns / 1e6)}, ${plural(m.rows, 'row')} until now`], running: true };
}

/** @param {{plans: OnePlan[]}} props */
export function Plan({ plans }) {
  return html`<div class="plans">${plans.map((p) => html`<${Drawn} key=${p.title} ...${p} />`)}</div>`;
}

/** @param {OnePlan} props */
function Drawn({ title, text, nodes, notes, running }) {
  const total = nodes.reduce((s, n) => s + n.timeMS, 0);
  const worst = Math.max(...nodes.map((n) => n.timeMS));
  const measured = running || total > 0;
  const share = (/** @type {Node} */ n) => (total > 0 ? n.timeMS / total : 0);
  return html`<section class="plan">
    <h2>${title} ${running ? html`<span class="soft">· runs</span>`
      : html`<button class="small quiet" onClick=${() => copy(text)}>Copy the text</button>`}</h2>
    <table aria-label=${title} class="list plan-tree">
      <thead><tr><th scope="col">Node</th>
        ${measured && html`<th scope="col" class="num">rows</th><th scope="col" class="num">own time</th>
        <th scope="col" class="share">share</th>`}</tr></thead>
    <tbody>${nodes.map((n, i) => html`<tr key=${i} class=${total > 0 && n.timeMS === worst ? 'worst' : ''}>
      <td><span style=${{ paddingLeft: n.depth * 18 + 'px' }}>${n.depth > 0 && html`<span class="faint">└ </span>`}
        <code>${n.text}</code></span>
        ${measured && html`<div class="faint figures" style=${{ paddingLeft: n.depth * 18 + 16 + 'px' }}>
          ${running && !n.figures.time ? 'not begun'
            : Object.entries(n.figures).filter(([k]) => k !== 'rows' && k !== 'time')
            .map(([k, v]) => `${k} ${k === 'elapsed' ? duration(milliseconds(v)) : count(v)}`).join(' · ')}</div>`}</td>
      ${measured && html`<td class="num">${count(n.figures.rows ?? '')}</td>
        <td class="num">${n.figures.time ? duration(n.timeMS) : ''}</td>
        <td class="share"><span class="bar-bg" style=${{ width: `${share(n) * 100}%` }}></span>
          <span class="num">${running && !n.figures.time ? '' : percent(share(n))}</span></td>`}</tr>`)}</tbody></table>
    ${notes.length > 0 && html`<pre class="faint">${notes.join('\n')}</pre>`}
    ${text && html`<details><summary class="soft">As text</summary><pre>${text}</pre></details>`}</section>`;
}
