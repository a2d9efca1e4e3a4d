package processor

import (
	"fmt"
	"strconv"
	"strings"
	"unicode/utf8"

	"varve/pipeline/value"
)

// Limits of paths.
const (
	maxPath        = 4096 // bytes
	maxPathNesting = 32   // filters inside filters
)

// pathParser reads a JSON path from left to right.
type pathParser struct {
	s       string
	at      int
	nesting int
}

// parsePath reads a path that begins with $.
func parsePath(text string) (*path, error) {
	if len(text) > maxPath {
		return nil, fmt.Errorf("a path of %d bytes is longer than %d", len(text), maxPath)
	}
	p := &pathParser{s: text}
	p.blanks()
	if !p.take("$") {
		return nil, p.expected("$")
	}
	found, err := p.path()
	if err != nil {
		return nil, err
	}
	if p.blanks(); p.at < len(p.s) {
		return nil, p.expected("the end")
	}
	return found, nil
}

func (p *pathParser) expected(what string) error {
	return fmt.Errorf("expected %s at byte %d of %q", what, p.at, p.s)
}

func (p *pathParser) blanks() {
	for p.at < len(p.s) && strings.IndexByte(" \t\r\n", p.s[p.at]) >= 0 {
		p.at++
	}
}

func (p *pathParser) take(token string) bool {
	if strings.HasPrefix(p.s[p.at:], token) {
		p.at += len(token)
		return true
	}
	return false
}

// path reads the segments behind $ or @.
func (p *pathParser) path() (*path, error) {
	found := &path{}
	for {
		start := p.at
		p.blanks()
		var s pathSegment
		var err error
		switch {
		case p.take(".."):
			s.deep = true
			if p.take("[") {
				s.selectors, err = p.bracket()
			} else {
				s.selectors, err = p.dotted()
			}
		case p.take("."):
			s.selectors, err = p.dotted()
		case p.take("["):
			s.selectors, err = p.bracket()
		default:
			p.at = start
			return found, nil
		}
		if err != nil {
			return nil, err
		}
		found.segments = append(found.segments, s)
	}
}

// dotted reads a name or a star behind a point.
func (p *pathParser) dotted() ([]selector, error) {
	if p.take("*") {
		return []selector{{kind: selectAll}}, nil
	}
	start := p.at
	for p.at < len(p.s) {
		c := p.s[p.at]
		if c != '_' && c != '-' && c != '$' && c != '@' && c-'0' > 9 && c|0x20-'a' > 25 && c < utf8.RuneSelf {
			break
		}
		p.at++
	}
	if p.at == start {
		return nil, p.expected("a name")
	}
	return []selector{{kind: selectName, name: p.s[start:p.at]}}, nil
}

// bracket reads selectors up to the closing bracket.
func (p *pathParser) bracket() ([]selector, error) {
	var list []selector
	for {
		p.blanks()
		s, err := p.selector()
		if err != nil {
			return nil, err
		}
		list = append(list, s)
		p.blanks()
		if p.take("]") {
			return list, nil
		}
		if !p.take(",") {
			return nil, p.expected("] or ,")
		}
	}
}

func (p *pathParser) selector() (selector, error) {
	switch {
	case p.take("*"):
		return selector{kind: selectAll}, nil
	case p.take("?"):
		c, err := p.either()
		return selector{kind: selectFilter, filter: c}, err
	case p.at < len(p.s) && (p.s[p.at] == '\'' || p.s[p.at] == '"'):
		name, err := p.quoted()
		return selector{kind: selectName, name: name}, err
	}
	s := selector{kind: selectIndex, step: 1}
	n, ok := p.integer()
	s.start = n
	if ok {
		s.has = 1
	}
	p.blanks()
	if !p.take(":") {
		if !ok {
			return s, p.expected("a name, an index, a slice, * or ?")
		}
		return s, nil
	}
	s.kind = selectSlice
	p.blanks()
	if s.end, ok = p.integer(); ok {
		s.has |= 2
	}
	p.blanks()
	if p.take(":") {
		p.blanks()
		if n, ok := p.integer(); ok {
			s.step = n
		}
	}
	return s, nil
}

// integer reads a whole number; ok is false, and nothing is read, without one.
func (p *pathParser) integer() (n int, ok bool) {
	end := p.at
	if end < len(p.s) && p.s[end] == '-' {
		end++
	}
	for end < len(p.s) && p.s[end]-'0' <= 9 {
		end++
	}
	n, err := strconv.Atoi(p.s[p.at:end])
	if err != nil || n > 1<<31 || n < -(1<<31) {
		return 0, false
	}
	p.at = end
	return n, true
}

// quoted reads a string in quotes of either kind, with the escapes of JSON.
func (p *pathParser) quoted() (string, error) {
	quote := p.s[p.at]
	p.at++
	var b strings.Builder
	for p.at < len(p.s) {
		c := p.s[p.at]
		p.at++
		switch {
		case c == quote:
			return b.String(), nil
		case c != '\\':
			b.WriteByte(c)
			continue
		case p.at == len(p.s):
			return "", p.expected("an escape")
		}
		c = p.s[p.at]
		p.at++
		if i := strings.IndexByte(`bfnrt/\'"`, c); i >= 0 {
			b.WriteByte("\b\f\n\r\t/\\'\""[i])
			continue
		}
		if c != 'u' || p.at+4 > len(p.s) {
			return "", p.expected("an escape")
		}
		n, err := strconv.ParseUint(p.s[p.at:p.at+4], 16, 16)
		if err != nil {
			return "", p.expected("four hexadecimal digits")
		}
		b.WriteRune(rune(n))
		p.at += 4
	}
	return "", p.expected("a closing quote")
}

// either reads conditions joined by ||.
func (p *pathParser) either() (*condition, error) {
	if p.nesting++; p.nesting > maxPathNesting {
		return nil, fmt.Errorf("filters nest deeper than %d", maxPathNesting)
	}
	defer func() { p.nesting-- }()
	return p.joined("||", func() (*condition, error) { return p.joined("&&", p.single) })
}

// joined reads conditions with an operator between.
func (p *pathParser) joined(op string, one func() (*condition, error)) (*condition, error) {
	left, err := one()
	for err == nil {
		p.blanks()
		if !p.take(op) {
			return left, nil
		}
		var right *condition
		right, err = one()
		left = &condition{op: op, left: left, right: right}
	}
	return nil, err
}

// single reads a comparison, a test, or a condition in parentheses.
func (p *pathParser) single() (*condition, error) {
	p.blanks()
	if !strings.HasPrefix(p.s[p.at:], "!=") && p.take("!") {
		if p.nesting++; p.nesting > maxPathNesting {
			return nil, fmt.Errorf("filters nest deeper than %d", maxPathNesting)
		}
		c, err := p.single()
		p.nesting--
		return &condition{op: "!", left: c}, err
	}
	if p.take("(") {
		c, err := p.either()
		if err != nil {
			return nil, err
		}
		if p.blanks(); !p.take(")") {
			return nil, p.expected(")")
		}
		return c, nil
	}
	a, err := p.operand()
	if err != nil {
		return nil, err
	}
	p.blanks()
	for _, op := range [...]string{"==", "!=", "<=", ">=", "<", ">"} {
		if p.take(op) {
			b, err := p.operand()
			return &condition{op: op, a: a, b: b}, err
		}
	}
	if a.path == nil {
		return nil, p.expected("a comparison")
	}
	return &condition{a: a}, nil
}

func (p *pathParser) operand() (o operand, err error) {
	p.blanks()
	switch {
	case p.take("@"):
		o.path, err = p.path()
		return o, err
	case p.take("$"):
		o.root = true
		o.path, err = p.path()
		return o, err
	case p.take("true"):
		o.literal = value.Bool(true)
		return o, nil
	case p.take("false"):
		o.literal = value.Bool(false)
		return o, nil
	case p.take("null"):
		return o, nil
	case p.at < len(p.s) && (p.s[p.at] == '\'' || p.s[p.at] == '"'):
		text, err := p.quoted()
		o.literal = value.String(text)
		return o, err
	}
	end := p.at
	for end < len(p.s) && strings.IndexByte("+-.0123456789eE", p.s[end]) >= 0 {
		end++
	}
	switch n := number(p.s[p.at:end]).(type) {
	case int64:
		o.literal = value.Int(n)
	case float64:
		o.literal = value.Float(n)
	default:
		return o, p.expected("a value")
	}
	p.at = end
	return o, nil
}
