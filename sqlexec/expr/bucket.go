package expr

import (
	"varve/engine/timefmt"
	"varve/engine/vector"
)

// bins floors numbers to buckets of a length, counted from an origin: the kernel of date_bin and date_trunc.
type bins struct{ step, phase int64 }

// binsOf returns the buckets of length step, one of which begins at origin.
func binsOf(step, origin int64) bins { return bins{step, origin - timefmt.FloorDiv(origin, step)*step} }

// floor is the begin of x's bucket. It wraps around where the begin lies below all numbers.
func (b bins) floor(x int64) int64 {
	m := x % b.step
	m += b.step & (m >> 63) // negative rests move up by a step
	m -= b.phase
	m += b.step & (m >> 63)
	return x - m
}

// one returns the bucket of all numbers, if they share one. Times that are close together, as in a batch, are often
// decided by the least and the greatest.
func (b bins) one(x []int64) (begin int64, ok bool) {
	if len(x) == 0 || b.floor(x[0]) != b.floor(x[len(x)-1]) {
		return 0, false
	}
	lo, hi := extent(x)
	begin = b.floor(lo)
	return begin, begin <= lo && begin == b.floor(hi)
}

// extent returns the least and the greatest of some numbers, by four chains of comparisons for each.
func extent(x []int64) (lo, hi int64) {
	lo, hi = x[0], x[0]
	lo2, hi2, lo3, hi3, lo4, hi4 := lo, hi, lo, hi, lo, hi
	for len(x) >= 4 {
		p := (*[4]int64)(x)
		lo, hi = min(lo, p[0]), max(hi, p[0])
		lo2, hi2 = min(lo2, p[1]), max(hi2, p[1])
		lo3, hi3 = min(lo3, p[2]), max(hi3, p[2])
		lo4, hi4 = min(lo4, p[3]), max(hi4, p[3])
		x = x[4:]
	}
	for _, v := range x {
		lo, hi = min(lo, v), max(hi, v)
	}
	return min(lo, lo2, lo3, lo4), max(hi, hi2, hi3, hi4)
}

// apply writes the begin of the bucket of each x into r. It needs no division if the bucket is that of the previous
// number: times mostly rise.
func (b bins) apply(r, x []int64) {
	r = r[:len(x)]
	step := uint64(b.step)
	var begin int64
	inside := false
	for i, v := range x {
		if !inside || v < begin || uint64(v)-uint64(begin) >= step {
			begin = b.floor(v)
			inside = begin <= v // false: the begin does not fit
		}
		r[i] = begin
	}
}

// kernel floors the first argument.
func (b bins) kernel(n int, v []*vector.Vector, valid vector.Bitmap, out *vector.Vector) error {
	x := v[0].Ints[:n]
	if valid == nil {
		if begin, ok := b.one(x); ok {
			out.Form, out.Ints = vector.Const, append(out.Ints[:0], begin)
			return nil
		}
	}
	out.Ints = vector.Sized(out.Ints, n)
	b.apply(out.Ints, x)
	return nil
}
