package memtable

import (
	"bytes"
	"cmp"
	"slices"

	"varve/engine/scan"
	"varve/engine/vector"
)

// order is all rows of a snapshot by (series key, time, sequence).
type order struct {
	rows   []ref
	ranks  []uint32 // series numbers by rising key
	starts []int    // starts[i] is the first row of ranks[i]; one more at the end
}

// ref is a row: chunk in the high 32 bits, row in the low.
type ref uint64

func (s *snapshot) ordered() *order {
	if o := s.order.Load(); o != nil {
		return o
	}
	o := s.sortAll()
	s.order.Store(o) // two readers may both have made it; either will do
	return o
}

func (s *snapshot) sortAll() *order {
	used := make([]bool, len(s.series))
	for _, c := range s.chunks {
		if c.series == nil {
			used[c.oneSeries] = true
			continue
		}
		for _, n := range c.series {
			used[n] = true
		}
	}
	o := &order{}
	for n := range s.series {
		if used[n] {
			o.ranks = append(o.ranks, uint32(n))
		}
	}
	slices.SortFunc(o.ranks, func(a, b uint32) int { return cmp.Compare(s.series[a].key, s.series[b].key) })
	position := make([]uint32, len(s.series))
	for i, n := range o.ranks {
		position[n] = uint32(i)
	}
	// Counting sort by series keeps the order of appending inside each; then each series by time, if it is not already.
	o.starts = make([]int, len(o.ranks)+1)
	for _, c := range s.chunks {
		for r := range c.n {
			o.starts[position[c.seriesOf(r)]+1]++
		}
	}
	for i := range o.ranks {
		o.starts[i+1] += o.starts[i]
	}
	at := slices.Clone(o.starts)
	o.rows = make([]ref, s.rows)
	for k, c := range s.chunks {
		for r := range c.n {
			p := position[c.seriesOf(r)]
			o.rows[at[p]] = ref(k)<<32 | ref(r)
			at[p]++
		}
	}
	for i := range o.ranks {
		s.sortSeries(o.rows[o.starts[i]:o.starts[i+1]])
	}
	return o
}

// sortSeries sorts the rows of one series by (time, sequence), stably.
func (s *snapshot) sortSeries(rows []ref) {
	compare := func(x, y ref) int {
		a, b := s.chunks[x>>32], s.chunks[y>>32]
		i, j := uint32(x), uint32(y)
		if d := cmp.Compare(a.times[i], b.times[j]); d != 0 {
			return d
		}
		if d := cmp.Compare(a.seqOf(int(i)), b.seqOf(int(j))); d != 0 {
			return d
		}
		return cmp.Compare(x, y)
	}
	if !slices.IsSortedFunc(rows, compare) {
		slices.SortFunc(rows, compare)
	}
}

// Series walks the rows in order.
func (r *Run) Series(spec *scan.Spec) (scan.Series, error) {
	p, err := r.newPicker(spec)
	if err != nil {
		return nil, err
	}
	w := &walk{picker: p, o: r.s.ordered(), rank: -1}
	for range spec.Columns {
		w.cols = append(w.cols, &vector.Vector{})
	}
	return w, nil
}

// walk is a scan.Series over a snapshot.
type walk struct {
	*picker
	o     *order
	rank  int
	at    int // next row of the current series
	end   int
	ready bool // batch holds rows not handed out yet
	batch vector.Batch
	piece vector.Batch
	cols  []*vector.Vector
	rows  []uint32
}

func (w *walk) Close() {}

func (w *walk) Next() ([]byte, bool, error) {
	for w.rank+1 < len(w.o.ranks) {
		w.rank++
		key := w.s.series[w.o.ranks[w.rank]].key
		if !bytes.HasPrefix([]byte(key), w.spec.KeyPrefix) {
			continue
		}
		w.at, w.end = w.o.starts[w.rank], w.o.starts[w.rank+1]
		if w.fill() {
			w.ready = true
			return []byte(key), true, nil
		}
	}
	w.at, w.end, w.ready = 0, 0, false
	return nil, false, nil
}

func (w *walk) Rows(b *vector.Batch) (bool, error) {
	if !w.ready && !w.fill() {
		return false, nil
	}
	w.ready = false
	b.N, b.Cols = w.batch.N, append(b.Cols[:0], w.batch.Cols...)
	return true, nil
}

// fill collects the next rows of the series that pass, at most vector.Size, into w.batch: stretches of one chunk are
// picked together.
func (w *walk) fill() bool {
	w.batch.N, w.batch.Cols = 0, w.batch.Cols[:0]
	for w.at < w.end && w.batch.N < vector.Size {
		room := vector.Size - w.batch.N
		chunk := w.o.rows[w.at] >> 32
		w.rows = w.rows[:0]
		natural := true
		for w.at < w.end && w.o.rows[w.at]>>32 == chunk && len(w.rows) < room {
			row := uint32(w.o.rows[w.at])
			natural = natural && row == uint32(len(w.rows))+w.first()
			w.rows = append(w.rows, row)
			w.at++
		}
		natural = natural && w.rows[0]&63 == 0
		if !w.pick(w.s.chunks[chunk], w.rows, natural, &w.piece) {
			continue
		}
		if w.batch.N == 0 && (w.piece.N == vector.Size || w.at == w.end) {
			w.batch.N, w.batch.Cols = w.piece.N, append(w.batch.Cols, w.piece.Cols...)
			return true
		}
		w.keepPiece()
	}
	return w.batch.N > 0
}

// first is the row that the stretch being collected began with.
func (w *walk) first() uint32 {
	if len(w.rows) == 0 {
		return uint32(w.o.rows[w.at])
	}
	return w.rows[0]
}

// keepPiece copies the piece behind what w.batch holds.
func (w *walk) keepPiece() {
	if w.batch.N == 0 {
		for i, c := range w.spec.Columns {
			*w.cols[i] = vector.Vector{Type: c.Type} // handed out before: its buffers may still be read
			w.batch.Cols = append(w.batch.Cols, w.cols[i])
		}
	}
	w.batch.Append(&w.piece, 0, w.piece.N)
}

var _ scan.Run = (*Run)(nil)
var _ scan.Series = (*walk)(nil)
