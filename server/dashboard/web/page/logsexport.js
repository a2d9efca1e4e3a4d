// Rows into a file: the loaded rows, or all that match, in the server's own form, window after window of time.

import { html, useEffect, useRef, useState } from '../lib/ui.js';
import { described, isAbort, statement, stopped, TooLarge } from '../core/api.js';
import { user } from '../core/auth.js';
import { saveRows } from '../core/commands.js';
import { bytes, count, object, plural } from '../core/format.js';
import { openRows } from '../core/rows.js';
import { csvRows } from '../core/rowtext.js';
import * as sqltext from '../core/sqltext.js';
import { zone } from '../core/state.js';
import { Dialog } from '../ui/pop.js';
import { copy, toast } from '../ui/toast.js';
import * as logsql from './logsparts.js';
import { save } from '../ui/save.js';

const rowsPerPage = 20_000;
/** memory is the most that is collected when the browser cannot write to a file, bytes. */
export const bounds = { memory: 200 << 20 };

/**
 * windows cuts the range into pieces of about so many rows, newest first; no instant lies in two.
 * @param {import('../ui/histogram.js').Buckets} buckets
 * @param {{from: bigint, to: bigint}} range
 * @returns {{from: bigint, to: bigint}[]}
 */
export function windows(buckets, range) {
  const list = [];
  let end = range.to, rows = 0;
  const n = buckets.counts[0]?.length ?? 0;
  for (let b = n - 1; b >= 0; b--) {
    const here = buckets.counts.reduce((s, c) => s + c[b], 0);
    const edge = buckets.start + BigInt(b + 1) * buckets.step;
    if (rows > 0 && rows + here > rowsPerPage && edge < end) {
      list.push({ from: edge, to: end });
      end = edge;
      rows = 0;
    }
    rows += here;
  }
  list.push({ from: range.from, to: end });
  return list;
}

/** fileName is a name that every system takes. @param {string} table @param {string} ending */
const fileName = (table, ending) => `${table}.${ending}`.replace(/[^\w.-]/g, '_');

/** @param {{run: import('./logsrun.js').LogsRun, shown: string[], onClose: () => void}} props */
export function Export({ run, shown, onClose }) {
  const [format, setFormat] = useState('csv');
  const [all, setAll] = useState(true);
  const [columns, setColumns] = useState('all');
  const [safe, setSafe] = useState(false);
  const [done, setDone] = useState(/** @type {{rows: number, size: number}|null} */ (null));
  const [rowSize, setRowSize] = useState(0);
  const [large, setLarge] = useState('');
  const control = useRef(new AbortController());
  const rows = run.rows.value, scope = run.scope.value, total = run.stale('histogram') ? null : run.total.value;
  useEffect(() => {
    if (rows) void rows.text({ format: 'ndjson', from: 0, to: 100 })
      .then((t) => setRowSize(t.length / Math.max(1, Math.min(100, rows.count))), () => {});
  }, [rows]);
  if (!rows || !scope) return null;
  const roles = scope.roles;
  const visible = [roles.time?.name, roles.level, ...shown, roles.message].filter((n, i, l) => n && l.indexOf(n) === i);
  const names = format === 'text' ? [roles.time?.name, roles.message].filter(Boolean) : columns === 'all'
    ? rows.columns.map((c) => c.name) : visible;
  const picked = names.map((n) => rows.columns.findIndex((c) => c.name === n)).filter((i) => i >= 0);
  const go = async () => {
    control.current = new AbortController();
    const name = fileName(scope.table, format === 'text' ? 'txt' : format);
    try {
      if (!all) {
        save(await rows.text({ format: /** @type {any} */ (format), columns: picked, safe, zone: zone.value,
          whole: true }), name);
        toast(`${plural(rows.total, 'row')} saved in ${name}`, { kind: 'good' });
        onClose();
        return;
      }
      const sink = await openSink(name);
      if (!sink) return;
      let written = 0;
      try {
        written = await everything(run, names.map(String), format, safe, sink, control.current.signal, setDone);
        await sink.close();
      } catch (e) {
        await sink.abort();
        throw e;
      }
      toast(`${plural(written, 'row')} saved in ${name}`, { kind: 'good' });
      onClose();
    } catch (e) {
      setDone(null);
      if (e instanceof TooLarge) return setLarge(e.message);
      toast(e === stopped ? 'The export was cancelled; no file was kept.' : described(e).message,
        { kind: e === stopped ? '' : 'bad' });
    }
  };
  const close = () => {
    control.current.abort(stopped);
    onClose();
  };
  const command = saveRows({ table: scope.table, columns: columns === 'all' && format !== 'text' ? []
    : names.map(String), where: sqltext.where(...scope.filters).replace(/^ WHERE /, ''), since: scope.range.from,
    until: scope.range.to },
    fileName(scope.table, format === 'text' ? 'csv' : format));
  if (large) {
    return html`<${Dialog} title="Export rows" onClose=${close}>
      <p>${large} A shorter range or fewer columns are less; in a terminal this command saves all of
        them${user.value && ', and asks for the password'}:</p>
      <pre class="mono command">${command}</pre>
        <div class="buttons"><button onClick=${() => setLarge('')}>Back</button>
          <button class="primary" onClick=${() => copy(command, 'Command copied')}>Copy</button></div></${Dialog}>`;
  }
  return html`<${Dialog} title="Export rows" onClose=${close}>
    <form onSubmit=${(e) => { e.preventDefault(); void go(); }}>
    <label>Format<select name="format" value=${format} onChange=${(e) => setFormat(e.target.value)}>
      <option value="csv">CSV with names</option><option value="ndjson">JSON lines</option>
        <option value="json">JSON</option><option value="text">Text: time and message</option></select></label>
    <label>Rows<select name="rows" value=${all ? 'all' : 'loaded'} onChange=${(e) => setAll(e.target.value === 'all')}>
      <option value="all">all that match: ${total === null ? 'not counted'
        : `${count(total)}, about ${bytes(total * rowSize * (format === 'ndjson' || format === 'json' ? 1 : 0.6))}`}
          </option><option value="loaded">those loaded: ${count(rows.total)}</option></select></label>
    <label>Columns<select name="columns" value=${columns} disabled=${format === 'text'}
      onChange=${(e) => setColumns(e.target.value)}><option value="all">all ${rows.columns.length}</option>
        <option value="shown">those shown: ${visible.length}</option></select></label>
    ${format === 'csv' && html`<label class="check">
      <input type="checkbox" checked=${safe}
        onChange=${(e) => setSafe(e.target.checked)} />Safe for spreadsheets: an apostrophe before = + - @</label>`}
    ${done && html`<div><progress max=${total ?? 1} value=${done.rows}>
      </progress> <span class="num">${count(done.rows)} rows, ${bytes(done.size)}</span></div>`}
    <div class="buttons"><button type="button" onClick=${close}>Cancel</button>
      <button class="primary" disabled=${done !== null}>Export</button></div></form></${Dialog}>`;
}

/**
 * @typedef {{write: (part: string|ArrayBuffer) => Promise<void>, close: () => Promise<void>, abort: () =>
 *   Promise<void>}} Sink
 */

/**
 * openSink opens a file if the browser can write to one; else it collects the text.
 * @param {string} name
 * @returns {Promise<Sink|null>} null: the user closed the dialog
 */
async function openSink(name) {
  const picker = /** @type {any} */ (globalThis).showSaveFilePicker;
  if (picker && !navigator.webdriver) {
    try {
      const file = await (await picker({ suggestedName: name })).createWritable();
      return { write: (part) => file.write(part), close: () => file.close(), abort: () => file.abort() };
    } catch (e) {
      if (isAbort(e)) return null;
    }
  }
  /** @type {BlobPart[]} */
  let parts = [];
  let size = 0;
  return {
    write: async (part) => {
      parts.push(part);
      size += typeof part === 'string' ? part.length : part.byteLength;
      if (size > bounds.memory)
        throw new TooLarge(
          `This browser cannot write to a file directly, and more than ${bytes(bounds.memory)} do not fit in memory.`);
    },
    close: async () => {
      const link = document.createElement('a');
      link.href = URL.createObjectURL(new Blob(parts,
        { type: name.endsWith('.csv') ? 'text/csv' : 'application/octet-stream' }));
      link.download = name;
      link.click();
      setTimeout(() => URL.revokeObjectURL(link.href), 60_000);
    },
    abort: async () => { parts = []; },
  };
}

/**
 * everything writes all matching rows and returns how many it wrote, which may be more than were counted before.
 * @param {import('./logsrun.js').LogsRun} run
 * @param {string[]} names
 * @param {string} format
 * @param {boolean} safe
 * @param {Sink} sink
 * @param {AbortSignal} signal
 * @param {(done: {rows: number, size: number}) => void} tell
 */
async function everything(run, names, format, safe, sink, signal, tell) {
  const scope = /** @type {logsql.Scope} */ (run.scope.value);
  const list = names.map(sqltext.name).join(', ');
  const buckets = run.stale('histogram') ? null : run.buckets.value;
  const parts = buckets ? windows(buckets, buckets.range) : [scope.range];
  const direct = format === 'csv' && !safe; // the server's bytes are written as they are
  let rows = 0, size = 0, first = true;
  for (const range of parts) {
    const sql = logsql.allRows({ ...scope, range }, list);
    const body = await statement(sql, { signal, format: direct ? (first ? 'csvWithNames' : 'csv') : undefined });
    let part = /** @type {string|ArrayBuffer} */ (body);
    if (direct) {
      rows += csvRows(body, first ? 1 : 0);
    } else {
      const page = await openRows(body);
      rows += page.count;
      part = format === 'json'
        ? (await page.slice(0, page.count)).map((r, i) => (first && i === 0 ? '[' : ',\n ') + object(page.columns, r))
        .join('') : await page.text({ format: /** @type {any} */ (format), safe, head: first, zone: zone.value });
      page.free();
    }
    size += typeof part === 'string' ? part.length : part.byteLength;
    await sink.write(part);
    first = false;
    tell({ rows, size });
  }
  if (format === 'json') await sink.write(rows === 0 ? '[]\n' : ']\n');
  return rows;
}
