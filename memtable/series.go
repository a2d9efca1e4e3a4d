package memtable

import (
	"bytes"
	"cmp"
	"context"
	"slices"
	"sort"

	"varve/engine/scan"
	"varve/engine/vector"
)

// Series walks the rows in order.
func (r *Run) Series(spec *scan.Spec) (scan.Series, error) {
	o := r.s.orderOf(spec)
	if o.natural {
		c, err := newCursor(r.s, r.s.chunks, spec)
		if err != nil {
			return nil, err
		}
		key := r.s.series.key(o.ranks[0])
		return &naturalWalk{rows: c, key: key, begun: !spec.Keys.Holds(key)}, nil
	}
	w := &walk{o: o}
	w.rank, w.last = r.s.within(o, spec.Keys)
	w.rank--
	var err error
	w.in, err = newReader(r.s, r.s.chunks, spec, w.collect)
	return w, err
}

// within returns the ranks whose keys lie in a range.
func (s *snapshot) within(o *order, keys scan.KeyRange) (from, to int) {
	behind := func(key []byte) int {
		k, _ := slices.BinarySearchFunc(o.ranks, key,
			func(n uint32, key []byte) int { return bytes.Compare(s.series.key(n), key) })
		return k
	}
	from, to = 0, len(o.ranks)
	if len(keys.From) > 0 {
		from = behind(keys.From)
	}
	if keys.To != nil {
		to = behind(keys.To)
	}
	return from, max(from, to)
}

// Split cuts by the order of the rows.
func (r *Run) Split(_ context.Context, prefix []byte, n int) (keys [][]byte, err error) {
	o := r.s.orderOf(&scan.Spec{KeyPrefix: prefix})
	if o.natural {
		return nil, nil
	}
	total := o.starts[len(o.ranks)]
	for i := 1; i < n; i++ {
		rank, _ := slices.BinarySearch(o.starts, total*i/n)
		if rank == 0 || rank >= len(o.ranks) {
			continue
		}
		if key := r.s.series.key(o.ranks[rank]); len(keys) == 0 || !bytes.Equal(keys[len(keys)-1], key) {
			keys = append(keys, key)
		}
	}
	return keys, nil
}

// naturalWalk is the walk of one series whose rows are in order: a cursor with a key.
type naturalWalk struct {
	rows  *cursor
	key   []byte
	begun bool
	first vector.Batch
	ready bool // first holds rows not handed out yet
}

func (w *naturalWalk) Close() {}

// Next moves to the only series.
func (w *naturalWalk) Next() ([]byte, bool, error) {
	if w.begun || w.rows.in.allowed != nil && w.rows.in.allowed.Count() == 0 {
		w.rows.at = len(w.rows.in.chunks)
		return nil, false, nil
	}
	w.begun = true
	var err error
	w.ready, err = w.rows.Next(&w.first)
	return w.key, w.ready, err
}

// Rows fills b with the next rows.
func (w *naturalWalk) Rows(b *vector.Batch) (bool, error) {
	if w.ready {
		w.ready = false
		b.N, b.Cols = w.first.N, append(b.Cols[:0], w.first.Cols...)
		return true, nil
	}
	return w.rows.Next(b)
}

// walk is a scan.Series over a snapshot of many series, or of rows that lie in no order.
type walk struct {
	in        *reader
	o         *order
	rank      int // of the current series
	last      int // rank behind the last series
	at, end   int // rows of the current series not looked at yet
	ready     bool
	batch     vector.Batch // ready: rows not handed out yet
	picked    []rowRef     // scratch
	stretches []stretch    // scratch: what picked holds, by chunk
	low       []uint32     // scratch: row numbers of picked
	sizes     []int        // scratch: bytes of picked
}

// stretch is rows [from, to) of walk.low, which belong to one chunk.
type stretch struct {
	chunk    int
	from, to int
	gapless  bool // the row numbers rise by one
}

func (w *walk) Close() {}

// Next moves to the next series with rows that pass.
func (w *walk) Next() ([]byte, bool, error) {
	for w.rank+1 < w.last {
		w.rank++
		n := w.o.ranks[w.rank]
		if w.in.allowed != nil && !w.in.allowed.Get(int(n)) {
			continue
		}
		w.at, w.end = w.inTime(w.o.starts[w.rank], w.o.starts[w.rank+1])
		var err error
		if w.ready, err = w.fill(); w.ready || err != nil {
			return w.in.s.series.key(n), w.ready, err
		}
	}
	w.at, w.end, w.ready = 0, 0, false
	return nil, false, nil
}

// inTime narrows the rows [from, to) of a series, which are ordered by time, to the rows in the range.
func (w *walk) inTime(from, to int) (int, int) {
	rows := w.o.rows[from:to]
	r := w.in.spec.Time
	lo, _ := slices.BinarySearchFunc(rows, r.From, func(x rowRef, t int64) int { return cmp.Compare(w.time(x), t) })
	hi := len(rows)
	if w.time(rows[hi-1]) > r.To {
		hi = sort.Search(hi, func(i int) bool { return w.time(rows[i]) > r.To })
	}
	return from + lo, from + max(lo, hi)
}

func (w *walk) time(x rowRef) int64 { return w.in.s.chunks[x>>32].times[uint32(x)] }

// Rows fills b with the next rows of the current series.
func (w *walk) Rows(b *vector.Batch) (bool, error) {
	if !w.ready {
		if ok, err := w.fill(); !ok || err != nil {
			return false, err
		}
	}
	w.ready = false
	b.N, b.Cols = w.batch.N, append(b.Cols[:0], w.batch.Cols...)
	return true, nil
}

// Ended reports whether all rows of the current series have been handed out.
func (w *walk) Ended() bool { return !w.ready && w.at >= w.end }

// fill collects the next rows of the series that pass, at most vector.Size, into w.batch.
func (w *walk) fill() (bool, error) {
	if err := w.in.heed(); err != nil {
		return false, err
	}
	for w.at < w.end {
		to := min(w.at+vector.Size, w.end)
		w.picked = append(w.picked[:0], w.o.rows[w.at:to]...)
		w.picked = w.picked[:w.light()]
		w.at += len(w.picked)
		if !w.in.wanted.Overlaps(w.time(w.picked[0]), w.time(w.picked[len(w.picked)-1])) {
			continue
		}
		if st := w.in.spec.Stats; st != nil {
			st.RowsScanned.Add(int64(len(w.picked)))
		}
		w.cut()
		if (len(w.in.prog.Conds) > 0 || w.in.bounded != nil) && !w.filter() {
			continue
		}
		w.batch.N, w.batch.Cols = len(w.picked), w.batch.Cols[:0]
		for i := range w.in.out {
			w.batch.Cols = append(w.batch.Cols, w.collect(&w.in.out[i]))
		}
		if st := w.in.spec.Stats; st != nil {
			st.RowsOut.Add(int64(w.batch.N))
		}
		return true, nil
	}
	return false, nil
}

const (
	// maxText is how many bytes of long rows one batch copies, of all its columns together.
	maxText = 4 << 20
	// longRow is the mean size above which rows are long: a full batch of shorter rows has maxText.
	longRow = maxText / vector.Size
)

// light is how many of the rows in w.picked make a batch: as many as have few bytes, one at the least.
func (w *walk) light() int {
	n := len(w.picked)
	if !w.in.long || n == 1 {
		return n
	}
	w.sizes = vector.Sized(w.sizes, n)
	for row := range w.sizes {
		w.sizes[row] = 8 * len(w.in.out)
	}
	for i := range w.in.out {
		for row, x := range w.picked {
			w.sizes[row] += w.in.out[i].text(x)
		}
	}
	all := 0
	for row, size := range w.sizes {
		if all += size; all > maxText {
			return max(row, 1)
		}
	}
	return n
}

// text is the number of bytes of text that a row has of its own.
func (s *source) text(x rowRef) int {
	if s.tag != nil {
		return 0
	}
	v := s.values[x>>32]
	if v.Form != vector.Flat || v.Type.Kind() != vector.Bytes {
		return 0
	}
	return int(v.Views[uint32(x)].Len)
}

// filter leaves the rows that pass the conditions in w.picked and reports whether there are any.
func (w *walk) filter() bool {
	n := len(w.picked)
	keep := w.in.keep[:vector.Words(n)]
	keep.Fill(n)
	w.in.eval(n, keep)
	if keep.All(n) {
		return true
	}
	w.in.rows = keep.AppendRows(w.in.rows[:0])
	for i, r := range w.in.rows {
		w.picked[i] = w.picked[r]
	}
	w.picked = w.picked[:len(w.in.rows)]
	w.cut()
	return len(w.picked) > 0
}

// cut makes the stretches of w.picked.
func (w *walk) cut() {
	w.low, w.stretches = w.low[:0], w.stretches[:0]
	for i, x := range w.picked {
		row, last := uint32(x), len(w.stretches)-1
		if last < 0 || w.stretches[last].chunk != int(x>>32) {
			w.stretches = append(w.stretches, stretch{int(x >> 32), i, i + 1, true})
		} else {
			s := &w.stretches[last]
			s.gapless = s.gapless && row == w.low[i-1]+1
			s.to = i + 1
		}
		w.low = append(w.low, row)
	}
}

// collect returns the column's values of the rows in w.picked.
func (w *walk) collect(s *source) *vector.Vector {
	if s.tag != nil {
		return s.ofSeries(w.o.ranks[w.rank])
	}
	if v, ok := s.alike(w.stretches); ok {
		return v
	}
	if s.absent(w.stretches, w.low) {
		return s.null
	}
	s.own.Reset(s.col.Type)
	for _, t := range w.stretches {
		v := s.values[t.chunk]
		if t.gapless {
			first := int(w.low[t.from])
			s.own.Append(t.from, v, first, first+t.to-t.from)
		} else {
			s.own.AppendRows(t.from, v, w.low[t.from:t.to])
		}
	}
	return &s.own
}

// absent reports whether all rows of the stretches are NULL; low holds their numbers.
func (s *source) absent(stretches []stretch, low []uint32) bool {
	for _, t := range stretches {
		v := s.values[t.chunk]
		first := int(low[t.from])
		switch {
		case !v.IsNull(first):
			return false
		case t.gapless && !v.AllNull(first, first+t.to-t.from):
			return false
		case !t.gapless && slices.ContainsFunc(low[t.from:t.to], func(row uint32) bool { return !v.IsNull(int(row)) }):
			return false
		}
	}
	return true
}

// alike returns the one Const vector that all stretches share, if there is one.
func (s *source) alike(stretches []stretch) (*vector.Vector, bool) {
	first := s.values[stretches[0].chunk]
	if first.Form != vector.Const {
		return nil, false
	}
	for _, t := range stretches[1:] {
		if s.values[t.chunk] != first {
			return nil, false
		}
	}
	return first, true
}

var _ scan.Series = (*walk)(nil)
