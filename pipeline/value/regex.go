package value

import (
	"regexp"
	"unicode/utf8"
)

// Regex is a compiled regular expression with the text it was written as. It may be used by many goroutines.
type Regex struct {
	Source string
	// Regexp runs on text of ASCII bytes, and on any text when Unicode is nil.
	*regexp.Regexp
	// Unicode runs on other text, where its classes hold more; nil when there is no difference.
	Unicode *regexp.Regexp
	// Names[i] is the name of group i as the script gave it, "" for those without and for the whole match.
	Names []string
}

// On is the program that runs on a text.
func (r *Regex) On(text string) *regexp.Regexp {
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
