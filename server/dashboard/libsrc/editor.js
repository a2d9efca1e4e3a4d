// The text editor with the languages that the pages write.
export { EditorState, Compartment, StateEffect, StateField, RangeSetBuilder, Prec } from '@codemirror/state';
export {
  EditorView, keymap, lineNumbers, highlightActiveLine, highlightSpecialChars, drawSelection, dropCursor, placeholder,
  rectangularSelection, Decoration, ViewPlugin, GutterMarker, gutter, gutterLineClass, hoverTooltip, tooltips,
} from '@codemirror/view';
export { defaultKeymap, history, historyKeymap, indentWithTab, toggleComment, insertNewlineAndIndent } from '@codemirror/commands';
export {
  syntaxHighlighting, HighlightStyle, bracketMatching, indentOnInput, foldGutter, foldKeymap, syntaxTree, StreamLanguage,
  LanguageSupport,
} from '@codemirror/language';
export { autocompletion, completionKeymap, closeBrackets, closeBracketsKeymap, startCompletion, snippetCompletion } from '@codemirror/autocomplete';
export { linter, lintGutter, lintKeymap, setDiagnostics, forceLinting } from '@codemirror/lint';
export { searchKeymap, search, highlightSelectionMatches, openSearchPanel } from '@codemirror/search';
export { sql, SQLDialect, PostgreSQL, keywordCompletionSource } from '@codemirror/lang-sql';
export { yaml } from '@codemirror/lang-yaml';
export { json } from '@codemirror/lang-json';
export { tags } from '@lezer/highlight';
export { PromQLExtension } from '@prometheus-io/codemirror-promql';
