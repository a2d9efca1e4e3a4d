package exec

import (
	"bytes"
	"context"
	"encoding/binary"
	"fmt"

	"varve/engine/vector"
	"varve/sqlexec/expr"
)

// TopK keeps the first k rows of an order. It reports the bound of the first key, a column, among the k best rows so
// far: rows beyond it are no longer wanted. tell may be nil.
func TopK(order []expr.SortKey, k int, types []vector.Type, tell func(value *vector.Vector), budget *Budget) (Sink,
	error) {
	if err := compiles(order); err != nil {
		return nil, err
	}
	s := &topSink{sortSink: sortSink{order: order, types: types, budget: budget}, k: k}
	if tell != nil && k > 0 {
		s.reach = newReach(order[0], k, tell)
	}
	return s, nil
}

type topSink struct {
	sortSink
	k     int
	reach *reachBound // nil: no report
}

func (s *topSink) String() string { return fmt.Sprintf("TopK: %d by %s", s.k, orderText(s.order)) }

// moreThanTop is the number of rows above 2k at which the k best are sorted out if a listener waits for the resulting
// reach.
const moreThanTop = 256

// wideTop is the growth in bytes at which the k best of at least twice as many rows are sorted out: a few long rows may
// take more memory than many short ones.
const wideTop = 2 << 20

// Step keeps the rows that come before the last of the k best so far. When more than twice as many have gathered, it
// drops the worse ones.
func (s *topSink) Step(int) Step {
	w := newSorter(s.order, len(s.order), s.types, s.budget)
	at := len(s.workers)
	s.workers = append(s.workers, w)
	most := 2*s.k + vector.Size
	if s.reach != nil && !s.reach.counts() {
		most = 2*s.k + moreThanTop
	}
	var bound []byte // the key of the k'th row; nil while there are fewer
	var rows []uint32
	var part vector.Batch
	best := int64(0) // bytes of the best rows, when they were sorted out last
	return inCopies(func(b *vector.Batch) error {
		if s.k == 0 {
			return ErrStop
		}
		if err := w.eval.Eval(b, w.out); err != nil {
			return err
		}
		c, err := w.room(b.N)
		if err != nil {
			return err
		}
		rows = w.before(c, bound, s.candidates(rows[:0], w.out[0], b.N, bound))
		if len(rows) == 0 {
			return nil
		}
		s.reach.note(w.out[0], rows)
		gatherRows(&part, b, rows)
		c.rows.Append(&part, 0, part.N)
		w.n += part.N
		held := w.held()
		if held > w.reserved {
			if err := s.budget.Reserve(held - w.reserved); err != nil {
				return err
			}
			w.reserved = held
		}
		if w.n < most && (w.n < 2*s.k || held < 2*best+wideTop) {
			return nil
		}
		if w, err = s.sortOut(w); err != nil {
			return err
		}
		s.workers[at], best = w, w.held()
		last := w.chunks[len(w.chunks)-1]
		bound = append(bound[:0], last.key(len(last.ends)-1)...)
		if k, ok := s.order[0].Expr.(*expr.Column); ok {
			s.reach.take(last.rows.Cols[k.Index], len(last.ends)-1)
		}
		return nil
	})
}

// sortOut is a sorter of the k best rows of another, which is gone then; for a moment both are there.
func (s *topSink) sortOut(w *sorter) (*sorter, error) {
	order, err := w.sorted(s.budget.context(), 1)
	if err != nil {
		return nil, err
	}
	order = order[:min(s.k, len(order))]
	if err := s.budget.Reserve(w.textsOf(order)); err != nil {
		return nil, err
	}
	best, err := w.only(order)
	if err != nil {
		return nil, err
	}
	s.budget.Release(w.textsOf(order))
	best.reserved = max(w.reserved, best.held())
	return best, s.budget.Reserve(best.reserved - w.reserved)
}

// before makes the keys of rows of the batch at hand in a chunk and keeps those, in the memory of rows, that come
// before bound; nil: all.
func (s *sorter) before(c *sortChunk, bound []byte, rows []uint32) []uint32 {
	kept := rows[:0]
	for _, r := range rows {
		start := len(c.keys)
		s.appendKey(c, int(r))
		if bound != nil && bytes.Compare(c.keys[start:], bound) >= 0 {
			c.keys, c.ends = c.keys[:start], c.ends[:len(c.ends)-1]
			continue
		}
		kept = append(kept, r)
	}
	return kept
}

// candidates appends the rows whose first key v is not beyond the key of bound and not beyond the reach. The result is
// exact for numbers without NULL; otherwise it is all rows.
func (s *topSink) candidates(rows []uint32, v *vector.Vector, n int, bound []byte) []uint32 {
	most, ok := s.reach.most()
	if len(bound) > 8 && bound[0] == 1 {
		most, ok = min(most, binary.BigEndian.Uint64(bound[1:])), true
	}
	switch {
	case v.Form != vector.Flat || v.Valid != nil || !hasSortWord(v.Type):
		ok = false
	case bound != nil && bound[0] == 0: // NULL, and these have none
		return rows
	}
	if !ok {
		for i := range uint32(n) {
			rows = append(rows, i)
		}
		return rows
	}
	rows = vector.Sized(rows, n)
	flip := uint64(0)
	if s.order[0].Desc {
		flip = ^flip
	}
	switch v.Type.Kind() {
	case vector.Int64:
		return rows[:intsUpTo(rows, v.Ints[:n], flip, most)]
	case vector.Uint64:
		return rows[:uintsUpTo(rows, v.Uints[:n], flip, most)]
	}
	return rows[:floatsUpTo(rows, v.Floats[:n], flip, most)]
}

// intsUpTo writes the rows whose flipped sort word is at most the given one, and returns their number.
func intsUpTo(rows []uint32, v []int64, flip, most uint64) (n int) {
	flip ^= 1 << 63
	for i, x := range v {
		if uint64(x)^flip <= most {
			rows[n] = uint32(i)
			n++
		}
	}
	return n
}

func uintsUpTo(rows []uint32, v []uint64, flip, most uint64) (n int) {
	for i, x := range v {
		if x^flip <= most {
			rows[n] = uint32(i)
			n++
		}
	}
	return n
}

func floatsUpTo(rows []uint32, v []float64, flip, most uint64) (n int) {
	for i, x := range v {
		if expr.SortableFloat(x)^flip <= most {
			rows[n] = uint32(i)
			n++
		}
	}
	return n
}

// textsOf is the bytes of the keys and the texts of rows.
func (s *sorter) textsOf(rows []uint32) (bytes int64) {
	for _, r := range rows {
		bytes += int64(len(s.key(int(r)))) + rowTexts(s.chunks[r/chunkRows].rows.Cols, int(r%chunkRows))
	}
	return bytes
}

// only is a sorter of some rows of another.
func (s *sorter) only(order []uint32) (*sorter, error) {
	n := &sorter{types: s.types, eval: s.eval, order: s.order, out: s.out}
	var part vector.Batch
	for from := 0; from < len(order); {
		to := s.portion(order, from)
		rows := order[from:to]
		from = to
		c, err := n.room(len(rows))
		if err != nil {
			return nil, err
		}
		for _, r := range rows {
			c.keys = append(c.keys, s.key(int(r))...)
			c.ends = append(c.ends, len(c.keys))
		}
		s.gather(&part, rows)
		c.rows.Append(&part, 0, part.N)
		n.n += part.N
	}
	return n, nil
}

// Finish sorts what is left and cuts it.
func (s *topSink) Finish(ctx context.Context) (Source, error) {
	all := s.workers[0]
	all.take(s.workers[1:])
	order, err := all.sorted(ctx, len(s.workers))
	return &reorder{all, order[:min(s.k, len(order))]}, err
}
