package expr

import (
	"cmp"
	"slices"

	"varve/engine/convert"
	"varve/engine/vector"
)

// weighted is approx_percentile_cont_with_weight(x, weight, p): the percentile as if x were there weight times. Values
// are kept as they are as long as a group has few, then those of one bucket (see buckets) become one.
type weighted struct {
	cancellation
	t      vector.Type
	p      float64
	groups []weightedGroup
	size   int64
	x, w   vector.Vector
}

type weightedGroup struct {
	list   []weightedValue
	merged int // the first so many are one a bucket
}

type weightedValue struct{ x, weight float64 }

// maxWeighted is the number of values that a group gathers before those of a bucket are joined.
const maxWeighted = 4096

func (s *weighted) Grow(n int)   { s.groups = vector.Extended(s.groups, n) }
func (s *weighted) Bytes() int64 { return s.size + int64(32*cap(s.groups)) }

func (s *weighted) Add(n int, groups []uint32, args []*vector.Vector, keep vector.Bitmap) error {
	x, w := flatten(args[0], n, &s.x), flatten(args[1], n, &s.w)
	eachRow(n, x, keep, func(i int) {
		if !w.IsNull(i) && w.Floats[i] > 0 {
			s.put(&s.groups[groups[i]], weightedValue{x.Floats[i], w.Floats[i]})
		}
	})
	return nil
}

func (s *weighted) put(g *weightedGroup, v weightedValue) {
	if len(g.list)-g.merged >= maxWeighted {
		g.join()
	}
	before := cap(g.list)
	g.list = append(g.list, v)
	s.size += int64(16 * (cap(g.list) - before))
}

func (g *weightedGroup) sort() {
	slices.SortFunc(g.list, func(a, b weightedValue) int { return cmp.Compare(SortableFloat(a.x), SortableFloat(b.x)) })
}

// join replaces the values of each bucket by one value, with their mean and the sum of their weights.
func (g *weightedGroup) join() {
	g.sort()
	out := g.list[:0]
	for _, v := range g.list {
		if n := len(out); n > 0 && bucketOf(out[n-1].x) == bucketOf(v.x) {
			last := &out[n-1]
			last.weight += v.weight
			if v.x != last.x {
				last.x += (v.x - last.x) * v.weight / last.weight
			}
			continue
		}
		out = append(out, v)
	}
	g.list, g.merged = out, len(out)
}

// quantile is the value at rank p*(W-1) of W = the sum of weights, linear between the last of a value and the first of
// the next.
func (g *weightedGroup) quantile(p float64) float64 {
	g.sort()
	total := 0.0
	for _, v := range g.list {
		total += v.weight
	}
	rank := p * max(total-1, 0)
	end := 0.0 // the rank of the last of the values so far
	for i, v := range g.list {
		first := end + 1
		if i == 0 {
			first = 0
		}
		end = first + max(v.weight-1, 0)
		switch {
		case rank < first:
			before := g.list[i-1].x
			return before + (v.x-before)*(rank-(first-1))
		case rank <= end:
			return v.x
		}
	}
	return g.list[len(g.list)-1].x
}

func (s *weighted) Merge(o Accumulator, from, to []uint32) error {
	other := o.(*weighted)
	for i, k := range from {
		g := &other.groups[k]
		if err := s.did(len(g.list) + 1); err != nil {
			return err
		}
		for _, v := range g.list {
			s.put(&s.groups[to[i]], v)
		}
	}
	return nil
}

func (s *weighted) Result(n int) (*vector.Vector, error) {
	s.Grow(n)
	out, some := &vector.Vector{Type: f64, Floats: make([]float64, n)}, make([]bool, n)
	for i := range s.groups[:n] {
		if err := s.did(len(s.groups[i].list) + 1); err != nil {
			return nil, err
		}
		if g := &s.groups[i]; len(g.list) > 0 {
			out.Floats[i], some[i] = g.quantile(s.p), true
		}
	}
	return asType(out, some, s.t), nil
}

// asType returns Float64 results in an aggregate's type; some has the groups with a result.
func asType(out *vector.Vector, some []bool, t vector.Type) *vector.Vector {
	out.Valid = validOf(some)
	if t == f64 {
		return out
	}
	as := &vector.Vector{Type: t}
	conv := convert.Between(f64, t)
	for i := range some {
		if !some[i] || !conv(out, i, as) {
			as.AppendNulls(i, 1)
		} else if as.Valid != nil {
			as.Valid = as.Valid.With(i)
		}
	}
	return as
}

func init() {
	aggregates["approx_percentile_cont_with_weight"] = func(c *Context, a *Agg) error {
		if err := a.need(3, 4); err != nil {
			return err
		}
		p, err := a.percentile(2)
		if err != nil {
			return err
		}
		a.T = f64
		if t := a.Args[0].Type(); t.IsInteger() {
			a.T = t
		}
		a.Args = a.Args[:2:2]
		a.params = []float64{p}
		for i := range a.Args {
			if err := a.float(c, i); err != nil {
				return err
			}
		}
		a.keeps = keepsFigures
		a.make = func() Accumulator { return &weighted{t: a.T, p: p} }
		return nil
	}
}
