// The requests of the last half hour by what they asked for: how many, and how they were answered.

import { html } from '../lib/ui.js';
import { rate } from '../core/exposition.js';
import { count, plural, short } from '../core/format.js';
import { readings } from '../core/watch.js';

const name = 'varve_http_requests_total';
/** Paths that are listed. */
const most = 20;

/** @typedef {{path: string, now: number, all: number, refused: number, failed: number}} Line now: a second */

/**
 * linesOf counts by path between two readings.
 * @param {import('../core/exposition.js').Figures} first
 * @param {import('../core/exposition.js').Figures} before
 * @param {import('../core/exposition.js').Figures} now
 * @returns {Line[]}
 */
export function linesOf(first, before, now) {
  const paths = [...new Set(now.samples(name).map((s) => s.labels.path ?? ''))];
  const grown = (/** @type {(labels: Record<string, string>) => boolean} */ pass) =>
    Math.max(0, (now.sum(name, pass) || 0) - (first.sum(name, pass) || 0));
  return paths.map((path) => ({
    path, now: rate(before, now, name, (l) => l.path === path),
    all: grown((l) => l.path === path), refused: grown((l) => l.path === path && l.status >= '400' && l.status < '500'),
      failed: grown((l) => l.path === path && l.status >= '500'),
  })).filter((l) => l.all > 0).sort((a, b) => b.all - a.all || (a.path < b.path ? -1 : 1));
}

export function Requests() {
  const list = readings.value;
  if (list.length < 2) return null;
  const now = list[list.length - 1], lines = linesOf(list[0], list[list.length - 2], now);
  const minutes = Math.max(1, Math.round((now.at - list[0].at) / 60_000));
  return html`<h2>Requests of the last ${minutes === 1 ? 'minute' : plural(minutes, 'minute')}</h2>
    <div class="scroll requests" tabindex="0" role="region" aria-label="Requests">
      <table class="list"><thead>
        <tr><th scope="col">Path</th><th scope="col" class="num">Now</th><th scope="col" class="num">Answered</th>
          <th scope="col" class="num">Refused (4xx)</th><th scope="col" class="num">Failed (5xx)</th></tr></thead>
      <tbody>${lines.slice(0, most)
        .map((l) => html`<tr key=${l.path}><td class="mono">${l.path || 'other'}</td>
          <td class="num">${Number.isFinite(l.now) ? `${short(Math.round(l.now * 10) / 10)}/s` : '–'}</td>
            <td class="num">${count(l.all)}</td>
        <td class="num ${l.refused > 0 ? 'level-warn' : 'faint'}">${count(l.refused)}</td>
          <td class="num ${l.failed > 0 ? 'level-error' : 'faint'}">${count(l.failed)}</td></tr>`)}
      ${lines.length > most &&
        html`<tr><td colspan="5" class="soft">${count(lines.length)} paths, the ${most} asked for most are listed</td>
        </tr>`}</tbody></table></div>`;
}
