package engine

import (
	"slices"
	"time"
)

// schedule decides which merge of parts begins, which one continues, and when. It reads no clock, starts nothing and
// waits for nothing: the caller passes the time and the other load, so that a test can play days of load. The rules,
// most important first:
//
//   - Parts stay few whatever comes in: past mostMerges merges' worth of fresh parts a flush waits for a merge of
//     them.
//   - Fresh parts never wait for a merge of others, which may take minutes. Two merges may be under way in the
//     background, one of each kind, and one of them works at a time. The other begins to work once twice the parts of
//     a merge are fresh; then the long one works again for as long as that took, so that neither starves. While a
//     flush waits both work: the core that flushes is idle.
//   - Writers and readers come first. A merge stands still during flushes, and takes a part of a processor while scans
//     are open, unless fresh parts have piled up. A merge of parts that merges have written has time: it also takes
//     only a part while rows come in, and the less the fewer merges wait.
//   - A merge keeps rows of all its parts in memory, also while it stands still. While other merges exceed their share
//     of memory, a second merge begins only if a flush waits for it, because that flush makes room.
//   - A caller that waits for a merge to end, such as ALTER or a compaction that was asked for, waits for one that
//     does not rest.
type schedule struct {
	parts   int // that a merge takes: Options.mergeParts
	queue   [background][]*region
	running [background]*job
	plea    *plea
	ended   time.Time     // of the last merge of fresh parts
	took    time.Duration // that it did
}

// kind is what a merge is of.
type kind uint8

const (
	freshParts  kind = iota // that no merge has written
	mergedParts             // parts of one level and window that merges have written
	background              // the number of kinds above: one merge of each kind runs in the background
	asked                   // requested by a waiting caller; no other merge of the region runs meanwhile
)

// other returns the other background kind.
func (k kind) other() kind { return mergedParts - k }

// job is a merge that is under way.
type job struct {
	kind    kind
	region  *region
	parts   []*part // that are merged: no other job has them
	waiting int     // merges of merged parts that the region wants, this one among them

	began   time.Time
	resumed time.Time     // when the last step began
	paused  time.Time     // when it ended
	unpaid  time.Duration // work since it last rested
}

// choose chooses the parts of a merge in the background among those of its region; nil: there is nothing to do.
func (j *job) choose(parts []*part, w windows, n int, bound partSize) []*part {
	whole, _ := sound(warm(parts))
	if j.kind == freshParts {
		return pickFresh(whole, n, bound)
	}
	j.waiting = behind(whole, w, n, bound)
	return pickMerged(whole, w, n, bound)
}

// plea is a flush that waits for a merge of fresh parts.
type plea struct {
	region *region
	merged chan bool // told how the next attempt ended
}

// mergeState is what a region keeps for the schedule.
type mergeState struct {
	queued  [background]bool
	jobs    [background]*job // a requested merge takes both places
	hurry   int              // the callers that wait for merges of the region to end
	leaving []*part          // expired ones: no merge takes them
}

// traffic describes the load besides merges.
type traffic struct {
	flushing bool      // a memtable is written into a part
	scanning bool      // scans are open
	crowded  bool      // flushing does not keep up with writing
	flushed  time.Time // when the last flush ended
	pressed  bool      // others keep more memory than their share
}

const (
	// leastShare is the least share of a processor that a merge gets: beside scans, and for merges of merged parts
	// while rows come in. mostWaiting is the number of waiting merges at which a merge of merged parts takes a whole
	// processor.
	leastShare  = 0.25
	mostWaiting = 32
	// leastRest is the shortest rest of a merge; longestRest is the longest rest before it asks the schedule again.
	leastRest   = 5 * time.Millisecond
	longestRest = time.Second
	// pressedPause is how long a merge that found no memory waits before it asks again.
	pressedPause = 50 * time.Millisecond
	// arriveTime is how long after a flush rows count as coming in.
	arriveTime = 2 * time.Second
	// piledMerges is the number of a table's fresh parts, in merges, past which merging them is as urgent as flushing
	// and scanning: more than one merge takes at once.
	piledMerges = 3
	// mostMerges is the number of a table's fresh parts, in merges, past which flushes wait for merges.
	mostMerges = 8
)

// push notes that a region may have something of a kind to merge.
func (s *schedule) push(k kind, r *region) {
	if !r.merges.queued[k] {
		r.merges.queued[k] = true
		s.queue[k] = append(s.queue[k], r)
	}
}

// begin returns the next background merge of a kind; its parts are not chosen yet. nil: no merge before the given time,
// unless something changes.
func (s *schedule) begin(k kind, now time.Time, t traffic) (*job, time.Time) {
	if t.pressed && s.plea == nil && s.running[k.other()] != nil && len(s.queue[k]) > 0 {
		return nil, now.Add(pressedPause)
	}
	if k == freshParts && s.plea == nil && s.running[mergedParts] != nil {
		if due := s.ended.Add(s.took); now.Before(due) {
			return nil, due
		}
	}
	for i := 0; i < len(s.queue[k]); {
		r := s.queue[k][i]
		ready, keep := s.ready(k, r)
		if keep && !ready {
			i++
			continue
		}
		if i == 0 {
			s.queue[k] = s.queue[k][1:] // as almost always
		} else {
			s.queue[k] = slices.Delete(s.queue[k], i, i+1)
		}
		r.merges.queued[k] = false
		if ready {
			j := &job{kind: k, region: r, began: now, resumed: now}
			s.running[k], r.merges.jobs[k] = j, j
			return j, now
		}
		s.answer(r, false)
	}
	return nil, time.Time{}
}

// ready reports whether a merge of a region may begin now; keep: it may later.
func (s *schedule) ready(k kind, r *region) (ready, keep bool) {
	m := &r.merges
	if k == mergedParts {
		free := m.jobs[mergedParts] == nil && m.hurry == 0
		return free, true
	}
	least := s.parts
	if s.running[mergedParts] != nil && s.plea == nil {
		least *= 2
	}
	n := r.fresh()
	free := m.jobs[freshParts] == nil && (m.jobs[mergedParts] == nil || m.jobs[mergedParts].kind == mergedParts)
	return free && n >= least, n >= s.parts
}

// reserve takes the place of a merge of merged parts for a requested one; merges of fresh parts still begin. nil: not
// yet.
func (s *schedule) reserve(r *region) *job {
	if r.merges.jobs[mergedParts] != nil {
		return nil
	}
	j := &job{kind: asked, region: r}
	r.merges.jobs[mergedParts] = j
	return j
}

// enter lets a merge that has its place begin, once no other of the region is under way; false: not yet.
func (s *schedule) enter(j *job, now time.Time) bool {
	m := &j.region.merges
	if m.jobs[freshParts] != nil {
		return false
	}
	m.jobs[freshParts] = j
	j.began, j.resumed = now, now
	s.answer(j.region, false) // fresh parts are merged with the others now
	return true
}

// end takes a merge out; done reports whether it has merged anything: then there may be more.
func (s *schedule) end(j *job, now time.Time, done bool) {
	m := &j.region.merges
	for k := range m.jobs {
		if m.jobs[k] == j {
			m.jobs[k] = nil
		}
	}
	if j.kind == asked {
		return
	}
	s.running[j.kind] = nil
	if j.kind == freshParts {
		s.answer(j.region, done)
	}
	if !done {
		return
	}
	s.push(j.kind, j.region)
	if j.kind == freshParts {
		s.push(mergedParts, j.region)
		s.ended, s.took = now, now.Sub(j.began)
	}
}

// plead has the fresh parts of a region merged before those of others.
func (s *schedule) plead(r *region) *plea {
	p := &plea{r, make(chan bool, 1)}
	if j := r.merges.jobs[freshParts]; j != nil && j.kind == asked {
		p.merged <- false
		return p
	}
	s.plea = p
	s.queue[freshParts] = slices.DeleteFunc(s.queue[freshParts], func(o *region) bool { return o == r })
	s.queue[freshParts] = slices.Insert(s.queue[freshParts], 0, r)
	r.merges.queued[freshParts] = true
	return p
}

// answer tells a flush that waits for a region how that ended.
func (s *schedule) answer(r *region, done bool) {
	if s.plea != nil && s.plea.region == r {
		s.plea.merged <- done
		s.plea = nil
	}
}

// worked notes that a step of a merge ended.
func (s *schedule) worked(j *job, now time.Time) {
	j.unpaid += now.Sub(j.resumed)
	j.paused = now
}

// resume lets a merge continue with its next step, or returns the time to ask again; zero: when something changes.
func (s *schedule) resume(j *job, now time.Time, t traffic) (ok bool, at time.Time) {
	share := s.share(j, now, t)
	if share == 0 {
		return false, time.Time{}
	}
	rest := time.Duration(float64(j.unpaid) * (1/share - 1))
	if due := j.paused.Add(rest); rest >= leastRest && now.Before(due) {
		if most := now.Add(longestRest); due.After(most) {
			due = most
		}
		return false, due
	}
	if rest >= leastRest || share == 1 {
		j.unpaid = 0
	}
	j.resumed = now
	return true, now
}

// share is what a merge may take of a processor.
func (s *schedule) share(j *job, now time.Time, t traffic) float64 {
	if j.kind == mergedParts && s.running[freshParts] != nil && s.plea == nil {
		return 0
	}
	share := 1.0
	if n := j.region.fresh(); s.plea == nil && n <= s.mostFresh() && (n <= piledMerges*s.parts || t.crowded) {
		switch {
		case t.flushing:
			return 0
		case t.scanning:
			share = leastShare
		}
	}
	if j.kind == mergedParts && j.region.merges.hurry == 0 && !t.flushed.IsZero() && now.Sub(t.flushed) <= arriveTime {
		share = min(share, max(leastShare, float64(j.waiting)/mostWaiting))
	}
	return share
}

// mostFresh is the number of a table's fresh parts past which flushes wait for merges.
func (s *schedule) mostFresh() int { return mostMerges * s.parts }
