package promql_test

import (
	"fmt"
	"math"
	"math/rand/v2"
	"strings"

	"varve/sqlexec/promql"
	"varve/sqlexec/promql/histogram"
)

// randomStore makes series of all kinds: counters with resets, gauges, histograms, mixtures; with gaps, markers, NaN
// and infinities; some with start times.
func randomStore(r *rand.Rand) *memoryStore {
	s := newMemory()
	for i := range 3 {
		for _, zone := range []string{"a", "b"} {
			host := fmt.Sprintf("h%d", i)
			s.Add(promql.NewLabels("__name__", "requests_total", "host", host, "zone", zone), floats(r, true)...)
			s.Add(promql.NewLabels("__name__", "load", "host", host, "zone", zone), floats(r, false)...)
			for _, le := range []string{"0.1", "1", "5", "+Inf", "x"}[:4+r.IntN(2)] {
				s.Add(promql.NewLabels("__name__", "lat_bucket", "host", host, "zone", zone, "le", le),
					floats(r, true)...)
			}
			s.Add(promql.NewLabels("__name__", "size", "host", host, "zone", zone), histograms(r, i%2 == 1)...)
		}
		s.Add(promql.NewLabels("__name__", "mixed", "host", fmt.Sprintf("h%d", i)),
			append(floats(r, true)[:20], histograms(r, false)[20:]...)...)
		s.Add(promql.NewLabels("__name__", "host_info", "instance", fmt.Sprintf("i%d", i), "job", "j", "team",
			fmt.Sprintf("t%d", i)), steady(r)...)
		s.Add(promql.NewLabels("__name__", "load", "instance", fmt.Sprintf("i%d", i), "job", "j"), floats(r, false)...)
		s.Add(promql.NewLabels("__name__", "version", "host", fmt.Sprintf("h%d", i), "ver",
			fmt.Sprintf("1.%d", r.IntN(2))), steady(r)...)
	}
	return s
}

// times are those of 60 samples or fewer, evenly spaced or not.
func times(r *rand.Rand) []int64 {
	var out []int64
	jitter := r.IntN(2) * 9_000
	gap := r.IntN(10)
	for k := range 60 {
		t := int64(k) * minute
		if jitter > 0 {
			t += int64(r.IntN(jitter))
		}
		if gap == 0 && k%13 > 5 {
			continue
		}
		out = append(out, t)
	}
	return out
}

func floats(r *rand.Rand, counter bool) []memorySample {
	var out []memorySample
	v, start := float64(r.IntN(50)), int64(0)
	starts := counter && r.IntN(4) == 0
	for _, t := range times(r) {
		switch x := r.IntN(60); {
		case x == 0:
			out = append(out, memorySample{T: t, V: promql.Stale})
			continue
		case x == 1 && !counter:
			out = append(out, memorySample{T: t, V: []float64{math.NaN(), math.Inf(1), math.Inf(-1)}[r.IntN(3)]})
			continue
		case x < 5 && counter:
			v, start = float64(r.IntN(3)), t-int64(r.IntN(60_000))
		}
		if counter {
			v += float64(r.IntN(40)) / 4
		} else {
			v = float64(r.IntN(200)-100) / 8
		}
		s := memorySample{T: t, V: v}
		if starts {
			s.ST = start
		}
		out = append(out, s)
	}
	for len(out) < 40 {
		out = append(out, memorySample{T: out[len(out)-1].T + minute, V: v})
	}
	return out
}

func steady(r *rand.Rand) []memorySample {
	var out []memorySample
	for _, t := range times(r) {
		out = append(out, memorySample{T: t, V: 1})
	}
	return out
}

// histograms make a counter, or now and then a gauge, of one layout, which may change once.
func histograms(r *rand.Rand, custom bool) []memorySample {
	var out []memorySample
	h := randomHistogram(r, custom)
	gauge := r.IntN(3) == 0
	for _, t := range times(r) {
		switch r.IntN(50) {
		case 0:
			out = append(out, memorySample{T: t,
				H: &histogram.Histogram{Schema: h.Schema, Sum: promql.Stale, Bounds: h.Bounds}})
			continue
		case 1:
			h = randomHistogram(r, custom)
		}
		next := h.Clone()
		for i := range next.Positive {
			next.Positive[i].Count += float64(r.IntN(4))
		}
		if !custom {
			next.ZeroCount += float64(r.IntN(2))
		}
		next.Sum += float64(r.IntN(30)) / 4
		h = total(next)
		if gauge {
			h.Hint = histogram.Gauge
		}
		out = append(out, memorySample{T: t, H: h})
	}
	for len(out) < 40 {
		out = append(out, memorySample{T: out[len(out)-1].T + minute, H: h})
	}
	return out
}

func randomHistogram(r *rand.Rand, custom bool) *histogram.Histogram {
	h := &histogram.Histogram{Sum: float64(r.IntN(100))}
	at := int32(r.IntN(3))
	for range 1 + r.IntN(5) {
		h.Positive = append(h.Positive, histogram.Bucket{Index: at, Count: float64(1 + r.IntN(9))})
		at += 1 + int32(r.IntN(2))
	}
	if custom {
		h.Schema = histogram.CustomSchema
		for i := range at {
			h.Bounds = append(h.Bounds, float64(i+1)*5)
		}
		return total(h)
	}
	h.Schema = int32(r.IntN(6) - 3)
	h.ZeroThreshold = []float64{0, 0.001, 0.5, 3}[r.IntN(4)]
	h.ZeroCount = float64(r.IntN(3))
	if r.IntN(2) == 0 {
		h.Negative = []histogram.Bucket{{Index: 1, Count: float64(1 + r.IntN(5))}, {Index: 4, Count: 2}}
	}
	return total(h)
}

// total sets the count to what the buckets hold.
func total(h *histogram.Histogram) *histogram.Histogram {
	h.Count = h.ZeroCount
	for _, side := range [][]histogram.Bucket{h.Positive, h.Negative} {
		for _, b := range side {
			h.Count += b.Count
		}
	}
	return h
}

// generator makes expressions.
type generator struct{ *rand.Rand }

func (g generator) pick(of ...string) string { return of[g.IntN(len(of))] }

func (g generator) matchers() string {
	return g.pick("", "", `{host="h1"}`, `{zone!="a"}`, `{host=~"h[01]"}`, `{host="h0",zone="b"}`, `{zone=""}`,
		`{host!~"h2|x"}`)
}

func (g generator) modifiers() string {
	return g.pick("", "", "", "", " offset 3m", " offset -2m", " @ 1500", " @ end()", " @ start() offset 1m")
}

// selector is an instant selector.
func (g generator) selector() string {
	if g.IntN(12) == 0 {
		return g.pick(`{__name__=~"load|size"}`, `{__name__=~"requests_total|mixed",host!="h0"}`,
			`{host="h1",zone="b",__name__!~"lat.*"}`) + g.modifiers()
	}
	if g.IntN(15) == 0 {
		return g.pick("load smoothed", "requests_total smoothed offset 1m", "size smoothed", "mixed smoothed")
	}
	return g.pick("requests_total", "load", "size", "mixed", "load", "requests_total") + g.matchers() + g.modifiers()
}

// window is a range selector or a subquery.
func (g generator) window(depth int) string {
	if depth > 0 && g.IntN(4) == 0 {
		return g.operand(depth-1) + g.pick("[7m:1m]", "[10m:]", "[5m:90s]", "[6m:2m] offset 1m", "[8m:1m] @ 1800")
	}
	name := g.pick("requests_total", "load", "size", "mixed", "requests_total", "load", "size")
	return name + g.matchers() + g.pick("[5m]", "[150s]", "[10m]", "[90s]", "[1m]") + g.modifiers()
}

// operand is an expression that needs no parentheses.
func (g generator) operand(depth int) string {
	if depth == 0 || g.IntN(3) == 0 {
		return g.selector()
	}
	return "(" + g.vector(depth) + ")"
}

func (g generator) scalar() string {
	return g.pick("1", "0.5", "2", "-3", "NaN", "time()", "scalar(load{host=\"h1\",zone=\"a\"})", "0", "1e3", "pi()",
		"step()")
}

func (g generator) grouping() string {
	return g.pick("", "", " by (host)", " by (zone)", " without (host)", " by (host, zone)", " without ()",
		" by (__name__)")
}

// ordered is an expression whose rows come in the same order everywhere: which of them topk and limitk keep depends on
// it.
func (g generator) ordered() string {
	if g.IntN(2) == 0 {
		return g.selector()
	}
	return g.rangeCall(0)
}

// vector is an expression of a given depth.
func (g generator) vector(depth int) string {
	if depth == 0 {
		return g.selector()
	}
	switch g.IntN(14) {
	case 0, 1, 2:
		return g.rangeCall(depth - 1)
	case 3, 4, 5:
		return g.pick("sum", "avg", "min", "max", "count", "group", "stddev", "stdvar") + g.grouping() + " (" +
			g.vector(depth-1) + ")"
	case 6:
		return g.pick("topk", "bottomk", "quantile", "limit_ratio", "limitk") + g.grouping() + "(" +
			g.pick("2", "1", "0.5", "0.9") + ", " + g.ordered() + ")"
	case 7, 8:
		return g.binary(depth - 1)
	case 9:
		return g.operand(depth-1) + g.pick(" + ", " * ", " / ", " > ", " <= bool ", " - ", " ^ ", " % ", " == ", " != ",
			" </ ", " >/ ") + g.scalar()
	case 10:
		return g.pick("abs", "ceil", "sgn", "exp", "sqrt", "ln", "-", "timestamp", "absent", "hour", "day_of_week",
			"histogram_count", "histogram_sum", "histogram_avg", "histogram_stddev", "sort", "histogram_stdvar",
			"floor") + "(" + g.vector(depth-1) + ")"
	case 11:
		return fmt.Sprintf("histogram_quantile(%s, %s)", g.pick("0.5", "0.9", "1.2", "0", "1"),
			g.pick("lat_bucket", "sum by (le, host) (rate(lat_bucket[5m]))", "size", "rate(size[5m])",
				"sum by (zone) (size)", "increase(size[10m])"))
	case 12:
		return fmt.Sprintf("histogram_fraction(%s, %s)", g.pick("0, 1", "-Inf, 2", "0.5, +Inf", "-1, 3"),
			g.pick("lat_bucket", "size", "rate(size[6m])", "avg by (host) (size)"))
	}
	switch g.IntN(10) {
	case 9:
		return fmt.Sprintf("histogram_count(size unless histogram_quantile(0.5, size) < %s)", g.scalar())
	case 5:
		return fmt.Sprintf(`histogram_quantiles(%s, "q", 0.5, 0.99, 1.5)`,
			g.pick("lat_bucket", "size", "rate(lat_bucket[5m])", "sum by (host) (rate(size[5m]))"))
	case 6:
		return "count_values" + g.grouping() + `("v", ` +
			g.pick("round(load)", "mixed", "requests_total", "version", "size") + ")"
	case 7:
		return "start_timestamp(" + g.pick("requests_total", "load", "lat_bucket") + g.matchers() + g.modifiers() + ")"
	case 8:
		return "info(" + g.vector(depth-1) + `, {__name__="host_info"` + g.pick("", `,team=~".+"`, `,team="x"`) + "})"
	case 0:
		return fmt.Sprintf(`label_replace(%s, "dst", "$1-x", "host", "h(.*)")`, g.vector(depth-1))
	case 1:
		return fmt.Sprintf(`label_join(%s, "both", "/", "host", "zone")`, g.vector(depth-1))
	case 2:
		return fmt.Sprintf("clamp(%s, %s, %s)", g.vector(depth-1), g.pick("-1", "0", "5"), g.pick("3", "10", "-2"))
	case 3:
		return fmt.Sprintf("round(%s, %s)", g.vector(depth-1), g.pick("5", "0.1", "1"))
	}
	return g.pick("vector(", "vector(1+") + g.scalar() + ")"
}

func (g generator) rangeCall(depth int) string {
	over := g.window(depth)
	name := g.pick("rate", "increase", "delta", "irate", "idelta", "resets", "changes", "deriv", "sum_over_time",
		"avg_over_time",
		"min_over_time", "max_over_time", "count_over_time", "last_over_time", "first_over_time", "stddev_over_time",
		"stdvar_over_time", "present_over_time", "absent_over_time", "mad_over_time", "ts_of_max_over_time",
		"ts_of_min_over_time",
		"ts_of_first_over_time", "ts_of_last_over_time", "quantile_over_time", "predict_linear",
		"double_exponential_smoothing", "rate", "rate")
	switch name {
	case "quantile_over_time":
		return fmt.Sprintf("quantile_over_time(%s, %s)", g.pick("0.5", "0.95", "1.5"), over)
	case "predict_linear":
		return fmt.Sprintf("predict_linear(%s, %s)", over, g.pick("60", "-10"))
	case "double_exponential_smoothing":
		return fmt.Sprintf("double_exponential_smoothing(%s, 0.3, 0.6)", over)
	case "rate", "increase", "delta", "resets", "changes":
		if at := strings.Index(over, "]"); !strings.Contains(over, ":") && g.IntN(4) == 0 {
			mode := " anchored"
			if g.IntN(2) == 0 && name != "resets" && name != "changes" {
				mode = " smoothed"
			}
			over = over[:at+1] + mode + over[at+1:]
		}
	}
	return name + "(" + over + ")"
}

func (g generator) binary(depth int) string {
	left, right := g.operand(depth), g.operand(depth)
	switch g.IntN(4) {
	case 0:
		return left + g.pick(" and ", " or ", " unless ", " and on (host) ", " or on (host, zone) ",
			" unless ignoring (zone) ") + right
	case 1:
		return left + g.pick(" * ", " + ", " > ", " == bool ") +
			g.pick("on (host) group_left (ver) ", "on (host) group_left () ") + "version"
	}
	return left + g.pick(" + ", " - ", " * ", " / ", " > ", " < bool ", " == ", " != ", " ^ ") +
		g.pick("", "", "on (host, zone) ", "ignoring (le) ", "on (host) ", "on (host, zone) fill (0) ",
			"on (host, zone) fill_left (1) ", "on (host, zone) fill_right (2) ") + right
}
