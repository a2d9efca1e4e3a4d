// Puts the bundles into ../web/lib, compressed as browsers get them, and lists what they hold: LIBRARIES.json with name, version,
// licence and bundle of each package and the hash of each file before it was compressed, LICENSES.txt with the texts, which lies
// here to be read and there to be sent. Run by make dashboard-lib with META_DIR, where it wrote the bundles and what went into them.
import { createHash } from 'node:crypto';
import { existsSync, readdirSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { brotliCompressSync, constants } from 'node:zlib';

const made = process.env.META_DIR ?? '.';
const lib = '../web/lib';
const bundles = ['ui', 'plot', 'editor'];

/** packagesOf names the packages whose files went into a bundle. */
function packagesOf(bundle) {
  const meta = JSON.parse(readFileSync(join(made, bundle + '.meta.json'), 'utf8'));
  const found = new Set();
  for (const path of Object.keys(meta.inputs)) {
    const m = /node_modules\/((?:@[^/]+\/)?[^/]+)\//.exec(path);
    if (m) found.add(m[1]);
  }
  return [...found].sort();
}

/** packed is a file as browsers get it. @param {Buffer} text */
const packed = (text) => brotliCompressSync(text, { params: {
  [constants.BROTLI_PARAM_QUALITY]: constants.BROTLI_MAX_QUALITY, [constants.BROTLI_PARAM_LGWIN]: 20, [constants.BROTLI_PARAM_SIZE_HINT]: text.length,
} });

const sha256 = (path) => createHash('sha256').update(readFileSync(path)).digest('hex');

const packages = new Map();
for (const bundle of bundles) {
  for (const name of packagesOf(bundle)) {
    const about = JSON.parse(readFileSync(join('node_modules', name, 'package.json'), 'utf8'));
    const entry = packages.get(name) ?? { name, version: about.version, licence: about.license, bundles: [] };
    entry.bundles.push(bundle + '.js');
    packages.set(name, entry);
  }
}
const list = [...packages.values()].sort((a, b) => (a.name < b.name ? -1 : 1));
/** @type {Record<string, string>} */
const files = {};
for (const file of [...bundles.map((b) => b + '.js'), 'plot.css']) {
  const text = readFileSync(join(made, file));
  files[file] = sha256(join(made, file));
  writeFileSync(join(lib, file + '.br'), packed(text));
}
writeFileSync(join(lib, 'LIBRARIES.json'), `{"packages": [\n${list.map((p) => JSON.stringify(p)).join(',\n')}\n],\n"sha256": ${JSON.stringify(Object.fromEntries(Object.entries(files).sort()))}}\n`);

// Packages whose texts differ in their lines of copyright alone share the rest, which then stands below all of these lines.
const texts = new Map();
for (const { name, version, licence } of list) {
  const dir = join('node_modules', name);
  const file = readdirSync(dir).find((f) => /^licen[sc]e/i.test(f));
  const text = file && existsSync(join(dir, file)) ? readFileSync(join(dir, file), 'utf8').trim() : `Licence: ${licence}`;
  const isNotice = (line) => /^ *Copyright (\(c\)|©|[0-9])/i.test(line);
  const lines = text.split('\n');
  const rest = lines.filter((line) => !isNotice(line)).join('\n');
  const words = rest.replace(/\s+/g, ' ').trim();
  const shared = texts.get(words) ?? { rest: rest.replace(/\n{3,}/g, '\n\n').trim(), heads: [] };
  shared.heads.push([`${name} ${version} (${licence})`, ...lines.filter(isNotice).map((line) => `  ${line.trim()}`)].join('\n'));
  texts.set(words, shared);
}
const licences = [...texts.values()].map(({ heads, rest }) => `${heads.join('\n')}\n\n${rest}\n`).join('\n' + '-'.repeat(78) + '\n\n');
writeFileSync('LICENSES.txt', licences);
writeFileSync(join(lib, 'LICENSES.txt.br'), packed(Buffer.from(licences)));
