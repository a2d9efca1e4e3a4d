package expr

import (
	"bytes"
	"math"
	"slices"
	"sort"

	"github.com/axiomhq/hyperloglog"

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
	c.some = grown(c.some, n)
	switch c.t.Kind() {
	case vector.Bool, vector.Int64:
		c.ints = grown(c.ints, n)
	case vector.Uint64:
		c.uints = grown(c.uints, n)
	case vector.Float64:
		c.floats = grown(c.floats, n)
	default:
		c.bytes = grown(c.bytes, n)
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
		c.ints[g] = int64(b2i(v.Bool(i)))
	case vector.Int64:
		c.ints[g] = v.Int(i)
	case vector.Uint64:
		c.uints[g] = v.Uint(i)
	case vector.Float64:
		c.floats[g] = v.Float(i)
	default:
		b := v.Bytes(i)
		c.size += int64(len(b) - cap(c.bytes[g]))
		c.bytes[g] = append(c.bytes[g][:0], b...)
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
		c.bytes[g] = o.bytes[from]
	}
}

func (c *cells) vector(n int) *vector.Vector {
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
		for _, b := range c.bytes[:n] {
			pushBytes(v, b)
		}
	}
	return v
}

// extremes is min (sign -1) and max (sign 1) of any type.
type extremes struct {
	cells
	sign int
	flat vector.Vector
}

func newExtremes(t vector.Type, sign int) *extremes { return &extremes{cells: cells{t: t}, sign: sign} }

func (e *extremes) Grow(n int)   { e.grow(n) }
func (e *extremes) Bytes() int64 { return e.memory() }

func (e *extremes) Add(n int, groups []uint32, args []*vector.Vector, keep vector.Bitmap) error {
	v := args[0]
	sign := e.sign
	switch e.t.Kind() {
	case vector.Int64:
		v = flatten(v, n, &e.flat)
		extremeOf(e.ints, e.some, groups, v, v.Ints, keep, n, func(a, b int64) bool { return sign < 0 && a < b || sign > 0 && a > b })
	case vector.Uint64:
		v = flatten(v, n, &e.flat)
		extremeOf(e.uints, e.some, groups, v, v.Uints, keep, n, func(a, b uint64) bool { return sign < 0 && a < b || sign > 0 && a > b })
	case vector.Float64:
		v = flatten(v, n, &e.flat)
		extremeOf(e.floats, e.some, groups, v, v.Floats, keep, n, func(a, b float64) bool {
			x, y := sortableFloat(a), sortableFloat(b)
			return sign < 0 && x < y || sign > 0 && x > y
		})
	default:
		eachRow(n, v, keep, func(i int) {
			if g := groups[i]; !e.some[g] || e.better(v, i, g) {
				e.set(g, v, i)
			}
		})
	}
	return nil
}

func extremeOf[T any](best []T, some []bool, groups []uint32, v *vector.Vector, x []T, keep vector.Bitmap, n int, better func(a, b T) bool) {
	eachRow(n, v, keep, func(i int) {
		if g := groups[i]; !some[g] || better(x[i], best[g]) {
			best[g], some[g] = x[i], true
		}
	})
}

// better tells whether row i of v, of a boolean or bytes type, beats what group g holds.
func (e *extremes) better(v *vector.Vector, i int, g uint32) bool {
	if e.t.Kind() == vector.Bool {
		d := int64(b2i(v.Bool(i))) - e.ints[g]
		return d*int64(e.sign) > 0
	}
	if e.t.ID == vector.TypeDecimal || e.t.ID == vector.TypeInterval {
		return Compare(v, i, vector.ConstBytes(e.t, e.bytes[g]), 0)*e.sign > 0
	}
	return bytes.Compare(v.Bytes(i), e.bytes[g])*e.sign > 0
}

func (e *extremes) Merge(o Accumulator, to []uint32) error {
	other := o.(*extremes)
	return e.Add(len(to), to, []*vector.Vector{other.vector(len(to))}, nil)
}

func (e *extremes) Result(n int) (*vector.Vector, error) {
	e.grow(n)
	return e.vector(n), nil
}

func init() {
	for name, last := range map[string]bool{"first_value": false, "last_value": true} {
		aggregates[name] = func(_ *Context, a *Agg) error {
			if err := a.need(1, 1); err != nil {
				return err
			}
			a.T = a.Args[0].Type()
			a.make = func() Accumulator { return &ends{cells: cells{t: a.T}, last: last, order: a.Order} }
			return nil
		}
	}
	bindPercentile := func(exact bool) func(c *Context, a *Agg) error {
		return func(c *Context, a *Agg) error {
			if err := a.need(2, 3); err != nil {
				return err
			}
			p, err := a.constant(1)
			if err != nil {
				return err
			}
			if p < 0 || p > 1 {
				return planError("aggregate '%s': the percentile %v is not between 0 and 1", a.Name, p)
			}
			keep := a.Args[0].Type()
			if err := a.float(c, 0); err != nil {
				return err
			}
			a.Args = a.Args[:1]
			a.params, a.T = []float64{p}, f64
			if !exact && keep.IsInteger() {
				a.T = keep
			}
			a.make = func() Accumulator { return &samples{t: a.T, p: p, exact: exact} }
			return nil
		}
	}
	aggregates["approx_percentile_cont"] = bindPercentile(false)
	aggregates["percentile_cont"] = bindPercentile(true)
	aggregates["median"] = func(c *Context, a *Agg) error {
		if err := a.need(1, 1); err != nil {
			return err
		}
		a.T = a.Args[0].Type()
		if a.T.ID == vector.TypeFloat32 || !a.T.IsInteger() {
			a.T = f64
		}
		a.make = func() Accumulator { return &samples{t: a.T, p: 0.5, exact: true} }
		return a.float(c, 0)
	}
	aggregates["approx_distinct"] = func(_ *Context, a *Agg) error {
		if err := a.need(1, 1); err != nil {
			return err
		}
		a.T = vector.Uint64Type
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
			if !ok || !k.Value.Type.IsText() {
				return planError("string_agg needs a constant separator")
			}
			sep = k.Value.Str(0)
		}
		e, err := c.Cast(a.Args[0], str, false)
		a.Args, a.T = []Expr{e}, str
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
	cells
	last  bool
	order []SortKey
	seen  []bool
	keys  [][]byte
	key   []byte
}

func (e *ends) Grow(n int) {
	e.grow(n)
	e.seen, e.keys = grown(e.seen, n), grown(e.keys, n)
}

func (e *ends) Bytes() int64 { return e.memory() + int64(cap(e.keys))*40 }

// wins tells whether a row with the given key takes the place of what group g holds.
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
			e.keys[g] = append(e.keys[g][:0], e.key...)
			e.set(g, args[0], i)
		}
	})
	return nil
}

func (e *ends) Merge(o Accumulator, to []uint32) error {
	other := o.(*ends)
	for from, g := range to {
		if from < len(other.seen) && other.seen[from] && e.wins(g, other.keys[from]) {
			e.seen[g], e.keys[g] = true, other.keys[from]
			e.copy(g, &other.cells, from)
		}
	}
	return nil
}

func (e *ends) Result(n int) (*vector.Vector, error) {
	e.Grow(n)
	return e.vector(n), nil
}

// samples serves percentiles: all values as long as they are few, then counts in logarithmic buckets, whose width is
// 1/128 of a power of two, so that an estimate is off by less than 0.4 %. exact keeps all values.
type samples struct {
	t      vector.Type
	p      float64
	exact  bool
	groups []sampleGroup
	held   int64
	flat   vector.Vector
}

type sampleGroup struct {
	values  []float64
	buckets *buckets
}

// maxSamples is the number of values of a group that are kept as they are.
const maxSamples = 512

// buckets counts values by their sign, exponent and the first 7 bits of their mantissa.
type buckets struct {
	counts   []int64 // counts[i] is that of bucket first+i
	first    int
	n        int64
	min, max float64
}

// bucketOf orders as the values do: the upper 19 bits of the sortable form.
func bucketOf(f float64) int { return int(sortableFloat(f) >> 45) }

// bucketStart is the smallest value of a bucket.
func bucketStart(b int) float64 {
	u := uint64(b) << 45
	if u>>63 != 0 {
		return math.Float64frombits(u &^ (1 << 63))
	}
	return math.Float64frombits(^u)
}

func (b *buckets) add(f float64, k int64) {
	i := bucketOf(f)
	switch {
	case len(b.counts) == 0:
		b.first, b.counts = i, make([]int64, 1, 64)
	case i < b.first:
		b.counts = append(make([]int64, b.first-i, b.first-i+len(b.counts)), b.counts...)
		b.first = i
	case i >= b.first+len(b.counts):
		b.counts = grown(b.counts, i-b.first+1)
	}
	b.counts[i-b.first] += k
	if b.n == 0 || f < b.min {
		b.min = f
	}
	if b.n == 0 || f > b.max {
		b.max = f
	}
	b.n += k
}

// quantile interpolates inside the bucket that holds the wanted rank.
func (b *buckets) quantile(p float64) float64 {
	rank := p * float64(b.n-1)
	seen := 0.0
	for i, c := range b.counts {
		if c == 0 {
			continue
		}
		if seen+float64(c) > rank {
			lo, hi := max(bucketStart(b.first+i), b.min), min(bucketStart(b.first+i+1), b.max)
			if hi < lo {
				return lo
			}
			return lo + (hi-lo)*(rank-seen+0.5)/float64(c)
		}
		seen += float64(c)
	}
	return b.max
}

func (s *samples) Grow(n int)   { s.groups = grown(s.groups, n) }
func (s *samples) Bytes() int64 { return s.held + int64(32*cap(s.groups)) }

func (s *samples) Add(n int, groups []uint32, args []*vector.Vector, keep vector.Bitmap) error {
	v := flatten(args[0], n, &s.flat)
	if keep == nil && v.Valid == nil {
		x := v.Floats[:n]
		for i, g := range groups[:n] {
			if g := &s.groups[g]; g.buckets == nil || !g.buckets.count(x[i]) {
				s.put(g, x[i])
			}
		}
		return nil
	}
	eachRow(n, v, keep, func(i int) { s.put(&s.groups[groups[i]], v.Floats[i]) })
	return nil
}

// count counts a positive number that lies between those seen; false: add must look at it.
func (b *buckets) count(f float64) bool {
	i := int((math.Float64bits(f)|1<<63)>>45) - b.first
	if uint(i) >= uint(len(b.counts)) || !(f > 0 && f >= b.min && f <= b.max) {
		return false
	}
	b.counts[i]++
	b.n++
	return true
}

func (s *samples) put(g *sampleGroup, f float64) {
	if g.buckets != nil {
		g.buckets.add(f, 1)
		return
	}
	if len(g.values) == maxSamples && !s.exact {
		g.spill()
		g.buckets.add(f, 1)
		return
	}
	before := cap(g.values)
	g.values = append(g.values, f)
	s.held += int64(8 * (cap(g.values) - before))
}

func (g *sampleGroup) spill() {
	g.buckets = &buckets{}
	for _, x := range g.values {
		g.buckets.add(x, 1)
	}
	g.values = nil
}

func (s *samples) Merge(o Accumulator, to []uint32) error {
	other := o.(*samples)
	for from := range other.groups {
		a, b := &s.groups[to[from]], &other.groups[from]
		for _, x := range b.values {
			s.put(a, x)
		}
		if b.buckets == nil {
			continue
		}
		if a.buckets == nil {
			a.spill()
		}
		for i, c := range b.buckets.counts {
			if c > 0 {
				a.buckets.add(min(max(bucketStart(b.buckets.first+i), b.buckets.min), b.buckets.max), c)
			}
		}
		a.buckets.max = max(a.buckets.max, b.buckets.max)
	}
	return nil
}

func (s *samples) Result(n int) (*vector.Vector, error) {
	s.Grow(n)
	out, some := &vector.Vector{Type: f64, Floats: make([]float64, n)}, make([]bool, n)
	for i := range n {
		g := &s.groups[i]
		switch {
		case g.buckets != nil:
			out.Floats[i], some[i] = g.buckets.quantile(s.p), true
		case len(g.values) > 0:
			out.Floats[i], some[i] = interpolate(g.values, s.p), true
		}
	}
	out.Valid = validOf(some)
	if s.t == f64 {
		return out, nil
	}
	as := &vector.Vector{Type: s.t}
	conv := integerConverter(s.t)
	for i := range n {
		if !some[i] || !conv(out, i, as) {
			as.AppendNulls(i, 1)
		} else if as.Valid != nil {
			as.Valid = growBit(as.Valid, i)
		}
	}
	return as, nil
}

// interpolate is the value at rank p*(n-1) of sorted values, linear between neighbours. It sorts values.
func interpolate(values []float64, p float64) float64 {
	slices.SortFunc(values, func(a, b float64) int { return order(sortableFloat(a), sortableFloat(b)) })
	rank := p * float64(len(values)-1)
	lo := int(math.Floor(rank))
	hi := min(lo+1, len(values)-1)
	if lo == hi || rank == float64(lo) {
		return values[lo]
	}
	return values[lo] + (values[hi]-values[lo])*(rank-float64(lo))
}

// sketches is approx_distinct: HyperLogLog with 2^14 registers, exact for few values.
type sketches struct {
	s   []*hyperloglog.Sketch
	key []byte
}

func (s *sketches) Grow(n int) {
	for len(s.s) < n {
		s.s = append(s.s, hyperloglog.New14())
	}
}

func (s *sketches) Bytes() int64 { return int64(len(s.s)) * 4096 }

func (s *sketches) Add(n int, groups []uint32, args []*vector.Vector, keep vector.Bitmap) error {
	eachRow(n, args[0], keep, func(i int) {
		s.key = AppendKey(s.key[:0], args[0], i)
		s.s[groups[i]].Insert(s.key)
	})
	return nil
}

func (s *sketches) Merge(o Accumulator, to []uint32) error {
	for from, k := range o.(*sketches).s {
		if err := s.s[to[from]].Merge(k); err != nil {
			return execError("approx_distinct: %v", err)
		}
	}
	return nil
}

func (s *sketches) Result(n int) (*vector.Vector, error) {
	s.Grow(n)
	v := &vector.Vector{Type: vector.Uint64Type}
	for _, k := range s.s[:n] {
		v.Uints = append(v.Uints, k.Estimate())
	}
	return v, nil
}

// lists is array_agg and string_agg: the values of each group, by the order keys or as they come.
type lists struct {
	a     *Agg
	sep   string
	text  bool
	nulls bool
	items [][]listItem
	size  int64
}

type listItem struct {
	key  []byte
	data []byte
}

func (l *lists) Grow(n int)   { l.items = grown(l.items, n) }
func (l *lists) Bytes() int64 { return l.size + int64(24*cap(l.items)) }

func (l *lists) Add(n int, groups []uint32, args []*vector.Vector, keep vector.Bitmap) error {
	v := args[0]
	look := v
	if l.nulls {
		look = nil
	}
	eachRow(n, look, keep, func(i int) {
		var it listItem
		for k, o := range l.a.Order {
			it.key = AppendSortKey(it.key, args[1+k], i, o.Desc, o.NullsFirst)
		}
		if l.text {
			it.data = append(it.data, v.Bytes(i)...)
		} else {
			it.data = AppendJSON(nil, v, i)
		}
		l.size += int64(len(it.key)+len(it.data)) + 48
		l.items[groups[i]] = append(l.items[groups[i]], it)
	})
	return nil
}

func (l *lists) Merge(o Accumulator, to []uint32) error {
	other := o.(*lists)
	for from, items := range other.items {
		l.items[to[from]] = append(l.items[to[from]], items...)
	}
	l.size += other.size
	return nil
}

func (l *lists) Result(n int) (*vector.Vector, error) {
	l.Grow(n)
	v := &vector.Vector{Type: l.a.T}
	for g, items := range l.items[:n] {
		if len(items) == 0 {
			v.AppendNulls(g, 1)
			continue
		}
		sort.SliceStable(items, func(i, j int) bool { return bytes.Compare(items[i].key, items[j].key) < 0 })
		sep := l.sep
		at := len(v.Heap)
		if !l.text {
			sep = ","
			v.Heap = append(v.Heap, '[')
		}
		for i, it := range items {
			if i > 0 {
				v.Heap = append(v.Heap, sep...)
			}
			v.Heap = append(v.Heap, it.data...)
		}
		if !l.text {
			v.Heap = append(v.Heap, ']')
		}
		v.Views = append(v.Views, vector.View{Off: uint32(at), Len: uint32(len(v.Heap) - at)})
		if v.Valid != nil {
			v.Valid = growBit(v.Valid, g)
		}
	}
	return v, nil
}
