package stage

import (
	"bytes"
	"regexp"
	rsyntax "regexp/syntax"

	"varve/engine/automaton"
	"varve/sqlexec/logql/syntax"
)

// regexpStep makes labels of the named groups of an expression.
type regexpStep struct {
	re      *regexp.Regexp
	quick   *automaton.Regexp // says whether re matches at all
	literal []byte            // every match contains it
	labels  []int32           // labels[i] is that of group i; -1: none
}

// regexp compiles a regexp stage.
func (c *compiler) regexp(s *syntax.Regexp) (step, error) {
	re, err := regexp.Compile(s.Text)
	if err != nil {
		return nil, err
	}
	quick, err := automaton.Compile(s.Text)
	if err != nil {
		return nil, err
	}
	w := c.wanted[c.at]
	if !w.all && len(w.names) == 0 {
		return nil, nil
	}
	tree, err := rsyntax.Parse(s.Text, rsyntax.Perl)
	if err != nil {
		return nil, err
	}
	step := &regexpStep{re: re, quick: quick, literal: required(tree.Simplify())}
	for _, name := range re.SubexpNames() {
		n := int32(-1)
		if name != "" && w.parses(name) {
			n = c.number(name)
		}
		step.labels = append(step.labels, n)
	}
	return step, nil
}

func (s *regexpStep) run(e *Entry) bool {
	if len(s.literal) > 0 && !bytes.Contains(e.Line, s.literal) || !s.quick.Match(e.Line, nil) {
		return true
	}
	at := s.re.FindSubmatchIndex(e.Line)
	if at == nil {
		return true
	}
	for i, n := range s.labels {
		if n < 0 {
			continue
		}
		var value []byte
		if at[2*i] >= 0 {
			value = e.Line[at[2*i]:at[2*i+1]]
		}
		e.extract(n, value)
	}
	return true
}
