package promql_test

import (
	"context"
	"fmt"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"

	"varve/engine"
	"varve/engine/schema"
	"varve/engine/status"
	"varve/engine/vector"
	"varve/engine/vfs"
	"varve/sqlexec/promql"
)

var sampleColumns = engine.SampleColumns{Time: "service_timestamp", Value: "service_value",
	Histogram: "service_native_histogram", Start: "service_start_timestamp"}

const physical = "phy"

func openEngine(t testing.TB) *engine.Engine {
	t.Helper()
	e, err := engine.Open(engine.Options{FS: vfs.NewMem(), Dir: "data"})
	if err != nil {
		t.Fatal(err)
	}
	if err := e.Wait(context.Background()); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { e.Close(context.Background(), false) })
	return e
}

// fill writes the series of a memory store into logical tables.
func fill(t testing.TB, e *engine.Engine, store *memoryStore) {
	t.Helper()
	fillInto(t, e, store, physical)
}

// fillInto writes into logical tables of a physical one, or into tables with storage of their own.
func fillInto(t testing.TB, e *engine.Engine, store *memoryStore, physical string) {
	t.Helper()
	ctx := context.Background()
	r := &engine.SeriesRequest{Columns: sampleColumns}
	for _, x := range store.series {
		name := engine.SeriesName{Table: schema.Name{DB: "public", Table: x.labels.Get("__name__")}, Physical: physical}
		for _, l := range x.labels {
			if l.Name != "__name__" {
				name.Labels = append(name.Labels, engine.SeriesLabel{Name: l.Name, Value: l.Value})
			}
		}
		r.Names = append(r.Names, name)
	}
	list, errs, err := e.Series(ctx, r)
	if err != nil {
		t.Fatal(err)
	}
	var set engine.WriteSet
	for i, x := range store.series {
		if errs[i] != nil {
			t.Fatal(errs[i])
		}
		s := set.Samples(list[i], &sampleColumns)
		for k, at := range x.samples.T {
			if x.samples.H != nil && x.samples.H[k] != nil {
				s.Histogram(at, x.samples.H[k].AppendBinary(nil))
			} else {
				s.Float(at, x.samples.V[k])
			}
			if x.samples.ST != nil && x.samples.ST[k] != 0 {
				s.Started(x.samples.ST[k])
			}
		}
	}
	if _, err := e.Write(ctx, &set); err != nil {
		t.Fatal(err)
	}
}

// eachState runs a test on rows in memory and again when they lie in files.
func eachState(t *testing.T, e *engine.Engine, run func(t *testing.T)) {
	t.Run("in memory", run)
	if err := e.Flush(context.Background(), schema.Name{DB: "public", Table: physical}); err != nil {
		t.Fatal(err)
	}
	t.Run("flushed", run)
}

// TestManySeries: the answers over so many series that nobody keeps their labels are those over series in memory, and a
// query takes little memory for each. Of a series with a row in memory, 56 bytes are its place there.
func TestManySeries(t *testing.T) {
	const series = 20_000
	store := newMemory()
	for i := range series {
		pod := fmt.Sprint("pod-", i)
		store.Add(promql.NewLabels("__name__", "up", "job", fmt.Sprint("job-", i%7), "node", fmt.Sprint("node-", i%100),
			"pod", pod), memorySample{T: minute, V: float64(i * 7919 % series)})
	}
	e := openEngine(t)
	fill(t, e, store)
	for _, c := range []struct {
		expr string
		most int64 // bytes a series
	}{
		{"up", 400}, {"topk(5, up)", 460}, {"sum by (job) (up)", 190}, {"-up", 560}, {"up and on (pod) up", 740},
		{"sort(up)", 690}, {"sum by (pod) (up)", 660},
		{`label_replace(up, "a", "$1", "pod", "pod-(.*)")`, 770}, {"rate(up[2m]) or up", 990},
	} {
		q := promql.Query{Expr: c.expr, Start: minute, End: minute, Workers: 1}
		want, err := q.Run(context.Background(), store)
		if err != nil {
			t.Fatal(err)
		}
		b := &peakBudget{}
		q.Memory = b
		got, err := q.Run(context.Background(), &promql.Tables{Engine: e, DB: "public", Memory: b})
		if err != nil {
			t.Fatal(err)
		}
		if diff := difference(describe(got), describe(want)); diff != "" {
			t.Errorf("%s: %s", c.expr, diff)
		}
		if b.peak/series > c.most {
			t.Errorf("%s: %d bytes a series, want at most %d", c.expr, b.peak/series, c.most)
		}
	}
}

// peakBudget is memory without a bound that knows how much was taken at most.
type peakBudget struct{ held, peak int64 }

func (b *peakBudget) Reserve(n int64) error {
	b.held += n
	b.peak = max(b.peak, b.held)
	return nil
}

func (b *peakBudget) Release(n int64) { b.held -= n }

// TestTablesAsOracle holds the answers over tables against those over series in memory.
func TestTablesAsOracle(t *testing.T) {
	r := rand.New(rand.NewPCG(3, 5))
	store := randomStore(r)
	e := openEngine(t)
	fill(t, e, store)
	eachState(t, e, func(t *testing.T) {
		for range 300 {
			g := generator{Rand: r}
			expr := g.vector(2)
			if strings.Contains(expr, "limitk") || strings.Contains(expr, "topk") || strings.Contains(expr, "bottomk") {
				continue // which of equal rows are kept depends on the order of series
			}
			q := promql.Query{Expr: expr, Start: 20 * minute, End: 40 * minute, Step: 100_000}
			want, wantErr := q.Run(context.Background(), store)
			got, err := q.Run(context.Background(), &promql.Tables{Engine: e, DB: "public"})
			if (err != nil) != (wantErr != nil) {
				t.Fatalf("%s: error %v, want %v", expr, err, wantErr)
			}
			if err != nil {
				continue
			}
			if diff := difference(describe(got), describe(want)); diff != "" {
				t.Errorf("%s: %s", expr, diff)
			}
		}
	})
}

// TestTables: what tables show as metrics, whoever made them.
func TestTables(t *testing.T) {
	e := openEngine(t)
	store := newMemory()
	for i, ls := range [][]string{{"up", "job", "a"}, {"up", "job", "b"}, {"Down", "job", "a", "zone", "z"}} {
		store.Add(promql.NewLabels(append([]string{"__name__"}, ls...)...), memorySample{T: 1000, V: float64(i)})
	}
	fill(t, e, store)
	makeTable(t, e, "host_stats", 900)
	eachState(t, e, func(t *testing.T) {
		for _, c := range []struct{ query, want string }{
			{`up`, `up{job="a"}=0 up{job="b"}=1`},
			{`{job="a"}`, `Down{job="a",zone="z"}=2 up{job="a"}=0`},
			{`{__name__=~"up|host_stats",job="b"}`, `up{job="b"}=1`},
			{`{__name__!="up",job!=""}`, `Down{job="a",zone="z"}=2`},
			{`sum by (job) ({__name__=~".+"})`, `{job="a"}=2 {job="b"}=1`},
			{`host_stats`,
				`host_stats{__field__="busy",host="h1"}=1 host_stats{__field__="cpu",host="h1"}=2.5 host_stats{__field__="mem",host="h1"}=7`},
			{`host_stats{__field__="cpu"}`, `host_stats{host="h1"}=2.5`},
			{`host_stats{__field__="cpu",__field__="mem"}`,
				`host_stats{__field__="cpu",host="h1"}=2.5 host_stats{__field__="mem",host="h1"}=7`},
			{`host_stats{__field__!="cpu"}`,
				`host_stats{__field__="busy",host="h1"}=1 host_stats{__field__="mem",host="h1"}=7`},
			{`host_stats{__field__=~"c.*"}`, `host_stats{host="h1"}=2.5`},
			{`host_stats{__field__="nosuch"}`, ``},
			{`up{__database__="public"}`, `up{job="a"}=0 up{job="b"}=1`},
			{`up{__schema__="elsewhere"}`, ``},
			{`up{x_service_database="public"}`, `up{job="a"}=0 up{job="b"}=1`},
			{`up{x_service_database="elsewhere"}`, ``},
			{`nosuch`, ``},
			{`up{nosuch="x"}`, ``},
			{`up{nosuch=""}`, `up{job="a"}=0 up{job="b"}=1`},
		} {
			if got := instant(t, e, c.query, nil); got != c.want {
				t.Errorf("%s\n got %s\nwant %s", c.query, got, c.want)
			}
		}
		for _, query := range []string{`up{__database__=~"p.*"}`, `up{__database__=""}`, `up{__schema__!="public"}`,
			`up{x_service_database!~"p"}`} {
			_, err := promql.Query{Expr: query}.Run(context.Background(), &promql.Tables{Engine: e, DB: "public"})
			if status.Of(err) != status.InvalidArguments {
				t.Errorf("%s: %v", query, err)
			}
		}
	})
}

// makeTable makes a table as SQL would, with a tag, fields of several types and a time in microseconds, and writes a
// row.
func makeTable(t *testing.T, e *engine.Engine, table string, ms int64) {
	t.Helper()
	ctx := context.Background()
	options, err := schema.ParseOptions(nil)
	if err != nil {
		t.Fatal(err)
	}
	name := schema.Name{DB: "public", Table: table}
	field := func(name string, typ vector.Type) schema.Column {
		return schema.Column{Name: name, Type: typ, Nullable: true}
	}
	_, err = e.CreateTable(ctx,
		&schema.Table{Name: name, Time: 1, Tags: []int{0}, Engine: "mito", Options: options, Columns: []schema.Column{
			{Name: "host", Type: vector.StringType, Semantic: schema.Tag, Nullable: true},
			{Name: "ts", Type: vector.Timestamp(6), Semantic: schema.Timestamp},
			field("cpu", vector.FloatType), field("mem", vector.Int64Type), field("busy", vector.BoolType),
			field("note", vector.StringType),
		}})
	if err != nil {
		t.Fatal(err)
	}
	var set engine.WriteSet
	b := set.Rows(name, engine.Hint{})
	for _, c := range []struct {
		name string
		typ  vector.Type
		set  func(*vector.ColumnBuilder)
	}{
		{"host", vector.StringType, func(c *vector.ColumnBuilder) { c.SetString("h1") }},
		{"ts", vector.Timestamp(6), func(c *vector.ColumnBuilder) { c.SetInt(ms*1000 + 7) }},
		{"cpu", vector.FloatType, func(c *vector.ColumnBuilder) { c.SetFloat(2.5) }},
		{"mem", vector.Int64Type, func(c *vector.ColumnBuilder) { c.SetInt(7) }},
		{"busy", vector.BoolType, func(c *vector.ColumnBuilder) { c.SetBool(true) }},
		{"note", vector.StringType, func(c *vector.ColumnBuilder) { c.SetString("x") }},
	} {
		col, err := b.Column(c.name, c.typ)
		if err != nil {
			t.Fatal(err)
		}
		c.set(col)
	}
	b.EndRow()
	if _, err := e.Write(ctx, &set); err != nil {
		t.Fatal(err)
	}
}

// instant evaluates at 1 s and describes the answer in one line.
func instant(t *testing.T, e *engine.Engine, query string, allow func(string) error) string {
	t.Helper()
	r, err := promql.Query{Expr: query, Start: 1000, End: 1000}.Run(context.Background(),
		&promql.Tables{Engine: e, DB: "public", Allow: allow})
	if err != nil {
		t.Fatalf("%s: %v", query, err)
	}
	var out []string
	for i := range r.Len() {
		for _, p := range r.Samples(i) {
			ls := r.Labels(i)
			rest := slices.DeleteFunc(slices.Clone(ls), func(l promql.Label) bool { return l.Name == "__name__" })
			out = append(out, fmt.Sprintf("%s%s=%v", ls.Get("__name__"), rest, p.V))
		}
	}
	slices.Sort(out)
	return strings.ReplaceAll(strings.Join(out, " "), `", `, `",`)
}

// TestTableLists: names and values of labels.
func TestTableLists(t *testing.T) {
	ctx := context.Background()
	e := openEngine(t)
	store := newMemory()
	store.Add(promql.NewLabels("__name__", "up", "job", "a", "zone", "z1"), memorySample{T: 1000, V: 1})
	store.Add(promql.NewLabels("__name__", "up", "job", "b"), memorySample{T: 1000, V: 1})
	store.Add(promql.NewLabels("__name__", "rss", "host", "h1"), memorySample{T: 1000, V: 1})
	fill(t, e, store)
	makeTable(t, e, "host_stats", 1000)
	plain := newMemory()
	plain.Add(promql.NewLabels("__name__", "temp", "room", "r1"), memorySample{T: 1000, V: 20})
	fillInto(t, e, plain, "")
	names := func(text string) []promql.Selection {
		ms, err := new(promql.Parser).Selector(text)
		if err != nil {
			t.Fatal(err)
		}
		return []promql.Selection{{Matchers: ms, Start: 0, End: 5000}}
	}
	eachState(t, e, func(t *testing.T) {
		s := &promql.Tables{Engine: e, DB: "public"}
		for _, c := range []struct {
			name string
			got  func() ([]string, error)
			want string
		}{
			{"all names", func() ([]string, error) { return s.LabelNames(ctx, nil) }, "__name__ host job room zone"},
			{"names of up", func() ([]string, error) { return s.LabelNames(ctx, names("up")) }, "__name__ job zone"},
			{"names of b", func() ([]string, error) { return s.LabelNames(ctx, names(`up{job="b"}`)) }, "__name__ job"},
			{"metrics", func() ([]string, error) { return s.LabelValues(ctx, "__name__", nil) }, "rss temp up"},
			{"metrics with a job", func() ([]string, error) {
				return s.LabelValues(ctx, "__name__", names(`{job!=""}`))
			}, "up"},
			{"jobs", func() ([]string, error) { return s.LabelValues(ctx, "job", nil) }, "a b"},
			{"jobs in a zone", func() ([]string, error) { return s.LabelValues(ctx, "job", names(`{zone="z1"}`)) },
				"a"},
			{"fields", func() ([]string, error) { return s.LabelValues(ctx, "__field__", names("host_stats")) },
				"busy cpu mem"},
			{"no such label", func() ([]string, error) { return s.LabelValues(ctx, "nosuch", nil) }, ""},
			{"databases", func() ([]string, error) { return s.LabelValues(ctx, "__database__", nil) },
				"information_schema public service_private"},
			{"databases with a table", func() ([]string, error) {
				return s.LabelValues(ctx, "__schema__", names("host_stats"))
			}, "public"},
			{"databases with no such table", func() ([]string, error) {
				return s.LabelValues(ctx, "x_service_database", names("nosuch"))
			}, ""},
			{"fields of all tables", func() ([]string, error) { return s.LabelValues(ctx, "__field__", nil) },
				"busy cpu mem service_value"},
		} {
			got, err := c.got()
			if err != nil {
				t.Fatalf("%s: %v", c.name, err)
			}
			if text := strings.Join(got, " "); text != c.want {
				t.Errorf("%s: %s, want %s", c.name, text, c.want)
			}
		}
	})
}
