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
	"varve/engine/vfs"
	"varve/sst"
)

// mover moves old parts to a bucket and removes objects that no part needs any more. Each step leaves what the next
// one, or the next start, needs to go on:
//
//  1. The stub is published beside the part. It names the object, so from here on no object is without a name here.
//  2. The part is uploaded, then read back and held against its checksum.
//  3. One edit of the manifest makes the part cold, and readers get the stub.
//  4. The file of the whole part is removed, once its last reader is done.
//
// A start that finds a stub beside a part that is not cold goes on at 2. A part that is merged or dropped before 3
// leaves a stub whose object is removed first. Safe for concurrent use.
type mover struct {
	*inventory
	merger *merger
	store  string // whose objects are removed; empty: the store has no name that lasts

	moving sync.Mutex // held while parts move: one at a time

	mu       sync.Mutex // protects what follows
	swept    time.Time  // when the bucket was last looked through
	buried   time.Time  // when graves were last looked at
	moved    int64
	bytes    int64
	failures int64
	why      string
	waiting  int       // parts that the last pass found ripe and did not move
	failing  bool      // the last pass failed
	told     time.Time // when that was last logged
}

const (
	// sweepPeriod is how often the bucket is looked through for objects that nothing names.
	sweepPeriod = 24 * time.Hour
	// orphanAge is the age from which on such an object is removed.
	orphanAge = 7 * 24 * time.Hour
	// buryPeriod is how often objects are tried to be removed that could not be before.
	buryPeriod = time.Minute
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

// loop moves parts until the store closes.
func (m *mover) loop(ctx context.Context) {
	m.tending(ctx, nil, func() {
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
	failed := m.bury(ctx)
	known, waiting := false, 0
	for _, r := range m.catalog.Load().inOrder() {
		list := m.ripe(r)
		waiting += len(list)
		for _, p := range list {
			if ctx.Err() != nil || m.space.readOnly() != nil {
				return failed
			}
			var err error
			if !known {
				err = m.know(ctx)
				known = err == nil
			}
			if err == nil {
				err = m.move(ctx, r, p)
			}
			m.note(p, err)
			if failed = errors.Join(failed, err); err != nil {
				break // of this table; the next pass tries again
			}
			waiting--
		}
	}
	m.mu.Lock()
	if m.waiting = waiting; waiting == 0 {
		m.why = "" // what failed has moved, or its part is gone
	}
	m.mu.Unlock()
	return errors.Join(failed, m.sweep(ctx))
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
		m.failures, m.why = m.failures+1, err.Error()
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
		return nil, errors.New("the store has no name that lasts: the manifest could not be written")
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
		return err
	}
	sum, err := parts.Checksum(ctx, s.Size, func(p []byte, off int64) error { return b.Read(ctx, s.Object, p, off) })
	switch {
	case errors.Is(err, bucket.ErrNotFound), errors.Is(err, bucket.ErrShort):
		return fmt.Errorf("%w: %w", errOtherBytes, err)
	case err == nil && sum != s.Checksum:
		return fmt.Errorf("%w: checksum %08x, want %08x", errOtherBytes, sum, s.Checksum)
	}
	return err
}

// discard removes an object and the stub that names it.
func (m *mover) discard(ctx context.Context, file uint64, object string) error {
	if parts.IsOwn(m.store, object) {
		if err := m.o.Cold.Bucket.Remove(ctx, object); err != nil {
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

// bury removes the objects of parts that are gone, then their stubs. What a backup in the data directory names stays
// until the backup is dropped.
func (m *mover) bury(ctx context.Context) error {
	graves, news := m.files.graves()
	m.mu.Lock()
	due := len(graves) > 0 && (news || m.o.Now().Sub(m.buried) >= buryPeriod)
	if due {
		m.buried = m.o.Now()
	}
	m.mu.Unlock()
	if !due {
		return nil
	}
	held, err := heldObjects(m.o.FS, m.o.Dir)
	if err != nil {
		return err
	}
	for _, file := range graves {
		s, err := m.files.local.Stub(file)
		switch {
		case vfs.NotExist(err): // it was never published
			m.files.lackStub(file)
		case err != nil && !errors.Is(err, sst.ErrCorrupt):
			return err
		case err == nil && held[s.Object]:
			continue
		case err == nil:
			err = m.discard(ctx, file, s.Object)
			m.files.objects.Drop(s.Object)
		default: // the sweep finds the object
			err = m.discard(ctx, file, "")
		}
		if err != nil && !vfs.NotExist(err) {
			return fmt.Errorf("part %s: its object cannot be removed: %w", parts.Name(file), err)
		}
		m.files.gone(file)
	}
	return nil
}

// sweep looks through the bucket once a day; sooner after it failed.
func (m *mover) sweep(ctx context.Context) error {
	m.mu.Lock()
	now := m.o.Now()
	due := m.store != "" && now.Sub(m.swept) >= sweepPeriod
	if due {
		m.swept = now.Add(sweepAgain - sweepPeriod)
	}
	m.mu.Unlock()
	if !due {
		return nil
	}
	oldest := now.Add(-orphanAge)
	err := m.removeOrphans(ctx, oldest)
	if err == nil {
		_, err = bucket.RemoveUnfinished(ctx, m.o.Cold.Bucket, oldest)
	}
	if err != nil && !errors.Is(err, errors.ErrUnsupported) {
		return fmt.Errorf("sweep: %w", err)
	}
	m.mu.Lock()
	m.swept = now
	m.mu.Unlock()
	return nil
}

// removeOrphans removes objects of this store that nothing names and that are older than a time: what is left of stubs
// that were lost.
func (m *mover) removeOrphans(ctx context.Context, oldest time.Time) error {
	named, err := heldObjects(m.o.FS, m.o.Dir)
	if err == nil {
		err = stubObjects(m.files.local, named)
	}
	if err != nil {
		return err
	}
	for _, t := range m.manifest.State().Tables {
		for _, p := range t.Parts {
			named[p.Object()] = true
		}
	}
	var orphans []string
	err = m.o.Cold.Bucket.List(ctx, parts.ObjectPrefix(m.store), func(o bucket.Object) error {
		if !named[o.Name] && !o.Modified.IsZero() && o.Modified.Before(oldest) && len(orphans) < maxOrphans {
			orphans = append(orphans, o.Name)
		}
		return nil
	})
	for _, object := range orphans {
		if err == nil {
			err = m.o.Cold.Bucket.Remove(ctx, object)
		}
		if err == nil {
			m.o.Logger.Info("an object that nothing names was removed", "object", object)
		}
	}
	return err
}

// maxOrphans bounds what one sweep removes.
const maxOrphans = 10_000

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
	s.ToRemove = m.files.deadCount()
	m.mu.Lock()
	defer m.mu.Unlock()
	s.Waiting = m.waiting
	s.Moved, s.MovedBytes, s.Failures, s.LastFailure = m.moved, m.bytes, m.failures, m.why
	return s
}

// The figures of cold parts; those of requests and of the cache are of the bucket.
var (
	coldParts = prometheus.NewDesc("varve_cold_parts", "Parts whose columns lie in the bucket.", nil, nil)
	coldBytes = prometheus.NewDesc("varve_cold_bytes",
		"Bytes of cold parts, in the bucket and of their stubs in the data directory.", []string{"place"}, nil)
	coldWaiting = prometheus.NewDesc("varve_cold_parts_waiting", "Parts that are old enough to move.", nil, nil)
	coldGraves  = prometheus.NewDesc("varve_cold_objects_to_remove", "Objects whose parts are gone.", nil, nil)
	coldMoved   = prometheus.NewDesc("varve_cold_moved_parts_total", "Parts that moved to the bucket.", nil, nil)
	coldFailed  = prometheus.NewDesc("varve_cold_move_failures_total", "Moves that failed; they are tried again.", nil,
		nil)
)

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
}
