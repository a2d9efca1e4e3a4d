package promql_test

import (
	"context"
	"fmt"
	"math"
	"math/rand/v2"
	"slices"
	"sort"
	"strings"
	"testing"
	"time"

	refhistogram "github.com/prometheus/prometheus/model/histogram"
	"github.com/prometheus/prometheus/model/labels"
	reference "github.com/prometheus/prometheus/promql"
	"github.com/prometheus/prometheus/promql/parser"
	"github.com/prometheus/prometheus/storage"
	"github.com/prometheus/prometheus/tsdb/chunkenc"
	"github.com/prometheus/prometheus/tsdb/chunks"
	"github.com/prometheus/prometheus/util/annotations"

	"varve/sqlexec/promql"
	"varve/sqlexec/promql/histogram"
)

// newReference makes the reference engine with all that the language has.
func newReference() *reference.Engine {
	return reference.NewEngine(reference.EngineOpts{
		MaxSamples: 50_000_000, Timeout: time.Minute, LookbackDelta: promql.DefaultLookback,
		NoStepSubqueryIntervalFn: func(int64) int64 { return time.Minute.Milliseconds() },
		EnableAtModifier:         true, EnableNegativeOffset: true, EnableDelayedNameRemoval: true,
		UseStartTimestamps: true,
		Parser: parser.NewParser(parser.Options{EnableExperimentalFunctions: true, ExperimentalDurationExpr: true,
			EnableExtendedRangeSelectors: true, EnableBinopFillModifiers: true}),
	})
}

// referenceStore is a memory store as the reference engine reads it.
type referenceStore struct {
	store *memoryStore
}

func (s referenceStore) Querier(mint, maxt int64) (storage.Querier, error) {
	return &referenceQuerier{store: s.store, mint: mint, maxt: maxt}, nil
}

type referenceQuerier struct {
	storage.LabelQuerier
	store      *memoryStore
	mint, maxt int64
}

func (q *referenceQuerier) Close() error { return nil }

func (q *referenceQuerier) Select(_ context.Context, _ bool, _ *storage.SelectHints,
	ms ...*labels.Matcher) storage.SeriesSet {
	var out []storage.Series
	for _, x := range q.store.series {
		ok := true
		for _, m := range ms {
			ok = ok && m.Matches(x.labels.Get(m.Name))
		}
		if !ok {
			continue
		}
		var samples []chunks.Sample
		for i, t := range x.samples.T {
			if t < q.mint || t > q.maxt {
				continue
			}
			s := refSample{t: t, v: x.samples.V[i]}
			if x.samples.H != nil && x.samples.H[i] != nil {
				s.h = toReference(x.samples.H[i])
			}
			if x.samples.ST != nil {
				s.st = x.samples.ST[i]
			}
			samples = append(samples, s)
		}
		if len(samples) > 0 {
			out = append(out, storage.NewListSeries(toReferenceLabels(x.labels), samples))
		}
	}
	return &referenceSet{series: out}
}

// referenceSet is a list of series as the reference wants it.
type referenceSet struct {
	series []storage.Series
	next   int
}

func (s *referenceSet) Next() bool                        { s.next++; return s.next <= len(s.series) }
func (s *referenceSet) At() storage.Series                { return s.series[s.next-1] }
func (s *referenceSet) Err() error                        { return nil }
func (s *referenceSet) Warnings() annotations.Annotations { return nil }

// refSample is a sample as the reference wants it.
type refSample struct {
	t, st int64
	v     float64
	h     *refhistogram.FloatHistogram
}

func (s refSample) T() int64                         { return s.t }
func (s refSample) ST() int64                        { return s.st }
func (s refSample) F() float64                       { return s.v }
func (s refSample) H() *refhistogram.Histogram       { return nil }
func (s refSample) FH() *refhistogram.FloatHistogram { return s.h.Copy() }
func (s refSample) Copy() chunks.Sample              { return s }
func (s refSample) Type() chunkenc.ValueType {
	if s.h != nil {
		return chunkenc.ValFloatHistogram
	}
	return chunkenc.ValFloat
}

func toReferenceLabels(ls promql.Labels) labels.Labels {
	b := labels.NewScratchBuilder(len(ls))
	for _, l := range ls {
		b.Add(l.Name, l.Value)
	}
	return b.Labels()
}

func toReference(h *histogram.Histogram) *refhistogram.FloatHistogram {
	hints := map[histogram.ResetHint]refhistogram.CounterResetHint{
		histogram.UnknownReset: refhistogram.UnknownCounterReset,
		histogram.CounterReset: refhistogram.CounterReset, histogram.NoReset: refhistogram.NotCounterReset,
		histogram.Gauge: refhistogram.GaugeType,
	}
	out := &refhistogram.FloatHistogram{CounterResetHint: hints[h.Hint], Schema: h.Schema,
		ZeroThreshold: h.ZeroThreshold,
		ZeroCount:     h.ZeroCount, Count: h.Count, Sum: h.Sum, CustomValues: h.Bounds}
	side := func(bs []histogram.Bucket) (spans []refhistogram.Span, counts []float64) {
		end := int32(0)
		for i, b := range bs {
			if i == 0 || b.Index != end {
				spans = append(spans, refhistogram.Span{Offset: b.Index - end})
			}
			spans[len(spans)-1].Length++
			end = b.Index + 1
			counts = append(counts, b.Count)
		}
		return spans, counts
	}
	out.PositiveSpans, out.PositiveBuckets = side(h.Positive)
	out.NegativeSpans, out.NegativeBuckets = side(h.Negative)
	return out
}

// described is an answer in a form that can be compared: for each label set its points.
type described map[string]map[int64]string

// describeReference describes an answer of the reference.
func describeReference(v parser.Value) described {
	out := described{}
	put := func(ls labels.Labels, t int64, f float64, h *refhistogram.FloatHistogram) {
		key := ls.String()
		if out[key] == nil {
			out[key] = map[int64]string{}
		}
		if h != nil {
			out[key][t] = describeReferenceHistogram(h)
		} else {
			out[key][t] = describeFloat(f)
		}
	}
	switch v := v.(type) {
	case reference.Scalar:
		put(labels.EmptyLabels(), v.T, v.V, nil)
	case reference.Vector:
		for _, s := range v {
			put(s.Metric, s.T, s.F, s.H)
		}
	case reference.Matrix:
		for _, s := range v {
			for _, p := range s.Floats {
				put(s.Metric, p.T, p.F, nil)
			}
			for _, p := range s.Histograms {
				put(s.Metric, p.T, 0, p.H)
			}
		}
	}
	return out
}

// describeFloat rounds so that what differs by rounding reads the same.
func describeFloat(v float64) string {
	if math.Abs(v) < 1e-9 {
		v = 0 // what is left of equal numbers
	}
	return fmt.Sprintf("%.6g", v)
}

func describeReferenceHistogram(h *refhistogram.FloatHistogram) string {
	var b strings.Builder
	fmt.Fprintf(&b, "{%d %s %s", h.Schema, describeFloat(h.Count), describeFloat(h.Sum))
	for it := h.AllBucketIterator(); it.Next(); {
		if x := it.At(); math.Abs(x.Count) > 1e-9 {
			fmt.Fprintf(&b, " (%.6g,%.6g]%s", x.Lower, x.Upper, describeFloat(x.Count))
		}
	}
	return b.String() + "}"
}

func describe(r *promql.Result) described {
	out := described{}
	for i := range r.Len() {
		key := toReferenceLabels(r.Labels(i)).String()
		if out[key] == nil {
			out[key] = map[int64]string{}
		}
		for t, p := range r.Samples(i) {
			if p.H != nil {
				out[key][t] = describeReferenceHistogram(toReference(p.H))
			} else {
				out[key][t] = describeFloat(p.V)
			}
		}
	}
	return out
}

// difference says where two answers differ.
func difference(got, want described) string {
	for key, points := range want {
		if got[key] == nil {
			return "lacks " + key
		}
		for t, v := range points {
			if g, ok := got[key][t]; !ok || !alike(g, v) {
				return fmt.Sprintf("%s at %d: got %q, want %q", key, t, g, v)
			}
		}
		for t, v := range got[key] {
			if _, ok := points[t]; !ok {
				return fmt.Sprintf("%s at %d: got %q, want nothing", key, t, v)
			}
		}
	}
	for key := range got {
		if want[key] == nil {
			return "has " + key
		}
	}
	return ""
}

// alike compares texts, and their numbers where the last digit may be rounded otherwise.
func alike(a, b string) bool {
	if a == b {
		return true
	}
	split := func(r rune) bool { return strings.ContainsRune("{}()[], ", r) }
	x, y := strings.FieldsFunc(a, split), strings.FieldsFunc(b, split)
	if len(x) != len(y) {
		return false
	}
	for i := range x {
		var f, g float64
		if _, err := fmt.Sscan(x[i], &f); err != nil {
			return false
		}
		if _, err := fmt.Sscan(y[i], &g); err != nil {
			return false
		}
		if !close(f, g) && math.Abs(f-g) > 2e-5*math.Max(math.Abs(f), math.Abs(g)) {
			return false
		}
	}
	return true
}

// notesOf are the texts of both kinds, numbers that depend on the order of evaluation cut off.
func notesOf(warnings, infos []string) []string {
	var out []string
	for _, s := range append(slices.Clone(warnings), infos...) {
		if at := strings.Index(s, ", from buckets"); at >= 0 {
			s = s[:at]
		}
		if at := strings.Index(s, " occurrences"); at >= 0 {
			s = s[:strings.LastIndex(s[:at], "(")]
		}
		if at := strings.LastIndex(s, " ("); at >= 0 {
			s = s[:at] // a subtree that occurs twice is evaluated once, so its first place is told, not its last
		}
		out = append(out, s)
	}
	// What a group of all kinds meets first depends on the order of rows, which the reference does not keep.
	mixed := func(s string) bool {
		return strings.Contains(s, "exponential and custom") || strings.Contains(s, "floats for aggregation")
	}
	if slices.ContainsFunc(out, mixed) {
		out = slices.DeleteFunc(out, func(s string) bool {
			return mixed(s) || strings.Contains(s, "reconciled during aggregation")
		})
	}
	sort.Strings(out)
	return slices.Compact(out)
}

// TestOracle compares random expressions over random series with the reference engine.
func TestOracle(t *testing.T) {
	const rounds, queries = 40, 120
	engine := newReference()
	defer engine.Close()
	for round := range rounds {
		r := rand.New(rand.NewPCG(7, uint64(round)))
		store := randomStore(r)
		for range queries {
			g := generator{Rand: r}
			// One time, and ranges of 13, 64 and 172 steps.
			compareQuery(t, engine, store, g.vector(3), []int64{0, 100_000, 19_000, 7_000}[r.IntN(4)])
		}
	}
}

// TestNamesOfJoinedRows: of operands one of which loses its name, the one that is first in time says whether the series
// keeps it.
func TestNamesOfJoinedRows(t *testing.T) {
	engine := newReference()
	defer engine.Close()
	store := newMemory()
	for i, host := range []string{"a", "b"} {
		var samples []memorySample
		for at := int64(20+6*i) * minute; at < 40*minute; at += minute {
			samples = append(samples, memorySample{T: at, V: float64(at)})
		}
		store.Add(promql.NewLabels("__name__", "x", "host", host), samples...)
	}
	for _, expr := range []string{"rate(x[2m]) or x", "x offset 5m or rate(x[2m])", "rate(x[2m]) or on (host) x",
		"-x or x offset -2m", "x offset -2m or -x", "sum by (host, __name__) (rate(x[2m]) or x)"} {
		for _, step := range []int64{0, 7_000, 100_000} {
			compareQuery(t, engine, store, expr, step)
		}
	}
}

// TestResetsBetweenEdges: what resets take away from histograms of many schemas and zero buckets between the edges of a
// window.
func TestResetsBetweenEdges(t *testing.T) {
	engine := newReference()
	defer engine.Close()
	for round := range 60 {
		store := randomStore(rand.New(rand.NewPCG(8, uint64(round))))
		for _, expr := range []string{"increase(size[10m] anchored)", "rate(size[20m] smoothed)",
			"increase(mixed[15m] anchored @ end())"} {
			compareQuery(t, engine, store, expr, 19_000)
		}
	}
}

const minute = int64(60_000)

// bothKinds reports whether a series of an answer has a float and a histogram at one time: the reference joins series
// that have lost their names without looking, where two floats would be an error.
func bothKinds(v parser.Value) bool {
	m, ok := v.(reference.Matrix)
	return ok && slices.ContainsFunc(m, func(s reference.Series) bool {
		return slices.ContainsFunc(s.Floats, func(p reference.FPoint) bool {
			return slices.ContainsFunc(s.Histograms, func(h reference.HPoint) bool { return h.T == p.T })
		})
	})
}

// compareQuery evaluates an expression at one time (step 0) or over a range on both sides.
func compareQuery(t *testing.T, engine *reference.Engine, store *memoryStore, expr string, step int64) {
	t.Helper()
	ctx := context.Background()
	q := promql.Query{Expr: expr, Start: 30 * minute, End: 30 * minute}
	var ref reference.Query
	var err error
	if step > 0 {
		q.Start, q.End, q.Step = 20*minute, 40*minute, step
		ref, err = engine.NewRangeQuery(ctx, referenceStore{store: store}, nil, expr, time.UnixMilli(q.Start),
			time.UnixMilli(q.End), time.Duration(q.Step)*time.Millisecond)
	} else {
		ref, err = engine.NewInstantQuery(ctx, referenceStore{store: store}, nil, expr, time.UnixMilli(q.Start))
	}
	if err != nil {
		t.Fatalf("the reference does not take %s: %v", expr, err)
	}
	defer ref.Close()
	want := ref.Exec(ctx)
	got, err := q.Run(ctx, store)
	if bothKinds(want.Value) {
		return
	}
	if (err != nil) != (want.Err != nil) {
		t.Errorf("%s (step %d): error %v, want %v", expr, step, err, want.Err)
		return
	}
	if err != nil {
		return
	}
	if diff := difference(describe(got), describeReference(want.Value)); diff != "" {
		t.Errorf("%s (step %d): %s", expr, step, diff)
		return
	}
	warnings, infos := want.Warnings.AsStrings(expr, 0, 0)
	if a, b := notesOf(got.Warnings, got.Infos), notesOf(warnings, infos); len(a) < 10 && !slices.Equal(a, b) {
		t.Errorf("%s (step %d):\nnotes %q\n want %q", expr, step, a, b)
	}
}
