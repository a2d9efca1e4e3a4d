package expr

import (
	"math/big"

	"varve/engine/convert"
	"varve/engine/vector"
)

// spans is sum and avg of intervals and durations. Means of durations are rounded to their unit; a span holds them as
// nanoseconds whatever that is.
type spans struct {
	t    vector.Type
	mean bool
	sum  []span
	n    []int64
	flat vector.Vector
}

func (s *spans) Grow(n int)   { s.sum, s.n = vector.Extended(s.sum, n), vector.Extended(s.n, n) }
func (s *spans) Bytes() int64 { return int64(56 * cap(s.sum)) }

func (s *spans) Add(n int, groups []uint32, args []*vector.Vector, keep vector.Bitmap) error {
	v := flatten(args[0], n, &s.flat)
	eachRow(n, v, keep, func(i int) {
		one := span{}
		if s.t == vector.Interval {
			m, d, ns := convert.Interval(v.Bytes(i))
			one = span{wide(int64(m)), wide(int64(d)), wide(ns)}
		} else {
			one.ns = wide(v.Ints[i])
		}
		g := groups[i]
		s.sum[g].add(one)
		s.n[g]++
	})
	return nil
}

func (s *spans) Merge(o Accumulator, from, to []uint32) error {
	other := o.(*spans)
	for i, g := range to {
		s.sum[g].add(other.sum[from[i]])
		s.n[g] += other.n[from[i]]
	}
	return nil
}

func (s *spans) Result(n int) (*vector.Vector, error) {
	s.Grow(n)
	out := &vector.Vector{Type: s.t}
	for g := range n {
		if s.n[g] == 0 {
			out.AppendNulls(g, 1)
			continue
		}
		f := big.NewRat(1, 1)
		if s.mean {
			f = big.NewRat(1, s.n[g])
		}
		if !s.append(out, g, f) {
			return nil, execError("interval overflow in %s", map[bool]string{true: "avg", false: "sum"}[s.mean])
		}
		if out.Valid != nil {
			out.Valid = out.Valid.With(g)
		}
	}
	return out, nil
}

// append appends the sum of group g times f.
func (s *spans) append(out *vector.Vector, g int, f *big.Rat) bool {
	if s.t == vector.Interval {
		m, d, ns, ok := s.sum[g].times(f)
		if ok {
			out.PushBytes(convert.AppendIntervalBytes(nil, m, d, ns))
		}
		return ok
	}
	units := roundRat(f.Mul(f, new(big.Rat).SetInt(s.sum[g].ns.big())))
	if units.IsInt64() {
		out.Ints = append(out.Ints, units.Int64())
	}
	return units.IsInt64()
}

// bindSpans binds sum and avg of an interval or a duration; ok is false for other types.
func bindSpans(a *Agg, mean bool) (ok bool) {
	if len(a.Args) != 1 {
		return false
	}
	t := a.Args[0].Type()
	if t != vector.Interval && t.ID != vector.TypeDuration {
		return false
	}
	a.T = t
	a.keeps = keepsFigures
	a.make = func() Accumulator { return &spans{t: t, mean: mean} }
	return true
}
