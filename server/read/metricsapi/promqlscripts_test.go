package metricsapi_test

import (
	"context"
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"net/url"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"testing"

	refhistogram "github.com/prometheus/prometheus/model/histogram"
	"github.com/prometheus/prometheus/model/labels"
	reference "github.com/prometheus/prometheus/promql"
	"github.com/prometheus/prometheus/promql/parser"

	"varve/engine"
	"varve/server"
	"varve/server/servertest"
	"varve/sqlexec/promql"
	"varve/sqlexec/promql/histogram"
)

// scriptModes are the ways in which an evaluation is asked for: as the script says, an instant query as the middle of a
// range too, and both with the time of each selector fixed, at other times.
var scriptModes = []string{"instant", "range", "instant, times fixed", "range, times fixed"}

// scriptCounts is how many evaluations there were in each mode, and how many of them were right.
type scriptCounts map[string]*[2]int

// TestPublishedScripts runs the test scripts that the parser's module carries: samples come by remote write, answers by
// HTTP.
func TestPublishedScripts(t *testing.T) {
	dir, err := exec.Command("go", "list", "-m", "-f", "{{.Dir}}", "github.com/prometheus/prometheus").Output()
	files, _ := filepath.Glob(filepath.Join(strings.TrimSpace(string(dir)), "promql", "promqltest", "testdata",
		"*.test"))
	if err != nil || len(files) == 0 {
		t.Fatalf("the module of the language's parser is not there with its scripts: %v", err)
	}
	counts := scriptCounts{}
	for _, m := range scriptModes {
		counts[m] = &[2]int{}
	}
	for _, name := range files {
		t.Run(filepath.Base(name), func(t *testing.T) {
			text, err := os.ReadFile(name)
			if err != nil {
				t.Fatal(err)
			}
			s, err := readScript(string(text))
			if err != nil {
				t.Fatal(err)
			}
			s.run(t, counts)
		})
	}
	for _, m := range scriptModes {
		t.Logf("%s: %d of %d", m, counts[m][0], counts[m][1])
	}
}

// run runs the commands of a script, the samples of each part in a database of its own.
func (s *promqlScript) run(t *testing.T, counts scriptCounts) {
	stage := &scriptStage{db: "public"}
	stage.House = servertest.Real(t, func(o *server.Options) { stage.store = o.Metrics.Store })
	for i, c := range s.commands {
		switch {
		case c.load != nil:
			stage.write(c.load)
			if i%2 == 0 { // so that both memory and files are asked
				stage.Want(stage.SQL("ADMIN flush_table('"+stage.db+".service_physical_table')"), 200, "")
			}
		case c.eval != nil:
			for mode, fault := range stage.check(c.eval) {
				counts[mode][1]++
				if fault == nil {
					counts[mode][0]++
				} else {
					t.Errorf("line %d: %s\n%s: %v", c.eval.line, c.eval.expr, mode, fault)
				}
			}
		default:
			stage.db = fmt.Sprint("part", i)
			stage.Execute("CREATE DATABASE " + stage.db)
		}
	}
}

// scriptStage is where a script runs.
type scriptStage struct {
	*servertest.House
	store *engine.Engine
	db    string
}

// write sends samples by remote write 2.0.
func (s *scriptStage) write(list []scriptSeries) {
	s.Helper()
	symbols, known := []string{""}, map[string]uint64{}
	symbol := func(text string) uint64 {
		if known[text] == 0 && text != "" {
			known[text] = uint64(len(symbols))
			symbols = append(symbols, text)
		}
		return known[text]
	}
	var parts []func(m []byte) []byte
	for _, x := range list {
		var names []uint64
		x.labels.Range(func(l labels.Label) { names = append(names, symbol(l.Name), symbol(l.Value)) })
		for _, histograms := range []bool{false, true} { // a series on the wire has one kind
			has := func(x scriptSample) bool { return (x.h != nil) == histograms }
			if slices.ContainsFunc(x.samples, has) {
				parts = append(parts, func(m []byte) []byte {
					m = servertest.Refs(m, names...)
					for _, sample := range x.samples {
						if has(sample) {
							m = sample.append(m)
						}
					}
					return m
				})
			}
		}
	}
	s.Want(s.Do("POST", servertest.WritePath+"?db="+s.db, servertest.Request2(symbols, parts...), "Content-Type",
		"application/x-protobuf;proto=io.prometheus.write.v2.Request"), 204, "")
}

func (x scriptSample) append(m []byte) []byte {
	if x.h == nil {
		return servertest.Sample2(m, x.v, uint64(x.t), uint64(x.start))
	}
	spansOf := func(field int, list []refhistogram.Span) func([]byte) []byte {
		var pairs []int64
		for _, s := range list {
			pairs = append(pairs, int64(s.Offset), int64(s.Length))
		}
		return servertest.Spans(field, pairs...)
	}
	h := x.h
	hint := map[refhistogram.CounterResetHint]uint64{refhistogram.CounterReset: 1, refhistogram.NotCounterReset: 2,
		refhistogram.GaugeType: 3}[h.CounterResetHint]
	return append(m, servertest.HistogramMessage(3, servertest.Double(2, h.Count), servertest.Double(3, h.Sum),
		servertest.Varint(4, servertest.ZigZag(int64(h.Schema))), servertest.Double(5,
			h.ZeroThreshold), servertest.Double(7, h.ZeroCount),
		spansOf(8, h.NegativeSpans), servertest.Doubles(10, h.NegativeBuckets...), spansOf(11, h.PositiveSpans),
		servertest.Doubles(13, h.PositiveBuckets...),
		servertest.Varint(14, hint), servertest.Varint(15, uint64(x.t)), servertest.Doubles(16,
			h.CustomValues...), servertest.Varint(17, uint64(x.start)))...)
}

// scriptQuery is a query with what is left of its answer to be compared.
type scriptQuery struct {
	expr       string
	start, end int64
	step       int64 // 0: at one time
	at         int64 // of a range that stands for one time: that time
	one        bool  // it does
}

// check asks in all modes and says what is wrong in each.
func (s *scriptStage) check(e *scriptEval) map[string]error {
	if e.ranged {
		return map[string]error{"range": s.ask(e, scriptQuery{expr: e.expr, start: e.start, end: e.end, step: e.step})}
	}
	out := map[string]error{}
	note := func(mode string, err error) {
		if old, asked := out[mode]; !asked || old == nil {
			out[mode] = err
		}
	}
	both := func(suffix, expr string, at int64) {
		note("instant"+suffix, s.ask(e, scriptQuery{expr: expr, start: at, end: at}))
		// What asks for the range of its query, and what has no range form, is left.
		if !e.vector && e.text == nil && !scriptContext.MatchString(expr) {
			note("range"+suffix, s.ask(e,
				scriptQuery{expr: expr, start: at - 60_000, end: at + 60_000, step: 60_000, at: at, one: true}))
		}
	}
	both("", e.expr, e.at)
	if expr, ok := fixTimes(e.expr, e.at); ok {
		times := []int64{-10 * e.at, 0, e.at / 5, e.at, 10 * e.at}
		if e.at == 0 {
			times = []int64{-1000, 0, 1000}
		}
		for _, at := range times {
			both(", times fixed", expr, at)
		}
	}
	return out
}

// scriptContext are the functions that ask for the times of the query.
var scriptContext = regexp.MustCompile(`\b(start|end|range|step)\(\)`)

// fixTimes fixes the time of what an expression selects, where it is not; false if the expression asks for the time
// itself.
func fixTimes(expr string, at int64) (string, bool) {
	x, err := scriptParser.ParseExpr(expr)
	if err != nil {
		return "", false // an error that is expected
	}
	ok := true
	fixed := func(t *int64) *int64 {
		if t == nil {
			return &at
		}
		return t
	}
	parser.Inspect(x, func(n parser.Node, path []parser.Node) error {
		for _, p := range path {
			if sub, in := p.(*parser.SubqueryExpr); in && sub.Timestamp != nil {
				return nil
			}
		}
		switch n := n.(type) {
		case *parser.VectorSelector:
			n.Timestamp = fixed(n.Timestamp)
		case *parser.SubqueryExpr:
			n.Timestamp = fixed(n.Timestamp)
		case *parser.Call:
			_, varies := reference.AtModifierUnsafeFunctions[n.Func.Name]
			ok = ok && !varies
		}
		return nil
	})
	return x.String(), ok
}

var scriptParser = parser.NewParser(parser.Options{EnableExperimentalFunctions: true, ExperimentalDurationExpr: true,
	EnableExtendedRangeSelectors: true, EnableBinopFillModifiers: true})

// scriptAnswer is an answer of the API.
type scriptAnswer struct {
	Error           string
	Data            *metricsData
	Warnings, Infos []string
}

// ask sends a query and compares its answer.
func (s *scriptStage) ask(e *scriptEval, q scriptQuery) error {
	seconds := func(ms int64) string { return strconv.FormatFloat(float64(ms)/1000, 'f', 3, 64) }
	args, path := url.Values{"query": {q.expr}, "db": {s.db}, "time": {seconds(q.start)}}, "query"
	if q.step > 0 {
		args, path = url.Values{"query": {q.expr}, "db": {s.db}, "start": {seconds(q.start)}, "end": {seconds(q.end)},
			"step": {seconds(q.step)}}, "query_range"
	}
	resp, err := http.PostForm(s.URL+apiPath+path, args)
	if err != nil {
		return err
	}
	defer resp.Body.Close()
	body, err := io.ReadAll(resp.Body)
	if err != nil {
		return err
	}
	var a scriptAnswer
	if err := json.Unmarshal(body, &a); err != nil {
		return fmt.Errorf("%w in %s", err, body)
	}
	if e.fails() || a.Error != "" {
		if !e.fails() || !e.want["fail"][0].MatchString(a.Error) {
			return fmt.Errorf("error %q, want %s", a.Error, e.want["fail"])
		}
		return nil
	}
	if err := e.compareNotes(&a); err != nil && !q.one { // the steps about the one have notes of their own
		return err
	}
	if err := e.compare(q, a.Data); err != nil {
		return err
	}
	return s.compareHistograms(e, q)
}

// compareNotes compares the warnings and infos: each that is expected must be there, and if any is expected no other.
func (e *scriptEval) compareNotes(a *scriptAnswer) error {
	for kind, got := range map[string][]string{"warn": a.Warnings, "info": a.Infos} {
		want := e.want[kind]
		if e.want["no_"+kind] != nil && len(got) > 0 {
			return fmt.Errorf("%s %q, want none", kind, got)
		}
		for _, w := range want {
			if !slices.ContainsFunc(got, w.MatchString) {
				return fmt.Errorf("%s %q, want %s", kind, got, w)
			}
		}
		for _, g := range got {
			if len(want) > 0 && !slices.ContainsFunc(want, func(w *regexp.Regexp) bool { return w.MatchString(g) }) {
				return fmt.Errorf("%s %q, want %s", kind, g, want)
			}
		}
	}
	return nil
}

// compare compares the values.
func (e *scriptEval) compare(q scriptQuery, data *metricsData) error {
	kind := "vector"
	switch {
	case q.step > 0 || e.vector:
		kind = "matrix"
	case e.text != nil:
		kind = "string"
	case e.scalar != nil:
		kind = "scalar"
	}
	if data == nil || data.Type != kind {
		return fmt.Errorf("answer %+v, want a %s", data, kind)
	}
	var got any
	if err := json.Unmarshal(data.Result, &got); err != nil {
		return err
	}
	want := e.expected(q)
	if list, ok := got.([]any); ok && kind != "string" && kind != "scalar" {
		if kind == "matrix" && !slices.IsSortedFunc(list, compareMetrics) {
			return fmt.Errorf("series are not sorted: %s", data.Result)
		}
		got = pointsOf(list, q)
		if q.one || e.want["ordered"] == nil {
			byMetric(got)
			byMetric(want)
		}
	}
	if !alike(got, want) {
		return fmt.Errorf("got  %.3000v\nwant %.3000v", got, want)
	}
	return nil
}

// compareMetrics orders series by their labels.
func compareMetrics(a, b any) int {
	text := func(x any) labels.Labels {
		m := map[string]string{}
		for k, v := range x.(map[string]any)["metric"].(map[string]any) {
			m[k] = v.(string)
		}
		return labels.FromMap(m)
	}
	return labels.Compare(text(a), text(b))
}

// pointsOf brings series into one form: a metric and all its points, those of the one time if there is one.
func pointsOf(list []any, q scriptQuery) any {
	out := []any{}
	for _, x := range list {
		m := x.(map[string]any)
		var points []any
		for _, name := range [...]string{"value", "histogram"} {
			if p := m[name]; p != nil {
				points = append(points, p)
			}
			more, _ := m[name+"s"].([]any)
			points = append(points, more...)
		}
		slices.SortFunc(points, func(a, b any) int {
			return int(1000*a.([]any)[0].(float64)) - int(1000*b.([]any)[0].(float64))
		})
		if q.one {
			points = slices.DeleteFunc(points, func(p any) bool { return p.([]any)[0].(float64) != float64(q.at)/1000 })
		}
		if len(points) > 0 {
			out = append(out, map[string]any{"metric": m["metric"], "points": points})
		}
	}
	return out
}

// expected is what must come, in the form of pointsOf.
func (e *scriptEval) expected(q scriptQuery) any {
	text := func(v float64) string { return strconv.FormatFloat(v, 'g', -1, 64) }
	at := float64(q.start) / 1000
	if q.one {
		at = float64(q.at) / 1000
	}
	switch {
	case e.text != nil:
		return []any{at, *e.text}
	case e.scalar != nil && !q.one:
		return []any{at, text(*e.scalar)}
	case e.scalar != nil:
		return []any{map[string]any{"metric": map[string]any{}, "points": []any{[]any{at, text(*e.scalar)}}}}
	}
	out := []any{}
	for _, s := range e.samples {
		metric := map[string]any{}
		s.labels.Range(func(l labels.Label) { metric[l.Name] = l.Value })
		var points []any
		for _, x := range s.samples {
			t := at
			if e.ranged || e.vector {
				t = float64(x.t) / 1000
			}
			if x.h != nil {
				points = append(points, []any{t, histogramJSON(x.h)})
			} else {
				points = append(points, []any{t, text(x.v)})
			}
		}
		if len(points) > 0 {
			out = append(out, map[string]any{"metric": metric, "points": points})
		}
	}
	return out
}

func histogramJSON(h *refhistogram.FloatHistogram) any {
	text := func(v float64) string { return strconv.FormatFloat(v, 'g', -1, 64) }
	out := map[string]any{"count": text(h.Count), "sum": text(h.Sum)}
	var buckets []any
	for it := h.AllBucketIterator(); it.Next(); {
		b := it.At()
		if b.Count == 0 {
			continue
		}
		rule := map[[2]bool]float64{{false, true}: 0, {true, false}: 1, {false, false}: 2,
			{true, true}: 3}[[2]bool{b.LowerInclusive, b.UpperInclusive}]
		buckets = append(buckets, []any{rule, text(b.Lower), text(b.Upper), text(b.Count)})
	}
	if buckets != nil {
		out["buckets"] = buckets
	}
	return out
}

// compareHistograms compares of histograms what an answer does not have: the schema, and the hint where it is expected.
func (s *scriptStage) compareHistograms(e *scriptEval, q scriptQuery) error {
	want := map[string]scriptSample{}
	for _, x := range e.samples {
		for _, p := range x.samples {
			if p.h != nil {
				want[fmt.Sprint(x.labels, map[bool]int64{true: p.t}[e.ranged || e.vector])] = p
			}
		}
	}
	if len(want) == 0 {
		return nil
	}
	r, err := promql.Query{Expr: q.expr, Start: q.start, End: q.end, Step: q.step}.Run(context.Background(),
		&promql.Tables{Engine: s.store, DB: s.db})
	if err != nil {
		return err
	}
	hints := map[refhistogram.CounterResetHint]histogram.ResetHint{
		refhistogram.UnknownCounterReset: histogram.UnknownReset,
		refhistogram.CounterReset:        histogram.CounterReset, refhistogram.NotCounterReset: histogram.NoReset,
		refhistogram.GaugeType: histogram.Gauge,
	}
	for i := range r.Len() {
		m := map[string]string{}
		for _, l := range r.Labels(i) {
			m[l.Name] = l.Value
		}
		for t, p := range r.Samples(i) {
			if p.H == nil || q.one && t != q.at {
				continue
			}
			w, ok := want[fmt.Sprint(labels.FromMap(m), map[bool]int64{true: t}[e.ranged || e.vector])]
			if !ok {
				return fmt.Errorf("%s at %d: an histogram that the answer has not", labels.FromMap(m), t)
			}
			// What is said of no reset depends on the chunks of a storage: unknown, which is to compare, is as right.
			hint := hints[w.h.CounterResetHint]
			hinted := w.hinted && p.H.Hint != hint && (hint != histogram.NoReset || p.H.Hint != histogram.UnknownReset)
			if p.H.Schema != w.h.Schema || p.H.ZeroThreshold != w.h.ZeroThreshold || hinted {
				return fmt.Errorf("%s at %d: schema %d, zero threshold %v, hint %d, want %d, %v, %d (counts: %v)",
					labels.FromMap(m), t,
					p.H.Schema, p.H.ZeroThreshold, p.H.Hint, w.h.Schema, w.h.ZeroThreshold, hint, w.hinted)
			}
		}
	}
	return nil
}
