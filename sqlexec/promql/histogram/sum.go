package histogram

import (
	"math"
	"slices"
)

// Sum adds histograms with compensation: beside each number it keeps the part that additions lost (Kahan and Neumaier),
// so that 1e100 + 1 - 1e100 is 1. It converts the histograms to a common layout: the coarsest schema, the widest zero
// bucket that cuts no populated bucket, and the custom bounds that all have. The zero value is not ready: use NewSum.
type Sum struct {
	// Collision is set once a histogram with a counter reset met one that went on.
	Collision bool
	// Reconciled is set once custom bounds differed.
	Reconciled bool

	hint       ResetHint
	schema     int32
	threshold  float64
	zero       term
	count, sum term
	pos, neg   []termBucket
	bounds     []float64
	spare      []termBucket // of merge
}

// term is a sum and what its additions lost.
type term struct{ n, c float64 }

// termBucket is a bucket of a Sum.
type termBucket struct {
	index int32
	term
}

// Add adds v to t. Neumaier's form: the smaller of both is the one that loses digits.
func (t term) add(v float64) term {
	n := t.n + v
	switch {
	case math.IsInf(n, 0):
		return term{n, 0}
	case math.Abs(t.n) >= math.Abs(v):
		return term{n, t.c + ((t.n - n) + v)}
	}
	return term{n, t.c + ((v - n) + t.n)}
}

func (t term) value() float64 { return t.n + t.c }

// NewSum begins with a histogram.
func NewSum(h *Histogram) *Sum {
	s := &Sum{hint: h.Hint, schema: h.Schema, threshold: h.ZeroThreshold, bounds: h.Bounds,
		zero: term{n: h.ZeroCount}, count: term{n: h.Count}, sum: term{n: h.Sum}}
	s.pos = appendTerms(nil, h.Positive, 1)
	s.neg = appendTerms(nil, h.Negative, 1)
	return s
}

func appendTerms(dst []termBucket, src []Bucket, sign float64) []termBucket {
	dst = slices.Grow(dst, len(src))
	for _, b := range src {
		dst = append(dst, termBucket{b.Index, term{n: sign * b.Count}})
	}
	return dst
}

// Clone copies the sum.
func (s *Sum) Clone() *Sum {
	c := *s
	c.pos, c.neg = slices.Clone(s.pos), slices.Clone(s.neg)
	c.spare = nil
	return &c
}

// Add adds a histogram. ErrIncompatible leaves the sum as it was.
func (s *Sum) Add(h *Histogram) error { return s.addSigned(h, 1) }

// Subtract takes a histogram away.
func (s *Sum) Subtract(h *Histogram) error { return s.addSigned(h, -1) }

func (s *Sum) addSigned(h *Histogram, sign float64) error {
	if (s.schema == CustomSchema) != h.Custom() {
		return ErrIncompatible
	}
	s.meetHint(h.Hint)
	s.count, s.sum = s.count.add(sign*h.Count), s.sum.add(sign*h.Sum)
	if h.Custom() {
		s.addCustom(h, sign)
		return nil
	}
	zero := h.ZeroCount
	if h.ZeroThreshold != s.threshold {
		zero = s.meetZero(h)
	}
	s.zero = s.zero.add(sign * zero)
	shift := int32(0)
	switch {
	case h.Schema < s.schema:
		s.pos, s.neg = reduceTerms(s.pos, s.schema-h.Schema), reduceTerms(s.neg, s.schema-h.Schema)
		s.schema = h.Schema
	case h.Schema > s.schema:
		shift = h.Schema - s.schema
	}
	s.pos = s.merge(s.pos, s.outside(h.Positive, shift), shift, sign)
	s.neg = s.merge(s.neg, s.outside(h.Negative, shift), shift, sign)
	return nil
}

// outside leaves out the buckets that lie in the zero bucket once they are shift schemas coarser: they count there.
func (s *Sum) outside(side []Bucket, shift int32) []Bucket {
	for len(side) > 0 && exponentialBound(coarser(side[0].Index, shift), s.schema) <= s.threshold {
		side = side[1:]
	}
	return side
}

// meetHint returns the hint of the sum of two counters.
func (s *Sum) meetHint(hint ResetHint) {
	switch {
	case s.hint == hint, s.hint == Gauge:
	case hint == Gauge:
		s.hint = Gauge
	case s.hint == UnknownReset, hint == UnknownReset:
		s.hint = UnknownReset
	default: // one was reset, the other was not
		s.hint = UnknownReset
		s.Collision = true
	}
}

// meetZero widens the zero bucket of the sum, and that of h, whose count is the answer, until both are equally wide and
// cut no populated bucket.
func (s *Sum) meetZero(h *Histogram) (zero float64) {
	other := term{n: h.ZeroCount}
	threshold := h.ZeroThreshold
	for threshold != s.threshold {
		if s.threshold > threshold {
			hp, hn := appendTerms(nil, h.Positive, 1), appendTerms(nil, h.Negative, 1)
			other, threshold = swallow(term{n: h.ZeroCount}, hp, hn, h.Schema, s.threshold)
		}
		if threshold > s.threshold {
			s.zero, s.threshold = swallow(s.zero, s.pos, s.neg, s.schema, threshold)
			s.pos, s.neg = above(s.pos, s.schema, s.threshold), above(s.neg, s.schema, s.threshold)
		}
	}
	return other.value()
}

// swallow is the zero count for a larger threshold, which grows to the end of the bucket that it would cut.
func swallow(zero term, pos, neg []termBucket, schema int32, threshold float64) (term, float64) {
	for {
		t, grown := zero, threshold
		for _, side := range [][]termBucket{pos, neg} {
			for _, b := range side {
				if exponentialBound(b.index-1, schema) >= grown {
					break
				}
				t = t.add(b.n).add(b.c)
				if end := exponentialBound(b.index, schema); end > grown {
					if b.n != 0 {
						grown = end
					}
					break
				}
			}
		}
		if grown == threshold {
			return t, grown
		}
		threshold = grown
	}
}

// above drops the buckets that lie in the zero bucket.
func above(side []termBucket, schema int32, threshold float64) []termBucket {
	return slices.DeleteFunc(side, func(b termBucket) bool { return exponentialBound(b.index-1, schema) < threshold })
}

// reduceTerms maps buckets to a coarser schema, in place.
func reduceTerms(side []termBucket, shift int32) []termBucket {
	out := side[:0]
	for _, b := range side {
		b.index = coarser(b.index, shift)
		if n := len(out); n > 0 && out[n-1].index == b.index {
			out[n-1].term = out[n-1].add(b.n).add(b.c)
			continue
		}
		out = append(out, b)
	}
	return out
}

// merge adds buckets to a side.
func (s *Sum) merge(side []termBucket, add []Bucket, shift int32, sign float64) []termBucket {
	if shift == 0 && sameIndexes(side, add) {
		for i := range side {
			side[i].term = side[i].add(sign * add[i].Count)
		}
		return side
	}
	other := appendTerms(s.spare[:0], add, sign)
	if shift > 0 {
		other = reduceTerms(other, shift)
	}
	s.spare = other
	out := make([]termBucket, 0, len(side)+len(other))
	for len(side) > 0 && len(other) > 0 {
		a, b := side[0], other[0]
		switch {
		case a.index < b.index:
			out, side = append(out, a), side[1:]
		case a.index > b.index:
			out, other = append(out, b), other[1:]
		default:
			a.term = a.add(b.n)
			if b.c != 0 {
				a.term = a.add(b.c)
			}
			out, side, other = append(out, a), side[1:], other[1:]
		}
	}
	return append(append(out, side...), other...)
}

func sameIndexes(side []termBucket, add []Bucket) bool {
	if len(side) != len(add) {
		return false
	}
	for i := range side {
		if side[i].index != add[i].Index {
			return false
		}
	}
	return true
}

// addCustom adds a histogram with custom bounds; where the bounds differ both are brought to those that are common.
func (s *Sum) addCustom(h *Histogram, sign float64) {
	if sameBounds(s.bounds, h.Bounds) {
		s.pos = s.merge(s.pos, h.Positive, 0, sign)
		return
	}
	s.Reconciled = true
	common := commonBounds(s.bounds, h.Bounds)
	cells := make([]term, len(common)+1)
	for _, b := range s.pos {
		at := place(b.index, s.bounds, common)
		cells[at] = cells[at].add(b.n).add(b.c)
	}
	for _, b := range h.Positive {
		at := place(b.Index, h.Bounds, common)
		cells[at] = cells[at].add(sign * b.Count)
	}
	s.bounds, s.pos = common, s.pos[:0]
	for i, c := range cells {
		if c.n != 0 || c.c != 0 {
			s.pos = append(s.pos, termBucket{int32(i), c})
		}
	}
}

// commonBounds are the bounds that both lists have.
func commonBounds(a, b []float64) (out []float64) {
	for len(a) > 0 && len(b) > 0 {
		switch {
		case a[0] < b[0]:
			a = a[1:]
		case a[0] > b[0]:
			b = b[1:]
		default:
			out, a, b = append(out, a[0]), a[1:], b[1:]
		}
	}
	return out
}

// place is the bucket of fewer bounds that takes a bucket of more.
func place(index int32, bounds, fewer []float64) int {
	if int(index) >= len(bounds) {
		return len(fewer)
	}
	at, _ := slices.BinarySearch(fewer, bounds[index])
	return at
}

// Divide divides all numbers.
func (s *Sum) Divide(by float64) { s.apply(func(v float64) float64 { return v / by }) }

// Scale multiplies all numbers.
func (s *Sum) Scale(factor float64) { s.apply(func(v float64) float64 { return v * factor }) }

func (s *Sum) apply(f func(float64) float64) {
	both := func(t term) term { return term{f(t.n), f(t.c)} }
	s.zero, s.count, s.sum = both(s.zero), both(s.count), both(s.sum)
	for _, side := range [][]termBucket{s.pos, s.neg} {
		for i := range side {
			side[i].term = both(side[i].term)
		}
	}
}

// Overflow reports whether a number became infinite.
func (s *Sum) Overflow() bool {
	if math.IsInf(s.zero.n, 0) || math.IsInf(s.count.n, 0) || math.IsInf(s.sum.n, 0) {
		return true
	}
	for _, side := range [][]termBucket{s.pos, s.neg} {
		for _, b := range side {
			if math.IsInf(b.n, 0) {
				return true
			}
		}
	}
	return false
}

// Result is the sum as a histogram.
func (s *Sum) Result() *Histogram {
	return &Histogram{Hint: s.hint, Schema: s.schema, ZeroThreshold: s.threshold, ZeroCount: s.zero.value(),
		Count: s.count.value(), Sum: s.sum.value(), Positive: values(s.pos), Negative: values(s.neg), Bounds: s.bounds}
}

func values(side []termBucket) []Bucket {
	if len(side) == 0 {
		return nil
	}
	out := make([]Bucket, len(side))
	for i, b := range side {
		out[i] = Bucket{b.index, b.value()}
	}
	return out
}

// Reduce brings the sum to a schema if that is coarser.
func (s *Sum) Reduce(schema int32) {
	if s.schema != CustomSchema && schema < s.schema {
		s.pos, s.neg = reduceTerms(s.pos, s.schema-schema), reduceTerms(s.neg, s.schema-schema)
		s.schema = schema
	}
}

// Merge adds another sum with what it lost.
func (s *Sum) Merge(o *Sum) error {
	if err := s.Add(o.Result()); err != nil {
		return err
	}
	s.Reconciled = s.Reconciled || o.Reconciled
	s.Collision = s.Collision || o.Collision
	return nil
}
