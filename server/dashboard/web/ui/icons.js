// Icons: strokes on a grid of 16, drawn inline so that they take the colour of the text beside them.

import { html } from '../lib/ui.js';

/** @type {Record<string, string>} */
const paths = {
  logs: 'M2.5 4h11M2.5 8h11M2.5 12h7',
    sql: 'M3 4c0-1.1 2.2-2 5-2s5 .9 5 2-2.2 2-5 2-5-.9-5-2v8c0 1.1 2.2 2 5 2s5-.9 5-2V4M3 8c0 1.1 2.2 2 5 2s5-.9 5-2',
  metrics: 'M2 13.5h12M3 11l3.5-4.5 2.5 2L13 3', traces: 'M2 3.5h7M5 8h6M8 12.5h6',
    boards: 'M2 2.5h5v5H2zM9 2.5h5v3H9zM9 7.5h5v6H9zM2 9.5h5v4H2z',
  pipelines: 'M2 4h4v4h4v4h4M2 12h4M10 4h4', alerts: 'M4 11V7a4 4 0 0 1 8 0v4l1.5 1.5h-11zM6.8 14.5h2.4',
  ingest: 'M8 2v8M5 7l3 3 3-3M2.5 11v2.5h11V11', status: 'M1.5 8h3l2-5 3 10 2-5h3',
    clock: 'M8 14A6 6 0 1 0 8 2a6 6 0 0 0 0 12M8 5v3.2l2.2 1.6',
  chevron: 'M4 6l4 4 4-4', left: 'M10 3L5 8l5 5', right: 'M6 3l5 5-5 5', up: 'M3 10l5-5 5 5', down: 'M3 6l5 5 5-5',
    close: 'M4 4l8 8M12 4l-8 8', plus: 'M8 3v10M3 8h10', minus: 'M3 8h10',
  copy: 'M5.5 5.5v-3h8v8h-3M2.5 5.5h8v8h-8z', search: 'M7 12A5 5 0 1 0 7 2a5 5 0 0 0 0 10M10.8 10.8L14 14',
    sun:
    'M8 11a3 3 0 1 0 0-6 3 3 0 0 0 0 6M8 1.5v1.3M8 13.2v1.3M1.5 8h1.3M13.2 8h1.3M3.4 3.4l.9.9M11.7 11.7l.9.9M3.4 ' +
    '12.6l.9-.9M11.7 4.3l.9-.9',
  moon: 'M13 9.8A5.6 5.6 0 0 1 6.2 3 5.6 5.6 0 1 0 13 9.8',
    globe: 'M8 14A6 6 0 1 0 8 2a6 6 0 0 0 0 12M2 8h12M8 2c2 2 2.5 4 2.5 6S10 12 8 14C6 12 5.5 10 5.5 8S6 4 8 2',
  user: 'M8 8a3 3 0 1 0 0-6 3 3 0 0 0 0 6M2.5 14c.5-3 2.7-4.3 5.5-4.3s5 1.3 5.5 4.3',
    help: 'M8 14A6 6 0 1 0 8 2a6 6 0 0 0 0 12M6.2 6.3a1.8 1.8 0 1 1 2.6 1.6c-.6.3-.8.7-.8 1.3M8 11.3v.1',
  menu: 'M3 8h.01M8 8h.01M13 8h.01', play: 'M4.5 3v10l8-5z', stop: 'M4 4h8v8H4z',
    live: 'M8 8h.01M5 5a4.2 4.2 0 0 0 0 6M11 5a4.2 4.2 0 0 1 0 6M3 3a7 7 0 0 0 0 10M13 3a7 7 0 0 1 0 10',
  link: 'M6.5 9.5l3-3M7 4.5l1.5-1.5a3 3 0 0 1 4.3 4.3L11 9M9 11.5L7.5 13a3 3 0 0 1-4.3-4.3L5 7',
    star: 'M8 2l1.8 3.8 4.2.5-3.1 2.9.8 4.1L8 11.3l-3.7 2 .8-4.1L2 6.3l4.2-.5z',
    table: 'M2 3h12v10H2zM2 6.5h12M6.5 3v10',
  wider: 'M6 5L2.5 8 6 11M10 5l3.5 3L10 11', download: 'M8 2v8M5 7l3 3 3-3M3 13.5h10',
    trash: 'M3 4.5h10M6 4.5v-2h4v2M4.5 4.5l.7 9h5.6l.7-9',
    fields: 'M2.5 3.5h4M2.5 8h4M2.5 12.5h4M9.5 3.5h4M9.5 8h4M9.5 12.5h4',
    refresh: 'M13 5a5.5 5.5 0 1 0 .5 4.5M13 2v3h-3', pin: 'M6 2h4l-.5 4 2.5 3H4l2.5-3zM8 9v5',
};

/** Icon draws one of them; its meaning is said by the button around it. @param {{name: string}} props */
export const Icon = ({ name }) => html`<svg class="i" viewBox="0 0 16 16" aria-hidden="true">
  <path d=${paths[name] ?? ''} /></svg>`;
