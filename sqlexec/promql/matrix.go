package promql

import (
	"cmp"
	"context"
	"math/bits"
	"sync/atomic"

	"varve/engine/sorting"
	"varve/engine/status"
	"varve/sqlexec/promql/histogram"
)

// grid is the steps that a node is evaluated at: start, start+step, ... in ms. n is at least 1.
type grid struct {
	start, step int64
	n           int
}

func (g grid) at(i int) int64 { return g.start + int64(i)*g.step }
func (g grid) first() grid    { return grid{g.start, g.step, 1} }
func (g grid) words() int     { return (g.n + 63) / 64 }

// bitmap has a bit for each step. Bits beyond the last step are zero.
type bitmap []uint64

func (b bitmap) has(i int) bool { return b[i>>6]>>(i&63)&1 != 0 }
func (b bitmap) set(i int)      { b[i>>6] |= 1 << (i & 63) }
func (b bitmap) unset(i int)    { b[i>>6] &^= 1 << (i & 63) }

func (b bitmap) empty() bool {
	for _, w := range b {
		if w != 0 {
			return false
		}
	}
	return true
}

func (b bitmap) count() (n int) {
	for _, w := range b {
		n += bits.OnesCount64(w)
	}
	return n
}

// or sets the bits of o.
func (b bitmap) or(o bitmap) {
	for i, w := range o {
		b[i] |= w
	}
}

// overlaps finds the first step that both have; -1 if there is none.
func (b bitmap) overlaps(o bitmap) int {
	for i, w := range o {
		if w &= b[i]; w != 0 {
			return i<<6 + bits.TrailingZeros64(w)
		}
	}
	return -1
}

// first returns the first step with a value; -1 if there is none.
func (b bitmap) first() int { return b.overlaps(b) }

// fill sets the first n bits.
func (b bitmap) fill(n int) {
	for i := range b {
		b[i] = ^uint64(0)
	}
	if rest := n & 63; rest != 0 {
		b[len(b)-1] = 1<<rest - 1
	}
}

// steps yields the steps whose bits are set.
func (b bitmap) steps(yield func(int) bool) {
	for i, w := range b {
		for ; w != 0; w &= w - 1 {
			if !yield(i<<6 + bits.TrailingZeros64(w)) {
				return
			}
		}
	}
}

// row is what one label set has at the steps of a grid. Once a node has yielded it, it does not change.
type row struct {
	identity

	vals []float64 // one a step; counts where has says so and hist has nothing
	has  bitmap
	hist *[]*histogram.Histogram // nil: floats only, as nearly all rows have; else one a step
}

// histogram is the histogram of a step; nil for a float or nothing.
func (r *row) histogram(i int) *histogram.Histogram {
	if r.hist == nil {
		return nil
	}
	return (*r.hist)[i]
}

// histograms returns the histograms of all steps; nil if there are none.
func (r *row) histograms() []*histogram.Histogram {
	if r.hist == nil {
		return nil
	}
	return *r.hist
}

// put sets a step to a float.
func (r *row) put(i int, v float64) {
	r.vals[i] = v
	r.has.set(i)
}

// putHistogram sets a step to a histogram.
func (r *row) putHistogram(i int, h *histogram.Histogram) {
	if r.hist == nil {
		all := make([]*histogram.Histogram, len(r.vals))
		r.hist = &all
	}
	(*r.hist)[i] = h
	r.has.set(i)
}

// copyStep takes what another row has at a step.
func (r *row) copyStep(o *row, i int) {
	if h := o.histogram(i); h != nil {
		r.putHistogram(i, h)
		return
	}
	r.put(i, o.vals[i])
}

// floats is the bitmap of the steps with floats.
func (r *row) floats() bitmap {
	if r.hist == nil {
		return r.has
	}
	out := make(bitmap, len(r.has))
	for i := range r.has.steps {
		if (*r.hist)[i] == nil {
			out.set(i)
		}
	}
	return out
}

// weight is how many samples the row holds, for the limit of a query.
func (r *row) weight() (n int64) {
	n = int64(r.has.count())
	for _, h := range r.histograms() {
		if h != nil {
			n += int64(h.Weight()) - 1
		}
	}
	return n
}

// histogramBytes is the memory of the row's histograms; one that several steps in turn have counts once.
func (r *row) histogramBytes() (n int64) {
	var before *histogram.Histogram
	for _, h := range r.histograms() {
		if h != nil && h != before {
			n += h.Bytes()
		}
		before = h
	}
	return n
}

// nodeMatrix is the rows of a node. Their label sets differ unless the name is still to go.
type nodeMatrix []row

func (m nodeMatrix) weight() (n int64) {
	for i := range m {
		n += m[i].weight()
	}
	return n
}

// bytes is the memory of the rows.
func (m nodeMatrix) bytes() (n int64) {
	for i := range m {
		n += int64(8*(cap(m[i].vals)+cap(m[i].has)+cap(m[i].histograms()))) + rowBytes + m[i].ownBytes() +
			m[i].histogramBytes()
	}
	return n
}

// settle makes rows keep their label sets without the names to be removed: only rows with such names, or all.
func (m nodeMatrix) settle(ctx context.Context, l *queryLimits, all bool) error {
	bytes := int64(0)
	for i := range m {
		r := &m[i]
		if r.dropName || all && !r.keeps() {
			ls := r.labels()
			if r.dropName {
				ls = ls.nameless()
			}
			r.identity = named(ls, r.text())
			bytes += setBytes(ls)
		}
		if i%chunkRows == chunkRows-1 || i == len(m)-1 {
			if err := cmp.Or(ctx.Err(), l.reserve(bytes)); err != nil {
				return err
			}
			bytes = 0
		}
	}
	return nil
}

// sort puts the rows into another order, equal ones in their old order. compare gets the numbers of rows.
func (m nodeMatrix) sort(ctx context.Context, l *queryLimits, compare func(a, b int32) int) error {
	bytes := int64(len(m)) * 4
	if err := l.reserve(bytes); err != nil {
		return err
	}
	defer l.release(bytes)
	order := make([]int32, len(m)) // rows are too long to be moved again and again
	for i := range order {
		order[i] = int32(i)
	}
	err := sorting.Func(order, func(a, b int32) int { return cmp.Or(compare(a, b), int(a-b)) }, ctx.Err)
	if err != nil {
		return err
	}
	moved := 0
	for i := range order { // along each cycle of rows that change places
		r, at := m[i], int32(i)
		for from := order[at]; from != int32(i) && from >= 0; from = order[at] {
			m[at], order[at], at = m[from], -1, from
			if moved++; moved%askSeries == 0 && ctx.Err() != nil {
				return ctx.Err()
			}
		}
		if order[at] >= 0 {
			m[at], order[at] = r, -1
		}
	}
	return nil
}

// arena allocates rows of one length, many with one allocation. One goroutine at a time.
type arena struct {
	limits *queryLimits
	n      int // steps
	words  int
	vals   []float64
	has    bitmap
	next   int  // rows of the next chunk
	room   bool // for the rows themselves is counted already
}

// chunkRows bounds how many rows an arena allocates at once: with 361 steps 128 rows are 370 kB, and stay in the
// second-level cache while they are made.
const chunkRows = 128

func newArena(l *queryLimits, g grid) *arena { return &arena{limits: l, n: g.n, words: g.words()} }

// row makes an empty row.
func (a *arena) row() (row, error) {
	if len(a.vals) < a.n {
		a.next = min(max(2*a.next, 1), chunkRows)
		if a.n > chunkRows*512 {
			a.next = 1
		}
		each := int64(8*a.n + 8*a.words)
		if !a.room {
			each += rowBytes
		}
		if err := a.limits.reserve(int64(a.next) * each); err != nil {
			return row{}, err
		}
		a.vals = make([]float64, a.next*a.n)
		a.has = make(bitmap, a.next*a.words)
	}
	r := row{vals: a.vals[:a.n:a.n], has: a.has[:a.words:a.words]}
	a.vals, a.has = a.vals[a.n:], a.has[a.words:]
	return r, nil
}

// named makes an empty row with a label set of its own.
func (a *arena) named(ls Labels, dropName bool) (row, error) {
	if err := a.limits.reserve(setBytes(ls)); err != nil {
		return row{}, err
	}
	r, err := a.row()
	r.identity = named(ls, 0)
	r.dropName = dropName
	return r, err
}

// reuse takes a row back that was made last and stayed empty.
func (a *arena) reuse(r row) {
	clear(r.vals)
	clear(r.has)
	a.vals = a.vals[:0:0]
	a.vals, a.has = append(r.vals, a.vals...), append(r.has, a.has...)
}

// Memory accounts the memory of a query; exec.Budget is one. The owner gives back the rest at the end of the query.
type Memory interface {
	Reserve(bytes int64) error
	Release(bytes int64)
}

// queryLimits counts what a query holds. Safe for concurrent use.
type queryLimits struct {
	memory  Memory       // nil: no limit
	max     int64        // samples
	bytes   atomic.Int64 // that rows take
	samples atomic.Int64
	peak    atomic.Int64
	read    atomic.Int64
}

func (l *queryLimits) reserve(bytes int64) error {
	l.bytes.Add(bytes)
	if l.memory == nil {
		return nil
	}
	return l.memory.Reserve(bytes)
}

// keep returns the memory that a node took without the rows that it yielded. held and bytes are the amounts before.
func (l *queryLimits) keep(m nodeMatrix, held, bytes int64) {
	l.samples.Store(held + m.weight())
	if spare := l.bytes.Load() - bytes - m.bytes(); spare > 0 {
		l.release(spare)
	}
}

// adjust takes or gives back what rows take more or less.
func (l *queryLimits) adjust(bytes int64) error {
	if bytes > 0 {
		return l.reserve(bytes)
	}
	if bytes < 0 {
		l.release(-bytes)
	}
	return nil
}

func (l *queryLimits) release(bytes int64) {
	l.bytes.Add(-bytes)
	if l.memory != nil {
		l.memory.Release(bytes)
	}
}

// hold counts samples that the query keeps, and fails where they are too many.
func (l *queryLimits) hold(n int64) error {
	now := l.samples.Add(n)
	for p := l.peak.Load(); now > p && !l.peak.CompareAndSwap(p, now); p = l.peak.Load() {
	}
	if now > l.max {
		return errTooMany
	}
	return nil
}

var errTooMany = status.New(status.EngineExecuteQuery,
	"query processing would load too many samples into memory in query execution")
