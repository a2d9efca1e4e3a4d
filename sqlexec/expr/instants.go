package expr

import (
	"varve/engine/timefmt"
	"varve/engine/vector"
)

// instants compares points in time that are counted in different units, exactly: a year that milliseconds reach may be
// out of the range of nanoseconds, so neither is converted. Safe for concurrent use.
type instants struct {
	ratio int64 // the finer units in a coarser
	right bool  // the coarser is the right side
}

// perDay is the number of counts of a timestamp or date type in a day; 0 for others.
func perDay(t vector.Type) int64 {
	switch {
	case t.IsTimestamp():
		return 86400 * t.UnitsPerSecond()
	case t.ID == vector.TypeDate:
		return 1
	}
	return 0
}

// instantsOf compares two types; nil when they are not points in time, or have one unit.
func instantsOf(a, b vector.Type) *instants {
	x, y := perDay(a), perDay(b)
	switch {
	case x == 0 || y == 0 || x == y:
		return nil
	case x < y:
		return &instants{ratio: y / x}
	}
	return &instants{ratio: x / y, right: true}
}

// order returns two vectors that compare as x and y do: -1, 0 or 1 as the left side is before, equal to or after the
// right, and zeros.
func (s *instants) order(x, y []int64) (signs, zeros *vector.Vector) {
	coarse, fine, sign := x, y, int64(1)
	if s.right {
		coarse, fine, sign = y, x, -1
	}
	n := 64 * vector.Words(len(x)) // comparisons read whole words
	signs = &vector.Vector{Type: vector.Int64Type, Ints: make([]int64, n)[:len(x)]}
	zeros = &vector.Vector{Type: vector.Int64Type, Ints: make([]int64, n)[:len(x)]}
	for i, f := range fine {
		whole := timefmt.FloorDiv(f, s.ratio)
		d := int64(0)
		switch {
		case coarse[i] > whole:
			d = 1
		case coarse[i] < whole || f != whole*s.ratio:
			d = -1
		}
		signs.Ints[i] = d * sign
	}
	return signs, zeros
}
