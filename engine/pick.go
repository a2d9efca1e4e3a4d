package engine

import (
	"cmp"
	"errors"
	"math"
	"slices"

	"varve/sst"
)

// Which parts are merged with each other.

// partSize is what of a part, or of some together, is bounded.
type partSize struct {
	rows   int64
	blocks int64 // at most 32 MiB of values of a column each, except for a single larger value
	keys   int64 // bytes of series keys
	// columns is the number of columns of each, all together: a merge keeps some hundred bytes for each of them,
	// whatever it reads. 0: no bound. Two parts are merged in any case.
	columns int64
	// blocks times columns: a writer keeps the place and the extremes of each page. 0: no bound
	pages int64
}

// exceeds reports whether so much is not to be merged at once.
func (s partSize) exceeds(bound partSize) bool {
	return s.blocks > bound.blocks || s.keys > bound.keys || bound.columns > 0 && s.columns > bound.columns ||
		bound.pages > 0 && s.pages > bound.pages
}

// maxPart bounds the result of a merge: parts are replaced wholly, so they stay of a size that can be rewritten. A part
// has numbers of 16 bits for blocks, four times as many as are merged, since blocks that are merged are not always
// full; and of 32 bits for places in the values of a tag. A table of sixty columns is bounded by its rows, one of
// thousands by its pages.
var maxPart = partSize{rows: 32 << 20, blocks: sst.MaxBlocks / 4, keys: math.MaxUint32, columns: 32 << 10,
	pages: 1 << 20}

// size returns the size of a part, which is measured when it is asked for first and again after a read that failed. The
// part must be open.
func (p *part) size() partSize {
	p.sizeMu.Lock()
	defer p.sizeMu.Unlock()
	if p.measured != nil {
		return *p.measured
	}
	keys, err := p.file.KeyBytes()
	if err != nil {
		keys = 0 // the merge meets the damage, or cannot read either, and says so
	}
	blocks, columns := int64(p.run.Blocks()), int64(p.file.Columns())
	size := partSize{rows: p.meta.Rows, blocks: blocks, keys: keys, columns: columns, pages: blocks * columns}
	if err == nil || errors.Is(err, sst.ErrCorrupt) {
		p.measured = &size
	}
	return size
}

// pickFresh chooses parts to merge that no merge has written, n to 2*n in the order of their sequence numbers, whatever
// their times: what becomes of them is cut at windows. nil: nothing is to be done.
func pickFresh(parts []*part, n int, bound partSize) []*part {
	var fresh []*part
	for _, p := range inSequence(parts) {
		if p.meta.Level == 0 {
			fresh = append(fresh, p)
		}
	}
	return take(fresh, n, 2*n, bound)
}

// class is the level and window of parts that merges have written. Parts of one class are merged with each other.
type class struct {
	level  uint8
	window int64
}

// classes returns the parts of each class, and the classes, in the order of sequence numbers.
func classes(parts []*part, w windows) (merged map[class][]*part, order []class) {
	merged = map[class][]*part{}
	for _, p := range inSequence(parts) {
		if p.meta.Level == 0 {
			continue
		}
		c := class{p.meta.Level, w.of(p.meta.MinTime)}
		if merged[c] == nil {
			order = append(order, c)
		}
		merged[c] = append(merged[c], p)
	}
	return merged, order
}

// pickMerged chooses n to 2*n parts of one level and one window to merge; nil if there are fewer.
func pickMerged(parts []*part, w windows, n int, bound partSize) []*part {
	merged, order := classes(parts, w)
	for _, c := range order {
		if group := take(merged[c], n, 2*n, bound); group != nil {
			return group
		}
	}
	return nil
}

// behind is about the number of merges that pickMerged has yet to give.
func behind(parts []*part, w windows, n int, bound partSize) (merges int) {
	merged, _ := classes(parts, w)
	for _, list := range merged {
		if take(list, n, 2*n, bound) != nil {
			merges += (len(list) + 2*n - 1) / (2 * n)
		}
	}
	return merges
}

// pickAny chooses parts for a compaction that was asked for: first those that straddle windows, then all of a window,
// at last single parts that hide rows of their own and no others, not those of fixed either, which are damaged and stay
// as they are, and those that have rows that a merge leaves out. unique: the table replaces rows.
func pickAny(parts, fixed []*part, w windows, bound partSize, unique bool, hides func(*part) bool) []*part {
	bySequence := inSequence(parts)
	byWindow := map[int64][]*part{}
	var straddling []*part
	for _, p := range bySequence {
		if w.straddles(p) {
			straddling = append(straddling, p)
			continue
		}
		n := w.of(p.meta.MinTime)
		byWindow[n] = append(byWindow[n], p)
	}
	if len(straddling) > 0 && !unique {
		// Rows of such a table have no sequence numbers of their own. Rows of equal time keep the order in which they
		// were written as long as only neighbours are merged.
		first, last := slices.Index(bySequence, straddling[0]), slices.Index(bySequence, straddling[len(straddling)-1])
		straddling = bySequence[first : last+1]
	}
	if len(straddling) > 0 {
		return take(straddling, 1, maxMergedParts, bound)
	}
	for _, p := range bySequence { // in the order of sequence numbers: the choice is the same every time
		if group := take(byWindow[w.of(p.meta.MinTime)], 2, maxMergedParts, bound); group != nil {
			return group
		}
	}
	for _, p := range bySequence {
		meets := func(o *part) bool { return o != p && o.overlaps(p) }
		alone := !slices.ContainsFunc(parts, meets) && !slices.ContainsFunc(fixed, meets)
		if unique && !p.meta.Unique && alone || hides(p) {
			return []*part{p}
		}
	}
	return nil
}

// take returns the first neighbours that are at least and at most the given numbers and together fit into one part; nil
// if there are none. If only their rows would fit, two parts are enough, because parts with the same series need less
// for them together than apart.
func take(parts []*part, least, most int, bound partSize) []*part {
	if len(parts) < least {
		return nil
	}
	for from := 0; from < len(parts); {
		to, enough := from, least
		for sum := (partSize{}); to < len(parts) && to-from < most; to++ {
			p := parts[to]
			if sum.rows += p.meta.Rows; sum.rows > bound.rows && to > from {
				break
			}
			size := p.size()
			sum.blocks, sum.keys, sum.pages = sum.blocks+size.blocks, sum.keys+size.keys, sum.pages+size.pages
			if to >= from+2 {
				sum.columns += size.columns
			}
			if sum.exceeds(bound) && to > from {
				enough = min(least, 2)
				break
			}
		}
		if to-from >= enough {
			return parts[from:to]
		}
		from = max(to, from+1)
	}
	return nil
}

func inSequence(parts []*part) []*part {
	sorted := slices.Clone(parts)
	slices.SortStableFunc(sorted, func(a, b *part) int {
		return cmp.Or(cmp.Compare(a.meta.MinSeq, b.meta.MinSeq), cmp.Compare(a.meta.MinTime, b.meta.MinTime))
	})
	return sorted
}

// levelOf is the level of what parts are merged into.
func levelOf(parts []*part) (level uint8) {
	if len(parts) == 1 {
		return max(1, parts[0].meta.Level)
	}
	for _, p := range parts {
		level = max(level, min(p.meta.Level, math.MaxUint8-1)+1)
	}
	return level
}
