// Points by @influxdata/influxdb-client, the client of version 2.
const { InfluxDB, Point } = require('@influxdata/influxdb-client')

async function main() {
  const client = new InfluxDB({ url: process.env.BASE + '/v1/lineproto', token: 'writer:w' })
  const write = client.getWriteApi('org', 'public', 'ns', { gzipThreshold: 100 })
  for (let i = 0; i < 100; i++) {
    write.writePoint(new Point('influx_v2').tag('host', `h${i % 4}`).floatField('f', i + 0.5).intField('i', i).booleanField('b', i % 2 === 0).stringField('s', `x "${i}"`).timestamp(String(1700000000000000000n + BigInt(i))))
  }
  await write.close()
}

main().catch((err) => { console.error(err); process.exit(1) })
