// What a dry run gives: for each table its columns and its rows, times readable with the integer behind them.

import { html } from '../lib/ui.js';
import { cell, plural, raw, visible } from '../core/format.js';
import { zone } from '../core/state.js';

/**
 * @typedef {{name: string, data_type: string, column_type: string, fulltext?: boolean}} DryColumn
 * @typedef {{key: string, data_type: string, semantic_type: string, value: any}} DryCell
 * @typedef {{table_name: string, schema: DryColumn[], rows: DryCell[][], warnings?: string[], entries?: number[]}}
 *   DryTable
 */

/** @param {{tables: DryTable[], before?: DryTable[]|null}} props before: what an older version of the document gives */
export function DryTables({ tables, before }) {
  if (tables.every((t) => t.rows.length === 0)) return html`<p class="soft">No rows: every entry was dropped.</p>
    ${tables.map((t) => warnings(t))}`;
  return html`${tables.map((t) => html`<${OneTable} key=${t.table_name} table=${t}
    before=${before?.find((b) => b.table_name === t.table_name)} />`)}`;
}

/** @param {DryTable} t */
const warnings = (t) => (t.warnings ?? []).map((w) => html`<p class="warn">${visible(w)}</p>`);

/** @param {{table: DryTable, before?: DryTable}} props */
function OneTable({ table, before }) {
  const role = (/** @type {string} */ r) => ({ TIMESTAMP: 'time index', TAG: 'tag', FIELD: 'field' })[r] ??
    r.toLowerCase();
  return html`<div class="dry">
    <h3>${visible(table.table_name)} <span class="soft">${plural(table.rows.length, 'row')}</span></h3>
    ${warnings(table)}
    <div class="scroll" tabindex="0" role="region" aria-label=${`Rows of ${table.table_name}`}><table class="list mono">
      <thead><tr>${table.entries && html`<th scope="col" class="num">entry</th>`}
        ${table.schema.map((c) => html`<th key=${c.name} scope="col" class=${numeric(c.data_type) ? 'num' : ''}>
          ${visible(c.name)}
        <div class="type">${c.data_type.toLowerCase()} · ${role(c.column_type)}${c.fulltext ? ' · fulltext' : ''}</div>
          </th>`)}</tr></thead>
      <tbody>${table.rows.map((row, i) => html`<tr key=${i}>
        ${table.entries && html`<td class="num faint">${table.entries[i]}</td>`}${table.schema.map((c) => {
        const v = row.find((x) => x.key === c.name);
        const was = before?.rows[i]?.find((x) => x.key === c.name);
        return html`<${Cell} key=${c.name} cell=${v}
          changed=${before !== undefined && JSON.stringify(was?.value) !== JSON.stringify(v?.value)} was=${was} />`;
      })}</tr>`)}</tbody></table></div></div>`;
}

/** @param {string} type */
const numeric = (type) => /^(U?INT|FLOAT)/.test(type);

/** @param {{cell: DryCell|undefined, changed: boolean, was?: DryCell}} props */
function Cell({ cell: c, changed, was }) {
  const title = changed ? `was: ${was ? shown(was) : 'not there'}` : c ? raw(c.value) : '';
  if (!c || c.value === null)
    return html`<td class=${`null ${numeric(c?.data_type ?? '') ? 'num' : ''} ${changed ? 'changed' : ''}`}
      title=${title}>NULL</td>`;
  return html`<td class=${`${numeric(c.data_type) ? 'num' : ''} ${changed ? 'changed' : ''}`} title=${title}>
    ${visible(shown(c)).slice(0, 2000)}</td>`;
}

/** shown returns a value as text. Names of types are the names on the wire. @param {DryCell} c */
function shown(c) {
  if (c.value === null) return 'NULL';
  const type = c.data_type.toLowerCase();
  if (type === 'date') return String(c.value);
  return cell(type.startsWith('timestamp') ? String(c.value) : c.value, type, zone.value);
}
