// The editor of a pipeline document: YAML, scripts in it as a block of their own, and errors at their lines.

import { html, useLayoutEffect, useRef } from '../lib/ui.js';
import { scriptLines } from '../core/pipelinedoc.js';
import { Editor } from '../ui/editor.js';

/** @typedef {import('../core/pipelinedoc.js').Mark} Mark */
/** @typedef {import('../ui/editor.js').EditorHandle & {mark: (marks: Mark[]) => void}} Handle */

/** @param {{value: string, onChange: (text: string) => void, onRun: () => void, marks: Mark[]}} props */
export function DocumentEditor(props) {
  const latest = useRef(props);
  latest.current = props;
  const handle = useRef(/** @type {import('../ui/editor.js').EditorHandle|null} */ (null));
  const pens = useRef(/** @type {ReturnType<typeof marking>|null} */ (null));
  const show = () => {
    if (!handle.current) return;
    handle.current.setText(latest.current.value);
    pens.current?.mark(handle.current.view, latest.current.marks);
  };
  useLayoutEffect(show, [props.value, props.marks]);
  return html`<${Editor} value=${props.value} label="Pipeline document" onRun=${() => latest.current.onRun()}
    extensions=${(/** @type {import('../ui/editor.js').Library} */ lib) => {
      pens.current = marking(lib);
      return [lib.yaml(), lib.lintGutter(), lib.foldGutter(), lib.keymap.of([lib.indentWithTab]),
        pens.current.extensions];
    }}
    onChange=${(/** @type {string} */ text) => { if (text !== latest.current.value) latest.current.onChange(text); }}
    onReady=${(/** @type {import('../ui/editor.js').EditorHandle|null} */ h) => { handle.current = h; show(); }} />`;
}

/**
 * marking makes the extension that marks lines, and the effect that sets the marks.
 * @param {import('../ui/editor.js').Library} lib
 */
function marking(lib) {
  const setBad = lib.StateEffect.define();
  const bad = lib.StateField.define({
    create: () => /** @type {any} */ (lib.Decoration.none),
    update(lines, tr) {
      for (const e of tr.effects) if (e.is(setBad)) return /** @type {any} */ (e.value);
      return lines.map(tr.changes);
    },
    provide: (f) => lib.EditorView.decorations.from(f),
  });
  const scripts = lib.EditorView.decorations.compute(['doc'], (state) => lib.Decoration.set(
    scriptLines(state.doc.toString().split('\n'))
      .map((line) => lib.Decoration.line({ class: 'cm-script' }).range(state.doc.line(line).from))));
  const look = lib.EditorView.theme({
    '.cm-script': { backgroundColor: 'var(--accent-soft)' }, '.cm-bad-line': { backgroundColor: 'var(--bad-soft)' },
    '.cm-lintRange-error': { backgroundImage: 'none', textDecoration: 'underline wavy var(--bad)',
      textUnderlineOffset: '3px' },
  });
  return {
    extensions: [bad, scripts, look],
    /** @param {import('@codemirror/view').EditorView} view @param {Mark[]} marks */
    mark(view, marks) {
      const doc = view.state.doc;
      const lines = marks.map((m) => doc.line(Math.min(Math.max(1, m.line), doc.lines)));
      view.dispatch({
        effects: setBad.of(/** @type {any} */ (lib.Decoration.set(lines.map((l) =>
          lib.Decoration.line({ class: 'cm-bad-line' }).range(l.from)), true))) });
      view.dispatch(lib.setDiagnostics(view.state, marks.map((m, i) => {
        const from = Math.min(lines[i].from + Math.max(0, m.column - 1), lines[i].to);
        return { from, to: Math.min(from + Math.max(1, m.length ?? 1), lines[i].to),
          severity: /** @type {'error'} */ ('error'), message: m.text };
      })));
    },
  };
}
