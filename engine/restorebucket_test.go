package engine

import (
	"context"
	"errors"
	"math/rand/v2"
	"os"
	"path"
	"strings"
	"testing"
	"time"

	"varve/engine/bucket"
	"varve/engine/bucket/buckettest"
	"varve/engine/manifest"
	"varve/engine/parts"
	"varve/engine/vfs"
)

// restorable holds that a server can be made of a bucket: its newest manifest names nothing that is not there.
func restorable(t *testing.T, b bucket.Bucket, when string) {
	t.Helper()
	o := BucketRestore{FS: vfs.NewMem(), Bucket: b, Dir: "/made"}
	all, err := listSnapshots(ctx, b, "")
	if err != nil {
		t.Fatalf("%s: %v", when, err)
	}
	if len(all) == 0 {
		return
	}
	state, err := o.find(ctx, &BucketRestored{})
	if err == nil {
		err = parts.At(o.FS, o.Dir).Make()
	}
	if err == nil {
		err = o.fetch(ctx, state)
	}
	if err != nil {
		t.Fatalf("%s: a server cannot be made of the bucket: %v", when, err)
	}
}

// TestBucketRestore makes a server of a bucket and of the log: it has all rows. Of the bucket alone, it has those that
// were in it. The server before is refused from then on, with an error that names the other, also while it runs.
func TestBucketRestore(t *testing.T) {
	for seed := range seedsOf(t, "VARVE_MODEL_SEEDS", effort(3, 5, 30)) {
		r := rand.New(rand.NewPCG(seed, 51))
		disk := vfs.NewMem()
		o, b := coldOptions(t, testOptions(disk))
		o.WALDir = "/log"
		e := mustOpen(t, o)
		w := newWorkload(rand.New(rand.NewPCG(seed, 52)))
		step := func() {
			op := w.next()
			if err := op.run(e); err != nil {
				t.Fatalf("seed %d: %s: %v", seed, op.name, err)
			}
			if op.change != nil {
				op.change(w.model)
			}
		}
		for range 20 {
			step()
			for name := range w.model {
				if err := e.Flush(ctx, public(name)); err != nil {
					t.Fatal(err)
				}
			}
			if r.IntN(3) == 0 {
				settleCold(t, e, b, "on the way")
			}
		}
		for name := range w.model {
			if err := e.Compact(ctx, public(name)); err != nil { // what merges want stays on the disk
				t.Fatal(err)
			}
		}
		settleCold(t, e, b, "before")
		onDisk, rowsOnDisk := 0, int64(0) // parts that a merge wants still
		for _, table := range e.manifest.State().Tables {
			for _, p := range table.Parts {
				if p.Location == "" {
					onDisk, rowsOnDisk = onDisk+1, rowsOnDisk+p.Rows
				}
			}
		}
		inBucket, err := dump(e)
		if err != nil {
			t.Fatal(err)
		}
		for name := range w.model { // rows that only the log has
			op := w.write(name, w.kinds[name])
			if err := op.run(e); err != nil {
				t.Fatal(err)
			}
			op.change(w.model)
		}
		want, err := dump(e)
		if err != nil {
			t.Fatal(err)
		}
		e.mover.snapshots.due = time.Time{} // a column that these rows have made is in no manifest before
		if err := e.mover.pass(ctx); err != nil {
			t.Fatal(err)
		}
		for _, c := range []struct{ dir, log, want string }{{"/bare", "", inBucket}, {"/whole", o.WALDir, want}} {
			if c.log != "" { // the server before is gone
				mustClose(t, e)
			}
			made, err := RestoreBucket(ctx, BucketRestore{FS: disk, Bucket: b, Dir: c.dir, WALDir: c.log})
			if err != nil || made.Before == nil || made.LostParts != onDisk || made.LostRows != rowsOnDisk {
				t.Fatalf("seed %d, %s: %+v, %v", seed, c.dir, made, err)
			}
			if c.log == "" {
				e.mover.holder.looked = time.Time{}
				var other *OtherServerError
				if err := e.mover.hold(ctx); !errors.As(err, &other) || other.Other.Dir != c.dir {
					t.Errorf("the server before goes on: %v", err)
				}
			} else if _, err := Open(o); err == nil || !strings.Contains(err.Error(), c.dir) {
				t.Errorf("the server before starts: %v", err)
			}
			made2 := o
			made2.Dir, made2.WALDir = c.dir, c.log
			n := mustOpen(t, made2)
			got, err := dump(n)
			if onDisk > 0 { // it goes on without the rows that it has told of, and so do those that are made of it
				mustClose(t, n)
				mustClose(t, e)
				break
			}
			if err != nil || got != c.want {
				t.Fatalf("seed %d, %s: %v\n%s", seed, c.dir, err, difference(got, c.want))
			}
			settleCold(t, n, b, c.dir)
			mustClose(t, n)
		}
	}
}

// TestBucketRestoreLost says which rows are on no disk any more, and takes none of the log twice.
func TestBucketRestoreLost(t *testing.T) {
	disk := vfs.NewMem()
	o, b := coldOptions(t, testOptions(disk))
	o.WALDir = "/log"
	e := mustOpen(t, o)
	coldTable(t, e, b, "a", appendOnly)
	writeMany(t, e, public("a"), appendOnly, 10_000, 500)
	if err := e.Flush(ctx, public("a")); err != nil {
		t.Fatal(err)
	}
	e.o.Cold.After = time.Hour * 1e6 // the part stays on the disk
	writeMany(t, e, public("a"), appendOnly, 20_000, 70)
	e.mover.snapshots.due = time.Time{}
	if err := e.mover.pass(ctx); err != nil {
		t.Fatal(err)
	}
	mustClose(t, e)
	made, err := RestoreBucket(ctx, BucketRestore{FS: disk, Bucket: b, Dir: "/made", WALDir: o.WALDir})
	if err != nil || made.LostParts != 1 || made.LostRows != 500 || made.Rows != 3_000 || made.Tables != 1 {
		t.Fatalf("%+v, %v", made, err)
	}
	o.Dir = "/made"
	n := mustOpen(t, o)
	rows, err := scanTable(n, public("a"), everything)
	if err != nil || len(rows) != 3_570 {
		t.Errorf("%d rows, want the 3,570 of the bucket and of the log: %v", len(rows), err)
	}
	mustClose(t, n)
}

// TestBucketRestoreCut cuts a restore at each of its calls: the directory is refused until another one made it whole.
func TestBucketRestoreCut(t *testing.T) {
	o, b := coldOptions(t, testOptions(vfs.NewMem()))
	e := mustOpen(t, o)
	coldTable(t, e, b, "a", appendOnly)
	want := closedDump(t, e)
	r := rand.New(rand.NewPCG(1, 53))
	for cut, ended := 0, false; !ended; cut++ {
		disk := vfs.NewMem()
		f := &fuse{left: cut}
		b.set(func(_ context.Context, call, name string) error { return f.before(vfs.Op(call), name) }, nil)
		made := BucketRestore{FS: vfs.WithFaults(disk, f.before), Bucket: b, Dir: "/made"}
		_, err := RestoreBucket(ctx, made)
		b.set(nil, nil)
		disk = disk.Crash(r)
		ended = err == nil
		n := o
		n.FS, n.Dir = disk, "/made"
		if _, err := disk.Stat("/made/" + manifest.FileName); vfs.NotExist(err) {
			made.FS = disk
			if _, err := RestoreBucket(ctx, made); err != nil {
				t.Fatalf("cut after %d: again: %v", cut, err)
			}
		}
		if got := closedDump(t, mustOpen(t, n)); got != want {
			t.Fatalf("cut after %d: %s", cut, difference(got, want))
		}
		if cut > 500 {
			t.Fatal("it never ends")
		}
	}
}

// TestEpochs: two servers do not use one prefix, and neither do a data directory and its copy. The error names the
// other. A server whose epochs were removed goes on, and so does one whose bucket was away at its start.
func TestEpochs(t *testing.T) {
	for name, b := range map[string]bucket.Bucket{
		"directory": buckettest.Open(t, bucket.Options{URL: "/bucket", FS: vfs.NewMem()}),
		"store":     buckettest.Open(t, buckettest.Store(t)),
	} {
		t.Run(name, func(t *testing.T) { testEpochs(t, b) })
	}
}

func testEpochs(t *testing.T, inner bucket.Bucket) {
	host, err := os.Hostname()
	if err != nil {
		t.Fatal(err)
	}
	disk := vfs.NewMem()
	o, b := coldOptions(t, testOptions(disk))
	b.Bucket = inner
	e := mustOpen(t, o)
	refused := func(when string, o Options, dir, store string) {
		t.Helper()
		other, err := Open(o)
		if err == nil {
			mustClose(t, other)
			t.Fatalf("%s: the other server starts", when)
		}
		for _, want := range []string{b.String(), host, dir, store, "storage.cold_url"} {
			if !strings.Contains(err.Error(), want) {
				t.Errorf("%s: %v, want %q in it", when, err, want)
			}
		}
	}
	second := o
	second.Dir = "/second"
	refused("another server", second, o.Dir, e.Store())

	// A copy that starts while the bucket is away, which is later.
	b.set(func(context.Context, string, string) error { return errors.New("away") }, nil)
	late := o
	late.Dir = "/late"
	n := mustOpen(t, late)
	b.set(nil, nil)
	var other *OtherServerError
	writeMany(t, n, public("a"), appendOnly, 100, 3_000)
	if err := n.Flush(ctx, public("a")); err != nil {
		t.Fatal(err)
	}
	if err := n.mover.pass(ctx); !errors.As(err, &other) || other.Other.Store != e.Store() ||
		!strings.Contains(n.Cold().LastFailure, o.Dir) || len(objectsOf(t, b)) > 0 {
		t.Errorf("a late server moves: %v, %+v", err, n.Cold())
	}
	mustClose(t, n)

	// A copy of the data directory: the last that starts holds the prefix.
	mustClose(t, e)
	for _, name := range []string{manifest.FileName, EpochsName} {
		copyFile(t, disk, path.Join(o.Dir, name), path.Join("/copy", name))
	}
	e = mustOpen(t, o)
	twin := o
	twin.Dir = "/copy"
	refused("a copy of the directory", twin, o.Dir, e.Store())
	mustClose(t, e)

	// Epochs of the same server do not heap up.
	e = mustOpen(t, o)
	settleCold(t, e, b, "the first server")
	left := buckettest.Names(t, b, parts.EpochPrefix)
	if len(left) != 1 {
		t.Errorf("epochs %v", left)
	}
	for _, name := range left {
		if err := b.Remove(ctx, name); err != nil {
			t.Fatal(err)
		}
	}
	settleCold(t, e, b, "epochs were removed by hand")
	mustClose(t, e)
}

func copyFile(t *testing.T, fs vfs.FS, from, to string) {
	t.Helper()
	m, err := fs.Map(from)
	if err != nil {
		t.Fatal(err)
	}
	if err := fs.MkdirAll(path.Dir(to)); err != nil {
		t.Fatal(err)
	}
	if err := vfs.Publish(fs, path.Dir(to), path.Base(to), func(f vfs.File) error {
		_, err := f.Write(m.Bytes())
		return err
	}); err != nil {
		t.Fatal(err)
	}
	if err := m.Unmap(); err != nil {
		t.Fatal(err)
	}
}

// TestSnapshotsSorted: of the manifests in the bucket, fewer stay the older they are, and none that was not valid
// within the last seven days.
func TestSnapshotsSorted(t *testing.T) {
	now := time.Date(2026, 5, 20, 12, 0, 0, 0, time.UTC)
	var all []bucket.Object
	for age := 20 * 24 * time.Hour; age >= 0; age -= 10 * time.Minute {
		all = append(all, bucket.Object{Name: age.String(), Modified: now.Add(-age)})
	}
	stay, gone := sortOut(all, now, keepManifests)
	if len(stay)+len(gone) != len(all) || stay[len(stay)-1].Name != all[len(all)-1].Name {
		t.Fatalf("%d stay, %d go, of %d", len(stay), len(gone), len(all))
	}
	count := func(from, to time.Duration) (n int) {
		for _, o := range stay {
			if age := now.Sub(o.Modified); age > from && age <= to {
				n++
			}
		}
		return n
	}
	day := 24 * time.Hour
	for _, c := range []struct {
		from, to    time.Duration
		least, most int
	}{{-1, time.Hour, 6, 7}, {time.Hour, day, 22, 24}, {day, 7 * day, 5, 7},
		{7 * day, 8 * day, 0, 1}, {8 * day, 30 * day, 0, 0}} {
		if n := count(c.from, c.to); n < c.least || n > c.most {
			t.Errorf("%d of the age %s to %s stay, want %d to %d", n, c.from, c.to, c.least, c.most)
		}
	}
	// A server that was idle for a month: its last manifest counts, and the one before until a week after that.
	idle := []bucket.Object{{Name: "a", Modified: now.Add(-60 * day)}, {Name: "b", Modified: now.Add(-30 * day)},
		{Name: "c", Modified: now.Add(-day)}}
	if stay, _ := sortOut(idle, now, keepManifests); len(stay) != 2 || stay[0].Name != "b" {
		t.Errorf("%v stay", stay)
	}
}

// TestEpochOfAStandbyThatTookOver: it takes the prefix over from the server that it followed, which can use the prefix
// no longer, neither as it runs nor after a start. A copy that did not take over is refused.
func TestEpochOfAStandbyThatTookOver(t *testing.T) {
	disk := vfs.NewMem()
	b := buckettest.Open(t, bucket.Options{URL: "/bucket", FS: disk})
	known := func(context.Context) error { return nil }
	of := func(dir string, standing uint64) *holder {
		if err := disk.MkdirAll(dir); err != nil {
			t.Fatal(err)
		}
		return &holder{fs: disk, bucket: b, dir: dir, store: "s", standing: standing, now: time.Now}
	}
	primary := of("/primary", 0)
	if err := primary.hold(ctx, known); err != nil {
		t.Fatal(err)
	}
	var other *OtherServerError
	if err := of("/standby", 0).hold(ctx, known); !errors.As(err, &other) {
		t.Errorf("a copy holds the prefix: %v", err)
	}
	if err := of("/standby", 1).hold(ctx, known); err != nil {
		t.Fatalf("the standby that took over: %v", err)
	}
	if err := primary.holdNow(ctx, known); !errors.As(err, &other) || other.Other.Standing != 1 {
		t.Errorf("the former primary, as it runs: %v", err)
	}
	if err := of("/primary", 0).hold(ctx, known); !errors.As(err, &other) {
		t.Errorf("the former primary, after a start: %v", err)
	}
	if err := of("/standby", 1).hold(ctx, known); err != nil {
		t.Errorf("the standby, after a start: %v", err)
	}
	if err := of("/next", 2).hold(ctx, known); err != nil {
		t.Errorf("the next that takes over: %v", err)
	}
}
