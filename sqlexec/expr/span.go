package expr

import (
	"math"
	"math/big"

	"varve/engine/convert"
	"varve/engine/vector"
)

// span is an interval whose parts may be of any size: a sum of intervals, or a multiplied interval.
type span struct{ months, days, ns Int128 }

func wide(x int64) Int128 { return Int128{x >> 63, uint64(x)} }

func (x Int128) big() *big.Int {
	n := new(big.Int).Lsh(big.NewInt(x.Hi), 64)
	return n.Add(n, new(big.Int).SetUint64(x.Lo))
}

// add adds an interval's parts. So many that 128 bits overflow are never added.
func (s *span) add(o span) {
	s.months, _ = s.months.Add(o.months)
	s.days, _ = s.days.Add(o.days)
	s.ns, _ = s.ns.Add(o.ns)
}

// times returns the span multiplied by a fraction: what is left of a month becomes days of a 30-day month, what is left
// of a day becomes time, and that is rounded to nanoseconds. ok is false where a part does not fit.
func (s *span) times(f *big.Rat) (months, days int32, ns int64, ok bool) {
	m, rest := wholePart(new(big.Rat).Mul(new(big.Rat).SetInt(s.months.big()), f))
	carried, rest := wholePart(rest.Mul(rest, big.NewRat(30, 1)))
	d, more := wholePart(new(big.Rat).Mul(new(big.Rat).SetInt(s.days.big()), f))
	d.Add(d, carried)
	rest.Add(rest, more)
	more.Mul(new(big.Rat).SetInt(s.ns.big()), f)
	t := roundRat(more.Add(more, rest.Mul(rest, big.NewRat(86400e9, 1))))
	if !m.IsInt64() || !d.IsInt64() || !t.IsInt64() || m.Int64() != int64(int32(m.Int64())) ||
		d.Int64() != int64(int32(d.Int64())) {
		return 0, 0, 0, false
	}
	return int32(m.Int64()), int32(d.Int64()), t.Int64(), true
}

// wholePart cuts a fraction toward zero and gives the rest.
func wholePart(r *big.Rat) (*big.Int, *big.Rat) {
	q := new(big.Int).Quo(r.Num(), r.Denom())
	return q, new(big.Rat).Sub(r, new(big.Rat).SetInt(q))
}

// roundRat rounds half away from zero.
func roundRat(r *big.Rat) *big.Int {
	q, rest := new(big.Int).QuoRem(r.Num(), r.Denom(), new(big.Int))
	if rest.Abs(rest).Lsh(rest, 1).Cmp(r.Denom()) >= 0 {
		q.Add(q, big.NewInt(int64(r.Sign())))
	}
	return q
}

// factor is a number as a fraction; nil for NaN and infinities.
func factor(v *vector.Vector, i int) *big.Rat {
	switch v.Type.Kind() {
	case vector.Int64:
		return new(big.Rat).SetInt64(v.Int(i))
	case vector.Float64:
		return new(big.Rat).SetFloat64(v.Float(i))
	}
	return rat(v.Bytes(i), v.Type.Scale)
}

// bindScale binds span * number, number * span and span / number, where a span is an interval or a duration; ok is
// false for other operands.
func (c *Context) bindScale(op string, args []Expr) (out []Expr, t vector.Type, k kernel, ok bool, err error) {
	isSpan := func(t vector.Type) bool { return t == vector.Interval || t.ID == vector.TypeDuration }
	if op == "*" && isSpan(args[1].Type()) {
		args = []Expr{args[1], args[0]}
	}
	from, by := args[0].Type(), args[1].Type()
	if op != "*" && op != "/" || !isSpan(from) || !by.IsNumber() && by != vector.NullType {
		return nil, t, nil, false, nil
	}
	number := args[1]
	if by.ID != vector.TypeDecimal {
		to := f64
		if by.IsInteger() && by != vector.Uint64Type {
			to = i64
		}
		if number, err = c.Cast(number, to, false); err != nil {
			return nil, t, nil, false, err
		}
	}
	return []Expr{args[0], number}, from, scaleKernel(op == "/"), true, nil
}

// scaleKernel multiplies or divides spans by numbers.
func scaleKernel(divide bool) kernel {
	return func(n int, a []*vector.Vector, valid vector.Bitmap, out *vector.Vector) error {
		for i := range n {
			if valid != nil && !valid.Get(i) {
				out.AppendNulls(i, 1)
				continue
			}
			f := factor(a[1], i)
			switch {
			case f == nil:
				return execError("Cannot compute %s of an interval and %s",
					map[bool]string{true: "/", false: "*"}[divide], AppendText(nil, a[1], i))
			case divide && f.Sign() == 0:
				return divisionByZero()
			case divide:
				f.Inv(f)
			}
			if !appendScaled(out, a[0], i, f) {
				return execError("interval overflow in multiplying '%s'", AppendText(nil, a[0], i))
			}
			if out.Valid != nil {
				out.Valid = out.Valid.With(i)
			}
		}
		return nil
	}
}

// appendScaled appends row i of v times f; durations are rounded to their unit.
func appendScaled(out, v *vector.Vector, i int, f *big.Rat) bool {
	if v.Type == vector.Interval {
		m, d, ns := convert.Interval(v.Bytes(i))
		m, d, ns, ok := (&span{wide(int64(m)), wide(int64(d)), wide(ns)}).times(f)
		if ok {
			out.PushBytes(convert.AppendIntervalBytes(nil, m, d, ns))
		}
		return ok
	}
	units := roundRat(f.Mul(f, new(big.Rat).SetInt64(v.Ints[i])))
	if units.IsInt64() {
		out.Ints = append(out.Ints, units.Int64())
	}
	return units.IsInt64()
}

// durationSums is the kernel of duration + duration and duration - duration.
func durationSums(sign int64) kernel {
	return func(n int, a []*vector.Vector, valid vector.Bitmap, out *vector.Vector) error {
		for i := range n {
			x, y := a[0].Ints[i], a[1].Ints[i]
			sum, ok := addTo(x, sign*y)
			if (!ok || y == math.MinInt64) && (valid == nil || valid.Get(i)) {
				return execError("duration overflow in adding %d and %d", x, y)
			}
			out.Ints = append(out.Ints, sum)
		}
		return nil
	}
}
