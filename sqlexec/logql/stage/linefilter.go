package stage

import (
	"bytes"
	"regexp/syntax"
	"slices"
	"unicode/utf8"

	"varve/engine/automaton"
	logql "varve/sqlexec/logql/syntax"
)

// lineFilterStep keeps lines in which a test finds something, or nothing.
type lineFilterStep struct {
	tests  []lineTest
	negate bool
}

// lineTest looks for one text of a filter in a line.
type lineTest interface{ found(line []byte) bool }

// newLineFilter compiles a filter.
func newLineFilter(f *logql.LineFilter) (step, error) {
	s := &lineFilterStep{}
	switch f.Op {
	case logql.LineContainsNot, logql.LineMatchesNot, logql.LinePatternNot:
		s.negate = true
	}
	for _, v := range f.Values {
		t, err := newLineTest(f.Op, v)
		if err != nil {
			return nil, err
		}
		s.tests = append(s.tests, t)
	}
	return s, nil
}

// newLineTest compiles one text of a filter.
func newLineTest(op logql.LineOp, v logql.LineValue) (lineTest, error) {
	switch {
	case v.IP:
		return newNetwork(v.Text)
	case op == logql.LineContains || op == logql.LineContainsNot:
		return containsTest(v.Text), nil
	case op == logql.LinePattern || op == logql.LinePatternNot:
		return newPatternTest(v.Text)
	}
	return newExpression(v.Text)
}

func (s *lineFilterStep) run(e *Entry) bool {
	for _, t := range s.tests {
		if t.found(e.Line) {
			return !s.negate
		}
	}
	return s.negate
}

// containsTest is a text that a line contains.
type containsTest []byte

func (t containsTest) found(line []byte) bool { return bytes.Contains(line, t) }

// expression is a regular expression that a text contains a match of. A point stands for any character.
type expression struct {
	literal []byte            // every match contains it
	re      *automaton.Regexp // nil: the expression is the literal
}

// newExpression compiles an expression.
func newExpression(expr string) (*expression, error) {
	tree, err := syntax.Parse(expr, syntax.Perl|syntax.DotNL)
	if err != nil {
		return nil, err
	}
	tree = tree.Simplify()
	if literal := required(tree); tree.Op == syntax.OpLiteral && literal != nil {
		return &expression{literal: literal}, nil
	}
	re, err := automaton.Compile("(?s)" + expr)
	if err != nil {
		return nil, err
	}
	return &expression{literal: required(tree), re: re}, nil
}

// required returns the longest text that each match of a tree contains; nil: there is none.
func required(tree *syntax.Regexp) []byte {
	switch tree.Op {
	case syntax.OpLiteral:
		// The replacement character matches bytes that are no UTF-8, too.
		if tree.Flags&syntax.FoldCase == 0 && !slices.Contains(tree.Rune, utf8.RuneError) {
			return []byte(string(tree.Rune))
		}
	case syntax.OpCapture, syntax.OpPlus:
		return required(tree.Sub[0])
	case syntax.OpRepeat:
		if tree.Min > 0 {
			return required(tree.Sub[0])
		}
	case syntax.OpConcat:
		var longest []byte
		for _, sub := range tree.Sub {
			if r := required(sub); len(r) > len(longest) {
				longest = r
			}
		}
		return longest
	}
	return nil
}

func (x *expression) found(text []byte) bool {
	if len(x.literal) > 0 && !bytes.Contains(text, x.literal) {
		return false
	}
	return x.re == nil || x.re.Match(text, nil)
}
