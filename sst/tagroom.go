package sst

import (
	"context"

	"varve/engine/scan"
)

// tagRoom counts the memory of a tag that a scan reads.
type tagRoom struct {
	reserve func(bytes int64) error // nil: nobody counts
	taken   int64
}

// want reserves room for a tag that has grown to so many bytes. Growing copies it, so that it is there twice for a
// while.
func (m *tagRoom) want(bytes int64) error {
	if bytes <= freeHeld || 2*bytes <= m.taken {
		return nil
	}
	return m.settle(3 * bytes)
}

// settle takes or gives back what differs from so many bytes.
func (m *tagRoom) settle(bytes int64) error {
	if bytes <= freeHeld {
		bytes = 0
	}
	if m.reserve == nil || bytes == m.taken {
		return nil
	}
	if err := m.reserve(bytes - m.taken); err != nil {
		return err
	}
	m.taken = bytes
	return nil
}

// largeTags reports whether tags of the part are not read as a whole: each may be as large as the keys, and the cache
// would not have room for many like it. Readers read the tags of their own series.
func (p *Part) largeTags() bool { return int64(p.dir.series.length) > p.cache.largestTag() }

// LargeKeys is the number of bytes of the series keys, as they are stored, of a part whose readers read the tags of
// their own series; 0: another part.
func (p *Part) LargeKeys() int64 {
	if !p.largeTags() {
		return 0
	}
	return int64(p.dir.series.length)
}

// ownSeries narrows a range to the series that a reader of some blocks, or of a range of keys, may come to.
func (p *Part) ownSeries(ctx context.Context, of seriesRange, spec *scan.Spec) (seriesRange, error) {
	t, err := p.seriesTable(ctx)
	if err != nil {
		return of, err
	}
	if b := spec.Pieces; b != nil && b.From < min(b.To, len(p.blocks)) {
		first, last := &p.blocks[max(b.From, 0)], &p.blocks[min(b.To, len(p.blocks))-1]
		of.from = max(of.from, t.at(first.first))
		of.to = max(of.from, min(of.to, t.at(last.first+last.rows-1)+1))
	}
	if of.from, of.to, err = t.within(of, spec.Keys); err != nil {
		return of, p.corrupt(err, "series")
	}
	return of, nil
}

// tagSteps cuts a range of series so that the keys of each take no more than a large tag does: by restarts, as a key
// behind one shares much with it.
func (p *Part) tagSteps(t *seriesTable, of seriesRange) (steps []seriesRange) {
	if !p.largeTags() {
		return append(steps, of)
	}
	most := uint64(p.cache.largestTag()) / restartEvery
	for of.from < of.to {
		restart := of.from / restartEvery
		end := restart + 1
		for end < len(t.restarts) && t.restarts[end]-t.restarts[restart] < most {
			end++
		}
		to := min(end*restartEvery, of.to)
		steps = append(steps, seriesRange{of.from, to})
		of.from = to
	}
	return steps
}
