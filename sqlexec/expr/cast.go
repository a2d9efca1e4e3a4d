package expr

import (
	"time"

	"varve/engine/convert"
	"varve/engine/status"
	"varve/engine/timefmt"
	"varve/engine/vector"
)

// castFunction is the function of casts, castJSONFunction that of casts of texts to JSON, which reads and writes the
// value.
var (
	castFunction     = &Function{Name: "cast", makesNull: true}
	castJSONFunction = &Function{Name: "cast", makesNull: true}
)

func init() { compacts(castJSONFunction) }

// castKernel converts values; a value that does not convert is an error, or NULL with Try.
func castKernel(c *Cast) (kernel, error) {
	from, to := c.Arg.Type(), c.To
	if from == vector.NullType {
		return func(n int, _ []*vector.Vector, _ vector.Bitmap, out *vector.Vector) error {
			setNull(out, to, n)
			return nil
		}, nil
	}
	one := converter(from, to, c.zone)
	try := c.Try
	byRow := func(n int, args []*vector.Vector, valid vector.Bitmap, out *vector.Vector) error {
		src := args[0]
		for i := range n {
			if valid != nil && !valid.Get(i) {
				out.AppendNulls(i, 1)
				continue
			}
			if !one(src, i, out) {
				if !try {
					return castError(src, i, to)
				}
				out.AppendNulls(i, 1)
				continue
			}
			if out.Valid != nil {
				out.Valid = out.Valid.With(i)
			}
			if err := checkHeap(out, 0); err != nil {
				return err
			}
		}
		return nil
	}
	return castLoop(from, to, byRow), nil
}

// castError is the error of a value that does not convert.
func castError(v *vector.Vector, i int, to vector.Type) error {
	why := status.OutOfRange
	switch {
	case !v.Type.IsText():
	case to.IsTimestamp() || to.ID == vector.TypeDate || to.ID == vector.TypeTime:
		why = status.BadTime
	default:
		why = status.BadText
	}
	err := execError("Cast error: Cannot cast value '%s' of type %s to %s", shown(v, i), v.Type, to)
	return status.Because(err, why)
}

// converter converts one value; with a zone, a text that is a time in that zone. Besides the types of columns it knows
// lists, which convert to text, to JSON and to lists of other elements.
func converter(from, to vector.Type, zone *time.Location) convert.Func {
	if zone != nil {
		return func(v *vector.Vector, i int, out *vector.Vector) bool {
			x, err := convert.ParseTime(v.Str(i), to, zone)
			if err == nil {
				out.Ints = append(out.Ints, x)
			}
			return err == nil
		}
	}
	if from.ID == vector.TypeJSON && to.ID == vector.TypeList {
		return listConverter(to)
	}
	if from.ID != vector.TypeList {
		return convert.Between(from, to)
	}
	if to.ID == vector.TypeList {
		return elementsConverter(from.Elem(), to.Elem())
	}
	return func(v *vector.Vector, i int, out *vector.Vector) bool {
		switch {
		case to.ID == vector.TypeJSON: // what a list is kept as
			out.PushBytes(v.Bytes(i))
			return true
		case !to.IsText():
			return false
		}
		out.PushBytes(AppendText(nil, v, i))
		return true
	}
}

// castable reports whether values of a type convert to another, at least some of them.
func castable(from, to vector.Type) bool {
	switch {
	case from.ID == vector.TypeList && to.ID == vector.TypeList:
		return from == to || castableElements(from.Elem(), to.Elem())
	case from.ID == vector.TypeList:
		return to.IsText() || to.ID == vector.TypeJSON
	case to.ID == vector.TypeList:
		return from.ID == vector.TypeJSON || from == vector.NullType
	}
	return convert.Possible(from, to)
}

// castableElements reports whether a list converts to one of other elements. Texts in lists are no times: those depend
// on a zone. Lists of lists have no other elements.
func castableElements(from, to vector.Type) bool {
	if from.ID == vector.TypeList || to.ID == vector.TypeList {
		return false
	}
	return castable(from, to) && (from.IsNumber() || from == vector.BoolType || to.IsText() || to.IsNumber() ||
		to == vector.BoolType || from.IsTimestamp() && to.IsTimestamp() || from.IsText() && to.ID == vector.TypeJSON)
}

// elementsConverter converts a list element by element. A list with an element that does not convert does not either.
func elementsConverter(from, to vector.Type) convert.Func {
	one := converter(from, to, nil)
	return func(v *vector.Vector, i int, out *vector.Vector) bool {
		in, made := &vector.Vector{}, &vector.Vector{}
		in.Reset(from)
		dst := []byte{'['}
		for k := range AppendElements(in, 0, v.Bytes(i)) {
			if k > 0 {
				dst = append(dst, ',')
			}
			made.Reset(to)
			if in.IsNull(k) {
				made.AppendNulls(0, 1)
			} else if !one(in, k, made) {
				return false
			}
			dst = AppendJSON(dst, made, 0)
		}
		out.PushBytes(append(dst, ']'))
		return true
	}
}

// castLoop is the loop of a conversion of numbers that fails for no value, or for few.
func castLoop(from, to vector.Type, byRow kernel) kernel {
	switch {
	case from.IsInteger() && float(to):
		return func(n int, a []*vector.Vector, _ vector.Bitmap, out *vector.Vector) error {
			out.Floats = vector.Sized(out.Floats, n)
			if from.Kind() == vector.Int64 {
				toFloats(out.Floats, a[0].Ints[:n])
			} else {
				toFloats(out.Floats, a[0].Uints[:n])
			}
			if to.ID == vector.TypeFloat32 {
				for i, x := range out.Floats {
					out.Floats[i] = float64(float32(x))
				}
			}
			return nil
		}
	case from.IsTimestamp() && to.IsTimestamp():
		coarse, fine := from.UnitsPerSecond(), to.UnitsPerSecond()
		return func(n int, a []*vector.Vector, valid vector.Bitmap, out *vector.Vector) error {
			x := a[0].Ints[:n]
			out.Ints = vector.Sized(out.Ints, n)
			if coarse >= fine {
				for i, t := range x {
					out.Ints[i] = timefmt.FloorDiv(t, coarse/fine)
				}
				return nil
			}
			factor := fine / coarse
			var bad int64
			for i, t := range x {
				y := t * factor
				out.Ints[i] = y
				bad |= y/factor ^ t
			}
			if bad == 0 {
				return nil
			}
			out.Ints = out.Ints[:0] // a row, perhaps one without a value, does not fit
			return byRow(n, a, valid, out)
		}
	}
	return byRow
}

func toFloats[T int64 | uint64](out []float64, x []T) {
	x = x[:len(out)]
	for i := range out {
		out[i] = float64(x[i])
	}
}
