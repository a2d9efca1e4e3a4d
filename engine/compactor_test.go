package engine

import (
	"errors"
	"fmt"
	"math"
	"slices"
	"strings"
	"testing"
	"time"

	"varve/engine/manifest"
	"varve/engine/parts"
	"varve/engine/schema"
	"varve/engine/status"
	"varve/engine/vfs"
)

// TestStatementsMeetDrop runs what changes a table at the moment at which the manifest has forgotten it and its region
// does not know yet: statements say that there is no such table, what the engine does by itself goes on, and no file is
// left.
func TestStatementsMeetDrop(t *testing.T) {
	for _, c := range []struct {
		name string
		run  func(e *Engine, r *region) error
		want error
	}{
		{"truncate", func(e *Engine, _ *region) error { return e.Truncate(ctx, public("t")) }, ErrDropped},
		{"compact", func(e *Engine, _ *region) error { return e.Compact(ctx, public("t")) }, ErrDropped},
		{"flush", func(e *Engine, _ *region) error { return e.Flush(ctx, public("t")) }, nil},
		{"expire", func(e *Engine, r *region) error { return e.expiry.drop(r) }, nil},
	} {
		t.Run(c.name, func(t *testing.T) {
			o := testOptions(vfs.NewMem())
			e := mustOpen(t, o)
			defer mustClose(t, e)
			for i := range int64(3) {
				if err := put(e, "t", lastRow, []modelRow{{"ts": i, "v": i}}); err != nil {
					t.Fatal(err)
				}
				if i == 2 {
					break // it stays in memory
				}
				if err := e.Flush(ctx, public("t")); err != nil {
					t.Fatal(err)
				}
			}
			tab, err := e.Table(public("t"))
			if err != nil {
				t.Fatal(err)
			}
			if err := e.apply(manifest.Edit{DropTable: []schema.TableID{tab.Schema.ID}}); err != nil {
				t.Fatal(err)
			}
			if err := c.run(e, tab.region); !errors.Is(err, c.want) ||
				c.want != nil && status.Of(err) != status.TableNotFound {
				t.Errorf("it ended with %v, want %v", err, c.want)
			}
			e.ddl.Lock()
			e.change(func(c *catalog) { c.remove(tab.home) })
			e.dropper.discard([]home{tab.home})
			e.ddl.Unlock()
			names, err := parts.At(o.FS, o.Dir).List()
			if err != nil || len(names) > 0 {
				t.Errorf("left over: %v %v", names, err)
			}
		})
	}
}

// TestCompactMeetsTruncate compacts a table whose parts are let go of meanwhile: it goes on with what there is.
func TestCompactMeetsTruncate(t *testing.T) {
	e := mustOpen(t, testOptions(vfs.NewMem()))
	defer mustClose(t, e)
	write := func(parts int64) {
		for i := range parts {
			if err := put(e, "t", lastRow, []modelRow{{"ts": i, "v": i}}); err != nil {
				t.Fatal(err)
			}
			if err := e.Flush(ctx, public("t")); err != nil {
				t.Fatal(err)
			}
		}
	}
	write(2)
	tab, err := e.Table(public("t"))
	if err != nil {
		t.Fatal(err)
	}
	truncated := false
	all := func(s *regionSnap, _ windows) []*part {
		if !truncated {
			truncated = true
			if err := e.Truncate(ctx, public("t")); err != nil {
				t.Error(err)
			}
			write(3)
		}
		if len(s.parts) < 2 {
			return nil
		}
		return s.parts
	}
	for again, err := true, error(nil); again; {
		if again, err = e.compactor.mergeChosen(ctx, tab.region, all); err != nil {
			t.Fatal(err)
		}
	}
	if parts := tab.region.snap.Load().parts; len(parts) != 1 || parts[0].meta.Rows != 3 {
		t.Errorf("%d parts are left", len(parts))
	}
}

// TestCompactEndsBesideFlushes: a compaction merges the parts that there were when it was asked for; those that come
// meanwhile do not keep it going.
func TestCompactEndsBesideFlushes(t *testing.T) {
	for _, kind := range []modelKind{lastRow, appendOnly} {
		e := mustOpen(t, testOptions(vfs.NewMem()))
		defer mustClose(t, e)
		rows := int64(0)
		write := func() {
			t.Helper()
			if err := errors.Join(put(e, "t", kind, []modelRow{{"ts": rows, "v": rows}}),
				e.Flush(ctx, public("t"))); err != nil {
				t.Fatal(err)
			}
			rows++
		}
		for range 3 {
			write()
		}
		tab, err := e.Table(public("t"))
		if err != nil {
			t.Fatal(err)
		}
		merges, last := 0, e.committer.seq.Load()
		for again := true; again; merges++ {
			if merges > 3 {
				t.Fatalf("%v: it goes on after %d merges", kind, merges)
			}
			write()
			if again, err = e.compactor.mergeAll(ctx, tab.region, math.MinInt64, last, false); err != nil {
				t.Fatal(err)
			}
		}
		if parts := tab.region.snap.Load().parts; len(parts) != 1+merges {
			t.Errorf("%v: %d parts are left of 3 and %d", kind, len(parts), merges)
		}
		if err := e.Compact(ctx, public("t")); err != nil {
			t.Fatal(err)
		}
		if parts := tab.region.snap.Load().parts; len(parts) != 1 || parts[0].meta.Rows != rows {
			t.Errorf("%v: %d parts are left", kind, len(parts))
		}
	}
}

// TestCompactDropsExpired holds that a compaction that was asked for drops rows past their time, in parts that have
// others too, once: what expires meanwhile does not keep it going.
func TestCompactDropsExpired(t *testing.T) {
	for _, kind := range []modelKind{lastRow, appendOnly} {
		o := testOptions(vfs.NewMem())
		now := int64(100)
		o.Now = func() time.Time { now++; return time.Unix(now, 0) } // something expires at each look
		e := mustOpen(t, o)
		h := hintOf(kind)
		var err error
		if h.Options, err = schema.ParseOptions(
			map[string]string{"append_mode": fmt.Sprint(kind == appendOnly), "ttl": "100s"}); err != nil {
			t.Fatal(err)
		}
		var rows []modelRow
		for i := range int64(300) {
			rows = append(rows, modelRow{"ts": 1000 * i, "v": i})
		}
		var set WriteSet
		if err := fill(set.Rows(public("t"), h), rows); err != nil {
			t.Fatal(err)
		}
		if _, err := e.Write(ctx, &set); err != nil {
			t.Fatal(err)
		}
		if err := e.Flush(ctx, public("t")); err != nil {
			t.Fatal(err)
		}
		now = 250
		if err := e.Compact(ctx, public("t")); err != nil {
			t.Fatal(err)
		}
		tab, err := e.Table(public("t"))
		if err != nil {
			t.Fatal(err)
		}
		parts := tab.Stats().Parts
		if i := slices.IndexFunc(parts, func(p PartInfo) bool { return p.Min < 150_000 }); len(parts) != 1 || i >= 0 ||
			parts[0].Rows < 100 {
			t.Errorf("kind %d: parts %+v", kind, parts)
		}
		now = 1000
		if err := e.Compact(ctx, public("t")); err != nil || len(tab.Stats().Parts) != 0 {
			t.Errorf("kind %d: %d parts of expired rows: %v", kind, len(tab.Stats().Parts), err)
		}
		mustClose(t, e)
	}
}

// TestMergesAreBounded: no merge makes a part beyond a bound, those that were asked for included, and merging goes on
// below it.
func TestMergesAreBounded(t *testing.T) {
	const flushes = 12
	for _, c := range []struct {
		name  string
		bound partSize
		least int // parts that are left
	}{
		{"rows", partSize{rows: 10, blocks: 100, keys: 1 << 30}, 3},
		{"blocks", partSize{rows: 1000, blocks: 3, keys: 1 << 30}, 1}, // merged they fill one
		{"keys", partSize{rows: 1000, blocks: 100, keys: 10 * 16 << 10}, 2},
	} {
		t.Run(c.name, func(t *testing.T) {
			o := testOptions(vfs.NewMem())
			o.maxPart = c.bound
			e := mustOpen(t, o)
			defer mustClose(t, e)
			for i := range int64(flushes) {
				rows := []modelRow{{"ts": i, "host": fmt.Sprintf("%02d%s", i, strings.Repeat("h", 1000)), "v": i},
					{"ts": i + 1, "host": "all", "v": i}}
				if err := put(e, "t", lastRow, rows); err != nil {
					t.Fatal(err)
				}
				if err := e.Flush(ctx, public("t")); err != nil {
					t.Fatal(err)
				}
			}
			if err := e.Compact(ctx, public("t")); err != nil {
				t.Fatal(err)
			}
			tab, err := e.Table(public("t"))
			if err != nil {
				t.Fatal(err)
			}
			parts, rows := tab.region.snap.Load().parts, int64(0)
			for _, p := range parts {
				rows += p.meta.Rows
				if size := p.size(); size.rows > c.bound.rows || size.blocks > c.bound.blocks ||
					size.keys > c.bound.keys {
					t.Errorf("a part of %+v", size)
				}
			}
			if rows != 2*flushes || len(parts) > flushes/2 || len(parts) < c.least {
				t.Errorf("%d rows in %d parts", rows, len(parts))
			}
		})
	}
}
