// Fields for names, which offer the existing names.

import { html, useEffect, useState } from '../lib/ui.js';
import { tables } from '../core/catalog.js';
import { count } from '../core/format.js';
import { db } from '../core/state.js';

/** Names that are offered at a time: there may be thousands, and each is an element of the page. */
const most = 150;

/**
 * NameField offers what names gives, anew for each turn.
 * @param {{id: string, value: string, placeholder: string, what: string, turn?: string, names: () => Promise<string[]>,
 *   onInput: (e: any) => void, onChange?: (e: any) => void}} props id is that of the list
 */
export function NameField({ id, value, placeholder, what, turn, names, onInput, onChange }) {
  const [all, setAll] = useState(/** @type {string[]} */ ([]));
  useEffect(() => {
    let wanted = true;
    names().then((list) => { if (wanted) setAll(list); }, () => {});
    return () => { wanted = false; };
  }, [turn]);
  const needle = value.trim().toLowerCase(), fits = all.filter((n) => n.toLowerCase().includes(needle));
  return html`<input list=${id} value=${value} placeholder=${placeholder}
    title=${fits.length > most ? `${most} of ${count(fits.length)} ${what} are offered: type a part of the name` : ''}
      onInput=${onInput} onChange=${onChange} />
    <datalist id=${id}>${fits.slice(0, most).map((n) => html`<option key=${n} value=${n} />`)}</datalist>`;
}

/**
 * TableName is a field for the name of a table.
 * @param {{id: string, value: string, placeholder: string, onInput: (e: any) => void, onChange?: (e: any) => void}}
 *   props
 */
export const TableName = (props) => html`<${NameField} ...${props} what="tables" turn=${db.value}
  names=${async () => (await tables(db.value)).map((t) => t.name)} />`;
