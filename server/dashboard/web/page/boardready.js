// The boards that come with the program: documents of dashboards that are built in, read as an import reads them.

import { asset } from '../core/api.js';
import { read } from '../core/boardimport.js';

/** ready are their names, what they need, and their files. */
export const ready = [
  { id: 'server', name: 'This server', file: 'docs/connect/varve.json',
    about: 'Requests, writing, storage and memory: its own metrics from /metrics, sent to it by a collector' },
  { id: 'hosts', name: 'Hosts', file: 'docs/connect/hosts.json',
    about: 'Processors, memory, disks and network: the metrics of the node exporter' },
  { id: 'access', name: 'Access log', file: 'docs/connect/access.json',
    about: 'Requests by status, paths, clients: the table web_visits of the pipeline access' },
  { id: 'services', name: 'Services', file: 'page/services.json',
    about: 'Rate, errors and latency of each service and operation: the table opentelemetry_traces' },
];

/**
 * readReady reads one of them.
 * @param {string} id
 * @param {string} db
 */
export async function readReady(id, db) {
  const is = ready.find((r) => r.id === id);
  if (!is) throw new Error(`There is no board ${id} that is ready.`);
  const { board } = read(await asset(is.file), db);
  return { ...board, name: is.name };
}
