// How the answers of panels are drawn.

import { html, useMemo, useState } from '../lib/ui.js';
import { blocks } from '../core/markdown.js';
import { cell, count, oneLine, plural } from '../core/format.js';
import { levelOf } from '../core/levels.js';
import * as sqltext from '../core/sqltext.js';
import { frame, zone } from '../core/state.js';
import { rfc3339 } from '../core/time.js';
import { colour, seriesColour } from '../ui/canvas.js';
import { Chart } from '../ui/chart.js';
import { Blocks } from '../ui/documents.js';
import { HeatMap } from '../ui/heatmap.js';
import { shift } from '../ui/timepicker.js';
import { rolesOf } from './logsquery.js';
import { units } from './metricsunits.js';

/** The most names that stand below a graph. */
const mostNames = 40;
/** The most figures of a panel. */
const mostFigures = 24;

/** @typedef {import('../core/boards.js').Panel} Panel */
/** @typedef {import('./boardask.js').Answer} Answer */

/** sharing are the range and the cursor that all charts of a board share. */
const sharing = { sync: 'board', onWider: () => shift(0),
  onRange: (/** @type {number} */ a, /** @type {number} */ b) =>
    frame.set({ from: rfc3339(BigInt(Math.round(a * 1000)) * 1_000_000n),
      to: rfc3339(BigInt(Math.round(b * 1000)) * 1_000_000n) }) };

/** @param {{panel: Panel, answer: Answer, text: string}} props text: of a panel of text, with its variables filled */
export function Drawing({ panel, answer, text }) {
  const unit = units[panel.unit] ?? units.number;
  if (panel.type === 'text') return html`<div class="board-text document-text"><${Marked} text=${text} /></div>`;
  switch (answer.kind) {
    case 'lines': return html`<${Lines} panel=${panel} answer=${answer} unit=${unit} />`;
    case 'values': return html`<${Figures} values=${answer.values} write=${unit.write} />`;
    case 'heat': return answer.group
      ? html`<${HeatMap} x=${answer.x} group=${answer.group} unit=${unit.axis} label=${panel.title || 'Heat map'}
        ...${sharing} />` : nothing;
    case 'rows': return answer.rows.length === 0 ? nothing : panel.type === 'logs'
      ? html`<${Logs} answer=${answer} />`
      : html`<${Table} answer=${answer} write=${panel.unit ? unit.write : null} />`;
    default: return html`<p class="state soft">It asks nothing yet.</p>`;
  }
}

const nothing = html`<p class="state soft">No data in this range.</p>`;

/** @param {{text: string}} props */
function Marked({ text }) {
  const list = useMemo(() => blocks(text), [text]);
  return html`<${Blocks} list=${list} from="" />`;
}

/** @param {{panel: Panel, answer: Answer & {kind: 'lines'}, unit: import('./metricsunits.js').Unit}} props */
function Lines({ panel, answer: { x, series, count: all, time }, unit }) {
  const [off, setOff] = useState(() => new Set(/** @type {string[]} */ ([])));
  const [lit, setLit] = useState(/** @type {string|null} */ (null));
  if (series.length === 0) return nothing;
  const levels = series.map((s) => levelOf(s.name)), ofLevels = levels.every((l) => l !== 'none');
  const drawn = ofLevels ? series.map((s, i) => ({ ...s, color: colour(`bar-${levels[i]}`) })) : series;
  const toggle = (/** @type {string} */ name, /** @type {MouseEvent} */ e) => {
    const next = new Set(off);
    if (e.ctrlKey || e.metaKey) next.has(name) ? next.delete(name) : next.add(name);
    else if (off.size === series.length - 1 && !off.has(name)) next.clear();
    else series.forEach((s) => (s.name === name ? next.delete(s.name) : next.add(s.name)));
    setOff(next);
  };
  return html`<${Chart} x=${x} series=${drawn} kind=${panel.form} zero=${panel.form !== 'line'} off=${off} lit=${lit}
      time=${time} unit=${unit.axis} label=${panel.title || 'Graph'} ...${time ? sharing : {}} />
    ${panel.h > 4 && html`<div class="board-names">
      ${drawn.slice(0, mostNames).map((s, i) => html`<button key=${s.name} class="quiet small ${off.has(s.name) ? 'off'
        : ''}" title=${`${s.name}\nClick: only this. Ctrl and click: switch.`} onClick=${(e) => toggle(s.name, e)}
          onPointerEnter=${() => setLit(s.name)} onPointerLeave=${() => setLit(null)}>
        <span class="swatch" style=${{ background: s.color ?? seriesColour(i) }}></span>
        <span class="text">${oneLine(s.name, 120)}</span></button>`)}
      ${all > Math.min(series.length, mostNames) && html`<span class="soft">${plural(all, 'series', 'series')}
        ${all > series.length && `, ${count(series.length)} drawn`}</span>`}</div>`}`;
}

/** @param {{values: {name: string, value: number}[], write: (v: number) => string}} props */
function Figures({ values, write }) {
  if (values.length === 0) return nothing;
  return html`<div class="board-figures">${values.slice(0, mostFigures).map((v, i) => html`<div key=${i}>
      <b class="num">${Number.isFinite(v.value) ? write(v.value) : Number.isNaN(v.value) ? '–' : String(v.value)}</b>
      ${v.name !== '' && v.name !== '{}' && html`<span class="soft text" title=${v.name}>${oneLine(v.name, 120)}
        </span>`}</div>`)}
    ${values.length > mostFigures && html`<span class="soft">${plural(values.length, 'figure')}, ${mostFigures} shown
      </span>`}</div>`;
}

/** compare orders two cells; what has no value comes last. @param {any} a @param {any} b @param {boolean} number */
function compare(a, b, number) {
  const none = Number(a === null) - Number(b === null);
  if (none !== 0 || a === null) return none;
  return number ? Number(a) - Number(b) : String(a) < String(b) ? -1 : String(a) > String(b) ? 1 : 0;
}

/** @param {{answer: Answer & {kind: 'rows'}, write: ((v: number) => string)|null}} props */
function Table({ answer: { columns, rows, cut }, write }) {
  const [by, setBy] = useState({ column: -1, up: false });
  const numeric = columns.map((c) => sqltext.isNumeric(c.type));
  const sorted = by.column < 0 || by.column >= columns.length ? rows
    : [...rows].sort((a, b) => {
      const [x, y] = [a[by.column], b[by.column]];
      return x === null || y === null ? compare(x, y, false) : (by.up ? 1 : -1) * compare(x, y, numeric[by.column]);
    });
  const shown = (/** @type {any} */ v, /** @type {number} */ i) => (v !== null && numeric[i] && write
    && sqltext.isFloat(columns[i].type) ? write(Number(v)) : oneLine(cell(v, columns[i].type, zone.value), 500));
  return html`<div class="board-rows" tabindex="0" role="region" aria-label="Rows"><table class="list"><thead><tr>
      ${columns.map((c, i) => html`<th key=${i} scope="col" class=${numeric[i] ? 'num' : ''}
        aria-sort=${by.column === i ? (by.up ? 'ascending' : 'descending') : 'none'}><button class="quiet small"
          onClick=${() => setBy({ column: i, up: by.column === i ? !by.up : !numeric[i] })}>${oneLine(c.name, 80)}
          ${by.column === i ? (by.up ? ' ↑' : ' ↓') : ''}</button></th>`)}</tr></thead>
    <tbody>${sorted.map((r, k) => html`<tr key=${k}>${r.map((v, i) => html`<td key=${i}
      class="${numeric[i] ? 'num' : ''} ${v === null ? 'soft' : ''}">${shown(v, i)}</td>`)}</tr>`)}</tbody></table>
    ${cut && html`<p class="soft">The first ${count(rows.length)} rows; more exist.</p>`}</div>`;
}

/** @param {{answer: Answer & {kind: 'rows'}}} props */
function Logs({ answer: { columns, rows, cut } }) {
  const known = columns.map((c) => ({ name: c.name, type: c.type, semantic: '', timeIndex: false, nullable: true }));
  const roles = rolesOf(/** @type {any} */ (known));
  const at = (/** @type {string|null} */ name) => columns.findIndex((c) => c.name === name);
  const time = columns.findIndex((c) => sqltext.isTime(c.type)), level = at(roles.level);
  const line = at(roles.message) >= 0 ? at(roles.message) : columns.findIndex((c) => sqltext.isText(c.type));
  const rest = columns.map((_, i) => i).filter((i) => i !== time && i !== level && i !== line);
  return html`<ol class="board-logs" tabindex="0" aria-label="Lines">${rows.map((r, k) => html`<li key=${k}>
      ${time >= 0 && html`<time class="num soft">${cell(r[time], columns[time].type, zone.value)}</time>`}
      ${level >= 0 && r[level] !== null && html`<span class=${`level level-${levelOf(r[level])}`}>
        ${oneLine(String(r[level]), 20)}</span>`}
      <span class="text">${line >= 0 && r[line] !== null ? oneLine(String(r[line]), 2000) : ''}</span>
      ${rest.filter((i) => r[i] !== null).map((i) => html`<span key=${i} class="soft">${columns[i].name}=${
        oneLine(cell(r[i], columns[i].type, zone.value), 200)}</span>`)}</li>`)}
    ${cut && html`<li class="soft">The first ${count(rows.length)} lines; more exist.</li>`}</ol>`;
}
