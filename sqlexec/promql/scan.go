package promql

import (
	"context"
	"math"
	"slices"
	"sync"

	"github.com/prometheus/prometheus/util/annotations"

	"varve/sqlexec/exec"
	"varve/sqlexec/promql/histogram"
)

// smallScan is the number of cells of rows below which a scan runs on the caller, and seriesCells what it takes to
// reach the samples of a series, in cells.
const smallScan, seriesCells = 50_000, 100

// sampleRows is rows that are made from the samples of series, one row a series.
type sampleRows struct {
	set      SeriesSet
	of       *origin // of the rows, made by the scan
	dropName func(i int) bool
	// kernel fills the row of the series that the worker has at hand.
	kernel func(w *worker, s Samples, out *row) error
}

// worker is the private state of one goroutine of a scan.
type worker struct {
	e     *evaluator
	g     grid
	notes annotations.Annotations
	arena *arena

	series   identity // at hand
	spans    []span
	split    split
	scratch  []float64
	queue    []int32
	trend    trend
	lastName string // the metric that was noted last
	ctx      context.Context
	work     int   // samples looked at since the context was asked
	made     int64 // bytes of the histograms that a series has brought forth
	ended    error // the context's, or that of memory
}

func (w *worker) note(err error) { w.notes.Add(err) }

// askEvery is how many samples of windows are looked at before the context is asked: about a millisecond.
const askEvery = 1 << 19

// goOn counts samples of windows; false once the query has ended.
func (w *worker) goOn(n int) bool {
	if w.work += n; w.work >= askEvery {
		w.work, w.ended = 0, w.ctx.Err()
	}
	return w.ended == nil
}

// scan makes the rows of a source. A worker has a range of series of its own; take gets each row that has values, with
// the number of its series, and keeps it where keep says so: else it is written over.
func (e *evaluator) scan(src *sampleRows, g grid, keep bool, take func(worker, i int, r *row) error) error {
	src.of = originOf(src.set)
	all := make([]*worker, e.workersFor(src, g))
	ctx, cancel := context.WithCancel(e.ctx)
	defer cancel()
	n := src.set.Len()
	var first error
	var once sync.Once
	err := exec.Spread(ctx, len(all), len(all), func(k int) error {
		all[k] = &worker{e: e, g: g, arena: newArena(e.limits, g)}
		all[k].arena.room = keep
		from, to := share(n, k, len(all))
		err := all[k].run(ctx, src, k, from, to, keep, take)
		if err != nil { // the other workers can stop
			once.Do(func() { first = err })
			cancel()
		}
		return err
	})
	for _, w := range all {
		if w != nil {
			e.notes.Merge(w.notes)
		}
	}
	switch {
	case e.ctx.Err() != nil:
		return e.ctx.Err()
	case first != nil:
		return first
	}
	return err // of a worker that panicked
}

// share is the series [from, to) of n that the k'th of some workers reads.
func share(n, k, workers int) (from, to int) { return n * k / workers, n * (k + 1) / workers }

// workersFor is how many goroutines a scan is worth.
func (e *evaluator) workersFor(src *sampleRows, g grid) int {
	n := src.set.Len()
	if n*(g.n+seriesCells) < smallScan {
		return 1
	}
	return max(1, min(e.workers, n))
}

func (w *worker) run(ctx context.Context, src *sampleRows, k, from, to int, keep bool,
	take func(worker, i int, r *row) error) error {
	var r row
	w.ctx = ctx
	return src.set.Scan(ctx, from, to, func(i int, s Samples) (err error) {
		if r.vals == nil {
			if r, err = w.arena.row(); err != nil {
				return err
			}
		}
		if !w.goOn(w.g.n + askEvery/64) {
			return w.ended
		}
		w.e.limits.read.Add(int64(len(s.T)))
		w.series = identity{of: src.of, at: int32(i), dropName: src.dropName(i)}
		if err := src.kernel(w, s, &r); err != nil {
			return err
		}
		histograms := r.histogramBytes()
		if err := w.e.limits.adjust(histograms - w.made); err != nil {
			return err
		}
		w.made = 0
		if r.has.empty() {
			return nil
		}
		r.identity = w.series
		if err := take(k, i, &r); err != nil {
			return err
		}
		if keep {
			r = row{}
			return nil
		}
		clear(r.has)
		r.hist = nil
		return w.e.limits.adjust(-histograms)
	})
}

// rows makes all rows of a source.
func (e *evaluator) rows(src *sampleRows, g grid) (nodeMatrix, error) {
	n := src.set.Len()
	if err := e.limits.reserve(int64(n) * rowBytes); err != nil {
		return nil, err
	}
	all, parts := make(nodeMatrix, n), make([]nodeMatrix, e.workersFor(src, g))
	for k := range parts { // a worker has room where its series lie
		from, to := share(n, k, len(parts))
		parts[k] = all[from:from:to]
	}
	err := e.scan(src, g, true, func(k, _ int, r *row) error {
		parts[k] = append(parts[k], *r)
		return e.limits.hold(r.weight())
	})
	if err != nil {
		return nil, err
	}
	out := all[:len(parts[0])]
	for _, p := range parts[1:] {
		out = append(out, p...)
	}
	if len(out) < n/2 {
		return slices.Clone(out), nil
	}
	clear(all[len(out):])
	return out, nil
}

// open asks the storage for the series of a selector in a time, both ends included.
func (e *evaluator) open(vs *selectorNode, start, end int64) (SeriesSet, error) {
	if vs.counts {
		start -= e.lookback // what the first samples say of resets depends on those before
	}
	return e.openSelection(Selection{Matchers: vs.matchers, Start: start, End: end, Presence: vs.presence,
		Labels: vs.labels})
}

func (e *evaluator) openSelection(sel Selection) (SeriesSet, error) {
	set, err := e.store.Select(e.ctx, sel)
	if err != nil {
		return nil, err
	}
	e.sets = append(e.sets, set)
	return set, nil
}

// clock maps the steps of a grid to the times of the data that a selector looks at: shifted by an offset, or one time
// for all, which then moves by 0.
type clock struct {
	g           grid
	start, step int64
}

func clockOf(g grid, timestamp *int64, offset int64) clock {
	if timestamp != nil {
		return clock{g, *timestamp - offset, 0}
	}
	return clock{g, g.start - offset, g.step}
}

func (c *clock) at(i int) int64 { return c.start + int64(i)*c.step }

// bounds are the first and the last time that steps look at.
func (c *clock) bounds() (first, last int64) { return c.at(0), c.at(c.g.n - 1) }

// metricName is the name of the metric of a label set.
func metricName(ls Labels) string { return ls.Get(NameLabel) }

// stale reports whether sample i ends the series.
func (s *Samples) stale(i int) bool {
	if s.H != nil && s.H[i] != nil {
		return isStale(s.H[i].Sum)
	}
	return isStale(s.V[i])
}

// set sets a step to sample i.
func (r *row) set(step int, s *Samples, i int, counts bool) {
	if s.H != nil && s.H[i] != nil {
		r.putHistogram(step, hinted(s.H, i, counts))
		return
	}
	r.put(step, s.V[i])
}

// span is the samples lo..hi-1 of a window.
type span struct{ lo, hi int32 }

// windowSpans finds for each step the samples with from < t <= to. Steps advance, so both ends only move forward.
func windowSpans(dst []span, ts []int64, c clock, from, to int64) []span {
	if cap(dst) < c.g.n {
		dst = make([]span, c.g.n)
	}
	dst = dst[:c.g.n]
	lo, hi := 0, 0
	after, until := c.start-from, c.start+to
	for i := range dst {
		for hi < len(ts) && ts[hi] <= until {
			hi++
		}
		for lo < hi && ts[lo] <= after {
			lo++
		}
		dst[i] = span{int32(lo), int32(hi)}
		after, until = after+c.step, until+c.step
	}
	return dst
}

// split is the samples of a series with floats apart from histograms, and without markers.
type split struct {
	ft, fst []int64
	fv      []float64
	ht, hst []int64
	h       []*histogram.Histogram
}

// take splits samples. Slices of a series of floats without markers are taken as they are.
func (p *split) take(s *Samples, counts bool) {
	if s.H == nil && !hasStale(s.V) {
		*p = split{ft: s.T, fv: s.V, fst: s.ST, h: p.h[:0], ht: p.ht[:0], hst: p.hst[:0]}
		return
	}
	*p = split{}
	for i, t := range s.T {
		if s.stale(i) {
			continue
		}
		var st int64
		if s.ST != nil {
			st = s.ST[i]
		}
		if s.H != nil && s.H[i] != nil {
			p.ht, p.h = append(p.ht, t), append(p.h, hinted(s.H, i, counts))
			if s.ST != nil {
				p.hst = append(p.hst, st)
			}
			continue
		}
		p.ft, p.fv = append(p.ft, t), append(p.fv, s.V[i])
		if s.ST != nil {
			p.fst = append(p.fst, st)
		}
	}
}

// hasStale looks for a marker. NaN is the only value that differs from itself.
func hasStale(vs []float64) bool {
	for _, v := range vs {
		if v != v && math.Float64bits(v) == staleBits {
			return true
		}
	}
	return false
}
