package engine

import (
	"bytes"
	"math"
	"slices"

	"varve/engine/filter"
	"varve/engine/invariant"
	"varve/engine/scan"
)

// The first rows of an order by time lie in few rows of many blocks where a table has many series: each series has
// blocks of its own, and the newest block of each reaches back a long way. So the time of such a scan is cut into
// turns. The first is as long as it takes for some times the wanted rows; each further one is many times as long as
// those before it. Once the reader has its rows, the pieces of later turns are left out.
const (
	// turnShare is how many rows the first turn has for each row that is wanted: one in so many is to pass.
	turnShare = 8
	// turnGrowth is how many times the rows of all turns before a turn has. Blocks are opened once a turn, and a turn
	// in which the rows are found has up to so many times the rows that are needed.
	turnGrowth = 8
	// turnSteps is how finely times are known: to a half, a quarter and so on of the time of the scan.
	turnSteps = 32
)

// leastTurned is the number of rows of a scan from which it has turns.
var leastTurned = invariant.Limit(1<<14, 8)

// turns are the spans of time that the scan looks at one after the other, in the order of the request: disjoint, and
// together all of its time.
func (s *Scan) turns(q Request) []scan.Range {
	if !q.Newest && !q.Oldest || q.First == 0 || len(s.all) == 0 {
		return []scan.Range{scan.All}
	}
	all := scan.Range{From: math.MaxInt64, To: math.MinInt64}
	for _, r := range s.all {
		span := r.run.Span()
		all = scan.Range{From: min(all.From, span.From), To: max(all.To, span.To)}
	}
	all = all.And(s.spec.Time)
	rows := s.rowsWithin(all, q.Newest)
	if rows[0] < float64(leastTurned) {
		return []scan.Range{scan.All}
	}
	s.inTurns = true
	if seeksID(s.spec.Filter) {
		return []scan.Range{scan.All}
	}
	var list []scan.Range
	length := uint64(all.To) - uint64(all.From)
	target, left := turnShare*float64(q.First), all
	for step := len(rows) - 1; step > 0 && left.From < left.To; step-- {
		if rows[step] < target {
			continue
		}
		target = turnGrowth * rows[step]
		turn := left
		if q.Newest {
			turn.From = int64(uint64(all.To) - length>>step)
			left.To = turn.From - 1
		} else {
			turn.To = int64(uint64(all.From) + length>>step)
			left.From = turn.To + 1
		}
		list = append(list, turn)
	}
	return append(list, left)
}

// leastID is the length of a word from which it may be an id.
const leastID = 12

// seeksID reports whether all rows that pass hold a long word with digits. Such words are mostly ids: few rows have
// one, and token filters leave most blocks out, so turns would only open the others several times.
func seeksID(and filter.And) bool {
	prog, err := filter.Compile(and)
	return err == nil && slices.ContainsFunc(prog.Conds, func(c *filter.Tree[*filter.Test]) bool {
		if c.Kind != filter.Leaf {
			return false
		}
		needles, ok := c.Leaf.Needles()
		return ok && !slices.ContainsFunc(needles, func(n filter.Needle) bool {
			return !(n.Exact && isID(n.Whole)) && !slices.ContainsFunc(n.Words, isID) &&
				!slices.ContainsFunc(n.Parts, isID)
		})
	})
}

func isID(word []byte) bool { return len(word) >= leastID && bytes.ContainsAny(word, "0123456789") }

// rowsWithin is about how many rows there are within all of a span, its last half, its last quarter and so on; with
// newest false within its first half, quarter and so on. Rows of a block count as if they lay evenly in its time.
func (s *Scan) rowsWithin(all scan.Range, newest bool) (rows [turnSteps]float64) {
	length := uint64(all.To) - uint64(all.From)
	for _, r := range s.all {
		extent := s.extent(r)
		for i := extent.From; i < extent.To; i++ {
			n, span := r.run.Block(i)
			if span = span.And(all); span.From > span.To {
				continue
			}
			near, far := uint64(all.To)-uint64(span.To), uint64(all.To)-uint64(span.From)
			if !newest {
				near, far = uint64(span.From)-uint64(all.From), uint64(span.To)-uint64(all.From)
			}
			for step := range rows {
				reach := length >> step
				if near > reach {
					break
				}
				part := 1.0
				if far > reach {
					part = float64(reach-near) / float64(far-near)
				}
				rows[step] += part * float64(n)
			}
		}
	}
	return rows
}
