package value

import "regexp"

// Regex is a compiled regular expression with the text it was written as. It may be used by many goroutines.
type Regex struct {
	Source string
	*regexp.Regexp
}
