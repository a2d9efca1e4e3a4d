package engine

import (
	"context"
	"errors"
	"fmt"
	"io"
	"math"
	"slices"
	"sync"
	"time"

	"github.com/prometheus/client_golang/prometheus"

	"varve/engine/bucket"
	"varve/engine/manifest"
	"varve/engine/parts"
)

// mover moves old parts to a bucket, puts the manifest there, and removes objects that nothing names any more. Each
// step leaves what the next one, or the next start, needs to go on:
//
//  1. The stub is published beside the part. It names the object, so from here on no object is without a name here.
//  2. The part is uploaded, then read back and held against its checksum.
//  3. One edit of the manifest makes the part cold, and readers get the stub.
//  4. The file of the whole part is removed, once its last reader is done.
//  5. The manifest that names the object is put to the bucket.
//
// A start that finds a stub beside a part that is not cold goes on at 2. Of a part that is gone the stub is removed,
// and the object once it is a week old and no manifest of the last week names it, see sweep. Nothing is moved, put or
// removed unless the last epoch of the prefix is this store's. Safe for concurrent use.
type mover struct {
	*inventory
	merger *merger
	store  string // whose objects are removed; empty: the store has no name that lasts

	moving    sync.Mutex // held while parts move: one at a time; protects what follows
	holder    holder
	snapshots snapshots
	// guest: the prefix is another server's, and this store reads there what its manifest names.
	guest bool
	stuck uint64 // the part whose move failed last: others go first

	mu       sync.Mutex // protects what follows
	swept    time.Time  // when the bucket was last looked through
	unnamed  int        // objects that no part needs, as of then
	moved    int64
	bytes    int64
	failures int64
	why      string
	failedAt time.Time // when a move failed last
	waiting  int       // parts that the last pass found ripe and did not move
	failing  bool      // the last pass failed
	told     time.Time // when that was last logged
}

const (
	// sweepPeriod is how often the bucket is looked through for objects that nothing names.
	sweepPeriod = 24 * time.Hour
	// sweepAgain is how long a look through the bucket that failed is not repeated.
	sweepAgain = time.Hour
	// remindPeriod is how often the log says that passes still fail.
	remindPeriod = time.Hour
	// maxKnown bounds the objects that are looked for to know a bucket again.
	maxKnown = 8
)

// errOtherBucket is the error for a bucket that has none of the objects that the manifest names.
var errOtherBucket = errors.New("the bucket has no object of the cold parts: it is another one, or was emptied")

// errOtherBytes is wrapped by the error for an object that is not what was uploaded.
var errOtherBytes = errors.New("the bucket holds other bytes than were uploaded")

func newMover(v *inventory, merger *merger) *mover {
	state := v.manifest.State()
	m := &mover{inventory: v, merger: merger, store: state.Store, guest: state.Standing.Replaced > state.Standing.Epoch}
	if c := v.o.Cold; c != nil {
		m.holder = holder{fs: v.o.FS, bucket: c.Bucket, dir: v.o.Dir, store: m.store, now: v.o.Now,
			standing: state.Standing.Epoch}
		m.snapshots = snapshots{bucket: c.Bucket, store: m.store, now: v.o.Now}
	}
	return m
}

// loop moves parts until the store closes: at once, and then at each tick.
func (m *mover) loop(ctx context.Context) {
	now := make(chan struct{}, 1)
	now <- struct{}{}
	m.tending(ctx, now, func() {
		if err := m.pass(ctx); ctx.Err() == nil {
			m.tell(err)
		}
	})
}

// tell logs that passes fail, when they begin to and once an hour, and that they no longer do.
func (m *mover) tell(err error) {
	if err != nil && !m.space.isNews(err) {
		return
	}
	m.mu.Lock()
	now, was := m.o.Now(), m.failing
	due := err != nil && (!was || now.Sub(m.told) >= remindPeriod)
	m.failing = err != nil
	if due {
		m.told = now
	}
	m.mu.Unlock()
	switch {
	case due:
		m.o.Logger.Error("cold parts: what failed is tried again", "bucket", m.o.Cold.Bucket.String(), "error", err)
	case err == nil && was:
		m.o.Logger.Info("cold parts: what had failed is done", "bucket", m.o.Cold.Bucket.String())
	}
}

// pass does what is to be done now. What fails is tried again by a later pass.
func (m *mover) pass(ctx context.Context) error {
	m.moving.Lock()
	defer m.moving.Unlock()
	failed := m.bury()
	list := m.candidates()
	waiting := len(list)
	for i, c := range list {
		if ctx.Err() != nil || m.space.readOnly() != nil {
			return failed
		}
		err := m.hold(ctx)
		held := err == nil
		if held {
			err = m.move(ctx, c.region, c.part)
		}
		m.note(c.part, err)
		if err == nil {
			waiting--
			continue
		}
		failed = errors.Join(failed, err)
		if m.stuck = c.part.meta.File; !held || isAway(err) || i == maxFailed {
			break // each other move would fail and wait as well
		}
	}
	m.mu.Lock()
	if m.waiting = waiting; waiting == 0 {
		m.why = "" // what failed has moved, or its part is gone
	}
	m.mu.Unlock()
	if m.guest {
		return failed
	}
	return errors.Join(failed, m.snapshot(ctx), m.sweep(ctx))
}

// maxFailed bounds the moves of a pass that fail for the sake of their parts.
const maxFailed = 16

// candidate is a part that is to move.
type candidate struct {
	region *region
	part   *part
}

// candidates are the parts that are to move, that which failed last at the end.
func (m *mover) candidates() (list []candidate) {
	for _, r := range m.catalog.Load().inOrder() {
		for _, p := range m.ripe(r) {
			list = append(list, candidate{r, p})
		}
	}
	slices.SortStableFunc(list, func(a, b candidate) int {
		switch m.stuck {
		case a.part.meta.File:
			return 1
		case b.part.meta.File:
			return -1
		}
		return 0
	})
	return list
}

// hold makes sure that the prefix is this store's.
func (m *mover) hold(ctx context.Context) error {
	if m.store == "" {
		return errNoName
	}
	return m.holder.hold(ctx, m.know)
}

// holdNow makes sure that the prefix is this store's still, by a look at its last epoch: what removes objects does so
// first, for a server that took the prefix over within the last minute needs them.
func (m *mover) holdNow(ctx context.Context) error {
	if m.store == "" {
		return errNoName
	}
	return m.holder.holdNow(ctx, m.know)
}

// errNoName is the error of a store that cannot name objects after itself.
var errNoName = errors.New("the store has no name that lasts: the manifest could not be written")

// holdWait bounds the wait for the bucket at a start.
const holdWait = 5 * time.Second

// begin holds the prefix when the store starts, unless a standby took the store over. Another server's prefix is an
// error, unless the manifest names objects of other stores: then the store was made of a backup, and reads there. A
// bucket that does not answer is asked later.
func (m *mover) begin(ctx context.Context) error {
	if m.o.Cold == nil || m.reads || m.guest {
		return nil
	}
	m.moving.Lock()
	defer m.moving.Unlock()
	ctx, end := context.WithTimeout(ctx, holdWait)
	defer end()
	err := m.hold(ctx)
	var other *OtherServerError
	switch {
	case errors.As(err, &other) && other.Other.Store != m.store && m.namesOthers():
		m.guest = true
		m.o.Logger.Warn("cold parts are read of another server's prefix; none moves there", "error", err)
	case other != nil:
		return err
	case err != nil:
		m.o.Logger.Warn("cold parts: the bucket cannot be used yet, it is tried again", "bucket",
			m.o.Cold.Bucket.String(), "error", err)
	}
	return nil
}

// namesOthers reports whether the manifest names objects of other stores.
func (m *mover) namesOthers() bool {
	for _, t := range m.manifest.State().Tables {
		for _, p := range t.Parts {
			if p.Location != "" && !parts.IsOwn(m.store, p.Object()) {
				return true
			}
		}
	}
	return false
}

// snapshot puts the manifest to the bucket, if it is time for it.
func (m *mover) snapshot(ctx context.Context) error {
	state := m.manifest.State()
	if m.store == "" || state.Edit == m.snapshots.edit || m.o.Now().Before(m.snapshots.due) {
		return nil
	}
	if err := m.hold(ctx); err != nil {
		return err
	}
	return m.snapshots.put(ctx, m.holder.held.Number, state)
}

// awayError is an error of the bucket that other parts would meet as well.
type awayError struct{ error }

func (e awayError) Unwrap() error { return e.error }

func isAway(err error) bool {
	var away awayError
	return errors.As(err, &away)
}

// know looks for objects of this store that the manifest names. A bucket that has none of some is not the one that the
// store's parts went to, such as the directory of a file system that is not mounted: no part is to go there.
func (m *mover) know(ctx context.Context) error {
	looked := 0
	for _, t := range m.manifest.State().Tables {
		for _, p := range t.Parts {
			if p.Location == "" || !parts.IsOwn(m.store, p.Object()) {
				continue
			}
			_, err := m.o.Cold.Bucket.Stat(ctx, p.Object())
			if !errors.Is(err, bucket.ErrNotFound) {
				return err
			}
			if looked++; looked == maxKnown {
				return errOtherBucket
			}
		}
	}
	if looked > 0 {
		return errOtherBucket
	}
	return nil
}

// note counts a move.
func (m *mover) note(p *part, err error) {
	m.mu.Lock()
	defer m.mu.Unlock()
	if err != nil {
		m.failures, m.why, m.failedAt = m.failures+1, err.Error(), m.o.Now()
		return
	}
	m.moved, m.bytes, m.why = m.moved+1, m.bytes+p.meta.Bytes, ""
}

// ripe are the parts of a region that are old enough to move and that no merge in the background wants.
func (m *mover) ripe(r *region) (list []*part) {
	s := r.snap.Load()
	before := m.coldBefore(s.schema)
	if before == math.MinInt64 {
		return nil
	}
	whole, _ := sound(s.parts)
	whole = warm(whole)
	n, bound := m.o.mergeParts, m.o.maxPart
	open := slices.DeleteFunc(slices.Clone(whole), func(p *part) bool { return !p.acquire() })
	defer func() {
		for _, p := range open {
			p.release()
		}
	}()
	fresh := pickFresh(open, n, bound) != nil
	w := m.merger.store.windowsOf(s)
	merged, _ := classes(open, w)
	wanted := map[*part]bool{}
	for _, group := range merged {
		if take(group, n, 2*n, bound) != nil {
			for _, p := range group {
				wanted[p] = true
			}
		}
	}
	for _, p := range open {
		if p.meta.MaxTime < before && !p.unlisted.Load() && !wanted[p] && (p.meta.Level > 0 || !fresh) {
			list = append(list, p)
		}
	}
	return list
}

// move moves a part, or goes on where an earlier try ended. A part that a merge has taken, or that is gone, is left.
func (m *mover) move(ctx context.Context, r *region, p *part) error {
	if !p.acquire() {
		return nil
	}
	defer p.release()
	stub, err := m.stub(ctx, p)
	if err != nil {
		return fmt.Errorf("part %s: stub: %w", parts.Name(p.meta.File), err)
	}
	err = m.upload(ctx, p.meta.File, stub)
	if errors.Is(err, errOtherBytes) {
		err = errors.Join(err, m.discard(ctx, p.meta.File, stub.Object))
	}
	if err != nil {
		return fmt.Errorf("part %s: %s: %w", parts.Name(p.meta.File), stub.Object, err)
	}
	return m.demote(r, p, stub)
}

// stub returns the stub of a part. It makes it if there is none, or none that can be read: what that named is found by
// the sweep.
func (m *mover) stub(ctx context.Context, p *part) (*parts.Stub, error) {
	if m.files.hasStub(p.meta.File) {
		s, err := m.files.local.Stub(p.meta.File)
		if err == nil && s.Size == p.meta.Bytes && parts.IsOwn(m.store, s.Object) {
			return s, nil
		}
	}
	if m.store == "" {
		return nil, errNoName
	}
	pages, err := p.file.Pages(ctx)
	if err != nil {
		return nil, err
	}
	m.files.haveStub(p.meta.File) // a file that is removed takes it along from here on
	return m.files.local.Shrink(ctx, p.meta.File, parts.NewObject(m.store, p.meta.File), pages)
}

// upload creates the object and reads it back. An object that an earlier try created is only read.
func (m *mover) upload(ctx context.Context, file uint64, s *parts.Stub) error {
	b := m.o.Cold.Bucket
	err := m.files.local.Whole(parts.Entry{File: file},
		func(in io.ReaderAt, size int64) error { return b.Put(ctx, s.Object, in, size) })
	if err != nil && !errors.Is(err, bucket.ErrExists) {
		if !errors.Is(err, bucket.ErrSource) {
			err = awayError{err}
		}
		return err
	}
	sum, err := parts.Checksum(ctx, s.Size, func(p []byte, off int64) error { return b.Read(ctx, s.Object, p, off) })
	switch {
	case errors.Is(err, bucket.ErrNotFound), errors.Is(err, bucket.ErrShort):
		return fmt.Errorf("%w: %w", errOtherBytes, err)
	case err == nil && sum != s.Checksum:
		return fmt.Errorf("%w: checksum %08x, want %08x", errOtherBytes, sum, s.Checksum)
	case err != nil:
		return awayError{err}
	}
	return nil
}

// discard removes an object and the stub that names it.
func (m *mover) discard(ctx context.Context, file uint64, object string) error {
	if parts.IsOwn(m.store, object) {
		if err := m.remove(ctx, []string{object}, nil); err != nil {
			return err
		}
	}
	if err := m.files.store.Remove(parts.Entry{File: file, Cold: true}); err != nil {
		return err
	}
	m.files.lackStub(file)
	return nil
}

// demote makes a part cold whose object was read back.
func (m *mover) demote(r *region, p *part, s *parts.Stub) error {
	free, left := m.merger.leave(r, []*part{p})
	defer left()
	if len(free) == 0 {
		return nil // a merge has it
	}
	meta := p.meta.Cold(s.Object, s.Checksum, s.Length)
	cold, err := m.files.openCold(meta)
	if err != nil {
		return err
	}
	r.maintain.Lock()
	done := false
	if slices.Contains(r.snap.Load().parts, p) && p.whole() && !p.unlisted.Load() {
		err = m.apply(manifest.Edit{
			RemoveParts: []manifest.PartEdit{{Table: r.id, Part: manifest.PartMeta{File: meta.File}}},
			AddParts:    []manifest.PartEdit{{Table: r.id, Part: meta}}})
		if done = err == nil; done {
			r.mu.Lock()
			r.replace(func(snap *regionSnap) {
				if at := slices.Index(snap.parts, p); at >= 0 { // else set aside in this moment
					snap.parts[at] = cold
				} else {
					done = false
				}
			})
			r.mu.Unlock()
		}
	}
	r.maintain.Unlock()
	if !done {
		cold.release()
		if err != nil && !m.lists(r) {
			return nil // dropped meanwhile
		}
		return err
	}
	p.shrink()
	return nil
}

// stats is what Cold returns.
func (m *mover) stats() (s ColdStats) {
	for _, t := range m.manifest.State().Tables {
		for _, p := range t.Parts {
			if p.Location != "" {
				s.Parts, s.Bytes, s.LocalBytes = s.Parts+1, s.Bytes+p.Bytes, s.LocalBytes+p.LocalBytes()
			}
		}
	}
	if m.o.Cold == nil {
		return s
	}
	s.Bucket = m.o.Cold.Bucket.String()
	m.mu.Lock()
	defer m.mu.Unlock()
	s.ToRemove = m.unnamed
	s.Waiting = m.waiting
	s.Moved, s.MovedBytes, s.Failures, s.LastFailure = m.moved, m.bytes, m.failures, m.why
	s.LastFailedAt = m.failedAt
	return s
}

// The figures of cold parts; those of requests and of the cache are of the bucket.
var (
	coldParts = prometheus.NewDesc("varve_cold_parts", "Parts whose columns lie in the bucket.", nil, nil)
	coldBytes = prometheus.NewDesc("varve_cold_bytes",
		"Bytes of cold parts, in the bucket and of their stubs in the data directory.", []string{"place"}, nil)
	coldWaiting = prometheus.NewDesc("varve_cold_parts_waiting", "Parts that are old enough to move.", nil, nil)
	coldGraves  = prometheus.NewDesc("varve_cold_objects_to_remove",
		"Objects that no part needs any more, as of the last look through the bucket.", nil, nil)
	coldMoved  = prometheus.NewDesc("varve_cold_moved_parts_total", "Parts that moved to the bucket.", nil, nil)
	coldFailed = prometheus.NewDesc("varve_cold_move_failures_total", "Moves that failed; they are tried again.", nil,
		nil)
)

var coldLastFailure = prometheus.NewDesc("varve_cold_last_failure_timestamp_seconds",
	"When a move of a part failed last; there is none: none has since the start.", nil, nil)

// Describe implements prometheus.Collector.
func (m *mover) Describe(out chan<- *prometheus.Desc) { prometheus.DescribeByCollect(m, out) }

// Collect implements prometheus.Collector.
func (m *mover) Collect(out chan<- prometheus.Metric) {
	if m.o.Cold == nil {
		return
	}
	s := m.stats()
	gauge := func(d *prometheus.Desc, v float64, labels ...string) {
		out <- prometheus.MustNewConstMetric(d, prometheus.GaugeValue, v, labels...)
	}
	gauge(coldParts, float64(s.Parts))
	gauge(coldBytes, float64(s.Bytes), "bucket")
	gauge(coldBytes, float64(s.LocalBytes), "disk")
	gauge(coldWaiting, float64(s.Waiting))
	gauge(coldGraves, float64(s.ToRemove))
	out <- prometheus.MustNewConstMetric(coldMoved, prometheus.CounterValue, float64(s.Moved))
	out <- prometheus.MustNewConstMetric(coldFailed, prometheus.CounterValue, float64(s.Failures))
	if !s.LastFailedAt.IsZero() {
		gauge(coldLastFailure, float64(s.LastFailedAt.Unix()))
	}
}
