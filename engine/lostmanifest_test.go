package engine

import (
	"errors"
	"fmt"
	"slices"
	"strings"
	"testing"

	"varve/engine/manifest"
	"varve/engine/vfs"
	"varve/wal"
)

// lostStore writes tables of every kind, partly merged, partly in the log, and gives what is in them.
func lostStore(t *testing.T, o Options) string {
	t.Helper()
	e := mustOpen(t, o)
	for round := range 5 {
		for i, kind := range []modelKind{appendOnly, lastRow, lastNonNull, metric} {
			n := public(fmt.Sprint("t", i))
			writeMany(t, e, n, kind, int64(round*200), 200)
			if err := e.Flush(ctx, n); err != nil {
				t.Fatal(err)
			}
			if round == 3 {
				target := n
				if kind == metric {
					target = public("phys")
				}
				if err := e.Compact(ctx, target); err != nil {
					t.Fatal(err)
				}
			}
		}
	}
	writeMany(t, e, public("t0"), appendOnly, 5_000, 50) // in the log alone
	return closedDump(t, e)
}

func closedDump(t *testing.T, e *Engine) string {
	t.Helper()
	text, err := dump(e)
	if err != nil {
		t.Fatal(err)
	}
	mustClose(t, e)
	return text
}

// TestManifestLost removes the manifest, or cuts it after each of its edits: the store does not start as if it were new
// and touches nothing, and what the parts say of themselves makes it whole again.
func TestManifestLost(t *testing.T) {
	o := testOptions(vfs.NewMem())
	lostStore(t, o)
	m, err := o.FS.Map("/data/MANIFEST")
	if err != nil {
		t.Fatal(err)
	}
	for _, cut := range []int{-1, 0, 10, 100, 200, len(m.Bytes()) * 1 / 8, len(m.Bytes()) / 4, len(m.Bytes()) / 2,
		len(m.Bytes()) * 3 / 4} {
		t.Run(fmt.Sprint(cut), func(t *testing.T) {
			disk := vfs.NewMem()
			o := testOptions(disk)
			want := lostStore(t, o)
			if cut < 0 {
				err = disk.Remove("/data/MANIFEST")
			} else {
				err = disk.Truncate("/data/MANIFEST", cut)
			}
			if err != nil {
				t.Fatal(err)
			}
			files := disk.Files()
			if e, err := Open(o); err == nil {
				t.Errorf("the store starts; set aside: %v", e.SetAside())
				mustClose(t, e)
			} else if !strings.Contains(err.Error(), "--rebuild-manifest /data") {
				t.Errorf("no way out: %v", err)
			}
			if now := disk.Files(); !sameParts(files, now) {
				t.Errorf("files before:\n%s\nafter:\n%s", files, now)
			}
			r, err := Check(CheckOptions{FS: disk, Dir: "/data"})
			if err != nil || len(r.Faults) == 0 {
				t.Errorf("check: %+v, %v", r, err)
			}
			made, err := RebuildManifest(disk, "/data", "")
			if err != nil {
				t.Fatal(err)
			}
			e := mustOpen(t, o)
			if aside := e.SetAside(); len(aside) > 0 {
				t.Errorf("set aside: %v", aside)
			}
			if got := closedDump(t, e); got != want {
				t.Errorf("rebuilt (%+v):\n%s", made, difference(got, want))
			}
		})
	}
}

// sameParts reports whether two lists of files have the same parts and segments.
func sameParts(a, b string) bool {
	keep := func(s string) (out string) {
		for line := range strings.Lines(s) {
			if strings.Contains(line, "/parts/") || strings.Contains(line, "/wal/") {
				out += strings.Fields(line)[0] + "\n"
			}
		}
		return out
	}
	return keep(a) == keep(b)
}

// TestIdsNeverComeBack: what is named in the log is not given to another table.
func TestIdsNeverComeBack(t *testing.T) {
	disk := vfs.NewMem()
	o := testOptions(disk)
	lostStore(t, o)
	if err := disk.Remove("/data/MANIFEST"); err != nil {
		t.Fatal(err)
	}
	if _, err := RebuildManifest(disk, "/data", ""); err != nil {
		t.Fatal(err)
	}
	e := mustOpen(t, o)
	writeMany(t, e, public("new"), lastRow, 0, 10)
	tab, err := e.Table(public("new"))
	if err != nil {
		t.Fatal(err)
	}
	for _, old := range []string{"t0", "t1", "t2", "t3", "phys"} {
		if x, err := e.Table(public(old)); err != nil || x.Schema.ID >= tab.Schema.ID {
			t.Errorf("%s has id %v, the new table %d (%v)", old, x, tab.Schema.ID, err)
		}
	}
	mustClose(t, e)
}

// TestLogLost removes the first, a middle, the last and all segments of the log: the loss is reported at the start and
// by a check, and what is left is served. After a stop that wrote all rows into parts nobody misses them.
func TestLogLost(t *testing.T) {
	for _, flush := range []bool{false, true} {
		for _, which := range []string{"first", "middle", "last", "all"} {
			t.Run(fmt.Sprint(which, " flushed ", flush), func(t *testing.T) {
				disk := vfs.NewMem()
				o := testOptions(disk)
				o.FlushBytes = 1 << 20
				o.WALFileSize = 4 << 10
				e := mustOpen(t, o)
				for i := range 10 {
					writeMany(t, e, public("log"), appendOnly, int64(i*100), 100)
				}
				if err := e.Close(ctx, flush); err != nil {
					t.Fatal(err)
				}
				names, err := disk.List("/data/wal")
				names = slices.DeleteFunc(names, func(n string) bool { return !strings.HasSuffix(n, wal.Suffix) })
				if err != nil || !flush && len(names) < 5 {
					t.Fatal(names, err)
				}
				gone := map[string][]string{"first": names[:1], "middle": names[len(names)/2 : len(names)/2+1],
					"last": names[len(names)-1:], "all": names}[which]
				for _, n := range gone {
					if err := disk.Remove("/data/wal/" + n); err != nil {
						t.Fatal(err)
					}
				}
				r, err := Check(CheckOptions{FS: disk, Dir: "/data"})
				if err != nil || (len(r.Faults) > 0) == flush {
					t.Errorf("check: %+v, %v", r, err)
				}
				e = mustOpen(t, o)
				defer func() { mustClose(t, e) }()
				if aside := e.SetAside(); (len(aside) > 0) == flush {
					t.Errorf("set aside: %v", aside)
				}
				rows, err := scanTable(e, public("log"), everything)
				if want := 1000; err != nil || flush && len(rows) != want || !flush && len(rows) >= want {
					t.Errorf("%d rows, %v", len(rows), err)
				}
				writeMany(t, e, public("log"), appendOnly, 5_000, 10)
				if now, err := scanTable(e, public("log"), everything); err != nil || len(now) != len(rows)+10 {
					t.Errorf("%d rows after a write, %v", len(now), err)
				}
			})
		}
	}
}

// TestPartElsewhere: neither a start nor a rebuilt manifest goes on without a part that lies elsewhere, and a check
// tells of it.
func TestPartElsewhere(t *testing.T) {
	disk := vfs.NewMem()
	o := testOptions(disk)
	e := mustOpen(t, o)
	writeMany(t, e, public("t"), appendOnly, 0, 50)
	if err := e.Flush(ctx, public("t")); err != nil {
		t.Fatal(err)
	}
	state := *e.manifest.State()
	mustClose(t, e)
	for _, table := range state.Tables {
		for i := range table.Parts {
			table.Parts[i].Location = "far away"
		}
	}
	if err := manifest.Replace(disk, o.Dir, &state); err != nil {
		t.Fatal(err)
	}
	if _, err := Open(o); !errors.Is(err, manifest.ErrElsewhere) {
		t.Errorf("start: %v", err)
	}
	if _, err := RebuildManifest(disk, o.Dir, ""); !errors.Is(err, manifest.ErrElsewhere) {
		t.Errorf("rebuilt: %v", err)
	}
	report, err := Check(CheckOptions{FS: disk, Dir: o.Dir})
	if err != nil || len(report.Faults) != 1 || !strings.Contains(fmt.Sprint(report.Faults), "far away") {
		t.Errorf("check: %v, %v", report, err)
	}
}
