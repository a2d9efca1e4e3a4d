// The variables of a board above its panels.

import { html, useEffect, useState } from '../lib/ui.js';
import { everything } from '../core/boards.js';
import { oneLine, plural } from '../core/format.js';
import { Icon } from '../ui/icons.js';
import { Pop } from '../ui/pop.js';
import { mostOptions } from './boardask.js';

/** The most values that are listed at a time. */
const most = 200;

/** @typedef {import('../core/boards.js').Variable} Variable */

/**
 * @param {{board: import('../core/boards.js').Board, found: import('./boardview.js').Found|null, said: Record<string,
 *   string[]>, onChange: (said: Record<string, string[]>) => void}} props said: the values that the address has
 */
export function Variables({ board, found, said, onChange }) {
  return html`<div class="board-variables" role="group" aria-label="Variables">${board.variables.map((v) => {
    const chosen = found?.env.values.get(v.name) ?? { list: [], all: false };
    const failed = found?.failed.get(v.name);
    const set = (/** @type {string[]} */ value) => onChange({ ...said, [v.name]: value });
    return html`<span key=${v.name} class="board-variable"><span class="soft">${v.label || v.name}</span>
      ${v.kind === 'text' ? html`<${Text} variable=${v} value=${chosen.list[0] ?? ''} onValue=${set} />`
        : html`<${Choice} variable=${v} chosen=${chosen} options=${found?.options.get(v.name) ?? []} onValue=${set} />`}
      ${failed && html`<span class="warn" role="alert" title=${failed}>${oneLine(failed, 120)}</span>`}</span>`;
  })}</div>`;
}

/** @param {{variable: Variable, value: string, onValue: (value: string[]) => void}} props */
function Text({ variable: v, value, onValue }) {
  const [text, setText] = useState(value);
  useEffect(() => setText(value), [value]);
  const done = () => { if (text !== value) onValue([text]); };
  return html`<form onSubmit=${(e) => { e.preventDefault(); done(); }}><input aria-label=${v.label || v.name}
    value=${text} onInput=${(e) => setText(e.target.value)} onBlur=${done} /></form>`;
}

/**
 * @param {{variable: Variable, chosen: import('../core/boardvars.js').Chosen, options: string[], onValue: (value:
 *   string[]) => void}} props
 */
function Choice({ variable: v, chosen, options, onValue }) {
  const [q, setQ] = useState('');
  const text = chosen.all ? 'All' : chosen.list.length === 0 ? 'none' : chosen.list.join(', ');
  const all = [...chosen.all ? [] : chosen.list.filter((o) => !options.includes(o)), ...options];
  const shown = all.filter((o) => o.toLowerCase().includes(q.toLowerCase()));
  const on = (/** @type {string} */ o) => !chosen.all && chosen.list.includes(o);
  const pick = (/** @type {string} */ o, /** @type {() => void} */ close) => {
    if (!v.multi) {
      onValue([o]);
      return close();
    }
    const next = on(o) ? chosen.list.filter((x) => x !== o) : [...chosen.all ? [] : chosen.list, o];
    onValue(next.length === 0 && v.all ? [everything] : next);
  };
  return html`<${Pop} className="small" title=${`${v.label || v.name}: ${text}`} onOpen=${() => setQ('')}
    label=${html`<span class="text">${oneLine(text, 60)}</span><${Icon} name="chevron" />`}>
    ${(/** @type {() => void} */ close) => html`<div class="board-choice">
      <input type="search" aria-label="Search the values" value=${q} onInput=${(e) => setQ(e.target.value)} />
      <div class="scroll">
      ${v.all && html`<label class="check"><input type=${v.multi ? 'checkbox' : 'radio'} checked=${chosen.all}
        onChange=${() => { onValue([everything]); if (!v.multi) close(); }} />All</label>`}
      ${shown.slice(0, most).map((o) => html`<label key=${o} class="check"><input type=${v.multi ? 'checkbox' : 'radio'}
        checked=${on(o)} onChange=${() => pick(o, close)} />${o === '' ? '(empty)' : oneLine(o, 200)}</label>`)}
      </div>
      <span class="soft">${shown.length > most ? `${most} of ` : ''}${plural(shown.length, 'value')}
        ${options.length >= mostOptions && `, the first ${mostOptions} were asked for`}</span></div>`}</${Pop}>`;
}
