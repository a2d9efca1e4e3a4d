package engine

import (
	"context"
	"errors"
	"math"
	"slices"

	"varve/engine/admission"
	"varve/engine/manifest"
	"varve/engine/scan"
	"varve/engine/status"
)

var errOverrun = errors.New("the parts were dropped or set aside while they were merged")

var errUnlisted = status.New(status.StorageUnavailable,
	"parts that were written at the start could not be listed in the manifest yet: is the disk full?")

// exchanger begins the parts that merges write, and puts them into the place of those that are merged, under
// region.maintain. It is the mergeStore of a store. Safe for concurrent use.
type exchanger struct {
	*inventory
	damages *damages
	memory  *memory
	flusher *flusher
	reading *reading
}

// windowsOf are the windows of time of a table with the parts of a snapshot.
func (x *exchanger) windowsOf(s *regionSnap) windows {
	own, _ := x.catalog.Load().option(s.schema, "compaction.twcs.time_window")
	return windowsOf(s.schema, own, s.parts)
}

// traffic describes the load besides merges.
func (x *exchanger) traffic() traffic {
	t := traffic{flushing: x.flusher.busy.Load(), scanning: x.reading.open.Load() > 0,
		crowded: x.memory.load() > crowdedMemtables*x.o.FlushBytes}
	t.pressed = x.o.Memory.Pressed(admission.Body)
	if at := x.flusher.last.Load(); at != nil {
		t.flushed = *at
	}
	return t
}

// draft begins a part out of the rows that some parts of a snapshot have within a span of time.
func (x *exchanger) draft(ctx context.Context, r *region, s *regionSnap, group []*part, span scan.Range) *partJob {
	out := &partJob{table: s.schema, mode: flushMode(s.schema), workers: 1, lives: x.lives(r), level: levelOf(group),
		minSeq: math.MaxUint64, time: span, flushed: x.flushedOf(r), spliceRows: x.o.spliceRows}
	var there []*part
	for _, p := range group {
		out.replaces = append(out.replaces, p.meta.File)
		if span.Overlaps(p.meta.MinTime, p.meta.MaxTime) {
			there = append(there, p)
			out.runs = append(out.runs, &guardedRun{p.run, ctx, x.damages, r, p})
			out.minSeq, out.maxSeq = min(out.minSeq, p.meta.MinSeq), max(out.maxSeq, p.meta.MaxSeq)
		}
	}
	out.relate(append(x.damages.asideOf(r, s), s.parts...), there)
	return out
}

// relate looks at the parts that are not merged along: tombstones may go when nothing older is left for them to hide,
// and fields may be folded when no version of them lies in between.
func (j *partJob) relate(parts, group []*part) {
	older, between := false, false
	for _, p := range parts {
		if slices.Contains(group, p) {
			continue
		}
		if !j.time.Overlaps(p.meta.MinTime, p.meta.MaxTime) || !slices.ContainsFunc(group, p.overlaps) {
			continue // no row of it has the key of a row here
		}
		older = older || p.meta.MinSeq <= j.maxSeq
		between = between || p.meta.MinSeq <= j.maxSeq && p.meta.MaxSeq >= j.minSeq
	}
	j.mode.tombstones = older
	if j.mode.lastNonNull && between {
		j.mode.keepAll = true
	}
}

// exchange replaces parts by others, or by nothing, in the manifest and in the snapshot, and removes their files. That
// takes some 50 ms for 128 MiB, so flushes do not wait for it. On an error the others are given up: their files stay
// until another edit succeeds, as this one may be found at the next start.
func (x *exchanger) exchange(r *region, old, made []*part) error {
	gone, err := x.swap(r, old, made)
	for _, o := range gone {
		o.retire()
	}
	if err != nil {
		for _, p := range made {
			x.files.stray(p.meta.File)
			p.release()
		}
	}
	return err
}

// swap returns the parts that no list names any more.
func (x *exchanger) swap(r *region, old, made []*part) (gone []*part, err error) {
	r.maintain.Lock()
	defer r.maintain.Unlock()
	var edit manifest.Edit
	for _, o := range old {
		edit.RemoveParts = append(edit.RemoveParts, manifest.PartEdit{Table: r.id, Part: o.meta})
	}
	for _, p := range made {
		edit.AddParts = append(edit.AddParts, manifest.PartEdit{Table: r.id, Part: p.meta})
	}
	present := r.snap.Load().parts
	overrun := slices.ContainsFunc(old, func(o *part) bool { return !slices.Contains(present, o) })
	if !overrun {
		err = x.apply(edit)
		overrun = err != nil && !x.lists(r) // nothing is left that could list the parts
	}
	if overrun {
		for _, p := range made {
			p.obsolete.Store(true)
		}
		return nil, errOverrun
	}
	if err != nil {
		return nil, err
	}
	r.mu.Lock()
	r.replace(func(s *regionSnap) {
		at := max(slices.Index(s.parts, old[0]), 0)
		for _, o := range old {
			if slices.Contains(s.parts, o) { // else set aside in this moment
				gone = append(gone, o)
			}
		}
		s.parts = slices.DeleteFunc(s.parts, func(p *part) bool { return slices.Contains(old, p) })
		s.parts = slices.Insert(s.parts, min(at, len(s.parts)), made...)
	})
	r.mu.Unlock()
	return gone, nil
}

// dropAside drops the parts of a region that are set aside and that are to be gone, and counts them.
func (x *exchanger) dropAside(r *region, toGo func(p *part) bool) (int, error) {
	r.maintain.Lock() // a flush lists its part in the manifest first
	defer r.maintain.Unlock()
	gone := slices.DeleteFunc(x.damages.asideOf(r, r.snap.Load()), func(p *part) bool { return !toGo(p) })
	if len(gone) == 0 {
		return 0, nil
	}
	var edit manifest.Edit
	for _, p := range gone {
		edit.RemoveParts = append(edit.RemoveParts, manifest.PartEdit{Table: r.id, Part: p.meta})
	}
	if err := x.apply(edit); err != nil {
		if !x.lists(r) {
			return 0, nil // whoever dropped the table forgets them
		}
		return 0, err
	}
	x.damages.forgetAside(gone)
	return len(gone), nil
}
