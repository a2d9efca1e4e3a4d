package client

import (
	"regexp"
	"sync"
)

// Pattern gives a regular expression that is compiled when it is asked for the first time: most commands need none of
// them, and each wants to start at once.
func Pattern(text string) func() *regexp.Regexp {
	return sync.OnceValue(func() *regexp.Regexp { return regexp.MustCompile(text) })
}
