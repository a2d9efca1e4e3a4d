package engine

import (
	"bytes"
	"math"
	"sort"

	"varve/engine/scan"
	"varve/sst"
)

// spliceable returns the parts of a merge whose blocks can be taken over unchanged. That holds for append-only tables
// and for parts that all hold the same single series. nil: rows are merged one by one.
func (j *partJob) spliceable() ([]*guardedRun, []byte, error) {
	if !j.mode.keepAll || !j.table.Options.AppendMode {
		return nil, nil, nil
	}
	var parts []*guardedRun
	var key []byte
	for _, r := range j.runs {
		g, ok := r.(*guardedRun)
		if !ok || g.part == nil {
			return nil, nil, nil
		}
		k, err := g.part.file.SoleSeries(g.ctx)
		if err != nil {
			return nil, nil, g.damages.met(g.r, g.part, err)
		}
		if k == nil || key != nil && !bytes.Equal(k, key) {
			return nil, nil, nil
		}
		key = k
		parts = append(parts, g)
	}
	return parts, key, nil
}

// blockHeads are the next blocks of some parts, by time, of those that have rows in a range.
type blockHeads struct {
	parts []*guardedRun
	time  scan.Range
	// leastRows is the least number of rows of a block that is taken over as it is.
	leastRows int

	next []int
	end  []int // of each part's blocks
	// last[i] is the latest time of part i among the blocks that are merged together.
	last []int64
}

// headsOf returns the blocks of parts that overlap a range of time.
func headsOf(parts []*guardedRun, time scan.Range, leastRows int) *blockHeads {
	h := &blockHeads{parts: parts, time: time, leastRows: leastRows, next: make([]int, len(parts)),
		end: make([]int, len(parts)), last: make([]int64, len(parts))}
	for i, p := range parts { // blocks of one series are ordered by time
		n := p.Blocks()
		h.next[i] = sort.Search(n, func(b int) bool { _, span := p.Block(b); return span.To >= time.From })
		h.end[i] = sort.Search(n, func(b int) bool {
			_, span := p.Block(b)
			return b >= h.next[i] && !time.Overlaps(span.From, span.To)
		})
	}
	return h
}

// least returns the part whose next block begins first; -1: none has any left.
func (h *blockHeads) least() int {
	best, at := -1, int64(0)
	for i, p := range h.parts {
		if h.next[i] < h.end[i] {
			if _, span := p.Block(h.next[i]); best < 0 || span.From < at {
				best, at = i, span.From
			}
		}
	}
	return best
}

// alone reports whether the next block of part i ends before all other parts go on.
func (h *blockHeads) alone(i int) bool {
	_, span := h.parts[i].Block(h.next[i])
	for k, p := range h.parts {
		if k != i && h.next[k] < h.end[k] {
			if _, other := p.Block(h.next[k]); other.From <= span.To {
				return false
			}
		}
	}
	return true
}

// spliced reports whether the next block of part i is taken over as it is.
func (h *blockHeads) spliced(i int) bool {
	rows, span := h.parts[i].Block(h.next[i])
	return rows >= h.leastRows && h.time.Covers(span.From, span.To) && h.alone(i)
}

// together takes the next block of part i and all that its rows lie among, and goes on until the next block can be
// taken over as it is. It gives the runs of the blocks that were taken.
func (h *blockHeads) together(i int) []scan.Run {
	from := append([]int(nil), h.next...)
	for k := range h.last {
		h.last[k] = math.MinInt64
	}
	for i >= 0 {
		_, span := h.parts[i].Block(h.next[i])
		h.last[i] = max(h.last[i], span.To)
		h.next[i]++
		if i = h.among(); i < 0 {
			if i = h.least(); i >= 0 && h.spliced(i) {
				break
			}
		}
	}
	var runs []scan.Run
	for k, p := range h.parts {
		if h.next[k] > from[k] {
			runs = append(runs, &guardedRun{p.part.file.Blocks(from[k], h.next[k]), p.ctx, p.damages, p.r, p.part})
		}
	}
	return runs
}

// among returns a part whose next block begins before the end of the rows taken from others; -1 if there is none.
func (h *blockHeads) among() int {
	for k, p := range h.parts {
		if h.next[k] == h.end[k] {
			continue
		}
		_, span := p.Block(h.next[k])
		for o, last := range h.last {
			if o != k && last >= span.From {
				return k
			}
		}
	}
	return -1
}

// writeSpliced writes the parts' rows by time: blocks that lie alone in the job's time as they are, others merged row
// by row.
func (j *partJob) writeSpliced(w *sst.Writer, spec *scan.Spec, parts []*guardedRun, key []byte) error {
	if err := w.Series(key); err != nil {
		return err
	}
	h := headsOf(parts, j.time, j.spliceRows)
	for i := h.least(); i >= 0; i = h.least() {
		if j.pace != nil {
			if err := j.pace(); err != nil {
				return err
			}
		}
		g := parts[i]
		if h.spliced(i) {
			done, err := w.Splice(g.ctx, g.part.file, h.next[i])
			if err != nil {
				return g.damages.met(g.r, g.part, err)
			}
			if done {
				j.any = true
				h.next[i]++
				continue
			}
		}
		if err := j.writeTogether(w, spec, h.together(i)); err != nil {
			return err
		}
	}
	return nil
}

// writeTogether merges the rows of runs, which are of the writer's current series.
func (j *partJob) writeTogether(w *sst.Writer, spec *scan.Spec, runs []scan.Run) error {
	walk, err := mergeRuns(runs, spec, j.mode)
	if err != nil {
		return err
	}
	defer walk.Close()
	if _, ok, err := walk.Next(); !ok || err != nil {
		return err
	}
	return j.writeRows(w, walk, func() error {
		j.any = true
		return nil
	})
}
