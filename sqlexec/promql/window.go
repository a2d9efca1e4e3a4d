package promql

import (
	"maps"
	"slices"
	"strings"

	"github.com/prometheus/prometheus/promql/parser/posrange"

	"varve/sqlexec/promql/histogram"
)

// window is the samples of a series that a range function sees at a step, floats and histograms apart. It has at least
// one.
type window struct {
	ft, fst []int64 // times and start times of floats; fst is nil when there are none
	fv      []float64
	ht, hst []int64
	h       []*histogram.Histogram
}

// mixed reports whether the window has both kinds.
func (w *window) mixed() bool { return len(w.ft) > 0 && len(w.ht) > 0 }

// windowValue is the value that a range function computes of a window: nothing, a float or a histogram.
type windowValue struct {
	ok bool
	v  float64
	h  *histogram.Histogram
}

func float(v float64) windowValue { return windowValue{ok: true, v: v} }

// rangeFunc is a function over windows.
type rangeFunc struct {
	// window computes one window.
	window func(k *kernel, i int, w *window) windowValue
	// floats computes all windows of a series that has floats only, without start times; nil where window is as good.
	floats func(k *kernel, spans []span, ts []int64, v []float64, out *row)

	keepsName bool
	startTime bool // looks at start times
	extended  bool // goes with anchored
	smoothed  bool // goes with smoothed
	counter   bool // expects the name of a counter

	check func(args [][]float64) error // refuses arguments; nil: all will do
}

// rangeCall is a call of a range function.
type rangeCall struct {
	*rangeFunc
	clock
	name      string
	rangeMS   int64
	anchored  bool
	smooth    bool
	counts    bool        // see countsOnly
	args      [][]float64 // the scalar arguments, each with a value a step
	pos       posrange.PositionRange
	argsPos   posrange.PositionRange // of all arguments
	matrixPos posrange.PositionRange
}

// kernel is a range call on a series.
type kernel struct {
	*rangeCall
	w *worker
}

func (k *kernel) metric() string { return metricName(k.w.series.labels()) }
func (k *kernel) note(err error) { k.w.note(err) }

// from and to are the edges of the window of a step.
func (k *kernel) from(i int) int64 { return k.at(i) - k.rangeMS }
func (k *kernel) to(i int) int64   { return k.at(i) }

// rangeSource makes rows of a call of a range function.
func (e *evaluator) rangeSource(n *callNode, fn *rangeFunc, g grid) (*sampleRows, *rangeCall, error) {
	c := &rangeCall{rangeFunc: fn, name: n.name, pos: n.pos, argsPos: n.argsPos}
	for i, arg := range n.args {
		if i == n.window {
			continue
		}
		v, err := e.values(arg, g)
		if err != nil {
			return nil, nil, err
		}
		c.args = append(c.args, v)
	}
	// Annotations point at the first argument, of any kind, except a subquery, for which they have no position.
	over := n.args[n.window]
	if _, sub := over.(*subqueryNode); !sub || n.window > 0 {
		c.matrixPos = n.args[0].base().pos
	}
	var set SeriesSet
	var err error
	drops := keepName
	switch over := over.(type) {
	case *rangeNode:
		set, err = e.openRange(c, over, g)
	case *subqueryNode:
		var rows *rowSet
		if rows, err = e.subquery(c, over, g); err == nil {
			set, drops = rows, rows.dropName
		}
	}
	if err != nil {
		return nil, nil, err
	}
	src := &sampleRows{set: set, kernel: c.run, dropName: func(int) bool { return true }}
	if fn.keepsName {
		src.dropName = drops
	}
	return src, c, nil
}

// openRange asks the storage for the series of a range selector.
func (e *evaluator) openRange(c *rangeCall, n *rangeNode, g grid) (SeriesSet, error) {
	vs := n.selector
	c.clock = clockOf(g, vs.at, vs.offset)
	c.rangeMS = n.rangeMS
	c.anchored, c.smooth, c.counts = vs.anchored, vs.smoothed, vs.counts
	start, end := c.bounds()
	start -= c.rangeMS
	switch {
	case c.anchored && !c.extended:
		return nil, execution("anchored modifier can only be used with: %s - not with %s",
			functionsThat(func(f *rangeFunc) bool { return f.extended }), c.name)
	case c.smooth && !c.rangeFunc.smoothed:
		return nil, execution("smoothed modifier can only be used with: %s - not with %s",
			functionsThat(func(f *rangeFunc) bool { return f.smoothed }), c.name)
	}
	if c.anchored || c.smooth {
		start -= e.lookback
	}
	if c.smooth {
		end += e.lookback
	}
	return e.open(vs, start+1, end)
}

// functionsThat lists the range functions that pass.
func functionsThat(pass func(*rangeFunc) bool) string {
	var names []string
	for _, name := range slices.Sorted(maps.Keys(functions)) {
		if over := functions[name].over; over != nil && pass(over) {
			names = append(names, name)
		}
	}
	return strings.Join(names, ", ")
}

// run fills the row of a series.
func (c *rangeCall) run(w *worker, s Samples, out *row) error {
	before, after := c.rangeMS, int64(0)
	if c.anchored || c.smooth {
		before += w.e.lookback
	}
	if c.smooth {
		after = w.e.lookback
	}
	k := &kernel{rangeCall: c, w: w}
	p := &w.split
	p.take(&s, c.counts)
	w.spans = windowSpans(w.spans, p.ft, c.clock, before, after)
	if !c.startTime {
		p.fst, p.hst = nil, nil
	}
	if c.floats != nil && len(p.h) == 0 && p.fst == nil && !c.anchored && !c.smooth {
		c.floats(k, w.spans, p.ft, p.fv, out)
	} else {
		k.windows(p, out)
	}
	if c.counter && !out.has.empty() {
		k.noteCounter(out)
	}
	return w.ended
}

// windows fills a row window by window.
func (k *kernel) windows(p *split, out *row) {
	before, after := k.rangeMS, int64(0)
	if k.anchored || k.smooth {
		before += k.w.e.lookback
	}
	if k.smooth {
		after = k.w.e.lookback
	}
	var hists []span
	if len(p.h) > 0 {
		hists = windowSpans(nil, p.ht, k.clock, before, after)
	}
	var win window
	for i, f := range k.w.spans {
		win.ft, win.fv = p.ft[f.lo:f.hi], p.fv[f.lo:f.hi]
		if len(p.fst) > 0 {
			win.fst = p.fst[f.lo:f.hi]
		}
		if hists != nil {
			h := hists[i]
			win.ht, win.h = p.ht[h.lo:h.hi], p.h[h.lo:h.hi]
			if len(p.hst) > 0 {
				win.hst = p.hst[h.lo:h.hi]
			}
		}
		n := len(win.ft) + len(win.ht)
		if n == 0 {
			continue
		}
		if !k.w.goOn(n + 100*len(win.ht)) {
			return
		}
		switch a := k.window(k, i, &win); {
		case !a.ok:
		case a.h != nil:
			if k.w.ended = k.w.e.limits.reserve(a.h.Bytes()); k.w.ended != nil {
				return
			}
			k.w.made += a.h.Bytes()
			out.putHistogram(i, a.h)
		default:
			out.put(i, a.v)
		}
	}
}
