// What the messages look like when numbers, ids and quoted parts are left out: the most frequent forms, estimated until they are counted.

import { html } from '../lib/ui.js';
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

/** @param {{run: import('./logsrun.js').LogsRun, state: import('../core/state.js').PageState}} props */
export function Patterns({ run, state }) {
  const scope = run.scope.value;
  const { found, error, stale } = useAnswer((signal, /** @type {(forms: import('./logsforms.js').Forms) => void} */ show) => (scope?.roles.message ? run.closedRange(scope, signal).then((range) => formsOf(scope, range, signal, show)) : null), [scope]);
  if (!scope) return null;
  if (!scope.roles.message) return html`<p class="state soft">The table has no text column to look for patterns in.</p>`;
  if (error) return html`<${ErrorBox} error=${error} />`;
  if (!found) return html`<p class="state soft wait" role="status">Looking for patterns…</p>`;
  const { total, rows, cut } = found, exact = rows === total, about = exact ? '' : '≈ ';
  const unit = sqltext.unitNanos(scope.roles.time?.type ?? 'timestamp(9)');
  const only = (/** @type {string} */ p, /** @type {boolean} */ not) => {
    const regex = '^' + p.split('*').map((part) => sqltext.regex(part).replaceAll('/', '\\/')).join('.*') + '$';
    state.set({ q: `${state.get('q')} ${not ? '-' : ''}/${regex}/`.trim(), w: '', tab: 'rows' });
  };
  const list = found.list.slice(0, most);
  return html`<div ...${faded('content patterns', stale)}><p class="soft small">${found.list.length > most ? `The ${most} most frequent patterns` : plural(list.length, 'pattern')} of ${plural(total, 'row')}${exact ? '.' : `, estimated from a sample: ${count(rows)} rows are counted.`}${cut && ' Rare patterns of times with very many are not counted.'} <button class="small" onClick=${() => copy(logsql.patterns(scope, most), 'SQL copied')}>SQL</button></p>
    ${!exact && html`<progress aria-label="Rows counted" value=${rows} max=${total}></progress>`}
    <table aria-label="Patterns" class="list acts"><thead><tr><th scope="col" class="num">rows</th><th scope="col" class="num">share</th><th scope="col">pattern</th><th scope="col" class="num">first</th><th scope="col" class="num">last</th><th scope="col"><span class="only-read">Actions</span></th></tr></thead><tbody>
    ${list.map(([p, n, low, high, example]) => html`<tr key=${p}><td class="num nowrap">${about}${count(n)}</td><td class="num nowrap">${about}${percent(total ? n / total : 0)}</td>
      <td class="pattern guess-${p === null ? '' : guessLevel(p)}" title=${example === null ? '' : oneLine(String(example), 1000)}>${p === null ? html`<i class="faint">NULL</i>` : oneLine(p, 400).split('*').map((part, i) => html`${i > 0 && html`<span class="star">∗</span>`}${part}`)}</td>
      <td class="num nowrap">${showShort(BigInt(low) * unit, zone.value)}</td><td class="num nowrap">${showShort(BigInt(high) * unit, zone.value)}</td>
      <td class="small nowrap">${p !== null && html`<button class="small" onClick=${() => only(p, false)}>Only</button> <button class="small" onClick=${() => only(p, true)}>Not</button>`}</td></tr>`)}</tbody></table></div>`;
}
