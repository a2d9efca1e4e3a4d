// The documents that are built in, and the one that is open in the help.

import { signal } from '../lib/ui.js';
import { opened } from './keys.js';

/** @type {[string, string][]} */
export const documents = [
  ['http.md', 'HTTP interface'], ['sql.md', 'SQL'], ['promql.md', 'Metrics language'], ['pipelines.md', 'Pipelines'],
    ['vrl.md', 'Scripts in pipelines'], ['config.md', 'Configuration'],
  ['ingest/json-lines.md', 'Sending JSON lines'], ['ingest/line-protocol.md', 'Sending line protocol'],
    ['ingest/otlp.md', 'Sending with OpenTelemetry'], ['ingest/remote-write.md', 'Sending with remote write'],
  ['ingest/log-push.md', 'Sending with log push'], ['ingest/json-put.md', 'Sending JSON put'],
    ['ingest/journald.md', 'Sending journals'], ['ingest/syslog.md', 'Sending syslog'],
];

/** reading is the one that is read, with the place in it behind #. */
export const reading = signal('');

/** read opens a document in the help. @param {string} name */
export function read(name) {
  reading.value = name;
  opened.value = 'help';
}

/**
 * follow is the document that a link of another leads to; '' when it is not built in.
 * @param {string} from
 * @param {string} to
 */
export function follow(from, to) {
  const path = new URL(to, `doc:///${from.replace(/#.*/, '')}`), name = path.pathname.slice(1);
  return path.protocol === 'doc:' && documents.some(([n]) => n === name) ? name + path.hash : '';
}
