package processor

import (
	"fmt"
	"slices"
	"strconv"
	"strings"
	"unicode"
	"unicode/utf8"

	"varve/engine/status"
)

// dissectPattern is a compiled dissect pattern. Immutable.
//
// A pattern is literal texts ("splits") with names between them. Matching walks the input once: a name ends at the next
// occurrence of the whole split behind it, so one search per name decides, and nothing is tried twice.
type dissectPattern struct {
	text   string
	prefix string // what the input begins with
	steps  []dissectStep
	spans  int // number of captures

	plain   []plainCapture
	appends []appendCapture
	refs    []refCapture
}

// dissectStep is a name and the split behind it.
type dissectStep struct {
	split string // empty: the name takes the rest
	span  int    // where the value is noted; -1: dropped
	pad   bool   // repeats of the split's first character are swallowed
}

type plainCapture struct {
	name string
	span int
}

// appendCapture is all parts of a name, in the order of joining.
type appendCapture struct {
	name  string
	spans []int
}

// refCapture names the value of one capture by the value of another.
type refCapture struct{ key, value int }

// span is a stretch [from, to) of the input.
type span struct{ from, to int }

// Limits of patterns.
const (
	maxPattern = 16 << 10 // bytes
	maxNames   = 512      // in one pattern
)

// dissectName is a name as parsed.
type dissectName struct {
	name  string
	start byte // '+', '?', '*', '&' or 0
	order int
	digit bool // an order was given
	pad   bool
}

func (n dissectName) dropped() bool { return n.start == '?' || n.name == "" }

// compileDissect reads a pattern. The error is the text of the contract, without its place.
func compileDissect(text string) (*dissectPattern, error) {
	if text == "" {
		return nil, status.New(status.InvalidArguments, "Empty pattern is not allowed")
	}
	if len(text) > maxPattern {
		return nil, status.New(status.InvalidArguments, "Invalid Pattern: it has %d bytes, the limit is %d", len(text),
			maxPattern)
	}
	p := &dissectPattern{text: text}
	names, err := p.parse(text)
	if err != nil {
		return nil, err
	}
	return p, p.capture(names)
}

func (p *dissectPattern) invalid(format string, args ...any) error {
	return status.New(status.InvalidArguments, "Invalid Pattern: '%s'. %s", p.text, fmt.Sprintf(format, args...))
}

// parse cuts the pattern into names and splits: steps[i] belongs to names[i].
func (p *dissectPattern) parse(text string) (names []dissectName, err error) {
	for first := true; text != ""; first = false {
		at := strings.Index(text, "%{")
		split := text
		if at >= 0 {
			split = text[:at]
		}
		switch {
		case len(names) > 0:
			p.steps[len(names)-1].split = split
		case first:
			p.prefix = split
		}
		if at < 0 {
			break
		}
		var n dissectName
		if n, text, err = p.parseName(text[at+2:]); err != nil {
			return nil, err
		}
		if len(names) > 0 && split == "" {
			return nil, p.invalid("consecutive names are not allowed: '%s' '%s'", names[len(names)-1].name, n.name)
		}
		if names = append(names, n); len(names) > maxNames {
			return nil, p.invalid("more than %d names", maxNames)
		}
		p.steps = append(p.steps, dissectStep{span: -1, pad: n.pad})
	}
	return names, nil
}

// parseName reads a name up to its closing brace.
func (p *dissectPattern) parseName(s string) (n dissectName, rest string, err error) {
	for i := 0; i < len(s); {
		r, size := utf8.DecodeRuneInString(s[i:])
		switch {
		case r == '}':
			if n.name == "" && n.start != 0 {
				return n, "", p.invalid("only '%c' modifier is invalid", n.start)
			}
			return n, s[i+1:], nil
		case n.digit:
			if r == '/' {
				return n, "", status.New(status.InvalidArguments,
					"Append Order modifier is already set to '%d', cannot be set to %s", n.order, digitsOf(s[i+1:]))
			}
			if r != '-' {
				return n, "", p.invalid("Invalid '%c' in '%s'", r, n.name)
			}
			fallthrough
		case r == '-':
			if !strings.HasPrefix(s[i:], "->") {
				return n, "", p.invalid("Expected '->' but only '-'")
			}
			if !strings.HasPrefix(s[i:], "->}") {
				return n, "", p.invalid("Expected '}' after '->'")
			}
			n.pad = true
			size = 2
		case n.name == "" && n.start == 0 && strings.ContainsRune("+?*&", r):
			n.start = byte(r)
		case r == '/' && n.start == '+' && n.name != "":
			digits := digitsOf(s[i+1:])
			order, convErr := strconv.Atoi(digits)
			if digits == "" || convErr != nil {
				return n, "", p.invalid("Digit order must be set after '/'")
			}
			n.order, n.digit = order, true
			size += len(digits)
		case r == '_' || unicode.IsLetter(r) || unicode.IsDigit(r):
			n.name += s[i : i+size]
		case n.name == "":
			return n, "", p.invalid("Invalid '%c'", r)
		default:
			return n, "", p.invalid("Invalid '%c' in '%s'", r, n.name)
		}
		i += size
	}
	return n, "", p.invalid("'%s' is not closed", n.name)
}

func digitsOf(s string) string { return s[:len(s)-len(strings.TrimLeft(s, "0123456789"))] }

// capture decides what becomes of the value of each name.
func (p *dissectPattern) capture(names []dissectName) error {
	keys, values := map[string]int{}, map[string]int{}
	orders := map[int]int{} // span -> order
	for i, n := range names {
		last := i == len(names)-1 && p.steps[i].split == ""
		if n.dropped() && !(last && n.name == "" && !n.pad) {
			continue
		}
		s := p.spans
		p.spans++
		p.steps[i].span = s
		switch n.start {
		case '+':
			orders[s] = n.order
			at := slices.IndexFunc(p.appends, func(a appendCapture) bool { return a.name == n.name })
			if at < 0 {
				at = len(p.appends)
				p.appends = append(p.appends, appendCapture{name: n.name})
			}
			p.appends[at].spans = append(p.appends[at].spans, s)
		case '*':
			if _, twice := keys[n.name]; twice {
				return p.invalid("Duplicate map key: '%s'", n.name)
			}
			keys[n.name] = s
		case '&':
			if _, twice := values[n.name]; twice {
				return p.invalid("Duplicate map val: '%s'", n.name)
			}
			values[n.name] = s
		default:
			p.plain = append(p.plain, plainCapture{n.name, s})
		}
	}
	for _, a := range p.appends {
		slices.SortStableFunc(a.spans, func(x, y int) int { return orders[x] - orders[y] })
	}
	return p.pair(names, keys, values)
}

// pair joins reference keys with their values.
func (p *dissectPattern) pair(names []dissectName, keys, values map[string]int) error {
	for _, n := range names {
		k, isKey := keys[n.name]
		v, isValue := values[n.name]
		switch {
		case n.start == '*' && !isValue, n.start == '&' && !isKey:
			return p.invalid("key and value not matched: '%s'", n.name)
		case n.start == '*':
			p.refs = append(p.refs, refCapture{k, v})
		}
	}
	return nil
}

// match notes where the captures lie in the input; len(spans) >= p.spans.
func (p *dissectPattern) match(s string, spans []span) bool {
	if !strings.HasPrefix(s, p.prefix) {
		return false
	}
	at := len(p.prefix)
	for i := range p.steps {
		st := &p.steps[i]
		end := len(s)
		next := end
		if st.split != "" {
			var n int
			if len(st.split) == 1 {
				n = strings.IndexByte(s[at:], st.split[0])
			} else {
				n = strings.Index(s[at:], st.split)
			}
			if n < 0 {
				return false
			}
			end = at + n
			next = end + len(st.split)
			if st.pad {
				end, next = st.swallow(s, at, end)
			}
		}
		if st.span >= 0 {
			spans[st.span] = span{at, end}
		}
		at = next
	}
	return true
}

// swallow takes the repeats of the split's first character around the split found at end: those before belong to the
// padding, not to the value, and the split matches the last of those behind.
func (st *dissectStep) swallow(s string, from, end int) (valueEnd, next int) {
	_, size := utf8.DecodeRuneInString(st.split)
	first := st.split[:size]
	at := end
	for strings.HasPrefix(s[at:], first) && strings.HasPrefix(s[at+size:], st.split) {
		at += size
	}
	for end-size >= from && s[end-size:end] == first {
		end -= size
	}
	return end, at + len(st.split)
}
