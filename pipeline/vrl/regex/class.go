package regex

import (
	"regexp/syntax"
	"slices"
	"strings"
	"unicode"
	"unicode/utf8"
)

// span is a range of characters, both ends in it.
type span struct{ lo, hi rune }

// class takes a class in brackets. One without nesting and set operations keeps its form; others become ranges.
func (t *translator) class(m mode) error {
	start := t.at
	if text, ok, err := t.plainClass(m); err != nil || ok {
		t.out.WriteString(text)
		return err
	}
	t.at = start
	set, err := t.classSet(m)
	if err != nil {
		return err
	}
	t.out.WriteString(spansText(set))
	return nil
}

// plainClass translates a class that needs its escapes rewritten only; ok is false when it is not such a class.
func (t *translator) plainClass(m mode) (text string, ok bool, err error) {
	start := t.at
	var b strings.Builder
	b.WriteByte('[')
	t.at++
	if t.at < len(t.src) && t.src[t.at] == '^' {
		b.WriteByte('^')
		t.at++
	}
	for first := true; t.at < len(t.src); first = false {
		c := t.src[t.at]
		rest := t.src[t.at:]
		switch {
		case m.verbose && t.skipBlank(c):
		case c == ']' && !first:
			t.at++
			b.WriteByte(']')
			return b.String(), true, nil
		case strings.HasPrefix(rest, "&&"), strings.HasPrefix(rest, "--"), strings.HasPrefix(rest, "~~"):
			return "", false, nil
		case c == '[':
			name := asciiClass(rest)
			if name == "" {
				return "", false, nil
			}
			b.WriteString(name)
			t.at += len(name)
		case c == '\\':
			text, ok, err := t.plainEscape(m)
			if err != nil || !ok {
				return "", false, err
			}
			b.WriteString(text)
		case c == '-' && !first:
			b.WriteByte('-')
			t.at++
			if t.at < len(t.src) && t.src[t.at] == '[' {
				return "", false, nil
			}
		default:
			r, size := utf8.DecodeRuneInString(rest)
			b.WriteString(quoteRune(r))
			t.at += size
		}
	}
	return "", false, t.fail(start, "unclosed character class")
}

// plainEscape translates an escape inside a class; ok is false when it has no form as a member.
func (t *translator) plainEscape(m mode) (text string, ok bool, err error) {
	if t.at+1 >= len(t.src) {
		return "", false, t.fail(t.at, "%v", errEnd)
	}
	switch c := t.src[t.at+1]; c {
	case 'd', 's', 'w':
		t.at += 2
		return t.perl(c, m, true), true, nil
	case 'D', 'S', 'W':
		return "", false, nil
	case 'p', 'P':
		text, err := t.property()
		return text, err == nil && text[0] == '\\', err
	}
	r, err := t.literalEscape()
	return quoteRune(r), err == nil, err
}

// asciiClass is the [:name:] that s begins with, or "".
func asciiClass(s string) string {
	if !strings.HasPrefix(s, "[:") {
		return ""
	}
	end := strings.Index(s, ":]")
	if end < 0 {
		return ""
	}
	name := s[:end+2]
	if _, ok := asciiClasses[strings.TrimPrefix(name[2:end], "^")]; !ok {
		return ""
	}
	return name
}

var asciiClasses = map[string]bool{"alnum": true, "alpha": true, "ascii": true, "blank": true, "cntrl": true,
	"digit": true, "graph": true,
	"lower": true, "print": true, "punct": true, "space": true, "upper": true, "word": true, "xdigit": true}

// classSet evaluates a class in brackets: unions, and operations between them from left to right.
func (t *translator) classSet(m mode) ([]span, error) {
	start := t.at
	if t.nesting++; t.nesting > maxNesting {
		return nil, t.fail(start, "classes nest deeper than %d", maxNesting)
	}
	defer func() { t.nesting-- }()
	t.at++
	negated := false
	if t.at < len(t.src) && t.src[t.at] == '^' {
		negated = true
		t.at++
	}
	var left, union []span
	operator := ""
	for first := true; t.at < len(t.src); first = false {
		c := t.src[t.at]
		rest := t.src[t.at:]
		switch {
		case m.verbose && t.skipBlank(c):
		case c == ']' && !first:
			t.at++
			set := combine(left, operator, merged(union))
			if negated {
				set = complement(set)
			}
			return set, nil
		case len(rest) > 1 && c == rest[1] && (c == '&' || c == '-' && !first || c == '~'):
			t.at += 2
			left, operator, union = combine(left, operator, merged(union)), rest[:2], nil
		default:
			item, err := t.classItem(m)
			if err != nil {
				return nil, err
			}
			union = append(union, item...)
		}
	}
	return nil, t.fail(start, "unclosed character class")
}

// classItem takes a nested class, an escape, a character or a range.
func (t *translator) classItem(m mode) ([]span, error) {
	start := t.at
	if t.src[t.at] == '[' {
		if name := asciiClass(t.src[t.at:]); name != "" {
			t.at += len(name)
			return goClass(t, start, "["+name+"]")
		}
		return t.classSet(m)
	}
	if t.src[t.at] == '\\' && t.at+1 < len(t.src) {
		switch c := t.src[t.at+1]; c {
		case 'd', 'D', 's', 'S', 'w', 'W':
			t.at += 2
			return goClass(t, start, t.perl(c, m, false))
		case 'p', 'P':
			text, err := t.property()
			if err != nil {
				return nil, err
			}
			return goClass(t, start, text)
		}
	}
	lo, err := t.classRune()
	if err != nil {
		return nil, err
	}
	rest := t.src[t.at:]
	if len(rest) < 2 || rest[0] != '-' || rest[1] == ']' || rest[1] == '-' {
		return []span{{lo, lo}}, nil
	}
	t.at++
	hi, err := t.classRune()
	if err != nil {
		return nil, err
	}
	if hi < lo {
		return nil, t.fail(start, "invalid character class range, the start must be <= the end")
	}
	return []span{{lo, hi}}, nil
}

// classRune takes one character, written out or escaped.
func (t *translator) classRune() (rune, error) {
	if t.src[t.at] == '\\' {
		return t.literalEscape()
	}
	r, size := utf8.DecodeRuneInString(t.src[t.at:])
	t.at += size
	return r, nil
}

// goClass returns the ranges of a class in Go's syntax.
func goClass(t *translator, at int, text string) ([]span, error) {
	re, err := syntax.Parse(text, syntax.Perl)
	if err != nil {
		return nil, t.fail(at, "Unicode property not found")
	}
	var set []span
	switch re.Op {
	case syntax.OpLiteral:
		set = append(set, span{re.Rune[0], re.Rune[0]})
	case syntax.OpAnyChar:
		set = append(set, span{0, unicode.MaxRune})
	case syntax.OpCharClass:
		for i := 0; i+1 < len(re.Rune); i += 2 {
			set = append(set, span{re.Rune[i], re.Rune[i+1]})
		}
	}
	return set, nil
}

// merged sorts ranges and joins those that touch.
func merged(set []span) []span {
	slices.SortFunc(set, func(a, b span) int { return int(a.lo) - int(b.lo) })
	var out []span
	for _, s := range set {
		if n := len(out); n > 0 && s.lo <= out[n-1].hi+1 {
			out[n-1].hi = max(out[n-1].hi, s.hi)
			continue
		}
		out = append(out, s)
	}
	return out
}

func complement(set []span) []span {
	var out []span
	next := rune(0)
	for _, s := range set {
		if s.lo > next {
			out = append(out, span{next, s.lo - 1})
		}
		next = s.hi + 1
	}
	if next <= unicode.MaxRune {
		out = append(out, span{next, unicode.MaxRune})
	}
	return out
}

func intersect(a, b []span) []span {
	var out []span
	for i, j := 0, 0; i < len(a) && j < len(b); {
		if lo, hi := max(a[i].lo, b[j].lo), min(a[i].hi, b[j].hi); lo <= hi {
			out = append(out, span{lo, hi})
		}
		if a[i].hi < b[j].hi {
			i++
		} else {
			j++
		}
	}
	return out
}

// combine applies a set operation; without one it is the right side.
func combine(a []span, operator string, b []span) []span {
	switch operator {
	case "&&":
		return intersect(a, b)
	case "--":
		return intersect(a, complement(b))
	case "~~":
		return merged(append(intersect(a, complement(b)), intersect(b, complement(a))...))
	}
	return b
}

// spansText writes ranges as a class of Go.
func spansText(set []span) string {
	if len(set) == 0 {
		return `[^\x00-\x{10FFFF}]`
	}
	var b strings.Builder
	b.WriteByte('[')
	for _, s := range set {
		b.WriteString(quoteRune(s.lo))
		if s.hi > s.lo {
			b.WriteByte('-')
			b.WriteString(quoteRune(s.hi))
		}
	}
	b.WriteByte(']')
	return b.String()
}
