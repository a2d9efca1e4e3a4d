package sst

import (
	"varve/engine/filter"
	"varve/engine/vector"
	"varve/sst/encoding"
)

// packed is the memory that evaluating conditions on pages takes.
type packed struct {
	pieces      []filter.Piece
	maybe, some vector.Bitmap // templates that may pass; of them those whose rows must be looked at
	rows        vector.Vector // such rows
	passed      vector.Bitmap // of those
}

// evalPacked evaluates a comparison on the page as it is, where that is possible and pays: equalities on packed digits
// and numbers, which are not printed, comparisons of packed integers and of decimals by their integers, anything that a
// dictionary decides on packed codes, and conditions on text by templates.
func (k *picker) evalPacked(c *condition, keep vector.Bitmap) (done bool, err error) {
	if c.src.loaded != nil || c.pages == nil {
		return false, nil
	}
	rows := k.p.blocks[k.block].rows
	var eval func(page []byte) (bool, error)
	switch k.p.encodingOf(c.pages, k.block) {
	case encoding.Hex:
		if c.equal != nil {
			eval = func(page []byte) (bool, error) { return encoding.KeepHex(page, rows, c.equal, keep), nil }
		}
	case encoding.IPv4, encoding.Number, encoding.TimeText:
		if c.equal != nil {
			eval = func(page []byte) (bool, error) { return k.dec.KeepNumber(page, rows, c.equal, keep) }
		}
	case encoding.Decimal:
		if c.bound != nil {
			eval = func(page []byte) (bool, error) { return k.dec.KeepDecimals(page, rows, *c.bound, keep) }
		}
	case encoding.Packed:
		if c.interval != nil {
			eval = func(page []byte) (bool, error) { return k.dec.KeepInts(page, rows, *c.interval, keep) }
		}
	case encoding.Shared:
		return k.evalCodes(c, keep)
	case encoding.Template:
		if !c.text {
			return false, nil
		}
		eval = func(page []byte) (bool, error) { return k.evalTemplates(c, page, keep) }
	}
	if eval == nil {
		return false, nil
	}
	page, err := k.p.page(c.src.col, k.block)
	if err != nil {
		return false, err
	}
	if done, err = eval(page); err != nil {
		return false, k.p.corruptBlock(err, c.src.col, k.block)
	}
	if st := k.spec.Stats; st != nil && done {
		st.BytesRead.Add(int64(len(page)))
	}
	return done, nil
}

// encodingOf is the encoding that the page of a block claims, unchecked: a reason to look, no more.
func (p *Part) encodingOf(x *pageIndex, block int) encoding.ID {
	if x.length[block] <= sumSize {
		return 0
	}
	b, err := p.file.read(ref{x.off[block], 1})
	if err != nil {
		return 0
	}
	return encoding.ID(b[0])
}

// evalCodes tests the values of the part's dictionary and looks their codes up in a page.
func (k *picker) evalCodes(c *condition, keep vector.Bitmap) (done bool, err error) {
	values, err := k.p.dictionary(c.src.col)
	if err != nil || values == nil {
		return false, err
	}
	passes, ok := k.prog.Passing(c.i, values)
	if !ok {
		return false, nil
	}
	codes, err := k.codes(c.src.col)
	if codes == nil || err != nil {
		return false, err
	}
	k.dec.KeepCodes(codes, passes, keep)
	return true, nil
}

// codes gives the packed codes of a column of the block at hand, from the cache where they are compressed in the page; nil: it has
// none, or NULLs. They are valid until the decoder decodes the next page.
func (k *picker) codes(col *column) (*encoding.Codes, error) {
	p, rows := k.p, k.p.blocks[k.block].rows
	key := blockKey{p.id, col.number | codesOfColumn, uint32(k.block)}
	kept, admit := p.cache.codes(key)
	if kept != nil {
		return kept, nil
	}
	page, err := p.page(col, k.block)
	if err != nil {
		return nil, err
	}
	codes, ok, err := k.dec.Codes(page, rows, admit)
	if err != nil {
		return nil, p.corruptBlock(err, col, k.block)
	}
	if !ok {
		return nil, nil
	}
	if st := k.spec.Stats; st != nil {
		st.BytesRead.Add(int64(len(page)))
	}
	if admit && codes.Inflated() {
		p.cache.putCodes(key, &codes)
	}
	return &codes, nil
}

// maxPrinted: a page is decoded as a whole when more than one row in so many would have to be printed.
const maxPrinted = 2

// evalTemplates searches the templates of a page, and prints and looks at the rows only of those that may match.
func (k *picker) evalTemplates(c *condition, page []byte, keep vector.Bitmap) (done bool, err error) {
	t, ok, err := k.dec.Templates(page, k.p.blocks[k.block].rows)
	if !ok || err != nil {
		return false, err
	}
	s := &k.packed
	s.maybe, s.some = grown(s.maybe, t.Len()), grown(s.some, t.Len())
	looked := 0
	for i := range t.Len() {
		s.pieces = t.Pieces(s.pieces[:0], i)
		switch k.prog.JudgePieces(c.i, s.pieces) {
		case filter.All:
			s.maybe.Set(i)
		case filter.Some:
			s.maybe.Set(i)
			s.some.Set(i)
			looked += t.Count(i)
		}
	}
	if looked*maxPrinted > len(t.Codes) {
		return false, nil
	}
	filter.KeepCodes(keep, t.Codes, s.maybe)
	if looked == 0 {
		return true, nil
	}
	s.rows.Reset(c.src.want.Type)
	rows, err := t.AppendRows(&s.rows, s.some)
	if err != nil {
		return false, err
	}
	s.passed = grown(s.passed, len(rows))
	s.passed.Fill(len(rows))
	k.prog.EvalCond(c.i, len(rows), &s.rows, s.passed)
	for i, row := range rows {
		if !s.passed.Get(i) {
			keep.Clear(int(row))
		}
	}
	return true, nil
}

// sparseRows: when fewer than one row in so many passes, only those are decoded for the output.
const sparseRows = 4

// loadPicked gives a column of the block at hand or, where source.picked says so then, of the picked rows alone.
func (k *picker) loadPicked(s *source) (*vector.Vector, error) {
	rows := k.p.blocks[k.block].rows
	if s.loaded != nil || s.from != stored || s.cast || k.picked*sparseRows > rows {
		return k.load(s)
	}
	x, err := k.p.index(s.col)
	if err != nil {
		return k.load(s)
	}
	id, key := k.p.encodingOf(x, k.block), blockKey{k.p.id, s.col.number, uint32(k.block)}
	packedKey := blockKey{k.p.id, s.col.number | codesOfColumn, uint32(k.block)}
	switch {
	case id == encoding.Shared && k.p.cache.holds(packedKey): // few packed codes are read faster than those of a vector
	case id != encoding.Template && id != encoding.Shared || k.p.cache.holds(key):
		return k.load(s)
	}
	ok := false
	if id == encoding.Shared {
		ok, err = k.pickCodes(s)
	} else {
		ok, err = k.printPicked(s, rows)
	}
	switch {
	case err != nil:
		return nil, err
	case !ok: // with NULLs, or otherwise packed
		return k.load(s)
	}
	s.loaded, s.picked = &s.own, true
	return s.loaded, nil
}

func (k *picker) pickCodes(s *source) (ok bool, err error) {
	values, err := k.p.dictionary(s.col)
	if err != nil || values == nil {
		return false, err
	}
	codes, err := k.codes(s.col)
	if err != nil || codes == nil {
		return false, err
	}
	if err := k.dec.PickCodes(&s.own, codes, s.col.typ, values, k.pickedRows()); err != nil {
		return false, k.p.corruptBlock(err, s.col, k.block)
	}
	return true, nil
}

func (k *picker) printPicked(s *source, rows int) (ok bool, err error) {
	page, err := k.p.page(s.col, k.block)
	if err != nil {
		return false, err
	}
	t, ok, err := k.dec.Templates(page, rows)
	if ok && err == nil {
		s.own.Reset(s.col.typ)
		err = t.Sparse(&s.own, k.keep)
	}
	if err != nil {
		return false, k.p.corruptBlock(err, s.col, k.block)
	}
	if st := k.spec.Stats; st != nil && ok {
		st.BytesRead.Add(int64(len(page)))
	}
	return ok, nil
}

// grown gives an empty bitmap of n bits, in the memory of b where it is large enough.
func grown(b vector.Bitmap, n int) vector.Bitmap {
	if cap(b) < vector.Words(n) {
		return vector.MakeBitmap(n + n/2)[:vector.Words(n)]
	}
	b = b[:vector.Words(n)]
	clear(b)
	return b
}
