// Lists what the bundles in ../web/lib hold: LIBRARIES.json with name, version, licence and bundle of each package and the
// hash of each bundle, LICENSES.txt with the texts. Run by make dashboard-lib after the bundles are written.
import { createHash } from 'node:crypto';
import { existsSync, readdirSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';

const lib = '../web/lib';
const bundles = ['ui', 'plot', 'editor'];

/** packagesOf names the packages whose files went into a bundle. */
function packagesOf(bundle) {
  const meta = JSON.parse(readFileSync(join(process.env.META_DIR ?? '.', bundle + '.meta.json'), 'utf8'));
  const found = new Set();
  for (const path of Object.keys(meta.inputs)) {
    const m = /node_modules\/((?:@[^/]+\/)?[^/]+)\//.exec(path);
    if (m) found.add(m[1]);
  }
  return [...found].sort();
}

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
const files = Object.fromEntries(readdirSync(lib).filter((f) => /\.(js|css)$/.test(f)).sort().map((f) => [f, sha256(join(lib, f))]));
writeFileSync(join(lib, 'LIBRARIES.json'), JSON.stringify({ packages: list, sha256: files }, null, 2) + '\n');

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
writeFileSync(join(lib, 'LICENSES.txt'), [...texts.values()].map(({ heads, rest }) => `${heads.join('\n')}\n\n${rest}\n`).join('\n' + '-'.repeat(78) + '\n\n'));
