package expr

import (
	"strings"
	"time"

	"varve/engine/convert"
	"varve/engine/timefmt"
	"varve/engine/vector"
)

// bindDateDiff binds date_diff(unit, a, b): the number of begins of a unit after a up to b, negative when b is before
// a. The form datediff(a, b) counts days from b to a.
func bindDateDiff(c *Context, args []Expr) ([]Expr, vector.Type, kernel, error) {
	if len(args) == 2 {
		args = []Expr{Text("day"), args[1], args[0]}
	}
	k, ok := args[0].(*Const)
	if !ok || !k.Value.Type.IsText() || k.Value.IsNull(0) {
		return nil, i64, nil, planError("date_diff needs a constant unit")
	}
	a, err := c.timeArg("date_diff", args[1])
	if err != nil {
		return nil, i64, nil, err
	}
	b, err := c.timeArg("date_diff", args[2])
	if err != nil {
		return nil, i64, nil, err
	}
	units := [2]vector.Type{a.Type(), b.Type()}
	unit := partName(k.Value.Str(0))
	between := dateDiffs[unit]
	if between == nil {
		return nil, i64, nil, planError("date_diff: unknown unit '%s'", k.Value.Str(0))
	}
	return []Expr{a, b}, i64, func(n int, v []*vector.Vector, valid vector.Bitmap, out *vector.Vector) error {
		for i := range n {
			d, ok := between(instantOf(v[0].Ints[i], units[0]), instantOf(v[1].Ints[i], units[1]))
			if !ok && (valid == nil || valid.Get(i)) {
				return execError("date_diff: the number of %ss does not fit BIGINT", unit)
			}
			out.Ints = append(out.Ints, d)
		}
		return nil
	}, nil
}

// instant is a time as seconds, rounded down, and nanoseconds.
type instant struct{ sec, ns int64 }

// instantOf reads a count of a timestamp or date type.
func instantOf(x int64, t vector.Type) instant {
	if t.ID == vector.TypeDate {
		return instant{sec: x * 86400}
	}
	unit := t.UnitsPerSecond()
	sec := timefmt.FloorDiv(x, unit)
	return instant{sec, (x - sec*unit) * (1e9 / unit)}
}

func (t instant) day() int64       { return timefmt.FloorDiv(t.sec, 86400) }
func (t instant) civil() time.Time { return time.Unix(t.sec, t.ns).UTC() }

// dateDiffs count the begins of a unit between two times; ok is false where the number does not fit.
var dateDiffs = func() map[string]func(a, b instant) (n int64, ok bool) {
	diffs := map[string]func(a, b instant) (int64, bool){}
	counted := func(name string, of func(t instant) int64) {
		diffs[name] = func(a, b instant) (int64, bool) { return of(b) - of(a), true }
	}
	for _, name := range []string{"millennium", "century", "decade", "year", "isoyear"} {
		counted(name, func(t instant) int64 { return dateParts[name](t.civil()) })
	}
	counted("quarter", func(t instant) int64 { at := t.civil(); return int64(at.Year())*4 + int64(at.Month()-1)/3 })
	counted("month", func(t instant) int64 { at := t.civil(); return int64(at.Year())*12 + int64(at.Month()) })
	counted("week", func(t instant) int64 { return timefmt.FloorDiv(t.day()+3, 7) }) // 1970-01-01 was a Thursday
	counted("day", instant.day)
	counted("hour", func(t instant) int64 { return timefmt.FloorDiv(t.sec, 3600) })
	counted("minute", func(t instant) int64 { return timefmt.FloorDiv(t.sec, 60) })
	for name, per := range map[string]int64{"second": 1, "millisecond": 1e3, "microsecond": 1e6, "nanosecond": 1e9} {
		diffs[name] = func(a, b instant) (int64, bool) {
			whole, ok := convert.Scale(b.sec-a.sec, 1, per)
			if !ok {
				return 0, false
			}
			return addTo(whole, b.ns/(1e9/per)-a.ns/(1e9/per))
		}
	}
	return diffs
}()

// bindAge binds age(later, earlier) and age(earlier), which counts up to the begin of this day: an interval of years,
// months, days and time as a calendar counts them.
func bindAge(c *Context, args []Expr) ([]Expr, vector.Type, kernel, error) {
	if len(args) == 1 {
		today, _ := convert.Time(c.Now.UnixNano(), vector.Timestamp(9), vector.DateType) // the clock's time fits
		args = []Expr{&Const{Value: vector.ConstInt(vector.DateType, today)}, args[0]}
	}
	out := make([]Expr, 2)
	var err error
	for i := range out {
		if out[i], err = c.timeArg("age", args[i]); err != nil {
			return nil, vector.Interval, nil, err
		}
	}
	a, b := out[0].Type(), out[1].Type()
	return out, vector.Interval, func(n int, v []*vector.Vector, valid vector.Bitmap, res *vector.Vector) error {
		for i := range n {
			var months, days int32
			var ns int64
			if valid == nil || valid.Get(i) {
				months, days, ns = age(instantOf(v[0].Ints[i], a), instantOf(v[1].Ints[i], b))
			}
			res.PushBytes(convert.AppendIntervalBytes(nil, months, days, ns))
		}
		return nil
	}, nil
}

// age is the time from b to a. A day that is borrowed is one of the earlier time's month.
func age(a, b instant) (months, days int32, ns int64) {
	sign := int32(1)
	if a.sec < b.sec || a.sec == b.sec && a.ns < b.ns {
		a, b, sign = b, a, -1
	}
	y1, m1, d1 := timefmt.Civil(a.day())
	y2, m2, d2 := timefmt.Civil(b.day())
	month, day := (y1-y2)*12+m1-m2, d1-d2
	ns = ((a.sec-a.day()*86400)-(b.sec-b.day()*86400))*1e9 + a.ns - b.ns
	if ns < 0 {
		ns += 86400e9
		day--
	}
	if day < 0 {
		day += timefmt.DaysInMonth(y2, m2)
		month--
	}
	return sign * int32(month), sign * int32(day), int64(sign) * ns
}

// bindTimeBucket binds time_bucket(interval, time [, origin or offset]): date_bin with buckets that are counted from
// the Monday 2000-01-03, those of months from 2000-01-01.
func bindTimeBucket(c *Context, args []Expr) ([]Expr, vector.Type, kernel, error) {
	months, _, _, err := c.intervalArg("time_bucket", args[0])
	if err != nil {
		return nil, vector.Type{}, nil, err
	}
	first := timefmt.Days(2000, 1, 3)
	if months != 0 {
		first = timefmt.Days(2000, 1, 1)
	}
	ts, err := c.timeArg("time_bucket", args[1])
	if err != nil {
		return nil, vector.Type{}, nil, err
	}
	t := ts.Type()
	if t.ID == vector.TypeDate {
		if ts, err = c.Cast(ts, vector.Timestamp(0), false); err != nil {
			return nil, t, nil, err
		}
	}
	var origin Expr = &Const{Value: vector.ConstInt(vector.DateType, first), Typed: true}
	if len(args) == 3 {
		if origin, err = c.bucketOrigin(origin, args[2], ts.Type()); err != nil {
			return nil, t, nil, err
		}
	}
	binned, err := c.Call("date_bin", args[0], ts, origin)
	if err != nil {
		return nil, t, nil, err
	}
	if binned, err = c.Cast(binned, t, false); err != nil {
		return nil, t, nil, err
	}
	return []Expr{binned}, t, sameInts, nil
}

// bucketOrigin is the origin that the third argument of time_bucket names: a time, or how far after first buckets
// begin.
func (c *Context) bucketOrigin(first, given Expr, t vector.Type) (Expr, error) {
	if k, ok := given.(*Const); ok && k.Value.Type.IsText() && !k.Value.IsNull(0) {
		if _, _, _, err := timefmt.ParseInterval(strings.TrimSpace(k.Value.Str(0))); err == nil {
			if given, err = c.Cast(given, vector.Interval, false); err != nil {
				return nil, err
			}
		}
	}
	if given.Type() != vector.Interval {
		return given, nil
	}
	first, err := c.Cast(first, t, false)
	if err != nil {
		return nil, err
	}
	return c.Call("+", first, given)
}

// sameInts is the kernel of a function that its argument has computed.
func sameInts(n int, v []*vector.Vector, _ vector.Bitmap, out *vector.Vector) error {
	out.Ints = append(out.Ints, v[0].Ints[:n]...)
	return nil
}

// bindStrftime is date_format with its arguments in either order.
func bindStrftime(c *Context, args []Expr) ([]Expr, vector.Type, kernel, error) {
	if k, ok := args[0].(*Const); ok && k.Value.Type.IsText() && strings.Contains(k.Value.Str(0), "%") {
		args = []Expr{args[1], args[0]}
	}
	return c.bindDateFormat("strftime", args)
}

func init() {
	register(&Function{min: 2, max: 3, bind: bindDateDiff}, "date_diff", "datediff")
	register(&Function{min: 1, max: 2, bind: bindAge}, "age")
	register(&Function{min: 2, max: 3, bind: bindTimeBucket}, "time_bucket")
	register(&Function{min: 2, max: 2, bind: bindStrftime}, "strftime")
	register(&Function{min: 2, max: -1, bind: bindToTimestamp("strptime", 9)}, "strptime")
}
