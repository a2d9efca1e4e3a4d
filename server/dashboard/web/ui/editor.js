// The one text editor. It lives in a shadow root, where its styles need no permission of the policy; the library is
// loaded when the first editor is shown.

import { html, useLayoutEffect, useRef } from '../lib/ui.js';
import { bring } from '../core/api.js';

/** @typedef {typeof import('../lib/editor.js')} Library */

/**
 * @typedef {object} EditorHandle
 * @property {() => string} text
 * @property {(text: string) => void} setText
 * @property {(text: string) => void} insert at the cursor
 * @property {() => {from: number, to: number}} selection
 * @property {(from: number, to?: number) => void} select
 * @property {() => void} focus
 * @property {() => void} find opens the search box
 * @property {import('@codemirror/view').EditorView} view
 */

/**
 * @typedef {object} EditorProps
 * @property {string} value the first text; later ones by the handle
 * @property {string} label
 * @property {(text: string) => void} [onChange]
 * @property {(mode: 'statement'|'all') => void} [onRun] Mod+Enter, and with Shift
 * @property {(at: number) => void} [onCursor]
 * @property {(lib: Library) => any[]} extensions the language and what else is wanted
 * @property {(handle: EditorHandle|null) => void} [onReady]
 * @property {boolean} [single] Enter runs instead of breaking the line
 * @property {boolean} [readOnly]
 * @property {boolean} [lines] false: no line numbers
 */

/** @type {Promise<Library>|null} */
let library = null;
/** load gives the editor library. */
export const load = () => (library ??= bring(() => import('../lib/editor.js')));

/** @param {EditorProps} props */
export function Editor(props) {
  const host = useRef(/** @type {HTMLElement|null} */ (null));
  const latest = useRef(props);
  latest.current = props;
  // At once, so that who waits for the library after this finds the editor there.
  useLayoutEffect(() => {
    let view = /** @type {import('@codemirror/view').EditorView|null} */ (null);
    let wanted = true;
    void load().then((lib) => {
      if (!wanted || !host.current) return;
      const root = host.current.shadowRoot ?? host.current.attachShadow({ mode: 'open' });
      view = new lib.EditorView({ parent: root, root,
        state: lib.EditorState.create({ doc: latest.current.value, extensions: extensionsOf(lib, latest) }) });
      latest.current.onReady?.(handleOf(lib, view));
    });
    return () => {
      wanted = false;
      view?.destroy();
      latest.current.onReady?.(null);
    };
  }, []);
  return html`<div class="editor" ref=${host}></div>`;
}

/** @param {Library} lib @param {import('@codemirror/view').EditorView} view @returns {EditorHandle} */
function handleOf(lib, view) {
  return {
    view,
    text: () => view.state.doc.toString(),
    setText: (text) => {
      if (text !== view.state.doc.toString())
        view.dispatch({ changes: { from: 0, to: view.state.doc.length, insert: text } });
    },
    insert: (text) => view.dispatch(view.state.replaceSelection(text)),
    selection: () => ({ from: view.state.selection.main.from, to: view.state.selection.main.to }),
    select: (from, to = from) => view.dispatch({ selection: { anchor: Math.min(from, view.state.doc.length),
      head: Math.min(to, view.state.doc.length) }, scrollIntoView: true }),
    focus: () => view.focus(),
    find: () => { lib.openSearchPanel(view); },
  };
}

/** @param {Library} lib @param {{current: EditorProps}} latest */
function extensionsOf(lib, latest) {
  const p = latest.current;
  const run = (/** @type {'statement'|'all'} */ mode) => () => {
    latest.current.onRun?.(mode);
    return Boolean(latest.current.onRun);
  };
  return [
    lib.Prec.highest(lib.keymap.of([
      { key: 'Mod-Enter', run: run('statement') }, { key: 'Mod-Shift-Enter', run: run('all') },
        { key: 'Mod-/', run: lib.toggleComment },
      ...(p.single ? [{ key: 'Shift-Enter', run: lib.insertNewlineAndIndent }] : []),
    ])),
    ...p.extensions(lib),
    ...(p.single ? [lib.keymap.of([{ key: 'Enter', run: run('statement') }])] : []),
    p.lines === false ? [] : [lib.lineNumbers(), lib.highlightActiveLine()],
    lib.history(), lib.drawSelection(), lib.highlightSpecialChars(), lib.indentOnInput(), lib.bracketMatching(),
      lib.closeBrackets(),
    lib.highlightSelectionMatches(), lib.search({ top: true }), lib.EditorView.lineWrapping,
    lib.keymap.of([...lib.closeBracketsKeymap, ...lib.completionKeymap, ...lib.defaultKeymap, ...lib.searchKeymap,
      ...lib.historyKeymap, ...lib.lintKeymap]),
    lib.EditorState.readOnly.of(Boolean(p.readOnly)),
    lib.EditorView.contentAttributes.of({ 'aria-label': p.label, spellcheck: 'false', autocapitalize: 'off' }),
    lib.EditorView.updateListener.of((u) => {
      if (u.docChanged) latest.current.onChange?.(u.state.doc.toString());
      if (u.selectionSet || u.docChanged) latest.current.onCursor?.(u.state.selection.main.head);
    }),
    lib.syntaxHighlighting(highlight(lib)), theme(lib),
  ];
}

/** @param {Library} lib */
const highlight = (lib) => lib.HighlightStyle.define([
  { tag: [lib.tags.keyword, lib.tags.operatorKeyword, lib.tags.modifier], color: 'var(--code-keyword)',
    fontWeight: '600' },
  { tag: [lib.tags.string, lib.tags.special(lib.tags.string)], color: 'var(--code-string)' },
  { tag: [lib.tags.number, lib.tags.bool, lib.tags.null, lib.tags.literal], color: 'var(--code-number)' },
  { tag: [lib.tags.comment, lib.tags.lineComment, lib.tags.blockComment], color: 'var(--code-comment)',
    fontStyle: 'italic' },
  { tag: [lib.tags.typeName, lib.tags.standard(lib.tags.name), lib.tags.function(lib.tags.variableName)],
    color: 'var(--code-keyword)' },
  { tag: [lib.tags.propertyName, lib.tags.labelName, lib.tags.definition(lib.tags.propertyName)],
    color: 'var(--code-keyword)' },
]);

/** theme takes the colours of the page: properties reach into the shadow root. @param {Library} lib */
const theme = (lib) => lib.EditorView.theme({
  '&': { height: '100%', fontSize: '13px', backgroundColor: 'var(--bg)', color: 'var(--text)' },
  '&.cm-focused': { outline: 'none' },
  '.cm-scroller': { fontFamily: 'var(--mono)', lineHeight: '1.5', overflow: 'auto' },
  '.cm-content': { caretColor: 'var(--text)', padding: '6px 0' },
  '.cm-cursor, .cm-dropCursor': { borderLeftColor: 'var(--text)' },
  '.cm-gutters': { backgroundColor: 'var(--panel)', color: 'var(--text-faint)', border: 'none',
    borderRight: '1px solid var(--line)' },
  '.cm-activeLine': { backgroundColor: 'transparent' },
    '.cm-activeLineGutter': { backgroundColor: 'var(--hover)', color: 'var(--text)' },
  '&.cm-focused > .cm-scroller > .cm-selectionLayer .cm-selectionBackground, .cm-selectionBackground':
    { backgroundColor: 'var(--selected)' },
  '.cm-selectionMatch': { backgroundColor: 'var(--hover)' },
    '.cm-searchMatch': { backgroundColor: 'var(--mark)', color: 'var(--mark-text)' },
  '&.cm-focused .cm-matchingBracket': { backgroundColor: 'var(--hover)', outline: '1px solid var(--line-strong)' },
  '.cm-tooltip': { backgroundColor: 'var(--raised)', border: '1px solid var(--line)', borderRadius: '5px',
    boxShadow: 'var(--shadow)', color: 'var(--text)' },
  '.cm-tooltip.cm-tooltip-autocomplete > ul': { fontFamily: 'var(--mono)', fontSize: '12px', maxHeight: '16em' },
  '.cm-tooltip-autocomplete ul li[aria-selected]': { backgroundColor: 'var(--selected)', color: 'var(--text)' },
  '.cm-completionDetail': { color: 'var(--text-faint)', fontStyle: 'normal', marginLeft: '1.2em' },
    '.cm-completionMatchedText': { textDecoration: 'none', fontWeight: '700' },
  '.cm-panels': { backgroundColor: 'var(--panel)', color: 'var(--text)', borderColor: 'var(--line)' },
  '.cm-panel input, .cm-panel button': { font: '12px var(--font)', color: 'var(--text)',
    backgroundColor: 'var(--raised)', backgroundImage: 'none', border: '1px solid var(--line-strong)',
    borderRadius: '4px' },
  '.cm-statement': { boxShadow: 'inset 3px 0 0 var(--accent)' },
  '.cm-diagnostic-error': { borderLeftColor: 'var(--bad)' }, '.cm-placeholder': { color: 'var(--text-faint)' },
});
