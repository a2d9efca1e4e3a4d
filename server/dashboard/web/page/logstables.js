// The tables of the table chooser: found by a few letters, favourites first.

import { html, useState } from '../lib/ui.js';
import { count, oneLine, short } from '../core/format.js';
import { score } from '../core/fuzzy.js';
import * as store from '../core/store.js';
import { Icon } from '../ui/icons.js';

/** Tables that are listed. */
const most = 200;

/**
 * @param {{tables: import('../core/catalog.js').Table[], current: string, db: string, onTable: (name: string) => void}}
 *   props
 */
export function TableList({ tables, current, db, onTable }) {
  const [text, setText] = useState('');
  const [stars, setStars] = useState(/** @type {string[]} */ (store.read(`logs.stars.${db}`, [])));
  const found = tables.map((t) => ({ t, s: score(text, t.name) })).filter(({ s }) => s > 0)
    .sort((a, b) => Number(stars.includes(b.t.name)) - Number(stars.includes(a.t.name)) || (text ? b.s - a.s : 0) ||
      a.t.name.localeCompare(b.t.name));
  const sorted = found.slice(0, most);
  const star = (/** @type {string} */ name) => {
    const on = !stars.includes(name);
    setStars(store.change(`logs.stars.${db}`, stars,
      (kept) => [...kept.filter((s) => s !== name), ...(on ? [name] : [])]));
  };
  return html`<div class="table-list">
    <input placeholder="Find a table" aria-label="Find a table" value=${text} onInput=${(e) => setText(e.target.value)}
      onKeyDown=${(e) => { if (e.key === 'Enter' && sorted[0]) onTable(sorted[0].t.name); }} />
    <div class="menu">${sorted.map(({ t }) => html`<span class="row" key=${t.name}>
      <button class="grow" aria-current=${t.name === current ? 'true' : undefined} onClick=${() => onTable(t.name)}>
        ${oneLine(t.name, 200)}<span class="end num" title=${t.rows === null ? '' : `${count(t.rows)} rows`}>
          ${t.rows === null ? t.kind.toLowerCase() : short(t.rows)}</span></button>
      <button class="star ${stars.includes(t.name) ? 'on' : ''}"
        aria-pressed=${stars.includes(t.name) ? 'true' : 'false'} aria-label=${`Favourite ${t.name}`}
          onClick=${() => star(t.name)}><${Icon} name="star" /></button></span>`)}
      ${found.length > most &&
        html`<p class="soft cut">${count(found.length - most)} more: type a part of the name</p>`}
      ${sorted.length === 0 && html`<p class="soft">No table is called so.</p>`}</div></div>`;
}
