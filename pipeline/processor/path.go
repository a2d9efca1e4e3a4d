package processor

import (
	"iter"

	"varve/pipeline/value"
)

// path is a compiled JSON path. Immutable.
// Source: RFC 9535, without functions.
type path struct{ segments []pathSegment }

// pathSegment selects below each of the values so far; deep ones select below all that they hold as well.
type pathSegment struct {
	selectors []selector
	deep      bool
}

// selector is one way to choose among the children of a value.
type selector struct {
	kind       selectorKind
	name       string // selectName
	start, end int    // selectIndex: start; selectSlice
	step       int
	has        uint8 // selectSlice: bit 0: start is given, bit 1: end
	filter     *condition
}

type selectorKind uint8

const (
	selectName selectorKind = iota
	selectIndex
	selectAll
	selectSlice
	selectFilter
)

// maxMatches bounds what a path may find: nested ".." multiply.
const maxMatches = 100_000

// walk is a search under way.
type walk struct {
	root value.Value
	left int // values that may still be looked at
}

// find returns the values that the path finds below v, in order; ok is false when they are too many.
func (p *path) find(v value.Value) (found []value.Value, ok bool) {
	w := walk{root: v, left: maxMatches}
	found = w.run(p.segments, v)
	return found, w.left >= 0
}

func (w *walk) run(segments []pathSegment, v value.Value) []value.Value {
	at := []value.Value{v.Share()}
	for i := range segments {
		var next []value.Value
		for _, v := range at {
			next = w.segment(&segments[i], v, next)
			if w.left < 0 {
				return nil
			}
		}
		at = next
	}
	return at
}

func (w *walk) segment(s *pathSegment, v value.Value, out []value.Value) []value.Value {
	if w.left--; w.left < 0 {
		return out
	}
	for i := range s.selectors {
		out = w.choose(&s.selectors[i], v, out)
	}
	if !s.deep {
		return out
	}
	for i := range children(v) {
		out = w.segment(s, child(v, i), out)
	}
	return out
}

// children is the number of values right below v.
func children(v value.Value) int {
	switch v.Kind() {
	case value.ArrayKind:
		return v.Array().Len()
	case value.ObjectKind:
		return v.Object().Len()
	}
	return 0
}

func child(v value.Value, i int) value.Value {
	if v.Kind() == value.ArrayKind {
		return v.Array().At(i).Share()
	}
	return v.Object().At(i).Share()
}

func (w *walk) choose(s *selector, v value.Value, out []value.Value) []value.Value {
	switch {
	case s.kind == selectName:
		if v.Kind() == value.ObjectKind {
			if m, ok := v.Object().Get(s.name); ok {
				out = append(out, m.Share())
			}
		}
	case s.kind == selectIndex && v.Kind() == value.ArrayKind:
		if item, ok := v.Item(s.start); ok {
			out = append(out, item.Share())
		}
	case s.kind == selectSlice && v.Kind() == value.ArrayKind:
		for i := range s.slice(v.Array().Len()) {
			out = append(out, child(v, i))
		}
	case s.kind == selectAll || s.kind == selectFilter:
		for i := range children(v) {
			c := child(v, i)
			if w.left--; w.left < 0 {
				return out
			}
			if s.kind == selectAll || s.filter.holds(w, c) {
				out = append(out, c)
			}
		}
	}
	return out
}

// slice returns the indexes of a slice of n items.
func (s *selector) slice(n int) iter.Seq[int] {
	return func(yield func(int) bool) {
		clamp := func(i, lo, hi int) int {
			if i < 0 {
				i += n
			}
			return min(max(i, lo), hi)
		}
		if s.step > 0 {
			from, to := 0, n
			if s.has&1 != 0 {
				from = clamp(s.start, 0, n)
			}
			if s.has&2 != 0 {
				to = clamp(s.end, 0, n)
			}
			for i := from; i < to; i += s.step {
				if !yield(i) {
					return
				}
			}
			return
		}
		from, to := n-1, -1
		if s.has&1 != 0 {
			from = clamp(s.start, -1, n-1)
		}
		if s.has&2 != 0 {
			to = clamp(s.end, -1, n-1)
		}
		for i := from; s.step < 0 && i > to; i += s.step {
			if !yield(i) {
				return
			}
		}
	}
}

// condition is a filter: a comparison, a test that something is there, or several of them.
type condition struct {
	op          string // && || ! == != < <= > >= or "" for a test
	left, right *condition
	a, b        operand
}

// operand is a literal, or a path from the value looked at or from the root.
type operand struct {
	literal value.Value
	path    *path // nil: literal
	root    bool
}

// get is the operand's value; ok is false when its path finds nothing.
func (o *operand) get(w *walk, at value.Value) (v value.Value, ok bool) {
	if o.path == nil {
		return o.literal, true
	}
	if o.root {
		at = w.root
	}
	found := w.run(o.path.segments, at)
	if len(found) == 0 {
		return value.Null, false
	}
	return found[0], true
}

// holds reports whether a value passes the filter. A bare path passes when it leads to a value other than null and
// false.
func (c *condition) holds(w *walk, at value.Value) bool {
	switch c.op {
	case "&&":
		return c.left.holds(w, at) && c.right.holds(w, at)
	case "||":
		return c.left.holds(w, at) || c.right.holds(w, at)
	case "!":
		return !c.left.holds(w, at)
	case "":
		v, ok := c.a.get(w, at)
		return ok && !v.IsNull() && !(v.Kind() == value.BoolKind && !v.Bool())
	}
	a, okA := c.a.get(w, at)
	b, okB := c.b.get(w, at)
	return compareValues(c.op, a, okA, b, okB)
}

// compareValues compares two values. An absent value equals only an absent value.
func compareValues(op string, a value.Value, okA bool, b value.Value, okB bool) bool {
	equal := okA == okB && (!okA || value.Equal(a, b) || a.IsNumber() && b.IsNumber() && a.Number() == b.Number())
	less, more := false, false
	if okA && okB {
		switch {
		case a.IsNumber() && b.IsNumber():
			less, more = a.Number() < b.Number(), a.Number() > b.Number()
		case a.Kind() == value.StringKind && b.Kind() == value.StringKind:
			less, more = a.Str() < b.Str(), a.Str() > b.Str()
		}
	}
	switch op {
	case "==":
		return equal
	case "!=":
		return !equal
	case "<":
		return less
	case "<=":
		return less || equal
	case ">":
		return more
	}
	return more || equal
}
