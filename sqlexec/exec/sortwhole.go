package exec

import (
	"context"
	"slices"
)

const (
	// wholeRows is the number of rows from which on it is asked whether their prefixes repeat.
	wholeRows = 1 << 18
	// askedPrefixes is about how many prefixes are looked at for that.
	askedPrefixes = 1024
	// restEntries is about how many entries one goroutine orders by the rest of their keys at a time.
	restEntries = 1 << 14
)

// prefixesRepeat reports whether few prefixes have most rows, as those of a text of few values have. Then a comparison
// of two runs that are merged reads two keys far apart nearly each time, and sortWhole is better.
func (s *sorter) prefixesRepeat() bool {
	each := max(1, askedPrefixes/len(s.chunks)) // rows of a chunk
	var prefixes []uint64
	for _, c := range s.chunks {
		step := max(1, len(c.ends)/each)
		for i := 0; i < len(c.ends); i += step {
			prefixes = append(prefixes, word(c.key(i)[s.common:]))
		}
	}
	asked := len(prefixes)
	slices.Sort(prefixes)
	return 2*len(slices.Compact(prefixes)) < asked
}

// sortWhole orders the entries of all rows, which it makes, without merging: by prefix first, one goroutine, then those
// of equal prefix by the rest of their keys, all goroutines.
func (s *sorter) sortWhole(ctx context.Context, list []entry, workers int) error {
	starts, at := make([]int, len(s.chunks)), 0
	for k, c := range s.chunks {
		starts[k] = at
		at += len(c.ends)
	}
	err := Spread(ctx, len(s.chunks), workers, func(k int) error {
		s.fill(list[starts[k]:starts[k]+len(s.chunks[k].ends)], k)
		return nil
	})
	if err != nil {
		return err
	}
	w := wordSorter{s: s, spare: make([]entry, len(list)), cancelled: ctx.Err}
	if w.sortByPrefix(list); w.err != nil {
		return w.err
	}
	bounds := []int{0} // task i is list[bounds[i]:bounds[i+1]]: all entries of some prefixes
	for from := 0; from < len(list); {
		to := min(from+restEntries, len(list))
		for to < len(list) && list[to].prefix == list[to-1].prefix {
			to++
		}
		bounds = append(bounds, to)
		from = to
	}
	return Spread(ctx, len(bounds)-1, workers, func(i int) error {
		from, to := bounds[i], bounds[i+1]
		part := wordSorter{s: s, spare: w.spare[from:to], cancelled: ctx.Err}
		part.sortRest(list[from:to])
		return part.err
	})
}
