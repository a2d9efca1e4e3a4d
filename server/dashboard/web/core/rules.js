// The rules that the server evaluates by itself, as its metrics API lists them, what their alerts did over a range,
// documents of one rule, and silences.

import { json, request } from './api.js';

/**
 * @typedef {object} Alert that is pending or fires
 * @property {Record<string, string>} labels
 * @property {Record<string, string>} annotations
 * @property {string} state
 * @property {string} activeAt
 * @property {string} value
 */

/**
 * @typedef {object} Rule
 * @property {string} name
 * @property {'alerting'|'recording'} type
 * @property {string} query
 * @property {string} [language] sql, or that of metrics
 * @property {Record<string, string>} labels
 * @property {string} health ok, err or unknown
 * @property {string} [lastError]
 * @property {number} evaluationTime s
 * @property {string} lastEvaluation
 * @property {string} [state] of an alerting rule: firing, pending or inactive
 * @property {number} [duration] for which the condition has to hold, s
 * @property {number} [keepFiringFor] s
 * @property {Record<string, string>} [annotations] as they are written, with their templates
 * @property {Alert[]} [alerts]
 */

/**
 * @typedef {object} Group
 * @property {string} name
 * @property {string} file
 * @property {string} [document] the group is one of this document of the server
 * @property {number} interval s
 * @property {number} evaluationTime s
 * @property {string} lastEvaluation
 * @property {string} [database] that its rules read and write
 * @property {number} [missed] evaluations that were left out
 * @property {Rule[]} rules
 */

/** Item is a rule in its group, with a name of its own for the address. @typedef {{id: string, rule: Rule}} Item */

/** kinds are what rules are filtered by. */
export const kinds = ['firing', 'pending', 'error', 'inactive', 'recording'];

/** isKind reports whether a rule is of a kind. @param {Rule} rule @param {string} kind */
export function isKind(rule, kind) {
  if (kind === 'error') return rule.health === 'err';
  return kind === (rule.type === 'alerting' ? rule.state ?? 'inactive' : 'recording');
}

/**
 * itemsOf names the rules of all groups: the group and the rule, and its number where several are called so.
 * @param {Group[]} groups
 * @returns {{group: Group, items: Item[]}[]}
 */
export function itemsOf(groups) {
  /** @type {Map<string, number>} */
  const taken = new Map();
  return groups.map((group) => ({ group, items: group.rules.map((rule) => {
    const name = `${group.name}/${rule.name}`, n = (taken.get(name) ?? 0) + 1;
    taken.set(name, n);
    return { id: n > 1 ? `${name}#${n}` : name, rule };
  }) }));
}

/**
 * fits returns a test of rules: each word occurs in the name, the group, its file, the query or a label.
 * @param {string} text
 * @returns {(group: Group, rule: Rule) => boolean}
 */
export function fits(text) {
  const words = text.toLowerCase().split(/\s+/).filter(Boolean);
  return (group, rule) => {
    if (words.length === 0) return true;
    const all = [rule.name, group.name, group.file, rule.query,
      ...[rule.labels, ...(rule.alerts ?? []).map((a) => a.labels)].flatMap((l) => Object.entries(l ?? {})
        .map(([k, v]) => `${k}=${v}`))].join('\n').toLowerCase();
    return words.every((w) => all.includes(w));
  };
}

/** Run is a stretch of steps in one state. @typedef {{state: string, from: number, to: number}} Run to: behind it */

/**
 * runsOf joins the steps in which an alert fired or was pending; where both are so it fires.
 * @param {{firing?: (number|null)[], pending?: (number|null)[]}} of values for each step, null: it was not in the state
 * @returns {Run[]}
 */
export function runsOf({ firing = [], pending = [] }) {
  /** @type {Run[]} */
  const runs = [];
  for (let i = 0; i < Math.max(firing.length, pending.length); i++) {
    const state = firing[i] != null ? 'firing' : pending[i] != null ? 'pending' : '', last = runs.at(-1);
    if (state === '') continue;
    if (last?.state === state && last.to === i) last.to++;
    else runs.push({ state, from: i, to: i + 1 });
  }
  return runs;
}

/**
 * Draft is a rule that somebody writes, as texts.
 * @typedef {object} Draft
 * @property {'alert'|'record'} kind
 * @property {string} name
 * @property {string} language
 * @property {string} expr
 * @property {string} every
 * @property {string} holds for which the condition has to hold; of an alert
 * @property {string} labels a=b, c=d
 * @property {string} summary of an alert
 */

/**
 * labelsOf reads labels; null: they cannot be read.
 * @param {string} text
 * @returns {Record<string, string>|null}
 */
export function labelsOf(text) {
  const pairs = text.split(',').map((s) => s.trim()).filter(Boolean).map((s) => /^([a-zA-Z_]\w*)\s*=\s*(.*)$/.exec(s));
  return pairs.includes(null) ? null : Object.fromEntries(pairs.map((m) => [m?.[1], m?.[2].replace(/^"(.*)"$/, '$1')]));
}

/**
 * documentOf is a draft as a document of the server.
 * @param {Draft} d
 */
export function documentOf(d) {
  const alert = d.kind === 'alert', labels = labelsOf(d.labels) ?? {};
  const rule = { [d.kind]: d.name, ...(d.language === 'sql' && { language: 'sql' }), expr: d.expr,
    ...(alert && d.holds && { for: d.holds }), ...(Object.keys(labels).length > 0 && { labels }),
    ...(alert && d.summary && { annotations: { summary: d.summary } }) };
  return JSON.stringify({ groups: [{ name: d.name, interval: d.every || undefined, rules: [rule] }] }, null, 1);
}

/** milliseconds writes a duration of rules. @param {number} [s] */
const milliseconds = (s = 0) => `${Math.round(s * 1000)}ms`;

/**
 * tryable is a rule that is evaluated as a document of its own.
 * @param {Rule} rule
 * @param {Group} group
 */
export const tryable = (rule, group) => JSON.stringify({ groups: [{ name: group.name,
  interval: milliseconds(group.interval), rules: [{ alert: rule.name, language: rule.language, expr: rule.query,
    for: milliseconds(rule.duration), keep_firing_for: milliseconds(rule.keepFiringFor),
    labels: rule.labels ?? {} }] }] });

/**
 * linesOf are the values of a trial at the steps of its grid.
 * @param {Trial} t
 * @param {number} most series
 */
export function linesOf(t, most) {
  const n = Math.round((t.to - t.from) / t.step) + 1;
  return t.series.slice(0, most).map((s) => {
    const values = /** @type {(number|null)[]} */ (new Array(n).fill(null));
    for (const [at, text] of s.points) {
      if (Number.isFinite(Number(text))) values[Math.round((at - t.from) / t.step)] = Number(text);
    }
    return { metric: s.labels, values };
  });
}

/** within reports whether an object has no other keys. @param {any} o @param {string[]} keys */
const within = (o, keys) => Object.keys(o ?? {}).every((k) => keys.includes(k));

/**
 * draftOf reads a document that documentOf wrote; null: it holds something that a draft does not know.
 * @param {string} text
 * @returns {Draft|null}
 */
export function draftOf(text) {
  try {
    const { groups: [group, ...others], ...more } = JSON.parse(text), [rule] = group.rules;
    const { alert, record, language = 'promql', expr, for: holds = '', labels = {}, annotations = {} } = rule;
    const list = Object.entries(labels).map(([k, v]) => `${k}=${v}`).join(', '), name = alert ?? record;
    const known = others.length === 0 && within(more, []) && group.rules.length === 1 && group.name === name &&
      within(group, ['name', 'interval', 'rules']) && within(annotations, ['summary']) &&
      within(rule, ['alert', 'record', 'language', 'expr', 'for', 'labels', 'annotations']) &&
      JSON.stringify(labelsOf(list)) === JSON.stringify(labels);
    return known ? { kind: alert === undefined ? 'record' : 'alert', name, language, expr, every: group.interval ?? '',
      holds, labels: list, summary: annotations.summary ?? '' } : null;
  } catch {
    return null; // another way of writing documents
  }
}

/**
 * Trial is what a rule would have done. Times are seconds since the epoch.
 * @typedef {object} Trial
 * @property {number} from
 * @property {number} to
 * @property {number} step
 * @property {{labels: Record<string, string>, states: {state: string, from: number, to: number}[], points: [number,
 *   string][]}[]} series
 * @property {number} left_out further series
 */

const yaml = { 'Content-Type': 'application/yaml' };
const path = (/** @type {string} */ name) => `v1/rules/${encodeURIComponent(name)}`;

/**
 * trial asks what the rule of a document would have done over a range, the last day if it is not given.
 * @param {string} document
 * @param {AbortSignal} signal
 * @param {{start: number, end: number}} [range] seconds since the epoch
 * @returns {Promise<Trial>}
 */
export const trial = (document, signal, range) =>
  json(`v1/rules/try${range ? `?from=${range.start}&to=${range.end}` : ''}`,
    { method: 'POST', body: document, headers: yaml, signal, background: true });

/** documents lists the names of the documents. @returns {Promise<string[]>} */
export const documents = async () =>
  (await json('v1/rules', { background: true })).rules.map((/** @type {{name: string}} */ d) => d.name);

/** definition reads a document. @param {string} name @returns {Promise<string>} */
export const definition = async (name) => (await json(path(name))).rules[0].definition;

/** save keeps a document under a name. @param {string} name @param {string} document */
export const save = (name, document) =>
  request(path(name), { method: 'PUT', body: document, headers: yaml, retry: false });

/** remove takes a document away. @param {string} name */
export const remove = (name) => request(path(name), { method: 'DELETE', retry: false });

/**
 * Matcher is a condition of a silence.
 * @typedef {{name: string, value: string, isRegex: boolean, isEqual?: boolean}} Matcher
 * @typedef {{id: string, matchers: Matcher[], startsAt: string, endsAt: string, createdBy: string, comment: string,
 *   status: {state: 'pending'|'active'|'expired'}}} Silence
 * @typedef {{alertmanagers: string[], silences: Silence[], silenced_alerts: {labels: Record<string, string>, by:
 *   string[]}[], failed?: {url: string, error: string}[]}} Silences
 */

/** matcherText writes a condition. @param {Matcher} m */
export const matcherText = ({ name, value, isRegex, isEqual = true }) =>
  name + (isRegex ? (isEqual ? '=~' : '!~') : isEqual ? '=' : '!=') + JSON.stringify(value);

/**
 * matchersOf reads conditions such as a="b", c=~"d|e"; null: they cannot be read.
 * @param {string} text
 * @returns {Matcher[]|null}
 */
export function matchersOf(text) {
  const one = /\s*([^\s=!~,"]+)\s*(=~|!~|!=|=)\s*("(?:[^"\\]|\\.)*"|[^",]*?)\s*(?:,|$)/y;
  /** @type {Matcher[]} */
  const all = [];
  while (text.slice(one.lastIndex).trim() !== '') {
    const m = one.exec(text);
    if (!m) return null;
    try {
      all.push({ name: m[1], value: m[3].startsWith('"') ? JSON.parse(m[3]) : m[3], isRegex: m[2].endsWith('~'),
        isEqual: !m[2].startsWith('!') });
    } catch {
      return null; // an escape that there is not
    }
  }
  return all;
}

const units = /** @type {Record<string, number>} */ ({ m: 60_000, h: 3_600_000, d: 86_400_000, w: 604_800_000 });

/** longOf reads a time such as 1h30m, ms; null: it cannot be read. @param {string} text */
export function longOf(text) {
  if (!/^(\d{1,4}[mhdw])+$/.test(text.trim())) return null;
  const ms = [...text.matchAll(/(\d+)([mhdw])/g)].reduce((sum, [, n, unit]) => sum + Number(n) * units[unit], 0);
  return ms > 0 ? ms : null;
}

/** keyOf names an alert by its labels. @param {Record<string, string>} labels */
export const keyOf = (labels) => JSON.stringify(Object.entries(labels).sort(([a], [b]) => (a < b ? -1 : 1)));

/** silences asks for those of all Alertmanagers. @param {AbortSignal} signal @returns {Promise<Silences>} */
export const silences = (signal) => json('v1/silences', { background: true, signal });

/** silence makes a silence. @param {Omit<Silence, 'id'|'status'|'startsAt'>} of */
export const silence = (of) => request('v1/silences', { method: 'POST', body: JSON.stringify(of), retry: false,
  headers: { 'Content-Type': 'application/json' } });

/** expire ends a silence. @param {string} id */
export const expire = (id) => request(`v1/silences/${encodeURIComponent(id)}`, { method: 'DELETE', retry: false });
