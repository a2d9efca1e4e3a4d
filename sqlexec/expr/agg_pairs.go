package expr

import (
	"math"

	"varve/engine/vector"
)

// pairMoment are the sums over pairs (y, x) that correlation and regression are made of: number, means, and sums of
// squared distances from the means and of their products.
type pairMoment struct{ n, my, mx, syy, sxx, sxy float64 }

func (m *pairMoment) add(y, x float64) {
	m.n++
	dy, dx := y-m.my, x-m.mx
	m.my += dy / m.n
	m.mx += dx / m.n
	m.syy += dy * (y - m.my)
	m.sxx += dx * (x - m.mx)
	m.sxy += dx * (y - m.my)
}

func (m *pairMoment) merge(o *pairMoment) {
	switch {
	case o.n == 0:
		return
	case m.n == 0:
		*m = *o
		return
	}
	n := m.n + o.n
	dy, dx, k := o.my-m.my, o.mx-m.mx, m.n*o.n/n
	m.syy += o.syy + dy*dy*k
	m.sxx += o.sxx + dx*dx*k
	m.sxy += o.sxy + dx*dy*k
	m.my += dy * o.n / n
	m.mx += dx * o.n / n
	m.n = n
}

// pairs serves the aggregates over pairs of numbers. Rows with a NULL in either do not count.
type pairs struct {
	t      vector.Type
	finish func(*pairMoment) float64 // NaN: NULL
	m      []pairMoment
	y, x   vector.Vector
}

func (s *pairs) Grow(n int)   { s.m = vector.Extended(s.m, n) }
func (s *pairs) Bytes() int64 { return int64(48 * cap(s.m)) }

func (s *pairs) Add(n int, groups []uint32, args []*vector.Vector, keep vector.Bitmap) error {
	y, x := flatten(args[0], n, &s.y), flatten(args[1], n, &s.x)
	eachRow(n, y, keep, func(i int) {
		if !x.IsNull(i) {
			s.m[groups[i]].add(y.Floats[i], x.Floats[i])
		}
	})
	return nil
}

func (s *pairs) Merge(o Accumulator, from, to []uint32) error {
	other := o.(*pairs)
	for i, g := range to {
		s.m[g].merge(&other.m[from[i]])
	}
	return nil
}

func (s *pairs) Result(n int) (*vector.Vector, error) {
	s.Grow(n)
	v := &vector.Vector{Type: s.t}
	if s.t != f64 { // regr_count
		for g := range n {
			v.Uints = append(v.Uints, uint64(s.m[g].n))
		}
		return v, nil
	}
	for g := range n {
		f := math.NaN()
		if s.m[g].n > 0 {
			f = s.finish(&s.m[g])
		}
		if math.IsNaN(f) {
			v.AppendNulls(g, 1)
			continue
		}
		v.Floats = append(v.Floats, f)
		if v.Valid != nil {
			v.Valid = v.Valid.With(g)
		}
	}
	return v, nil
}

func init() {
	for name, f := range map[string]func(m *pairMoment) float64{
		"corr":           func(m *pairMoment) float64 { return m.sxy / math.Sqrt(m.sxx*m.syy) },
		"covar_samp":     func(m *pairMoment) float64 { return m.sxy / (m.n - 1) }, // of one pair: 0/0
		"covar_pop":      func(m *pairMoment) float64 { return m.sxy / m.n },
		"regr_slope":     func(m *pairMoment) float64 { return slope(m) },
		"regr_intercept": func(m *pairMoment) float64 { return m.my - slope(m)*m.mx },
		"regr_r2": func(m *pairMoment) float64 {
			switch {
			case m.sxx == 0:
				return math.NaN()
			case m.syy == 0:
				return 1
			}
			return m.sxy / m.sxx * m.sxy / m.syy
		},
		"regr_avgx":  func(m *pairMoment) float64 { return m.mx },
		"regr_avgy":  func(m *pairMoment) float64 { return m.my },
		"regr_sxx":   func(m *pairMoment) float64 { return m.sxx },
		"regr_syy":   func(m *pairMoment) float64 { return m.syy },
		"regr_sxy":   func(m *pairMoment) float64 { return m.sxy },
		"regr_count": nil,
	} {
		aggregates[name] = func(c *Context, a *Agg) error {
			if err := a.need(2, 2); err != nil {
				return err
			}
			if err := a.float(c, 0); err != nil {
				return err
			}
			a.T = f64
			if f == nil {
				a.T = vector.Uint64Type
			}
			a.keeps = keepsFigures
			a.make = func() Accumulator { return &pairs{t: a.T, finish: f} }
			return a.float(c, 1)
		}
	}
}

// slope is that of the line with the least squares; NaN when all x are equal.
func slope(m *pairMoment) float64 {
	if m.sxx == 0 {
		return math.NaN()
	}
	return m.sxy / m.sxx
}
