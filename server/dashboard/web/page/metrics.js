// The Metrics page: panels below each other that share the range, the step and the cursor, and a drawer that explores.

import { batch, html, useEffect, useRef, useState } from '../lib/ui.js';
import { refresh } from '../core/state.js';
import { Icon } from '../ui/icons.js';
import { TimePicker } from '../ui/timepicker.js';
import { useKeys } from '../core/keys.js';
import { usePoll } from '../ui/usepoll.js';
import { Explore } from './metricsexplore.js';
import { Panel } from './metricspanel.js';
import { blank, keys, mostPanels, moved, panelsOf, patchOf } from './metricspanels.js';
import { gridOf, stepText, steps } from './metricsrun.js';

/** @type {Record<string, import('../core/state.js').Key>} */
export const state = { ...keys, step: { type: 'number', default: 0 }, more: { type: 'text', default: '' },
  of: { type: 'text', default: '' } };

/** @typedef {import('./metricspanel.js').Handle} Handle */

let ids = 0;

/** @param {{state: import('../core/state.js').PageState}} props */
export function Page({ state }) {
  const v = state.values.value;
  const panels = panelsOf(v);
  // the ids of the panels in order: a panel keeps its id, and so its answer, when it is moved
  const known = useRef(/** @type {number[]} */ ([]));
  while (known.current.length < panels.length) known.current.push(++ids);
  known.current.length = panels.length;
  const handles = useRef(/** @type {Map<number, Handle>} */ (new Map()));
  const [explore, setExplore] = useState(() => innerWidth > 900 || v.of !== '');
  const [active, setActive] = useState(0);
  const step = steps.includes(v.step) ? v.step : 0;
  const at = Math.min(active, panels.length - 1);
  const dragged = useRef(-1);

  const write = (/** @type {import('./metricspanels.js').Panel[]} */ list, /** @type {number[]} */ order,
    step = true) => {
    known.current = order;
    state.set(patchOf(list), step);
  };
  const current = () => handles.current.get(known.current[at]);
  const all = () => Promise.all([...handles.current.values()].map((h) => h.evaluate()));
  const together = async () => { // runs all panels by itself, for the same moment
    const shows = await Promise.all([...handles.current.values()].map((h) => h.ahead()));
    batch(() => shows.forEach((show) => show?.()));
  };
  const add = (/** @type {import('./metricspanels.js').Panel} */ panel, /** @type {number} */ place) => {
    if (panels.length >= mostPanels) return;
    write([...panels.slice(0, place), panel, ...panels.slice(place)],
      [...known.current.slice(0, place), ++ids, ...known.current.slice(place)]);
    setActive(place);
  };
  const move = (/** @type {number} */ from, /** @type {number} */ to) => {
    if (from < 0 || from === to || to < 0 || to >= panels.length) return;
    write(moved(panels, from, to), moved(known.current, from, to));
    setActive(to);
  };
  const remove = (/** @type {number} */ i) => {
    write(panels.filter((_, k) => k !== i), known.current.filter((_, k) => k !== i));
    setActive(Math.max(0, Math.min(i, panels.length - 2)));
  };
  useEffect(() => { current()?.show(); }, [panels.length]);
  useKeys([
    { keys: '/', text: 'To the editor', field: true, run: () => current()?.focus() },
    { keys: 'Mod+Enter', text: 'Run', run: () => current()?.submit() },
    { keys: 'r', text: 'Run all panels again', run: () => void all() },
    { keys: 'f', text: 'Explore', run: () => setExplore(!explore) },
    { keys: 'a', text: 'Add a panel', run: () => add(blank, panels.length) },
  ]);
  return html`<div class="toolbar">
      <h1>Metrics</h1>
      <button class="quiet icon" aria-pressed=${explore ? 'true' : 'false'} title="Explore (f)" aria-label="Explore"
        onClick=${() => setExplore(!explore)}><${Icon} name="fields" /></button>
      <button class="add-panel"
        title=${panels.length < mostPanels ? 'Add a panel (a)' : `A page holds ${mostPanels} panels`}
          disabled=${panels.length >= mostPanels} onClick=${() => add(blank, panels.length)}>
            <${Icon} name="plus" />Panel</button>
      <span class="grow"></span>
      <label class="soft">step <select aria-label="Step" value=${String(step)}
        onChange=${(e) => state.set({ step: Number(e.target.value) })}>
          <option value="0">auto (${stepText(gridOf(0).step)})</option>
            ${steps.map((s) => html`<option key=${s} value=${String(s)}>${stepText(s)}</option>`)}</select></label>
      <${TimePicker} />
    </div>
    ${refresh.value > 0 && html`<${Again} key=${refresh.value} run=${together} ms=${refresh.value * 1000} />`}
    <div class="metrics-page">
      ${explore && html`<${Explore} key=${v.of} service=${v.of}
        onService=${(/** @type {string} */ of) => state.set({ of }, false)}
          onQuery=${(/** @type {string} */ q) => current()?.query(q)} onClose=${() => setExplore(false)} />`}
      <div class="metrics-panels ${panels.length > 1 ? 'several' : ''}">
        ${panels.map((panel, i) => html`<${Panel} key=${known.current[i]} panel=${panel} step=${step} place=${i}
          count=${panels.length} active=${panels.length > 1 && i === at}
          set=${(patch, /** @type {boolean|undefined} */ asStep) => write(panelsOf(state.values.value)
            .map((p, k) => (k === i ? { ...p, ...patch } : p)), known.current, asStep)}
          onActive=${() => setActive(i)}
            onHandle=${(/** @type {Handle|null} */ h) => {
              const id = known.current[i];
              if (h) handles.current.set(id, h);
            }} onGone=${(/** @type {Handle} */ h) => {
              for (const [id, x] of handles.current) if (x === h) handles.current.delete(id);
            }}
          onMove=${(/** @type {number} */ by) => move(i, i + by)} onCopy=${() => add({ ...panel }, i + 1)}
            onRemove=${() => remove(i)}
          onDrag=${() => { dragged.current = i; }}
            onDrop=${() => { move(dragged.current, i); dragged.current = -1; }} />`)}
      </div>
    </div>`;
}

/** Again runs every so often. @param {{run: () => Promise<any>, ms: number}} props */
function Again({ run, ms }) {
  usePoll(async () => { await run(); }, ms);
  return null;
}
