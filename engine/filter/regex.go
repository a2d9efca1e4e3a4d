package filter

import (
	"bytes"
	"regexp"
	"regexp/syntax"
	"slices"
	"unicode/utf8"
)

// newRegex compiles an unanchored regular expression, with the texts that every match must hold. The longest is what
// heaps are searched for; rows that lack another never reach the expression, which costs some 50 times such a search.
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
	parts := appendRequired(nil, tree, false)
	if len(parts) == 0 { // of an expression in any case: rows are searched folded, and checked as they are
		parts = appendRequired(nil, tree, true)
		m.fold, m.raw = len(parts) > 0, true
	}
	m.parts = parts
	for _, p := range parts {
		if len(p) > len(m.literal) {
			m.literal = p
		}
	}
	switch {
	case m.fold:
	case len(parts) == 1 && isLiteral(tree):
		m.check = nil // the expression is nothing but text
	case len(parts) > 1:
		m.check = func(row []byte) bool { return holdsInOrder(row, parts) && re.Match(row) }
	}
	return m, nil
}

// holdsInOrder tells whether the row holds the parts one behind the other.
func holdsInOrder(row []byte, parts [][]byte) bool {
	for _, p := range parts {
		i := bytes.Index(row, p)
		if i < 0 {
			return false
		}
		row = row[i+len(p):]
	}
	return true
}

// isLiteral tells whether the expression matches the bytes of its text and nothing else. The replacement rune is no
// such text: it matches any byte that is no UTF-8.
func isLiteral(e *syntax.Regexp) bool {
	return e.Op == syntax.OpLiteral && e.Flags&syntax.FoldCase == 0 && !slices.Contains(e.Rune, utf8.RuneError)
}

// appendRequired appends texts that every match of the expression holds, in their order and without overlap. fold: those
// that it holds in any case, folded.
func appendRequired(dst [][]byte, e *syntax.Regexp, fold bool) [][]byte {
	switch e.Op {
	case syntax.OpLiteral:
		if fold && e.Flags&syntax.FoldCase != 0 && !slices.Contains(e.Rune, utf8.RuneError) {
			dst = append(dst, AppendFold(nil, []byte(string(e.Rune))))
		} else if !fold && isLiteral(e) {
			dst = append(dst, []byte(string(e.Rune)))
		}
	case syntax.OpCapture, syntax.OpPlus:
		return appendRequired(dst, e.Sub[0], fold)
	case syntax.OpRepeat:
		if e.Min > 0 {
			return appendRequired(dst, e.Sub[0], fold)
		}
	case syntax.OpConcat:
		for _, sub := range e.Sub {
			dst = appendRequired(dst, sub, fold)
		}
	}
	return dst
}
