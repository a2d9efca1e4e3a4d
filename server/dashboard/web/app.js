// The frame: rail, the page that the address names, sign-in, palette, shortcuts, and messages about requests. What a
// page is stands in ../dashboard.go.

import { effect, html, render, useEffect, useState } from './lib/ui.js';
import * as auth from './core/auth.js';
import * as router from './core/router.js';
import { PageState, dark, notes, session, theme, zone } from './core/state.js';
import { ApiError, bring, json, list, lost, running } from './core/api.js';
import { databases } from './core/catalog.js';
import * as keys from './core/keys.js';
import { db, frame } from './core/state.js';
import { nowNanos, zoneLabel } from './core/time.js';
import { plural } from './core/format.js';
import { Icon } from './ui/icons.js';
import { lazy, over, sheet } from './ui/lazy.js';
import { walk } from './ui/pop.js';
import { Toasts, toast } from './ui/toast.js';

/**
 * pages lists the pages in the order of the rail. Logs comes first and loads as little as it can: what opens over it is
 * loaded when it opens.
 */
const pages = [
  { name: 'logs', title: 'Logs', key: 'l', load: () => import('./page/logs.js') },
  { name: 'sql', title: 'SQL', key: 's', load: () => import('./page/sql.js') },
  { name: 'metrics', title: 'Metrics', key: 'm', load: () => import('./page/metrics.js') },
  { name: 'traces', title: 'Traces', key: 't', load: () => import('./page/traces.js') },
  { name: 'boards', title: 'Boards', key: 'b', load: () => import('./page/boards.js') },
  { name: 'alerts', title: 'Alerts', key: 'a', load: () => import('./page/alerts.js') },
  { name: 'pipelines', title: 'Pipelines', key: 'p', load: () => import('./page/pipelines.js') },
  { name: 'ingest', title: 'Ingest', key: 'i', load: () => import('./page/ingest.js') },
  { name: 'status', title: 'Status', key: 'x', load: () => import('./page/status.js') },
];

const Dialog = lazy(() => import('./ui/pop.js'), 'Dialog');
const Help = lazy(() => import('./ui/help.js'), 'Help');
const Palette = lazy(() => import('./ui/palette.js'), 'Palette');
const SignIn = lazy(() => import('./ui/signin.js'), 'SignIn');
const ZoneField = lazy(() => import('./ui/timepanel.js'), 'ZoneField');

/**
 * @typedef {{state: Record<string, import('./core/state.js').Key>, Page: (props: {state: PageState}) => any}}
 *   PageModule
 */

/**
 * loaded holds the pages that were shown, with their state.
 * @type {Map<string, {Page: PageModule['Page'], state: PageState}>}
 */
const loaded = new Map();

function Rail() {
  const current = router.page.value || 'logs';
  const open = (/** @type {string} */ name) => (/** @type {MouseEvent} */ e) => {
    if (e.ctrlKey || e.metaKey || e.shiftKey) return;
    e.preventDefault();
    router.go(name);
  };
  return html`<nav id="rail" aria-label="Pages">
    <a class="brand" href=${router.base.href} onClick=${open('logs')}>
      <img src=${new URL('./icon.svg', import.meta.url).href} alt="" />Varve</a>
    ${pages.map((p) => html`<a key=${p.name} class="page" href=${new URL(p.name, router.base).href}
      aria-current=${p.name === current ? 'page' : undefined} title=${`${p.title} (g ${p.key})`}
        onClick=${open(p.name)}>
      <${Icon} name=${p.name} /><span>${p.title}</span></a>`)}
    <div class="space"></div>
    <div class="foot">
      <${Database} />
      <button class="page" title="Theme: light, dark or as the system" onClick=${nextTheme}>
        <${Icon} name=${dark.value ? 'moon' : 'sun'} />
          <span>${{ system: 'System', light: 'Light', dark: 'Dark' }[/** @type {string} */ (theme.value)]}</span>
            </button>
      <${Zone} />
      ${auth.user.value && html`<button class="page" title="Sign out" onClick=${signOut}><${Icon} name="user" />
        <span>${auth.user.value}</span></button>`}
      <button class="page" title="Help (?)" onClick=${() => { keys.opened.value = 'help'; }}><${Icon} name="help" />
        <span>Help</span></button>
    </div>
  </nav>`;
}

function nextTheme() {
  theme.value = { system: 'light', light: 'dark', dark: 'system' }[/** @type {string} */ (theme.value)] ?? 'system';
}

async function signOut() {
  const [{ ask }] = await Promise.all([import('./ui/ask.js'), over()]);
  const answer = await ask({ title: 'Sign out', text: `${auth.user.value} is forgotten in all tabs of this browser.`,
    check: 'Also delete what this browser keeps for this user: history, tabs, saved views', yes: 'Sign out' });
  if (answer !== null) auth.signOut(answer === 'checked');
}

function Database() {
  const names = databases.value;
  useEffect(() => { if (names === null) void databases.load(); }, [auth.user.value]);
  return html`<${RailPop} icon="sql" text=${db.value} title="Database">
    ${(close) => html`<div role="menu" aria-label="Database" onKeyDown=${(e) => walk(e, e.currentTarget)}>
      ${(names ?? [db.value]).map((n) => html`<button key=${n} role="menuitemradio" autofocus=${n === db.value}
        aria-checked=${n === db.value ? 'true' : 'false'} onClick=${() => { frame.set({ db: n }); close(); }}>${n}
          ${n === db.value ? html`<span class="end">chosen</span>` : ''}</button>`)}</div>`}
  </${RailPop}>`;
}

function Zone() {
  return html`<${RailPop} icon="globe" text=${zoneLabel(zone.value)} title="Time zone">
    ${() => html`<label>Time zone of this browser<${ZoneField} /></label>`}
  </${RailPop}>`;
}

/**
 * RailPop is a small dialog over the rail. The rail itself would cut off its part outside.
 * @param {{icon: string, text: string, title: string, children: any}} props
 */
function RailPop({ icon, text, title, children }) {
  const [open, setOpen] = useState(false);
  const close = () => setOpen(false);
  return html`<button class="page" title=${`${title}: ${text}`} onClick=${() => setOpen(true)}><${Icon} name=${icon} />
    <span>${text}</span></button>
    ${open && html`<${Dialog} className="menu" title=${title} onClose=${close}>${children(close)}</${Dialog}>`}`;
}

/** Waiting shows that the server takes long: a thin bar, then the seconds and a way out. */
function Waiting() {
  const [now, setNow] = useState(performance.now());
  const foreground = running.value.filter((r) => !r.background);
  const busy = foreground.length > 0;
  useEffect(() => {
    if (!busy) return;
    const timer = setInterval(() => setNow(performance.now()), 200);
    return () => clearInterval(timer);
  }, [busy]);
  const since = Math.min(...foreground.map((r) => r.since));
  if (!busy || now - since < 400) return null;
  return html`<div class="bar" aria-hidden="true"></div>
    <div class="waiting"><span class="num">${((now - since) / 1000).toFixed(1)} s</span>
      <button class="small" onClick=${() => foreground.forEach((r) => r.abort())}>Cancel</button></div>`;
}

/** forWriters are the pages that a user who may not read can use. */
const forWriters = ['ingest', 'status'];

function Banners() {
  const [, tick] = useState(0);
  const blind = session.value.mode === 'wo' && !forWriters.includes(router.page.value);
  const off = lost.value;
  useEffect(() => {
    if (!off) return;
    const timer = setInterval(() => tick((n) => n + 1), 1000);
    return () => clearInterval(timer);
  }, [off]);
  return html`
    ${off && html`<div class="banner">
      <b role="status">No connection to the server.</b> <span
        class="num">Trying again in ${Math.max(0, Math.ceil((off.again - Date.now()) / 1000))} s.</span> What is shown
          stays.</div>`}
    ${blind && html`<div class="banner" role="status">
      <span class="grow"><b>Your user is write-only</b>: it may send data, and read none.</span>
        <button class="small" onClick=${() => void router.go('ingest')}>Go to Ingest</button></div>`}
    ${notes.value.length > 0 &&
      html`<div class="banner" role="status"><span class="grow">${notes.value.join('; ')}.</span>
        <button class="small" onClick=${() => { notes.value = []; }}>Close</button></div>`}`;
}

/**
 * Content is the page that the address names. Nothing is shown until its module is loaded: the page shown before would
 * read the new address as its own.
 */
function Content() {
  const page = pages.find((p) => p.name === router.page.value) ?? pages[0];
  const [, draw] = useState(0);
  const [failed, setFailed] = useState(false);
  const here = loaded.get(page.name);
  useEffect(() => {
    let wanted = true;
    document.title = `${page.title} · Varve`;
    if (here) return;
    bring(() => Promise.all([page.load(), sheet(`page/${page.name}.css`), page === pages[0] || over()]))
      .then(([{ Page, state }]) => {
      if (!loaded.has(page.name)) loaded.set(page.name, { Page, state: new PageState(state) });
      if (wanted) draw((n) => n + 1);
    }, () => { if (wanted) setFailed(true); });
    return () => { wanted = false; };
  }, [page.name]);
  if (failed) return html`<${Renewed} />`;
  if (!here) return html`<div class="toolbar"><h1>${page.title}</h1></div>
    <p class="state soft wait" role="status">Loading the page …</p>`;
  return html`<${here.Page} key=${page.name} state=${here.state} />`;
}

/** Renewed stands where a module of this build is gone: another version was installed. */
const Renewed = () => html`<div class="state" role="alert"><h2>A new version is installed</h2>
  <p>This tab is of an older one. Reloading keeps the address and with it what you look at.</p>
  <div class="actions"><button class="primary" onClick=${() => location.reload()}>Reload</button></div></div>`;

function App() {
  return html`<a class="skip" href="#page"
    onClick=${(e) => { e.preventDefault(); document.getElementById('page')?.focus(); }}>Skip to content</a>
    <${Rail} />
    <main id="main"><${Waiting} /><${Banners} /><div id="page" tabindex="-1"><${Content} /></div></main>
    ${keys.opened.value === 'palette' && html`<${Palette} pages=${pages} />`}
      ${keys.opened.value === 'help' && html`<${Help} />`}${auth.asking.value && html`<${SignIn} />`}<${Toasts} />`;
}

keys.push([
  ...pages.map((p) => ({ keys: `g ${p.key}`, text: `Go to ${p.title}`, run: () => void router.go(p.name) })),
  { keys: 'Mod+k', text: 'Command palette', run: () => { keys.opened.value = 'palette'; } },
  { keys: '?', text: 'Help', run: () => { keys.opened.value = 'help'; } },
  { keys: 't', text: 'Time range', run: () => document.getElementById('timerange')?.click() },
  { keys: 's', text: 'Copy link', run: async () => (await import('./ui/link.js')).copyLink(false) },
]);

/** greet asks for the user, the user's rights and the server's clock. */
async function greet() {
  try {
    const s = await json('v1/session', { background: true });
    session.value = { user: s.user ?? '', mode: s.mode ?? 'rw', version: s.version, features: s.features };
  } catch (e) {
    if (!(e instanceof ApiError) || e.status !== 404) throw e;
  }
  if (session.value.mode === 'wo') return;
  const sent = nowNanos();
  const rows = await list('SELECT now()', { background: true });
  const away = BigInt(rows[0][0]) * (String(rows[0][0]).length > 14 ? 1n : 1_000_000n) - (sent + nowNanos()) / 2n;
  if (away > 2_000_000_000n || away < -2_000_000_000n)
    toast(`This browser's clock is ${plural(Number((away < 0n ? -away : away) / 1_000_000_000n),
      'second')} ${away < 0n ? 'ahead of' : 'behind'} the server's.`);
}

await router.start();
effect(() => { document.documentElement.dataset.page = router.page.value || 'logs'; });
keys.start();
render(html`<${App} />`, document.body);
greet().catch(() => { // the page's own requests show the error; greet runs again when somebody signs in
  const { value } = auth.user;
  effect(() => { if (auth.user.value !== value) greet().catch(() => {}); });
});
