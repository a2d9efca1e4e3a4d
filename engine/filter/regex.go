package filter

import (
	"regexp"
	"regexp/syntax"
)

// newRegex compiles an unanchored regular expression, with the longest literal that every match must hold.
func newRegex(expr string) (*matcher, error) {
	re, err := regexp.Compile(expr)
	if err != nil {
		return nil, err
	}
	m := &matcher{check: re.Match}
	tree, err := syntax.Parse(expr, syntax.Perl)
	if err != nil {
		return m, nil // regexp took it; without its tree there is no literal
	}
	tree = tree.Simplify()
	m.literal = []byte(required(tree))
	if tree.Op == syntax.OpLiteral && tree.Flags&syntax.FoldCase == 0 {
		m.check = nil // the expression is nothing but text
	}
	return m, nil
}

// required is the longest text that every match of the expression holds; empty when there is none.
func required(e *syntax.Regexp) string {
	switch e.Op {
	case syntax.OpLiteral:
		if e.Flags&syntax.FoldCase == 0 {
			return string(e.Rune)
		}
	case syntax.OpCapture, syntax.OpPlus:
		return required(e.Sub[0])
	case syntax.OpRepeat:
		if e.Min > 0 {
			return required(e.Sub[0])
		}
	case syntax.OpConcat:
		best := ""
		for _, sub := range e.Sub {
			if s := required(sub); len(s) > len(best) {
				best = s
			}
		}
		return best
	}
	return ""
}
