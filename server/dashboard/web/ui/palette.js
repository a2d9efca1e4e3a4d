// Ctrl+K: pages, tables and actions by a few letters.

import { html, useEffect, useMemo, useState } from '../lib/ui.js';
import { json } from '../core/api.js';
import * as catalog from '../core/catalog.js';
import { documents, read } from '../core/documents.js';
import { opened } from '../core/keys.js';
import { score } from '../core/fuzzy.js';
import * as pipelines from '../core/pipelines.js';
import * as router from '../core/router.js';
import * as saved from '../core/saved.js';
import { db, theme, zone } from '../core/state.js';
import * as sqltext from '../core/sqltext.js';
import * as store from '../core/store.js';
import { copyLink } from './link.js';
import { Dialog } from './pop.js';

/** @typedef {{text: string, kind: string, run: () => void}} Command */

const asks = 'sql.ask';

/**
 * known are actions, documents, the things on the server that can be opened by name, and settings of pages.
 * @type {(() => Promise<Command[]>)[]}
 */
const known = [
  async () => [
    { text: 'Copy link', kind: 'action', run: () => void copyLink(false) },
    { text: 'Copy link with fixed times', kind: 'action', run: () => void copyLink(true) },
    ...['system', 'light', 'dark'].map((t) =>
      ({ text: `Theme: ${t}`, kind: 'action', run: () => { theme.value = t; } })),
    ...['local', 'UTC'].map((z) => ({ text: `Time zone: ${z}`, kind: 'action', run: () => { zone.value = z; } })),
  ],
  async () => documents.map(([file, title]) => ({ text: title, kind: 'document', run: () => read(file) })),
  async () => [{ text: `Ask before statements that take data away: ${store.read(asks, true) ? 'off' : 'on'}`,
    kind: 'setting of SQL', run: () => void store.write(asks, !store.read(asks, true)) }],
  async () => (await catalog.tables(db.value)).flatMap((t) => [
    { text: t.name, kind: 'logs of the table', run: () => void router.go('logs', { t: t.name }) },
    { text: t.name, kind: 'first rows in SQL',
      run: () => void router.go('sql', { sql: `SELECT * FROM ${sqltext.table(t.name)} LIMIT 100` }) },
    { text: t.name, kind: 'describe in SQL',
      run: () => void router.go('sql', { sql: `DESCRIBE TABLE ${sqltext.table(t.name)}` }) },
  ]),
  async () => {
    await saved.load();
    return saved.all.value.map((s) => ({ text: s.name, kind: s.kind === 'view' ? 'kept view' : 'kept query',
      run: () => void (s.kind === 'view' ? router.go('logs', s.definition.keys)
        : router.go('sql', { sql: s.definition.sql })) }));
  },
  async () => (await pipelines.names()).map((name) =>
    ({ text: name, kind: 'pipeline', run: () => void router.go('pipelines', { name }) })),
  async () => (await json('v1/metricsapi/api/v1/label/__name__/values',
    { query: { db: db.value, limit: '500' },
      background: true })).data.map((/** @type {string} */ m) =>
        ({ text: m, kind: 'metric', run: () => void router.go('metrics', { q: m }) })),
];

/** @param {{pages: {name: string, title: string}[]}} props */
export function Palette({ pages }) {
  const [text, setText] = useState('');
  const [at, setAt] = useState(0);
  const [all, setAll] = useState(
    /** @type {Command[]} */ (pages.map((p) => ({ text: p.title, kind: 'page', run: () => void router.go(p.name) }))));
  useEffect(() => {
    let wanted = true;
    for (const source of known) {
      source().then((list) => { if (wanted) setAll((before) => [...before, ...list]); }, () => {});
    }
    return () => { wanted = false; };
  }, []);
  const found = useMemo(() => all.map((c) => ({ c, s: score(text, `${c.text} ${c.kind}`) })).filter(({ s }) => s > 0)
    .sort((a, b) => b.s - a.s).slice(0, 50).map(({ c }) => c), [all, text]);
  useEffect(() => { document.getElementById(`palette-${at}`)?.scrollIntoView({ block: 'nearest' }); }, [at]);
  const close = () => { opened.value = ''; };
  const run = (/** @type {Command|undefined} */ c) => {
    close();
    if (c) setTimeout(c.run);
  };
  const key = (/** @type {KeyboardEvent} */ e) => {
    if (e.key === 'ArrowDown' || e.key === 'ArrowUp') {
      e.preventDefault();
      setAt((at + (e.key === 'ArrowDown' ? 1 : -1) + found.length) % Math.max(1, found.length));
    } else if (e.key === 'Enter') {
      e.preventDefault();
      run(found[at]);
    }
  };
  return html`<${Dialog} title="Command palette" bare className="palette" onClose=${close}>
    <input role="combobox" aria-expanded=${found.length > 0 ? 'true' : 'false'} aria-controls="palette-list"
      aria-activedescendant=${found.length ? `palette-${at}` : undefined} aria-label="Command"
        placeholder="Page, table or action" value=${text} autofocus spellcheck=${false}
      onInput=${(e) => { setText(e.target.value); setAt(0); }} onKeyDown=${key} />
    ${found.length === 0 ? html`<p class="pad faint">Nothing is called so</p>`
      : html`<ul id="palette-list" role="listbox" aria-label="Commands">
      ${found.map((c, i) => html`<li key=${c.kind + c.text} id=${`palette-${i}`} role="option"
        aria-selected=${i === at ? 'true' : 'false'} onPointerMove=${() => setAt(i)} onClick=${() => run(c)}>
        <span>${c.text}</span><span class="kind">${c.kind}</span></li>`)}
    </ul>`}
  </${Dialog}>`;
}
