// The plan of EXPLAIN and EXPLAIN ANALYZE as a tree: rows, time and share of each node, the most expensive ones marked.

import { html } from '../lib/ui.js';
import { count, percent } from '../core/format.js';
import { copy } from '../ui/toast.js';

/**
 * @typedef {object} Node
 * @property {number} depth
 * @property {string} text
 * @property {Record<string, string>} figures
 * @property {number} timeMS own time
 */

/** isPlan tells whether a result is one. @param {import('../core/rowset.js').Column[]} columns */
export const isPlan = (columns) => columns.some((c) => c.name === 'plan') && columns.length <= 3 && columns.some((c) => c.name === 'plan_type' || c.name === 'stage');

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
  for (const [, n, unit] of (text ?? '').matchAll(/([\d.]+)(ns|µs|us|ms|s|m|h)/g)) ms += Number(n) * { ns: 1e-6, 'µs': 1e-3, us: 1e-3, ms: 1, s: 1000, m: 60_000, h: 3_600_000 }[/** @type {'ms'} */ (unit)];
  return ms;
}

/** @param {{plans: {title: string, text: string}[]}} props */
export function Plan({ plans }) {
  return html`<div class="plans">${plans.map((p) => html`<${OnePlan} key=${p.title} title=${p.title} text=${p.text} />`)}</div>`;
}

/** @param {{title: string, text: string}} props */
function OnePlan({ title, text }) {
  const { nodes, notes } = readPlan(text);
  const total = nodes.reduce((s, n) => s + n.timeMS, 0);
  const worst = Math.max(...nodes.map((n) => n.timeMS));
  const measured = total > 0;
  return html`<section class="plan"><h3>${title} <button class="small quiet" onClick=${() => copy(text)}>Copy the text</button></h3>
    <table class="list plan-tree"><thead><tr><th>Node</th>${measured && html`<th class="num">rows</th><th class="num">own time</th><th class="share">share</th>`}</tr></thead>
    <tbody>${nodes.map((n, i) => html`<tr key=${i} class=${measured && n.timeMS === worst ? 'worst' : ''}>
      <td><span style=${{ paddingLeft: n.depth * 18 + 'px' }}>${n.depth > 0 && html`<span class="faint">└ </span>`}<code>${n.text}</code></span>
        ${measured && html`<div class="faint figures" style=${{ paddingLeft: n.depth * 18 + 16 + 'px' }}>${Object.entries(n.figures).filter(([k]) => k !== 'rows' && k !== 'time').map(([k, v]) => `${k} ${/^\d+$/.test(v) ? count(v) : v}`).join(' · ')}</div>`}</td>
      ${measured && html`<td class="num">${count(n.figures.rows ?? '')}</td><td class="num">${n.figures.time ?? ''}</td>
        <td class="share"><span class="bar-bg" style=${{ width: `${(n.timeMS / total) * 100}%` }}></span><span class="num">${percent(n.timeMS / total)}</span></td>`}</tr>`)}</tbody></table>
    ${notes.length > 0 && html`<pre class="faint">${notes.join('\n')}</pre>`}
    <details><summary class="soft">As text</summary><pre>${text}</pre></details></section>`;
}
