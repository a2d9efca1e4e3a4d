// The text editor with the languages that the pages write.
export { EditorState, StateEffect, StateField, RangeSetBuilder, Prec } from '@codemirror/state';
export {
  EditorView, keymap, lineNumbers, highlightActiveLine, highlightSpecialChars, drawSelection, placeholder,
  Decoration, ViewPlugin,
} from '@codemirror/view';
export {
  defaultKeymap, history, historyKeymap, indentWithTab, toggleComment, insertNewlineAndIndent,
} from '@codemirror/commands';
export {
  syntaxHighlighting, HighlightStyle, bracketMatching, indentOnInput, foldGutter,
  LanguageSupport,
} from '@codemirror/language';
export { autocompletion, completionKeymap, closeBrackets, closeBracketsKeymap } from '@codemirror/autocomplete';
export { linter, lintGutter, lintKeymap, setDiagnostics } from '@codemirror/lint';
export { searchKeymap, search, highlightSelectionMatches, openSearchPanel } from '@codemirror/search';
export { SQLDialect, PostgreSQL } from '@codemirror/lang-sql';
export { yaml } from '@codemirror/lang-yaml';
export { tags } from '@lezer/highlight';
export { PromQLExtension } from '@prometheus-io/codemirror-promql';
