package engine

import (
	"cmp"
	"context"
	"errors"
	"math"
	"slices"
	"time"

	"varve/engine/manifest"
	"varve/engine/schema"
)

// requestMerge queues a region for the merge loop.
func (e *core) requestMerge(r *region) {
	select {
	case e.merge <- r:
	default: // the loop looks at all regions when it is idle
	}
}

// mergeLoop merges parts, one merge at a time, and drops expired ones.
func (e *core) mergeLoop(ctx context.Context) {
	tick := time.NewTicker(10 * time.Second)
	defer tick.Stop()
	for {
		select {
		case <-ctx.Done():
			return
		case r := <-e.merge:
			e.mergeQuietly(ctx, r, false)
		case <-tick.C:
			for _, r := range e.catalog.Load().byID {
				if err := e.dropExpired(r); err != nil {
					e.o.Logger.Error("expired parts cannot be dropped", "table", r.snap.Load().schema.Name.String(), "error", err)
				}
				e.mergeQuietly(ctx, r, false)
			}
		}
	}
}

func (e *core) mergeQuietly(ctx context.Context, r *region, all bool) {
	for ctx.Err() == nil {
		again, err := e.mergeOnce(ctx, r, all)
		if err != nil && (ctx.Err() != nil || errors.Is(err, errOverrun)) {
			return
		}
		if err != nil {
			e.metrics.MergeFailures.Inc()
			e.o.Logger.Error("merge failed", "table", r.snap.Load().schema.Name.String(), "error", err)
			return
		}
		if !again {
			return
		}
	}
}

// pick chooses neighbours to merge: mergeParts parts of one level that follow each other in sequence, so that versions
// of one key never change places. all: everything, as far as it may be one part.
func pick(parts []*part, all bool) []*part {
	sorted := slices.Clone(parts)
	slices.SortFunc(sorted, func(a, b *part) int {
		if a.meta.MinSeq < b.meta.MinSeq {
			return -1
		}
		return 1
	})
	need := mergeParts
	if all {
		need = 2
	}
	for from := 0; from < len(sorted); {
		to, rows := from, int64(0)
		for to < len(sorted) && (all || sorted[to].meta.Level == sorted[from].meta.Level) && rows+sorted[to].meta.Rows <= maxMergeRows &&
			(all || to-from < 2*mergeParts) {
			rows += sorted[to].meta.Rows
			to++
		}
		if to-from >= need {
			return sorted[from:to]
		}
		from = max(to, from+1)
	}
	return nil
}

// mergeOnce merges one group of parts, if there is one.
func (e *core) mergeOnce(ctx context.Context, r *region, all bool) (bool, error) {
	r.merging.Lock()
	defer r.merging.Unlock()
	s := r.pin()
	defer s.unpin()
	group := pick(s.parts, all)
	if all && len(s.parts) == 1 && !s.parts[0].meta.Unique && !s.schema.Options.AppendMode {
		group = s.parts // with tombstones or rows that replace each other
	}
	if group == nil {
		return false, nil
	}
	start := time.Now()
	j := &partJob{table: s.schema, mode: flushMode(s.schema), workers: 1, minSeq: math.MaxUint64, pace: func() error { return e.pace(ctx, r) }}
	for _, p := range group {
		j.runs = append(j.runs, &guardedRun{p.run, ctx, e, r, p})
		j.minSeq, j.maxSeq = min(j.minSeq, p.meta.MinSeq), max(j.maxSeq, p.meta.MaxSeq)
		j.level = max(j.level, p.meta.Level+1)
	}
	j.relate(s.parts, group)
	p, err := e.writePart(j)
	if err != nil && !errors.Is(err, errNoRows) {
		return false, err
	}
	if err := e.exchange(r, group, p); err != nil {
		if p != nil {
			p.release() // the file stays unless it is marked: the edit may be found at the next start
		}
		return false, err
	}
	took := time.Since(start)
	e.metrics.Merges.Inc()
	e.metrics.MergeSeconds.Observe(took.Seconds())
	if p != nil {
		e.metrics.MergedBytes.Add(float64(p.meta.Bytes))
		e.o.Logger.Debug("merged", "table", s.schema.Name.String(), "parts", len(group), "rows", p.meta.Rows, "bytes", p.meta.Bytes, "took", took)
	}
	return true, nil
}

// relate looks at the parts that are not merged along: tombstones may go when nothing older is left for them to hide, and
// fields may be folded when no version of them lies in between.
func (j *partJob) relate(parts, group []*part) {
	older, between := false, false
	for _, p := range parts {
		if slices.Contains(group, p) {
			continue
		}
		older = older || p.meta.MinSeq <= j.maxSeq
		between = between || p.meta.MinSeq <= j.maxSeq && p.meta.MaxSeq >= j.minSeq
	}
	j.mode.tombstones = older
	if j.mode.lastNonNull && between {
		j.mode.keepAll = true
	}
}

// pace lets flushes and queries go first: a merge has time, writers and readers have not.
func (e *core) pace(ctx context.Context, r *region) error {
	for {
		wait := e.room.wait()
		if err := cmp.Or(ctx.Err(), e.run.Err()); err != nil || !e.flushing.Load() {
			return cmp.Or(err, e.yield(ctx, r))
		}
		select {
		case <-wait:
		case <-ctx.Done():
		case <-e.run.Done():
		}
	}
}

// yield gives the processor to scans that are under way: a merge then goes on at a fraction of its speed. It does not
// when parts have piled up, which would make the scans themselves slower.
func (e *core) yield(ctx context.Context, r *region) error {
	if e.scanning.Load() == 0 || len(r.snap.Load().parts) > yieldParts {
		return nil
	}
	t := time.NewTimer(yieldTime)
	defer t.Stop()
	select {
	case <-t.C:
		return nil
	case <-ctx.Done():
		return ctx.Err()
	case <-e.run.Done():
		return e.run.Err()
	}
}

var errOverrun = errors.New("the parts were dropped or set aside while they were merged")

// exchange replaces parts by one, or by nothing, in the manifest and in the snapshot.
func (e *core) exchange(r *region, old []*part, p *part) error {
	r.maintain.Lock()
	defer r.maintain.Unlock()
	var edit manifest.Edit
	for _, o := range old {
		edit.RemoveParts = append(edit.RemoveParts, manifest.PartEdit{Table: r.id, Part: o.meta})
	}
	if p != nil {
		edit.AddParts = []manifest.PartEdit{{Table: r.id, Part: p.meta}}
	}
	present := r.snap.Load().parts
	if slices.ContainsFunc(old, func(o *part) bool { return !slices.Contains(present, o) }) {
		if p != nil {
			p.obsolete.Store(true)
		}
		return errOverrun
	}
	if err := e.manifest.Apply(edit); err != nil {
		return err
	}
	var gone []*part
	r.mu.Lock()
	r.replace(func(s *regionSnap) {
		at := max(slices.Index(s.parts, old[0]), 0)
		for _, o := range old {
			if slices.Contains(s.parts, o) { // else set aside in this moment
				gone = append(gone, o)
			}
		}
		s.parts = slices.DeleteFunc(s.parts, func(x *part) bool { return slices.Contains(old, x) })
		if p != nil {
			s.parts = slices.Insert(s.parts, min(at, len(s.parts)), p)
		}
	})
	r.mu.Unlock()
	for _, o := range gone {
		o.retire()
	}
	return nil
}

// dropExpired drops the parts whose rows are all past the table's time to live.
func (e *core) dropExpired(r *region) error {
	t := r.snap.Load().schema
	ttl := e.ttl(t)
	if ttl <= 0 {
		return nil
	}
	r.merging.Lock()
	defer r.merging.Unlock()
	oldest := horizon(e.o.Now(), ttl, t.TimeColumn().Type)
	var gone []*part
	for _, p := range r.snap.Load().parts {
		if p.meta.MaxTime < oldest {
			gone = append(gone, p)
		}
	}
	if len(gone) == 0 {
		return nil
	}
	return e.exchange(r, gone, nil)
}

func (e *core) compact(ctx context.Context, n schema.Name) error {
	tab, err := e.findTable(n)
	if err != nil {
		return err
	}
	for {
		again, err := e.mergeOnce(ctx, tab.region, true)
		if err != nil || !again {
			return err
		}
	}
}
