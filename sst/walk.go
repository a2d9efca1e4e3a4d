package sst

import (
	"math"
	"math/bits"

	"github.com/RoaringBitmap/roaring/v2"

	"varve/engine/scan"
	"varve/engine/vector"
)

// seriesWalk walks a part series by series. Blocks are opened once each, in order; a block holds many series or a
// series many blocks.
type seriesWalk struct {
	p       *Part
	sel     *selector
	out     projector
	table   *seriesTable
	keys    *keyWalk
	choice  roaring.IntIterator    // of the series that are chosen
	next    int                    // series that Next looks at
	end     int                    // series behind the last
	row, to int                    // rows of the current series not yet looked at
	within  struct{ from, to int } // rows of the part to walk over
	block   int                    // block at hand
	passing bool                   // the block at hand has rows that pass
	list    []uint32               // rows of the series in that block
}

// begin returns a walk over the series with rows that pass. Pieces and Newest are not regarded.
func (r *run) begin(spec *scan.Spec) (_ *seriesWalk, err error) {
	w := &seriesWalk{p: r.p, block: -1}
	w.within.to = r.Rows()
	if w.sel, err = r.p.selector(spec); err != nil {
		return nil, err
	}
	w.out.sel = w.sel
	if w.table, err = r.p.seriesTable(w.sel.reader.ctx); err != nil {
		return nil, err
	}
	if w.sel.chosen != nil {
		w.choice.Initialize(w.sel.chosen)
	}
	if w.next, w.end, err = w.table.within(w.sel.reader.of, spec.Keys); err == nil {
		w.keys, err = w.table.walk(w.next)
	}
	if err != nil {
		return nil, r.p.corrupt(err, "series")
	}
	return w, nil
}

// narrow leaves out the series that have no rows to walk over.
func (w *seriesWalk) narrow() (err error) {
	if from := w.table.at(w.within.from); from > w.next {
		if w.next = from; w.sel.chosen == nil { // else step looks for the next key
			if w.keys, err = w.table.walk(from); err != nil {
				return w.p.corrupt(err, "series")
			}
		}
	}
	w.end = min(w.end, w.table.at(w.within.to-1)+1)
	return nil
}

// find moves to the next series with matching rows. The key is valid until the following call.
func (w *seriesWalk) find() (key []byte, ok bool, err error) {
	for ; w.next < w.end && !w.sel.nothing; w.next++ {
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
	w.out.end()
	return nil, false, nil
}

// step reads the key of the series that Next looks at: the next one that is chosen. w.next is w.end when none is left.
func (w *seriesWalk) step() error {
	if w.sel.chosen == nil {
		return w.keys.step()
	}
	next := w.end
	w.choice.AdvanceIfNeeded(uint32(w.next - w.sel.reader.of.from))
	if w.choice.HasNext() {
		next = min(next, w.sel.reader.of.from+int(w.choice.PeekNext()))
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
	w.out.end()
	for w.row < w.to {
		block := w.p.blockOf(w.row, w.block)
		if block != w.block {
			passing, err := w.sel.selectRows(block)
			if err != nil {
				return false, err
			}
			w.block, w.passing = block, passing > 0
		}
		b := &w.p.blocks[block]
		from, to := w.row-b.first, min(w.to-b.first, b.rows)
		w.row = b.first + to
		if !w.passing {
			continue
		}
		if w.sel.passing == b.rows && from&63 == 0 {
			w.out.begin(nil, from, to-from)
			return true, nil
		}
		if w.list = appendRange(w.list[:0], w.sel.keep, from, to); len(w.list) > 0 {
			w.out.begin(w.list, 0, len(w.list))
			return true, nil
		}
	}
	return false, nil
}

// fill fills b with the next rows of the current series.
func (w *seriesWalk) fill(b *vector.Batch) (bool, error) {
	for {
		if ok, err := w.out.next(b); ok || err != nil {
			return ok, err
		}
		if ok, err := w.advance(); !ok || err != nil {
			return false, err
		}
	}
}

// Ended reports whether all rows of the current series have been handed out, as far as is known without a look at
// another block.
func (w *seriesWalk) Ended() bool { return w.out.at >= w.out.n && w.row >= w.to }

// Least is the earliest time of the block that the next rows of the current series lie in.
func (w *seriesWalk) Least() int64 {
	switch {
	case w.out.at < w.out.n:
		return w.p.blocks[w.block].minTime
	case w.row < w.to:
		return w.p.blocks[w.p.blockOf(w.row, w.block)].minTime
	}
	return math.MaxInt64
}

// Rest lets go of a block that has no rows left, unless that is little.
func (w *seriesWalk) Rest() {
	h := w.sel.spec.Holding
	if h == nil || w.sel.reader.held <= h.Least || w.block < 0 || w.out.at < w.out.n {
		return
	}
	if b := &w.p.blocks[w.block]; w.row >= b.first+b.rows {
		w.out.drop()
		w.sel.reader.shed()
	}
}

// Close ends the walk.
func (w *seriesWalk) Close() {
	w.next, w.row = w.end, w.to
	w.out.end()
	w.sel.release()
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
