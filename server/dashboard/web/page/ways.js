// The ways to send data to the server: for each what to paste, filled in with this server's address, database and user.
// A way's curl is a whole command that stores a row; its other snippets are settings of programs.

import { shellQuote as quote } from '../core/api.js';
import { remoteWrite } from '../core/snappy.js';

/**
 * @typedef {{base: string, host: string, port: string, tls: boolean, db: string, table: string, user: string}} Place
 * @typedef {{title: string, text: (p: Place) => string, run?: boolean}} Snippet run: a command that stores a row
 * @typedef {{id: string, title: string, hint: string, paths: string[], rows?: string, needs?: string, docs: string,
 *   snippets: Snippet[]}} Way rows: the figure that counts what came this way
 */

/** @param {Place} p */
const curl = (p) => (p.user ? `curl -u ${quote(p.user)}:"$PASSWORD"` : 'curl');

/**
 * url writes an address of the server, quoted for the shell.
 * @param {Place} p
 * @param {string} path
 * @param {Record<string, string>} query
 */
function url(p, path, query = {}) {
  const text = new URLSearchParams(query).toString();
  return quote(p.base + path + (text ? '?' + text : ''));
}

/** dbOf is the database where it is not the usual one. @param {Place} p @returns {Record<string, string>} */
const dbOf = (p) => (p.db === 'public' ? {} : { db: p.db });

/**
 * @param {Place} p
 * @param {string} command
 * @param {string} path
 * @param {Record<string, string>} query
 * @param {string} type
 * @param {string} body may hold $(..)
 */
const post = (p, command, path, query, type, body) => `${command} ${url(p, path, query)} \\
  -H 'Content-Type: ${type}' --data-binary @- <<END
${body}
END
`;

/** @param {Place} p */
const dbHeader = (p) => (p.db === 'public' ? '' : ` \\\n  -H ${quote('x-service-db-name: ' + p.db)}`);

/** yaml quotes a text for YAML, TOML and the like. @param {string} t */
const yaml = (t) => JSON.stringify(t);

/** lines of a configuration that only a server with users needs. @param {Place} p @param {string} text */
const signed = (p, text) => (p.user ? text : '');

const ingestPath = '/v1/ingest';

/** @type {Way[]} */
export const ways = [
  {
    id: 'lines', title: 'Log lines and JSON', hint: 'Any program that can send HTTP.', paths: [ingestPath],
      rows: 'varve_ingest_rows_total', docs: 'ingest/json-lines.md',
    snippets: [
      { title: 'JSON lines', run: true,
        text: (p) => post(p, curl(p), 'v1/ingest', { ...dbOf(p), table: p.table, pipeline_name: 'service_identity' },
          'application/x-ndjson', '{"level":"info","service":"demo","message":"hello from curl"}') },
      { title: 'Text lines', run: true,
        text: (p) => post(p, curl(p), 'v1/ingest',
          { ...dbOf(p), table: p.table + '_text', pipeline_name: 'service_identity' }, 'text/plain',
          'hello from curl') },
      { title: 'Files',
        text: (p) => `varve ingest --url ${quote(p.base.replace(/\/$/, ''))}` +
          `${p.user && ` --user ${quote(p.user)}`}${p.db === 'public' ? '' : ` --db ${quote(p.db)}`} ` +
          `--table ${quote(p.table)} app.log\n` },
      { title: 'Journal upload',
        text: (p) => `systemd-journal-upload --save-state --url=${quote(p.base + 'v1/journald')}\n` },
      { title: 'Journal, last hour',
        text: (p) => `journalctl -o json --since -1h | ${curl(p)} ` +
          `${url(p, 'v1/ingest', { ...dbOf(p), table: 'journal', pipeline_name: 'service_identity',
            custom_time_index: '__REALTIME_TIMESTAMP;epoch;us' })} \\\n` +
          `  -H 'Content-Type: application/x-ndjson' --data-binary @-\n` },
    ],
  },
  {
    id: 'lineproto', title: 'Line protocol', hint: 'Telegraf and many devices.',
      paths: ['/v1/lineproto/write', '/v1/lineproto/api/v2/write'], rows: 'varve_lineproto_rows_total',
      needs: 'lineproto', docs: 'ingest/line-protocol.md',
    snippets: [
      { title: 'curl', run: true,
        text: (p) => `${curl(p)} ${url(p, 'v1/lineproto/write', dbOf(p))} ` +
          `--data-binary 'demo_cpu,host=web-1 usage=0.42,count=7i'\n` },
      { title: 'Telegraf',
        text: (p) => `[[outputs.influxdb]]\n  urls = [${yaml(p.base + 'v1/lineproto')}]\n  database = ${yaml(p.db)}\n` +
          `  skip_database_creation = true\n${signed(p, `  username = ${yaml(p.user)}\n  password = "$PASSWORD"\n`)}` },
    ],
  },
  {
    id: 'remote', title: 'Remote write', hint: 'Metrics of scrapers and agents.', paths: ['/v1/metricsapi/write'],
      rows: 'varve_remote_write_samples_total', needs: 'metrics', docs: 'ingest/remote-write.md',
    snippets: [
      { title: 'YAML',
        text: (p) => `remote_write:\n  - url: ` +
          `${yaml(p.base + 'v1/metricsapi/write' + (p.db === 'public' ? '' : '?db=' + encodeURIComponent(p.db)))}\n` +
          `${signed(p, `    basic_auth:\n      username: ${yaml(p.user)}\n      password: "$PASSWORD"\n`)}` },
      {
        title: 'curl', run: true,
        text: (p) => `echo ${remoteWrite({ __name__: 'demo_requests_total', job: 'demo', instance: 'web-1' }, 42,
          Date.now())} | base64 -d |\n` +
          `  ${curl(p)} ${url(p, 'v1/metricsapi/write', dbOf(p))} \\\n` +
          `  -H 'Content-Type: application/x-protobuf' -H 'Content-Encoding: snappy' --data-binary @-\n`,
      },
    ],
  },
  {
    id: 'otlp', title: 'OpenTelemetry', hint: 'Logs, metrics and traces of SDKs and the collector.',
      paths: ['/v1/otlp/v1/logs', '/v1/otlp/v1/metrics', '/v1/otlp/v1/traces'], needs: 'otlp', docs: 'ingest/otlp.md',
    snippets: [
      { title: 'Collector', text: collector },
      { title: 'SDK',
        text: (p) => `export OTEL_EXPORTER_OTLP_ENDPOINT=${quote(p.base + 'v1/otlp')}\n` +
          `export OTEL_EXPORTER_OTLP_PROTOCOL=http/protobuf\n` +
          otlpHeaders(p) },
      { title: 'curl: logs', run: true,
        text: (p) => post(p, curl(p) + dbHeader(p), 'v1/otlp/v1/logs', {}, 'application/json',
          '{"resourceLogs":[{"resource":{"attributes":[{"key":"service.name","value":{"stringValue":"demo"}}]},\n' +
          '  "scopeLogs":[{"logRecords":[{"timeUnixNano":"$(date +%s)000000000",' +
          '"severityText":"INFO","body":{"stringValue":"hello from curl"}}]}]}]}') },
      { title: 'curl: metrics', run: true,
        text: (p) => post(p, curl(p) + dbHeader(p), 'v1/otlp/v1/metrics', {}, 'application/json',
          '{"resourceMetrics":[{"resource":{"attributes":[{"key":"service.name","value":{"stringValue":"demo"}}]},\n' +
          '  "scopeMetrics":[{"metrics":[{"name":"demo_queue","gauge":{"dataPoints":' +
          '[{"timeUnixNano":"$(date +%s)000000000","asDouble":3.5}]}}]}]}]}') },
      { title: 'curl: traces', run: true,
        text: (p) => post(p, curl(p) + dbHeader(p), 'v1/otlp/v1/traces', {}, 'application/json',
          '{"resourceSpans":[{"resource":{"attributes":[{"key":"service.name","value":{"stringValue":"demo"}}]},\n' +
          '  "scopeSpans":[{"spans":[{"traceId":"$(od -An -N16 -tx1 /dev/urandom | tr -d \' \\n\')",' +
          '"spanId":"$(od -An -N8 -tx1 /dev/urandom | tr -d \' \\n\')","name":"GET /cart","kind":2,\n' +
          '    "startTimeUnixNano":"$(date +%s)000000000","endTimeUnixNano":"$(date +%s)250000000"}]}]}]}') },
    ],
  },
  {
    id: 'logpush', title: 'Log push', hint: 'Clients of the push protocol for log streams.',
      paths: ['/v1/logpush/api/v1/push'], rows: 'varve_logpush_rows_total', needs: 'logpush',
      docs: 'ingest/log-push.md',
    snippets: [
      { title: 'curl', run: true,
        text: (p) => post(p, curl(p) + dbHeader(p), 'v1/logpush/api/v1/push', {}, 'application/json',
          '{"streams":[{"stream":{"app":"demo","level":"info"},"values":[["$(date +%s)000000000",' +
          '"hello from curl"]]}]}') },
      { title: 'Client',
        text: (p) => `clients:\n  - url: ${yaml(p.base + 'v1/logpush/api/v1/push')}\n` +
          `${signed(p, `    basic_auth:\n      username: ${yaml(p.user)}\n      password: "$PASSWORD"\n`)}    ` +
          `headers:\n      x-service-db-name: ${yaml(p.db)}\n      x-service-log-table-name: ${yaml(p.table)}\n` },
    ],
  },
  {
    id: 'jsonput', title: 'JSON put', hint: 'Points of time series as JSON.', paths: ['/v1/jsonput/api/put'],
      rows: 'varve_jsonput_rows_total', needs: 'jsonput', docs: 'ingest/json-put.md',
    snippets: [{ title: 'curl', run: true,
      text: (p) => post(p, curl(p), 'v1/jsonput/api/put', { ...dbOf(p), summary: '' }, 'application/json',
        '{"metric":"demo_load","timestamp":$(date +%s),"value":0.5,"tags":{"host":"web-1"}}') }],
  },
  {
    id: 'shippers', title: 'Log shippers', hint: 'JSON lines over HTTP.', paths: [ingestPath],
      rows: 'varve_ingest_rows_total', docs: 'ingest/json-lines.md',
    snippets: [
      { title: 'Vector',
        text: (p) => `[sinks.varve]\ntype = "http"\ninputs = ["my_source"]\nuri = ${yaml(ingest(p))}\n` +
          `encoding.codec = "json"\nframing.method = "newline_delimited"\n` +
          `request.headers.Content-Type = "application/x-ndjson"\ncompression = "zstd"\n` +
          `${signed(p, `auth.strategy = "basic"\nauth.user = ${yaml(p.user)}\nauth.password = "$PASSWORD"\n`)}` },
      { title: 'Fluent Bit',
        text: (p) => `pipeline:\n  outputs:\n    - name: http\n      match: '*'\n      host: ${p.host}\n` +
          `      port: ${p.port}\n      uri: ${yaml('/' + ingest(p).slice(p.base.length))}\n` +
          `      format: json_lines\n      header: Content-Type application/x-ndjson\n      json_date_key: ts\n` +
          `      compress: gzip\n` +
          `${signed(p, `      http_user: ${yaml(p.user)}\n      http_passwd: \${PASSWORD}\n`)}` +
          `${p.tls ? '      tls: on\n' : ''}` },
      { title: 'Fluentd',
        text: (p) => `<match **>\n  @type http\n  endpoint ${ingest(p)}\n  content_type application/x-ndjson\n` +
          `  <format>\n    @type json\n  </format>\n` +
          `${signed(p,
            `  <auth>\n    method basic\n    username ${p.user}\n    password "#{ENV['PASSWORD']}"\n  </auth>\n`)}` +
          `  <buffer>\n    flush_interval 2s\n  </buffer>\n</match>\n` },
      { title: 'Logstash',
        text: (p) => `output {\n  http {\n    url => ${yaml(ingest(p))}\n    http_method => "post"\n` +
          `    format => "json_batch"\n    content_type => "application/json"\n` +
          `${signed(p, `    user => ${yaml(p.user)}\n    password => "\${PASSWORD}"\n`)}  }\n}\n` },
      { title: 'rsyslog',
        text: (p) => `module(load="omhttp")\ntemplate(name="json" type="list" option.jsonf="on") {\n` +
          `  property(outname="time" name="timereported" dateFormat="rfc3339" format="jsonf")\n` +
          `  property(outname="host" name="hostname" format="jsonf")\n` +
          `  property(outname="program" name="programname" format="jsonf")\n` +
          `  property(outname="level" name="syslogseverity-text" format="jsonf")\n` +
          `  property(outname="message" name="msg" format="jsonf")\n}\n` +
          `action(type="omhttp" server=${yaml(p.host)} serverport=${yaml(p.port)} ` +
          `usehttps="${p.tls ? 'on' : 'off'}"\n` +
          `  restpath=${yaml(ingest(p).slice(p.base.length))} template="json" batch="on" batch.format="newline"\n` +
          `  httpcontenttype="application/x-ndjson"${signed(p, `\n  uid=${yaml(p.user)} pwd="$PASSWORD"`)})\n` },
    ],
  },
  {
    id: 'sql', title: 'SQL', hint: 'A table of your own, rows by INSERT.', paths: ['/v1/sql'], docs: 'sql.md',
    snippets: [{ title: 'curl', run: true,
      text: (p) => `${curl(p)} ${url(p, 'v1/sql', dbOf(p))} --data-urlencode "sql=\n` +
        `  CREATE TABLE IF NOT EXISTS demo_rows (ts TIMESTAMP(3) TIME INDEX, host STRING PRIMARY KEY, ` +
        `usage DOUBLE);\n  INSERT INTO demo_rows VALUES (now(), 'web-1', 0.42)"\n` }],
  },
];

/** @param {Place} p */
const ingest = (p) =>
  `${p.base}v1/ingest?${new URLSearchParams({ ...dbOf(p), table: p.table, pipeline_name: 'service_identity' })}`;

/**
 * otlpHeaders sets the headers of an SDK, if there are any: the database, and who sends.
 * @param {Place} p
 */
function otlpHeaders(p) {
  const headers = [p.db === 'public' ? '' : 'x-service-db-name=' + encodeURIComponent(p.db),
    p.user ? `Authorization=Basic%20$(printf %s ${quote(p.user)}:"$PASSWORD" | base64 -w0)` : ''].filter(Boolean);
  return headers.length > 0 ? `export OTEL_EXPORTER_OTLP_HEADERS="${headers.join(',')}"\n` : '';
}

/** @param {Place} p */
function collector(p) {
  const headers = [p.db === 'public' ? '' : `      x-service-db-name: ${yaml(p.db)}\n`,
    signed(p,
      `      Authorization: "Basic \${env:VARVE_BASIC}" # printf %s ${quote(p.user)}:"$PASSWORD" | ` +
      `base64 -w0\n`)].join('');
  return `receivers:\n  otlp:\n    protocols:\n      http:\n        endpoint: 127.0.0.1:4318\nexporters:\n` +
    `  otlphttp/varve:\n    endpoint: ${yaml(p.base + 'v1/otlp')}\n` +
    `${headers ? '    headers:\n' + headers : ''}service:\n  pipelines:\n` +
    ['logs', 'metrics', 'traces']
      .map((s) => `    ${s}: {receivers: [otlp], exporters: [otlphttp/varve]}\n`).join('');
}
