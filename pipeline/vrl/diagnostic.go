package vrl

import (
	"fmt"
	"strings"
	"unicode/utf8"
)

// The codes of compile errors with their titles, as users know them.
const (
	codeUnhandled            = 100
	codeInvalidRegex         = 101
	codeNonBooleanPredicate  = 102
	codeFallibleAssignment   = 103
	codeInfallibleAssignment = 104
	codeUndefinedFunction    = 105
	codeTooManyArguments     = 106
	codeMissingArgument      = 107
	codeUnknownKeyword       = 108
	codeUnexpectedClosure    = 109
	codeArgumentType         = 110
	codeMissingClosure       = 111
	codeInvalidGrok          = 112
	codeNonStringAbort       = 113
	codeClosureArity         = 120
	codeClosureTarget        = 121
	codeClosureResult        = 122
	codeSyntax               = 200
	codeUnexpectedToken      = 203
	codeUnexpectedEnd        = 204
	codeReserved             = 205
	codeInvalidNumber        = 206
	codeInvalidString        = 207
	codeInvalidLiteral       = 208
	codeInvalidEscape        = 209
	codeInvalidUnicode       = 211
	codeReadOnly             = 315
	codeUnexpectedExpression = 400
	codeInvalidEnum          = 401
	codeNotConstant          = 402
	codeInvalidArgument      = 403
	codeInvalidTimestamp     = 601
	codeFunctionCompilation  = 610
	codeNeedlessAbort        = 620
	codeFallibleArgument     = 630
	codeFallibleExpression   = 631
	codeNoOpAssignment       = 640
	codeInvalidTarget        = 641
	codeParentSegment        = 642
	codeChainedComparison    = 650
	codeNeedlessCoalesce     = 651
	codeMergeNonObjects      = 652
	codeNonBooleanNegation   = 660
	codeUndefinedVariable    = 701

	titleUnhandled            = "unhandled error"
	titleFalliblePredicate    = "fallible predicate"
	titleInvalidRegex         = "invalid regular expression"
	titleNonBooleanPredicate  = "non-boolean predicate"
	titleFallibleAssignment   = "unhandled fallible assignment"
	titleInfallibleAssignment = "unnecessary error assignment"
	titleUndefinedFunction    = "call to undefined function"
	titleTooManyArguments     = "wrong number of function arguments"
	titleMissingArgument      = "missing function argument"
	titleUnknownKeyword       = "unknown function argument keyword"
	titleUnexpectedClosure    = "unexpected closure"
	titleArgumentType         = "invalid argument type"
	titleMissingClosure       = "missing closure"
	titleInvalidGrok          = "invalid grok pattern"
	titleNonStringAbort       = "non-string abort message"
	titleClosureArity         = "invalid closure arity"
	titleClosureTarget        = "type mismatch in closure parameter"
	titleClosureResult        = "type mismatch in closure return type"
	titleSyntax               = "syntax error"
	titleReserved             = "reserved keyword"
	titleInvalidNumber        = "invalid numeric literal"
	titleInvalidString        = "invalid string literal"
	titleInvalidLiteral       = "invalid literal"
	titleInvalidEscape        = "invalid escape character"
	titleInvalidUnicode       = "invalid unicode escape sequence"
	titleReadOnly             = "mutation of read-only value"
	titleUnexpectedExpression = "unexpected expression type"
	titleInvalidEnum          = "invalid enum variant"
	titleNotConstant          = "this argument must be a static expression"
	titleInvalidArgument      = "invalid argument"
	titleInvalidTimestamp     = "invalid timestamp"
	titleFunctionCompilation  = "function compilation error"
	titleNeedlessAbort        = "can't abort infallible function"
	titleFallibleArgument     = "fallible argument"
	titleFallibleExpression   = "unhandled fallible expression"
	titleNoOpAssignment       = "unnecessary no-op assignment"
	titleInvalidTarget        = "invalid assignment target"
	titleParentSegment        = "parent path segment rejects this mutation"
	titleChainedComparison    = "comparison operators can't be chained together"
	titleNeedlessCoalesce     = "unnecessary error coalescing operation"
	titleMergeNonObjects      = "only objects can be merged"
	titleNonBooleanNegation   = "non-boolean negation"
	titleUndefinedVariable    = "call to undefined variable"
)

// Diagnostic is one error or warning of a compilation.
type Diagnostic struct {
	Code    int
	Title   string
	Warning bool
	Labels  []Label // at least one; the first says where
	Notes   []string
	misfit  string // of a call that may fail: which argument may not fit, as a label of an assignment
}

// unhandledTexts are the labels of what may fail without anybody to handle it.
var unhandledTexts = [...]string{"expression can result in runtime error",
	"handle the error case to ensure runtime success"}

// Label is a part of the source with a text about it.
type Label struct {
	Start, End int // bytes
	Text       string
}

// CompileError is why a script does not compile.
type CompileError struct {
	Diagnostics []Diagnostic
	text        string
}

// Error is the text of all diagnostics, with the places in the source.
func (e *CompileError) Error() string { return e.text }

// maxRendered is how many diagnostics a text shows.
const maxRendered = 100

// Render returns the text of diagnostics: for each its code and title, the place of its first label and the marked
// source, with a blank line between two. Of very many it shows the first.
func Render(source string, list []Diagnostic) string {
	var b strings.Builder
	for i, d := range list {
		if i > 0 {
			b.WriteByte('\n')
		}
		if i == maxRendered {
			fmt.Fprintf(&b, "and %d more\n", len(list)-i)
			break
		}
		d.render(&b, source)
	}
	return b.String()
}

func (d *Diagnostic) render(b *strings.Builder, source string) {
	severity := "error"
	if d.Warning {
		severity = "warning"
	}
	at := Label{}
	if len(d.Labels) > 0 {
		at = d.Labels[0]
	}
	line, column := lineColumn(source, at.Start)
	fmt.Fprintf(b, "%s[E%d]: %s\n  --> %d:%d (byte %d)\n", severity, d.Code, d.Title, line, column, at.Start)
	shown := -1
	for i, l := range d.Labels {
		if i > 0 && l.Start == d.Labels[i-1].Start && l.End == d.Labels[i-1].End {
			l.renderText(b, source)
			continue
		}
		shown = l.render(b, source, shown)
	}
	for _, n := range d.Notes {
		b.WriteString(strings.TrimRight("  = "+n, " ") + "\n")
	}
}

// lineColumn returns the line and the column, in characters, of a byte, both from 1.
func lineColumn(source string, at int) (line, column int) {
	before := source[:min(at, len(source))]
	start := strings.LastIndexByte(before, '\n') + 1
	return 1 + strings.Count(before, "\n"), 1 + utf8.RuneCountInString(before[start:])
}

// renderText shows the text of one more label of a place below the marks.
func (l Label) renderText(b *strings.Builder, source string) {
	at := min(l.Start, len(source))
	indent := utf8.RuneCountInString(source[strings.LastIndexByte(source[:at], '\n')+1 : at])
	fmt.Fprintf(b, "  | %s%s\n", strings.Repeat(" ", min(indent, widestLine)), l.Text)
}

// widestLine bounds the characters of a line of the source that is shown.
const widestLine = 400

// render shows the line of a label, unless it was shown just before, and marks it. It gives the start of the line.
func (l Label) render(b *strings.Builder, source string, shown int) int {
	at := min(l.Start, len(source))
	start := strings.LastIndexByte(source[:at], '\n') + 1
	text := source[start:]
	if i := strings.IndexByte(text, '\n'); i >= 0 {
		text = text[:i]
	}
	// Tabs become single blanks, so that each mark stands below the text that it marks; very long lines are cut.
	show := strings.ReplaceAll(text, "\t", " ")
	if len(show) > widestLine {
		show = strings.ToValidUTF8(show[:widestLine], "") + " ..."
	}
	if start != shown {
		fmt.Fprintf(b, "  | %s\n", show)
	}
	indent := min(utf8.RuneCountInString(source[start:at]), widestLine)
	end := max(at, min(l.End, start+len(text)))
	marks := min(max(utf8.RuneCountInString(source[at:end]), 1), widestLine)
	b.WriteString("  | " + strings.Repeat(" ", indent) + strings.Repeat("^", marks))
	if l.Text != "" {
		b.WriteString(" " + l.Text)
	}
	b.WriteByte('\n')
	return start
}
