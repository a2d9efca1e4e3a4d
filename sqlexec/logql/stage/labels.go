package stage

import (
	"varve/sqlexec/logql/syntax"
)

// pick is a label of drop or keep: a name, with or without a matcher of its value.
type pick struct {
	label   int32 // -1: __error__; -2: __error_details__
	any     bool  // any value
	matcher matcher
}

// The labels of errors as picks name them.
const (
	pickError   = -1
	pickDetails = -2
)

// picks compiles the labels of drop and keep.
func (c *compiler) picks(labels []syntax.LabelPick) ([]pick, error) {
	picks := make([]pick, len(labels))
	for i, l := range labels {
		p := &picks[i]
		switch l.Name {
		case syntax.LabelError:
			p.label = pickError
		case syntax.LabelErrorDetails:
			p.label = pickDetails
		default:
			p.label = c.number(l.Name)
		}
		if p.any = l.Matcher == nil; !p.any {
			var err error
			if p.matcher, err = newMatcher(l.Matcher); err != nil {
				return nil, err
			}
		}
	}
	return picks, nil
}

// dropStep removes labels.
type dropStep struct{ picks []pick }

// drop compiles a drop stage.
func (c *compiler) drop(s *syntax.Drop) (step, error) {
	picks, err := c.picks(s.Labels)
	return &dropStep{picks}, err
}

func (s *dropStep) run(e *Entry) bool {
	for i := range s.picks {
		switch p := &s.picks[i]; p.label {
		case pickError:
			if p.any || p.matcher.matches([]byte(e.Err)) {
				e.Err = ""
			}
		case pickDetails:
			if p.any || p.matcher.matches([]byte(e.Details)) {
				e.Details = ""
			}
		default:
			if l := e.find(p.label); l != nil && (p.any || p.matcher.matches(l.Value)) {
				e.remove(p.label)
			}
		}
	}
	return true
}

// keepStep removes all labels but those picked.
type keepStep struct{ picks []pick }

// keep compiles a keep stage.
func (c *compiler) keep(s *syntax.Keep) (step, error) {
	picks, err := c.picks(s.Labels)
	return &keepStep{picks}, err
}

func (s *keepStep) run(e *Entry) bool {
	for i := range e.Labels {
		if l := &e.Labels[i]; l.Kind != removed && !s.keeps(l) {
			e.remove(l.num)
		}
	}
	return true
}

// keeps reports whether a label is picked.
func (s *keepStep) keeps(l *Label) bool {
	for i := range s.picks {
		if p := &s.picks[i]; p.label == l.num && (p.any || p.matcher.matches(l.Value)) {
			return true
		}
	}
	return false
}

// decolorizeStep takes the escape sequences of terminals out of the line.
type decolorizeStep struct{}

func (decolorizeStep) run(e *Entry) bool {
	const escape = 0x1b
	line, copied := e.Line, 0
	begin, open := len(e.buf), false // open: a command begins, and nothing ends it or a later one
	for at := 0; at < len(line); {
		n := 0
		if command := line[at] == escape && at+1 < len(line) && line[at+1] == ']'; command && !open {
			n = commandLength(line[at:])
			open = n == 0
		} else if line[at] == escape && !command {
			n = escapeLength(line[at:])
		} else if line[at] == 0xc2 && at+1 < len(line) && line[at+1] == 0x9b {
			// The one character that stands for ESC [.
			n = 2 + controlLength(line[at+2:])
		}
		if n == 0 {
			at++
			continue
		}
		e.buf = append(e.buf, line[copied:at]...)
		at += n
		copied = at
	}
	if copied > 0 {
		e.buf = append(e.buf, line[copied:]...)
		e.Line = e.buf[begin:len(e.buf):len(e.buf)]
	}
	return true
}

// escapeLength is the length of the escape sequence, other than a command, that a text begins with; 0: a lone escape
// character.
func escapeLength(text []byte) int {
	if len(text) < 2 {
		return 0
	}
	switch c := text[1]; {
	case c == '[':
		return 2 + controlLength(text[2:])
	case c >= 0x20 && c <= 0x2f: // one character more, such as of ESC ( B
		return min(3, len(text))
	case c >= 0x30 && c <= 0x7e:
		return 2
	}
	return 0
}

// commandLength is the length of the command that a text begins with, ESC ] up to the bell or ESC \; 0: nothing ends
// it.
func commandLength(text []byte) int {
	for i := 2; i < len(text); i++ {
		if text[i] == 7 {
			return i + 1
		}
		if text[i] == 0x1b && i+1 < len(text) && text[i+1] == '\\' {
			return i + 2
		}
	}
	return 0
}

// controlLength is the length of parameters and the final character behind ESC [.
func controlLength(text []byte) int {
	for i, c := range text {
		if c >= 0x40 && c <= 0x7e {
			return i + 1
		}
		if c < 0x20 || c > 0x3f {
			return i
		}
	}
	return len(text)
}
