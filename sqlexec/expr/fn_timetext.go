package expr

import (
	"math"
	"time"

	"varve/engine/convert"
	"varve/engine/timefmt"
	"varve/engine/vector"
)

// bindDateFormat prints times by a strftime format in the zone of the request, for the function name.
func (c *Context) bindDateFormat(name string, args []Expr) ([]Expr, vector.Type, kernel, error) {
	ts, err := c.timeArg(name, args[0])
	if err != nil {
		return nil, vector.Type{}, nil, err
	}
	if ts.Type().ID == vector.TypeDate {
		if ts, err = c.Cast(ts, vector.Timestamp(0), false); err != nil {
			return nil, vector.Type{}, nil, err
		}
	}
	unit := ts.Type().UnitsPerSecond()
	k, ok := args[1].(*Const)
	if !ok || !k.Value.Type.IsText() || k.Value.IsNull(0) {
		return nil, vector.Type{}, nil, planError("%s needs a constant format", name)
	}
	layout, err := timefmt.Compile(k.Value.Str(0))
	if err != nil {
		return nil, vector.Type{}, nil, planError("%s: %v", name, err)
	}
	zone := c.zone()
	return []Expr{ts}, vector.StringType, func(n int, v []*vector.Vector, _ vector.Bitmap, out *vector.Vector) error {
		for _, x := range v[0].Ints[:n] {
			at := len(out.Heap)
			sec := timefmt.FloorDiv(x, unit)
			out.Heap = layout.AppendSeconds(out.Heap, sec, int32((x-sec*unit)*(1e9/unit)), zone)
			out.Views = append(out.Views, vector.View{Off: uint32(at), Len: uint32(len(out.Heap) - at)})
		}
		return nil
	}, nil
}

// bindToUnix returns seconds since the epoch; unreadable text is NULL, integers are seconds.
func bindToUnix(c *Context, args []Expr) ([]Expr, vector.Type, kernel, error) {
	t := args[0].Type()
	unit := t.UnitsPerSecond()
	switch {
	case t.IsTimestamp():
	case t.ID == vector.TypeDate:
		return args, vector.Int64Type, func(n int, v []*vector.Vector, _ vector.Bitmap, out *vector.Vector) error {
			for _, x := range v[0].Ints[:n] {
				out.Ints = append(out.Ints, x*86400)
			}
			return nil
		}, nil
	case t.IsInteger():
		unit = 1
	case t.IsText() || t == vector.NullType:
		zone := c.zone()
		args, err := c.castAll(args, vector.StringType)
		return args, vector.Int64Type, func(n int, v []*vector.Vector, _ vector.Bitmap, out *vector.Vector) error {
			for i := range n {
				sec, _, err := timefmt.ParseTimestamp(v[0].Str(i), zone)
				if err != nil {
					out.AppendNulls(i, 1)
					continue
				}
				out.Ints = append(out.Ints, sec)
				if out.Valid != nil {
					out.Valid = out.Valid.With(i)
				}
			}
			return nil
		}, err
	default:
		return nil, t, nil, planError("to_unixtime of %s", t)
	}
	args, err := c.castAll(args, map[bool]vector.Type{true: t, false: vector.Int64Type}[t.IsTimestamp()])
	return args, vector.Int64Type, func(n int, v []*vector.Vector, _ vector.Bitmap, out *vector.Vector) error {
		for _, x := range v[0].Ints[:n] {
			out.Ints = append(out.Ints, timefmt.FloorDiv(x, unit))
		}
		return nil
	}, err
}

// bindToTimestamp converts integers (seconds for to_timestamp, else the named unit), floats, text with formats.
func bindToTimestamp(name string, precision uint8) func(*Context, []Expr) ([]Expr, vector.Type, kernel, error) {
	t := vector.Timestamp(precision)
	return func(c *Context, args []Expr) ([]Expr, vector.Type, kernel, error) {
		from := args[0].Type()
		copyInts := func(n int, v []*vector.Vector, _ vector.Bitmap, out *vector.Vector) error {
			out.Ints = append(out.Ints, v[0].Ints[:n]...)
			return nil
		}
		switch {
		case from.IsInteger() && name == "to_timestamp":
			e, err := c.Cast(args[0], vector.Int64Type, false)
			return []Expr{e}, t, func(n int, v []*vector.Vector, valid vector.Bitmap, out *vector.Vector) error {
				for i, x := range v[0].Ints[:n] {
					if (valid == nil || valid.Get(i)) &&
						(x > math.MaxInt64/1000000000 || x < math.MinInt64/1000000000) {
						return execError("to_timestamp: %d seconds do not fit nanoseconds", x)
					}
					out.Ints = append(out.Ints, x*1e9)
				}
				return nil
			}, err
		case from.Kind() == vector.Float64 && name == "to_timestamp":
			e, err := c.Cast(args[0], vector.FloatType, false)
			return []Expr{e}, t, func(n int, v []*vector.Vector, valid vector.Bitmap, out *vector.Vector) error {
				for i, x := range v[0].Floats[:n] {
					ns := x * 1e9
					if !(ns >= math.MinInt64 && ns < math.MaxInt64) { // NaN as well
						if valid == nil || valid.Get(i) {
							return execError("to_timestamp: %v seconds do not fit nanoseconds", x)
						}
						ns = 0
					}
					out.Ints = append(out.Ints, int64(ns))
				}
				return nil
			}, err
		case len(args) > 1 && from.IsText():
			return c.bindFormats(name, args, t)
		}
		e, err := c.Cast(args[0], t, false)
		return []Expr{e}, t, copyInts, err
	}
}

func (c *Context) bindFormats(name string, args []Expr, t vector.Type) ([]Expr, vector.Type, kernel, error) {
	var layouts []*timefmt.Layout
	for _, a := range args[1:] {
		k, ok := a.(*Const)
		if !ok || !k.Value.Type.IsText() || k.Value.IsNull(0) {
			return nil, t, nil, planError("%s needs constant formats", name)
		}
		l, err := timefmt.Compile(k.Value.Str(0))
		if err != nil {
			return nil, t, nil, planError("%s: %v", name, err)
		}
		if name == "strptime" {
			l = l.Decimals()
		}
		layouts = append(layouts, l)
	}
	return args[:1], t, func(n int, v []*vector.Vector, valid vector.Bitmap, out *vector.Vector) error {
	rows:
		for i := range n {
			if valid != nil && !valid.Get(i) {
				out.Ints = append(out.Ints, 0)
				continue
			}
			for _, l := range layouts {
				if ns, _, err := l.Parse(v[0].Str(i), time.UTC); err == nil {
					x, _ := convert.Scale(ns, 1e9, t.UnitsPerSecond()) // to coarser units: no overflow
					out.Ints = append(out.Ints, x)
					continue rows
				}
			}
			return execError("%s: cannot read '%s'", name, v[0].Str(i))
		}
		return nil
	}, nil
}
