package expr

import (
	"strings"
	"sync"

	"varve/engine/automaton"
)

// regexpCache keeps compiled expressions of functions whose pattern is an ordinary argument. Nearly always there is
// only one.
type regexpCache struct {
	mu   sync.Mutex // protects m
	last regexpEntry
	m    map[string]*automaton.Regexp
}

type regexpEntry struct {
	key   string
	flags string
	re    *automaton.Regexp
}

var regexps = &regexpCache{m: map[string]*automaton.Regexp{}}

// maxRegexps bounds the cache: a full one is emptied.
const maxRegexps = 256

// get compiles an expression with those of the flags i, s and m that SQL's fourth argument has. Other flags, such as g,
// do not concern the expression.
func (c *regexpCache) get(expr, flags string) (*automaton.Regexp, error) {
	var keep strings.Builder
	for _, f := range flags {
		if strings.ContainsRune("ism", f) {
			keep.WriteRune(f)
		}
	}
	c.mu.Lock()
	defer c.mu.Unlock()
	if keep.Len() == 0 && c.last.re != nil && c.last.key == expr {
		return c.last.re, nil
	}
	full := strings.Clone(expr)
	if keep.Len() > 0 {
		full = "(?" + keep.String() + ")" + full
	}
	re := c.m[full]
	if re == nil {
		var err error
		if re, err = automaton.Compile(full); err != nil {
			return nil, err
		}
		if len(c.m) >= maxRegexps {
			clear(c.m)
		}
		c.m[full] = re
	}
	if keep.Len() == 0 {
		c.last = regexpEntry{key: full, re: re}
	}
	return re, nil
}
