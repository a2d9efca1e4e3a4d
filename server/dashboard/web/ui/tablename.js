// A field for the name of a table, which offers those there are.

import { html, useEffect, useState } from '../lib/ui.js';
import { tables } from '../core/catalog.js';
import { count } from '../core/format.js';
import { db } from '../core/state.js';

/** Tables that are offered at a time: a database may have thousands, and each is an element of the page. */
const most = 150;

/** @param {{id: string, value: string, placeholder: string, onInput: (e: any) => void, onChange?: (e: any) => void}} props id is that of the list */
export function TableName({ id, value, placeholder, onInput, onChange }) {
  const [names, setNames] = useState(/** @type {string[]} */ ([]));
  useEffect(() => {
    let wanted = true;
    tables(db.value).then((t) => { if (wanted) setNames(t.map((x) => x.name)); }, () => {});
    return () => { wanted = false; };
  }, [db.value]);
  const needle = value.trim().toLowerCase(), fits = names.filter((n) => n.toLowerCase().includes(needle));
  return html`<input list=${id} value=${value} placeholder=${placeholder} title=${fits.length > most ? `${most} of ${count(fits.length)} tables are offered: type a part of the name` : ''} onInput=${onInput} onChange=${onChange} />
    <datalist id=${id}>${fits.slice(0, most).map((n) => html`<option key=${n} value=${n} />`)}</datalist>`;
}
