package sst

import (
	"context"
	"sync"

	"varve/engine/vector"
	"varve/sst/encoding"
)

// decoders keep what they have grown to: a scan opens a selector for every few blocks.
var decoders = sync.Pool{New: func() any { return &encoding.Decoder{} }}

// evalPacked evaluates a test on the page as it is, where that is possible and pays: anything that a dictionary decides
// on packed codes, and what the encoding answers of the values as they are packed.
func (sel *selector) evalPacked(t *test, keep vector.Bitmap) (done bool, err error) {
	if t.src.loaded != nil || t.pages == nil {
		return false, nil
	}
	id := sel.p.encodingOf(sel.reader.ctx, t.pages, sel.reader.block)
	switch {
	case id == encoding.Shared:
		return sel.evalCodes(t, keep)
	case sel.isFew(t.src, id, keep):
		return sel.evalFew(t, id, keep)
	case !id.Answers(t.Test):
		return false, nil
	}
	page, release, err := sel.p.page(sel.reader.ctx, t.src.col, sel.reader.block)
	if err != nil {
		return false, err
	}
	defer release()
	if done, err = sel.dec.Keep(page, sel.p.blocks[sel.reader.block].rows, t.Test, keep); err != nil {
		return false, sel.p.corruptBlock(err, t.src.col, sel.reader.block)
	}
	if st := sel.spec.Stats; st != nil && done {
		st.BytesRead.Add(int64(len(page)))
	}
	return done, nil
}

// encodingOf is the encoding that the page of a block claims, unchecked: a reason to look, no more.
func (p *Part) encodingOf(ctx context.Context, x *pageIndex, block int) encoding.ID {
	if x.length[block] <= sumSize {
		return 0
	}
	// All of the page: it is wanted next, and of a far part each read is a request.
	b, release, err := p.file.read(ctx, x.at(block))
	if err != nil {
		return 0
	}
	id := encoding.ID(b[0])
	release()
	return id
}

// evalCodes tests the values of the part's dictionary and looks their codes up in a page.
func (sel *selector) evalCodes(t *test, keep vector.Bitmap) (done bool, err error) {
	values, err := sel.p.dictionary(sel.reader.ctx, t.src.col)
	if err != nil || values == nil {
		return false, err
	}
	passes, ok := t.Passing(values)
	if !ok {
		return false, nil
	}
	codes, release, err := sel.codes(t.src.col)
	if codes == nil || err != nil {
		return false, err
	}
	defer release()
	sel.dec.KeepCodes(codes, passes, keep)
	return true, nil
}

// codes returns the packed codes of a column of the block at hand, from the cache where they are compressed in the
// page; nil: it has none, or NULLs. They are valid until the decoder decodes the next page, or release.
func (sel *selector) codes(col *column) (all *encoding.Codes, release func(), err error) {
	p, rows := sel.p, sel.p.blocks[sel.reader.block].rows
	key := blockKey{p.id, col.number | codesOfColumn, uint32(sel.reader.block)}
	kept, admit := p.cache.codes(key)
	if kept != nil {
		return kept, noRelease, nil
	}
	page, release, err := p.page(sel.reader.ctx, col, sel.reader.block)
	if err != nil {
		return nil, nil, err
	}
	codes, ok, err := sel.dec.Codes(page, rows, admit)
	if err != nil || !ok {
		release()
		if err != nil {
			err = p.corruptBlock(err, col, sel.reader.block)
		}
		return nil, nil, err
	}
	if st := sel.spec.Stats; st != nil {
		st.BytesRead.Add(int64(len(page)))
	}
	if admit && codes.Inflated() {
		p.cache.putCodes(key, &codes)
	}
	return &codes, release, nil
}

// sparseRows: when fewer than one row in so many passes, only those are decoded for the output.
const sparseRows = 4

// pickedRows: the same for pages that are decoded in a few microseconds, which the cache keeps for the next query. A
// trace of 50 spans of 20 services takes a few rows of each of 20 blocks: 3.7 ms of processor time instead of 7.2 when
// they are not in the cache. One row in fifty costs a tenth of the block.
const pickedRows = 16

// loadPassing returns a column of the block at hand or, where source.sparse says so then, of the rows alone that pass.
func (sel *selector) loadPassing(s *source) (*vector.Vector, error) {
	rows := sel.p.blocks[sel.reader.block].rows
	switch {
	case s.loaded != nil || sel.passing*sparseRows > rows:
		return sel.reader.load(s)
	case s.from == tag:
		s.tag.rows(&s.own, sel.reader.series, sel.p.blocks[sel.reader.block].first, sel.passingRows())
		s.loaded, s.sparse = &s.own, true
		return s.loaded, sel.reader.hold(sel.reader.bytes(s, s.loaded))
	case s.from != stored || s.cast:
		return sel.reader.load(s)
	}
	x, err := sel.p.index(sel.reader.ctx, s.col)
	if err != nil {
		return sel.reader.load(s)
	}
	id := sel.p.encodingOf(sel.reader.ctx, x, sel.reader.block)
	key := blockKey{sel.p.id, s.col.number, uint32(sel.reader.block)}
	packedKey := blockKey{sel.p.id, s.col.number | codesOfColumn, uint32(sel.reader.block)}
	var few *vector.Vector
	ok := false
	switch {
	// few packed codes are read faster than those of a vector
	case id == encoding.Shared && sel.p.cache.holds(packedKey):
		ok, err = sel.sparseCodes(s)
	case sel.p.cache.holds(key):
	case id == encoding.Shared:
		ok, err = sel.sparseCodes(s)
	case sel.fewOf == s:
		few = sel.takeFew(s)
	case sel.isFew(s, id, sel.keep):
		few, err = sel.readFew(s, id, sel.keep)
	case id == encoding.Template:
		ok, err = sel.printFew(&s.own, s, sel.keep)
	case id.Picks() && sel.passing*pickedRows <= rows:
		ok, err = sel.pick(s, rows)
	}
	switch {
	case err != nil:
		return nil, err
	case few != nil:
		s.loaded = few
	case !ok:
		return sel.reader.load(s)
	default:
		s.loaded = &s.own
	}
	s.sparse = true
	return s.loaded, sel.reader.hold(sel.reader.bytes(s, s.loaded))
}

func (sel *selector) sparseCodes(s *source) (ok bool, err error) {
	values, err := sel.p.dictionary(sel.reader.ctx, s.col)
	if err != nil || values == nil {
		return false, err
	}
	codes, release, err := sel.codes(s.col)
	if err != nil || codes == nil {
		return false, err
	}
	defer release()
	if err := sel.dec.PickCodes(&s.own, codes, s.col.typ, values, sel.passingRows()); err != nil {
		return false, sel.p.corruptBlock(err, s.col, sel.reader.block)
	}
	return true, nil
}

func (sel *selector) pick(s *source, rows int) (ok bool, err error) {
	page, release, err := sel.p.page(sel.reader.ctx, s.col, sel.reader.block)
	if err != nil {
		return false, err
	}
	defer release()
	if ok, err = sel.dec.Pick(&s.own, page, s.col.typ, rows, sel.passingRows()); err != nil {
		return false, sel.p.corruptBlock(err, s.col, sel.reader.block)
	}
	if st := sel.spec.Stats; st != nil && ok {
		st.BytesRead.Add(int64(len(page)))
	}
	return ok, nil
}
