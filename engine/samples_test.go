package engine

import (
	"fmt"
	"math"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"

	"varve/engine/invariant"
	"varve/engine/scan"
	"varve/engine/schema"
	"varve/engine/status"
	"varve/engine/vector"
	"varve/engine/vfs"
)

var sampleNames = SampleColumns{Time: "service_timestamp", Value: "service_value",
	Histogram: "service_native_histogram", Start: "service_start_timestamp"}

// named is the name of a series: table, then labels and values in turn.
func named(table, physical string, labels ...string) SeriesName {
	n := SeriesName{Table: public(table), Physical: physical}
	for i := 0; i < len(labels); i += 2 {
		n.Labels = append(n.Labels, SeriesLabel{labels[i], labels[i+1]})
	}
	return n
}

func mustSeries(t testing.TB, e *Engine, names ...SeriesName) []*Series {
	t.Helper()
	list, errs, err := e.Series(ctx, &SeriesRequest{Columns: sampleNames, Names: names})
	if err != nil {
		t.Fatal(err)
	}
	for i, err := range errs {
		if err != nil {
			t.Fatalf("%+v: %v", names[i], err)
		}
	}
	return list
}

// samplesOf is what a table holds, a line a row: labels, time, bits of the value, histogram, start.
func samplesOf(t testing.TB, e *Engine, table string) []string {
	t.Helper()
	tab, err := e.Table(public(table))
	if err != nil {
		t.Fatal(err)
	}
	var ids []schema.ColumnID
	for i := range tab.Schema.Columns {
		ids = append(ids, tab.Schema.Columns[i].ID)
	}
	var rows []string
	readAll(t, e, Request{Table: tab, Columns: ids, Time: scan.All}, func(b *vector.Batch) {
		for r := range b.N {
			var cells []string
			for i, c := range tab.Schema.Columns {
				switch v := b.Cols[i]; {
				case v.IsNull(r):
				case v.Type == vector.FloatType:
					cells = append(cells, fmt.Sprintf("%s=%x", c.Name, math.Float64bits(v.Float(r))))
				case v.Type.Kind() == vector.Bytes:
					cells = append(cells, fmt.Sprintf("%s=%s", c.Name, v.Bytes(r)))
				default:
					cells = append(cells, fmt.Sprintf("%s=%d", c.Name, v.Int(r)))
				}
			}
			slices.Sort(cells)
			rows = append(rows, strings.Join(cells, " "))
		}
	})
	slices.Sort(rows)
	return rows
}

// everyState checks a table in memory, after a restart, in parts and after a merge.
func everyState(t *testing.T, o Options, e *Engine, physical string, want map[string][]string) {
	t.Helper()
	check := func(when string, e *Engine) {
		t.Helper()
		for table, rows := range want {
			slices.Sort(rows)
			if got := samplesOf(t, e, table); !slices.Equal(got, rows) {
				t.Errorf("%s: %s has\n%s\nwant\n%s", when, table, strings.Join(got, "\n"), strings.Join(rows, "\n"))
			}
		}
	}
	check("in memory", e)
	mustClose(t, e)
	e = mustOpen(t, o)
	check("replayed", e)
	if err := e.Flush(ctx, public(physical)); err != nil {
		t.Fatal(err)
	}
	check("flushed", e)
	if err := e.Compact(ctx, public(physical)); err != nil {
		t.Fatal(err)
	}
	check("merged", e)
	mustClose(t, e)
}

// TestSamples: samples of several tables in one write, with every bit of their values, the last of equal ones.
func TestSamples(t *testing.T) {
	const stale, other = 0x7ff0000000000002, 0xfff8dead00000001
	for _, physical := range []string{"phys", ""} {
		t.Run("physical="+physical, func(t *testing.T) {
			o := testOptions(vfs.NewMem())
			e := mustOpen(t, o)
			x := mustSeries(t, e, named("up", physical, "host", "a"), named("up", physical, "host", "b\x00c"),
				named("load:1m", physical, "host", "a", "zone", "z"), named("bare", physical),
				named("bare", physical, "then", "more"))
			var set WriteSet
			write := func(of *Series, ms int64, v float64) { set.Samples(of, &sampleNames).Float(ms, v) }
			write(x[0], 1000, 1)
			write(x[1], 1000, math.Float64frombits(stale))
			write(x[0], 500, math.Float64frombits(other))
			write(x[2], 7, math.Copysign(0, -1))
			write(x[3], -5, math.Inf(1))
			write(x[0], 1000, 2)
			written, err := e.Write(ctx, &set)
			if err != nil || written[0].Rows+written[len(written)-1].Rows == 0 {
				t.Fatal(written, err)
			}
			set.Reset()
			y := mustSeries(t, e, named("up", physical, "host", "a", "zone", "late"))
			write(y[0], 1000, 3)
			write(x[0], 500, 0.5) // late, replaces
			if _, err := e.Write(ctx, &set); err != nil {
				t.Fatal(err)
			}
			flushed := physical
			if flushed == "" {
				flushed = "up"
			}
			everyState(t, o, e, flushed, map[string][]string{
				"up": {"host=a service_timestamp=1000 service_value=4000000000000000",
					"host=a service_timestamp=500 service_value=3fe0000000000000",
					"host=b\x00c service_timestamp=1000 service_value=7ff0000000000002",
					"host=a service_timestamp=1000 service_value=4008000000000000 zone=late"},
				"load:1m": {"host=a service_timestamp=7 service_value=8000000000000000 zone=z"},
				"bare":    {"service_timestamp=-5 service_value=7ff0000000000000"},
			})
		})
	}
}

// TestSamplesOfOtherKinds: histograms and start times get their columns with the first that comes, in the tables that
// have them.
func TestSamplesOfOtherKinds(t *testing.T) {
	for _, physical := range []string{"phys", ""} {
		o := testOptions(vfs.NewMem())
		e := mustOpen(t, o)
		x := mustSeries(t, e, named("h", physical, "l", "1"), named("f", physical, "l", "1"))
		var set WriteSet
		g := set.Samples(x[0], &sampleNames)
		g.Float(1, 1)
		g.Histogram(2, []byte("two"))
		g.Started(1)
		g.Histogram(3, []byte("three"))
		set.Samples(x[1], &sampleNames).Float(1, 1)
		if _, err := e.Write(ctx, &set); err != nil {
			t.Fatal(err)
		}
		if tab, err := e.Table(public("f")); err != nil || len(tab.Schema.Columns) != 3 {
			t.Errorf("a table of floats: %+v, %v", tab.Schema.Columns, err)
		}
		flushed := physical
		if flushed == "" {
			flushed = "h"
		}
		everyState(t, o, e, flushed, map[string][]string{
			"h": {"l=1 service_timestamp=1 service_value=3ff0000000000000",
				"l=1 service_native_histogram=two service_start_timestamp=1 service_timestamp=2",
				"l=1 service_native_histogram=three service_timestamp=3"},
			"f": {"l=1 service_timestamp=1 service_value=3ff0000000000000"},
		})
	}
}

// TestSeriesRefused: what keeps one series from being written to is no other's error.
func TestSeriesRefused(t *testing.T) {
	e := mustOpen(t, testOptions(vfs.NewMem()))
	defer mustClose(t, e)
	var set WriteSet
	if err := fill(set.Rows(public("plain"), hintOf(lastRow)), []modelRow{{"ts": int64(1), "v": int64(42)}}); err !=
		nil {
		t.Fatal(err)
	}
	if _, err := e.Write(ctx, &set); err != nil {
		t.Fatal(err)
	}
	elsewhere := named("m", "phys")
	elsewhere.Table.DB = "nowhere"
	names := []SeriesName{
		named("good", "phys", "l", "v"), named("plain", "phys"), elsewhere, named("a/b", "phys"), named("phys", "phys"),
		named("m", "phys", "service_value", "1"), named("good", "phys", "service_timestamp", "1"),
		named("n", "phys", strings.Repeat("l", 600), "v"),
		named("big", "phys", "l", strings.Repeat("v", 2<<20)), named("good", "phys", "l", "w"),
	}
	list, errs, err := e.Series(ctx, &SeriesRequest{Columns: sampleNames, Names: names})
	if err != nil {
		t.Fatal(err)
	}
	for i, part := range []string{"", "time index", "Database not found", "slashes", "physical table", "not a label",
		"not a label", "limit is 512", "limit is 1048576", ""} {
		if part == "" && (errs[i] != nil || list[i] == nil) || part != "" &&
			(errs[i] == nil || !strings.Contains(errs[i].Error(), part) || status.Of(errs[i]) == status.Internal) {
			t.Errorf("%.60v: %v, want %q", names[i], errs[i], part)
		}
	}
	_, errs, err = e.Series(ctx, &SeriesRequest{Columns: sampleNames,
		Names: []SeriesName{named("new", "phys"), named("good", "phys", "k", "v"),
			named("good", "phys", "l", "x")},
		NoAutoCreate: true})
	if err != nil || errs[0] == nil || errs[1] == nil || errs[2] != nil {
		t.Errorf("nothing is to be created: %v, %v", errs, err)
	}
}

// TestSamplesOfDroppedTables: a series outlives its table, and rows written to it are gone with the table.
func TestSamplesOfDroppedTables(t *testing.T) {
	o := testOptions(vfs.NewMem())
	e := mustOpen(t, o)
	x := mustSeries(t, e, named("up", "phys", "l", "1"), named("down", "phys", "l", "1"), named("alone", "", "l", "1"))
	if err := e.DropTables(ctx, []schema.Name{public("up"), public("alone")}); err != nil {
		t.Fatal(err)
	}
	if x[0].Alive() || !x[1].Alive() || x[2].Alive() {
		t.Errorf("alive: %v %v %v", x[0].Alive(), x[1].Alive(), x[2].Alive())
	}
	again := mustSeries(t, e, named("up", "phys", "l", "1"))
	var set WriteSet
	for i, s := range []*Series{x[0], x[1], x[2], again[0]} {
		set.Samples(s, &sampleNames).Float(int64(i), 1)
	}
	if _, err := e.Write(ctx, &set); err != nil {
		t.Fatal(err)
	}
	everyState(t, o, e, "phys", map[string][]string{
		"up":   {"l=1 service_timestamp=3 service_value=3ff0000000000000"},
		"down": {"l=1 service_timestamp=1 service_value=3ff0000000000000"},
	})
}

// TestSamplesAtRandom compares with a map, through restarts, flushes and merges.
func TestSamplesAtRandom(t *testing.T) {
	rng := rand.New(rand.NewPCG(7, 7))
	o := testOptions(vfs.NewMem())
	e := mustOpen(t, o)
	want := map[string]map[string]float64{}
	cache := map[string]*Series{}
	for round := range 60 {
		var set WriteSet
		for range rng.IntN(40) {
			table := fmt.Sprint("m", rng.IntN(6))
			labels := []string{}
			for _, l := range []string{"a", "b", "c", "d"}[:1+rng.IntN(min(4, 1+round/10))] {
				if rng.IntN(3) > 0 {
					labels = append(labels, l, fmt.Sprint("v", rng.IntN(3)))
				}
			}
			id := table + strings.Join(labels, ",")
			if cache[id] == nil {
				cache[id] = mustSeries(t, e, named(table, "phys", labels...))[0]
			}
			g := set.Samples(cache[id], &sampleNames)
			if want[table] == nil {
				want[table] = map[string]float64{}
			}
			for range rng.IntN(4) {
				at, v := int64(rng.IntN(50)), float64(rng.IntN(1000))
				g.Float(at, v)
				cells := []string{fmt.Sprintf("service_timestamp=%d", at)}
				for i := 0; i < len(labels); i += 2 {
					cells = append(cells, labels[i]+"="+labels[i+1])
				}
				slices.Sort(cells)
				want[table][strings.Join(cells, " ")] = v
			}
		}
		if _, err := e.Write(ctx, &set); err != nil {
			t.Fatal(err)
		}
		switch rng.IntN(8) {
		case 0:
			mustClose(t, e)
			e, cache = mustOpen(t, o), map[string]*Series{}
		case 1:
			if err := e.Flush(ctx, public("phys")); err != nil {
				t.Fatal(err)
			}
		case 2:
			if err := e.Compact(ctx, public("phys")); err != nil {
				t.Fatal(err)
			}
		}
	}
	for table, rows := range want {
		if len(rows) == 0 {
			continue
		}
		var lines []string
		for cells, v := range rows {
			list := append(strings.Fields(cells), fmt.Sprintf("service_value=%x", math.Float64bits(v)))
			slices.Sort(list)
			lines = append(lines, strings.Join(list, " "))
		}
		slices.Sort(lines)
		if got := samplesOf(t, e, table); !slices.Equal(got, lines) {
			t.Errorf("%s has %d rows, want %d", table, len(got), len(lines))
		}
	}
	mustClose(t, e)
}

// TestWarmSamples: a sample of a series that was there before allocates nothing, and takes little in the log.
func TestWarmSamples(t *testing.T) {
	e := mustOpen(t, testOptions(vfs.NewMem()))
	defer mustClose(t, e)
	const n = 2000
	var names []SeriesName
	for i := range n {
		names = append(names, named("requests_total", "phys", "host", fmt.Sprintf("host-%04d.example.net", i), "job",
			"api-server"))
	}
	list := mustSeries(t, e, names...)
	var set WriteSet
	at := int64(0)
	once := func() {
		at += 15000
		for _, x := range list {
			set.Samples(x, &sampleNames).Float(at, 1.5)
		}
		if _, err := e.Write(ctx, &set); err != nil {
			t.Fatal(err)
		}
		set.Reset()
	}
	most := float64(n / 10)
	if invariant.On {
		most = n / 2 // chunks of 64 rows may be drawn, and each is allocated
	}
	once()
	if got := testing.AllocsPerRun(20, once); got > most {
		t.Errorf("%.0f allocations for %d samples", got, n)
	}
}
