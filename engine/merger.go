package engine

import (
	"cmp"
	"context"
	"errors"
	"slices"
	"sync"
	"time"

	"varve/engine/scan"
	"varve/engine/schema"
)

// merger merges parts: in the background by the rules of its schedule, and on request. Safe for concurrent use.
type merger struct {
	o       *Options
	run     context.Context // over when the store closes
	store   mergeStore
	files   *partFiles
	metrics *Metrics

	changed *signal    // broadcast when a merge may begin or go on that could not
	mu      sync.Mutex // protects what follows, and region.merges
	plan    schedule
}

// mergeStore is the part of the store that a merger uses.
type mergeStore interface {
	// traffic returns the load besides merges.
	traffic() traffic
	// windowsOf are the windows of time of a table with the parts of a snapshot.
	windowsOf(s *regionSnap) windows
	// oldest is the time before which a table's rows have expired.
	oldest(t *schema.Table) int64
	// draft begins a part out of the rows that some parts of a snapshot have within a span of time.
	draft(ctx context.Context, r *region, s *regionSnap, group []*part, span scan.Range) *partJob
	// exchange replaces parts by others, which on an error are given up.
	exchange(r *region, old, made []*part) error
}

func newMerger(run context.Context, o *Options, store mergeStore, files *partFiles, metrics *Metrics) *merger {
	return &merger{o: o, run: run, store: store, files: files, metrics: metrics, changed: newSignal(),
		plan: schedule{parts: o.mergeParts}}
}

// push has the merger look at a region that got a part.
func (m *merger) push(k kind, r *region) {
	m.mu.Lock()
	m.plan.push(k, r)
	m.mu.Unlock()
	m.changed.broadcast()
}

// count counts the merges of some regions that wait for their turn, and those under way.
func (m *merger) count(regions map[schema.TableID]*region) (waiting, running int) {
	m.mu.Lock()
	defer m.mu.Unlock()
	for k := range background {
		waiting += len(m.plan.queue[k])
	}
	for _, r := range regions {
		waiting += r.merges.hurry
		fresh, merged := r.merges.jobs[freshParts], r.merges.jobs[mergedParts]
		// else it has its place only, and is among those that wait
		if merged != nil && (merged.kind != asked || merged == fresh) {
			running++
		}
		if fresh != nil && fresh != merged {
			running++
		}
	}
	return waiting, running
}

// loop runs the merges of one kind until the store closes, except while the store is read-only.
func (m *merger) loop(k kind) {
	for m.files.space.awaitWritable(m.run, m.o.retryFlush) {
		j := m.next(k)
		if j == nil {
			return
		}
		done, err := m.merge(m.run, j, m.choose(j))
		if err != nil && m.run.Err() == nil && !errors.Is(err, errOverrun) && !errors.Is(err, errUnlisted) &&
			m.files.space.isNews(err) {
			m.metrics.MergeFailures.Inc()
			m.o.Logger.Error("merge failed", "table", j.region.snap.Load().schema.Name.String(), "error", err)
		}
		m.end(j, done && err == nil)
	}
}

// next waits for the next merge of a kind; nil: the store closes.
func (m *merger) next(k kind) *job {
	m.mu.Lock()
	defer m.mu.Unlock()
	for m.run.Err() == nil {
		now := m.o.Now()
		j, at := m.plan.begin(k, now, m.store.traffic())
		if j != nil {
			return j
		}
		m.wait(m.run, now, at)
	}
	return nil
}

// alone begins a merge that is asked for, when all others of the region have ended; end ends it.
func (m *merger) alone(ctx context.Context, r *region) (*job, error) {
	m.mu.Lock()
	defer m.mu.Unlock()
	r.merges.hurry++
	defer func() { r.merges.hurry-- }()
	m.changed.broadcast()
	var j *job
	for {
		if err := cmp.Or(ctx.Err(), m.run.Err()); err != nil {
			if j != nil {
				m.plan.end(j, j.began, false)
				m.changed.broadcast()
			}
			return nil, err
		}
		now := m.o.Now()
		if j == nil {
			j = m.plan.reserve(r)
		}
		if j != nil && m.plan.enter(j, now) {
			return j, nil
		}
		m.wait(ctx, now, time.Time{})
	}
}

// end ends a merge; done reports whether it has merged anything.
func (m *merger) end(j *job, done bool) {
	m.mu.Lock()
	m.plan.end(j, m.o.Now(), done)
	m.mu.Unlock()
	m.changed.broadcast()
}

// step is called between two batches of a merge: others go first.
func (m *merger) step(ctx context.Context, j *job) error {
	m.mu.Lock()
	defer m.mu.Unlock()
	now := m.o.Now()
	m.plan.worked(j, now)
	for {
		if err := cmp.Or(ctx.Err(), m.run.Err()); err != nil {
			return err
		}
		ok, at := m.plan.resume(j, now, m.store.traffic())
		if ok {
			return nil
		}
		m.wait(ctx, now, at)
		now = m.o.Now()
	}
}

// wait waits until something changes, or the time comes unless it is zero. The caller holds m.mu, which is let go of
// meanwhile.
func (m *merger) wait(ctx context.Context, now, at time.Time) {
	changed := m.changed.wait()
	m.mu.Unlock()
	defer m.mu.Lock()
	var due <-chan time.Time
	if !at.IsZero() {
		t := time.NewTimer(at.Sub(now))
		defer t.Stop()
		due = t.C
	}
	select {
	case <-changed:
	case <-due:
	case <-ctx.Done():
	case <-m.run.Done():
	}
}

// catchUp merges before a flush adds to parts that have piled up although merges no longer give way: so memtables fill,
// and at their limit writers wait. Parts stay few whatever comes in.
func (m *merger) catchUp(ctx context.Context, r *region) {
	for {
		m.mu.Lock()
		if r.fresh() <= m.plan.mostFresh() {
			m.mu.Unlock()
			return
		}
		p := m.plan.plead(r)
		m.mu.Unlock()
		m.changed.broadcast()
		select {
		case done := <-p.merged:
			if !done {
				return
			}
		case <-ctx.Done():
			return
		}
	}
}

// claim takes the parts for a merge. If some of them are being dropped, it waits for a change and returns false.
func (m *merger) claim(ctx context.Context, j *job, parts []*part) bool {
	m.mu.Lock()
	defer m.mu.Unlock()
	if slices.ContainsFunc(parts, func(p *part) bool { return slices.Contains(j.region.merges.leaving, p) }) {
		m.wait(ctx, time.Time{}, time.Time{})
		return false
	}
	j.parts = parts
	return true
}

// leave returns the expired parts that no merge works on, as gone: a merge drops expired rows itself. It keeps merges
// off them until left is called.
func (m *merger) leave(r *region, parts []*part) (gone []*part, left func()) {
	m.mu.Lock()
	defer m.mu.Unlock()
	s := &r.merges
	for _, p := range parts {
		taken := slices.Contains(s.leaving, p)
		for _, j := range s.jobs {
			taken = taken || j != nil && slices.Contains(j.parts, p)
		}
		if !taken {
			gone = append(gone, p)
		}
	}
	s.leaving = append(s.leaving, gone...)
	return gone, func() {
		m.mu.Lock()
		s.leaving = slices.DeleteFunc(s.leaving, func(p *part) bool { return slices.Contains(gone, p) })
		m.mu.Unlock()
		m.changed.broadcast()
	}
}

// chooser chooses the parts of a merge; nil: there is nothing to do.
type chooser func(s *regionSnap, w windows) []*part

// choose returns what chooses the parts of a merge in the background.
func (m *merger) choose(j *job) chooser {
	return func(s *regionSnap, w windows) []*part { return j.choose(s.parts, w, m.o.mergeParts, m.o.maxPart) }
}

// merge merges the parts that are chosen, once; false: there are none.
func (m *merger) merge(ctx context.Context, j *job, choose chooser) (bool, error) {
	s := j.region.openParts().withoutRows()
	defer s.closeParts()
	if slices.ContainsFunc(s.parts, func(p *part) bool { return p.unlisted.Load() }) {
		return false, errUnlisted
	}
	w := m.store.windowsOf(s)
	group := choose(s, w)
	if group == nil {
		return false, nil
	}
	if !m.claim(ctx, j, group) {
		return true, ctx.Err() // choose again
	}
	start := m.o.Now()
	made, err := m.write(ctx, j, s, w)
	if err == nil {
		err = m.store.exchange(j.region, group, made)
	}
	if err != nil {
		return false, err
	}
	took := m.o.Now().Sub(start)
	m.metrics.Merges.Inc()
	m.metrics.MergeSeconds.Observe(took.Seconds())
	rows, bytes := int64(0), int64(0)
	for _, p := range made {
		rows, bytes = rows+p.meta.Rows, bytes+p.meta.Bytes
	}
	m.metrics.MergedBytes.Add(float64(bytes))
	m.o.Logger.Debug("merged", "table", s.schema.Name.String(), "parts", len(group), "level", group[0].meta.Level,
		"into", len(made), "rows", rows, "bytes", bytes, "took", took)
	return true, nil
}

// write merges the parts of a merge into one part for each window. On an error it leaves no file.
func (m *merger) write(ctx context.Context, j *job, s *regionSnap, w windows) (made []*part, err error) {
	oldest := m.store.oldest(s.schema)
	for _, span := range w.cut(j.parts) {
		if span.From = max(span.From, oldest); span.From > span.To {
			continue // all of it has expired
		}
		out := m.store.draft(ctx, j.region, s, j.parts, span)
		out.pace = m.pace(ctx, j, span)
		if len(made) == 0 { // the first part carries the cost of the group's indexes
			for _, p := range j.parts {
				out.indexUS += p.meta.IndexUS
			}
		}
		p, err := m.files.write(out)
		if errors.Is(err, errNoRows) {
			continue
		}
		if err != nil {
			for _, p := range made {
				p.retire()
			}
			return nil, err
		}
		made = append(made, p)
	}
	return made, nil
}

// pace returns the function that a merge calls between two batches of a span of time. It releases the memory behind the
// merge and lets other work go first.
func (m *merger) pace(ctx context.Context, j *job, span scan.Range) func() error {
	steps := 0
	return func() error {
		if steps++; steps%releaseBatches == 0 { // it passes through them once
			for _, p := range j.parts {
				if span.Overlaps(p.meta.MinTime, p.meta.MaxTime) {
					p.file.Release()
				}
			}
		}
		return m.step(ctx, j)
	}
}

// signal wakes all who wait. Safe for concurrent use.
type signal struct {
	mu sync.Mutex
	c  chan struct{}
}

func newSignal() *signal { return &signal{c: make(chan struct{})} }

// wait returns a channel that is closed by the next broadcast.
func (s *signal) wait() <-chan struct{} {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.c
}

func (s *signal) broadcast() {
	s.mu.Lock()
	defer s.mu.Unlock()
	close(s.c)
	s.c = make(chan struct{})
}
