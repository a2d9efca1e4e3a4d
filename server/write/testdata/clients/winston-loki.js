// Lines by winston-loki: as a protobuf message, then as JSON.
const winston = require('winston')
const LokiTransport = require('winston-loki')

async function send(json) {
  const transport = new LokiTransport({
    host: process.env.BASE, basicAuth: 'writer:w', json, batching: true, interval: 1, gracefulShutdown: false,
    headers: { 'x-service-log-table-name': json ? 'winston_json' : 'winston_proto' },
    labels: { app: 'w', env: 'te st' }, onConnectionError: (err) => { throw err },
  })
  const logger = winston.createLogger({ transports: [transport], format: winston.format.json() })
  for (let i = 0; i < 50; i++) logger.log(i % 2 ? 'info' : 'warn', `line ${i} "quoted" \u00e9`, { labels: { shard: `s${i % 2}` } })
  await new Promise((done) => setImmediate(done))
  await transport.flush()
  transport.close()
}

send(false).then(() => send(true)).then(() => process.exit(0), (err) => { console.error(err); process.exit(1) })
