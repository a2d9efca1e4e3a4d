// Looking inside: the level of the log, for a while or for good, and profiles of processors and memory as pictures.

import { html, signal, useEffect, useRef, useState } from '../lib/ui.js';
import { described, isAbort, request, stopped } from '../core/api.js';
import { showTime } from '../core/time.js';
import { zone } from '../core/state.js';
import { ErrorBox } from '../ui/error.js';
import { Icon } from '../ui/icons.js';

const levels = ['trace', 'debug', 'info', 'warn', 'error', 'off'];

/**
 * back is the level that is set again after a while, and when; it is kept when the page is left.
 * @type {import('../lib/ui.js').Signal<null|{to: string, at: number, timer: ReturnType<typeof setTimeout>}>}
 */
const back = signal(null);

/** setLevel changes the level and returns the level before. @param {string} filter */
async function setLevel(filter) {
  const text = await (await request('debug/log_level',
    { method: 'POST', body: filter, headers: { 'Content-Type': 'text/plain' }, retry: false })).text();
  return { text, from: /changed from (.*) to /.exec(text)?.[1] ?? '' };
}

function LogLevel() {
  const [level, setLevelField] = useState('debug');
  const [target, setTarget] = useState('');
  const [minutes, setMinutes] = useState('10');
  const [answer, setAnswer] = useState('');
  const [error, setError] = useState(/** @type {any} */ (null));
  const apply = async (/** @type {Event} */ e) => {
    e.preventDefault();
    setError(null);
    try {
      const before = back.value?.to;
      if (back.value) clearTimeout(back.value.timer);
      back.value = null;
      const { text, from } = await setLevel(target.trim() ? `info,${target.trim()}=${level}` : level);
      setAnswer(text);
      const ms = Number(minutes) * 60_000;
      if (ms > 0) {
        const to = before ?? from;
        back.value = { to, at: Date.now() + ms,
          timer: setTimeout(() => { back.value = null; void setLevel(to).catch(() => {}); }, ms) };
      }
    } catch (x) {
      if (!isAbort(x)) setError(described(x));
    }
  };
  return html`<section class="card"><h2>Log level</h2>
    <form class="row" onSubmit=${apply}>
      <label>Level <select value=${level} onChange=${(e) => setLevelField(e.target.value)}>
        ${levels.map((l) => html`<option key=${l}>${l}</option>`)}</select></label>
      <label>Of <input placeholder="everything" value=${target} size="14"
        title="server, engine, pipeline, …; empty: everything" onInput=${(e) => setTarget(e.target.value)} /></label>
      <label>For <select value=${minutes} onChange=${(e) => setMinutes(e.target.value)}>
        ${[['1', '1 minute'], ['10', '10 minutes'], ['60', '1 hour'],
          ['0', 'good']].map(([v, t]) => html`<option key=${v} value=${v}>${t}</option>`)}</select></label>
      <button class="primary">Set</button>
    </form>
    <p class="soft" role="status">${answer}
      ${back.value && html` Back to <b>${back.value.to}
      </b> at <span class="num">${showTime(BigInt(back.value.at) * 1_000_000n, 0, zone.value).slice(11)}
      </span> if this tab stays open.`}</p>
    ${error && html`<${ErrorBox} error=${error} />`}</section>`;
}

function Profiles() {
  const [seconds, setSeconds] = useState('5');
  const [busy, setBusy] = useState('');
  const [shown, setShown] = useState(/** @type {{name: string, url: string}|null} */ (null));
  const [error, setError] = useState(/** @type {any} */ (null));
  const control = useRef(new AbortController());
  useEffect(() => () => control.current.abort(new DOMException('left', 'AbortError')), []);
  useEffect(() => () => { if (shown) URL.revokeObjectURL(shown.url); }, [shown]);

  /** @param {'cpu'|'mem'} kind @param {'flamegraph'|'proto'} output */
  const take = async (kind, output) => {
    control.current = new AbortController();
    setBusy(kind === 'cpu' ? `Watching the processors for ${seconds} s` : 'Looking at the memory');
    setError(null);
    try {
      const answer = await request(`debug/prof/${kind}`,
        { method: 'POST', query: { output, seconds: kind === 'cpu' ? seconds : undefined }, body: '',
          signal: control.current.signal, background: true, retry: false });
      const type = output === 'flamegraph' ? 'image/svg+xml' : 'application/octet-stream';
      const url = URL.createObjectURL(new Blob([await answer.arrayBuffer()], { type }));
      if (output === 'flamegraph')
        setShown({ name: kind === 'cpu' ? `Processors, ${seconds} s` : 'Memory in use', url });
      else {
        const a = document.createElement('a');
        a.href = url;
        a.download = `varve-${kind}.pprof`;
        a.click();
        setTimeout(() => URL.revokeObjectURL(url), 10_000);
      }
    } catch (x) {
      if (!isAbort(x)) setError(described(x));
    }
    setBusy('');
  };
  return html`<section class="card"><h2>Profiles</h2>
    <div class="row">
      <label>Seconds <select value=${seconds} onChange=${(e) => setSeconds(e.target.value)}>
        ${['1', '5', '15', '30'].map((s) => html`<option key=${s}>${s}</option>`)}</select></label>
      <button class="primary" disabled=${busy} onClick=${() => void take('cpu', 'flamegraph')}>Processors</button>
      <button class="primary" disabled=${busy} onClick=${() => void take('mem', 'flamegraph')}>Memory</button>
      <button disabled=${busy} title="For the pprof tool" onClick=${() => void take('cpu', 'proto')}>
        <${Icon} name="download" />Processors (pprof)</button>
      <button disabled=${busy} title="For the pprof tool" onClick=${() => void take('mem', 'proto')}>
        <${Icon} name="download" />Memory (pprof)</button>
      ${busy && html`<span role="status">
        ${busy} … <button class="small" onClick=${() => control.current.abort(stopped)}>Cancel</button></span>`}
    </div>
    ${error && html`<${ErrorBox} error=${error} />`}
    ${shown && html`<figure class="flame">
      <figcaption>${shown.name} <a href=${shown.url} target="_blank" rel="noopener noreferrer">open as an image</a>
        </figcaption>
      <div class="scroll" tabindex="0" role="region" aria-label="Flame graph">
        <img src=${shown.url} alt=${`Flame graph: ${shown.name}`} /></div></figure>`}
    ${!shown && !busy && html`<p
      class="soft">A flame graph shows where time or memory goes: the wider a bar, the more. Bars lie on those that
        called them.</p>`}</section>`;
}

export const Inside = () => html`<${LogLevel} /><${Profiles} />`;
