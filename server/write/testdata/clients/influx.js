// Points by influx, the client of version 1.
const { InfluxDB, FieldType } = require('influx')

async function main() {
  const url = new URL(process.env.BASE)
  const client = new InfluxDB({ hosts: [{ host: url.hostname, port: Number(url.port), path: '/v1/lineproto' }], database: 'public', username: 'writer', password: 'w' })
  const points = Array.from({ length: 100 }, (_, i) => ({
    measurement: 'influx_v1', tags: { host: `h${i % 4}`, note: 'a b,c=d' }, fields: { f: i + 0.5, s: `say "hi" \\ ${i}` }, timestamp: String(1700000000000000000n + BigInt(i)),
  }))
  await client.writePoints(points, { precision: 'n' })
}

main().catch((err) => { console.error(err); process.exit(1) })
