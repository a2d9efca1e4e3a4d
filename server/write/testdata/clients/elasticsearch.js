// Documents by the bulk helper of @elastic/elasticsearch, which asks who answers.
const { Client } = require('@elastic/elasticsearch')

async function main() {
  const client = new Client({ node: process.env.BASE + '/v1/elasticsearch', auth: { apiKey: Buffer.from('writer:w').toString('base64') }, compression: true })
  const info = await client.info()
  if (!info.version.number) throw new Error('no version')
  const documents = Array.from({ length: 100 }, (_, i) => ({ msg: `doc ${i}`, level: i % 2 ? 'warn' : 'info', n: i, ctx: { user: `u${i % 7}`, ok: i % 2 === 0 } }))
  documents.push({ msg: 'bad', n: 'no number' })
  const dropped = []
  const result = await client.helpers.bulk({
    datasource: documents, onDocument: () => ({ create: { _index: 'es_docs' } }), onDrop: (d) => dropped.push(d), retries: 0,
  })
  if (result.successful !== 100 || dropped.length !== 1 || dropped[0].status !== 400) throw new Error(JSON.stringify({ result, dropped }))
}

main().catch((err) => { console.error(err); process.exit(1) })
