package sst

import (
	"github.com/RoaringBitmap/roaring/v2"

	"varve/engine/scan"
	"varve/engine/vector"
)

// chosen are series of a range of a part's, numbered from its begin.
type chosen = roaring.Bitmap

// chosenKey is what is found out once for all pieces of a scan: the series of a range that pass its conditions on tags.
type chosenKey struct {
	p  *Part
	of seriesRange
}

// chooseByTags decides the conditions on tags for the series of the range.
func (sel *selector) chooseByTags() (err error) {
	if len(sel.onTags) == 0 {
		return nil
	}
	sel.chosen, err = scan.Once(sel.spec.Memo, chosenKey{sel.p, sel.reader.of}, func() (*chosen, error) {
		var all *chosen
		for _, t := range sel.onTags {
			one, err := sel.seriesThatPass(t)
			if err != nil {
				return nil, err
			}
			if all == nil {
				all = one
			} else {
				all.And(one)
			}
		}
		return all, nil
	})
	return err
}

// testStep is the number of values of a tag that are tested at a time.
const testStep = 64 << 10

// seriesThatPass returns the series that pass a test of a tag. It tests, or looks up, each distinct value once, and
// joins the postings of the values that pass.
func (sel *selector) seriesThatPass(test *test) (*chosen, error) {
	t := test.src.tag
	if passes, ok := test.OnNull(); ok { // IS NULL, IS NOT NULL
		have := t.present()
		if passes {
			all := roaring.New()
			all.AddRange(0, uint64(len(t.codes)))
			all.AndNot(have)
			return all, nil
		}
		return have, nil
	}
	if list, ok := test.ListBytes(); ok && t.values.Type.Kind() == vector.Bytes {
		set := roaring.New()
		for _, x := range list {
			if code, ok := t.byKey.Find(x); ok {
				set.AddMany(t.postings(code))
			}
		}
		return set, nil
	}
	n := t.values.Len()
	passes := vector.MakeBitmap(n)
	passes.Fill(n)
	for from := 0; from < n; from += testStep {
		if err := sel.reader.ctx.Err(); err != nil {
			return nil, err
		}
		to := min(from+testStep, n)
		test.Eval(to-from, t.values.Slice(from, to), passes[from>>6:vector.Words(to)])
	}
	return t.seriesOf(passes), nil
}

// keepSeries takes the rows of series that are not chosen out of keep and reports whether any are left.
func (sel *selector) keepSeries(b *block) bool {
	clear(sel.keep)
	any := false
	first, end := max(sel.reader.series.at(b.first), sel.reader.of.from), sel.reader.of.to
	keep := func(s int) bool {
		from, to := sel.reader.series.rows(s)
		if from >= b.first+b.rows {
			return false
		}
		setRange(sel.keep, max(from, b.first)-b.first, min(to, b.first+b.rows)-b.first)
		any = true
		return true
	}
	if sel.chosen == nil {
		for s := first; s < end && keep(s); s++ {
		}
		return any
	}
	sel.walkChosen.Initialize(sel.chosen)
	sel.walkChosen.AdvanceIfNeeded(uint32(first - sel.reader.of.from))
	for sel.walkChosen.HasNext() && keep(sel.reader.of.from+int(sel.walkChosen.Next())) {
	}
	return any
}
