// What a chart shows in other forms: its values as a table to read, as CSV, and the drawing as a picture with its
// legend.

import { html, useState } from '../lib/ui.js';
import { count, oneLine, plural } from '../core/format.js';
import { writeRows } from '../core/rowtext.js';
import { rfc3339 } from '../core/time.js';
import { colour, seriesColour } from './canvas.js';
import { xText } from './chart.js';
import { Icon } from './icons.js';
import { Dialog, Pop } from './pop.js';
import { save } from './save.js';
import { copy } from './toast.js';

/** Rows and columns of the table to read; CSV has all. */
const mostRows = 500, mostColumns = 12;
/** Lines of the legend of a picture. */
const mostLegend = 24;

/**
 * @typedef {object} Drawn
 * @property {string} title the subject of the chart
 * @property {string} name of the file, without its ending
 * @property {number[]} x
 * @property {boolean} time
 * @property {{name: string, values: ArrayLike<number|null>, color?: string}[]} series in the order of their colours
 * @property {boolean} [legend] false: the colours are not those of series
 */

/** csvOf writes all values; times in UTC. @param {Drawn} d */
const csvOf = (d) => writeRows(
  [{ name: d.time ? 'time' : 'x', type: 'string' }, ...d.series.map((s) => ({ name: s.name, type: 'double' }))],
  d.x.map((x, i) => [d.time ? rfc3339(BigInt(Math.round(x * 1000)) * 1_000_000n) : x,
    ...d.series.map((s) => s.values[i] ?? null)]), { format: 'csv' });

/**
 * pictureOf is the drawing below its title and above its legend, on the ground of the page.
 * @param {HTMLCanvasElement} drawing
 * @param {Drawn} d
 * @returns {Promise<Blob>}
 */
function pictureOf(drawing, d) {
  const ratio = drawing.width / Math.max(1, drawing.clientWidth), line = 18, room = 12;
  const listed = d.legend === false ? [] : d.series.slice(0, mostLegend), left = d.legend === false ? 0
    : d.series.length - listed.length;
  const whole = document.createElement('canvas'), width = drawing.width / ratio, head = room + line + 6;
  const height = head + drawing.height / ratio + (listed.length + (left > 0 ? 1 : 0)) * line + room;
  whole.width = drawing.width;
  whole.height = Math.round(height * ratio);
  const g = /** @type {CanvasRenderingContext2D} */ (whole.getContext('2d'));
  g.scale(ratio, ratio);
  g.fillStyle = colour('bg');
  g.fillRect(0, 0, width, height);
  g.fillStyle = colour('text');
  g.font = '600 12px ui-monospace, monospace';
  g.textBaseline = 'middle';
  g.fillText(oneLine(d.title, 400), room, room + line / 2, width - 2 * room);
  g.drawImage(drawing, 0, head, width, drawing.height / ratio);
  g.font = '12px ui-monospace, monospace';
  listed.forEach((s, i) => {
    const y = head + drawing.height / ratio + i * line + line / 2;
    g.fillStyle = s.color ?? seriesColour(i);
    g.fillRect(room, y - 4, 9, 9);
    g.fillStyle = colour('text');
    g.fillText(oneLine(s.name, 400), room + 15, y, width - 2 * room - 15);
  });
  g.fillStyle = colour('text-soft');
  if (left > 0) g.fillText(`and ${count(left)} more`, room + 15, height - room - line / 2);
  return new Promise((resolve, reject) =>
    whole.toBlob((blob) => (blob ? resolve(blob) : reject(new Error('The chart is too large for a picture.')))));
}

/**
 * ChartMenu offers the other forms.
 * @param {{drawn: () => Drawn, host: () => HTMLElement|null}} props host: what the canvas is in
 */
export function ChartMenu({ drawn, host }) {
  const [read, setRead] = useState(/** @type {Drawn|null} */ (null));
  const picture = async () => {
    const drawing = host()?.querySelector('canvas'), d = drawn();
    if (drawing) save(await pictureOf(drawing, d), `${d.name}.png`);
  };
  return html`<${Pop} label=${html`<${Icon} name="download" />`} title="The chart in other forms"
    className="quiet small icon chart-menu" side="right" menu>
      ${(close) => html`
        <button role="menuitem" onClick=${() => { close(); setRead(drawn()); }}>Values as a table</button>
        <button role="menuitem" onClick=${() => { close(); save(csvOf(drawn()), `${drawn().name}.csv`); }}>
          Save values as CSV</button>
        <button role="menuitem" onClick=${() => { close(); void copy(csvOf(drawn())); }}>Copy values as CSV</button>
        <button role="menuitem" onClick=${() => { close(); void picture(); }}>Save a picture (PNG)</button>`}
    </${Pop}>${read && html`<${Values} drawn=${read} onClose=${() => setRead(null)} />`}`;
}

/** Values shows the values of a chart as text. @param {{drawn: Drawn, onClose: () => void}} props */
function Values({ drawn: d, onClose }) {
  const columns = d.series.slice(0, mostColumns), from = Math.max(0, d.x.length - mostRows);
  const cut = [from > 0 && `the last ${count(mostRows)} of ${plural(d.x.length, 'row')}`,
    columns.length < d.series.length &&
    `the first ${columns.length} of ${count(d.series.length)} series`].filter(Boolean);
  return html`<${Dialog} title="Values of the chart" className="chart-values" onClose=${onClose}>
    <p class="soft"><code>${oneLine(d.title, 400)}</code>
      ${cut.length > 0 && html` <b>${cut.join(', ')}; CSV has all</b>`}</p>
    <div class="scroll" tabindex="0" role="region" aria-label="Values">
      <table class="list"><thead>
        <tr><th scope="col">${d.time ? 'time' : 'x'}</th>
          ${columns.map((s) => html`<th key=${s.name} scope="col" class="num">${oneLine(s.name, 80)}</th>`)}</tr>
            </thead>
      <tbody>${d.x.slice(from)
        .map((x, i) => html`<tr key=${x}><td class="num nowrap">${xText(x, d.time)}</td>
          ${columns.map((s) => html`<td key=${s.name} class="num">${s.values[from + i] ?? ''}</td>`)}
          </tr>`)}</tbody></table></div>
    <div class="buttons"><button onClick=${() => void copy(csvOf(d))}><${Icon} name="copy" />CSV</button>
      <button class="primary" autofocus onClick=${onClose}>Close</button></div>
  </${Dialog}>`;
}
