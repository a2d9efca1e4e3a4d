package engine

import (
	"errors"
	"fmt"
	"path"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

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

// TestSeriesAreBounded: bounds hold for samples and for rows, know what was written before, whatever became of it, and
// give room again when tables go.
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

// TestRowsLeftOut: a write that allows it leaves out the rows of series without room, wherever they stand in the batch
// and whether the table is there or not, and tells how many; others of the same request go on, and one that does not
// allow it writes nothing.
func TestRowsLeftOut(t *testing.T) {
	o := testOptions(vfs.NewMem())
	o.MaxSeries, o.MaxSeriesPerTable = 5, 3
	e := mustOpen(t, o)
	rows := func(hosts string) (list []modelRow) {
		for i, h := range hosts {
			list = append(list, modelRow{"ts": int64(i), "host": string(h), "v": int64(i)})
		}
		return list
	}
	write := func(leave bool, tables ...string) (left string, err error) {
		var set WriteSet
		for i := 0; i < len(tables); i += 2 {
			h := hintOf(lastRow)
			if leave {
				h.LeftOut = func(n int, why error) { left += fmt.Sprintf("%d of %s: %v;", n, tables[i], why) }
			}
			if err := fill(set.Rows(public(tables[i]), h), rows(tables[i+1])); err != nil {
				t.Fatal(err)
			}
		}
		out, err := e.Write(ctx, &set)
		if err == nil {
			left += fmt.Sprint(out)
		}
		return left, err
	}
	for _, c := range []struct {
		leave        bool
		write        []string
		want, stored string
	}{
		{true, []string{"a", "abcdadeec"},
			"4 of a: table service.public.a has 3 series, storage.max_series_per_table is 3: a new one is refused;[{5}]", "a:abcac"},
		{true, []string{"a", "xya", "b", "ab"},
			"2 of a: table service.public.a has 3 series, storage.max_series_per_table is 3: a new one is refused;[{3}]", "b:ab"},
		{true, []string{"a", "zz"},
			"2 of a: table service.public.a has 3 series, storage.max_series_per_table is 3: a new one is refused;[{0}]", ""},
		{true, []string{"c", "abc", "a", "a"},
			"3 of c: there are 5 series, storage.max_series is 5: a new one, of table service.public.c, is refused;[{1}]", ""},
		{false, []string{"a", "ad"}, "!max_series_per_table", ""},
	} {
		got, err := write(c.leave, c.write...)
		if want, fails := strings.CutPrefix(c.want, "!"); fails != (err != nil) ||
			fails && !strings.Contains(err.Error(), want) || !fails && got != want {
			t.Errorf("%v: %s, %v", c.write, got, err)
		}
		if name, hosts, ok := strings.Cut(c.stored, ":"); ok {
			lines, err := scanTable(e, public(name), everything)
			all := strings.Join(lines, " ")
			for _, h := range hosts {
				if !strings.Contains(all, "host="+string(h)) {
					t.Errorf("%v: %s has %s", c.write, name, all)
				}
			}
			if err != nil || strings.Contains(all, "host=d") || strings.Contains(all, "host=x") {
				t.Errorf("%v: %s has %s, %v", c.write, name, all, err)
			}
		}
	}
	if _, err := e.Table(public("c")); err == nil {
		t.Error("a table was made for rows that were left out")
	}
	before, err := dump(e)
	if err != nil {
		t.Fatal(err)
	}
	mustClose(t, e)
	e = mustOpen(t, o)
	defer mustClose(t, e)
	if after, err := dump(e); err != nil || after != before {
		t.Errorf("after a start: %v\n%s", err, difference(after, before))
	}
}

// heldLog is a file system that keeps the log from being synced while held is true, until release is called.
type heldLog struct {
	vfs.FS
	held    atomic.Bool
	arrived chan struct{} // gets one for each sync that is held, the first of them
	free    chan struct{}
	release func()
}

func newHeldLog() *heldLog {
	h := &heldLog{arrived: make(chan struct{}, 1), free: make(chan struct{})}
	h.release = sync.OnceFunc(func() { close(h.free) })
	h.FS = vfs.WithFaults(vfs.NewMem(), func(op vfs.Op, name string) error {
		if op == vfs.OpSync && h.held.Load() && path.Base(path.Dir(name)) == "wal" {
			select {
			case h.arrived <- struct{}{}:
			default:
			}
			<-h.free
		}
		return nil
	})
	return h
}

// TestCensusWaitsForNoSync: while the log syncs rows, a census counts their series, and neither it nor the refusal of
// another series waits for the sync.
func TestCensusWaitsForNoSync(t *testing.T) {
	disk := newHeldLog()
	defer disk.release()
	o := testOptions(disk)
	o.MaxSeries = 3
	e := mustOpen(t, o)
	defer mustClose(t, e)
	row := func(host string) []modelRow { return []modelRow{{"ts": int64(1), "host": host, "v": int64(1)}} }
	for _, host := range []string{"a", "b"} {
		if err := put(e, "log", lastRow, row(host)); err != nil {
			t.Fatal(err)
		}
	}
	disk.held.Store(true)
	slow, others := make(chan error, 1), make(chan error, 1)
	go func() { slow <- put(e, "log", lastRow, row("c")) }()
	<-disk.arrived
	go func() {
		var err error
		for range 100 {
			if e := put(e, "log", lastRow, row("d")); e == nil || !strings.Contains(e.Error(), "max_series is 3") {
				err = errors.Join(err, fmt.Errorf("a fourth series: %w", e))
			}
		}
		others <- err
	}()
	select {
	case err := <-others:
		if err != nil {
			t.Error(err)
		}
	case <-time.After(30 * time.Second):
		t.Error("the refusal of a series waits for the sync of other rows")
		disk.release()
		<-others
	}
	if n := e.census.len(); n != 3 {
		t.Errorf("%d series, want 3", n)
	}
	disk.release()
	if err := <-slow; err != nil {
		t.Error(err)
	}
	if n := len(e.census.underWay); n != 0 {
		t.Errorf("%d writes are under way at the end", n)
	}
}

// TestCensusBesideWrites: the bound holds while censuses, rows and samples go on at the same time, and no series that
// was stored is missing from the count at the end.
func TestCensusBesideWrites(t *testing.T) {
	o := testOptions(vfs.NewMem())
	o.MaxSeries = 40
	e := mustOpen(t, o)
	defer mustClose(t, e)
	var all sync.WaitGroup
	var stored atomic.Int64
	for w := range 4 {
		all.Go(func() {
			for i := range 20 {
				err := put(e, fmt.Sprint("log", w), lastRow,
					[]modelRow{{"ts": int64(i), "host": fmt.Sprint("h", i), "v": int64(1)}})
				switch {
				case err == nil:
					stored.Add(1)
				case !strings.Contains(err.Error(), "max_series is 40"):
					t.Error(err)
				}
				e.census.take()
				if n := e.census.len(); n > 40 {
					t.Errorf("%d series", n)
				}
			}
		})
	}
	all.Wait()
	e.census.take()
	if n := e.census.len(); n != 40 || stored.Load() != 40 {
		t.Errorf("%d series are counted and %d stored, want 40", n, stored.Load())
	}
}
