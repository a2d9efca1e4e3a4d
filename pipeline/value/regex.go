package value

import (
	"regexp"
	"time"
	"unicode/utf8"

	"varve/engine/status"
)

const (
	// MaxEventSteps bounds what regular expressions cost an event: each counts its steps times the bytes of the text. A
	// step takes a few nanoseconds, and nothing ends a search.
	MaxEventSteps = 1 << 28
	// maxSearch bounds the time that an event's searches for all matches take where the steps do not: looking for each
	// match may go to the end of the text.
	maxSearch = 2 * time.Second
	// shortSearch is up to how many steps, for a search of each match to the end, nobody looks at the clock.
	shortSearch = 1 << 26
)

// ErrTooManySteps is what an arena panics with where regular expressions take too much of an event. Whoever runs events
// recovers it, as ErrEventTooLarge.
var ErrTooManySteps = status.New(status.InvalidArguments,
	"regular expressions take too long on an entry: their steps times the bytes of the texts may be at most %d",
	MaxEventSteps)

// Regex is a compiled regular expression with the text it was written as. It may be used by many goroutines.
type Regex struct {
	Source string
	// Regexp runs on text of ASCII bytes, and on any text when Unicode is nil.
	*regexp.Regexp
	// Unicode is the expression for non-ASCII text, where its classes contain more characters; nil if there is no
	// difference.
	Unicode *regexp.Regexp
	// Names[i] is the name of group i as the script gave it, "" for those without and for the whole match.
	Names []string
	// Steps is about how many steps a byte of text may cost.
	Steps int
	// Bytes is about what it takes.
	Bytes int64
}

// On is the program that runs once on a text of the arena's event.
func (r *Regex) On(a *Arena, text string) *regexp.Regexp {
	if a != nil {
		if a.steps += max(r.Steps, 1) * (len(text) + 1); a.steps > MaxEventSteps {
			panic(ErrTooManySteps)
		}
	}
	if r.Unicode == nil {
		return r.Regexp
	}
	for i := range len(text) {
		if text[i] >= utf8.RuneSelf {
			return r.Unicode
		}
	}
	return r.Regexp
}

// OnAll is On for a search for all matches. Where that may take long it is tried once against the clock.
func (r *Regex) OnAll(a *Arena, text string) *regexp.Regexp {
	re := r.On(a, text)
	if a == nil || max(r.Steps, 1)*len(text) <= shortSearch/(len(text)+1) {
		return re
	}
	start := time.Now()
	re.ReplaceAllStringFunc(text, func(string) string {
		if a.searched+time.Since(start) > maxSearch {
			panic(ErrTooManySteps)
		}
		return ""
	})
	a.searched += time.Since(start)
	return re
}
