package engine

import (
	"context"
	"slices"
	"time"

	"varve/engine/manifest"
	"varve/engine/scan"
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
	r.maintain.Lock()
	defer r.maintain.Unlock()
	s := r.pin()
	defer s.unpin()
	group := pick(s.parts, all)
	if group == nil {
		return false, nil
	}
	if err := ctx.Err(); err != nil {
		return false, err
	}
	start := time.Now()
	runs := make([]scan.Run, len(group))
	q := sequences{group[0].meta.MinSeq, group[0].meta.MaxSeq}
	level := uint8(0)
	for i, p := range group {
		runs[i] = p.run
		q = sequences{min(q.min, p.meta.MinSeq), max(q.max, p.meta.MaxSeq)}
		level = max(level, p.meta.Level)
	}
	p, err := e.writePart(s.schema, runs, q)
	if err != nil {
		return false, err
	}
	p.meta.Level = level + 1
	if err := e.exchange(r, group, p); err != nil {
		p.release()
		return false, err
	}
	e.metrics.Merges.Inc()
	e.metrics.MergedBytes.Add(float64(p.meta.Bytes))
	e.metrics.MergeSeconds.Observe(time.Since(start).Seconds())
	e.o.Logger.Debug("merged", "table", s.schema.Name.String(), "parts", len(group), "rows", p.meta.Rows, "bytes", p.meta.Bytes, "took", time.Since(start))
	return true, nil
}

// exchange replaces parts by one, or by nothing, in the manifest and in the snapshot. The caller holds r.maintain.
func (e *core) exchange(r *region, old []*part, p *part) error {
	var edit manifest.Edit
	for _, o := range old {
		edit.RemoveParts = append(edit.RemoveParts, manifest.PartEdit{Table: r.id, Part: o.meta})
	}
	if p != nil {
		edit.AddParts = []manifest.PartEdit{{Table: r.id, Part: p.meta}}
	}
	r.mu.Lock()
	if r.dropped {
		r.mu.Unlock()
		if p != nil {
			p.obsolete.Store(true)
		}
		return ErrClosed
	}
	present := r.snap.Load().parts
	for _, o := range old {
		if !slices.Contains(present, o) { // set aside in the meantime
			r.mu.Unlock()
			if p != nil {
				p.obsolete.Store(true)
			}
			return ErrClosed
		}
	}
	if err := e.manifest.Apply(edit); err != nil {
		r.mu.Unlock()
		return err
	}
	r.replace(func(s *regionSnap) {
		at := slices.Index(s.parts, old[0])
		s.parts = slices.DeleteFunc(s.parts, func(x *part) bool { return slices.Contains(old, x) })
		if p != nil {
			s.parts = slices.Insert(s.parts, min(at, len(s.parts)), p)
		}
	})
	r.mu.Unlock()
	for _, o := range old {
		o.retire()
	}
	return nil
}

// dropExpired drops the parts whose rows are all past the table's time to live.
func (e *core) dropExpired(r *region) error {
	t := r.snap.Load().schema
	if t.Options.TTL <= 0 {
		return nil
	}
	r.maintain.Lock()
	defer r.maintain.Unlock()
	horizon := inUnit(e.o.Now().Add(-nanoseconds(t.Options.TTL)), t.TimeColumn().Type)
	var gone []*part
	for _, p := range r.snap.Load().parts {
		if p.meta.MaxTime < horizon {
			gone = append(gone, p)
		}
	}
	if len(gone) == 0 {
		return nil
	}
	return e.exchange(r, gone, nil)
}

func nanoseconds(n int64) time.Duration { return time.Duration(n) }

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
