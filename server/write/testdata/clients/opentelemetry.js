// Spans, a counter and log records by the SDK of OpenTelemetry for Node, with the exporters that PROTOCOL names: http (JSON), proto or grpc.
const { NodeSDK, metrics, logs: sdkLogs } = require('@opentelemetry/sdk-node')
const { trace, metrics: meters } = require('@opentelemetry/api')
const { logs, SeverityNumber } = require('@opentelemetry/api-logs')

const exporter = (signal, name) => new (require(`@opentelemetry/exporter-${signal}-otlp-${process.env.PROTOCOL}`)[name])()
const sdk = new NodeSDK({
  serviceName: 'shop',
  traceExporter: exporter('trace', 'OTLPTraceExporter'),
  metricReader: new metrics.PeriodicExportingMetricReader({ exporter: exporter('metrics', 'OTLPMetricExporter') }),
  logRecordProcessors: [new sdkLogs.BatchLogRecordProcessor({ exporter: exporter('logs', 'OTLPLogExporter') })],
})
sdk.start()
for (let i = 0; i < 50; i++) {
  trace.getTracer('t').startActiveSpan('outer', span => {
    span.setAttribute('i', i)
    trace.getTracer('t').startSpan('inner', { kind: 2 }).end()
    logs.getLogger('l').emit({ severityNumber: SeverityNumber.WARN, severityText: 'WARN', body: `line ${i} é`, attributes: { i, nested: { z: [0.5] } } })
    span.end()
  })
}
meters.getMeter('m').createCounter('orders', { unit: 'By' }).add(7, { ok: true })
sdk.shutdown().then(() => process.exit(0), err => { console.error(err); process.exit(1) })
