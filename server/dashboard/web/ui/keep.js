// Views and queries kept by name: the questions before one is kept, replaced or taken away.

import { described, isAbort } from '../core/api.js';
import * as saved from '../core/saved.js';
import { ask } from './ask.js';
import { toast } from './toast.js';

/** failed says why it did not work. @param {unknown} e */
const failed = (e) => { if (!isAbort(e)) toast(described(e).message, { kind: 'bad' }); };

/**
 * keep asks for a name, and asks again when the name is taken: it may be somebody else's.
 * @param {'view'|'query'} kind
 * @param {string} text what is kept
 * @param {any} definition
 */
export async function keep(kind, text, definition) {
  const name = (await ask({ title: `Keep this ${kind}`, text, field: 'Name', yes: 'Keep' }))?.trim();
  if (!name) return;
  try {
    await saved.load();
    const before = saved.find(kind, name);
    if (before && await ask({ title: `Replace ${before.name}`, text: `A ${kind} is kept under this name already.`,
      yes: 'Replace' }) === null) return;
    const where = await saved.save(kind, name, definition);
    toast(where === 'server' ? `Kept as ${name}` : `Kept as ${name} in this browser`, { kind: 'good' });
  } catch (e) {
    failed(e);
  }
}

/** remove takes one away, after a question where others lose it as well. @param {saved.Saved} s */
export async function remove(s) {
  if (!s.local && await ask({ title: `Remove ${s.name}`, text: 'It is kept for everybody who uses this server.',
    yes: 'Remove' }) === null) return;
  await saved.remove(s).catch(failed);
}
