package promql

import (
	"math"
	"time"

	"github.com/prometheus/prometheus/util/annotations"

	"varve/engine/vector"
	"varve/sqlexec/promql/histogram"
)

// call evaluates a function.
func (e *evaluator) call(n *callNode, g grid) (nodeMatrix, error) {
	f := n.function
	switch {
	case f.eval != nil:
		return f.eval(e, n, g)
	case f.over != nil:
		src, err := e.callSource(n, f.over, g)
		if err != nil {
			return nil, err
		}
		return e.rows(src, g)
	case f.clock != nil && len(n.args) == 0:
		return e.scalar(g, func(i int) float64 { return f.clock(time.Unix(g.at(i)/1000, 0).UTC()) })
	}
	return e.elementwise(n, f, g)
}

// callSource is rangeSource with the check of arguments that a function has.
func (e *evaluator) callSource(n *callNode, fn *rangeFunc, g grid) (*sampleRows, error) {
	src, c, err := e.rangeSource(n, fn, g)
	if err != nil {
		return nil, err
	}
	if fn.check != nil && src.set.Len() > 0 {
		return src, fn.check(c.args)
	}
	return src, nil
}

// scalarOf makes functions without arguments.
func scalarOf(f func(g grid, i int) float64) func(*evaluator, *callNode, grid) (nodeMatrix, error) {
	return func(e *evaluator, _ *callNode, g grid) (nodeMatrix, error) {
		return e.scalar(g, func(i int) float64 { return f(g, i) })
	}
}

// ofTwo makes functions of two scalars.
func ofTwo(f func(a, b float64) float64) func(*evaluator, *callNode, grid) (nodeMatrix, error) {
	return func(e *evaluator, n *callNode, g grid) (nodeMatrix, error) {
		a, err := e.values(n.args[0], g)
		if err != nil {
			return nil, err
		}
		b, err := e.values(n.args[1], g)
		if err != nil {
			return nil, err
		}
		return e.scalar(g, func(i int) float64 { return f(a[i], b[i]) })
	}
}

// floatFuncs are functions of one float.
var floatFuncs = map[string]func(float64) float64{
	"abs": math.Abs, "ceil": math.Ceil, "floor": math.Floor, "exp": math.Exp, "sqrt": math.Sqrt,
	"ln": math.Log, "log2": math.Log2, "log10": math.Log10,
	"sin": math.Sin, "cos": math.Cos, "tan": math.Tan, "asin": math.Asin, "acos": math.Acos, "atan": math.Atan,
	"sinh": math.Sinh, "cosh": math.Cosh, "tanh": math.Tanh, "asinh": math.Asinh, "acosh": math.Acosh,
	"atanh": math.Atanh,
	"rad":   func(v float64) float64 { return v * math.Pi / 180 },
	"deg":   func(v float64) float64 { return v * 180 / math.Pi },
	"sgn": func(v float64) float64 {
		switch {
		case v < 0:
			return -1
		case v > 0:
			return 1
		}
		return v
	},
}

// clockFuncs are functions of a time; without an argument that of the step.
var clockFuncs = map[string]func(time.Time) float64{
	"days_in_month": func(t time.Time) float64 {
		return float64(32 - time.Date(t.Year(), t.Month(), 32, 0, 0, 0, 0, time.UTC).Day())
	},
	"day_of_month": func(t time.Time) float64 { return float64(t.Day()) },
	"day_of_week":  func(t time.Time) float64 { return float64(t.Weekday()) },
	"day_of_year":  func(t time.Time) float64 { return float64(t.YearDay()) },
	"hour":         func(t time.Time) float64 { return float64(t.Hour()) },
	"minute":       func(t time.Time) float64 { return float64(t.Minute()) },
	"month":        func(t time.Time) float64 { return float64(t.Month()) },
	"year":         func(t time.Time) float64 { return float64(t.Year()) },
}

// histogramFuncs are functions of histograms.
var histogramFuncs = map[string]function{
	"histogram_count":  {hist: func(h *histogram.Histogram) float64 { return h.Count }, counts: true},
	"histogram_sum":    {hist: func(h *histogram.Histogram) float64 { return h.Sum }, counts: true},
	"histogram_avg":    {hist: func(h *histogram.Histogram) float64 { return h.Sum / h.Count }, counts: true},
	"histogram_stdvar": {hist: (*histogram.Histogram).Variance, buckets: true},
	"histogram_stddev": {hist: func(h *histogram.Histogram) float64 { return math.Sqrt(h.Variance()) }, buckets: true},

	"histogram_quantile":  {eval: (*evaluator).histogramQuantile, field: 2, buckets: true},
	"histogram_quantiles": {eval: (*evaluator).histogramQuantiles, buckets: true},
	"histogram_fraction":  {eval: (*evaluator).histogramFraction, buckets: true},
}

// elementwise evaluates functions that make a float of each value.
func (e *evaluator) elementwise(n *callNode, f *function, g grid) (nodeMatrix, error) {
	m, err := e.eval(n.args[0], g)
	switch {
	case err != nil:
		return nil, err
	case f.hist != nil:
		return e.mapRows(m, g, func(in, out *row) {
			for i, h := range in.histograms() {
				if h != nil && in.has.has(i) {
					out.put(i, f.hist(h))
				}
			}
		})
	case f.clock != nil:
		return e.mapFloats(m, g, func(_ int, v float64) float64 { return f.clock(time.Unix(int64(v), 0).UTC()) })
	}
	return e.mapFloats(m, g, func(_ int, v float64) float64 { return f.float(v) })
}

// round rounds to multiples of a scalar, or of one.
func (e *evaluator) round(n *callNode, g grid) (nodeMatrix, error) {
	m, err := e.eval(n.args[0], g)
	if err != nil {
		return nil, err
	}
	var multiples []float64 // nil: of one
	if len(n.args) > 1 {
		if multiples, err = e.values(n.args[1], g); err != nil {
			return nil, err
		}
	}
	return e.mapFloats(m, g, func(i int, v float64) float64 {
		to := 1.0
		if multiples != nil {
			to = multiples[i]
		}
		inverse := 1 / to // fewer digits are lost than by dividing
		return math.Floor(v*inverse+0.5) / inverse
	})
}

// mapFloats maps floats and leaves out histograms.
func (e *evaluator) mapFloats(m nodeMatrix, g grid, f func(i int, v float64) float64) (nodeMatrix, error) {
	return e.mapRows(m, g, func(in, out *row) {
		copy(out.has, in.floats())
		for i := range out.has.steps {
			out.vals[i] = f(i, in.vals[i])
		}
	})
}

// clamped makes functions that bound values by arguments, whose numbers are low and high; 0: there is no such bound.
func clamped(low, high int) func(*evaluator, *callNode, grid) (nodeMatrix, error) {
	return func(e *evaluator, n *callNode, g grid) (nodeMatrix, error) {
		m, err := e.eval(n.args[0], g)
		if err != nil {
			return nil, err
		}
		var bounds [2][]float64
		for k, at := range []int{low, high} {
			if at == 0 {
				continue
			}
			if bounds[k], err = e.values(n.args[at], g); err != nil {
				return nil, err
			}
		}
		return e.clamp(m, g, bounds[0], bounds[1])
	}
}

// clamp bounds values; nothing is left where the bounds cross.
func (e *evaluator) clamp(m nodeMatrix, g grid, low, high []float64) (nodeMatrix, error) {
	at := func(v []float64, i int, none float64) float64 {
		if v == nil {
			return none
		}
		return v[i]
	}
	return e.mapRows(m, g, func(in, out *row) {
		for i := range in.floats().steps {
			low, high := at(low, i, math.Inf(-1)), at(high, i, math.Inf(1))
			if high < low {
				continue
			}
			out.put(i, math.Max(low, math.Min(high, in.vals[i])))
		}
	})
}

// toScalar is the value of the only row with a float at a step, else NaN.
func (e *evaluator) toScalar(n *callNode, g grid) (nodeMatrix, error) {
	m, err := e.eval(n.args[0], g)
	if err != nil {
		return nil, err
	}
	out, err := e.scalar(g, func(int) float64 { return math.NaN() })
	if err != nil {
		return nil, err
	}
	seen := make([]uint8, g.n)
	err = e.eachRow(m, func(k int) error {
		for i := range m[k].floats().steps {
			if seen[i]++; seen[i] == 1 {
				out[0].vals[i] = m[k].vals[i]
			} else {
				out[0].vals[i], seen[i] = math.NaN(), 2
			}
		}
		return nil
	})
	return out, err
}

// sampleTimesOf makes timestamp and start_timestamp: the time of samples, or their start times, where the argument is a
// selector. Otherwise the first is the time of the step, and the second nothing.
func sampleTimesOf(starts bool) func(*evaluator, *callNode, grid) (nodeMatrix, error) {
	return func(e *evaluator, n *callNode, g grid) (nodeMatrix, error) {
		if vs, ok := n.args[0].(*selectorNode); ok {
			return e.sampleTimes(vs, g, starts)
		}
		m, err := e.eval(n.args[0], g)
		if err != nil || starts {
			return nil, err
		}
		return e.mapRows(m, g, func(in, out *row) {
			copy(out.has, in.has)
			for i := range out.vals {
				out.vals[i] = float64(g.at(i)) / 1000
			}
		})
	}
}

// absent is 1 at the steps at which the argument has nothing.
func (e *evaluator) absent(n *callNode, g grid) (nodeMatrix, error) {
	m, err := e.eval(n.args[0], g)
	if err != nil {
		return nil, err
	}
	return e.ones(m, n.args[0], g, false)
}

// absentOverTime is 1 at the steps at which no window has a sample.
func (e *evaluator) absentOverTime(n *callNode, g grid) (nodeMatrix, error) {
	src, err := e.callSource(n, n.over, g)
	if err != nil {
		return nil, err
	}
	m, err := e.rows(src, g)
	if err != nil {
		return nil, err
	}
	return e.ones(m, n.args[0], g, true)
}

// ones is a row of ones for the steps without any value. Its labels are those that the selector requires.
func (e *evaluator) ones(m nodeMatrix, arg node, g grid, dropName bool) (nodeMatrix, error) {
	out, err := e.scalar(g, func(int) float64 { return 1 })
	if err != nil {
		return nil, err
	}
	r := &out[0]
	err = e.eachRow(m, func(k int) error {
		for w := range r.has {
			r.has[w] &^= m[k].has[w]
		}
		return nil
	})
	if err != nil {
		return nil, err
	}
	if r.has.empty() {
		return nil, nil
	}
	var own Labels
	if windows, ok := arg.(*rangeNode); ok {
		arg = windows.selector
	}
	if vs, ok := arg.(*selectorNode); ok {
		seen := map[string]bool{}
		for _, m := range vs.matchers {
			if m.Name == NameLabel {
				continue
			}
			if m.Type == MatchEqual && !seen[m.Name] {
				own, seen[m.Name] = own.with(m.Name, m.Value), true
			} else {
				own = own.with(m.Name, "") // a second demand: none is known
			}
		}
	}
	r.identity = named(own, 0)
	r.dropName = dropName
	return out, nil
}

// ordered makes the functions that order rows.
func ordered(byLabel, descending bool) func(*evaluator, *callNode, grid) (nodeMatrix, error) {
	return func(e *evaluator, n *callNode, g grid) (nodeMatrix, error) {
		return e.sort(n, g, byLabel, descending)
	}
}

// sort orders the rows of an instant query; the answer of a range query is ordered by labels whatever is done here.
func (e *evaluator) sort(n *callNode, g grid, byLabel, descending bool) (nodeMatrix, error) {
	m, err := e.eval(n.args[0], g)
	if err != nil {
		return nil, err
	}
	if g.n > 1 {
		e.note(annotations.NewSortInRangeQueryWarning(n.pos))
	}
	if !byLabel {
		m, err = e.sift(m, func(_ int, r *row) { // histograms have no order: they go
			r.has, r.hist = r.floats(), nil
		})
		if err != nil {
			return nil, err
		}
	}
	if g.n > 1 {
		return m, nil
	}
	compare := byValue(m)
	if byLabel {
		if compare, err = e.byLabels(m, n.args[1:]); err != nil {
			return nil, err
		}
	}
	return m, m.sort(e.ctx, e.limits, func(a, b int32) int {
		switch {
		case !byLabel && math.IsNaN(m[a].vals[0]) != math.IsNaN(m[b].vals[0]): // NaN last, whichever way
			return int(vector.Bit(math.IsNaN(m[a].vals[0]))) - int(vector.Bit(math.IsNaN(m[b].vals[0])))
		case descending:
			return compare(b, a)
		}
		return compare(a, b)
	})
}

// byValue compares rows by number.
func byValue(m nodeMatrix) func(a, b int32) int {
	return func(a, b int32) int {
		x, y := m[a].vals[0], m[b].vals[0]
		return int(vector.Bit(x > y)) - int(vector.Bit(x < y))
	}
}

// byLabels compares rows by number: by the values of some labels in natural order, then by all labels.
func (e *evaluator) byLabels(m nodeMatrix, args []node) (func(a, b int32) int, error) {
	names := make([]string, 0, len(args))
	for _, arg := range args {
		names = append(names, text(arg))
	}
	if err := e.limits.reserve(int64(len(m)*len(names)) * 16); err != nil {
		return nil, err
	}
	values := make([]string, 0, len(m)*len(names)) // label sets may be made anew each time that they are asked for
	err := e.eachRow(m, func(i int) error {
		ls := m[i].labels()
		for _, name := range names {
			values = append(values, ls.Get(name))
		}
		return nil
	})
	return func(a, b int32) int {
		for k := range names {
			switch x, y := values[int(a)*len(names)+k], values[int(b)*len(names)+k]; {
			case x == y:
			case naturalLess(x, y):
				return -1
			default:
				return 1
			}
		}
		return m[a].labels().Compare(m[b].labels())
	}, err
}

func badLabel(kind, name, fn string) error {
	return execution("invalid %s label name in %s(): %s", kind, fn, name)
}
