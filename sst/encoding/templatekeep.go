package encoding

import (
	"varve/engine/filter"
	"varve/engine/vector"
)

// templateKeep is the memory that tests of templates take.
type templateKeep struct {
	pieces      []filter.Piece
	maybe, some vector.Bitmap // templates that may pass; of them those whose rows must be looked at
	rows        vector.Vector // such rows
	passed      vector.Bitmap // of those
}

// maxPrinted: a block is decoded as a whole when more than one row in so many would have to be printed.
const maxPrinted = 2

// keepTemplates searches the templates of a block, and prints and looks at those rows of keep only whose templates may
// match.
func keepTemplates(d *Decoder, r *reader, n int, test *filter.Test, keep vector.Bitmap) bool {
	t := d.openTemplates(r, n)
	if r.end(); r.err != nil {
		return false
	}
	s := &t.keep
	s.maybe, s.some = s.maybe.Emptied(t.Len()), s.some.Emptied(t.Len())
	looked := 0
	for i := range t.Len() {
		s.pieces = t.Pieces(s.pieces[:0], i)
		switch test.JudgePieces(s.pieces) {
		case filter.All:
			s.maybe.Set(i)
		case filter.Some:
			s.maybe.Set(i)
			s.some.Set(i)
			looked += t.Count(i)
		}
	}
	if min(looked, keep.Count())*maxPrinted > len(t.Codes) {
		return false
	}
	filter.KeepCodes(keep, t.Codes, s.maybe)
	if looked == 0 {
		return true
	}
	s.rows.Reset(vector.StringType)
	var rows []uint32
	if rows, r.err = t.AppendRows(&s.rows, s.some, keep); r.err != nil {
		return false
	}
	s.passed = s.passed.Emptied(len(rows))
	s.passed.Fill(len(rows))
	test.Eval(len(rows), &s.rows, s.passed)
	for i, row := range rows {
		if !s.passed.Get(i) {
			keep.Clear(int(row))
		}
	}
	return true
}
