package stage

import (
	"bytes"

	"varve/sqlexec/logql/syntax"
)

// patternStep makes labels of the captures of a pattern.
type patternStep struct {
	prefix []byte // literal that the line begins with
	parts  []patternCapture
}

// patternCapture is a capture and the literal that ends it.
type patternCapture struct {
	label int32  // -1: its text is left out
	until []byte // nil: it takes the rest of the line
}

// pattern compiles a pattern stage.
func (c *compiler) pattern(s *syntax.Pattern) (step, error) {
	parts, err := syntax.ParsePattern(s.Text)
	if err != nil {
		return nil, err
	}
	w := c.wanted[c.at]
	if !w.all && len(w.names) == 0 {
		return nil, nil
	}
	step := &patternStep{}
	for i, p := range parts {
		switch {
		case p.Literal == "":
			capture := patternCapture{label: -1}
			if p.Name != "_" && w.parses(p.Name) {
				capture.label = c.number(p.Name)
			}
			step.parts = append(step.parts, capture)
		case i == 0:
			step.prefix = []byte(p.Literal)
		default:
			step.parts[len(step.parts)-1].until = []byte(p.Literal)
		}
	}
	return step, nil
}

func (s *patternStep) run(e *Entry) bool {
	rest, ok := bytes.CutPrefix(e.Line, s.prefix)
	if !ok || len(rest) == 0 {
		return true
	}
	for i := range s.parts {
		p := &s.parts[i]
		value, ended := rest, false
		if p.until != nil {
			value, rest, ended = bytes.Cut(rest, p.until)
		}
		if p.label >= 0 {
			e.extract(p.label, value)
		}
		if !ended {
			break
		}
	}
	return true
}

// patternTest is a pattern that a whole line matches: literals, and nil for captures. No parts match the empty line.
type patternTest [][]byte

// newPatternTest compiles the pattern of a line filter.
func newPatternTest(text string) (patternTest, error) {
	if text == "" {
		return nil, nil
	}
	parts, err := syntax.ParsePattern(text)
	t := make(patternTest, len(parts))
	for i, p := range parts {
		if p.Literal != "" {
			t[i] = []byte(p.Literal)
		}
	}
	return t, err
}

func (t patternTest) found(line []byte) bool {
	open := false // a capture, which stands for at least one byte, is before the next literal
	for i, literal := range t {
		switch last := i == len(t)-1; {
		case literal == nil:
			open = true
		case !open:
			var ok bool
			if line, ok = bytes.CutPrefix(line, literal); !ok {
				return false
			}
		case last:
			return len(line) > len(literal) && bytes.HasSuffix(line, literal)
		default:
			at := bytes.Index(line[min(1, len(line)):], literal)
			if at < 0 {
				return false
			}
			line, open = line[1+at+len(literal):], false
		}
	}
	return open == (len(line) > 0)
}
