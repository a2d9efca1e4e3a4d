package engine

import (
	"bytes"
	"fmt"
	"math"
	"math/rand/v2"
	"runtime"
	"slices"
	"strings"
	"testing"
	"time"

	"varve/engine/filter"
	"varve/engine/scan"
	"varve/engine/schema"
	"varve/engine/status"
	"varve/engine/vector"
	"varve/engine/vfs"
)

// metrics fills a set with one sample of some series of some tables of the physical table "phys".
func metrics(t testing.TB, set *WriteSet, from, tables, series int, at int64) {
	t.Helper()
	for m := from; m < from+tables; m++ {
		b := set.Rows(public(fmt.Sprintf("metric_%05d", m)), hintOf(metric))
		for s := range series {
			for _, c := range []struct {
				name string
				set  func(*vector.ColumnBuilder)
			}{
				{"ts", func(c *vector.ColumnBuilder) { c.SetInt(at) }},
				{"value", func(c *vector.ColumnBuilder) { c.SetFloat(float64(s)) }},
				{"host", func(c *vector.ColumnBuilder) {
					c.SetString(fmt.Sprintf("host-%04d.zone-%d.example.net", s, s%7))
				}},
				{"zone", func(c *vector.ColumnBuilder) { c.SetString(fmt.Sprint("zone-", s%7)) }},
				{"l0", func(c *vector.ColumnBuilder) { c.SetString("production") }},
				{"l1", func(c *vector.ColumnBuilder) { c.SetString(fmt.Sprint("job-", m%50)) }},
			} {
				col, err := b.Column(c.name, typeOf(c.name))
				if err != nil {
					t.Fatal(err)
				}
				c.set(col)
			}
			b.EndRow()
		}
	}
}

// TestManyTables makes tables by writes: one region and no file for each, and what is asked of one is read of one.
func TestManyTables(t *testing.T) {
	const tables, series = 300, 20
	o := testOptions(vfs.NewMem())
	o.FlushBytes = 1 << 20
	e := mustOpen(t, o)
	for round := range int64(3) {
		for from := 0; from < tables; from += 50 {
			var set WriteSet
			metrics(t, &set, from, 50, series, 1000*round)
			if _, err := e.Write(ctx, &set); err != nil {
				t.Fatal(err)
			}
		}
		if err := e.Flush(ctx, public("phys")); err != nil {
			t.Fatal(err)
		}
	}
	c := e.catalog.Load()
	if len(c.logicals) != tables || len(c.regions) != 1 {
		t.Errorf("%d logical tables in %d regions", len(c.logicals), len(c.regions))
	}
	check := func(when string) {
		for _, n := range []int{0, 17, tables - 1} {
			got := oneSeries(t, e, public(fmt.Sprintf("metric_%05d", n)), "host-0003.zone-3.example.net")
			if want := []int64{0, 1000, 2000}; !slices.Equal(got, want) {
				t.Errorf("%s: table %d has %v, want %v", when, n, got, want)
			}
		}
	}
	check("parts")
	var set WriteSet
	metrics(t, &set, 5, 1, 7, 3000)
	if _, err := e.Write(ctx, &set); err != nil {
		t.Fatal(err)
	}
	if tab, err := e.Table(public("metric_00005")); err != nil || tab.Stats().Rows != 3*series+7 ||
		tab.Stats().MemtableRows != 7 {
		t.Errorf("statistics of a logical table: %+v, %v", tab.Stats(), err)
	}
	if err := e.Truncate(ctx, public("metric_00005")); err != nil {
		t.Fatal(err)
	}
	if err := e.Compact(ctx, public("phys")); err != nil {
		t.Fatal(err)
	}
	check("compacted")
	mustClose(t, e)
	e = mustOpen(t, o)
	check("reopened")
	before := e.catalog.Load().regions
	var gone []schema.Name
	for n := range tables {
		if n%3 == 1 {
			gone = append(gone, public(fmt.Sprintf("metric_%05d", n)))
		}
	}
	if err := e.DropTables(ctx, gone); err != nil {
		t.Fatal(err)
	}
	if err := e.Compact(ctx, public("phys")); err != nil {
		t.Fatal(err)
	}
	for _, r := range before {
		rows := int64(0)
		for _, p := range r.snap.Load().parts {
			rows += p.meta.Rows
		}
		if rows != 3*series*(tables-int64(len(gone))-1) { // one was truncated
			t.Errorf("%d rows are left on disk after %d tables were dropped", rows, len(gone))
		}
	}
	check("others dropped")
	mustClose(t, e)
}

// oneSeries returns the times of the rows of one host.
func oneSeries(t testing.TB, e *Engine, name schema.Name, host string) (times []int64) {
	t.Helper()
	tab, err := e.Table(name)
	if err != nil {
		t.Fatal(err)
	}
	id := tab.Schema.Columns[tab.Schema.Column("host")].ID
	readAll(t, e, Request{Table: tab, Columns: []schema.ColumnID{tab.Schema.TimeColumn().ID}, Time: scan.All,
		Filter: filter.And{{Column: id, Op: filter.Equal, Args: vector.ConstString(host), NArgs: 1}}},
		func(b *vector.Batch) {
			for i := range b.N {
				times = append(times, b.Cols[0].Int(i))
			}
		})
	return times
}

// TestPhysicalTableRules holds what cannot be done to physical and logical tables.
func TestPhysicalTableRules(t *testing.T) {
	e := mustOpen(t, testOptions(vfs.NewMem()))
	defer mustClose(t, e)
	must := func(err error) {
		t.Helper()
		if err != nil {
			t.Fatal(err)
		}
	}
	refused := func(what string, err error, code status.Code) {
		t.Helper()
		if status.Of(err) != code {
			t.Errorf("%s: %v, want code %d", what, err, code)
		}
	}
	rows := []modelRow{{"ts": int64(1), "value": 1.5, "host": "a"}}
	must(put(e, "cpu", metric, rows))
	must(put(e, "plain", lastRow, []modelRow{{"ts": int64(1), "v": int64(1), "host": "a"}}))

	refused("two fields", put(e, "two", metric, []modelRow{{"ts": int64(1), "value": 1.5, "v": int64(2)}}),
		status.InvalidArguments)
	refused("a field more", put(e, "cpu", metric, []modelRow{{"ts": int64(1), "value": 1.5, "v": int64(2)}}),
		status.InvalidArguments)
	refused("rows of the physical table", put(e, "phys", metric, rows), status.Unsupported)
	refused("a physical table that is none", func() error {
		var set WriteSet
		h := hintOf(metric)
		var err error
		h.Options, err = schema.ParseOptions(map[string]string{"physical_table": "plain"})
		must(err)
		must(fill(set.Rows(public("other"), h), rows))
		_, err = e.Write(ctx, &set)
		return err
	}(), status.InvalidArguments)
	rename := func(t *schema.Table) (*schema.Table, error) {
		n := *t
		n.Name.Table = "renamed"
		return &n, nil
	}
	refused("another name", e.Alter(ctx, public("cpu"), rename), status.InvalidArguments)
	refused("another name of the physical table", e.Alter(ctx, public("phys"), rename), status.Unsupported)
	options, err := schema.ParseOptions(map[string]string{schema.PhysicalOption: "",
		schema.EncodingOption: schema.SparseEncoding, "ttl": "1d"})
	must(err)
	must(e.Alter(ctx, public("phys"), func(t *schema.Table) (*schema.Table, error) {
		n := *t
		n.Options = options
		return &n, nil
	}))
	for _, table := range []string{"phys", "cpu"} {
		if lines, err := scanTable(e, public(table), everything); err != nil || len(lines) != 0 {
			t.Errorf("%s: %d rows are past the ttl of the physical table: %v", table, len(lines), err)
		}
	}
	refused("dropping the physical table", e.DropTables(ctx, []schema.Name{public("phys")}), status.InvalidArguments)
	refused("truncating the physical table", e.Truncate(ctx, public("phys")), status.Unsupported)
	must(e.DropTables(ctx, []schema.Name{public("cpu"), public("phys")}))
	if n := len(e.catalog.Load().regions); n != 1 {
		t.Errorf("%d regions are left, want that of the plain table", n)
	}
}

// BenchmarkMillionSeries makes 10,000 tables of 100 series by writes and then writes to all of them again. It reports
// what a new and a known series cost, and the memory that is held for each.
func BenchmarkMillionSeries(b *testing.B) {
	const tables, series, atOnce = 10_000, 100, 100
	for b.Loop() {
		e := mustOpen(b, Options{Dir: b.TempDir(), MemtableLimit: 512 << 20})
		var before, after runtime.MemStats
		runtime.GC()
		runtime.ReadMemStats(&before)
		var set WriteSet
		var first, later time.Duration
		for round := range int64(4) {
			for from := 0; from < tables; from += atOnce {
				set.Reset()
				metrics(b, &set, from, atOnce, series, 15_000*round)
				start := time.Now()
				if _, err := e.Write(ctx, &set); err != nil {
					b.Fatal(err)
				}
				if round == 0 {
					first += time.Since(start)
				} else {
					later += time.Since(start)
				}
			}
		}
		set = WriteSet{}
		runtime.GC()
		runtime.ReadMemStats(&after)
		b.ReportMetric(float64(first.Microseconds())/tables/series, "us/new-series")
		b.ReportMetric(float64(later.Microseconds())/tables/series/3, "us/sample")
		b.ReportMetric(float64(after.HeapAlloc-before.HeapAlloc)/tables/series, "B/series")
		start := time.Now()
		const queries = 100
		for n := range queries {
			if got := oneSeries(b, e, public(fmt.Sprintf("metric_%05d", n*97)),
				"host-0003.zone-3.example.net"); len(got) != 4 {
				b.Fatalf("%d samples, want 4", len(got))
			}
		}
		b.ReportMetric(float64(time.Since(start).Microseconds())/queries, "us/query")
		if err := e.Close(ctx, false); err != nil {
			b.Fatal(err)
		}
	}
}

// TestSeriesRanges walks tables by ranges of keys: together they give every row once, keys rising from range to range,
// and that of the physical table all rows of its logical ones.
func TestSeriesRanges(t *testing.T) {
	for seed := range uint64(10) {
		r := rand.New(rand.NewPCG(seed, 3))
		e := mustOpen(t, testOptions(vfs.NewMem()))
		w := newWorkload(rand.New(rand.NewPCG(seed, 4)))
		for range 60 {
			if o := w.next(); o.run(e) == nil && o.change != nil {
				o.change(w.model)
			}
		}
		all, err := e.Tables("public")
		if err != nil {
			t.Fatal(err)
		}
		for _, tab := range all {
			want, err := scanTable(e, tab.Schema.Name, everything)
			if err != nil {
				t.Fatal(err)
			}
			if got := walkRanges(t, e, tab, 1+r.IntN(5)); !slices.Equal(got, want) {
				t.Errorf("seed %d, %s:\n%s", seed, tab.Schema.Name,
					difference(strings.Join(got, "\n"), strings.Join(want, "\n")))
			}
		}
		mustClose(t, e)
	}
}

// walkRanges reads a table by n ranges of series keys and gives its rows, sorted as text.
func walkRanges(t *testing.T, e *Engine, tab *Table, n int) (lines []string) {
	t.Helper()
	q := Request{Table: tab, Time: scan.All}
	for _, c := range tab.Schema.Columns {
		q.Columns = append(q.Columns, c.ID)
	}
	s, err := e.Scan(ctx, q)
	if err != nil {
		t.Fatal(err)
	}
	defer s.Close()
	var last []byte
	for i := range n {
		w, err := s.Series(i, n)
		if err != nil {
			t.Fatal(err)
		}
		for {
			key, ok, err := w.Next()
			if err != nil {
				t.Fatal(err)
			}
			if !ok {
				break
			}
			if last != nil && bytes.Compare(key, last) <= 0 {
				t.Errorf("range %d of %d: key %x after %x", i, n, key, last)
			}
			last = bytes.Clone(key)
			if lines, err = appendRows(lines, tab.Schema, &seriesRows{w},
				scan.Range{From: math.MinInt64, To: math.MaxInt64}); err != nil {
				t.Fatal(err)
			}
		}
		w.Close()
	}
	slices.Sort(lines)
	return lines
}

// seriesRows is the current series of a walk as a cursor.
type seriesRows struct{ scan.Series }

func (s *seriesRows) Next(b *vector.Batch) (bool, error) { return s.Rows(b) }
func (s *seriesRows) Close()                             {}
