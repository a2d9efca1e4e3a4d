package syntax

import (
	"fmt"
	"strings"
)

// Error says why a query cannot be read. Its text is what clients of the log query API show.
type Error struct {
	Line, Col int // of the word that does not fit, from 1; both 0 if the query as a whole is wrong
	Message   string
}

// Error returns the whole text.
func (e *Error) Error() string {
	if e.Line == 0 && e.Col == 0 {
		return "parse error : " + e.Message
	}
	return fmt.Sprintf("parse error at line %d, col %d: %s", e.Line, e.Col, e.Message)
}

// Invalid returns the error of a query that is well formed but means nothing.
func Invalid(format string, args ...any) *Error { return &Error{Message: fmt.Sprintf(format, args...)} }

// InvalidStage returns the error of a stage whose arguments cannot be used.
func InvalidStage(s Stage, err error) *Error { return Invalid("stage '%s' : %v", s, err) }

// unexpected returns the error of a word that does not fit. expected are the kinds that would fit, at most four; nil:
// many would.
func unexpected(w word, expected []kind) *Error {
	text := "syntax error: unexpected " + w.kind.name()
	for i, k := range expected {
		if i == 0 {
			text += ", expecting " + k.name()
		} else {
			text += " or " + k.name()
		}
	}
	return &Error{Line: w.line, Col: w.col, Message: strings.TrimSpace(text)}
}

// name is what errors call a kind: functions are in capitals.
func (k kind) name() string {
	switch k {
	case "ip", "label_replace":
		return string(k)
	case "bytes", "duration", "duration_seconds":
		return strings.ToUpper(string(k)) + "_CONV"
	}
	if functions[string(k)] {
		return strings.ToUpper(string(k))
	}
	return string(k)
}
