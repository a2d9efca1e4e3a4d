// Package convert converts values from one type to another, as CAST does. Casts of queries use it, and so do reads of
// parts that are older than an ALTER TABLE of a column's type.
package convert

import (
	"math"
	"math/big"
	"strconv"
	"strings"
	"time"

	"varve/engine/timefmt"
	"varve/engine/vector"
)

// Possible reports whether values of a type convert to another, at least some of them.
func Possible(from, to vector.Type) bool {
	if from == to || from == vector.NullType || to.IsText() && from.ID != vector.TypeList {
		return true
	}
	switch {
	case from.IsText():
		return to.ID != vector.TypeList
	case from.IsNumber() && to.IsNumber(), from.ID == vector.TypeDuration && to == vector.Interval:
		return true
	case from.IsInteger() && (to.IsTimestamp() || to.ID == vector.TypeDate || to.ID == vector.TypeTime ||
		to.ID == vector.TypeDuration):
		return true
	case to.IsInteger() && from.Kind() == vector.Int64:
		return true
	case to.ID == vector.TypeFloat64 && (from.IsTimestamp() || from.ID == vector.TypeDuration):
		return true
	case from.ID == vector.TypeBool && to.IsNumber(), to.ID == vector.TypeBool && from.IsNumber():
		return true
	case (from.IsTimestamp() || from.ID == vector.TypeDate) &&
		(to.IsTimestamp() || to.ID == vector.TypeDate || to.ID == vector.TypeTime):
		return true
	case from.ID == to.ID:
		return from.ID != vector.TypeList
	case bytesLike(from) && bytesLike(to):
		return true
	}
	return ByScalar(from, to)
}

// ByScalar reports whether a cast reads the text of JSON scalars: numbers, booleans and times. null is NULL there.
func ByScalar(from, to vector.Type) bool {
	return from.ID == vector.TypeJSON && Possible(vector.StringType, to) && !bytesLike(to)
}

func bytesLike(t vector.Type) bool {
	return t.ID == vector.TypeString || t.ID == vector.TypeBinary || t.ID == vector.TypeJSON
}

// All makes dst the n rows of v as values of another type; what does not convert is NULL. dst may share memory with v.
func All(dst, v *vector.Vector, to vector.Type, n int) *vector.Vector {
	if Retypes(v.Type, to) {
		return retyped(dst, v, to)
	}
	dst.Reset(to)
	one := Between(v.Type, to)
	for i := range n {
		if v.IsNull(i) || !one(v, i, dst) {
			dst.AppendNulls(i, 1)
			continue
		}
		if dst.Valid != nil {
			dst.Valid = dst.Valid.With(i)
		}
	}
	return dst
}

// One returns a Const vector as another type; nil when it is NULL there or does not convert.
func One(v *vector.Vector, to vector.Type) *vector.Vector {
	out := All(&vector.Vector{}, v, to, 1)
	if out.IsNull(0) {
		return nil
	}
	out.Form = vector.Const
	return out
}

// retyped returns the same values with another type of the same kind.
func retyped(dst, v *vector.Vector, to vector.Type) *vector.Vector {
	*dst = *v
	dst.Type = to
	if v.Form == vector.Dict {
		values := *v.Values
		values.Type = to
		dst.Values = &values
	}
	return dst
}

// Retypes reports whether a cast changes no value's form: integers that widen, counts of a time's unit, JSON as text.
func Retypes(from, to vector.Type) bool {
	switch {
	case from.IsInteger() && to.IsInteger() && from.Kind() == to.Kind():
		lo, hi := IntBounds(from)
		low, high := IntBounds(to)
		return low <= lo && hi <= high
	case from.Kind() == vector.Float64 && to.Kind() == vector.Float64:
		return from == vector.Float32Type || to == vector.FloatType
	case from.IsInteger() && from.Kind() == vector.Int64:
		return to.IsTimestamp() || to.ID == vector.TypeDate && from != vector.Int64Type || to.ID == vector.TypeTime ||
			to.ID == vector.TypeDuration
	case to == vector.Int64Type:
		return from.Kind() == vector.Int64
	case to.IsText():
		return from.ID == vector.TypeJSON
	}
	return to.ID == vector.TypeBinary && from.IsText()
}

// Func appends row i of v, which is not NULL, to out as a value of another type. It gives false, and appends nothing,
// where the value does not convert.
type Func func(v *vector.Vector, i int, out *vector.Vector) bool

// Between returns the conversion from one type to another. If there is none, the conversion converts no value.
func Between(from, to vector.Type) Func {
	switch {
	case to.IsText():
		return func(v *vector.Vector, i int, out *vector.Vector) bool {
			at := len(out.Heap)
			out.Heap = AppendText(out.Heap, v, i)
			out.Views = append(out.Views, vector.View{Off: uint32(at), Len: uint32(len(out.Heap) - at)})
			return true
		}
	case from.IsText():
		return parser(to)
	case ByScalar(from, to):
		return scalarParser(to)
	case to.ID == vector.TypeDecimal || from.ID == vector.TypeDecimal:
		return decimalConverter(from, to)
	case from.ID == vector.TypeDuration && to == vector.Interval:
		unit := from.UnitsPerSecond()
		return func(v *vector.Vector, i int, out *vector.Vector) bool {
			day := 86400 * unit
			days := v.Ints[i] / day
			if days != int64(int32(days)) {
				return false
			}
			out.PushBytes(AppendIntervalBytes(nil, 0, int32(days), v.Ints[i]%day*(1e9/unit)))
			return true
		}
	case to.ID == vector.TypeBool:
		return func(v *vector.Vector, i int, out *vector.Vector) bool {
			out.PushBool(i, Number(v, i) != 0)
			return true
		}
	case to.Kind() == vector.Float64:
		return func(v *vector.Vector, i int, out *vector.Vector) bool {
			out.Floats = append(out.Floats, narrow(Number(v, i), to))
			return true
		}
	case to.IsTimestamp() || to.ID == vector.TypeDate || to.ID == vector.TypeTime || to.ID == vector.TypeDuration:
		return timeConverter(from, to)
	case to.IsInteger():
		return integerConverter(to)
	case bytesLike(from) && to.ID == vector.TypeJSON:
		return appendJSON
	case bytesLike(from) && bytesLike(to):
		return appendBytes
	}
	return func(*vector.Vector, int, *vector.Vector) bool { return false }
}

// parser reads text as a value of a type. Times without a zone are UTC, as casts want it.
func parser(to vector.Type) Func {
	switch {
	case to.IsInteger():
		return func(v *vector.Vector, i int, out *vector.Vector) bool { return parseInteger(v.Str(i), to, out) }
	case to.Kind() == vector.Float64:
		return func(v *vector.Vector, i int, out *vector.Vector) bool {
			f, err := strconv.ParseFloat(strings.TrimSpace(v.Str(i)), 64)
			if err != nil && !math.IsInf(f, 0) || strings.ContainsAny(v.Str(i), "_xX") {
				return false
			}
			out.Floats = append(out.Floats, narrow(f, to))
			return true
		}
	case to.ID == vector.TypeBool:
		return func(v *vector.Vector, i int, out *vector.Vector) bool {
			switch strings.ToLower(strings.TrimSpace(v.Str(i))) {
			case "true", "t", "yes", "y", "on", "1":
				out.PushBool(i, true)
			case "false", "f", "no", "n", "off", "0":
				out.PushBool(i, false)
			default:
				return false
			}
			return true
		}
	case to.ID == vector.TypeInterval:
		return func(v *vector.Vector, i int, out *vector.Vector) bool {
			m, d, ns, err := timefmt.ParseInterval(v.Str(i))
			if err == nil {
				out.PushBytes(AppendIntervalBytes(nil, m, d, ns))
			}
			return err == nil
		}
	case to.ID == vector.TypeDecimal:
		return func(v *vector.Vector, i int, out *vector.Vector) bool {
			text := strings.TrimSpace(v.Str(i))
			if !isDecimal(text) {
				return false
			}
			r, ok := new(big.Rat).SetString(text)
			return ok && PushDecimal(out, r, to)
		}
	case to.ID == vector.TypeTime:
		return func(v *vector.Vector, i int, out *vector.Vector) bool {
			sec, nanos, err := timefmt.ParseTimestamp("1970-01-01 "+strings.TrimSpace(v.Str(i)), time.UTC)
			x, ok := Count(sec, int64(nanos), to.UnitsPerSecond())
			if err == nil && ok {
				out.Ints = append(out.Ints, x)
			}
			return err == nil && ok
		}
	case to.Kind() == vector.Int64:
		return func(v *vector.Vector, i int, out *vector.Vector) bool {
			x, err := ParseTime(v.Str(i), to, time.UTC)
			if err == nil {
				out.Ints = append(out.Ints, x)
			}
			return err == nil
		}
	case to.ID == vector.TypeJSON:
		return appendJSON
	}
	return appendBytes // binary: the bytes of the text
}

// appendJSON reads bytes as JSON text.
func appendJSON(v *vector.Vector, i int, out *vector.Vector) bool {
	b, ok := CompactJSON(v.Bytes(i))
	if ok {
		out.PushBytes(b)
	}
	return ok
}

func appendBytes(v *vector.Vector, i int, out *vector.Vector) bool {
	out.PushBytes(v.Bytes(i))
	return true
}
