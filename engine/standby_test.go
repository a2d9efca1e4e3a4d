package engine

import (
	"context"
	"errors"
	"fmt"
	"math/rand/v2"
	"strings"
	"sync"
	"testing"
	"time"

	"varve/engine/parts"
	"varve/engine/status"
	"varve/engine/vfs"
	"varve/wal"
)

// line is the way from a standby to its primary, which a test cuts, and by which it exchanges the primary.
type line struct {
	mu    sync.Mutex
	to    Source                   // nil: the line is cut
	fault func(bytes []byte) error // of each answer; nil: none
}

var errLine = errors.New("the line is cut")

func (l *line) connect(to Source) {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.to = to
}

func (l *line) source() (Source, error) {
	l.mu.Lock()
	defer l.mu.Unlock()
	if l.to == nil {
		return nil, errLine
	}
	return l.to, nil
}

// answered fails an answer, or changes its bytes.
func (l *line) answered(bytes []byte) error {
	l.mu.Lock()
	defer l.mu.Unlock()
	if l.fault == nil {
		return nil
	}
	return l.fault(bytes)
}

func (l *line) State(ctx context.Context, edit uint64, wait time.Duration) (SourceState, error) {
	to, err := l.source()
	if err != nil {
		return SourceState{}, err
	}
	s, err := to.State(ctx, edit, wait)
	return s, errors.Join(err, l.answered(nil))
}

func (l *line) Part(ctx context.Context, e parts.Entry, off int64, most int) ([]byte, int64, error) {
	to, err := l.source()
	if err != nil {
		return nil, 0, err
	}
	b, size, err := to.Part(ctx, e, off, most)
	return b, size, errors.Join(err, l.answered(b))
}

func (l *line) Log(ctx context.Context, at wal.LSN, most int, wait time.Duration, p Progress) (SourceLog, error) {
	to, err := l.source()
	if err != nil {
		return SourceLog{}, err
	}
	g, err := to.Log(ctx, at, most, wait, p)
	return g, errors.Join(err, l.answered(nil))
}

// pair is a primary and its standby, in memory.
type pair struct {
	t                *testing.T
	disk, other      *vfs.Mem
	primary, standby *Engine
	line             *line
	o                Options
}

func newPair(t *testing.T, change func(*Options)) *pair {
	t.Helper()
	p := &pair{t: t, disk: vfs.NewMem(), other: vfs.NewMem(), line: &line{}}
	p.o = testOptions(nil)
	p.o.WALFileSize, p.o.Now = 4<<10, time.Now
	if change != nil {
		change(&p.o)
	}
	p.startPrimary()
	p.startStandby()
	t.Cleanup(func() {
		p.line.connect(nil)
		for _, e := range []*Engine{p.standby, p.primary} {
			if e != nil {
				if err := e.Close(context.Background(), false); err != nil {
					t.Error(err)
				}
			}
		}
	})
	return p
}

func (p *pair) startPrimary() {
	p.t.Helper()
	o := p.o
	o.FS = p.disk
	var err error
	if p.primary, err = Open(o); err != nil {
		p.t.Fatal(err)
	}
	p.line.connect(p.primary.Primary())
}

func (p *pair) startStandby() {
	p.t.Helper()
	o := p.o
	o.FS, o.WALSync, o.NoBackground = p.other, "", false
	o.Follow = &FollowOptions{Source: p.line, Primary: "the primary", Address: "the standby"}
	var err error
	if p.standby, err = Open(o); err != nil {
		p.t.Fatal(err)
	}
}

func (p *pair) stop(e **Engine) {
	p.t.Helper()
	if err := (*e).Close(context.Background(), false); err != nil {
		p.t.Fatal(err)
	}
	*e = nil
}

// catchUp waits until the standby shows all that the primary had when it was called.
func (p *pair) catchUp() {
	p.t.Helper()
	p.line.connect(p.primary.Primary())
	if err := p.standby.Wait(p.t.Context()); err != nil {
		p.t.Fatal(err)
	}
	s, began := p.standby.Standby(), time.Now()
	edit := p.primary.manifest.State().Edit
	for {
		news := s.changed.wait()
		f := s.Figures()
		if f.Shown.After(began) && f.MissingParts == 0 && s.manifest.State().Edit >= edit {
			return
		}
		if time.Since(began) > 15*time.Second {
			p.t.Fatalf("the standby does not catch up: %+v, edit %d of %d", f, s.manifest.State().Edit, edit)
		}
		await(p.t.Context(), news, 20*time.Millisecond)
	}
}

// promote makes the standby a primary on its own, as a process would by starting again.
func (p *pair) promote() *Engine {
	p.t.Helper()
	p.stop(&p.standby)
	if _, err := Promote(p.other, p.o.Dir, ""); err != nil {
		p.t.Fatal(err)
	}
	o := p.o
	o.FS, o.WALSync = p.other, ""
	e, err := Open(o)
	if err != nil {
		p.t.Fatal(err)
	}
	p.standby = e
	if found := e.Recovery().SetAside; len(found) > 0 {
		p.t.Fatalf("the standby took over with damage: %+v", found)
	}
	return e
}

// TestStandby does random operations on a primary, cuts the line, and starts either server again, also after a crash.
// Whenever the standby has caught up, it shows what the model says, and so does the server that it becomes.
func TestStandby(t *testing.T) {
	for seed := range seedsOf(t, "VARVE_STANDBY_SEEDS", effort(2, 3, 20)) {
		t.Run(fmt.Sprint("seed ", seed), func(t *testing.T) { standbyRun(t, seed) })
	}
}

func standbyRun(t *testing.T, seed uint64) {
	r := rand.New(rand.NewPCG(seed, 11))
	p := newPair(t, nil)
	w := newWorkload(rand.New(rand.NewPCG(seed, 12)))
	for i := range 80 {
		op := w.next()
		if err := op.run(p.primary); err != nil {
			t.Fatalf("%s: %v", op.name, err)
		}
		if op.change != nil {
			op.change(w.model)
		}
		if err := p.upkeep(r, w.model); err != nil {
			t.Fatal(err)
		}
		when := fmt.Sprintf("operation %d: %s", i, op.name)
		switch n := r.IntN(60); {
		case n < 8:
			p.catchUp()
			compare(t, p.standby, w.model, when)
			compareQueries(t, p.standby, w.model, r, when)
			compareSeries(t, p.standby, w.model, r, when)
		case n < 10:
			p.line.connect(nil)
		case n < 14:
			p.line.connect(p.primary.Primary())
		case n < 16:
			p.line.connect(nil)
			p.stop(&p.primary)
			p.startPrimary()
		case n < 18:
			p.stop(&p.standby)
			p.startStandby()
		case n < 20:
			crashed := p.other.Crash(r) // what was not synced is gone
			p.stop(&p.standby)
			p.other = crashed
			p.startStandby()
		}
		if t.Failed() {
			return
		}
	}
	p.line.connect(p.primary.Primary())
	p.catchUp()
	compare(t, p.standby, w.model, "at the end")
	p.line.connect(nil)
	e := p.promote()
	compare(t, e, w.model, "promoted")
	for range 10 {
		op := w.next()
		if err := op.run(e); err != nil {
			t.Fatalf("promoted: %s: %v", op.name, err)
		}
		if op.change != nil {
			op.change(w.model)
		}
	}
	compare(t, e, w.model, "promoted and written to")
}

// upkeep flushes and merges some tables of the primary.
func (p *pair) upkeep(r *rand.Rand, m model) error {
	for name := range m {
		if r.IntN(100) >= 15 {
			continue
		}
		if err := p.primary.Flush(ctx, public(name)); err != nil {
			return err
		}
		if r.IntN(2) == 0 {
			if err := p.primary.Compact(ctx, public(name)); err != nil {
				return err
			}
		}
	}
	return nil
}

// TestStandbySpoiled: answers that are cut, garbled or errors keep a standby from nothing but time: what it shows is
// what the primary has, and its directory is whole.
func TestStandbySpoiled(t *testing.T) {
	p := newPair(t, nil)
	r, faults := rand.New(rand.NewPCG(1, 15)), rand.New(rand.NewPCG(1, 13)) // of each goroutine its own
	p.line.mu.Lock()
	p.line.fault = func(b []byte) error {
		switch n := faults.IntN(12); {
		case n == 0:
			return errLine
		case n == 1 && len(b) > 0: // of a part: its checksums find it
			b[faults.IntN(len(b))] ^= 1 << faults.IntN(8)
		}
		return nil
	}
	p.line.mu.Unlock()
	w := newWorkload(rand.New(rand.NewPCG(1, 14)))
	for i := range 30 {
		op := w.next()
		if err := op.run(p.primary); err != nil {
			t.Fatal(err)
		}
		if op.change != nil {
			op.change(w.model)
		}
		if err := p.upkeep(r, w.model); err != nil {
			t.Fatal(err)
		}
		if i%10 == 9 {
			p.catchUp()
			compare(t, p.standby, w.model, op.name)
		}
	}
	p.line.connect(nil)
	compare(t, p.promote(), w.model, "promoted")
}

// TestStandbyFarBehind: a standby that was away while the primary removed the log that it had not copied goes on with
// the parts that have the rows.
func TestStandbyFarBehind(t *testing.T) {
	p := newPair(t, nil)
	m := model{"t": {kind: appendOnly, keys: map[string]modelRow{}}}
	write := func(from, to int) {
		t.Helper()
		for i := from; i < to; i++ {
			rows := []modelRow{{"ts": int64(i), "v": int64(i)}}
			if err := put(p.primary, "t", appendOnly, rows); err != nil {
				t.Fatal(err)
			}
			m["t"].put(rows)
		}
	}
	write(0, 50)
	p.catchUp()
	for _, restart := range []bool{false, true} {
		p.line.connect(nil)
		if restart {
			p.stop(&p.standby)
		}
		before := p.primary.manifest.State().Log.First
		for n := range 3 {
			write(100*n, 100*n+40)
			if err := p.primary.Flush(ctx, public("t")); err != nil {
				t.Fatal(err)
			}
		}
		write(900, 930)
		if after := p.primary.manifest.State().Log.First; after <= before {
			t.Fatalf("the log begins at segment %d as before: the test shows nothing", after)
		}
		if restart {
			p.startStandby()
		}
		p.catchUp()
		compare(t, p.standby, m, fmt.Sprint("behind, restart: ", restart))
	}
	if has, _ := p.primary.Primary().standby(); has.At < p.primary.log.CopyEnd() {
		p.awaitProgress()
	}
	compare(t, p.promote(), m, "promoted")
}

// awaitProgress waits until the standby has told the primary that all of the log is on its disk.
func (p *pair) awaitProgress() {
	p.t.Helper()
	ctx, cancel := context.WithTimeout(p.t.Context(), 15*time.Second)
	defer cancel()
	for {
		has, _ := p.primary.Primary().standby()
		if has.At >= p.primary.log.CopyEnd() {
			return
		}
		if !await(ctx, make(chan struct{}), 10*time.Millisecond) {
			p.t.Fatalf("the standby has the log up to %s, it ends at %s", has.At, p.primary.log.CopyEnd())
		}
	}
}

// TestStandbySync: under wal.sync = standby a write that was answered is on the disk of the standby, whatever a crash
// takes from it, and writes without a standby fail and say so.
func TestStandbySync(t *testing.T) {
	p := newPair(t, func(o *Options) { o.WALSync, o.StandbyWait = "standby", 300*time.Millisecond })
	rows := func(i int) []modelRow { return []modelRow{{"ts": int64(i), "v": int64(i)}} }
	m := model{"t": {kind: appendOnly, keys: map[string]modelRow{}}}
	write := func(i int) error {
		err := put(p.primary, "t", appendOnly, rows(i))
		if err == nil {
			m["t"].put(rows(i))
		}
		return err
	}
	p.catchUp()
	for i := range 30 {
		for err := write(i); err != nil; err = write(i) { // a machine under load may take longer than StandbyWait
			if status.Of(err) != status.StorageUnavailable {
				t.Fatal(err)
			}
		}
		if i%10 == 5 {
			if err := p.primary.Flush(ctx, public("t")); err != nil {
				t.Fatal(err)
			}
		}
	}
	p.line.connect(nil)
	seen := p.primary.Primary()
	if err := write(100); err == nil || !strings.Contains(err.Error(), "has not confirmed the write within") {
		t.Errorf("a write that nobody confirms: %v", err)
	}
	seen.mu.Lock()
	seen.seen = seen.seen.Add(-time.Hour)
	seen.mu.Unlock()
	if err := write(101); err == nil || !strings.Contains(err.Error(), "has not asked for") {
		t.Errorf("a write without a standby: %v", err)
	}
	if err := p.primary.Ready(); err == nil {
		t.Error("the primary calls itself ready to write")
	}
	crashed := p.other.Crash(rand.New(rand.NewPCG(1, 15)))
	p.stop(&p.standby)
	p.other = crashed
	p.standby = nil
	if _, err := Promote(p.other, p.o.Dir, ""); err != nil {
		t.Fatal(err)
	}
	o := p.o
	o.FS, o.WALSync = p.other, ""
	p.standby = mustOpen(t, o)
	got, err := dump(p.standby)
	if err != nil {
		t.Fatal(err)
	}
	for _, row := range m["t"].rows {
		if !strings.Contains(got, row.String()+"\n") {
			t.Errorf("acknowledged and gone: %s", row)
		}
	}
}

// TestStandbyEpochs: who may write, and who may follow whom.
func TestStandbyEpochs(t *testing.T) {
	p := newPair(t, nil)
	if err := put(p.primary, "t", appendOnly, []modelRow{{"ts": int64(1)}}); err != nil {
		t.Fatal(err)
	}
	p.catchUp()
	wantError := func(err error, words string) {
		t.Helper()
		if err == nil || !strings.Contains(err.Error(), words) {
			t.Errorf("got %v, want an error with %q", err, words)
		}
	}
	late := put(p.standby, "t", appendOnly, []modelRow{{"ts": int64(2)}})
	wantError(late, "this server is the standby of the primary")
	wantError(p.standby.CreateDatabase(ctx, Database{Name: "d"}), "this server is the standby of the primary")
	_, err := p.standby.Primary().State(ctx, 0, 0)
	wantError(err, "is itself a standby")
	_, err = p.primary.Primary().Log(ctx, wal.Beginning(1), 1, 0, Progress{Address: "a third server"})
	wantError(err, "another standby follows already")
	_, err = Promote(p.other, p.o.Dir, "")
	wantError(err, "in use by another server")
	p.stop(&p.standby)
	o := p.o
	o.FS = p.other
	_, err = Open(o)
	wantError(err, "is the data directory of a standby of the primary")
	_, err = Promote(p.disk, p.o.Dir, "")
	wantError(err, "in use")
	p.startStandby()
	e := p.promote()
	if s := e.Standing(); s.Epoch != 1 || s.Follows != "" {
		t.Errorf("promoted: %+v", s)
	}
	if err := put(e, "t", appendOnly, []modelRow{{"ts": int64(2)}}); err != nil {
		t.Fatal(err)
	}
	// The options of the standby stay as they are: it does not follow again.
	p.stop(&p.standby)
	p.startStandby()
	if p.standby.Standby() != nil || p.standby.Standing().Epoch != 1 {
		t.Error("a standby that took over follows again")
	}
	// The former primary learns of it, for good.
	if err := p.primary.Replace(1, "https://standby"); err != nil {
		t.Fatal(err)
	}
	refusal := "its standby at https://standby took over (epoch 1, this server has epoch 0)"
	wantError(put(p.primary, "t", appendOnly, []modelRow{{"ts": int64(3)}}), refusal)
	p.stop(&p.primary)
	p.startPrimary()
	wantError(put(p.primary, "t", appendOnly, []modelRow{{"ts": int64(3)}}), refusal)
	_, err = p.primary.Primary().State(ctx, 0, 0)
	wantError(err, refusal)
	if lines, err := scanTable(p.primary, public("t"), everything); err != nil || len(lines) != 1 {
		t.Errorf("the former primary shows %q, %v", lines, err)
	}
	// Nobody with rows of its own becomes a standby.
	o.FS, o.Follow = p.disk, &FollowOptions{Source: p.standby.Primary(), Primary: "the new one", Address: "x"}
	p.stop(&p.primary)
	_, err = Open(o)
	wantError(err, "following the new one would lose its rows")
}
