package sst

import (
	"sync"

	"varve/engine/filter"
	"varve/engine/vector"
	"varve/sst/encoding"
)

// memory is what evaluating conditions and decoding pages takes besides the vectors that are given out. A scan opens a
// selector for every few blocks.
type memory struct {
	dec    encoding.Decoder
	packed packed
}

var memories = sync.Pool{New: func() any { return &memory{} }}

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
func (sel *selector) evalPacked(c *condition, keep vector.Bitmap) (done bool, err error) {
	if c.src.loaded != nil || c.pages == nil {
		return false, nil
	}
	id := sel.p.encodingOf(c.pages, sel.reader.block)
	switch {
	case id == encoding.Shared:
		return sel.evalCodes(c, keep)
	case id == encoding.Template && c.text, id.Compares(&c.compare):
	default:
		return false, nil
	}
	page, err := sel.p.page(c.src.col, sel.reader.block)
	if err != nil {
		return false, err
	}
	if id == encoding.Template {
		done, err = sel.evalTemplates(c, page, keep)
	} else {
		done, err = sel.mem.dec.Keep(page, sel.p.blocks[sel.reader.block].rows, &c.compare, keep)
	}
	if err != nil {
		return false, sel.p.corruptBlock(err, c.src.col, sel.reader.block)
	}
	if st := sel.spec.Stats; st != nil && done {
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
func (sel *selector) evalCodes(c *condition, keep vector.Bitmap) (done bool, err error) {
	values, err := sel.p.dictionary(c.src.col)
	if err != nil || values == nil {
		return false, err
	}
	passes, ok := sel.prog.Passing(c.i, values)
	if !ok {
		return false, nil
	}
	codes, err := sel.codes(c.src.col)
	if codes == nil || err != nil {
		return false, err
	}
	sel.mem.dec.KeepCodes(codes, passes, keep)
	return true, nil
}

// codes gives the packed codes of a column of the block at hand, from the cache where they are compressed in the page; nil: it has
// none, or NULLs. They are valid until the decoder decodes the next page.
func (sel *selector) codes(col *column) (*encoding.Codes, error) {
	p, rows := sel.p, sel.p.blocks[sel.reader.block].rows
	key := blockKey{p.id, col.number | codesOfColumn, uint32(sel.reader.block)}
	kept, admit := p.cache.codes(key)
	if kept != nil {
		return kept, nil
	}
	page, err := p.page(col, sel.reader.block)
	if err != nil {
		return nil, err
	}
	codes, ok, err := sel.mem.dec.Codes(page, rows, admit)
	if err != nil {
		return nil, p.corruptBlock(err, col, sel.reader.block)
	}
	if !ok {
		return nil, nil
	}
	if st := sel.spec.Stats; st != nil {
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
func (sel *selector) evalTemplates(c *condition, page []byte, keep vector.Bitmap) (done bool, err error) {
	t, ok, err := sel.mem.dec.Templates(page, sel.p.blocks[sel.reader.block].rows)
	if !ok || err != nil {
		return false, err
	}
	s := &sel.mem.packed
	s.maybe, s.some = s.maybe.Emptied(t.Len()), s.some.Emptied(t.Len())
	looked := 0
	for i := range t.Len() {
		s.pieces = t.Pieces(s.pieces[:0], i)
		switch sel.prog.JudgePieces(c.i, s.pieces) {
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
	s.passed = s.passed.Emptied(len(rows))
	s.passed.Fill(len(rows))
	sel.prog.EvalCond(c.i, len(rows), &s.rows, s.passed)
	for i, row := range rows {
		if !s.passed.Get(i) {
			keep.Clear(int(row))
		}
	}
	return true, nil
}

// sparseRows: when fewer than one row in so many passes, only those are decoded for the output.
const sparseRows = 4

// loadPassing gives a column of the block at hand or, where source.sparse says so then, of the rows alone that pass.
func (sel *selector) loadPassing(s *source) (*vector.Vector, error) {
	rows := sel.p.blocks[sel.reader.block].rows
	if s.loaded != nil || s.from != stored || s.cast || sel.passing*sparseRows > rows {
		return sel.reader.load(s)
	}
	x, err := sel.p.index(s.col)
	if err != nil {
		return sel.reader.load(s)
	}
	id, key := sel.p.encodingOf(x, sel.reader.block), blockKey{sel.p.id, s.col.number, uint32(sel.reader.block)}
	packedKey := blockKey{sel.p.id, s.col.number | codesOfColumn, uint32(sel.reader.block)}
	switch {
	case id == encoding.Shared && sel.p.cache.holds(packedKey): // few packed codes are read faster than those of a vector
	case id != encoding.Template && id != encoding.Shared || sel.p.cache.holds(key):
		return sel.reader.load(s)
	}
	ok := false
	if id == encoding.Shared {
		ok, err = sel.sparseCodes(s)
	} else {
		ok, err = sel.printSparse(s, rows)
	}
	switch {
	case err != nil:
		return nil, err
	case !ok: // with NULLs, or otherwise packed
		return sel.reader.load(s)
	}
	s.loaded, s.sparse = &s.own, true
	return s.loaded, nil
}

func (sel *selector) sparseCodes(s *source) (ok bool, err error) {
	values, err := sel.p.dictionary(s.col)
	if err != nil || values == nil {
		return false, err
	}
	codes, err := sel.codes(s.col)
	if err != nil || codes == nil {
		return false, err
	}
	if err := sel.mem.dec.PickCodes(&s.own, codes, s.col.typ, values, sel.passingRows()); err != nil {
		return false, sel.p.corruptBlock(err, s.col, sel.reader.block)
	}
	return true, nil
}

func (sel *selector) printSparse(s *source, rows int) (ok bool, err error) {
	page, err := sel.p.page(s.col, sel.reader.block)
	if err != nil {
		return false, err
	}
	t, ok, err := sel.mem.dec.Templates(page, rows)
	if ok && err == nil {
		s.own.Reset(s.col.typ)
		err = t.Sparse(&s.own, sel.keep)
	}
	if err != nil {
		return false, sel.p.corruptBlock(err, s.col, sel.reader.block)
	}
	if st := sel.spec.Stats; st != nil && ok {
		st.BytesRead.Add(int64(len(page)))
	}
	return ok, nil
}
