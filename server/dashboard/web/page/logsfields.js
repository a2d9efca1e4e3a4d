// The field panel: every column. The values of an opened column are in logsvalues.js.

import { html, useEffect, useMemo, useState } from '../lib/ui.js';
import { oneLine } from '../core/format.js';
import { typeLetter } from '../core/sqltext.js';
import { Icon } from '../ui/icons.js';
import { lazy } from '../ui/lazy.js';

const FieldValues = lazy(() => import('./logsvalues.js'), 'FieldValues', 'page/logsparts.css');

/**
 * @param {{run: import('./logsrun.js').LogsRun, state: import('../core/state.js').PageState, wide: boolean, shown:
 *   string[], onFilter: (field: string, value: any, negated: boolean) => void, onColumn: (name: string) => void,
 *   onClose: () => void}} props
 */
export function FieldPanel({ run, state, wide, shown, onFilter, onColumn, onClose }) {
  const [text, setText] = useState('');
  const [fuzzy, setFuzzy] = useState(/** @type {typeof import('../core/fuzzy.js')|null} */ (null));
  const [open, setOpen] = useState('');
  const [present, setPresent] = useState(/** @type {Record<string, number>} */ ({}));
  const rows = run.rows.value, columns = run.columns.value, roles = run.roles.value;
  useEffect(() => {
    let wanted = true;
    rows?.summary().then((s) => {
      if (wanted) setPresent(Object.fromEntries(rows.columns.map((c, i) => [c.name, s[i].present])));
    }, () => {});
    return () => { wanted = false; };
  }, [rows, run.grown.value]);
  const find = (/** @type {string} */ wanted) => {
    setText(wanted);
    if (!fuzzy) import('../core/fuzzy.js').then(setFuzzy, () => {}); // without it all are shown
  };
  const groups = useMemo(() => {
    const found = columns.filter((c) => !c.timeIndex && (!fuzzy || fuzzy.score(text, c.name) > 0));
    const first = [roles?.level, roles?.message, ...shown];
    const isFirst = (/** @type {string} */ n) => first.includes(n);
    return [
      { title: 'Shown', list: found.filter((c) => isFirst(c.name)) },
      { title: 'Others', list: found.filter((c) => !isFirst(c.name) && (present[c.name] ?? 1) > 0) },
      { title: 'Empty in the loaded rows', list: found.filter((c) => !isFirst(c.name) && present[c.name] === 0) },
    ].filter((g) => g.list.length > 0);
  }, [columns, text, fuzzy, shown.join('\u0001'), present, roles]);
  return html`<aside class="fields-panel ${wide ? 'wide' : ''}" aria-label="Fields">
    <div class="head"><input placeholder="Find a field" aria-label="Find a field" value=${text}
      onInput=${(e) => find(e.target.value)} />
      ${!wide && html`<button class="quiet small icon close" aria-label="Close the field panel" onClick=${onClose}>
        <${Icon} name="close" /></button>`}</div>
    <div class="scroll">${groups.map((g) => html`<div key=${g.title}><h2>${g.title}</h2>
      ${g.list.slice(0, 500).map((c) => html`<div class="field" key=${c.name}>
        <button class="quiet name" aria-expanded=${open === c.name ? 'true' : 'false'} title=${`${c.name}: ${c.type}`}
          onClick=${() => setOpen(open === c.name ? '' : c.name)}>
          <span class="type" aria-hidden="true">${typeLetter(c.type)}</span><span class="text">${oneLine(c.name, 80)}
            </span></button>
        ${open === c.name && html`<${FieldValues} run=${run} state=${state} column=${c} shown=${shown.includes(c.name)}
          onFilter=${onFilter} onColumn=${onColumn} />`}
      </div>`)}
      ${g.list.length > 500 && html`<p class="faint pad">${g.list.length - 500} more: type a part of the name</p>`}
        </div>`)}</div>
  </aside>`;
}
