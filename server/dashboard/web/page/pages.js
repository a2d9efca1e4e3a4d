// The pages there are, in the order of the rail. A page is a module here, with a sheet of styles of the same name.

/** @type {{name: string, title: string, key: string, load: () => Promise<import('../app.js').PageModule>}[]} */
export const pages = [
  { name: 'logs', title: 'Logs', key: 'l', load: () => import('./logs.js') },
  { name: 'sql', title: 'SQL', key: 's', load: () => import('./sql.js') },
  { name: 'metrics', title: 'Metrics', key: 'm', load: () => import('./metrics.js') },
  { name: 'traces', title: 'Traces', key: 't', load: () => import('./traces.js') },
  { name: 'pipelines', title: 'Pipelines', key: 'p', load: () => import('./pipelines.js') },
  { name: 'ingest', title: 'Ingest', key: 'i', load: () => import('./ingest.js') },
  { name: 'status', title: 'Status', key: 'x', load: () => import('./status.js') },
];
