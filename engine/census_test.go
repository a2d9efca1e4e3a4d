package engine

import (
	"fmt"
	"strings"
	"testing"

	"varve/engine/schema"
	"varve/engine/vector"
	"varve/engine/vfs"
)

// refused asks for series and gives how many were refused, all of them with a text.
func refused(t *testing.T, e *Engine, text string, names ...SeriesName) (n int) {
	t.Helper()
	_, errs, err := e.Series(ctx, &SeriesRequest{Columns: sampleNames, Names: names})
	if err != nil {
		t.Fatal(err)
	}
	for _, err := range errs {
		if err != nil {
			if n++; !strings.Contains(err.Error(), text) {
				t.Errorf("%v, want %q", err, text)
			}
		}
	}
	return n
}

// hosts names series of a table by host.
func hosts(table, physical string, from, to int) (list []SeriesName) {
	for i := from; i < to; i++ {
		list = append(list, named(table, physical, "host", fmt.Sprint("h", i)))
	}
	return list
}

// writeHosts writes a sample to each of some series.
func writeHosts(t *testing.T, e *Engine, list []*Series) {
	t.Helper()
	var set WriteSet
	for _, s := range list {
		set.Samples(s, &sampleNames).Float(1000, 1)
	}
	if _, err := e.Write(ctx, &set); err != nil {
		t.Fatal(err)
	}
}

// TestSeriesAreBounded: bounds hold for samples and for rows, know what was written before, whatever became of it, and give
// room again when tables go.
func TestSeriesAreBounded(t *testing.T) {
	for _, physical := range []string{"phys", ""} {
		t.Run("physical="+physical, func(t *testing.T) {
			o := testOptions(vfs.NewMem())
			o.MaxSeries, o.MaxSeriesPerTable = 10, 6
			e := mustOpen(t, o)
			a := mustSeries(t, e, hosts("a", physical, 0, 6)...)
			writeHosts(t, e, a)
			full := func(when string, e *Engine) {
				t.Helper()
				if n := refused(t, e, "max_series_per_table is 6", hosts("a", physical, 0, 9)...); n != 3 {
					t.Errorf("%s: %d series refused, want 3", when, n)
				}
				if got := e.census.len(); got != 6 {
					t.Errorf("%s: %d series, want 6", when, got)
				}
			}
			full("in memory", e)
			mustClose(t, e)
			e = mustOpen(t, o)
			full("replayed", e)
			flushed := physical
			if flushed == "" {
				flushed = "a"
			}
			if err := e.Flush(ctx, public(flushed)); err != nil {
				t.Fatal(err)
			}
			full("flushed", e)
			mustClose(t, e)
			e = mustOpen(t, o)
			full("in parts", e)
			writeHosts(t, e, mustSeries(t, e, hosts("b", physical, 0, 4)...))
			if n := refused(t, e, "storage.max_series is 10", hosts("c", physical, 0, 1)...); n != 1 {
				t.Errorf("%d series refused past all, want 1", n)
			}
			if _, err := e.Table(public("c")); err == nil {
				t.Error("a table was made for series without room")
			}
			if err := e.Compact(ctx, public(flushed)); err != nil {
				t.Fatal(err)
			}
			old := mustSeries(t, e, hosts("a", physical, 0, 1)...)[0]
			if err := e.Truncate(ctx, public("b")); err != nil {
				t.Fatal(err)
			}
			writeHosts(t, e, mustSeries(t, e, hosts("c", physical, 0, 4)...))
			if old.Alive() {
				t.Error("a series is taken for counted although a table went since")
			}
			writeHosts(t, e, []*Series{old})
			if err := e.DropTables(ctx, []schema.Name{public("a")}); err != nil {
				t.Fatal(err)
			}
			writeHosts(t, e, mustSeries(t, e, hosts("b", physical, 0, 6)...))
			mustClose(t, e)
		})
	}
}

// TestRowsPastTheBound: rows are refused all or none, whatever tables they are for.
func TestRowsPastTheBound(t *testing.T) {
	o := testOptions(vfs.NewMem())
	o.MaxSeries = 3
	e := mustOpen(t, o)
	defer mustClose(t, e)
	hint := Hint{AutoCreate: true, TimeIndex: "ts", Tags: []string{"host"}}
	write := func(table string, from, to int) error {
		var set WriteSet
		b := set.Rows(public(table), hint)
		for i := from; i < to; i++ {
			host, err := b.Column("host", vector.StringType)
			if err != nil {
				t.Fatal(err)
			}
			host.SetBytes(fmt.Append(nil, "h", i))
			ts, err := b.Column("ts", vector.Timestamp(3))
			if err != nil {
				t.Fatal(err)
			}
			ts.SetInt(int64(i))
			b.EndRow()
		}
		_, err := e.Write(ctx, &set)
		return err
	}
	if err := write("a", 0, 2); err != nil {
		t.Fatal(err)
	}
	if err := write("a", 1, 4); err == nil || !strings.Contains(err.Error(), "storage.max_series is 3") {
		t.Errorf("two series too many: %v", err)
	}
	if err := write("a", 1, 3); err != nil {
		t.Errorf("what was refused took room: %v", err)
	}
	if err := write("b", 0, 1); err == nil {
		t.Error("a table was made without room for a series")
	}
	if _, err := e.Table(public("b")); err == nil {
		t.Error("a table was made for rows without room")
	}
	if err := write("a", 0, 3); err != nil {
		t.Errorf("series that are known go on: %v", err)
	}
}
