package flatten

import (
	"errors"
	"fmt"
	"strings"
	"unicode/utf8"

	"varve/engine/status"
)

// MaxShown bounds the characters that an error text shows of a value.
const MaxShown = 80

// MaxFailures bounds the failures that a request reports if failing entries are skipped; maxTold bounds the failures
// kept with their reasons if all are reported.
const (
	MaxFailures = 3
	maxTold     = 1000
)

var errUntold = status.New(status.InvalidArguments, "the entry cannot be stored; only the first %d reasons are kept",
	maxTold)

// Subject is the error of an entry together with the thing that it is about. Its text is the text of the error alone:
// see Explain.
type Subject struct {
	Err   error
	Step  string // of a pipeline, such as "processor 2, date"
	Field string
	Value string // as the error shows it; empty for none
	Hint  string // the alternatives tried, or advice
}

func (s *Subject) Error() string { return s.Err.Error() }

// Unwrap returns the error.
func (s *Subject) Unwrap() error { return s.Err }

// Failure is an entry that failed. Its text is that of the error alone: see Explain.
type Failure struct {
	Entry int // from 1; 0: not known
	Err   error
}

func (f *Failure) Error() string { return f.Err.Error() }

// Unwrap returns the error.
func (f *Failure) Unwrap() error { return f.Err }

// Explain returns the error with the number of the entry, the number of entries (0: not known) and the subject of the
// error after its text. Errors that are not for clients stay unchanged.
func (f *Failure) Explain(total int) error {
	var e *status.Error
	if !errors.As(f.Err, &e) || f.Entry == 0 {
		return f.Err
	}
	text := e.Msg + " (" + numbered("entry", f.Entry, total, total >= f.Entry)
	var s *Subject
	if errors.As(f.Err, &s) {
		text += s.about()
	}
	return status.Wrap(f.Err, e.Code, "%s)", text)
}

// numbered names an entry or line by its number, of how many. Where not all of them can be told apart, or were read,
// total is how many there are at least, as far as that is known.
func numbered(what string, n, total int, all bool) string {
	more := ""
	if !all {
		more = " or more"
	}
	return fmt.Sprintf("%s %d of %d%s", what, n, max(n, total), more)
}

// about returns the subject of the error, in the form that follows the entry.
func (s *Subject) about() string {
	text := ""
	if s.Step != "" {
		text += ", " + s.Step
	}
	if s.Field != "" {
		text += fmt.Sprintf(", field %q", Cut(s.Field))
	}
	if s.Value != "" {
		text += ", value " + Cut(s.Value)
	}
	if s.Hint != "" {
		text += ": " + s.Hint
	}
	return text
}

// Cut is text as error texts show it: its first MaxShown characters.
func Cut(text string) string {
	if len(text) <= MaxShown || utf8.RuneCountInString(text) <= MaxShown {
		return strings.ToValidUTF8(text, "\uFFFD")
	}
	n := 0
	for i := range text {
		if n++; n > MaxShown {
			return strings.ToValidUTF8(text[:i], "\uFFFD") + "..."
		}
	}
	return text
}

// AddFailure records one more failure. Only the first few are kept, unless all are wanted.
func AddFailure(list []Failure, f Failure, all bool) []Failure {
	if !all && len(list) >= MaxFailures {
		return list
	}
	if len(list) >= maxTold {
		f.Err = errUntold
	}
	return append(list, f)
}
