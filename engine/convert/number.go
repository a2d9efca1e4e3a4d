package convert

import (
	"math"
	"strconv"
	"strings"

	"varve/engine/vector"
)

// Number is a numeric or boolean value as float64.
func Number(v *vector.Vector, i int) float64 {
	switch v.Type.Kind() {
	case vector.Bool:
		if v.Bool(i) {
			return 1
		}
		return 0
	case vector.Int64:
		return float64(v.Int(i))
	case vector.Uint64:
		return float64(v.Uint(i))
	}
	return v.Float(i)
}

func narrow(f float64, t vector.Type) float64 {
	if t.ID == vector.TypeFloat32 {
		return float64(float32(f))
	}
	return f
}

// IntBounds are the bounds of an integer type.
func IntBounds(t vector.Type) (lo int64, hi uint64) {
	switch t.ID {
	case vector.TypeInt8:
		return math.MinInt8, math.MaxInt8
	case vector.TypeInt16:
		return math.MinInt16, math.MaxInt16
	case vector.TypeInt32:
		return math.MinInt32, math.MaxInt32
	case vector.TypeUint8:
		return 0, math.MaxUint8
	case vector.TypeUint16:
		return 0, math.MaxUint16
	case vector.TypeUint32:
		return 0, math.MaxUint32
	case vector.TypeUint64:
		return 0, math.MaxUint64
	}
	return math.MinInt64, math.MaxInt64
}

func integerConverter(to vector.Type) Func {
	lo, hi := IntBounds(to)
	return func(v *vector.Vector, i int, out *vector.Vector) bool {
		switch v.Type.Kind() {
		case vector.Float64:
			f := math.Trunc(v.Float(i))
			// float64(hi) is one more
			if f != f || f < float64(lo) || f > float64(hi) || hi > 1<<53 && f >= float64(hi) {
				return false
			}
			if f < 0 {
				return appendInteger(out, to, int64(f))
			}
			return appendUnsigned(out, to, uint64(f))
		case vector.Uint64:
			u := v.Uint(i)
			return u <= hi && appendUnsigned(out, to, u)
		case vector.Bool:
			return appendUnsigned(out, to, uint64(Number(v, i)))
		}
		x := v.Int(i)
		if x < lo || x > 0 && uint64(x) > hi {
			return false
		}
		return appendInteger(out, to, x)
	}
}

func parseInteger(s string, to vector.Type, out *vector.Vector) bool {
	s = strings.TrimSpace(s)
	if strings.ContainsAny(s, "_xXoObB") {
		return false
	}
	lo, hi := IntBounds(to)
	if to.Kind() == vector.Uint64 {
		u, err := strconv.ParseUint(strings.TrimPrefix(s, "+"), 10, 64)
		return err == nil && u <= hi && appendUnsigned(out, to, u)
	}
	x, err := strconv.ParseInt(s, 10, 64)
	return err == nil && x >= lo && (x < 0 || uint64(x) <= hi) && appendInteger(out, to, x)
}

func appendInteger(out *vector.Vector, to vector.Type, x int64) bool {
	if to.Kind() == vector.Uint64 {
		out.Uints = append(out.Uints, uint64(x))
	} else {
		out.Ints = append(out.Ints, x)
	}
	return true
}

func appendUnsigned(out *vector.Vector, to vector.Type, u uint64) bool {
	return appendInteger(out, to, int64(u))
}
