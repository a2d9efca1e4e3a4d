package vrl

// The codes of compile errors with their titles.
const (
	codeInvalidGrok     = 112
	codeInvalidArgument = 403

	titleInvalidGrok     = "invalid grok pattern"
	titleInvalidArgument = "invalid argument"
)

// Diagnostic is one error or warning of a compilation.
type Diagnostic struct {
	Code    int
	Title   string
	Warning bool
	Labels  []Label
	Notes   []string
}

// Label is a part of the source with what is to be said of it.
type Label struct {
	Start, End int // bytes
	Text       string
}

// CompileError is why a script does not compile.
type CompileError struct {
	Diagnostics []Diagnostic
	text        string
}

// Error is the rendered text of all diagnostics, as `varve vrl` prints it.
func (e *CompileError) Error() string { return e.text }
