// Lines by pino-loki, with structured metadata.
const pino = require('pino')
const { pinoLoki } = require('pino-loki')

const stream = pinoLoki({
  host: process.env.BASE, endpoint: 'v1/logpush/api/v1/push', basicAuth: { username: 'writer', password: 'w' }, batching: { interval: 1 }, silenceErrors: false,
  headers: { 'x-service-log-table-name': 'pino_lines' }, labels: { app: 'p' }, propsToLabels: ['shard'],
})
const logger = pino({ base: undefined }, stream)
for (let i = 0; i < 50; i++) logger.info({ shard: `s${i % 2}`, meta: { req: `r${i}` } }, `line ${i}`)
stream.end()
stream.on('close', () => process.exit(0))
