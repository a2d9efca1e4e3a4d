package engine

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"varve/engine/blockcache"
	"varve/engine/bucket"
	"varve/engine/bucket/buckettest"
	"varve/engine/filter"
	"varve/engine/invariant"
	"varve/engine/manifest"
	"varve/engine/parts"
	"varve/engine/scan"
	"varve/engine/schema"
	"varve/engine/status"
	"varve/engine/vector"
	"varve/engine/vfs"
)

// coldTable writes a table of some rows and moves its parts to the bucket.
func coldTable(t *testing.T, e *Engine, b bucket.Bucket, name string, kind modelKind) {
	t.Helper()
	writeMany(t, e, public(name), kind, 100, 3_000)
	if err := e.Flush(ctx, public(name)); err != nil {
		t.Fatal(err)
	}
	settleCold(t, e, b, "table "+name)
	if p := openPartsOf(t, e, name); len(p) == 0 || slices.ContainsFunc(p, func(p *part) bool { return !p.isCold() }) {
		t.Fatalf("table %s: parts %v", name, p)
	}
}

func openPartsOf(t *testing.T, e *Engine, name string) []*part {
	t.Helper()
	tab, err := e.Table(public(name))
	if err != nil {
		t.Fatal(err)
	}
	return tab.region.snap.Load().parts
}

// TestColdAway takes the bucket away: the store starts, writes, flushes and answers what needs no cold data; what does
// waits as long as it may and then names the bucket. Once the bucket is back, all goes on by itself.
func TestColdAway(t *testing.T) {
	o, b := coldOptions(t, testOptions(vfs.NewMem()))
	e := mustOpen(t, o)
	coldTable(t, e, b, "old", appendOnly)
	want, err := scanTable(e, public("old"), everything)
	if err != nil {
		t.Fatal(err)
	}
	mustClose(t, e)
	b.set(func(context.Context, string, string) error { return errors.New("no route to host") }, nil)
	o.Cold.Timeout = 20 * time.Millisecond
	e = mustOpen(t, o)
	writeMany(t, e, public("new"), appendOnly, 100, 3_000)
	if err := e.Flush(ctx, public("new")); err != nil {
		t.Fatal(err)
	}
	if err := e.mover.pass(ctx); err == nil || !strings.Contains(err.Error(), "no route to host") {
		t.Errorf("a move without the bucket: %v", err)
	}
	if rows, err := scanTable(e, public("new"), everything); err != nil || len(rows) == 0 {
		t.Errorf("hot rows: %d, %v", len(rows), err)
	}
	if len(e.SetAside()) > 0 {
		t.Errorf("set aside: %v", e.SetAside())
	}
	before := b.readCount()
	tab, err := e.Table(public("old"))
	if err != nil {
		t.Fatal(err)
	}
	s, err := e.Scan(ctx, Request{Table: tab, Time: everything.time})
	if err != nil {
		t.Fatal(err)
	}
	id := tab.Schema.Columns[tab.Schema.Time].ID
	if st, ok, err := s.Stat(id); err != nil || !ok || st.Count != len(want) {
		t.Errorf("count: %+v %v %v, want %d", st, ok, err, len(want))
	}
	s.Close()
	if n := b.readCount() - before; n != 0 {
		t.Errorf("a count asks the bucket %d times", n)
	}
	began := time.Now()
	_, err = scanTable(e, public("old"), everything)
	if status.Of(err) != status.StorageUnavailable || !strings.Contains(err.Error(), "file:///bucket") ||
		!strings.Contains(err.Error(), "storage.cold_timeout is 20ms") {
		t.Errorf("cold rows: %v", err)
	}
	if took := time.Since(began); took < 20*time.Millisecond {
		t.Errorf("it waited %s", took)
	}
	b.set(nil, nil)
	o.Cold.Timeout = time.Minute
	mustClose(t, e)
	e = mustOpen(t, o)
	settleCold(t, e, b, "the bucket is back")
	if got, err := scanTable(e, public("old"), everything); err != nil || !slices.Equal(got, want) {
		t.Errorf("%d rows, want %d: %v", len(got), len(want), err)
	}
	mustClose(t, e)
}

// TestColdGoes removes objects with their parts, after the edit of the manifest, also if the bucket is away meanwhile
// and the store starts anew; not while a backup names them, and not what is another store's.
func TestColdGoes(t *testing.T) {
	disk := vfs.NewMem()
	o, b := coldOptions(t, testOptions(disk))
	e := mustOpen(t, o)
	coldTable(t, e, b, "a", appendOnly)
	want, err := scanTable(e, public("a"), everything)
	if err != nil {
		t.Fatal(err)
	}
	if _, err := e.Backups().Make(ctx, "kept"); err != nil {
		t.Fatal(err)
	}
	coldTable(t, e, b, "gone", appendOnly)
	names := objectsOf(t, b)
	b.set(func(context.Context, string, string) error { return errors.New("away") }, nil)
	for _, name := range []string{"a", "gone"} {
		if err := e.DropTables(ctx, []schema.Name{public(name)}); err != nil {
			t.Fatal(err)
		}
	}
	if err := passNow(e); err == nil {
		t.Error("objects were removed of a bucket that is away")
	}
	mustClose(t, e)
	b.set(nil, nil)
	if now := objectsOf(t, b); !slices.Equal(now, names) {
		t.Fatalf("objects %v, want %v", now, names)
	}
	if left, err := e.files.local.List(); err != nil || len(left) > 0 {
		t.Errorf("files of parts that are gone: %v, %v", left, err)
	}
	e = mustOpen(t, o)
	for range 3 {
		if err := passNow(e); err != nil {
			t.Fatal(err)
		}
	}
	left := objectsOf(t, b)
	if len(left) == 0 || len(left) == len(names) || e.Cold().ToRemove != len(left) {
		t.Errorf("objects %v, before %v; %+v", left, names, e.Cold())
	}
	restored := o
	restored.Dir = "/restored"
	state, _, err := manifest.Read(disk, "/data/backups/kept")
	if err == nil {
		err = Restore(disk, "/data/backups/kept", restored.Dir, state)
	}
	if err != nil {
		t.Fatal(err)
	}
	r := mustOpen(t, restored)
	if got, err := scanTable(r, public("a"), everything); err != nil || !slices.Equal(got, want) {
		t.Errorf("restored: %d rows, want %d: %v", len(got), len(want), err)
	}
	if err := r.DropTables(ctx, []schema.Name{public("a")}); err != nil {
		t.Fatal(err)
	}
	if err := r.mover.pass(ctx); err != nil {
		t.Fatal(err)
	}
	if now := objectsOf(t, b); !slices.Equal(now, left) {
		t.Errorf("a restored store removed objects of another: %v, want %v", now, left)
	}
	mustClose(t, r)
	if err := e.Backups().Drop(ctx, "kept"); err != nil {
		t.Fatal(err)
	}
	settleCold(t, e, b, "the backup is dropped")
	mustClose(t, e)
}

// TestColdSweep removes an object that nothing names, once it is a week old.
func TestColdSweep(t *testing.T) {
	files := vfs.NewMem()
	o, b := coldOptions(t, testOptions(vfs.NewMem()))
	now := time.Now()
	b.modified = now
	o.Cold.Keep = 0
	o.Now = func() time.Time { return now }
	e := mustOpen(t, o)
	coldTable(t, e, b, "a", appendOnly)
	names := objectsOf(t, b)
	f, err := files.Create("x")
	if err != nil {
		t.Fatal(err)
	}
	orphan, other := parts.NewObject(e.Store(), 7), parts.NewObject("another", 7)
	for _, name := range []string{orphan, other} {
		if err := b.Put(ctx, name, f, 0); err != nil {
			t.Fatal(err)
		}
	}
	for _, c := range []struct {
		after time.Duration
		want  []string
	}{
		{6 * 24 * time.Hour, append([]string{orphan, other}, names...)},
		{2 * 24 * time.Hour, append([]string{other}, names...)},
	} {
		now = now.Add(c.after)
		if err := e.mover.pass(ctx); err != nil {
			t.Fatal(err)
		}
		slices.Sort(c.want)
		if got := objectsOf(t, b); !slices.Equal(got, c.want) {
			t.Errorf("objects %v, want %v", got, c.want)
		}
	}
	mustClose(t, e)
}

// TestColdSweepTakenOver: a server whose prefix another one took over removes nothing there, also if it saw its own
// epoch a moment before, and no more than a batch if that happens while it removes.
func TestColdSweepTakenOver(t *testing.T) {
	for name, during := range map[string]bool{"before the sweep": false, "during the sweep": true} {
		t.Run(name, func(t *testing.T) { testSweepTakenOver(t, during) })
	}
}

func testSweepTakenOver(t *testing.T, during bool) {
	disk := vfs.NewMem()
	o, b := coldOptions(t, testOptions(disk))
	now := time.Now()
	b.modified = now
	o.Now = func() time.Time { return now }
	e := mustOpen(t, o)
	coldTable(t, e, b, "a", appendOnly)
	f, err := disk.Create("x")
	if err == nil {
		err = disk.MkdirAll("/heir")
	}
	if err != nil {
		t.Fatal(err)
	}
	for i := range 3 * removeBatch {
		if err := b.Put(ctx, parts.NewObject(e.Store(), uint64(1000+i)), f, 0); err != nil {
			t.Fatal(err)
		}
	}
	before := buckettest.Names(t, b, "")
	takeOver := func() {
		h := holder{fs: disk, bucket: b.Bucket, dir: "/heir", store: "heir", now: o.Now}
		last, err := lastEpoch(ctx, b.Bucket)
		if err == nil {
			err = h.take(ctx, last, true)
		}
		if err != nil {
			t.Error(err)
		}
	}
	removed := 0
	b.set(func(_ context.Context, call, name string) error {
		if call == "remove" {
			if removed++; removed == 1 && during {
				takeOver()
			}
		}
		return nil
	}, nil)
	now = now.Add(8 * 24 * time.Hour)
	e.mover.swept, e.mover.holder.looked = time.Time{}, now
	if !during {
		takeOver()
	}
	err = e.mover.pass(ctx)
	var other *OtherServerError
	if !errors.As(err, &other) || other.Other.Store != "heir" {
		t.Errorf("a sweep of a prefix that was taken over: %v", err)
	}
	most := 0
	if during {
		most = removeBatch
	}
	if after := buckettest.Names(t, b, ""); removed > most || len(after) != len(before)+1-removed {
		t.Errorf("%d objects were removed, at most %d may be; there are %d, were %d", removed, most, len(after),
			len(before))
	}
	b.set(nil, nil)
	mustClose(t, e)
}

// TestColdReadsTogether: a scan asks for pages of several cold parts at the same time. The bucket
// answers none of the first four reads before all four are there.
func TestColdReadsTogether(t *testing.T) {
	const together = 4
	disk := vfs.NewMem()
	o, b := coldOptions(t, testOptions(disk))
	e := mustOpen(t, o)
	for range together {
		writeMany(t, e, public("a"), appendOnly, 100, 3_000)
		if err := e.Flush(ctx, public("a")); err != nil {
			t.Fatal(err)
		}
		settleCold(t, e, b, "a flush")
	}
	want, err := scanTable(e, public("a"), everything)
	if err != nil {
		t.Fatal(err)
	}
	if n := len(openPartsOf(t, e, "a")); n < together {
		t.Fatalf("%d cold parts", n)
	}
	mustClose(t, e)
	cache, err := blockcache.Open(blockcache.Options{FS: disk, Dir: "/cache", Size: blockcache.MinSize})
	if err != nil {
		t.Fatal(err)
	}
	o.Cold.Cache = cache
	e = mustOpen(t, o)
	var reads atomic.Int64
	all := make(chan struct{})
	b.set(func(ctx context.Context, call, _ string) error {
		if call != "read" {
			return nil
		}
		if reads.Add(1) == together {
			close(all)
		}
		select {
		case <-all:
			return nil
		case <-ctx.Done():
			return ctx.Err()
		}
	}, nil)
	if got, err := scanTable(e, public("a"), everything); err != nil || !slices.Equal(got, want) {
		t.Errorf("%d rows, want %d: %v", len(got), len(want), err)
	}
	mustClose(t, e)
	if err := cache.Close(); err != nil {
		t.Error(err)
	}
}

// TestColdCheck finds what is wrong with stubs and with objects.
func TestColdCheck(t *testing.T) {
	disk := vfs.NewMem()
	o, b := coldOptions(t, testOptions(disk))
	e := mustOpen(t, o)
	coldTable(t, e, b, "a", lastRow)
	object := openPartsOf(t, e, "a")[0].meta.Object()
	mustClose(t, e)
	for _, c := range []struct {
		name   string
		bucket bucket.Bucket
		before func(context.Context, string, string) error
		after  func(string, []byte)
		faults int
	}{
		{"stubs alone", nil, func(context.Context, string, string) error { return errors.New("asked") }, nil, 0},
		{"all is well", b, nil, nil, 0},
		{"other bytes", b, nil, func(_ string, p []byte) { p[0]++ }, 1},
		{"away", b, func(context.Context, string, string) error { return errors.New("away") }, nil, 1},
	} {
		b.set(c.before, c.after)
		for _, deep := range []bool{false, true} {
			r, err := Check(CheckOptions{FS: disk, Dir: "/data", Deep: deep, Cold: c.bucket})
			if err != nil {
				t.Fatal(err)
			}
			if len(r.Faults) != c.faults || r.Cold != r.Parts || r.Cold == 0 {
				t.Errorf("%s, deep %v: %+v", c.name, deep, r)
			}
			if c.faults > 0 && !strings.Contains(r.Faults[0].What, object) {
				t.Errorf("%s: %s", c.name, r.Faults[0].What)
			}
		}
	}
	b.set(nil, nil)
	if err := disk.Remove("/data/" + manifest.FileName); err != nil {
		t.Fatal(err)
	}
	if _, err := RebuildManifest(disk, "/data", ""); err != nil {
		t.Fatal(err)
	}
	e = mustOpen(t, o)
	rows, err := scanTable(e, public("a"), everything)
	if err != nil || len(rows) == 0 || !openPartsOf(t, e, "a")[0].isCold() {
		t.Errorf("by a manifest that was made anew: %d rows, %v", len(rows), err)
	}
	mustClose(t, e)
}

// TestColdWithout opens a store with cold parts where no bucket is set: what needs it says so.
func TestColdWithout(t *testing.T) {
	o, b := coldOptions(t, testOptions(vfs.NewMem()))
	e := mustOpen(t, o)
	coldTable(t, e, b, "a", appendOnly)
	mustClose(t, e)
	o.Cold = nil
	e = mustOpen(t, o)
	if _, err := scanTable(e, public("a"), everything); !errors.Is(err, parts.ErrNoBucket) ||
		status.Of(err) != status.StorageUnavailable {
		t.Errorf("cold rows without a bucket: %v", err)
	}
	if len(e.SetAside()) > 0 {
		t.Errorf("set aside: %v", e.SetAside())
	}
	mustClose(t, e)
}

// TestColdStore moves to a store of objects over HTTP and changes a cold table: types, append mode, rows.
func TestColdStore(t *testing.T) {
	b := buckettest.Open(t, buckettest.Store(t))
	o, _ := coldOptions(t, testOptions(vfs.NewMem()))
	o.Cold.Bucket = b
	e := mustOpen(t, o)
	coldTable(t, e, b, "a", lastRow)
	want, err := scanTable(e, public("a"), everything)
	if err != nil {
		t.Fatal(err)
	}
	err = e.Alter(ctx, public("a"), func(old *schema.Table) (*schema.Table, error) {
		next := *old
		next.Options.AppendMode = true
		return &next, nil
	})
	if err != nil {
		t.Fatal(err)
	}
	settleCold(t, e, b, "append mode")
	if got, err := scanTable(e, public("a"), everything); err != nil || !slices.Equal(got, want) {
		t.Errorf("%d rows, want %d: %v", len(got), len(want), err)
	}
	mustClose(t, e)
}

// TestColdOption says by table and by database which parts move.
func TestColdOption(t *testing.T) {
	for text, want := range map[string]time.Duration{"7d": 7 * 24 * time.Hour, "never": 0, "Forever": 0,
		"90m": 90 * time.Minute} {
		o, err := schema.ParseOptions(map[string]string{schema.ColdOption: text})
		if err != nil {
			t.Fatal(err)
		}
		if value, _ := o.Find(schema.ColdOption); schema.ColdAge(value) != want {
			t.Errorf("cold_after = %q: %s, want %s", text, schema.ColdAge(value), want)
		}
	}
	for _, text := range []string{"0s", "old", "-1d"} {
		if _, err := schema.ParseOptions(map[string]string{schema.ColdOption: text}); err == nil {
			t.Errorf("cold_after = %q is taken", text)
		}
	}
	o, b := coldOptions(t, testOptions(vfs.NewMem()))
	o.Cold.After = 0
	e := mustOpen(t, o)
	writeMany(t, e, public("a"), appendOnly, 100, 1_000)
	err := e.Flush(ctx, public("a"))
	if err == nil {
		err = e.mover.pass(ctx)
	}
	if n := len(objectsOf(t, b)); err != nil || n > 0 {
		t.Fatalf("%d objects without the option: %v", n, err)
	}
	err = e.AlterDatabase(ctx, Database{Name: PublicDB,
		Options: []schema.Option{{Key: schema.ColdOption, Value: "1day"}}})
	if err == nil {
		err = e.mover.pass(ctx)
	}
	if n := len(objectsOf(t, b)); err != nil || n == 0 {
		t.Errorf("%d objects by the option of the database: %v", n, err)
	}
	mustClose(t, e)
}

// TestColdOther gives a store whose parts are in a bucket another, empty one, such as the directory of a file system
// that is not mounted: no part goes there, and no object is forgotten.
func TestColdOther(t *testing.T) {
	o, b := coldOptions(t, testOptions(vfs.NewMem()))
	e := mustOpen(t, o)
	coldTable(t, e, b, "a", appendOnly)
	mustClose(t, e)
	other, empty := coldOptions(t, o)
	none, err := vfs.NewMem().Create("x")
	if err == nil {
		err = empty.Put(ctx, "x", none, 0)
	}
	if err != nil {
		t.Fatal(err)
	}
	e = mustOpen(t, other)
	writeMany(t, e, public("b"), appendOnly, 100, 3_000)
	if err := e.Flush(ctx, public("b")); err != nil {
		t.Fatal(err)
	}
	if err := e.mover.pass(ctx); !errors.Is(err, errOtherBucket) {
		t.Errorf("a move to another bucket: %v", err)
	}
	if s, names := e.Cold(), objectsOf(t, empty); s.Waiting == 0 || s.Moved > 0 || len(names) > 1 {
		t.Errorf("%+v, objects %v", s, names)
	}
	mustClose(t, e)
	e = mustOpen(t, o)
	settleCold(t, e, b, "the bucket is back")
	mustClose(t, e)
}

// TestColdTold logs that the bucket is away when it goes, once an hour after that, and when it is back.
func TestColdTold(t *testing.T) {
	o, b := coldOptions(t, testOptions(vfs.NewMem()))
	var lines strings.Builder
	o.Logger = slog.New(slog.NewTextHandler(&lines, nil))
	now := time.Now()
	o.Now = func() time.Time { return now }
	e := mustOpen(t, o)
	writeMany(t, e, public("a"), appendOnly, 100, 3_000)
	if err := e.Flush(ctx, public("a")); err != nil {
		t.Fatal(err)
	}
	lines.Reset()
	told := func() int { return strings.Count(lines.String(), "cold parts:") }
	b.set(func(context.Context, string, string) error { return errors.New("no route to host") }, nil)
	for step, c := range []struct {
		passes int
		after  time.Duration
		want   int
	}{{5, 10 * time.Second, 1}, {1, time.Hour, 2}, {5, 10 * time.Second, 2}} {
		for range c.passes {
			now = now.Add(c.after)
			e.mover.tell(e.mover.pass(ctx))
		}
		if told() != c.want {
			t.Errorf("step %d: %d lines, want %d:\n%s", step, told(), c.want, lines.String())
		}
	}
	b.set(nil, nil)
	now = now.Add(2 * time.Hour) // the look through the bucket is due again
	for range 3 {
		e.mover.tell(e.mover.pass(ctx))
	}
	if told() != 3 || !strings.Contains(lines.String(), "what had failed is done") {
		t.Errorf("%d lines once the bucket is back:\n%s", told(), lines.String())
	}
	mustClose(t, e)
}

// TestColdFailureOfPartThatGoes forgets why a move failed once its part is gone.
func TestColdFailureOfPartThatGoes(t *testing.T) {
	o, b := coldOptions(t, testOptions(vfs.NewMem()))
	e := mustOpen(t, o)
	coldTable(t, e, b, "other", appendOnly)
	writeMany(t, e, public("a"), appendOnly, 100, 3_000)
	if err := e.Flush(ctx, public("a")); err != nil {
		t.Fatal(err)
	}
	b.set(func(context.Context, string, string) error { return errors.New("no route to host") }, nil)
	if err := e.mover.pass(ctx); err == nil || e.Cold().LastFailure == "" || e.Cold().Waiting == 0 {
		t.Fatalf("the move fails with %v: %+v", err, e.Cold())
	}
	b.set(nil, nil)
	if err := e.DropTables(ctx, []schema.Name{public("a")}); err != nil {
		t.Fatal(err)
	}
	settleCold(t, e, b, "the table is gone")
	mustClose(t, e)
}

// TestColdUnfinished removes what an upload has left that did not end, once it is a week old.
func TestColdUnfinished(t *testing.T) {
	root := t.TempDir()
	b := buckettest.Open(t, bucket.Options{URL: root})
	o, _ := coldOptions(t, testOptions(vfs.NewMem()))
	o.Cold.Bucket, o.Cold.Keep = b, 0
	now := time.Now()
	o.Now = func() time.Time { return now }
	e := mustOpen(t, o)
	coldTable(t, e, b, "a", appendOnly)
	left := filepath.Join(root, parts.ObjectPrefix(e.Store()), ".put-left")
	if err := os.WriteFile(left, nil, 0o600); err != nil {
		t.Fatal(err)
	}
	for _, c := range []struct {
		after time.Duration
		there bool
	}{{2 * sweepPeriod, true}, {keepManifests, false}} {
		now = now.Add(c.after)
		if err := e.mover.pass(ctx); err != nil {
			t.Fatal(err)
		}
		if _, err := os.Stat(left); (err == nil) != c.there {
			t.Errorf("after %s: %v", c.after, err)
		}
	}
	mustClose(t, e)
}

// TestColdNeedle asks for words and texts that no row has, and for a time without rows: the bucket is not asked. A word
// that a row has is found there.
func TestColdNeedle(t *testing.T) {
	o, b := coldOptions(t, testOptions(vfs.NewMem()))
	e := mustOpen(t, o)
	coldTable(t, e, b, "a", appendOnly)
	tab, err := e.Table(public("a"))
	if err != nil {
		t.Fatal(err)
	}
	s := tab.Schema.Columns[tab.Schema.Column("s")]
	on := func(op filter.Op, text string) filter.And {
		return filter.And{{Column: s.ID, Op: op, Args: vector.ConstBytes(s.Type, []byte(text)), NArgs: 1}}
	}
	first := uint64(101) // what writeMany makes its text of
	there := fmt.Sprintf("%x", first*0x9E3779B97F4A7C15)
	for _, c := range []struct {
		name string
		q    query
		rows int
	}{
		{"no such word", query{time: scan.All, filter: on(filter.Term, "nosuchwordatall")}, 0},
		{"no such text", query{time: scan.All, filter: on(filter.Equal, "nosuchtextatall")}, 0},
		{"no such time", query{time: scan.Range{From: 5_000, To: 6_000}}, 0},
		{"a word that is there", query{time: scan.All, filter: on(filter.Term, there)}, 1},
	} {
		before := b.readCount()
		rows, err := scanTable(e, public("a"), c.q)
		if err != nil || len(rows) != c.rows {
			t.Errorf("%s: %d rows, want %d: %v", c.name, len(rows), c.rows, err)
		}
		// Builds with invariants read what filters refute, to check it.
		if n := b.readCount() - before; (n > 0) != (c.rows > 0) && !invariant.On {
			t.Errorf("%s: the bucket was asked %d times", c.name, n)
		}
	}
	mustClose(t, e)
}

// TestColdIndexes: building indexes of a table with cold parts builds those of the others, and says that it left some.
func TestColdIndexes(t *testing.T) {
	o, b := coldOptions(t, testOptions(vfs.NewMem()))
	e := mustOpen(t, o)
	coldTable(t, e, b, "a", appendOnly)
	e.o.Cold.After = time.Hour * 1e6 // the next part stays on the disk
	writeMany(t, e, public("a"), appendOnly, 10_000, 3_000)
	if err := e.Flush(ctx, public("a")); err != nil {
		t.Fatal(err)
	}
	before := openPartsOf(t, e, "a")
	err := e.BuildIndexes(ctx, public("a"))
	if status.Of(err) != status.Unsupported || !strings.Contains(err.Error(), "1 of them lie in the bucket") {
		t.Errorf("indexes of a table with a cold part: %v", err)
	}
	after := openPartsOf(t, e, "a")
	if len(before) != 2 || len(after) != 2 || before[0] != after[0] || before[1] == after[1] {
		t.Errorf("parts before %v, after %v: the hot one is rewritten, and it alone", before, after)
	}
	mustClose(t, e)
}

// TestColdMostOnce: while the bucket is away, a pass asks it once and not for each table.
func TestColdMostOnce(t *testing.T) {
	o, b := coldOptions(t, testOptions(vfs.NewMem()))
	e := mustOpen(t, o)
	for i := range 5 {
		name := fmt.Sprint("t", i)
		writeMany(t, e, public(name), appendOnly, 100, 3_000)
		if err := e.Flush(ctx, public(name)); err != nil {
			t.Fatal(err)
		}
	}
	puts := 0
	b.set(func(_ context.Context, call, _ string) error {
		if call == "put" {
			puts++
		}
		return errors.New("no route to host")
	}, nil)
	e.mover.snapshots.due = time.Now().Add(time.Hour)
	if err := e.mover.pass(ctx); err == nil || puts != 1 || e.Cold().Failures != 1 || e.Cold().Waiting != 5 {
		t.Errorf("%v: %d uploads, %+v", err, puts, e.Cold())
	}
	b.set(nil, nil)
	settleCold(t, e, b, "the bucket is back")
	mustClose(t, e)
}
