package engine

import (
	"fmt"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"varve/engine/schema"
	"varve/engine/vfs"
)

// fullMetrics fills a table of metrics with labels up to its bound and gives the series, each with so many labels of
// its own.
func fullMetrics(t *testing.T, e *Engine, table string, each int) []*Series {
	t.Helper()
	var names []SeriesName
	for i := range schema.MaxColumns - 2 {
		if i%each == 0 {
			names = append(names, named(table, "phys"))
		}
		of := &names[len(names)-1].Labels
		*of = append(*of, SeriesLabel{fmt.Sprintf("%s_%04d", table, i), "v"})
	}
	return mustSeries(t, e, names...)
}

func samplesNow(t *testing.T, e *Engine, ms int64, list ...*Series) {
	t.Helper()
	var set WriteSet
	for _, x := range list {
		set.Samples(x, &sampleNames).Float(ms, 1)
	}
	if _, err := e.Write(ctx, &set); err != nil {
		t.Fatal(err)
	}
}

// TestLabelsAreBoundByTable: a table with all labels that it may have refuses a series with another, and no other
// series or table.
func TestLabelsAreBoundByTable(t *testing.T) {
	e := mustOpen(t, testOptions(vfs.NewMem()))
	defer mustClose(t, e)
	samplesNow(t, e, 1, fullMetrics(t, e, "full", 1)...)
	list, errs, err := e.Series(ctx, &SeriesRequest{Columns: sampleNames, Names: []SeriesName{
		named("full", "phys", "one_more", "v"), named("full", "phys", "full_0001", "w"),
		named("other", "phys", "one_more", "v")}})
	if err != nil || errs[0] == nil || !strings.Contains(errs[0].Error(), "table full would have 4097 columns") ||
		errs[1] != nil || errs[2] != nil {
		t.Fatal(errs, err)
	}
	samplesNow(t, e, 2, list[1:]...)
}

// TestLabelsAreFreed: labels that no series has make room for others when a table is full, whether their series were
// dropped with their tables, expired or never written; those of series in memory, in parts and on their way stay.
func TestLabelsAreFreed(t *testing.T) {
	o := testOptions(vfs.NewMem())
	now := time.UnixMilli(1_000_000_000_000)
	var mu sync.Mutex
	o.Now = func() time.Time { mu.Lock(); defer mu.Unlock(); return now }
	later := func(d time.Duration) { mu.Lock(); now = now.Add(d); mu.Unlock() }
	e := mustOpen(t, o)
	all := fullMetrics(t, e, "full", 1)
	again := func() error {
		_, errs, err := e.Series(ctx,
			&SeriesRequest{Columns: sampleNames, Names: []SeriesName{named("full", "phys", "one_more", "v")}})
		if err != nil {
			t.Fatal(err)
		}
		return errs[0]
	}
	if again() == nil {
		t.Fatal("labels whose rows may be on their way are gone")
	}
	later(2 * labelKept)
	samplesNow(t, e, 1, all[0])
	if err := e.Flush(ctx, public("phys")); err != nil {
		t.Fatal(err)
	}
	samplesNow(t, e, 2, all[1])
	if err := again(); err != nil {
		t.Fatal(err)
	}
	for i, x := range all[:3] {
		if x.Alive() != (i < 2) {
			t.Errorf("series %d is alive: %v", i, x.Alive())
		}
	}
	samplesNow(t, e, 3, all[0])
	tab, err := e.Table(public("full"))
	if err != nil || len(tab.Schema.Tags) != 3 {
		t.Fatalf("%d labels are left, %v", len(tab.Schema.Tags), err)
	}
	p, err := e.Table(public("phys"))
	if err != nil || len(p.Schema.Tags) != 3+2 {
		t.Errorf("%d tags of the physical table are left, %v", len(p.Schema.Tags), err)
	}
	everyState(t, o, e, "phys", map[string][]string{"full": {
		"full_0000=v service_timestamp=1 service_value=3ff0000000000000",
		"full_0001=v service_timestamp=2 service_value=3ff0000000000000",
		"full_0000=v service_timestamp=3 service_value=3ff0000000000000"}})
}

// TestLabelsOfDroppedTablesAreFreed: a physical table that is full of labels of tables that are gone takes others.
func TestLabelsOfDroppedTablesAreFreed(t *testing.T) {
	o := testOptions(vfs.NewMem())
	start := time.Now()
	var later atomic.Int64
	o.Now = func() time.Time { return start.Add(1000*time.Since(start) + time.Duration(later.Load())) }
	e := mustOpen(t, o)
	defer mustClose(t, e)
	var dropped []schema.Name
	for k := range schema.MaxLabels / schema.MaxColumns {
		name := fmt.Sprint("gone", k)
		samplesNow(t, e, 1, fullMetrics(t, e, name, 512)...)
		dropped = append(dropped, public(name))
	}
	more := []SeriesName{named("next", "phys")}
	for i := range 20 {
		more[0].Labels = append(more[0].Labels, SeriesLabel{fmt.Sprintf("next_%02d", i), "v"})
	}
	_, errs, err := e.Series(ctx, &SeriesRequest{Columns: sampleNames, Names: more})
	if err != nil || errs[0] == nil || !strings.Contains(errs[0].Error(), "table phys would have") {
		t.Fatal(errs, err)
	}
	if err := e.DropTables(ctx, dropped); err != nil {
		t.Fatal(err)
	}
	later.Store(int64(time.Hour)) // it rests for a while after it has found nothing: the longer, the longer that took
	samplesNow(t, e, 2, mustSeries(t, e, more...)...)
	if p, err := e.Table(public("phys")); err != nil || len(p.Schema.Tags) != 20+2 {
		t.Errorf("%d tags, %v", len(p.Schema.Tags), err)
	}
}

// TestYoungLabels: labels that a definition adds to logical tables are young for a while, those that they had are not.
func TestYoungLabels(t *testing.T) {
	now := time.Unix(1000, 0)
	y := &youngLabels{now: func() time.Time { return now }, made: map[tableLabel]time.Time{}}
	had := &schema.Table{ID: 2, Physical: 1, Columns: []schema.Column{{ID: 7}}, Tags: []int{0}}
	more := &schema.Table{ID: 2, Physical: 1, Columns: []schema.Column{{ID: 7}, {ID: 8}}, Tags: []int{0, 1}}
	fresh := &schema.Table{ID: 3, Physical: 1, Columns: []schema.Column{{ID: 7}, {ID: 9}}, Tags: []int{0}}
	own := &schema.Table{ID: 4, Columns: []schema.Column{{ID: 7}}, Tags: []int{0}}
	c := &catalog{logicals: map[schema.TableID]*logicalTable{2: newLogical(nil, had)}}
	y.note(&definition{c: c, changed: map[schema.Name]*schema.Table{public("more"): more, public("fresh"): fresh,
		public("own"): own}})
	for l, want := range map[tableLabel]bool{{2, 7}: false, {2, 8}: true, {3, 7}: true, {3, 9}: false, {4, 7}: false} {
		if y.has(l) != want {
			t.Errorf("label %d of table %d is young: %v, want %v", l.column, l.table, !want, want)
		}
	}
	for _, c := range []struct {
		after time.Duration
		young int
	}{{labelKept, 2}, {1, 0}} {
		now = now.Add(c.after)
		if y.forget(now); len(y.made) != c.young {
			t.Errorf("%d labels are young at %v, want %d", len(y.made), now, c.young)
		}
	}
}
