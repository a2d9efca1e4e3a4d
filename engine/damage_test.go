package engine

import (
	"errors"
	"fmt"
	"io/fs"
	"math/rand/v2"
	"slices"
	"strconv"
	"strings"
	"testing"
	"time"

	"varve/engine/parts"
	"varve/engine/schema"
	"varve/engine/status"
	"varve/engine/vector"
	"varve/engine/vfs"
)

// damagedStore writes one part of three blocks, and a second one, and gives the first one's file.
func damagedStore(t *testing.T, o Options) (file string) {
	t.Helper()
	e := mustOpen(t, o)
	h := hintOf(appendOnly)
	h.Tags = nil
	var err error
	if h.Options, err = schema.ParseOptions(map[string]string{"append_mode": "true"}); err != nil {
		t.Fatal(err)
	}
	for part, n := range []int{20_000, 10} {
		var set WriteSet
		b := set.Rows(public("log"), h)
		var columns [3]*vector.ColumnBuilder
		for i, f := range []vector.Field{{Name: "ts", Type: vector.Timestamp(3)},
			{Name: "level", Type: vector.StringType}, {Name: "s", Type: vector.StringType}} {
			if columns[i], err = b.Column(f.Name, f.Type); err != nil {
				t.Fatal(err)
			}
		}
		for i := range n {
			columns[0].SetInt(int64(part*100_000 + i))
			columns[1].SetString([]string{"info", "warn", "error"}[i%3])
			columns[2].SetString(fmt.Sprintf("request %d took %d ms", i*7919, i%97))
			b.EndRow()
		}
		if _, err := e.Write(ctx, &set); err != nil {
			t.Fatal(err)
		}
		if err := e.Flush(ctx, public("log")); err != nil {
			t.Fatal(err)
		}
	}
	tab, err := e.Table(public("log"))
	if err != nil {
		t.Fatal(err)
	}
	file = tab.Stats().Parts[0].File
	mustClose(t, e)
	return file
}

// TestDamageIsRemembered damages one byte of a part after the other. The first query that meets it fails, or the part
// is set aside at once; from then on, and after a restart, what is intact is served and the loss is reported: a block,
// or the part where that is what was hit. The file is not merged, and served wholly when it was put right.
func TestDamageIsRemembered(t *testing.T) {
	disk := vfs.NewMem()
	o := Options{FS: disk, Dir: "/data", NoBackground: true}
	file := damagedStore(t, o)
	name := "/data/parts/" + file
	info, err := disk.Stat(name)
	if err != nil {
		t.Fatal(err)
	}
	e := mustOpen(t, o)
	all, err := scanTable(e, public("log"), everything)
	if err != nil {
		t.Fatal(err)
	}
	mustClose(t, e)
	r := rand.New(rand.NewPCG(4, 4))
	blocks := 0
	for range 40 {
		at := r.IntN(int(info.Size()))
		if err := disk.Damage(name, at); err != nil {
			t.Fatal(err)
		}
		e := mustOpen(t, o)
		left, err := scanTable(e, public("log"), everything)
		if err != nil {
			if left, err = scanTable(e, public("log"), everything); err != nil {
				t.Fatalf("byte %d: the second query fails too: %v", at, err)
			}
		}
		lost := checkLoss(t, e, at, all, left)
		if lost > 0 && lost < 20_000 {
			blocks++
		}
		mustClose(t, e)
		e = mustOpen(t, o)
		again, err := scanTable(e, public("log"), everything)
		if err != nil || !slices.Equal(again, left) {
			t.Fatalf("byte %d: %d rows after a restart, before it %d: %v", at, len(again), len(left), err)
		}
		checkLoss(t, e, at, all, again)
		if lost > 0 {
			if err := e.Compact(ctx, public("log")); err != nil {
				t.Fatal(err)
			}
			if err := e.BuildIndexes(ctx, public("log")); err != nil {
				t.Fatal(err)
			}
		}
		mustClose(t, e)
		if err := disk.Damage(name, at); err != nil { // the same again puts it right
			t.Fatalf("byte %d: %v", at, err)
		}
		e = mustOpen(t, o)
		back, err := scanTable(e, public("log"), everything)
		if err != nil || !slices.Equal(back, all) || len(e.SetAside()) > 0 {
			t.Fatalf("byte %d: %d rows when it was put right, want %d; %v, set aside: %v", at, len(back), len(all), err,
				e.SetAside())
		}
		mustClose(t, e)
	}
	if blocks == 0 {
		t.Error("no damage was of a single block")
	}
}

// checkLoss holds that what is missing is what is reported, and gives its number of rows.
func checkLoss(t *testing.T, e *Engine, at int, all, left []string) int {
	t.Helper()
	reported := 0
	for _, a := range e.SetAside() {
		if a.Table != public("log") || a.Reason == "" {
			t.Errorf("byte %d: set aside: %+v", at, a)
		}
		reported += int(a.Rows)
	}
	have := map[string]bool{}
	for _, line := range all {
		have[line] = true
	}
	for _, line := range left {
		if !have[line] {
			t.Fatalf("byte %d: a row that was never written: %s", at, line)
		}
	}
	lost := len(all) - len(left)
	if lost != reported {
		t.Fatalf("byte %d: %d rows are missing, %d reported: %v", at, lost, reported, e.SetAside())
	}
	return lost
}

// TestDropDamaged: what is set aside goes with its rows: the file, and what is said of it.
func TestDropDamaged(t *testing.T) {
	for _, c := range []struct {
		name string
		drop func(e *Engine) error
		rows int // that are left
	}{
		{"truncate", func(e *Engine) error { return e.Truncate(ctx, public("log")) }, 0},
		{"drop", func(e *Engine) error { return e.DropTables(ctx, []schema.Name{public("log")}) }, 0},
		{"ttl", func(e *Engine) error { // the damaged part ends at 19,999 ms, the other at 100,009 ms
			if err := e.AlterDatabase(ctx,
				Database{Name: "public", Options: []schema.Option{{Key: "ttl", Value: "60s"}}}); err != nil {
				return err
			}
			tab, err := e.Table(public("log"))
			if err != nil {
				return err
			}
			return e.expiry.drop(tab.region)
		}, 10},
	} {
		disk := vfs.NewMem()
		o := Options{FS: disk, Dir: "/data", NoBackground: true,
			Now: func() time.Time { return time.UnixMilli(100_100) }}
		file := damagedStore(t, o)
		name := "/data/parts/" + file
		if err := disk.Damage(name, -5); err != nil {
			t.Fatal(err)
		}
		e := mustOpen(t, o)
		if errs := verifyPart(disk, file, false); len(errs) == 0 || len(e.SetAside()) != 1 {
			t.Fatalf("%s: %v, set aside: %v", c.name, errs, e.SetAside())
		}
		if err := c.drop(e); err != nil {
			t.Fatal(c.name, err)
		}
		if _, err := disk.Stat(name); !errors.Is(err, fs.ErrNotExist) || len(e.SetAside()) > 0 {
			t.Errorf("%s: the file: %v, set aside: %v", c.name, err, e.SetAside())
		}
		mustClose(t, e)
		e = mustOpen(t, o)
		rows, err := scanTable(e, public("log"), everything)
		if c.name == "drop" && status.Of(err) == status.TableNotFound {
			err = nil
		}
		if err != nil || len(rows) != c.rows || len(e.SetAside()) > 0 {
			t.Errorf("%s: %d rows, %v, set aside: %v", c.name, len(rows), err, e.SetAside())
		}
		mustClose(t, e)
	}
}

// TestDeletionsOfDamaged: a tombstone stays as long as a damaged part may hold the row that it deletes, and the row
// stays deleted when the part is put right; a compaction meanwhile comes to an end.
func TestDeletionsOfDamaged(t *testing.T) {
	for _, at := range []int{10, -5} { // a page, the footer
		disk := vfs.NewMem()
		o := testOptions(disk)
		e := mustOpen(t, o)
		if err := put(e, "last", lastRow, []modelRow{{"ts": int64(1), "host": "a", "v": int64(1)},
			{"ts": int64(2), "host": "a", "v": int64(2)}}); err != nil {
			t.Fatal(err)
		}
		if err := e.Flush(ctx, public("last")); err != nil {
			t.Fatal(err)
		}
		tab, err := e.Table(public("last"))
		if err != nil {
			t.Fatal(err)
		}
		name := "/data/parts/" + tab.Stats().Parts[0].File
		mustClose(t, e)
		if err := disk.Damage(name, at); err != nil {
			t.Fatal(err)
		}
		e = mustOpen(t, o)
		if lines, err := scanTable(e, public("last"), everything); at > 0 && err == nil || at < 0 && len(lines) != 0 {
			t.Fatalf("byte %d: %v, %v", at, lines, err)
		}
		if err := remove(e, "last", []modelRow{{"ts": int64(1), "host": "a"}}); err != nil {
			t.Fatal(err)
		}
		if err := put(e, "last", lastRow, []modelRow{{"ts": int64(3), "host": "a", "v": int64(3)}}); err != nil {
			t.Fatal(err)
		}
		for range 2 {
			if err := e.Flush(ctx, public("last")); err != nil {
				t.Fatal(err)
			}
			if err := e.Compact(ctx, public("last")); err != nil {
				t.Fatal(err)
			}
		}
		mustClose(t, e)
		if err := disk.Damage(name, at); err != nil {
			t.Fatal(err)
		}
		e = mustOpen(t, o)
		if err := e.Compact(ctx, public("last")); err != nil {
			t.Fatal(err)
		}
		lines, err := scanTable(e, public("last"), everything)
		if err != nil || len(lines) != 2 || len(e.SetAside()) > 0 {
			t.Errorf("byte %d: %v, %v, set aside: %v", at, lines, err, e.SetAside())
		}
		mustClose(t, e)
	}
}

// verifyPart is Verify for a part of /data, by the name of its file.
func verifyPart(fs vfs.FS, name string, deep bool) []error {
	file, err := strconv.ParseUint(strings.TrimSuffix(name, ".part"), 10, 64)
	if err != nil {
		return []error{err}
	}
	_, errs := parts.At(fs, "/data").Verify(ctx, file, deep)
	return errs
}
