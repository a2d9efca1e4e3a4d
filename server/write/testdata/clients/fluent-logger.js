// Entries by @fluent-org/logger, in all its forms, with answers and a shared key.
const { FluentClient } = require('@fluent-org/logger')

async function main() {
  for (const eventMode of ['Message', 'Forward', 'PackedForward', 'CompressedPackedForward']) {
    const client = new FluentClient('app', {
      eventMode, ack: { ackTimeout: 10000 }, socket: { host: '127.0.0.1', port: +process.env.FORWARD_PORT }, security: { clientHostname: 'web', sharedKey: process.env.FORWARD_KEY },
    })
    client.socketOn('error', (err) => { console.error(err); process.exit(1) })
    const sent = []
    for (let i = 0; i < 25; i++) sent.push(client.emit('orders', { n: i, mode: eventMode, nested: { list: [1, null], text: 'é' } }))
    await Promise.all(sent)
    await client.shutdown()
  }
}

main().then(() => process.exit(0), (err) => { console.error(err); process.exit(1) })
