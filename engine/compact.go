package engine

import (
	"context"
	"errors"
	"math"
	"slices"
	"time"

	"varve/engine/manifest"
	"varve/engine/schema"
	"varve/engine/status"
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
			e.mergeQuietly(ctx, r)
		case <-tick.C:
			e.layBallast()
			e.sweepSnapshots()
			for _, r := range e.catalog.Load().regions {
				if err := e.dropExpired(ctx, r); err != nil && ctx.Err() == nil {
					e.o.Logger.Error("expired parts cannot be dropped", "table", r.snap.Load().schema.Name.String(), "error", err)
				}
				e.mergeQuietly(ctx, r)
			}
		}
	}
}

// mergeQuietly merges until there is nothing left to merge.
func (e *core) mergeQuietly(ctx context.Context, r *region) {
	for e.mergeSome(ctx, r) {
	}
}

// mergeSome merges one group of parts; false: there is none, or it cannot be merged now.
func (e *core) mergeSome(ctx context.Context, r *region) bool {
	return e.tryMerge(ctx, r, e.mergeOnce)
}

// tryMerge calls a function that merges one group of parts, and reports what fails. It gives whether it merged one.
func (e *core) tryMerge(ctx context.Context, r *region, merge func(context.Context, *region) (bool, error)) bool {
	if ctx.Err() != nil {
		return false
	}
	again, err := merge(ctx, r)
	if err != nil && ctx.Err() == nil && !errors.Is(err, errOverrun) && !errors.Is(err, errUnlisted) {
		e.metrics.MergeFailures.Inc()
		e.o.Logger.Error("merge failed", "table", r.snap.Load().schema.Name.String(), "error", err)
	}
	return err == nil && again
}

// keepUp merges before a flush adds to parts that have piled up although merges no longer give way: so memtables fill,
// and at their limit writers wait. Parts stay few whatever comes in.
func (e *core) keepUp(ctx context.Context, r *region) {
	for r.fresh() > e.mostFresh() && e.tryMerge(ctx, r, e.mergeFresh) {
	}
}

// mergeOnce merges one group of parts, if there is one. Fresh parts go first, but not for ever: where they come without
// end, parts of a level that are twice as many as it takes have their turn.
func (e *core) mergeOnce(ctx context.Context, r *region) (bool, error) {
	if again, err := e.mergeMerged(ctx, r, 2*e.o.mergeParts); again || err != nil {
		return again, err
	}
	if again, err := e.mergeFresh(ctx, r); again || err != nil {
		return again, err
	}
	return e.mergeMerged(ctx, r, e.o.mergeParts)
}

// mergeFresh merges parts that no merge has written. It may go on beside a merge of others.
func (e *core) mergeFresh(ctx context.Context, r *region) (bool, error) {
	if err := r.freshening.take(ctx); err != nil {
		return false, err
	}
	defer r.freshening.give()
	return e.mergeGroup(ctx, r, false, func(s *regionSnap, _ windows) []*part {
		whole, _ := sound(s.parts)
		return pickFresh(whole, e.o.mergeParts)
	})
}

// mergeMerged merges at least so many parts that merges have written.
func (e *core) mergeMerged(ctx context.Context, r *region, least int) (bool, error) {
	if err := r.merging.take(ctx); err != nil {
		return false, err
	}
	defer r.merging.give()
	return e.mergeGroup(ctx, r, true, func(s *regionSnap, w windows) []*part {
		whole, _ := sound(s.parts)
		return pickMerged(whole, w, least, e.o.mergeParts)
	})
}

// mergeAll merges one group of those that a compaction that was asked for merges, if there is one; oldest is the time
// before which rows have expired.
func (e *core) mergeAll(ctx context.Context, r *region, oldest int64) (bool, error) {
	return e.mergeChosen(ctx, r, func(s *regionSnap, w windows) []*part {
		whole, damaged := sound(s.parts)
		return pickAny(whole, append(damaged, e.asideOf(r, s)...), w, !s.schema.Options.AppendMode, e.hides(r, oldest))
	})
}

// mergeChosen merges the parts that choose gives, of any kind, while no other merge goes on.
func (e *core) mergeChosen(ctx context.Context, r *region, choose func(*regionSnap, windows) []*part) (bool, error) {
	done, err := r.stopMerges(ctx)
	if err != nil {
		return false, err
	}
	defer done()
	return e.mergeGroup(ctx, r, false, choose)
}

// mergeGroup merges the parts that choose gives; nil: there is nothing to do. The caller holds the locks of their kinds.
// aside: it may be long, and merges of fresh parts go first, whose lock the caller does not hold.
func (e *core) mergeGroup(ctx context.Context, r *region, aside bool, choose func(*regionSnap, windows) []*part) (bool, error) {
	s := r.openParts().withoutRows()
	defer s.closeParts()
	if slices.ContainsFunc(s.parts, func(p *part) bool { return p.unlisted.Load() }) {
		return false, errUnlisted
	}
	own, _ := e.option(s.schema, "compaction.twcs.time_window")
	w := windowsOf(s.schema, own, s.parts)
	group := choose(s, w)
	if group == nil {
		return false, nil
	}
	start := time.Now()
	made, err := e.writeMerged(ctx, r, s, group, w, aside)
	if err == nil {
		err = e.exchange(r, group, made)
	}
	if err != nil {
		for _, p := range made { // a file stays until another edit succeeds: this one may be found at the next start
			e.stray(p.meta.File)
			p.release()
		}
		return false, err
	}
	took := time.Since(start)
	e.metrics.Merges.Inc()
	e.metrics.MergeSeconds.Observe(took.Seconds())
	rows, bytes := int64(0), int64(0)
	for _, p := range made {
		rows, bytes = rows+p.meta.Rows, bytes+p.meta.Bytes
	}
	e.metrics.MergedBytes.Add(float64(bytes))
	e.o.Logger.Debug("merged", "table", s.schema.Name.String(), "parts", len(group), "level", group[0].meta.Level, "into", len(made), "rows", rows, "bytes", bytes, "took", took)
	return true, nil
}

// hides tells which parts have rows that a merge leaves out: those before a time, and in a shared region those of logical
// tables that are gone.
func (e *core) hides(r *region, oldest int64) func(*part) bool {
	expired := func(p *part) bool { return p.meta.MinTime < oldest }
	if !r.snap.Load().schema.Shared() {
		return expired
	}
	members := e.catalog.Load().members
	return func(p *part) (gone bool) {
		if expired(p) {
			return true
		}
		err := p.file.Tables(func(id schema.TableID, _ int) bool {
			gone = members[id] == nil
			return !gone
		})
		return gone && err == nil // damage is met by whoever reads the part
	}
}

// writeMerged merges a group of parts into one part for each window. On an error it leaves no file.
func (e *core) writeMerged(ctx context.Context, r *region, s *regionSnap, group []*part, w windows, aside bool) (made []*part, err error) {
	level := max(1, group[0].meta.Level)
	if len(group) > 1 {
		level = 0
		for _, p := range group {
			level = max(level, min(p.meta.Level, math.MaxUint8-1)+1)
		}
	}
	pace := e.paceOf(ctx, r, s, w, aside)
	var replaces []uint64
	for _, p := range group {
		replaces = append(replaces, p.meta.File)
	}
	oldest := e.oldest(s.schema)
	for _, span := range w.cut(group) {
		if span.From = max(span.From, oldest); span.From > span.To {
			continue // all of it has expired
		}
		j := &partJob{table: s.schema, mode: flushMode(s.schema), workers: 1, lives: e.lives(r), level: level, minSeq: math.MaxUint64, time: span,
			replaces: replaces, flushed: e.flushedOf(r)}
		var there []*part
		for _, p := range group {
			if span.Overlaps(p.meta.MinTime, p.meta.MaxTime) {
				there = append(there, p)
				j.runs = append(j.runs, &guardedRun{p.run, ctx, e, r, p})
				j.minSeq, j.maxSeq = min(j.minSeq, p.meta.MinSeq), max(j.maxSeq, p.meta.MaxSeq)
			}
		}
		j.pace = func() error { return pace.step(there) }
		j.relate(append(e.asideOf(r, s), s.parts...), there)
		if len(made) == 0 { // what a group's indexes have cost goes with its first part
			for _, p := range group {
				j.indexUS += p.meta.IndexUS
			}
		}
		p, err := e.writePart(j)
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

// relate looks at the parts that are not merged along: tombstones may go when nothing older is left for them to hide, and
// fields may be folded when no version of them lies in between.
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

var errOverrun = errors.New("the parts were dropped or set aside while they were merged")

var errUnlisted = status.New(status.StorageUnavailable, "parts that were written at the start could not be listed in the manifest yet: is the disk full?")

// exchange replaces parts by others, or by nothing, in the manifest and in the snapshot, and removes their files. That
// takes some 50 ms for 128 MiB, so flushes do not wait for it.
func (e *core) exchange(r *region, old, made []*part) error {
	gone, err := e.swap(r, old, made)
	for _, o := range gone {
		o.retire()
	}
	return err
}

// swap gives the parts that no list names any more.
func (e *core) swap(r *region, old, made []*part) (gone []*part, err error) {
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
		err = e.apply(edit)
		// The manifest learns first that a table was dropped: nothing is left that could list the parts.
		overrun = err != nil && e.manifest.State().Tables[r.id] == nil
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
		s.parts = slices.DeleteFunc(s.parts, func(x *part) bool { return slices.Contains(old, x) })
		s.parts = slices.Insert(s.parts, min(at, len(s.parts)), made...)
	})
	r.mu.Unlock()
	return gone, nil
}

// dropExpired drops the parts whose rows are all past the table's time to live, those that are set aside as well.
func (e *core) dropExpired(ctx context.Context, r *region) error {
	oldest := e.oldest(r.snap.Load().schema)
	if oldest == math.MinInt64 {
		return nil
	}
	done, err := r.stopMerges(ctx)
	if err != nil {
		return err
	}
	defer done()
	if err := e.dropAside(r, oldest); err != nil {
		return err
	}
	gone := slices.DeleteFunc(before(r.snap.Load().parts, oldest), func(p *part) bool { return p.unlisted.Load() })
	if len(gone) == 0 {
		return nil
	}
	err = e.exchange(r, gone, nil)
	if err == nil {
		e.metrics.ExpiredParts.Add(float64(len(gone)))
	}
	return err
}

// dropAside drops the parts that are set aside and end before a time.
func (e *core) dropAside(r *region, oldest int64) error {
	r.maintain.Lock() // a flush lists its part in the manifest first
	defer r.maintain.Unlock()
	gone := before(e.asideOf(r, r.snap.Load()), oldest)
	if len(gone) == 0 {
		return nil
	}
	var edit manifest.Edit
	for _, p := range gone {
		edit.RemoveParts = append(edit.RemoveParts, manifest.PartEdit{Table: r.id, Part: p.meta})
	}
	if err := e.apply(edit); err != nil {
		return err
	}
	e.forgetAside(gone)
	return nil
}

// before gives the parts that end before a time.
func before(parts []*part, t int64) (list []*part) {
	for _, p := range parts {
		if p.meta.MaxTime < t {
			list = append(list, p)
		}
	}
	return list
}

func (e *core) compact(ctx context.Context, n schema.Name) error {
	tab, err := e.findTable(n)
	if err != nil {
		return err
	}
	// What expires while the parts are merged stays for the next time.
	oldest := e.oldest(tab.region.snap.Load().schema)
	if err := e.dropExpired(ctx, tab.region); err != nil {
		return err
	}
	for {
		oldest = min(oldest, e.oldest(tab.region.snap.Load().schema)) // the time to live may be longer by now
		again, err := e.mergeAll(ctx, tab.region, oldest)
		if err != nil || !again {
			return err
		}
	}
}

// buildIndexes writes every part of a table anew, so that its indexes are those that DDL asks for now: blocks that have
// them already are taken over where that can be done.
func (e *core) buildIndexes(ctx context.Context, n schema.Name) error {
	tab, err := e.findTable(n)
	if err != nil {
		return err
	}
	for _, p := range tab.region.snap.Load().parts {
		_, err := e.mergeChosen(ctx, tab.region, func(s *regionSnap, _ windows) []*part {
			if !slices.Contains(s.parts, p) || !p.whole() {
				return nil // merged or dropped meanwhile
			}
			return []*part{p}
		})
		if err != nil {
			return err
		}
	}
	return nil
}
