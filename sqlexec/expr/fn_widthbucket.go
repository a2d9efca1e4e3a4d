package expr

import (
	"math"

	"varve/engine/convert"
	"varve/engine/vector"
)

// widthBucket is the number of the bucket that x lies in among count of equal width from lo up to hi, or down to it: 0
// before the first, count + 1 behind the last.
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

// bindWidthBucket binds width_bucket(x, low, high, n), and width_bucket(x, thresholds), which is the number of
// thresholds up to x.
func bindWidthBucket(c *Context, args []Expr) ([]Expr, vector.Type, kernel, error) {
	switch len(args) {
	case 2:
		return bindThresholds(c, args)
	case 4:
		return equalBuckets(c, args)
	}
	return nil, i64, nil, planError("function 'width_bucket' takes 2 or 4 arguments, found %d", len(args))
}

func bindThresholds(c *Context, args []Expr) ([]Expr, vector.Type, kernel, error) {
	if err := c.isListOf("width_bucket", args[1:], args[0]); err != nil {
		return nil, i64, nil, err
	}
	elem := args[1].Type().Elem()
	if !args[0].Type().IsNumber() && args[0].Type() != vector.NullType || !elem.IsNumber() ||
		elem.ID == vector.TypeDecimal {
		return nil, i64, nil, planError("function 'width_bucket' takes a number and a list of numbers, found %s and %s",
			args[0].Type(), args[1].Type())
	}
	x, err := c.Cast(args[0], f64, false)
	return []Expr{x, args[1]}, i64, mapInt(func(a []*vector.Vector, i int) int64 {
		v, at := &vector.Vector{}, int64(0)
		for _, m := range listItems(a[1].Bytes(i)) {
			if v.Reset(elem); appendFromJSON(v, elem, 0, m) && convert.Number(v, 0) <= a[0].Floats[i] {
				at++
			}
		}
		return at
	}), err
}

var equalBuckets = simpleBind(sig{f64, f64, f64, i64}, i64, "width_bucket",
	func(n int, a []*vector.Vector, valid vector.Bitmap, out *vector.Vector) error {
		finite := func(x float64) bool { return x-x == 0 }
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
	})

func init() {
	register(&Function{min: 2, max: 4, makesNull: true, bind: bindWidthBucket}, "width_bucket")
}
