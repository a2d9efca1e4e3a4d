package expr

import (
	"bytes"
	"math"

	"varve/engine/status"
	"varve/engine/vector"
)

// cells holds one value of any type per group.
type cells struct {
	t      vector.Type
	some   []bool
	ints   []int64
	uints  []uint64
	floats []float64
	bytes  [][]byte
	size   int64
}

func (c *cells) grow(n int) {
	c.some = vector.Extended(c.some, n)
	switch c.t.Kind() {
	case vector.Bool, vector.Int64:
		c.ints = vector.Extended(c.ints, n)
	case vector.Uint64:
		c.uints = vector.Extended(c.uints, n)
	case vector.Float64:
		c.floats = vector.Extended(c.floats, n)
	default:
		c.bytes = vector.Extended(c.bytes, n)
	}
}

func (c *cells) memory() int64 { return c.size + int64(33*cap(c.some)) }

// set puts row i of v into group g; NULL too.
func (c *cells) set(g uint32, v *vector.Vector, i int) {
	c.some[g] = !v.IsNull(i)
	if !c.some[g] {
		return
	}
	switch c.t.Kind() {
	case vector.Bool:
		c.ints[g] = int64(vector.Bit(v.Bool(i)))
	case vector.Int64:
		c.ints[g] = v.Int(i)
	case vector.Uint64:
		c.uints[g] = v.Uint(i)
	case vector.Float64:
		c.floats[g] = v.Float(i)
	default:
		b := v.Bytes(i)
		c.size -= int64(cap(c.bytes[g]))
		c.bytes[g] = append(c.bytes[g][:0], b...)
		c.size += int64(cap(c.bytes[g]))
	}
}

// copy puts another's group into group g.
func (c *cells) copy(g uint32, o *cells, from int) {
	c.some[g] = o.some[from]
	switch c.t.Kind() {
	case vector.Bool, vector.Int64:
		c.ints[g] = o.ints[from]
	case vector.Uint64:
		c.uints[g] = o.uints[from]
	case vector.Float64:
		c.floats[g] = o.floats[from]
	default:
		c.size += int64(cap(o.bytes[from]) - cap(c.bytes[g]))
		c.bytes[g] = o.bytes[from]
	}
}

// vector returns the values of n groups; did is told of them as they are copied.
func (c *cells) vector(n int, did func(n int) error) (*vector.Vector, error) {
	v := &vector.Vector{Type: c.t, Valid: validOf(c.some[:n])}
	switch c.t.Kind() {
	case vector.Bool:
		v.Bools = vector.MakeBitmap(n)
		for i, x := range c.ints[:n] {
			if x != 0 {
				v.Bools.Set(i)
			}
		}
	case vector.Int64:
		v.Ints = c.ints[:n]
	case vector.Uint64:
		v.Uints = c.uints[:n]
	case vector.Float64:
		v.Floats = c.floats[:n]
	default:
		size := 0
		for i, b := range c.bytes[:n] {
			if c.some[i] {
				size += len(b)
			}
		}
		if size > math.MaxUint32 {
			return nil, status.New(status.RuntimeResourcesExhausted,
				"the texts of %d groups take %d MiB, which may be %d MiB", n, size>>20, math.MaxUint32>>20)
		}
		v.Views, v.Heap = make([]vector.View, 0, n), make([]byte, 0, size)
		for i, b := range c.bytes[:n] {
			if err := did(1); err != nil {
				return nil, err
			}
			if !c.some[i] {
				b = nil
			}
			v.PushBytes(b)
		}
	}
	return v, nil
}

// extremes is min (sign -1) and max (sign 1) of any type.
type extremes struct {
	cancellation
	cells
	sign int
	flat vector.Vector
}

func newExtremes(t vector.Type, sign int) *extremes { return &extremes{cells: cells{t: t}, sign: sign} }

func (e *extremes) Grow(n int)   { e.grow(n) }
func (e *extremes) Bytes() int64 { return e.memory() }

func (e *extremes) Add(n int, groups []uint32, args []*vector.Vector, keep vector.Bitmap) error {
	v := args[0]
	groups = groups[:n]
	switch e.t.Kind() {
	case vector.Int64:
		v = flatten(v, n, &e.flat)
		extremesOf(e.ints, e.some, groups, v.Ints[:n], e.sign, rowsThatCount(v, keep))
	case vector.Uint64:
		v = flatten(v, n, &e.flat)
		extremesOf(e.uints, e.some, groups, v.Uints[:n], e.sign, rowsThatCount(v, keep))
	case vector.Float64:
		v = flatten(v, n, &e.flat)
		extremesOf(e.floats, e.some, groups, v.Floats[:n], e.sign, rowsThatCount(v, keep))
	default:
		eachRow(n, v, keep, func(i int) {
			if g := groups[i]; !e.some[g] || e.better(v, i, g) {
				e.set(g, v, i)
			}
		})
	}
	return nil
}

// rowsThatCount reports which rows are in keep and not NULL; nil: all.
func rowsThatCount(v *vector.Vector, keep vector.Bitmap) func(i int) bool {
	if v.Valid == nil && keep == nil {
		return nil
	}
	return func(i int) bool { return (keep == nil || keep.Get(i)) && !v.IsNull(i) }
}

// extremesOf takes the values of rows that count into the best of their groups; counts is nil when all do. NaN is
// greater than every number.
func extremesOf[T int64 | uint64 | float64](best []T, some []bool, groups []uint32, x []T, sign int,
	counts func(i int) bool) {
	switch {
	case counts != nil:
		for i, g := range groups {
			if !counts(i) {
				continue
			}
			a, b := x[i], best[g]
			if !some[g] || sign < 0 && (a < b || b != b) || sign > 0 && (a > b || a != a) {
				best[g], some[g] = a, true
			}
		}
	case sign < 0:
		least(best, some, groups, x)
	default:
		greatest(best, some, groups, x)
	}
}

func least[T int64 | uint64 | float64](best []T, some []bool, groups []uint32, x []T) {
	x = x[:len(groups)]
	for i, g := range groups {
		a, b := x[i], best[g]
		if a < b || b != b || !some[g] {
			best[g], some[g] = a, true
		}
	}
}

func greatest[T int64 | uint64 | float64](best []T, some []bool, groups []uint32, x []T) {
	x = x[:len(groups)]
	for i, g := range groups {
		a, b := x[i], best[g]
		if a > b || a != a || !some[g] {
			best[g], some[g] = a, true
		}
	}
}

func (e *extremes) better(v *vector.Vector, i int, g uint32) bool {
	if e.t.Kind() == vector.Bool {
		d := int64(vector.Bit(v.Bool(i))) - e.ints[g]
		return d*int64(e.sign) > 0
	}
	return e.beats(v.Bytes(i), g)
}

// beats reports whether a value of a bytes type beats what group g holds.
func (e *extremes) beats(b []byte, g uint32) bool {
	if e.t.ID == vector.TypeDecimal || e.t.ID == vector.TypeInterval {
		return Compare(vector.ConstBytes(e.t, b), 0, vector.ConstBytes(e.t, e.bytes[g]), 0)*e.sign > 0
	}
	return bytes.Compare(b, e.bytes[g])*e.sign > 0
}

func (e *extremes) Merge(o Accumulator, from, to []uint32) error {
	other := &o.(*extremes).cells
	for i, g := range to {
		if err := e.did(1); err != nil {
			return err
		}
		if k := int(from[i]); other.some[k] && (!e.some[g] || e.loses(g, other, k)) {
			e.copy(g, other, k)
		}
	}
	return nil
}

// loses reports whether what group g holds is beaten by another's group k. NaN is greater than every number.
func (e *extremes) loses(g uint32, o *cells, k int) bool {
	switch e.t.Kind() {
	case vector.Bool, vector.Int64:
		return order(o.ints[k], e.ints[g])*e.sign > 0
	case vector.Uint64:
		return order(o.uints[k], e.uints[g])*e.sign > 0
	case vector.Float64:
		return order(SortableFloat(o.floats[k]), SortableFloat(e.floats[g]))*e.sign > 0
	}
	return e.beats(o.bytes[k], g)
}

func (e *extremes) Result(n int) (*vector.Vector, error) {
	e.grow(n)
	return e.vector(n, e.did)
}

func init() {
	for name, last := range map[string]bool{"first_value": false, "last_value": true} {
		aggregates[name] = func(_ *Context, a *Agg) error {
			if err := a.need(1, 1); err != nil {
				return err
			}
			a.T = a.Args[0].Type()
			a.keeps = keepsValues
			a.make = func() Accumulator { return &ends{cells: cells{t: a.T}, last: last, order: a.Order} }
			return nil
		}
	}
	bindPercentile := func(exact bool) func(c *Context, a *Agg) error {
		return func(c *Context, a *Agg) error {
			if err := a.need(2, 3); err != nil {
				return err
			}
			p, err := a.percentile(1)
			if err != nil {
				return err
			}
			keep := a.Args[0].Type()
			if err := a.ranked(c, 0); err != nil {
				return err
			}
			a.Args = a.Args[:1]
			a.params, a.T = []float64{p}, f64
			if !exact && keep.IsInteger() || keep.ID == vector.TypeDuration {
				a.T = keep
			}
			a.keeps = keepsFigures
			a.make = func() Accumulator { return &samples{t: a.T, p: p, exact: exact} }
			return nil
		}
	}
	aggregates["approx_percentile_cont"] = bindPercentile(false)
	aggregates["percentile_cont"] = bindPercentile(true)
	aggregates["approx_median"] = func(c *Context, a *Agg) error {
		if len(a.Args) == 1 {
			a.Args = append(a.Args[:1:1], &Const{Value: vector.ConstFloat(f64, 0.5)})
		}
		return bindPercentile(false)(c, a)
	}
	aggregates["median"] = func(c *Context, a *Agg) error {
		if err := a.need(1, 1); err != nil {
			return err
		}
		a.T = a.Args[0].Type()
		if a.T.ID != vector.TypeDuration {
			a.T = f64 // of integers too: it may lie between two of them
		}
		a.keeps = keepsFigures
		a.make = func() Accumulator { return &samples{t: a.T, p: 0.5, exact: true} }
		return a.ranked(c, 0)
	}
	aggregates["approx_distinct"] = func(_ *Context, a *Agg) error {
		if err := a.need(1, 1); err != nil {
			return err
		}
		a.T = vector.Uint64Type
		a.keeps = keepsFigures
		a.make = func() Accumulator { return &sketches{} }
		return nil
	}
	aggregates["string_agg"] = func(c *Context, a *Agg) error {
		if err := a.need(1, 2); err != nil {
			return err
		}
		sep := ","
		if len(a.Args) == 2 {
			k, ok := a.Args[1].(*Const)
			switch {
			case ok && k.Value.IsNull(0):
				sep = ""
			case !ok || !k.Value.Type.IsText():
				return planError("string_agg needs a constant separator")
			default:
				sep = k.Value.Str(0)
			}
		}
		e, err := c.Cast(a.Args[0], str, false)
		a.Args, a.T = []Expr{e}, str
		a.keeps = keepsValues
		a.make = func() Accumulator { return &lists{a: a, sep: sep, text: true} }
		return err
	}
	aggregates["array_agg"] = func(_ *Context, a *Agg) error {
		if err := a.need(1, 1); err != nil {
			return err
		}
		a.T = vector.List(a.Args[0].Type())
		a.make = func() Accumulator { return &lists{a: a, nulls: true} }
		return nil
	}
}

// ends is first_value and last_value: the value of the row that comes first or last by the order keys, or as the rows
// come where there are none.
type ends struct {
	cancellation
	cells
	last  bool
	order []SortKey
	seen  []bool
	keys  [][]byte
	key   []byte
	held  int64 // of keys
}

func (e *ends) Grow(n int) {
	e.grow(n)
	e.seen, e.keys = vector.Extended(e.seen, n), vector.Extended(e.keys, n)
}

func (e *ends) Bytes() int64 { return e.memory() + e.held + int64(cap(e.keys))*40 }

// wins reports whether a row with the given key takes the place of what group g holds.
func (e *ends) wins(g uint32, key []byte) bool {
	if !e.seen[g] {
		return true
	}
	d := bytes.Compare(key, e.keys[g])
	return !e.last && d < 0 || e.last && d >= 0
}

func (e *ends) Add(n int, groups []uint32, args []*vector.Vector, keep vector.Bitmap) error {
	eachRow(n, nil, keep, func(i int) {
		g := groups[i]
		e.key = e.key[:0]
		for k, o := range e.order {
			e.key = AppendSortKey(e.key, args[1+k], i, o.Desc, o.NullsFirst)
		}
		if e.wins(g, e.key) {
			e.seen[g] = true
			e.held -= int64(cap(e.keys[g]))
			e.keys[g] = append(e.keys[g][:0], e.key...)
			e.held += int64(cap(e.keys[g]))
			e.set(g, args[0], i)
		}
	})
	return nil
}

func (e *ends) Merge(o Accumulator, from, to []uint32) error {
	other := o.(*ends)
	for i, g := range to {
		if err := e.did(1); err != nil {
			return err
		}
		if from := int(from[i]); from < len(other.seen) && other.seen[from] && e.wins(g, other.keys[from]) {
			e.held += int64(cap(other.keys[from]) - cap(e.keys[g]))
			e.seen[g], e.keys[g] = true, other.keys[from]
			e.copy(g, &other.cells, from)
		}
	}
	return nil
}

func (e *ends) Result(n int) (*vector.Vector, error) {
	e.Grow(n)
	return e.vector(n, e.did)
}
