// What the messages look like when numbers, ids and quoted parts are left out: the most frequent forms, estimated until
// they are counted.

import { html, useRef, useState } from '../lib/ui.js';
import { stopped } from '../core/api.js';
import { count, oneLine, percent, plural } from '../core/format.js';
import { guessLevel } from '../core/levels.js';
import * as sqltext from '../core/sqltext.js';
import { zone } from '../core/state.js';
import { showShort } from '../core/time.js';
import { ErrorBox } from '../ui/error.js';
import { copy } from '../ui/toast.js';
import { faded, useAnswer } from '../ui/useanswer.js';
import { formsOf } from './logsforms.js';
import * as logsql from './logsparts.js';

const most = 200;

/**
 * useOrder keeps patterns at the places where they were first shown while rows are being counted; new ones follow them.
 * @param {import('./logsforms.js').Forms|null} found
 * @returns {{list: import('./logsforms.js').Form[], sort: (() => void)|null}} sort orders them by their numbers, null:
 *   they are
 */
function useOrder(found) {
  const kept = useRef({ of: /** @type {{}|null} */ (null), forms: /** @type {Set<string|null>} */ (new Set()) });
  const [, again] = useState({});
  if (!found) return { list: [], sort: null };
  if (kept.current.of !== found.of) kept.current = { of: found.of, forms: new Set() };
  for (const [form] of found.list.slice(0, most)) kept.current.forms.add(form);
  const by = new Map(found.list.map((f) => [f[0], f])),
    list = [...kept.current.forms].flatMap((form) => { const f = by.get(form); return f ? [f] : []; });
  const sorted = list.every((f, i) => i === 0 || list[i - 1][1] >= f[1]);
  return { list, sort: sorted ? null : () => { kept.current.of = null; again({}); } };
}

/** @param {{run: import('./logsrun.js').LogsRun, state: import('../core/state.js').PageState}} props */
export function Patterns({ run, state }) {
  const scope = run.scope.value, counting = useRef(/** @type {AbortController|null} */ (null)),
    [tries, setTries] = useState(0);
  const { found, error, stale } =
    useAnswer((signal, /** @type {(forms: import('./logsforms.js').Forms) => void} */ show) => {
    if (!scope?.roles.message) return null;
    const either = AbortSignal.any([signal, (counting.current = new AbortController()).signal]);
    return run.closedRange(scope, either).then((range) => formsOf(scope, range, either, show));
  }, [scope], tries);
  const { list, sort } = useOrder(found);
  if (!scope) return null;
  if (!scope.roles.message)
    return html`<p class="state soft">The table has no text column to look for patterns in.</p>`;
  if (error) return html`<${ErrorBox} error=${error} />`;
  if (!found) return html`<p class="state soft wait" role="status">Looking for patterns…</p>`;
  const { sampled, total, rows, cut, ended } = found, exact = rows === total, about = exact ? '' : '≈ ';
  const unit = sqltext.unitNanos(scope.roles.time?.type ?? 'timestamp(9)');
  const only = (/** @type {string} */ p, /** @type {boolean} */ not) => {
    const regex = '^' + p.split('*').map((part) => sqltext.regex(part).replaceAll('/', '\\/')).join('.*') + '$';
    state.set({ q: `${state.get('q')} ${not ? '-' : ''}/${regex}/`.trim(), w: '', tab: 'rows' });
  };
  const said = exact ? '.'
    : `, estimated: ${count(sampled)} of ${plural(total, 'row')} sampled, ${count(rows)} counted.`;
  return html`<div ...${faded('content patterns', stale)}>
    <p class="soft small">${found.list.length > list.length ? `The ${list.length} most frequent patterns`
      : plural(list.length, 'pattern')} of ${plural(total, 'row')}${said}
        ${cut && ' Rare patterns of times with very many are not counted.'} <button class="small"
          onClick=${() => copy(logsql.patterns(scope, most), 'SQL copied')}>SQL</button>
      ${!exact && (ended ? html` <button class="small" onClick=${() => setTries(tries + 1)}>Count all</button>`
        : html` <button class="small" onClick=${() => counting.current?.abort(stopped)}>Cancel</button>`)}
      ${(exact || ended) && sort &&
        html` <button class="small" title="They are in the order of the sample" onClick=${sort}>Sort by rows</button>`}
          </p>
    ${!exact && !ended && html`<progress aria-label="Rows counted" value=${rows} max=${total}></progress>`}
    <table aria-label="Patterns" class="list acts">
      <thead><tr><th scope="col" class="num">rows</th><th scope="col" class="num">share</th><th scope="col">pattern</th>
        <th scope="col" class="num">first</th><th scope="col" class="num">last</th>
          <th scope="col"><span class="only-read">Actions</span></th></tr></thead><tbody>
    ${list.map(([p, n, low, high, example]) => html`<tr key=${p}><td class="num nowrap">${about}${count(n)}</td>
      <td class="num nowrap">${about}${percent(total ? n / total : 0)}</td>
      <td class="pattern guess-${p === null ? '' : guessLevel(p)}"
        title=${example === null ? '' : oneLine(String(example), 1000)}>
          ${p === null ? html`<i class="faint">NULL</i>`
            : oneLine(p, 400).split('*').map((part, i) => html`${i > 0 && html`<span class="star">∗</span>`}${part}`)}
              </td>
      <td class="num nowrap">${showShort(BigInt(low) * unit, zone.value)}</td>
        <td class="num nowrap">${showShort(BigInt(high) * unit, zone.value)}</td>
      <td class="small nowrap">
        ${p !== null && html`<button class="small" onClick=${() => only(p, false)}>Only</button> <button class="small"
          onClick=${() => only(p, true)}>Not</button>`}</td></tr>`)}</tbody></table></div>`;
}
