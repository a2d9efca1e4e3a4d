// Ingest: how data gets here. What there is on the left, how to send it in the middle, and a box to try it.

import { html, useState } from '../lib/ui.js';
import { request, root } from '../core/api.js';
import * as auth from '../core/auth.js';
import { Figures } from '../core/exposition.js';
import { plural } from '../core/format.js';
import { documents, read } from '../core/documents.js';
import { db, session } from '../core/state.js';
import { Icon } from '../ui/icons.js';
import { Tabs } from '../ui/tabs.js';
import { copy } from '../ui/toast.js';
import { usePoll } from '../ui/usepoll.js';
import { TryBox, tableAtFirst } from './trybox.js';
import { ways } from './ways.js';

export const state = /** @type {Record<string, import('../core/state.js').Key>} */ ({
  way: { type: 'text', default: 'lines' },
  snippet: { type: 'number', default: 0 },
  form: { type: 'text', default: 'ingest', of: ['ingest', 'lineproto', 'jsonput', 'logpush'] },
  t: { type: 'text', default: '' },
  kind: { type: 'text', default: 'auto', of: ['auto', 'text', 'ndjson', 'json'] },
  p: { type: 'text', default: '' },
  time: { type: 'text', default: 'auto' },
  skip: { type: 'switch', default: false },
  depth: { type: 'number', default: 10 },
});

/** @param {{state: import('../core/state.js').PageState}} props */
export function Page({ state }) {
  const features = session.value.features;
  const there = ways.filter((w) => !w.needs || !features || features.includes(w.needs));
  const way = there.find((w) => w.id === state.get('way')) ?? there[0];
  const snippet = way.snippets[state.get('snippet')] ?? way.snippets[0];
  const place = {
    base: root.href, host: root.hostname, port: root.port || (root.protocol === 'https:' ? '443' : '80'),
      tls: root.protocol === 'https:',
    db: db.value, table: state.get('t') || tableAtFirst, user: auth.user.value,
  };
  const text = snippet.text(place);
  return html`<div class="toolbar"><h1>Ingest</h1>
    <span class="soft">Into database <b>${db.value}</b> of <code>${root.host}</code></span></div>
    <div class="content ingest">
      <nav class="ways" aria-label="Ways to send">
        ${there.map((w) => html`<button key=${w.id} class="quiet" aria-pressed=${w.id === way.id ? 'true' : 'false'}
          onClick=${() => state.set({ way: w.id, snippet: 0 })}>
          <b>${w.title}</b><span class="soft">${w.hint}</span></button>`)}
      </nav>
      <section class="how" aria-label="How to send">
        <h2>${way.title}</h2>
        <${Tabs} label="Snippets" tabs=${way.snippets.map((s, i) => ({ id: String(i), text: s.title }))}
          tab=${String(way.snippets.indexOf(snippet))}
            onTab=${(/** @type {string} */ i) => state.set({ snippet: Number(i) })} />
        <div class="snippet"><pre class="mono" tabindex="0" role="region" aria-label="Snippet"
          data-run=${snippet.run ? '1' : '0'}>${text}</pre>
          <button class="small" onClick=${() => copy(text)}><${Icon} name="copy" />Copy</button></div>
        ${place.user && html`<p class="soft">The password is taken from <code>$PASSWORD</code>.</p>`}
        <${Seen} key=${way.id} way=${way} />
        <p class="soft">More: <button class="link" onClick=${() => read(way.docs)}>
          ${Object.fromEntries(documents)[way.docs]}</button></p>
      </section>
      <${TryBox} state=${state} />
    </div>`;
}

/**
 * Seen shows whether data came in by one way of sending since the page was opened.
 * @param {{way: import('./ways.js').Way}} props
 */
function Seen({ way }) {
  const [past, setPast] = useState(/** @type {Figures[]} */ ([]));
  usePoll(async (signal) => {
    try {
      const text = await (await request('metrics', { background: true, signal })).text();
      setPast((p) => [...p.slice(-12), new Figures(text, Date.now())]);
    } catch {
      // Nothing to show: the banner says when the server is away, and some users may not read the figures.
    }
  }, 5000);
  if (past.length === 0) return html`<p class="seen soft">Looking for data from this way …</p>`;
  const now = past[past.length - 1], then = past[0];
  const mine = (/** @type {Record<string, string>} */ l) => way.paths.includes(l.path);
  const bad = (/** @type {Record<string, string>} */ l) => mine(l) && l.status >= '400';
  const total = now.sum('varve_http_requests_total', mine) || 0;
  const recent = total - (then.sum('varve_http_requests_total', mine) || 0);
  const failed = (now.sum('varve_http_requests_total', bad) || 0) - (then.sum('varve_http_requests_total', bad) || 0);
  const rows = way.rows ? (now.sum(way.rows) || 0) - (then.sum(way.rows) || 0) : 0;
  const seconds = Math.max(5, Math.round((now.at - then.at) / 1000)), when = seconds >= 55 ? 'in the last minute'
    : `in the last ${seconds} s`;
  const what = rows > 0 ? `${plural(rows, 'row')} by ${plural(recent, 'request')}` : plural(recent, 'request');
  if (total === 0) return html`<p class="seen soft"><span class="dot"></span>No data has come this way yet.</p>`;
  return html`<p class="seen" role="status"><span class=${`dot ${recent > 0 ? 'on' : ''}`}></span>
    ${recent > 0 ? `${what} ${when}` : 'Nothing new since you opened this page'}
    <span class="soft">${plural(total, 'request')} since the server started</span>
      ${failed > 0 && html` <b class="bad">${plural(failed, 'request')} refused</b>`}</p>`;
}
