package promql

import (
	"regexp"
	"strconv"
	"strings"
)

// text is the value of a string argument.
func text(x node) string { return x.(*textNode).value }

// labelReplace sets a label to a template filled from the value of another one, where a pattern matches it.
func (e *evaluator) labelReplace(n *callNode, g grid) (nodeMatrix, error) {
	dst, template, src, expr := text(n.args[1]), text(n.args[2]), text(n.args[3]), text(n.args[4])
	if err := new(patterns).admit(expr); err != nil {
		return nil, execution("regular expression in label_replace(): %s", err)
	}
	pattern, err := regexp.Compile("^(?s:" + expr + ")$")
	if err != nil {
		return nil, execution("invalid regular expression in label_replace(): %s", expr)
	}
	if !validLabelName(dst) {
		return nil, badLabel("destination", dst, "label_replace")
	}
	places := strings.Count(template, "$")
	return e.relabel(n.args[0], dst, g, func(ls Labels) int {
		return len(template) + places*len(ls.Get(src))
	}, func(ls Labels) (string, bool) {
		value := ls.Get(src)
		at := pattern.FindStringSubmatchIndex(value)
		if at == nil {
			return "", false
		}
		return string(pattern.ExpandString(nil, template, value, at)), true
	})
}

// labelJoin sets a label to the values of others.
func (e *evaluator) labelJoin(n *callNode, g grid) (nodeMatrix, error) {
	dst, sep := text(n.args[1]), text(n.args[2])
	var names []string
	for _, arg := range n.args[3:] {
		name := text(arg)
		if !validLabelName(name) {
			return nil, badLabel("source", name, "label_join")
		}
		names = append(names, name)
	}
	if !validLabelName(dst) {
		return nil, badLabel("destination", dst, "label_join")
	}
	return e.relabel(n.args[0], dst, g, func(ls Labels) (most int) {
		for _, name := range names {
			most += len(ls.Get(name)) + len(sep)
		}
		return most
	}, func(ls Labels) (string, bool) {
		values := make([]string, len(names))
		for i, name := range names {
			values[i] = ls.Get(name)
		}
		return strings.Join(values, sep), true
	})
}

// relabel sets a label of the rows where value says so; most is the most bytes that it makes. A name that is set stays.
func (e *evaluator) relabel(x node, dst string, g grid, most func(Labels) int,
	value func(Labels) (string, bool)) (nodeMatrix, error) {
	m, err := e.eval(x, g)
	if err != nil {
		return nil, err
	}
	out := m // the rows are this node's alone, if not what they have
	for i := range out {
		if i%chunkRows == 0 && e.ctx.Err() != nil {
			return nil, e.ctx.Err()
		}
		ls := out[i].labels()
		room := 3*int64(most(ls)) + setBytes(ls) + labelBytes // a text that grows is copied, and compared with others
		if err := e.limits.reserve(room); err != nil {
			return nil, err
		}
		v, ok := value(ls)
		if !ok {
			e.limits.release(room)
			continue
		}
		e.limits.release(room - int64(len(v)) - setBytes(ls) - labelBytes)
		drop := out[i].dropName && dst != NameLabel
		out[i].identity = named(ls.with(dst, v), out[i].text()+int64(len(v)))
		out[i].dropName = drop
	}
	return e.join(out, g)
}

// naturalLess compares texts by their parts, digits by number: b2 < b10.
func naturalLess(a, b string) bool {
	for a != "" && b != "" {
		x, y := leadingPart(a), leadingPart(b)
		a, b = a[len(x):], b[len(y):]
		m, errX := strconv.Atoi(x)
		n, errY := strconv.Atoi(y)
		switch {
		case errX == nil && errY == nil && m != n:
			return m < n
		case errX == nil && errY == nil, x == y:
			if a == "" {
				return true
			}
		default:
			return x < y
		}
	}
	return false
}

// leadingPart is the digits, or the text without digits, that a text begins with.
func leadingPart(s string) string {
	digit := func(c byte) bool { return c >= '0' && c <= '9' }
	i := 1
	for i < len(s) && digit(s[i]) == digit(s[0]) {
		i++
	}
	return s[:i]
}
