package expr

import (
	"math"

	"varve/engine/vector"
)

func init() {
	aggregates["count"] = func(_ *Context, a *Agg) error {
		if err := a.need(0, 16); err != nil {
			return err
		}
		a.T = i64
		a.keeps = keepsFigures
		a.make = func() Accumulator { return &counts{args: len(a.Args)} }
		return nil
	}
	aggregates["sum"] = bindSum
	aggregates["avg"] = func(c *Context, a *Agg) error {
		if err := a.need(1, 1); err != nil {
			return err
		}
		if bindSpans(a, true) {
			return nil
		}
		if t := a.Args[0].Type(); t.ID == vector.TypeDecimal {
			a.T = meanOfDecimal(t)
			a.keeps = keepsFigures
			a.make = func() Accumulator { return &decimalMeans{sums: decimalSums{t: sumOfDecimal(t)}, t: a.T} }
			return nil
		}
		if err := a.float(c, 0); err != nil {
			return err
		}
		a.T = f64
		a.keeps = keepsFigures
		a.make = func() Accumulator { return &moments{finish: func(m *moment) float64 { return m.mean }} }
		return nil
	}
	for name, f := range map[string]struct {
		least  float64
		finish func(m *moment) float64
	}{
		"stddev":     {2, func(m *moment) float64 { return math.Sqrt(m.deviations() / (m.n - 1)) }},
		"stddev_pop": {1, func(m *moment) float64 { return math.Sqrt(m.deviations() / m.n) }},
		"var":        {2, func(m *moment) float64 { return m.deviations() / (m.n - 1) }},
		"var_pop":    {1, func(m *moment) float64 { return m.deviations() / m.n }},
	} {
		aggregates[name] = func(c *Context, a *Agg) error {
			if err := a.need(1, 1); err != nil {
				return err
			}
			a.T = f64
			a.keeps = keepsFigures
			a.make = func() Accumulator { return &moments{finish: f.finish, least: f.least, square: true} }
			return a.float(c, 0)
		}
	}
	for name, sign := range map[string]int{"min": -1, "max": 1} {
		aggregates[name] = func(_ *Context, a *Agg) error {
			if err := a.need(1, 1); err != nil {
				return err
			}
			a.T = a.Args[0].Type()
			a.keeps = keepsValues
			a.make = func() Accumulator { return newExtremes(a.T, sign) }
			return nil
		}
	}
	for name, all := range map[string]bool{"bool_and": true, "bool_or": false} {
		aggregates[name] = func(c *Context, a *Agg) error {
			if err := a.need(1, 1); err != nil {
				return err
			}
			var err error
			a.T = flag
			a.Args = append([]Expr(nil), a.Args...)
			a.Args[0], err = c.Cast(a.Args[0], flag, false)
			a.keeps = keepsFigures
			a.make = func() Accumulator { return newExtremes(flag, map[bool]int{true: -1, false: 1}[all]) }
			return err
		}
	}
	for name, op := range map[string]func(x, y int64) int64{
		"bit_and": func(x, y int64) int64 { return x & y }, "bit_or": func(x, y int64) int64 { return x | y },
		"bit_xor": func(x, y int64) int64 { return x ^ y },
	} {
		aggregates[name] = func(c *Context, a *Agg) error {
			if err := a.need(1, 1); err != nil {
				return err
			}
			var err error
			a.T = i64
			a.Args = append([]Expr(nil), a.Args...)
			a.Args[0], err = c.Cast(a.Args[0], i64, false)
			a.keeps = keepsFigures
			a.make = func() Accumulator { return &intFold{op: op} }
			return err
		}
	}
}

// counts is count(*) and count(x, ..).
type counts struct {
	args int
	n    []int64
}

func (c *counts) Grow(n int)   { c.n = vector.Extended(c.n, n) }
func (c *counts) Bytes() int64 { return int64(8 * cap(c.n)) }

func (c *counts) Add(n int, groups []uint32, args []*vector.Vector, keep vector.Bitmap) error {
	counts := c.n
	plain := keep == nil
	for _, v := range args[:c.args] {
		plain = plain && v.Valid == nil
	}
	if plain {
		countGroups(counts, groups[:n])
		return nil
	}
	for i, g := range groups[:n] {
		if keep != nil && !keep.Get(i) {
			continue
		}
		null := false
		for _, v := range args[:c.args] {
			null = null || v.IsNull(i)
		}
		if !null {
			counts[g]++
		}
	}
	return nil
}

// zeroGroups is the groups of rows without keys. Nobody writes to it.
var zeroGroups [vector.Size]uint32

// SoleGroup is the groups of n rows, at most vector.Size, that are all of group 0: aggregates know them without looking
// at each. Callers do not write to it.
func SoleGroup(n int) []uint32 { return zeroGroups[:n:n] }

// oneGroup reports whether all rows have the same group, as without keys, or with times in a single bucket.
func oneGroup(groups []uint32) bool {
	n := len(groups)
	if n == 0 || groups[0] != groups[n-1] {
		return false
	}
	if &groups[0] == &zeroGroups[0] {
		return true
	}
	first := groups[0]
	for len(groups) > 0 {
		some := groups[:min(oneGroupStep, len(groups))] // the first of them tell it of most batches
		groups = groups[len(some):]
		other := uint32(0)
		for _, g := range some {
			other |= g ^ first
		}
		if other != 0 {
			return false
		}
	}
	return true
}

// oneGroupStep is the number of rows that are looked at before deciding.
const oneGroupStep = 128

// Numbers of groups that are counted in several places each: eight of very few, four of few.
const (
	veryFewGroups = 64
	fewGroups     = 256
)

// countGroups adds the number of rows of each group. Of few groups one may have most rows: an addition to a count waits
// for the one before, so rows that follow each other go to different counts.
func countGroups(counts []int64, groups []uint32) {
	switch {
	case oneGroup(groups):
		counts[groups[0]] += int64(len(groups))
	case len(counts) <= veryFewGroups && len(groups) >= 2*fewGroups:
		countVeryFew(counts, groups)
	case len(counts) <= fewGroups && len(groups) >= 2*fewGroups:
		var c [4][fewGroups]uint32
		for len(groups) >= 4 {
			g := (*[4]uint32)(groups)
			c[0][uint8(g[0])]++
			c[1][uint8(g[1])]++
			c[2][uint8(g[2])]++
			c[3][uint8(g[3])]++
			groups = groups[4:]
		}
		for _, g := range groups {
			c[0][uint8(g)]++
		}
		for g := range counts {
			counts[g] += int64(c[0][uint8(g)]) + int64(c[1][uint8(g)]) + int64(c[2][uint8(g)]) + int64(c[3][uint8(g)])
		}
	default:
		for _, g := range groups {
			counts[g]++
		}
	}
}

// countVeryFew counts at most veryFewGroups groups.
func countVeryFew(counts []int64, groups []uint32) {
	var c [veryFewGroups][8]uint32
	for len(groups) >= 8 {
		g := (*[8]uint32)(groups)
		c[g[0]%veryFewGroups][0]++
		c[g[1]%veryFewGroups][1]++
		c[g[2]%veryFewGroups][2]++
		c[g[3]%veryFewGroups][3]++
		c[g[4]%veryFewGroups][4]++
		c[g[5]%veryFewGroups][5]++
		c[g[6]%veryFewGroups][6]++
		c[g[7]%veryFewGroups][7]++
		groups = groups[8:]
	}
	for _, g := range groups {
		c[g%veryFewGroups][0]++
	}
	for g := range counts {
		p := &c[g%veryFewGroups]
		counts[g] += int64(p[0]) + int64(p[1]) + int64(p[2]) + int64(p[3]) + int64(p[4]) + int64(p[5]) + int64(p[6]) +
			int64(p[7])
	}
}

func (c *counts) Merge(o Accumulator, from, to []uint32) error {
	n := o.(*counts).n
	for i, g := range to {
		c.n[g] += n[from[i]]
	}
	return nil
}

func (c *counts) Result(n int) (*vector.Vector, error) {
	c.Grow(n)
	return &vector.Vector{Type: i64, Ints: c.n[:n]}, nil
}

// validOf makes validity of flags; nil when all are set.
func validOf(some []bool) vector.Bitmap {
	b, all := vector.MakeBitmap(len(some)), true
	for i, x := range some {
		if x {
			b.Set(i)
		} else {
			all = false
		}
	}
	if all {
		return nil
	}
	return b
}

// moment is count, mean and sum of squared deviations of one group. odd is 0 while all values are finite, else NaN.
type moment struct{ n, mean, m2, odd float64 }

// deviations is the sum of squared deviations. Where finite values are too far apart for it, it is infinite: on the way
// there the mean overflows, and what became of the sum depends on the order of the values.
func (m *moment) deviations() float64 {
	switch {
	case m.odd != 0:
		return math.NaN()
	case m.m2 >= 0 && m.m2 <= math.MaxFloat64:
		return m.m2
	}
	return math.Inf(1)
}

// moments serves avg, stddev and var. The mean is sum/count, as people check it; squares go by Welford's method.
type moments struct {
	finish func(*moment) float64
	least  float64
	square bool
	m      []moment // with square
	means  []mean   // without
	flat   vector.Vector
}

// mean is what of a moment the mean needs, in half of the memory.
type mean struct{ n, sum float64 }

func (s *moments) Grow(n int) {
	if s.square {
		s.m = vector.Extended(s.m, n)
	} else {
		s.means = vector.Extended(s.means, n)
	}
}

func (s *moments) Bytes() int64 { return int64(32*cap(s.m) + 16*cap(s.means)) }

func (s *moments) Add(n int, groups []uint32, args []*vector.Vector, keep vector.Bitmap) error {
	v := flatten(args[0], n, &s.flat)
	x := v.Floats[:n]
	if s.square {
		eachRow(n, v, keep, func(i int) {
			m := &s.m[groups[i]]
			value := x[i]
			m.n++
			m.odd += value - value
			d := value - m.mean
			m.mean += d / m.n
			m.m2 += d * (value - m.mean)
		})
		return nil
	}
	switch means := s.means; {
	case keep != nil || v.Valid != nil:
		eachRow(n, v, keep, func(i int) {
			m := &means[groups[i]]
			m.n++
			m.sum += x[i]
		})
	case oneGroup(groups[:n]):
		m := &means[groups[0]]
		m.n, m.sum = m.n+float64(n), m.sum+sumFloats(x)
	default:
		for i, g := range groups[:n] {
			m := &means[g]
			m.n++
			m.sum += x[i]
		}
	}
	return nil
}

// sumFloats adds floats in four sums: an addition takes four cycles, and waits for the one before into the same sum.
func sumFloats(x []float64) float64 {
	var a, b, c, d float64
	for len(x) >= 4 {
		four := (*[4]float64)(x)
		a += four[0]
		b += four[1]
		c += four[2]
		d += four[3]
		x = x[4:]
	}
	for _, v := range x {
		a += v
	}
	return a + b + (c + d)
}

func (s *moments) Merge(o Accumulator, from, to []uint32) error {
	other := o.(*moments)
	if !s.square {
		for i, g := range to {
			if a, b := &s.means[g], other.means[from[i]]; b.n > 0 {
				a.n, a.sum = a.n+b.n, a.sum+b.sum
			}
		}
		return nil
	}
	for i, g := range to {
		a, b := &s.m[g], &other.m[from[i]]
		switch {
		case b.n == 0:
			continue
		case a.n == 0:
			*a = *b
			continue
		}
		n := a.n + b.n
		d := b.mean - a.mean
		a.m2 += b.m2 + d*d*a.n*b.n/n
		a.mean += d * b.n / n
		a.n, a.odd = n, a.odd+b.odd
	}
	return nil
}

func (s *moments) Result(n int) (*vector.Vector, error) {
	s.Grow(n)
	v, some := &vector.Vector{Type: f64, Floats: make([]float64, n)}, make([]bool, n)
	for g := range n {
		var m moment
		if s.square {
			m = s.m[g]
		} else {
			of := &s.means[g]
			m.n, m.mean = of.n, of.sum/of.n
		}
		if m.n == 0 || m.n < s.least {
			continue
		}
		v.Floats[g], some[g] = s.finish(&m), true
	}
	v.Valid = validOf(some)
	return v, nil
}

// intFold folds integers with an operator.
type intFold struct {
	op   func(x, y int64) int64
	x    []int64
	some []bool
	flat vector.Vector
}

func (f *intFold) Grow(n int)   { f.x, f.some = vector.Extended(f.x, n), vector.Extended(f.some, n) }
func (f *intFold) Bytes() int64 { return int64(9 * cap(f.x)) }

func (f *intFold) put(g uint32, x int64) {
	if f.some[g] {
		x = f.op(f.x[g], x)
	}
	f.x[g], f.some[g] = x, true
}

func (f *intFold) Add(n int, groups []uint32, args []*vector.Vector, keep vector.Bitmap) error {
	v := flatten(args[0], n, &f.flat)
	eachRow(n, v, keep, func(i int) { f.put(groups[i], v.Ints[i]) })
	return nil
}

func (f *intFold) Merge(o Accumulator, from, to []uint32) error {
	other := o.(*intFold)
	for i, g := range to {
		if other.some[from[i]] {
			f.put(g, other.x[from[i]])
		}
	}
	return nil
}

func (f *intFold) Result(n int) (*vector.Vector, error) {
	f.Grow(n)
	return &vector.Vector{Type: i64, Ints: f.x[:n], Valid: validOf(f.some[:n])}, nil
}
