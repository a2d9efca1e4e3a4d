// Status: the server, its work, findings that deserve a look, and actions of an operator.

import { html, useState } from '../lib/ui.js';
import { described, isAbort, json, list, request } from '../core/api.js';
import { plural } from '../core/format.js';
import { session } from '../core/state.js';
import { settings as readSettings } from '../core/toml.js';
import { look, readings } from '../core/watch.js';
import { ErrorBox } from '../ui/error.js';
import { Tabs } from '../ui/tabs.js';
import { usePoll } from '../ui/usepoll.js';
import { findings } from './findings.js';
import { Configuration } from './statusconfig.js';
import { About, Activity } from './statusfigures.js';
import { Inside } from './statusinside.js';
import { Queries } from './statusqueries.js';
import { Queues } from './statusqueues.js';
import { Requests } from './statusrequests.js';
import { Tables, load as loadTables } from './statustables.js';

const tabs = [
  { id: 'overview', text: 'Overview' }, { id: 'tables', text: 'Tables' }, { id: 'queries', text: 'Statements' },
    { id: 'config', text: 'Configuration' }, { id: 'inside', text: 'Log and profiles' },
];

export const state = /** @type {Record<string, import('../core/state.js').Key>} */ ({
  tab: { type: 'text', default: 'overview', of: tabs.map((t) => t.id) },
  sort: { type: 'text', default: '-size' },
});

/** @param {{state: import('../core/state.js').PageState}} props */
export function Page({ state }) {
  const [about, setAbout] = useState(
    /** @type {{status: any, clockMS: number|null, open: boolean, zone: string}} */
    ({ status: null, clockMS: null, open: false, zone: '' }));
  const [tables, setTables] = useState(/** @type {import('./statustables.js').Table[]|null} */ (null));
  const [config, setConfig] = useState(/** @type {import('../core/toml.js').Setting[]|null} */ (null));
  const [queues, setQueues] = useState(/** @type {import('./statusqueues.js').Queue[]} */ ([]));
  const [errors, setErrors] = useState(/** @type {Record<string, any>} */ ({}));

  /**
   * part runs one of the questions; a question that is refused says so in its own panel.
   * @param {string} name
   * @param {() => Promise<void>} run
   */
  const part = async (name, run) => {
    try {
      await run();
      setErrors((e) => (e[name] ? { ...e, [name]: undefined } : e));
    } catch (x) {
      if (!isAbort(x)) setErrors((e) => ({ ...e, [name]: described(x) }));
    }
  };
  const loadAll = async (/** @type {AbortSignal} */ signal) => {
    await Promise.all([
      part('figures', () => look(signal)),
      part('status', async () => {
        const [status, who] = await Promise.all([json('status', { background: true, signal }),
          json('v1/session', { background: true, signal })]);
        setAbout((a) => ({ ...a, status, open: who.auth_required === false, zone: who.default_timezone }));
      }),
      part('clock', async () => {
        const sent = Date.now();
        const now = Number((await list('SELECT cast(now() AS TIMESTAMP(3))', { background: true, signal }))[0][0]);
        setAbout((a) => ({ ...a, clockMS: (sent + Date.now()) / 2 - now }));
      }),
      part('queues', async () => setQueues((await json('v1/queues', { background: true, signal })).sources)),
      part('tables', async () => setTables(await loadTables(signal))),
    ]);
  };
  usePoll(loadAll, readings.value.length < 2 ? 1000 : 5000); // rates need two readings: the second comes soon
  usePoll((signal) => part('config',
    async () => setConfig(readSettings(await (await request('config', { background: true, signal })).text()))), 60_000);
  const tab = state.get('tab');
  const found = findings({ readings: readings.value, settings: config, status: about.status,
    tables: (tables ?? []).map((t) => ({ name: t.name, rows: t.rows })), clockMS: about.clockMS, open: about.open },
    location.hostname);
  return html`<div class="toolbar"><h1>Status</h1>
      <div class="status-tabs">
        <${Tabs} label="Parts of the status" tabs=${tabs} tab=${tab}
          onTab=${(/** @type {string} */ id) => state.set({ tab: id })} /></div><span class="grow"></span>
      ${session.value.mode !== 'rw' &&
        html`<span class="soft">Your user is ${session.value.mode === 'ro' ? 'read-only' : 'write-only'}: some panels
          are closed to it.</span>`}</div>
    <div class="content status" role="tabpanel" aria-label=${tabs.find((t) => t.id === tab)?.text} tabindex="0">
      ${tab === 'overview' && html`<${Findings} list=${found} ready=${readings.value.length > 0} />
        ${errors.status && html`<${ErrorBox} error=${errors.status} />`}
          <${About} status=${about.status} clockMS=${about.clockMS} zone=${about.zone}
            untold=${errors.clock?.message} />
        ${errors.figures ? html`<${ErrorBox} error=${errors.figures} />` : html`<${Activity} />
            <${Queues} queues=${queues} /><${Requests} />`}`}
      ${tab === 'tables' && html`<${Tables} tables=${tables} error=${errors.tables} sort=${state.get('sort')}
        onSort=${(/** @type {string} */ sort) => state.set({ sort }, false)}
          onChange=${() => void loadAll(new AbortController().signal)} />`}
      ${tab === 'queries' && html`<${Queries} settings=${config} />`}
      ${tab === 'config' && html`<${Configuration} settings=${config} error=${errors.config} />`}
      ${tab === 'inside' && html`<${Inside} />`}
    </div>`;
}

/** @param {{list: import('./findings.js').Finding[], ready: boolean}} props */
function Findings({ list, ready }) {
  if (!ready) return null;
  if (list.length === 0) return html`<p class="findings none"><span class="dot on"></span>Nothing needs a look.</p>`;
  return html`<section class="findings" aria-label="Findings"><h2>${plural(list.length, 'finding')}</h2>
    <ul>${list.map((f) => html`<li key=${f.text} class=${f.level}><b>${f.level === 'bad' ? 'Look at this' : 'Note'}
      </b> <span>${f.text} <span class="soft">${f.todo}</span></span></li>`)}</ul></section>`;
}
