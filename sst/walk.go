package sst

import (
	"math/bits"
	"runtime/debug"

	"github.com/RoaringBitmap/roaring/v2"

	"varve/engine/scan"
	"varve/engine/vector"
)

// seriesWalk walks a part series by series. Blocks are opened once each, in order; a block holds many series or a
// series many blocks.
type seriesWalk struct {
	projector
	table   *seriesTable
	keys    *keyWalk
	choice  roaring.IntIterator    // of the series that are chosen
	next    int                    // series that Next looks at
	end     int                    // series behind the last
	row, to int                    // rows of the current series not yet looked at
	within  struct{ from, to int } // rows of the part to walk over
	block   int                    // block at hand
	passing bool                   // the block at hand has rows that pass
	list    []uint32
	given   bool // list is being given out
}

// Series gives a walk over the series with rows that pass. Pieces and Newest are not regarded.
func (r *run) Series(spec *scan.Spec) (scan.Series, error) {
	w, err := r.walk(spec)
	if err != nil {
		return nil, err
	}
	return w, nil
}

func (r *run) walk(spec *scan.Spec) (_ *seriesWalk, err error) {
	defer r.p.reading(debug.SetPanicOnFault(true), &err)
	k, err := r.p.picker(spec)
	if err != nil {
		return nil, err
	}
	t, err := r.p.seriesTable()
	if err != nil {
		return nil, err
	}
	w := &seriesWalk{projector: projector{picker: k}, table: t, block: -1}
	w.within.to = r.Rows()
	if err := w.project(); err != nil {
		return nil, err
	}
	if k.chosen != nil {
		w.choice.Initialize(k.chosen)
	}
	if w.next, w.end, err = t.within(k.of, spec.Keys); err == nil {
		w.keys, err = t.walk(w.next)
	}
	if err != nil {
		return nil, r.p.corrupt(err, "series")
	}
	return w, nil
}

// Next moves to the next series with matching rows. The key is valid until the following Next.
func (w *seriesWalk) Next() (key []byte, ok bool, err error) {
	defer w.p.reading(debug.SetPanicOnFault(true), &err)
	for ; w.next < w.end && !w.nothing; w.next++ {
		if err := w.step(); err != nil {
			return nil, false, w.p.corrupt(err, "series")
		}
		if w.next == w.end {
			break
		}
		w.row, w.to = w.table.rows(w.next)
		w.row, w.to = max(w.row, w.within.from), min(w.to, w.within.to)
		found, err := w.advance()
		if err != nil {
			return nil, false, err
		}
		if found {
			w.next++
			return w.keys.key, true, nil
		}
	}
	w.row, w.to = 0, 0
	w.list, w.given = w.list[:0], false
	return nil, false, nil
}

// step reads the key of the series that Next looks at: the next one that is chosen. w.next is w.end when none is left.
func (w *seriesWalk) step() error {
	if w.chosen == nil {
		return w.keys.step()
	}
	next := w.end
	w.choice.AdvanceIfNeeded(uint32(w.next - w.of.from))
	if w.choice.HasNext() {
		next = min(next, w.of.from+int(w.choice.PeekNext()))
	}
	if w.next = next; next == w.end {
		return nil
	}
	if err := w.keys.seek(next); err != nil {
		return err
	}
	return w.keys.step()
}

// advance collects the rows that pass in the next block of the current series that has any.
func (w *seriesWalk) advance() (bool, error) {
	w.given = false
	for w.row < w.to {
		block := w.p.blockOf(w.row, w.block)
		if block != w.block {
			var err error
			if w.passing, err = w.pick(block); err != nil {
				return false, err
			}
			w.block = block
		}
		b := &w.p.blocks[block]
		from, to := w.row-b.first, min(w.to-b.first, b.rows)
		w.row = b.first + to
		if !w.passing {
			continue
		}
		if w.list = appendRange(w.list[:0], w.keep, from, to); len(w.list) > 0 {
			w.given, w.at = true, 0
			return true, nil
		}
	}
	return false, nil
}

// Rows fills b with the next rows of the current series.
func (w *seriesWalk) Rows(b *vector.Batch) (ok bool, err error) {
	defer w.p.reading(debug.SetPanicOnFault(true), &err)
	for {
		if w.given {
			ok, err := w.give(b, w.list, len(w.list))
			if ok || err != nil {
				return ok, err
			}
		}
		if ok, err := w.advance(); !ok || err != nil {
			return false, err
		}
	}
}

// Close ends the walk.
func (w *seriesWalk) Close() {
	w.next, w.row, w.given = w.end, w.to, false
	w.release()
}

// blockOf finds the block of a row; near is a guess.
func (p *Part) blockOf(row, near int) int {
	for i := max(near, 0); i < len(p.blocks) && i <= near+1; i++ {
		if b := &p.blocks[i]; row >= b.first && row < b.first+b.rows {
			return i
		}
	}
	lo, hi := 0, len(p.blocks)
	for hi-lo > 1 {
		mid := (lo + hi) / 2
		if p.blocks[mid].first <= row {
			lo = mid
		} else {
			hi = mid
		}
	}
	return lo
}

// appendRange appends the rows of b in [from, to), which is not empty.
func appendRange(dst []uint32, b vector.Bitmap, from, to int) []uint32 {
	for w := from >> 6; w <= (to-1)>>6; w++ {
		m := b[w]
		if w == from>>6 {
			m &= ^uint64(0) << (from & 63)
		}
		if w == (to-1)>>6 && to&63 != 0 {
			m &= 1<<(to&63) - 1
		}
		for ; m != 0; m &= m - 1 {
			dst = append(dst, uint32(w<<6+bits.TrailingZeros64(m)))
		}
	}
	return dst
}
