// The menus of the Logs page: kept views; links, export, and earlier searches.

import { html, useEffect, useState } from '../lib/ui.js';
import { bring } from '../core/api.js';
import { count, duration } from '../core/format.js';
import * as router from '../core/router.js';
import * as saved from '../core/saved.js';
import { closed, session, zone } from '../core/state.js';
import * as store from '../core/store.js';
import { second, showShort } from '../core/time.js';
import { Icon } from '../ui/icons.js';
import { keep, remove } from '../ui/keep.js';
import { copyLink } from '../ui/link.js';
import { panelOf, ruleOf } from './logsrule.js';
import { rangeText } from '../ui/timepicker.js';
import { historyName } from './logsrun.js';

/** makeRule begins a rule of what is looked at. @param {import('./logsrun.js').LogsRun} run */
function makeRule(run) {
  const scope = run.scope.value;
  if (scope?.roles.time) void router.go('alerts', { make: '1', lang: 'sql', e: ruleOf(scope, run.state.get('db')) });
}

/** putOnBoard puts what is looked at on a board. @param {import('./logsrun.js').LogsRun} run */
async function putOnBoard(run) {
  const scope = run.scope.value;
  if (!scope?.roles.time) return;
  const { put } = await bring(() => import('./boardput.js'));
  put({ title: scope.table, type: 'logs', lang: 'sql', w: 24, h: 10,
    queries: [{ q: panelOf(scope, run.state.get('cols')), name: '' }] });
}

/**
 * LogsMenu is the content of the menu.
 * @param {{run: import('./logsrun.js').LogsRun, onExport: () => void, close: () => void}} props
 */
export function LogsMenu({ run, onExport, close }) {
  const does = (/** @type {() => void} */ f) => () => { close(); f(); };
  const looks = /** @type {import('./logsrun.js').Look[]} */ (store.read(historyName(), []));
  const [most, setMost] = useState(12);
  const before = looks.slice(0, most);
  return html`<button role="menuitem" onClick=${does(() => void copyLink(false))}>
        <${Icon} name="link" />Copy link<span class="end">s</span></button>
      <button role="menuitem" onClick=${does(() => void copyLink(true))}>
        <${Icon} name="link" />Copy link with fixed times</button>
      <button role="menuitem" disabled=${!run.rows.value} onClick=${does(onExport)}>
        <${Icon} name="download" />Export…</button>
      ${session.value.features?.includes('rules') && html`<button role="menuitem"
        disabled=${!run.scope.value?.roles.time} onClick=${does(() => makeRule(run))}>
        <${Icon} name="alerts" />Make a rule…</button>`}
      ${session.value.features?.includes('dashboards') && html`<button role="menuitem" title=${closed.value}
        disabled=${!run.scope.value?.roles.time || closed.value !== ''} onClick=${does(() => void putOnBoard(run))}>
        <${Icon} name="boards" />Put on a board…</button>`}
      ${before.length > 0 && html`<hr /><span class="soft small">Looked at before</span>
        ${before.map((l) => html`<button key=${l.at} role="menuitem"
          onClick=${does(() => void router.go('logs', l.keys))} title=${router.format(l.keys)}>
            <span class="look">${l.keys.t} ${l.keys.w ?? l.keys.q ?? ''}</span>
              <span class="end num">${l.rows === null ? ''
                : count(l.rows)} · ${duration(l.ms)} · ${rangeText({ from: l.keys.from ?? 'now-1h',
                  to: l.keys.to ?? 'now' },
                  zone.value)} · ${showShort(BigInt(Math.floor(l.at / 1000)) * second, zone.value)}</span></button>`)}
      ${looks.length > most &&
        html`<button role="menuitem" onClick=${() => setMost(looks.length)}>All ${count(looks.length)}</button>`}`}`;
}

/**
 * Views lists the kept views, those of the team first, and keeps the present one.
 * @param {{run: import('./logsrun.js').LogsRun, close: () => void}} props
 */
export function Views({ run, close }) {
  const [known, setKnown] = useState(false);
  useEffect(() => { saved.load().catch(() => {}).then(() => setKnown(true)); }, []);
  const views = saved.all.value.filter((s) => s.kind === 'view')
    .sort((a, b) => Number(a.local) - Number(b.local) || (a.name < b.name ? -1 : 1));
  const does = (/** @type {() => void} */ f) => () => { close(); f(); };
  const keepView = () => keep('view', 'Table, search, filters, columns and range, by name.',
    { page: 'logs', keys: { ...router.params.value, t: run.scope.value?.table ?? '' } });
  return html`<button role="menuitem" onClick=${does(() => void keepView())}>
      <${Icon} name="star" />Keep this view…</button><hr />
    ${views.length === 0 && html`<span class="soft small">${known ? 'No view is kept yet' : 'Reading …'}</span>`}
    ${views.map((s) => html`<span class="row" key=${s.id}>
      <button class="grow" role="menuitem" onClick=${does(() => void router.go('logs', s.definition.keys))}>
        ${s.name}${s.local && html`<span class="end">this browser</span>`}</button>
      <button role="menuitem" class="icon" aria-label=${`Remove ${s.name}`} onClick=${() => void remove(s)}>
        <${Icon} name="trash" /></button></span>`)}`;
}
