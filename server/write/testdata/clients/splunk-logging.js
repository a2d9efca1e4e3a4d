// Events by splunk-logging.
const { Logger } = require('splunk-logging')

const logger = new Logger({ token: 'writer:w', url: process.env.BASE, batchInterval: 0, maxBatchCount: 0, maxBatchSize: 0, maxRetries: 0 })
logger.error = (err) => { console.error(err); process.exit(1) }
for (let i = 0; i < 50; i++) logger.send({ message: { text: `event ${i}`, n: i }, metadata: { source: 's', sourcetype: 't', index: 'events', host: `h${i % 2}`, time: 1700000000 + i }, severity: 'info' })
logger.flush((err, response, body) => {
  if (err || body.code !== 0) { console.error(err, body); process.exit(1) }
})
