// The language of the SQL editor: its words, completion, the check while nothing is typed, and the mark at the
// statement.

import { request } from '../core/api.js';
import { split, statementAt } from '../core/statements.js';

/**
 * extensions are the language, its completion, its check while nothing is typed, and the mark at the statement.
 * @param {any} lib
 */
export function extensions(lib) {
  const dialect = lib.SQLDialect.define({
    ...lib.PostgreSQL.spec, operatorChars: '+-*/<>=~!@#%^&|`?', doubleQuotedStrings: false,
    keywords: lib.PostgreSQL.spec.keywords +
      ' range align fill linear prev tql eval ilike describe databases admin time index engine explain analyze ' +
      'truncate copy',
    types: lib.PostgreSQL.spec.types +
      ' string uint8 uint16 uint32 uint64 int8 int16 int32 int64 float32 float64 timestamp_ms timestamp_us ' +
      'timestamp_ns',
  });
  const mark = lib.Decoration.line({ class: 'cm-statement' });
  const marks = lib.ViewPlugin.fromClass(class {
    /** @param {any} view */
    constructor(view) { this.decorations = this.make(view); }
    /** @param {any} u */
    update(u) { if (u.docChanged || u.selectionSet) this.decorations = this.make(u.view); }
    /** @param {any} view */
    make(view) {
      const text = view.state.doc.toString();
      const s = text.length < 200_000 && split(text).length > 1 ? statementAt(text, view.state.selection.main.head)
        : null;
      const builder = new lib.RangeSetBuilder();
      if (s) for (let n = view.state.doc.lineAt(s.from).number; n <= view.state.doc.lineAt(s.to).number; n++)
        builder.add(view.state.doc.line(n).from, view.state.doc.line(n).from, mark);
      return builder.finish();
    }
  }, { decorations: (/** @type {any} */ p) => p.decorations });
  return [
    new lib.LanguageSupport(dialect.language), marks,
      lib.autocompletion({ override: [(/** @type {any} */ c) => import('./sqlcomplete.js').then((m) => m.complete(c))],
        maxRenderedOptions: 60 }),
    lib.linter(check, { delay: 1000 }), lib.placeholder('SELECT …'),
  ];
}

/**
 * check asks the server whether the text can be read; it is asked one second after typing.
 * @param {import('@codemirror/view').EditorView} view
 */
async function check(view) {
  const text = view.state.doc.toString();
  const found = [];
  if (text.length > 100_000) return [];
  for (const s of split(text).slice(0, 20)) {
    if (s.text.includes('$')) continue; // the server does not know what stands for a variable
    try {
      await request('v1/sql/parse', { method: 'POST', body: new URLSearchParams({ sql: s.text }), background: true });
    } catch (e) {
      const message = e instanceof Error ? e.message : '';
      const at = /\bline (\d+), column (\d+)/.exec(message);
      if (!at) continue;
      let from = s.from;
      for (let line = 1; line < Number(at[1]); line++) from = text.indexOf('\n', from) + 1;
      from = Math.min(from + Number(at[2]) - 1, s.to - 1);
      const word = /^[\w"]+|^./.exec(text.slice(from))?.[0] ?? ' ';
      found.push({ from, to: Math.min(text.length, from + word.length), severity: /** @type {const} */ ('error'),
        message });
    }
  }
  return found;
}
