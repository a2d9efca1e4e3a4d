package expr

import "varve/engine/vector"

func bindSum(c *Context, a *Agg) error {
	if err := a.need(1, 1); err != nil {
		return err
	}
	t := a.Args[0].Type()
	cast := func(to vector.Type) error {
		var err error
		a.T = to
		a.Args = append([]Expr(nil), a.Args...)
		a.Args[0], err = c.Cast(a.Args[0], to, false)
		return err
	}
	a.keeps = keepsFigures
	switch {
	case signed(t), t == vector.NullType:
		a.make = func() Accumulator {
			return newIntegerSums(i64)
		}
		return cast(i64)
	case unsigned(t):
		a.make = func() Accumulator {
			return &integerSums[uint64]{t: vector.Uint64Type, of: integers[uint64]}
		}
		return cast(vector.Uint64Type)
	case t.ID == vector.TypeDecimal:
		a.T = sumOfDecimal(t)
		a.make = func() Accumulator { return &decimalSums{t: a.T} }
		return nil
	case t.IsNumber():
		a.make = func() Accumulator {
			return &floatSums{}
		}
		return cast(f64)
	case bindSpans(a, false):
		return nil
	}
	return planError("aggregate 'sum' takes numbers, found %s", t)
}

func newIntegerSums(t vector.Type) Accumulator {
	return &integerSums[int64]{t: t, of: integers[int64]}
}

// integerSums adds integers. A sum that leaves 64 bits is an error, but only when all is added: until then it wraps
// around, and wraps counts how often, which is right in any order of rows and of partial sums.
type integerSums[T int64 | uint64] struct {
	t     vector.Type
	of    func(v *vector.Vector) *[]T
	sum   []T
	wraps []int32 // how many times 2^64 is missing in sum[g]; nil while no sum has wrapped around
	some  []bool
	rows  int  // added so far
	wide  bool // some value had more than 32 bits, or there are too many rows: sums may wrap around
	flat  vector.Vector
}

// narrowRows is the number of values of 32 bits whose sum surely fits 63.
const narrowRows = 1 << 31

// fold returns what x adds to the bits that narrow looks at.
func fold[T int64 | uint64](x T) uint64 {
	if ^T(0) < 0 {
		return uint64(x) + 1<<31 // the least one of 32 bits becomes 0
	}
	return uint64(x)
}

// narrow reports whether all values that were folded and or'ed have 32 bits.
func narrow(folded uint64) bool { return folded>>32 == 0 }

// wrapped reports whether a + b = sum has wrapped around.
func wrapped[T int64 | uint64](a, b, sum T) bool { return (sum < a) != (b < 0) }

func (s *integerSums[T]) Grow(n int) {
	s.sum, s.some = vector.Extended(s.sum, n), vector.Extended(s.some, n)
	if s.wraps != nil {
		s.wraps = vector.Extended(s.wraps, n)
	}
}

func (s *integerSums[T]) Bytes() int64 { return int64(9*cap(s.sum) + 4*cap(s.wraps)) }

func (s *integerSums[T]) Add(n int, groups []uint32, args []*vector.Vector, keep vector.Bitmap) error {
	v := flatten(args[0], n, &s.flat)
	x := (*s.of(v))[:n]
	groups = groups[:n]
	s.rows += n
	s.wide = s.wide || s.rows > narrowRows
	switch {
	case keep != nil || v.Valid != nil:
		eachRow(n, v, keep, func(i int) {
			s.put(groups[i], x[i])
			s.wide = s.wide || !narrow(fold(x[i]))
		})
	case oneGroup(groups):
		s.addToOne(groups[0], x)
	case s.wide || !addNarrow(s.sum, s.some, groups, x):
		s.wide = true
		for i, g := range groups {
			s.put(g, x[i])
		}
	}
	return nil
}

// addNarrow adds values of 32 bits to sums that are far from their bounds. Where one value has more it returns false
// and leaves the sums as they were. Each value is read once, before its sum is written: for all the compiler knows both
// lie in one place. 0.46 ns a row for 120 groups, against 1.1 with a second reading and 0.9 with a look at each sum.
func addNarrow[T int64 | uint64](sum []T, some []bool, groups []uint32, x []T) bool {
	folded := uint64(0)
	x, some = x[:len(groups)], some[:len(sum)]
	for i, g := range groups {
		v := x[i]
		sum[g] += v
		some[g] = true
		folded |= fold(v)
	}
	if narrow(folded) {
		return true
	}
	for i, g := range groups {
		sum[g] -= x[i]
	}
	return false
}

// addToOne adds all of x to one sum.
func (s *integerSums[T]) addToOne(g uint32, x []T) {
	total, folded := s.sum[g], uint64(0)
	if !s.wide {
		for _, x := range x {
			total += x
			folded |= fold(x)
		}
		s.wide = !narrow(folded)
	}
	if s.wide {
		var fits bool
		if total, fits = addAll(s.sum[g], x); !fits {
			for _, x := range x {
				s.put(g, x)
			}
			return
		}
	}
	s.sum[g], s.some[g] = total, true
}

// addAll returns total and all of x; fits is false when a sum on the way wrapped around.
func addAll[T int64 | uint64](total T, x []T) (_ T, fits bool) {
	bad := uint64(0)
	for _, x := range x {
		sum := total + x
		bad |= vector.Bit(wrapped(total, x, sum))
		total = sum
	}
	return total, bad == 0
}

func (s *integerSums[T]) put(g uint32, x T) {
	total := s.sum[g] + x
	if wrapped(s.sum[g], x, total) {
		s.wrap(g, x < 0)
	}
	s.sum[g], s.some[g] = total, true
}

// wrap notes that a sum has wrapped around, at its lower end or at its upper one.
func (s *integerSums[T]) wrap(g uint32, down bool) {
	if s.wraps == nil {
		s.wraps = make([]int32, len(s.sum))
	}
	if down {
		s.wraps[g]--
	} else {
		s.wraps[g]++
	}
}

func (s *integerSums[T]) Merge(o Accumulator, from, to []uint32) error {
	other := o.(*integerSums[T])
	s.rows += other.rows
	s.wide = s.wide || other.wide || s.rows > narrowRows
	for i, g := range to {
		if other.some[from[i]] {
			s.put(g, other.sum[from[i]])
		}
	}
	if other.wraps == nil {
		return nil
	}
	if s.wraps == nil {
		s.wraps = make([]int32, len(s.sum))
	}
	for i, g := range to {
		s.wraps[g] += other.wraps[from[i]]
	}
	return nil
}

func (s *integerSums[T]) Result(n int) (*vector.Vector, error) {
	s.Grow(n)
	for _, wraps := range s.wraps {
		if wraps != 0 {
			return nil, execError("Overflow in sum: it does not fit %s", s.t)
		}
	}
	v := &vector.Vector{Type: s.t, Valid: validOf(s.some[:n])}
	*s.of(v) = s.sum[:n]
	return v, nil
}

// floatSums adds floats.
type floatSums struct {
	sum  []float64
	some []bool
	flat vector.Vector
}

func (s *floatSums) Grow(n int) {
	s.sum, s.some = vector.Extended(s.sum, n), vector.Extended(s.some, n)
}
func (s *floatSums) Bytes() int64 { return int64(9 * cap(s.sum)) }

func (s *floatSums) Add(n int, groups []uint32, args []*vector.Vector, keep vector.Bitmap) error {
	v := flatten(args[0], n, &s.flat)
	x := v.Floats[:n]
	groups = groups[:n]
	sum, some := s.sum, s.some
	if keep == nil && v.Valid == nil {
		if oneGroup(groups) {
			g := groups[0]
			sum[g], some[g] = sum[g]+sumFloats(x), true
			return nil
		}
		for i, g := range groups {
			sum[g] += x[i]
			some[g] = true
		}
		return nil
	}
	eachRow(n, v, keep, func(i int) {
		sum[groups[i]] += x[i]
		some[groups[i]] = true
	})
	return nil
}

func (s *floatSums) Merge(o Accumulator, from, to []uint32) error {
	other := o.(*floatSums)
	for i, g := range to {
		s.sum[g] += other.sum[from[i]]
		s.some[g] = s.some[g] || other.some[from[i]]
	}
	return nil
}

func (s *floatSums) Result(n int) (*vector.Vector, error) {
	s.Grow(n)
	return &vector.Vector{Type: f64, Floats: s.sum[:n], Valid: validOf(s.some[:n])}, nil
}
