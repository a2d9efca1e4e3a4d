package expr

import (
	"math"

	"varve/engine/vector"
)

// shape is the number of values of one group, their mean, and the sums of the second, third and fourth powers of their
// distances from it.
type shape struct{ n, mean, m2, m3, m4 float64 }

// add and merge keep the sums as values and groups come in, without a second pass.
// Source: P. Pébay, formulas for one-pass computation of arbitrary-order statistical moments, 2008.
func (s *shape) add(x float64) {
	s.merge(&shape{n: 1, mean: x})
}

func (s *shape) merge(o *shape) {
	switch {
	case o.n == 0:
		return
	case s.n == 0:
		*s = *o
		return
	}
	a, b, n := s.n, o.n, s.n+o.n
	d := o.mean - s.mean
	dn := d / n
	s.m4 += o.m4 + d*dn*dn*dn*a*b*(a*a-a*b+b*b) + 6*dn*dn*(a*a*o.m2+b*b*s.m2) + 4*dn*(a*o.m3-b*s.m3)
	s.m3 += o.m3 + d*dn*dn*a*b*(a-b) + 3*dn*(a*o.m2-b*s.m2)
	s.m2 += o.m2 + d*dn*a*b
	s.mean += dn * b
	s.n = n
}

func (s *shape) skewness() float64 { return math.Sqrt(s.n) * s.m3 / math.Pow(s.m2, 1.5) }

// kurtosis is the excess over that of the normal distribution.
func (s *shape) kurtosis() float64 { return s.n*s.m4/(s.m2*s.m2) - 3 }

// shapes serves skewness and kurtosis.
type shapes struct {
	finish func(*shape) float64
	least  float64 // number of values below which there is no result
	s      []shape
	flat   vector.Vector
}

func (s *shapes) Grow(n int)   { s.s = vector.Extended(s.s, n) }
func (s *shapes) Bytes() int64 { return int64(40 * cap(s.s)) }

func (s *shapes) Add(n int, groups []uint32, args []*vector.Vector, keep vector.Bitmap) error {
	v := flatten(args[0], n, &s.flat)
	eachRow(n, v, keep, func(i int) { s.s[groups[i]].add(v.Floats[i]) })
	return nil
}

func (s *shapes) Merge(o Accumulator, from, to []uint32) error {
	other := o.(*shapes)
	for i, g := range to {
		s.s[g].merge(&other.s[from[i]])
	}
	return nil
}

// Result is NULL for groups with too few values, or with only equal values.
func (s *shapes) Result(n int) (*vector.Vector, error) {
	s.Grow(n)
	v, some := &vector.Vector{Type: f64, Floats: make([]float64, n)}, make([]bool, n)
	for g := range n {
		if m := &s.s[g]; m.n >= s.least && m.m2 != 0 {
			v.Floats[g], some[g] = s.finish(m), true
		}
	}
	v.Valid = validOf(some)
	return v, nil
}

func init() {
	for name, f := range map[string]struct {
		least  float64
		finish func(s *shape) float64
	}{
		"skewness_pop": {1, (*shape).skewness},
		"skewness":     {3, func(s *shape) float64 { return s.skewness() * math.Sqrt(s.n*(s.n-1)) / (s.n - 2) }},
		"kurtosis_pop": {1, (*shape).kurtosis},
		"kurtosis": {4, func(s *shape) float64 {
			return (s.n - 1) / ((s.n - 2) * (s.n - 3)) * ((s.n+1)*s.kurtosis() + 6)
		}},
	} {
		aggregates[name] = func(c *Context, a *Agg) error {
			if err := a.need(1, 1); err != nil {
				return err
			}
			a.T = f64
			a.keeps = keepsFigures
			a.make = func() Accumulator { return &shapes{finish: f.finish, least: f.least} }
			return a.float(c, 0)
		}
	}
}
