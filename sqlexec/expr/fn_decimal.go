package expr

import (
	"math/big"

	"varve/engine/convert"
	"varve/engine/vector"
)

// mostDigits is the precision of the longest decimal.
const mostDigits = 38

// rounded is the type of a decimal of type t that is rounded to digits behind the point: 9.9 may become 10.0. Where no
// more digits fit, those that are 0 afterwards give way.
func rounded(t vector.Type, digits int64) vector.Type {
	to := vector.Type{ID: vector.TypeDecimal, Precision: min(t.Precision+1, mostDigits), Scale: t.Scale}
	if t.Precision == mostDigits {
		to.Scale = uint8(min(int64(t.Scale), max(digits, 0)))
	}
	return to
}

// roundDecimal makes x a multiple of unit: round half away from zero, ceil up, floor down, trunc toward zero.
func roundDecimal(x, unit *big.Int, how string) {
	rest := new(big.Int)
	x.QuoRem(x, unit, rest)
	away := int64(rest.Sign())
	switch how {
	case "round":
		if rest.Abs(rest).Lsh(rest, 1).Cmp(unit) < 0 {
			away = 0
		}
	case "ceil":
		away = max(away, 0)
	case "floor":
		away = min(away, 0)
	default:
		away = 0
	}
	x.Add(x, big.NewInt(away)).Mul(x, unit)
}

// bindRounding binds round, ceil, floor and trunc of a decimal, to a number of digits after the point if one is given.
func bindRounding(c *Context, how string, args []Expr) ([]Expr, vector.Type, kernel, error) {
	t := args[0].Type()
	if len(args) > 1 {
		digits, err := c.Cast(args[1], i64, false)
		if err != nil {
			return nil, t, nil, err
		}
		args = []Expr{args[0], digits}
	}
	kept := int64(0)
	if len(args) > 1 {
		kept = mostDigits
		if k, ok := args[1].(*Const); ok && !k.Value.IsNull(0) {
			kept = k.Value.Int(0)
		}
	}
	to := rounded(t, kept)
	return args, to, func(n int, a []*vector.Vector, valid vector.Bitmap, out *vector.Vector) error {
		for i := range n {
			if valid != nil && !valid.Get(i) {
				out.AppendNulls(i, 1)
				continue
			}
			digits := int64(0)
			if len(a) > 1 {
				digits = min(max(a[1].Ints[i], -38), 38)
			}
			x := convert.DecimalInt(a[0].Bytes(i))
			if cut := int64(t.Scale) - digits; cut > 0 {
				roundDecimal(x, powerOfTen(cut), how)
			}
			x.Quo(x, powerOfTen(int64(t.Scale-to.Scale))) // these digits are 0
			b, ok := convert.AppendDecimal(nil, x)
			if !ok {
				return execError("Decimal overflow in %s", how)
			}
			out.PushBytes(b)
			if out.Valid != nil {
				out.Valid = out.Valid.With(i)
			}
		}
		return nil
	}, nil
}

func powerOfTen(n int64) *big.Int { return new(big.Int).Exp(big.NewInt(10), big.NewInt(n), nil) }

// meanOfDecimal is the type of an average of decimals of type t: four more digits after the point.
func meanOfDecimal(t vector.Type) vector.Type {
	return vector.Type{ID: vector.TypeDecimal, Precision: min(t.Precision+4, 38), Scale: min(t.Scale+4, 38)}
}

// decimalMeans averages decimals.
type decimalMeans struct {
	sums   decimalSums
	counts counts
	t      vector.Type
}

func (m *decimalMeans) Grow(n int) {
	m.sums.Grow(n)
	m.counts.Grow(n)
}

func (m *decimalMeans) Bytes() int64 { return m.sums.Bytes() + m.counts.Bytes() }

func (m *decimalMeans) Add(n int, groups []uint32, args []*vector.Vector, keep vector.Bitmap) error {
	m.counts.args = 1
	if err := m.counts.Add(n, groups, args, keep); err != nil {
		return err
	}
	return m.sums.Add(n, groups, args, keep)
}

func (m *decimalMeans) Merge(o Accumulator, from, to []uint32) error {
	other := o.(*decimalMeans)
	if err := m.counts.Merge(&other.counts, from, to); err != nil {
		return err
	}
	return m.sums.Merge(&other.sums, from, to)
}

func (m *decimalMeans) Result(n int) (*vector.Vector, error) {
	m.Grow(n)
	v := &vector.Vector{Type: m.t, Valid: validOf(m.sums.some[:n])}
	unit := powerOfTen(int64(m.sums.t.Scale))
	for g, x := range m.sums.sum[:n] {
		r := new(big.Rat)
		if m.counts.n[g] > 0 {
			b, ok := x.Append(nil)
			if !ok {
				return nil, m.sums.check(false)
			}
			r.SetFrac(convert.DecimalInt(b), new(big.Int).Mul(unit, big.NewInt(m.counts.n[g])))
		}
		if !convert.PushDecimal(v, r, m.t) {
			return nil, execError("Decimal overflow in avg")
		}
	}
	return v, nil
}
