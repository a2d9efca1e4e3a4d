package expr

import (
	"math/big"

	"varve/engine/vector"
)

// bindListSum binds array_sum and array_avg: of the elements that are not NULL, NULL where there are none. Integers and decimals
// keep their kind in a sum, everything else is a double.
func bindListSum(name string, mean bool) func(c *Context, args []Expr) ([]Expr, vector.Type, kernel, error) {
	return func(c *Context, args []Expr) ([]Expr, vector.Type, kernel, error) {
		if err := c.isListOf(name, args, Null(f64)); err != nil {
			return nil, f64, nil, err
		}
		elem := args[0].Type().Elem()
		t := f64
		switch {
		case !elem.IsNumber() && elem != vector.NullType:
			return nil, f64, nil, planError("function '%s' takes a list of numbers, found %s", name, args[0].Type())
		case mean:
		case elem.ID == vector.TypeDecimal:
			t = SumOfDecimal(elem)
		case unsigned(elem):
			t = vector.Uint64Type
		case elem.IsInteger():
			t = i64
		}
		return args, t, func(n int, a []*vector.Vector, valid vector.Bitmap, out *vector.Vector) error {
			v := &vector.Vector{}
			for i := range n {
				v.Reset(elem)
				count := 0
				if valid == nil || valid.Get(i) {
					count = AppendElements(v, 0, a[0].Bytes(i))
				}
				ok, err := appendSum(out, v, count, mean)
				if err != nil {
					return err
				}
				if !ok {
					out.AppendNulls(i, 1)
				} else if out.Valid != nil {
					out.Valid = growBit(out.Valid, i)
				}
			}
			return nil
		}, nil
	}
}

// appendSum appends the sum or the mean of n values; ok is false where all are NULL.
func appendSum(out, v *vector.Vector, n int, mean bool) (ok bool, err error) {
	var whole big.Int
	float, some := 0.0, 0
	for k := range n {
		if v.IsNull(k) {
			continue
		}
		some++
		switch v.Type.Kind() {
		case vector.Int64:
			whole.Add(&whole, big.NewInt(v.Ints[k]))
		case vector.Uint64:
			whole.Add(&whole, new(big.Int).SetUint64(v.Uints[k]))
		case vector.Bytes:
			whole.Add(&whole, DecimalInt(v.Bytes(k)))
		default:
			float += v.Floats[k]
		}
	}
	if some == 0 {
		return false, nil
	}
	fits := true
	switch {
	case mean:
		if v.Type.Kind() != vector.Float64 {
			exact := new(big.Rat).SetInt(&whole)
			if v.Type.ID == vector.TypeDecimal {
				exact.Quo(exact, new(big.Rat).SetInt(new(big.Int).Exp(big.NewInt(10), big.NewInt(int64(v.Type.Scale)), nil)))
			}
			float, _ = exact.Float64()
		}
		out.Floats = append(out.Floats, float/float64(some))
	case out.Type.Kind() == vector.Int64:
		fits = whole.IsInt64()
		out.Ints = append(out.Ints, whole.Int64())
	case out.Type.Kind() == vector.Uint64:
		fits = whole.IsUint64()
		out.Uints = append(out.Uints, whole.Uint64())
	case out.Type.ID == vector.TypeDecimal:
		var b []byte
		b, fits = AppendDecimal(nil, &whole)
		pushBytes(out, b)
	default:
		out.Floats = append(out.Floats, float)
	}
	if !fits {
		return false, execError("array_sum: the sum %s does not fit %s", whole.String(), out.Type)
	}
	return true, nil
}

func init() {
	register(&Function{min: 1, max: 1, makesNull: true, bind: bindListSum("array_sum", false)}, "array_sum", "list_sum")
	register(&Function{min: 1, max: 1, makesNull: true, bind: bindListSum("array_avg", true)}, "array_avg", "list_avg")
}
