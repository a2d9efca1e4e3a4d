package sst

import (
	"cmp"
	"context"
	"slices"
)

// Extent is a range of bytes of a file.
type Extent struct{ Off, Length int64 }

// End is the offset behind the range.
func (e Extent) End() int64 { return e.Off + e.Length }

// Pages returns the ranges of the file that hold pages of columns, rising, without gaps of no bytes between them. All
// else of a part is what plans need: filters, sections, directory and footer.
func (p *Part) Pages(ctx context.Context) ([]Extent, error) {
	return using(p, func() ([]Extent, error) { return p.pageExtents(ctx) })
}

func (p *Part) pageExtents(ctx context.Context) ([]Extent, error) {
	columns, err := p.columns(ctx)
	if err != nil {
		return nil, err
	}
	var all []Extent
	for _, c := range columns.all {
		x, err := p.index(ctx, c)
		if err != nil {
			return nil, err
		}
		var own []Extent // the pages of a column rise
		for block := range p.blocks {
			at := x.at(block)
			own = appendExtent(own, Extent{int64(at.off), int64(at.length)})
		}
		all = append(all, own...)
	}
	slices.SortFunc(all, func(a, b Extent) int { return cmp.Compare(a.Off, b.Off) })
	joined := all[:0]
	for _, e := range all {
		joined = appendExtent(joined, e)
	}
	return joined, nil
}

// appendExtent appends a range that does not begin before the last one. It becomes one with the last where they touch.
func appendExtent(list []Extent, e Extent) []Extent {
	if n := len(list); n > 0 && e.Off <= list[n-1].End() {
		list[n-1].Length = max(list[n-1].End(), e.End()) - list[n-1].Off
		return list
	}
	return append(list, e)
}
