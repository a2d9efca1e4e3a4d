// What an expression is made of: each part with the number of its series and one of them, evaluated at the end of the
// range.

import { html, useEffect, useState } from '../lib/ui.js';
import { count, oneLine, plural } from '../core/format.js';
import * as ask from './metricsask.js';
import { labelText } from './metricsgraph.js';
import { listOf } from '../core/series.js';
import { children, text } from './metricsslips.js';

const most = 40;

/** @typedef {{node: any, depth: number, query: string}} Part */

/** partsOf lists the parts in the order of reading. @param {any} tree @returns {Part[]} */
function partsOf(tree) {
  /** @type {Part[]} */
  const list = [];
  const add = (/** @type {any} */ node, /** @type {number} */ depth) => {
    list.push({ node, depth, query: text(node) });
    for (const c of children(node)) add(c, depth + 1);
  };
  add(tree, 0);
  return list;
}

const kinds = /** @type {Record<string, string>} */ ({ aggregation: 'aggregation', binaryExpr: 'operation',
  call: 'function', matrixSelector: 'samples of a range', vectorSelector: 'selector', subquery: 'subquery',
  parenExpr: 'parentheses', unaryExpr: 'sign', numberLiteral: 'number', stringLiteral: 'text' });

/** @param {{tree: any, at: number}} props at s */
export function Explain({ tree, at }) {
  const parts = partsOf(tree);
  return html`<div class="metrics-explain">
    <table aria-label="Parts of the expression" class="list">
      <thead><tr><th scope="col">Part</th><th scope="col">is</th><th scope="col" class="num">series</th>
        <th scope="col">one of them</th></tr></thead><tbody>
    ${parts.slice(0, most).map((p, i) => html`<${PartRow} key=${`${i} ${p.query} ${at}`} part=${p} at=${at} />`)}
      </tbody></table>
    ${parts.length > most &&
      html`<p class="pad soft">${count(parts.length)} parts, the first ${most} are evaluated</p>`}</div>`;
}

/** @param {{part: Part, at: number}} props */
function PartRow({ part, at }) {
  const [got, setGot] = useState(/** @type {{list?: import('../core/series.js').Raw[], error?: string}} */ ({}));
  const constant = /Literal$/.test(part.node.type);
  useEffect(() => {
    if (constant) return;
    const control = new AbortController();
    ask.post('query', { query: part.query, time: at, timeout: '2s' }, { background: true, signal: control.signal })
      .then((a) => setGot({ list: listOf(a.data) }),
        (e) => { if (!control.signal.aborted) setGot({ error: e.message }); });
    return () => control.abort(new DOMException('left', 'AbortError'));
  }, []);
  const first = got.list?.[0];
  const shown = first && (first.value ? `${labelText(first.metric)} ${first.value[1]}`
    : `${labelText(first.metric)} ${plural(first.values?.length ?? 0, 'sample')}`);
  return html`<tr data-part=${part.node.type}>
    <td><code style=${{ paddingLeft: `${part.depth * 16}px` }}>${part.query}</code></td>
      <td class="soft nowrap">${kinds[part.node.type] ?? part.node.type}</td>
    <td class="num">${got.list ? count(got.list.length) : ''}</td>
      <td><code>${oneLine(shown ?? '')}</code>${got.error && html`<span class="bad">${got.error}</span>`}</td></tr>`;
}
