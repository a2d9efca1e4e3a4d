package expr

import (
	"math/big"

	"varve/engine/convert"
	"varve/engine/vector"
)

// bindListSum binds array_sum and array_avg: of the elements that are not NULL, NULL where there are none. Integers and
// decimals keep their kind in a sum, everything else is a double.
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
			t = sumOfDecimal(elem)
		case unsigned(elem):
			t = vector.Uint64Type
		case elem.IsInteger():
			t = i64
		}
		return args, t, func(n int, a []*vector.Vector, valid vector.Bitmap, out *vector.Vector) error {
			v := &vector.Vector{}
			for i := range n {
				var s listSum
				if valid == nil || valid.Get(i) {
					for _, m := range listItems(a[0].Bytes(i)) {
						if v.Reset(elem); appendFromJSON(v, elem, 0, m) {
							s.add(v)
						}
					}
				}
				ok, err := s.append(out, elem, mean)
				if err != nil {
					return err
				}
				if !ok {
					out.AppendNulls(i, 1)
				} else if out.Valid != nil {
					out.Valid = out.Valid.With(i)
				}
			}
			return nil
		}, nil
	}
}

// listSum is the sum of count values of one type.
type listSum struct {
	whole, one big.Int
	float      float64
	count      int
}

// add adds the first value of a vector.
func (s *listSum) add(v *vector.Vector) {
	s.count++
	switch v.Type.Kind() {
	case vector.Int64:
		s.whole.Add(&s.whole, s.one.SetInt64(v.Ints[0]))
	case vector.Uint64:
		s.whole.Add(&s.whole, s.one.SetUint64(v.Uints[0]))
	case vector.Bytes:
		s.whole.Add(&s.whole, convert.DecimalInt(v.Bytes(0)))
	default:
		s.float += v.Floats[0]
	}
}

// append appends the sum of values of a type, or their mean; ok is false if there is none.
func (s *listSum) append(out *vector.Vector, elem vector.Type, mean bool) (ok bool, err error) {
	if s.count == 0 {
		return false, nil
	}
	fits := true
	switch {
	case mean:
		if elem.Kind() != vector.Float64 {
			exact := new(big.Rat).SetInt(&s.whole)
			if elem.ID == vector.TypeDecimal {
				exact.Quo(exact, new(big.Rat).SetInt(powerOfTen(int64(elem.Scale))))
			}
			s.float, _ = exact.Float64()
		}
		out.Floats = append(out.Floats, s.float/float64(s.count))
	case out.Type.Kind() == vector.Int64:
		fits = s.whole.IsInt64()
		out.Ints = append(out.Ints, s.whole.Int64())
	case out.Type.Kind() == vector.Uint64:
		fits = s.whole.IsUint64()
		out.Uints = append(out.Uints, s.whole.Uint64())
	case out.Type.ID == vector.TypeDecimal:
		var b []byte
		b, fits = convert.AppendDecimal(nil, &s.whole)
		out.PushBytes(b)
	default:
		out.Floats = append(out.Floats, s.float)
	}
	if !fits {
		return false, execError("array_sum: the sum %s does not fit %s", s.whole.String(), out.Type)
	}
	return true, nil
}

func init() {
	register(&Function{min: 1, max: 1, makesNull: true, bind: bindListSum("array_sum", false)}, "array_sum", "list_sum")
	register(&Function{min: 1, max: 1, makesNull: true, bind: bindListSum("array_avg", true)}, "array_avg", "list_avg")
}
