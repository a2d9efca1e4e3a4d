package engine

import (
	"errors"
	"fmt"
	"math/rand/v2"
	"strings"
	"testing"

	"varve/engine/schema"
	"varve/engine/status"
	"varve/engine/vfs"
)

// draftRun replaces table t, which has one row, by one with two as CREATE OR REPLACE TABLE .. AS does.
func draftRun(e *Engine) error {
	old, err := e.Table(public("t"))
	if err != nil {
		return err
	}
	draft, err := e.CreateDraft(ctx, old.Schema)
	if err != nil {
		return err
	}
	name := draft.Schema.Name
	var set WriteSet
	if err := fill(set.Rows(name, hintOf(lastRow)),
		[]modelRow{{"ts": int64(1), "v": int64(2)}, {"ts": int64(2), "v": int64(2)}}); err != nil {
		return err
	}
	if _, err := e.Write(ctx, &set); err != nil {
		return err
	}
	return e.PublishDraft(ctx, name, true)
}

const (
	oldRows = "t:\n   ts=1 v=1\n"
	newRows = "t:\n   ts=1 v=2\n   ts=2 v=2\n"
)

// TestDraftCrash cuts the power at each operation of the file system while a table is replaced: the next start has the
// old one or the new one, whole, and nothing else.
func TestDraftCrash(t *testing.T) {
	seen := map[string]int{}
	for at := 0; ; at++ {
		disk := vfs.NewMem()
		e := mustOpen(t, testOptions(disk))
		if err := put(e, "t", lastRow, []modelRow{{"ts": int64(1), "v": int64(1)}}); err != nil {
			t.Fatal(err)
		}
		if at%2 == 0 { // in a part
			if err := e.Flush(ctx, public("t")); err != nil {
				t.Fatal(err)
			}
		}
		mustClose(t, e)
		f := &fuse{left: -1}
		o := testOptions(vfs.WithFaults(disk, f.before))
		e = mustOpen(t, o)
		f.left = at
		err := draftRun(e)
		if err != nil && !errors.Is(err, errPower) {
			t.Fatalf("operation %d: %v", at, err)
		}
		_ = e.Close(ctx, true)
		o.FS = disk.Crash(rand.New(rand.NewPCG(uint64(at), 5)))
		e = mustOpen(t, o)
		got, failed := dump(e)
		if failed != nil {
			t.Fatalf("operation %d: %v", at, failed)
		}
		seen[got]++
		if got != newRows && (err == nil || got != oldRows) {
			t.Fatalf("operation %d: replaced: %v, then found\n%s", at, err == nil, got)
		}
		if n := len(e.manifest.State().Tables); n != 1 {
			t.Fatalf("operation %d: the manifest lists %d tables, want 1", at, n)
		}
		if aside := e.SetAside(); len(aside) > 0 {
			t.Fatalf("operation %d: damage after a mere crash: %v", at, aside)
		}
		mustClose(t, e)
		if err == nil {
			break
		}
	}
	if seen[oldRows] == 0 || seen[newRows] == 0 {
		t.Errorf(
			"found the old table %d times and the new one %d times: a crash before and one after the step is wanted",
			seen[oldRows], seen[newRows])
	}
}

// TestDraftFaults lets each operation of the file system fail once while a table is replaced: the store goes on with
// the old or the new one, and a second try succeeds.
func TestDraftFaults(t *testing.T) {
	for at := 1; ; at++ {
		b := &breaker{err: errors.New("broken")}
		e := mustOpen(t, testOptions(vfs.WithFaults(vfs.NewMem(), b.before)))
		if err := put(e, "t", lastRow, []modelRow{{"ts": int64(1), "v": int64(1)}}); err != nil {
			t.Fatal(err)
		}
		b.mu.Lock()
		b.at = b.count + at
		b.mu.Unlock()
		err := draftRun(e)
		when := fmt.Sprintf("call %d (%s)", at, b.hits())
		got, failed := dump(e)
		if failed != nil {
			t.Fatalf("%s: %v", when, failed)
		}
		if want := map[bool]string{true: newRows, false: oldRows}[err == nil]; got != want {
			t.Fatalf("%s: %v, found\n%s", when, err, got)
		}
		b.mend()
		if err := draftRun(e); err != nil {
			t.Fatalf("%s: again: %v", when, err)
		}
		if got, failed := dump(e); failed != nil || got != newRows {
			t.Fatalf("%s: again: %v\n%s", when, failed, got)
		}
		mustClose(t, e)
		if b.hits() == "" {
			return
		}
	}
}

// TestDraftNames holds who sees a draft, and what its name may meet when it is published.
func TestDraftNames(t *testing.T) {
	o := testOptions(vfs.NewMem())
	e := mustOpen(t, o)
	if err := put(e, "t", lastRow, []modelRow{{"ts": int64(1), "v": int64(1)}}); err != nil {
		t.Fatal(err)
	}
	tab, err := e.Table(public("t"))
	if err != nil {
		t.Fatal(err)
	}
	draft := func() schema.Name {
		d, err := e.CreateDraft(ctx, tab.Schema)
		if err != nil {
			t.Fatal(err)
		}
		return d.Schema.Name
	}
	first, second := draft(), draft()
	if list, err := e.Tables("public"); err != nil || len(list) != 1 {
		t.Errorf("%d tables are listed beside two drafts, %v; want 1", len(list), err)
	}
	if err := e.PublishDraft(ctx, first, false); status.Of(err) != status.TableAlreadyExists {
		t.Errorf("publishing beside a table of the name: %v", err)
	}
	for _, n := range []schema.Name{first, second} {
		if err := e.PublishDraft(ctx, n, true); err != nil {
			t.Errorf("publishing %s: %v", n, err)
		}
		if err := e.PublishDraft(ctx, n, true); status.Of(err) != status.TableNotFound {
			t.Errorf("publishing %s twice: %v", n, err)
		}
	}
	left := draft()
	mustClose(t, e)
	e = mustOpen(t, o)
	if _, err := e.Table(left); status.Of(err) != status.TableNotFound {
		t.Errorf("a draft after a start: %v", err)
	}
	if err := e.DropTables(ctx, []schema.Name{public("t")}); err != nil {
		t.Error(err)
	}
	mustClose(t, e)
}

// TestDraftOfMetrics replaces a logical table, and refuses to replace a physical one that others lie in.
func TestDraftOfMetrics(t *testing.T) {
	o := testOptions(vfs.NewMem())
	e := mustOpen(t, o)
	row := modelRow{"ts": int64(1), "value": 1.0, "host": "a"}
	for _, name := range []string{"cpu", "mem"} {
		if err := put(e, name, metric, []modelRow{row}); err != nil {
			t.Fatal(err)
		}
	}
	replace := func(name string) error {
		tab, err := e.Table(public(name))
		if err != nil {
			t.Fatal(err)
		}
		d, err := e.CreateDraft(ctx, tab.Schema.Given())
		if err != nil {
			t.Fatal(err)
		}
		if err = e.PublishDraft(ctx, d.Schema.Name, true); err != nil {
			if dropped := e.DropTables(ctx, []schema.Name{d.Schema.Name}); dropped != nil {
				t.Error(dropped)
			}
		}
		return err
	}
	if err := replace("cpu"); err != nil {
		t.Error(err)
	}
	if err := replace("phys"); err == nil || !strings.Contains(err.Error(), "cannot be dropped") {
		t.Errorf("a physical table with logical ones was replaced: %v", err)
	}
	const want = "cpu:\nmem:\n   host=a ts=1 value=1\n"
	for range 2 {
		if got, err := dump(e); err != nil || got != want {
			t.Errorf("%v\n got %s\nwant %s", err, got, want)
		}
		mustClose(t, e)
		e = mustOpen(t, o)
	}
	mustClose(t, e)
}

// TestDraftRebuilt makes the manifest anew from a part that was written while its table was a draft.
func TestDraftRebuilt(t *testing.T) {
	disk := vfs.NewMem()
	o := testOptions(disk)
	e := mustOpen(t, o)
	if err := put(e, "t", lastRow, []modelRow{{"ts": int64(1), "v": int64(1)}}); err != nil {
		t.Fatal(err)
	}
	if err := draftRun(e); err != nil {
		t.Fatal(err)
	}
	mustClose(t, e)
	if err := disk.Remove("/data/MANIFEST"); err != nil {
		t.Fatal(err)
	}
	if _, err := RebuildManifest(disk, "/data", ""); err != nil {
		t.Fatal(err)
	}
	e = mustOpen(t, o)
	if got, err := dump(e); err != nil || got != newRows {
		t.Errorf("%v\n%s", err, got)
	}
	mustClose(t, e)
}
