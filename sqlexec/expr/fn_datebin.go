package expr

import (
	"math/big"

	"varve/engine/timefmt"
	"varve/engine/vector"
)

// bindDateBin floors timestamps to buckets of a fixed length, or of months.
func bindDateBin(c *Context, args []Expr) ([]Expr, vector.Type, kernel, error) {
	months, days, ns, err := c.intervalArg("date_bin", args[0])
	if err != nil {
		return nil, vector.Type{}, nil, err
	}
	ts, err := c.instantArg("date_bin", args[1])
	if err != nil {
		return nil, vector.Type{}, nil, err
	}
	t := ts.Type()
	origin := Expr(&Const{Value: vector.ConstInt(t, 0)})
	if len(args) == 3 {
		if origin, err = c.timeArg("date_bin", args[2]); err != nil {
			return nil, t, nil, err
		}
		if origin, err = c.Cast(origin, t, false); err != nil {
			return nil, t, nil, err
		}
	}
	unit := t.UnitsPerSecond()
	if months != 0 {
		if days != 0 || ns != 0 || months < 0 {
			return nil, t, nil, planError("date_bin: an interval of months cannot have days or times")
		}
		return []Expr{ts, origin}, t, func(n int, v []*vector.Vector, valid vector.Bitmap, out *vector.Vector) error {
			for i := range n {
				b, ok := binMonths(v[0].Ints[i], v[1].Ints[i], int64(months), unit)
				if !ok && (valid == nil || valid.Get(i)) {
					return execError("date_bin: the begin of a bucket does not fit %s", t)
				}
				out.Ints = append(out.Ints, b)
			}
			return nil
		}, nil
	}
	length := new(big.Int).Mul(big.NewInt(int64(days)), big.NewInt(86400e9))
	length.Add(length, big.NewInt(ns))
	if length.Sign() <= 0 {
		return nil, t, nil, planError("date_bin needs an interval greater than zero")
	}
	whole, part := new(big.Int).QuoRem(length, big.NewInt(1e9/unit), new(big.Int))
	if !whole.IsInt64() {
		return nil, t, nil, planError("date_bin: the interval is longer than the times of %s", t)
	}
	step := max(whole.Int64(), 1)
	if part.Sign() != 0 && whole.Sign() > 0 {
		return []Expr{ts, origin}, t, binFractions(length, 1e9/unit), nil
	}
	if k, ok := origin.(*Const); ok && !k.Value.IsNull(0) {
		return []Expr{ts}, t, binsOf(step, k.Value.Ints[0]).kernel, nil
	}
	return []Expr{ts, origin}, t, func(n int, v []*vector.Vector, _ vector.Bitmap, out *vector.Vector) error {
		out.Ints = vector.Sized(out.Ints, n)
		x, o := v[0].Ints[:n], v[1].Ints[:n]
		for i := range x {
			out.Ints[i] = binsOf(step, o[i]).floor(x[i])
		}
		return nil
	}, nil
}

// binFractions floors to buckets whose length is no whole number of units: a bucket begins at the unit that its begin
// lies in. perUnit is the number of nanoseconds in a unit.
func binFractions(length *big.Int, perUnit int64) kernel {
	return func(n int, v []*vector.Vector, valid vector.Bitmap, out *vector.Vector) error {
		ns := big.NewInt(perUnit)
		at, rest := new(big.Int), new(big.Int)
		for i := range n {
			x, origin := v[0].Ints[i], v[1].Ints[i]
			if valid != nil && !valid.Get(i) {
				x, origin = 0, 0
			}
			at.Sub(at.SetInt64(x), rest.SetInt64(origin))
			at.Mul(at, ns)
			at.DivMod(at, length, rest) // floors, for length > 0
			at.Mul(at, length)
			at.DivMod(at, ns, rest)
			out.Ints = append(out.Ints, at.Add(at, rest.SetInt64(origin)).Int64())
		}
		return nil
	}
}

// binMonths is the begin of the bucket of so many months that x lies in; false: it does not fit.
func binMonths(x, origin, months, unit int64) (int64, bool) {
	day := 86400 * unit
	y1, m1, _ := timefmt.Civil(timefmt.FloorDiv(origin, day))
	y2, m2, _ := timefmt.Civil(timefmt.FloorDiv(x, day))
	k := timefmt.FloorDiv(int64((y2-y1)*12+m2-m1), months) * months
	t := vector.Timestamp(0)
	for t.UnitsPerSecond() < unit {
		t.Precision += 3
	}
	for {
		b, ok := shift(origin, t, k, 0, 0)
		if !ok || b <= x {
			return b, ok
		}
		k -= months
	}
}

// bindDateTrunc floors to calendar units, weeks beginning on Monday.
func bindDateTrunc(c *Context, args []Expr) ([]Expr, vector.Type, kernel, error) {
	k, ok := args[0].(*Const)
	if !ok || !k.Value.Type.IsText() || k.Value.IsNull(0) {
		return nil, vector.Type{}, nil, planError("date_trunc needs a constant unit")
	}
	ts, err := c.instantArg("date_trunc", args[1])
	if err != nil {
		return nil, vector.Type{}, nil, err
	}
	t := ts.Type()
	unit := t.UnitsPerSecond()
	name := partName(k.Value.Str(0))
	fixed := map[string]int64{"microsecond": 1e3, "millisecond": 1e6, "second": 1e9, "minute": 60e9, "hour": 3600e9,
		"day": 86400e9, "week": 7 * 86400e9}
	if step, ok := fixed[name]; ok {
		step = max(step/(1e9/unit), 1)
		shift := int64(0)
		if name == "week" {
			shift = 4 * 86400 * unit // 1970-01-05 was a Monday
		}
		return []Expr{ts}, t, binsOf(step, shift).kernel, nil
	}
	begin := int64(0)
	if name == "century" || name == "millennium" {
		begin = timefmt.Days(2001, 1, 1) * 86400 * unit // the first of either begins with year 1
	}
	months := map[string]int64{"month": 1, "quarter": 3, "year": 12, "decade": 120, "century": 1200,
		"millennium": 12000}[name]
	if months == 0 {
		return nil, t, nil, planError("date_trunc: unknown unit '%s'", k.Value.Str(0))
	}
	return []Expr{ts}, t, func(n int, v []*vector.Vector, valid vector.Bitmap, out *vector.Vector) error {
		for i, x := range v[0].Ints[:n] {
			b, ok := binMonths(x, begin, months, unit)
			if !ok && (valid == nil || valid.Get(i)) {
				return execError("date_trunc: the begin of the %s does not fit %s", name, t)
			}
			out.Ints = append(out.Ints, b)
		}
		return nil
	}, nil
}
