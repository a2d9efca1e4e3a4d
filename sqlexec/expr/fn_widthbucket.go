package expr

import (
	"math"

	"varve/engine/vector"
)

// widthBucket is the number of the bucket that x lies in among count of equal width from lo up to hi, or down to it: 0 before the
// first, count + 1 behind the last.
func widthBucket(x, lo, hi float64, count int64) int64 {
	if hi < lo {
		x, lo, hi = -x, -lo, -hi
	}
	switch {
	case x < lo:
		return 0
	case x >= hi:
		return count + 1
	}
	return min(int64((x-lo)/(hi-lo)*float64(count)), count-1) + 1
}

func init() {
	finite := func(x float64) bool { return x-x == 0 }
	simple(4, sig{f64, f64, f64, i64}, vector.Int64Type, func(n int, a []*vector.Vector, valid vector.Bitmap, out *vector.Vector) error {
		for i := range n {
			if valid != nil && !valid.Get(i) {
				out.Ints = append(out.Ints, 0)
				continue
			}
			x, lo, hi, count := a[0].Floats[i], a[1].Floats[i], a[2].Floats[i], a[3].Ints[i]
			switch {
			case count < 1 || count == math.MaxInt64:
				return execError("width_bucket: the number of buckets %d is not greater than zero", count)
			case !finite(lo) || !finite(hi) || lo == hi:
				return execError("width_bucket: the bounds %v and %v must be finite and different", lo, hi)
			case x != x:
				return execError("width_bucket: NaN lies in no bucket")
			}
			out.Ints = append(out.Ints, widthBucket(x, lo, hi, count))
		}
		return nil
	}, "width_bucket")
}
