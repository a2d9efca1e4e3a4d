// The tree of an expression as the server reads it: its text, its parts, and common mistakes in it.

import { label, quoted, selector } from './metricsask.js';
import { stepText } from './metricsrun.js';

/** @typedef {any} Node a node of parse_query */

/** length writes milliseconds. @param {number} ms */
const length = (ms) => (ms % 1000 === 0 ? stepText(ms / 1000) : `${ms}ms`);

/** @param {Node} n */
function shifted(n) {
  const at = n.startOrEnd ? ` @ ${n.startOrEnd}()` : n.timestamp !== null && n.timestamp !== undefined
    ? ` @ ${n.timestamp / 1000}` : '';
  return at + (n.offset ? ` offset ${n.offset < 0 ? '-' : ''}${length(Math.abs(n.offset))}` : '');
}

/** children are the parts that have a value of their own. @param {Node} n @returns {Node[]} */
export function children(n) {
  if (n.type === 'call') return n.args;
  return [n.param, n.lhs, n.rhs, n.expr].filter((c) => c && typeof c === 'object');
}

/** text writes a node as PromQL. @param {Node} n @returns {string} */
export function text(n) {
  switch (n.type) {
    case 'vectorSelector': return selector(n.name ?? '', n.matchers) + shifted(n);
    case 'matrixSelector': return `${selector(n.name ?? '', n.matchers)}[${length(n.range)}]${shifted(n)}`;
    case 'subquery': return `${text(n.expr)}[${length(n.range)}:${n.step ? length(n.step) : ''}]${shifted(n)}`;
    case 'call': return `${n.func.name}(${n.args.map(text).join(', ')})`;
    case 'aggregation': return `${n.op}${n.without || n.grouping.length > 0
      ? ` ${n.without ? 'without' : 'by'} (${n.grouping.map(label).join(', ')}) `
      : ''}(${n.param ? text(n.param) + ', ' : ''}${text(n.expr)})`;
    case 'binaryExpr': return `${text(n.lhs)} ${n.op}${n.bool ? ' bool' : ''}${matching(n.matching)} ${text(n.rhs)}`;
    case 'parenExpr': return `(${text(n.expr)})`;
    case 'unaryExpr': return n.op + text(n.expr);
    case 'numberLiteral': return n.val;
    case 'stringLiteral': return quoted(n.val);
    default: return '';
  }
}

/** @param {any} m */
function matching(m) {
  if (!m) return '';
  const group = m.card === 'many-to-one' ? 'group_left' : m.card === 'one-to-many' ? 'group_right' : '';
  const list = (/** @type {string[]} */ l) => `(${l.map(label).join(', ')})`;
  const on = m.on || m.labels.length > 0 ? ` ${m.on ? 'on' : 'ignoring'} ${list(m.labels)}` : '';
  return on + (group ? ` ${group} ${list(m.include ?? [])}` : '');
}

/** selectors are the selectors below a node. @param {Node} n @returns {Node[]} */
export const selectors = (n) => (/Selector$/.test(n.type) ? [n] : children(n).flatMap(selectors));

const rates = new Set(['rate', 'irate', 'increase']);
const indifferent = new Set(['absent', 'timestamp', 'histogram_count', 'histogram_sum', 'histogram_avg']);
const grouping = new Set(['count', 'group', 'count_values']);

/**
 * isCounter reports whether a metric is a counter, by the type that its sender said, else by its name.
 * @param {string} name
 * @param {Record<string, {type: string}[]>} known
 * @returns {boolean|null} null: cannot be told
 */
function isCounter(name, known) {
  const type = known[name]?.[0]?.type;
  if (type === 'gauge') return false;
  if (type === 'counter' || /_(total|bucket)$/.test(name)) return true;
  if (/_(count|sum)$/.test(name)) return true;
  return type === 'histogram' || type === 'summary' ? null : name ? false : null;
}

/** keepsLe reports whether the label le can still be there after a node. @param {Node} n @returns {boolean} */
function keepsLe(n) {
  if (n.type === 'aggregation') {
    if (n.op === 'topk' || n.op === 'bottomk') return keepsLe(n.expr);
    return n.without ? !n.grouping.includes('le') && keepsLe(n.expr) : n.grouping.includes('le') && keepsLe(n.expr);
  }
  return children(n).every((c) => c.type === 'numberLiteral' || keepsLe(c));
}

/** @typedef {{said: string, from?: string, to?: string}} Slip from is a part of the expression, to what it should be */

/**
 * slips returns a sentence for each place of an expression that probably means something else than its writer wanted.
 * @param {Node} tree
 * @param {Record<string, {type: string}[]>} known
 * @param {number} step s
 * @returns {Slip[]}
 */
export function slips(tree, known, step) {
  /** @type {Map<string, Slip>} */
  const found = new Map();
  const add = (/** @type {string} */ said, /** @type {string} */ from = '', /** @type {string} */ to = '') => {
    if (!found.has(said)) found.set(said, { said, from, to });
  };
  const look = (/** @type {Node} */ n, /** @type {boolean} */ fine) => {
    if (n.type === 'call' && rates.has(n.func.name)) {
      const arg = n.args[0];
      if (arg?.type === 'matrixSelector' && isCounter(arg.name ?? '', known) === false)
        add(
          `${n.func.name}() is for counters, and ${arg.name} looks like a gauge, which may fall. For its change take ` +
          `deriv() or delta().`, `${n.func.name}(`, n.func.name === 'increase' ? 'delta(' : 'deriv(');
      if (arg?.range && arg.range < 2 * step * 1000 && step > 1)
        add(
          `The range [${length(arg.range)}] is shorter than twice the step of ${stepText(
            step)}: samples between the points of the graph are not counted. Take [${stepText(2 * step)}] or more.`,
            `[${length(arg.range)}]`, `[${stepText(2 * step)}]`);
    }
    if (n.type === 'call' && n.func.name === 'histogram_quantile' && n.args[1] && !keepsLe(n.args[1]))
      add('histogram_quantile() needs the label le, and the aggregation drops it. Keep it: sum by (le, …) (…).');
    if (n.type === 'vectorSelector' && !fine && isCounter(n.name ?? '', known)) {
      const rate = `rate(${text(n)}[${stepText(Math.max(300, 4 * step))}])`;
      add(`${n.name} is a counter: it only rises, and falls to zero at a restart. What happens a second is ${rate}.`,
        text(n), rate);
    }
    for (const c of children(n))
      look(c, fine || n.type === 'call' && indifferent.has(n.func.name) || n.type === 'aggregation' &&
        grouping.has(n.op) || n.type === 'subquery');
  };
  look(tree, false);
  return [...found.values()];
}
