package filter

import "varve/engine/vector"

// Comparison is a test in a form that a run can evaluate on packed values. At most one member is set.
type Comparison struct {
	Equal    []byte  // not nil: equality with this
	OneOf    *Listed // a value is one of these
	Bound    *FloatBound
	Interval *Interval
}

// Listed are a few values, one of which a value must equal; each run can translate them into its own form.
type Listed struct {
	list *vector.Vector
	n    int
}

// maxListed is how many are a few.
const maxListed = 64

// Len is their number.
func (t *Listed) Len() int { return t.n }

// At is one of them.
func (t *Listed) At(i int) []byte { return t.list.Bytes(i) }

// FloatBound is the condition v <= K, or v < K when Strict, or with Negate its opposite. NaN is greater than every
// number.
type FloatBound struct {
	K              float64
	Strict, Negate bool
}

// Holds reports whether v lies within the bound, Negate aside.
func (b *FloatBound) Holds(v float64) bool { return v < b.K || v == b.K && !b.Strict }

// Interval is the condition that v - Least <= Span, as 64-bit numbers that wrap around, or with Negate its opposite:
// all numbers from Least to Least + Span, signed or not.
type Interval struct {
	Least, Span uint64
	Negate      bool
}

// comparison returns the condition in one of these forms, if it has one: a comparison with one constant or with a few
// texts.
func (c *condition) comparison() (p Comparison) {
	if c.Op == In && c.kind == vector.Bytes && c.NArgs <= maxListed {
		p.OneOf = &Listed{c.Args, c.NArgs}
	}
	if c.op != Equal && c.op != Less && c.op != LessEqual {
		return p
	}
	switch c.kind {
	case vector.Int64:
		p.Interval = c.interval(uint64(c.Args.Int(0)), 1<<63)
	case vector.Uint64:
		p.Interval = c.interval(c.Args.Uint(0), 0)
	case vector.Float64:
		if k := c.Args.Float(0); c.op != Equal && k == k {
			p.Bound = &FloatBound{K: k, Strict: c.op == Less, Negate: c.negate}
		}
	case vector.Bytes:
		if c.Op == Equal {
			p.Equal = append([]byte{}, c.Args.Bytes(0)...)
		}
	}
	return p
}

// interval returns the interval of a comparison with k among integers from least on; nil if no value lies in it.
func (c *condition) interval(k, least uint64) *Interval {
	switch {
	case c.op == Equal:
		return &Interval{Least: k, Negate: c.negate}
	case c.op == LessEqual:
		return &Interval{Least: least, Span: k - least, Negate: c.negate}
	case k != least:
		return &Interval{Least: least, Span: k - least - 1, Negate: c.negate}
	}
	return nil
}
