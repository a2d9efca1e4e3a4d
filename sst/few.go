package sst

import (
	"math/bits"
	"slices"

	"varve/engine/vector"
	"varve/sst/encoding"
)

// A text of a few rows is dear where its block is: 8,192 lines are opened, or decompressed, for the ten newest of a
// stream. A query for the newest lines reads a few rows of a block of every stream, and mostly comes again. So the
// cache keeps the rows that were read: some kilobytes instead of two megabytes a block.

// someRows are some rows of a block of a column. They do not change.
type someRows struct {
	rows vector.Bitmap // of the block
	v    *vector.Vector
}

func (f *someRows) bytes() int64 { return f.v.Bytes64(f.rows.Count()) + int64(8*len(f.rows)) }

// holds reports whether all rows of keep are there.
func (f *someRows) holds(keep vector.Bitmap) bool {
	for i, m := range keep {
		if m&^f.rows[i] != 0 {
			return false
		}
	}
	return true
}

// pick makes dst the rows of keep, which are all there. at is scratch.
func (f *someRows) pick(dst *vector.Vector, keep vector.Bitmap, at []uint32) []uint32 {
	at = at[:0]
	before := 0
	for i, m := range keep {
		for ; m != 0; m &= m - 1 {
			row := bits.TrailingZeros64(m)
			at = append(at, uint32(before+bits.OnesCount64(f.rows[i]&(1<<row-1))))
		}
		before += bits.OnesCount64(f.rows[i])
	}
	dst.Gather(f.v, at)
	return at
}

// fewPass: a text is read in the rows that passed the tests before alone, when fewer than one row in so many did.
const fewPass = 8

// isFew reports whether a text of the block at hand is read in the rows of keep alone.
func (sel *selector) isFew(s *source, id encoding.ID, keep vector.Bitmap) bool {
	p, block := sel.p, sel.reader.block
	return (id == encoding.Template || id == encoding.Plain && s.col.typ.Kind() == vector.Bytes) &&
		keep.Count()*fewPass <= p.blocks[block].rows && !p.cache.holds(blockKey{p.id, s.col.number, uint32(block)})
}

// readFew returns a text in the rows of keep, from the cache if it has them; nil: the block has to be read as a whole.
// The result is valid until the next block, or the next call for the same source.
func (sel *selector) readFew(s *source, id encoding.ID, keep vector.Bitmap) (*vector.Vector, error) {
	p, block := sel.p, sel.reader.block
	key := blockKey{p.id, s.col.number | fewOfColumn, uint32(block)}
	kept, admit := p.cache.few(key)
	if kept != nil && kept.holds(keep) {
		sel.fewAt = kept.pick(&s.seen, keep, sel.fewAt)
		return &s.seen, nil
	}
	want, dst := keep, &s.own
	if kept != nil { // more than last time
		both := slices.Clone(keep)
		both.Or(kept.rows)
		if both.Count()*fewPass <= p.blocks[block].rows {
			want, admit = both, true
		} else if id == encoding.Plain {
			return nil, nil // which is decompressed as a whole: the cache shall have it so
		}
	}
	if admit {
		dst = &vector.Vector{}
	}
	if ok, err := sel.printFew(dst, s, want); err != nil || !ok {
		return nil, err
	}
	if !admit {
		return dst, nil
	}
	f := &someRows{slices.Clone(want), dst}
	p.cache.putFew(key, f)
	sel.fewAt = f.pick(&s.seen, keep, sel.fewAt)
	return &s.seen, nil
}

// printFew makes dst a text in the rows of keep; false: the block has to be read as a whole.
func (sel *selector) printFew(dst *vector.Vector, s *source, keep vector.Bitmap) (ok bool, err error) {
	p, block, ctx := sel.p, sel.reader.block, sel.reader.ctx
	page, release, err := p.page(ctx, s.col, block)
	if err != nil {
		return false, err
	}
	defer release()
	rows := p.blocks[block].rows
	dst.Reset(s.col.typ)
	if len(page) > 0 && encoding.ID(page[0]) == encoding.Plain {
		scratch := scratches.Get().(*memory)
		defer scratches.Put(scratch)
		scratch.own.Reset(s.col.typ)
		if err = sel.dec.Decode(&scratch.own, page, s.col.typ, rows, nil); err == nil {
			ok = true
			dst.AppendRows(0, &scratch.own, keep.AppendRows(nil))
		}
	} else {
		var t *encoding.Templates
		if t, ok, err = sel.dec.Templates(page, rows); ok && err == nil {
			err = t.Sparse(dst, keep)
		}
	}
	if err != nil {
		return false, p.corruptBlock(err, s.col, block)
	}
	if st := sel.spec.Stats; st != nil && ok {
		st.BytesRead.Add(int64(len(page)))
	}
	return ok, nil
}

// evalFew evaluates a test on the rows of keep of a text, of which it reads no others.
func (sel *selector) evalFew(t *test, id encoding.ID, keep vector.Bitmap) (done bool, err error) {
	sel.fewOf = nil
	if sel.few, err = sel.readFew(t.src, id, keep); err != nil || sel.few == nil {
		return false, err
	}
	sel.fewOf, sel.fewRows = t.src, keep.AppendRows(sel.fewRows[:0])
	n := len(sel.fewRows)
	sel.passed = sel.passed.Emptied(n)
	sel.passed.Fill(n)
	t.Eval(n, sel.few, sel.passed)
	for i, row := range sel.fewRows {
		if !sel.passed.Get(i) {
			keep.Clear(int(row))
		}
	}
	return true, nil
}

// takeFew returns a column in the rows that pass, if evalFew has read all of them; else nil.
func (sel *selector) takeFew(s *source) *vector.Vector {
	sel.fewAt = sel.fewAt[:0]
	at := 0
	for _, row := range sel.passingRows() {
		for at < len(sel.fewRows) && sel.fewRows[at] < row {
			at++
		}
		if at == len(sel.fewRows) || sel.fewRows[at] != row {
			return nil // it passes by the other side of a choice
		}
		sel.fewAt = append(sel.fewAt, uint32(at))
	}
	if len(sel.fewAt) == len(sel.fewRows) {
		return sel.few
	}
	s.taken.Gather(sel.few, sel.fewAt)
	return &s.taken
}
