package expr

import (
	"errors"
	"math"
	"slices"

	"varve/engine/vector"
)

// samples serves percentiles: all values as long as they are few, then counts in logarithmic buckets, whose width is
// 1/128 of a power of two, so that an estimate is off by less than 0.4 %. exact keeps all values.
type samples struct {
	cancellation
	t      vector.Type
	p      float64
	exact  bool
	groups []sampleGroup
	held   int64
	flat   vector.Vector
	later  sampleLog
}

type sampleGroup struct {
	values  []float64
	buckets *buckets
}

// maxSamples is the number of values of a group that are kept as they are.
const maxSamples = 512

// buckets counts values by their sign, exponent and the first 7 bits of their mantissa. The buckets of a sign and an
// exponent are a page. Only pages with values have counts: between 0 and 1 alone lie 1,022 others.
type buckets struct {
	pages    []uint16 // pages[i]-1 is the place among counts of page first+i; 0: it has no values
	first    int
	counts   [][pageBuckets]int64
	n        int64
	min, max float64
}

const (
	pageBits    = 7
	pageBuckets = 1 << pageBits
	// firstPages is the number of pages for which a group makes room at first: most values lie within a factor of 256.
	firstPages = 8
)

// bucketOf orders as the values do: the upper 19 bits of the sortable form.
func bucketOf(f float64) int { return int(SortableFloat(f) >> 45) }

// bucketStart is the smallest value of a bucket.
func bucketStart(b int) float64 {
	u := uint64(b) << 45
	if u>>63 != 0 {
		return math.Float64frombits(u &^ (1 << 63))
	}
	return math.Float64frombits(^u)
}

// add adds k times a value.
func (b *buckets) add(f float64, k int64) {
	i := bucketOf(f)
	b.page(i >> pageBits)[i%pageBuckets] += k
	if b.n == 0 || f < b.min {
		b.min = f
	}
	if b.n == 0 || f > b.max {
		b.max = f
	}
	b.n += k
}

// page returns the counts of a page, and makes them if there are none.
func (b *buckets) page(p int) *[pageBuckets]int64 {
	switch {
	case len(b.pages) == 0:
		b.first, b.pages = p, make([]uint16, 1)
	case p < b.first:
		b.pages = append(make([]uint16, b.first-p), b.pages...)
		b.first = p
	case p >= b.first+len(b.pages):
		b.pages = append(b.pages, make([]uint16, p+1-b.first-len(b.pages))...)
	}
	at := &b.pages[p-b.first]
	if *at == 0 {
		if len(b.counts) == 0 {
			b.counts = make([][pageBuckets]int64, 0, firstPages)
		}
		b.counts = append(b.counts, [pageBuckets]int64{})
		*at = uint16(len(b.counts))
	}
	return &b.counts[*at-1]
}

// addAll adds values.
func (b *buckets) addAll(values []float64) {
	for _, f := range values {
		if !b.count(f) {
			b.add(f, 1)
		}
	}
}

// quantile interpolates inside the bucket that holds the wanted rank. The ends are exact.
func (b *buckets) quantile(p float64) float64 {
	switch p {
	case 0:
		return b.min
	case 1:
		return b.max
	}
	rank := p * float64(b.n-1)
	seen := 0.0
	for p, at := range b.pages {
		if at == 0 {
			continue
		}
		for i, c := range b.counts[at-1] {
			if c > 0 && seen+float64(c) > rank {
				bucket := (b.first+p)*pageBuckets + i
				lo, hi := max(bucketStart(bucket), b.min), min(bucketStart(bucket+1), b.max)
				if hi < lo {
					return lo
				}
				return lo + (hi-lo)*(rank-seen+0.5)/float64(c)
			}
			seen += float64(c)
		}
	}
	return b.max
}

func (s *samples) Grow(n int)   { s.groups = vector.Extended(s.groups, n) }
func (s *samples) Bytes() int64 { return s.held + int64(32*cap(s.groups)) + s.later.bytes() }

func (s *samples) Add(n int, groups []uint32, args []*vector.Vector, keep vector.Bitmap) error {
	v := flatten(args[0], n, &s.flat)
	if keep == nil && v.Valid == nil {
		x := v.Floats[:n]
		if len(s.groups) >= minLogGroups && len(s.groups) <= maxLogGroups {
			if s.later.add(groups[:n], x) {
				return s.settle()
			}
			return nil
		}
		for i, g := range groups[:n] {
			if g := &s.groups[g]; g.buckets == nil || !g.buckets.count(x[i]) {
				if err := s.put(g, x[i]); err != nil {
					return err
				}
			}
		}
		return nil
	}
	var err error
	eachRow(n, v, keep, func(i int) {
		if err == nil {
			err = s.put(&s.groups[groups[i]], v.Floats[i])
		}
	})
	return err
}

// count counts a positive number that lies between those seen; false: add must look at it.
func (b *buckets) count(f float64) bool {
	i := (math.Float64bits(f) | 1<<63) >> 45
	p := i>>pageBits - uint64(b.first)
	if p >= uint64(len(b.pages)) || b.pages[p] == 0 || !(f > 0 && f >= b.min && f <= b.max) {
		return false
	}
	b.counts[b.pages[p]-1][i%pageBuckets]++
	b.n++
	return true
}

func (s *samples) put(g *sampleGroup, f float64) error {
	before := g.bytes()
	switch {
	case g.buckets != nil:
		g.buckets.add(f, 1)
	case len(g.values) == maxSamples && !s.exact:
		g.spill()
		g.buckets.add(f, 1)
	default:
		g.values = append(g.values, f)
		s.held += g.bytes() - before
		return nil
	}
	return s.grown(g.bytes() - before)
}

// grown counts what the values or buckets of a group have grown by.
func (s *samples) grown(bytes int64) error {
	s.held += bytes
	return s.hold(bytes)
}

func (g *sampleGroup) spill() {
	g.buckets = &buckets{}
	if len(g.values) > 0 {
		g.buckets.addAll(g.values)
	}
	g.values = nil
}

// putAll adds values to a group.
func (s *samples) putAll(g *sampleGroup, values []float64) error {
	before := g.bytes()
	switch {
	case g.buckets == nil && (s.exact || len(g.values)+len(values) <= maxSamples):
		g.values = append(g.values, values...)
	default:
		if g.buckets == nil {
			g.spill()
		}
		g.buckets.addAll(values)
	}
	return s.grown(g.bytes() - before)
}

// bytes is the memory of a group's values or counts.
func (g *sampleGroup) bytes() int64 {
	n := int64(8 * cap(g.values))
	if g.buckets != nil {
		n += int64(2*cap(g.buckets.pages) + 8*pageBuckets*cap(g.buckets.counts))
	}
	return n
}

// settle adds the values that were put off to their groups.
func (s *samples) settle() error {
	l := &s.later
	if len(l.groups) == 0 {
		return nil
	}
	ends := l.byGroup(len(s.groups))
	from := uint32(0)
	for g, end := range ends {
		if end > from {
			if err := s.putAll(&s.groups[g], l.sorted[from:end]); err != nil {
				return err
			}
		}
		from = end
	}
	l.groups, l.values = l.groups[:0], l.values[:0]
	return nil
}

func (s *samples) Merge(o Accumulator, from, to []uint32) error {
	other := o.(*samples)
	if err := errors.Join(s.settle(), other.settle()); err != nil {
		return err
	}
	for i, g := range to {
		a, b := &s.groups[g], &other.groups[from[i]]
		for values := b.values; len(values) > 0; {
			some := values[:min(cancelRows, len(values))]
			values = values[len(some):]
			if err := s.did(len(some)); err != nil {
				return err
			}
			if err := s.putAll(a, some); err != nil {
				return err
			}
		}
		if b.buckets == nil {
			continue
		}
		before := a.bytes()
		if a.buckets == nil {
			a.spill()
		}
		a.buckets.merge(b.buckets)
		if err := s.grown(a.bytes() - before); err != nil {
			return err
		}
		if err := s.did(len(b.buckets.counts) * pageBuckets); err != nil {
			return err
		}
	}
	return nil
}

// merge adds the counts of o, which has some.
func (b *buckets) merge(o *buckets) {
	for p, at := range o.pages {
		if at == 0 {
			continue
		}
		counts := b.page(o.first + p)
		for i, c := range o.counts[at-1] {
			counts[i] += c
		}
	}
	if b.n == 0 || o.min < b.min {
		b.min = o.min
	}
	if b.n == 0 || o.max > b.max {
		b.max = o.max
	}
	b.n += o.n
}

func (s *samples) Result(n int) (*vector.Vector, error) { return s.percentile(n, s.p, s.t) }

// percentile returns one for each of n groups.
func (s *samples) percentile(n int, p float64, t vector.Type) (*vector.Vector, error) {
	if err := s.settle(); err != nil {
		return nil, err
	}
	s.Grow(n)
	out, some := &vector.Vector{Type: f64, Floats: make([]float64, n)}, make([]bool, n)
	for i := range n {
		g := &s.groups[i]
		switch {
		case g.buckets != nil:
			out.Floats[i], some[i] = g.buckets.quantile(p), true
		case len(g.values) > 0:
			var err error
			if out.Floats[i], err = interpolate(g.values, p, s.did); err != nil {
				return nil, err
			}
			some[i] = true
		}
		if err := s.did(1); err != nil {
			return nil, err
		}
	}
	return asType(out, some, t), nil
}

// furtherPercentile is another percentile of the values that the samples in of keep.
type furtherPercentile struct {
	of *samples
	p  float64
	t  vector.Type
}

func (f *furtherPercentile) Grow(int)     {}
func (f *furtherPercentile) Bytes() int64 { return 0 }

func (f *furtherPercentile) Add(int, []uint32, []*vector.Vector, vector.Bitmap) error { return nil }

func (f *furtherPercentile) Merge(Accumulator, []uint32, []uint32) error { return nil }

func (f *furtherPercentile) Result(n int) (*vector.Vector, error) {
	return f.of.percentile(n, f.p, f.t)
}

// interpolate is the value at rank p*(n-1) of the values if they were sorted, linear between neighbours. It changes
// their order.
func interpolate(values []float64, p float64, did func(n int) error) (float64, error) {
	numbers := values // NaN comes after them
	for i := 0; i < len(numbers); i++ {
		for len(numbers) > i && numbers[i] != numbers[i] {
			last := len(numbers) - 1
			numbers[i], numbers[last] = numbers[last], numbers[i]
			numbers = numbers[:last]
		}
	}
	rank := p * float64(len(values)-1)
	lo := int(math.Floor(rank))
	if lo >= len(numbers) {
		return math.NaN(), nil
	}
	if err := nth(numbers, lo, did); err != nil {
		return 0, err
	}
	switch {
	case rank == float64(lo):
		return values[lo], nil
	case lo+1 == len(numbers):
		return math.NaN(), nil // the neighbour is
	}
	next := slices.Min(numbers[lo+1:])
	return values[lo] + (next-values[lo])*(rank-float64(lo)), nil
}
