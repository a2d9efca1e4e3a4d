package expr

import (
	"strings"
	"time"

	"varve/engine/convert"
	"varve/engine/timefmt"
	"varve/engine/vector"
)

// bindDatePart takes a part out of a time, a time of day, a duration or an interval: Int32, but Int64 for nanoseconds
// and Float64 for epoch and julian.
func bindDatePart(c *Context, args []Expr) ([]Expr, vector.Type, kernel, error) {
	k, ok := args[0].(*Const)
	if !ok || !k.Value.Type.IsText() || k.Value.IsNull(0) {
		return nil, vector.Type{}, nil, planError("date_part needs a constant unit")
	}
	return c.bindPart("date_part", k.Value.Str(0), args[1])
}

// bindPart takes the named part of e for the function what.
func (c *Context) bindPart(what, unit string, e Expr) ([]Expr, vector.Type, kernel, error) {
	name := partName(unit)
	switch t := e.Type(); {
	case t == vector.Interval, t.ID == vector.TypeDuration:
		return c.bindSpanPart(what, unit, e)
	case t.ID == vector.TypeTime:
		if !ofClock[name] {
			return nil, vector.Type{}, nil, planError("%s: a time of day has no %s", what, name)
		}
	default:
		var err error
		if e, err = c.timeArg(what, e); err != nil {
			return nil, vector.Type{}, nil, err
		}
	}
	if e.Type().ID == vector.TypeDate {
		var err error
		if e, err = c.Cast(e, vector.Timestamp(0), false); err != nil {
			return nil, vector.Type{}, nil, err
		}
	}
	units := e.Type().UnitsPerSecond()
	switch name {
	case "epoch":
		return []Expr{e}, f64, perSecond(units), nil
	case "julian":
		return []Expr{e}, f64, mapTime(units, func(out *vector.Vector, t time.Time) {
			const epochDay = 2440588 // the Julian day number of 1970-01-01
			day := timefmt.FloorDiv(t.Unix(), 86400)
			within := float64(t.Unix()-day*86400) + float64(t.Nanosecond())/1e9
			out.Floats = append(out.Floats, float64(day+epochDay)+within/86400)
		}), nil
	}
	part, ok := dateParts[name]
	if !ok {
		return nil, vector.Type{}, nil, planError("%s: unknown unit '%s'", what, unit)
	}
	return []Expr{e}, partType(name),
		mapTime(units, func(out *vector.Vector, t time.Time) { out.Ints = append(out.Ints, part(t)) }), nil
}

// partType is the type of a part: 59,999,999,999 nanoseconds of a minute do not fit Int32.
func partType(name string) vector.Type {
	if name == "nanosecond" {
		return vector.Int64Type
	}
	return vector.Int32Type
}

func perSecond(units int64) kernel {
	return func(n int, v []*vector.Vector, _ vector.Bitmap, out *vector.Vector) error {
		for _, x := range v[0].Ints[:n] {
			out.Floats = append(out.Floats, float64(x)/float64(units))
		}
		return nil
	}
}

// mapTime is a kernel over counts of a unit as times in UTC.
func mapTime(units int64, put func(out *vector.Vector, t time.Time)) kernel {
	return func(n int, v []*vector.Vector, _ vector.Bitmap, out *vector.Vector) error {
		for _, x := range v[0].Ints[:n] {
			sec := timefmt.FloorDiv(x, units)
			put(out, time.Unix(sec, (x-sec*units)*(1e9/units)).UTC())
		}
		return nil
	}
}

// bindSpanPart takes a part of an interval, or of a duration as days and time. In seconds a year has 365.25 days and a
// month 30.
func (c *Context) bindSpanPart(what, unit string, e Expr) ([]Expr, vector.Type, kernel, error) {
	name := partName(unit)
	if t := e.Type(); name == "epoch" && t.ID == vector.TypeDuration {
		return []Expr{e}, f64, perSecond(t.UnitsPerSecond()), nil
	}
	e, err := c.Cast(e, vector.Interval, false)
	if err != nil {
		return nil, vector.Type{}, nil, err
	}
	if name == "epoch" {
		return []Expr{e}, f64, func(n int, v []*vector.Vector, _ vector.Bitmap, out *vector.Vector) error {
			for i := range n {
				m, d, ns := convert.Interval(v[0].Bytes(i))
				days := float64(m/12)*365.25 + float64(m%12)*30 + float64(d)
				out.Floats = append(out.Floats, days*86400+float64(ns)/1e9)
			}
			return nil
		}, nil
	}
	part, ok := spanParts[name]
	if !ok {
		return nil, vector.Type{}, nil, planError("%s: an interval has no '%s'", what, unit)
	}
	return []Expr{e}, partType(name), mapInt(func(a []*vector.Vector, i int) int64 {
		m, d, ns := convert.Interval(a[0].Bytes(i))
		return part(int64(m), int64(d), ns)
	}), nil
}

// partName is the name of a part that may be written as a plural or be shortened.
func partName(unit string) string {
	name := strings.ToLower(unit)
	if full, ok := partNames[name]; ok {
		return full
	}
	name = strings.TrimSuffix(name, "s")
	if full, ok := partNames[name]; ok {
		return full
	}
	return name
}

// partNames are the other names of parts.
var partNames = map[string]string{
	"y": "year", "yr": "year", "mon": "month", "w": "week", "weekofyear": "week", "d": "day", "dayofmonth": "day",
	"h": "hour", "hr": "hour",
	"m": "minute", "min": "minute", "s": "second", "sec": "second", "ms": "millisecond", "msec": "millisecond",
	"us": "microsecond", "usec": "microsecond",
	"ns": "nanosecond", "nsec": "nanosecond", "dayofweek": "dow", "weekday": "dow", "dayofyear": "doy",
	"cent": "century", "centuries": "century",
	"dec": "decade", "mil": "millennium", "millennia": "millennium",
}

// ofClock are the parts that a time of day has.
var ofClock = map[string]bool{"hour": true, "minute": true, "second": true, "millisecond": true, "microsecond": true,
	"nanosecond": true, "epoch": true}

var dateParts = map[string]func(t time.Time) int64{
	"millennium":  func(t time.Time) int64 { return period(int64(t.Year()), 1000) },
	"century":     func(t time.Time) int64 { return period(int64(t.Year()), 100) },
	"decade":      func(t time.Time) int64 { return timefmt.FloorDiv(int64(t.Year()), 10) },
	"year":        func(t time.Time) int64 { return int64(t.Year()) },
	"isoyear":     func(t time.Time) int64 { y, _ := t.ISOWeek(); return int64(y) },
	"yearweek":    func(t time.Time) int64 { y, w := t.ISOWeek(); return int64(y)*100 + int64(w) },
	"quarter":     func(t time.Time) int64 { return int64(t.Month()-1)/3 + 1 },
	"month":       func(t time.Time) int64 { return int64(t.Month()) },
	"week":        func(t time.Time) int64 { _, w := t.ISOWeek(); return int64(w) },
	"day":         func(t time.Time) int64 { return int64(t.Day()) },
	"hour":        func(t time.Time) int64 { return int64(t.Hour()) },
	"minute":      func(t time.Time) int64 { return int64(t.Minute()) },
	"second":      func(t time.Time) int64 { return int64(t.Second()) },
	"millisecond": func(t time.Time) int64 { return int64(t.Second())*1e3 + int64(t.Nanosecond())/1e6 },
	"microsecond": func(t time.Time) int64 { return int64(t.Second())*1e6 + int64(t.Nanosecond())/1e3 },
	"nanosecond":  func(t time.Time) int64 { return int64(t.Second())*1e9 + int64(t.Nanosecond()) },
	"dow":         func(t time.Time) int64 { return int64(t.Weekday()) },
	"isodow":      func(t time.Time) int64 { return (int64(t.Weekday())+6)%7 + 1 },
	"doy":         func(t time.Time) int64 { return int64(t.YearDay()) },
}

// period is the number of a century or millennium: the first begins with year 1, that before it, which is -1, ends with
// year 0.
func period(year, length int64) int64 {
	if year > 0 {
		return (year + length - 1) / length
	}
	return -((length - 1 - (year - 1)) / length)
}

// spanParts are the parts of an interval of months, days and nanoseconds; what is above a part is not in it.
var spanParts = map[string]func(months, days, ns int64) int64{
	"millennium":  func(m, _, _ int64) int64 { return m / 12000 },
	"century":     func(m, _, _ int64) int64 { return m / 1200 },
	"decade":      func(m, _, _ int64) int64 { return m / 120 },
	"year":        func(m, _, _ int64) int64 { return m / 12 },
	"quarter":     func(m, _, _ int64) int64 { return m%12/3 + 1 },
	"month":       func(m, _, _ int64) int64 { return m % 12 },
	"day":         func(_, d, _ int64) int64 { return d },
	"hour":        func(_, _, ns int64) int64 { return ns / 3600e9 },
	"minute":      func(_, _, ns int64) int64 { return ns / 60e9 % 60 },
	"second":      func(_, _, ns int64) int64 { return ns / 1e9 % 60 },
	"millisecond": func(_, _, ns int64) int64 { return ns % 60e9 / 1e6 },
	"microsecond": func(_, _, ns int64) int64 { return ns % 60e9 / 1e3 },
	"nanosecond":  func(_, _, ns int64) int64 { return ns % 60e9 },
}

func init() {
	register(&Function{min: 2, max: 2, bind: bindDatePart}, "date_part", "datepart", "extract")
	for part, names := range map[string][]string{
		"year": {"year"}, "quarter": {"quarter"}, "month": {"month"}, "week": {"week", "weekofyear"},
		"day": {"day", "dayofmonth"}, "hour": {"hour"},
		"minute": {"minute"}, "second": {"second"}, "millisecond": {"millisecond"}, "microsecond": {"microsecond"},
		"nanosecond": {"nanosecond"},
		"dow":        {"dayofweek", "weekday"}, "isodow": {"isodow"}, "doy": {"dayofyear"}, "isoyear": {"isoyear"},
		"yearweek": {"yearweek"},
		"decade":   {"decade"}, "century": {"century"}, "millennium": {"millennium"}, "epoch": {"epoch"},
		"julian": {"julian"},
	} {
		register(&Function{min: 1, max: 1, bind: func(c *Context, args []Expr) ([]Expr, vector.Type, kernel, error) {
			return c.bindPart(names[0], part, args[0])
		}}, names...)
	}
	for name, per := range map[string]int64{"epoch_ms": 1e3, "epoch_us": 1e6, "epoch_ns": 1e9} {
		register(&Function{min: 1, max: 1, bind: bindEpoch(name, per)}, name)
	}
	named := func(name string, of func(t time.Time) string) {
		register(&Function{min: 1, max: 1, bind: func(c *Context, args []Expr) ([]Expr, vector.Type, kernel, error) {
			e, err := c.timeOnly(name, args[0])
			if err != nil {
				return nil, str, nil, err
			}
			return []Expr{e}, str, mapTime(e.Type().UnitsPerSecond(),
				func(out *vector.Vector, t time.Time) { out.PushBytes([]byte(of(t))) }), nil
		}}, name)
	}
	named("dayname", func(t time.Time) string { return t.Weekday().String() })
	named("monthname", func(t time.Time) string { return t.Month().String() })
	register(&Function{min: 1, max: 1, bind: func(c *Context, args []Expr) ([]Expr, vector.Type, kernel, error) {
		e, err := c.timeOnly("last_day", args[0])
		if err != nil {
			return nil, vector.DateType, nil, err
		}
		return []Expr{e}, vector.DateType, mapTime(e.Type().UnitsPerSecond(), func(out *vector.Vector, t time.Time) {
			y, m := t.Year(), int(t.Month())
			out.Ints = append(out.Ints, timefmt.Days(y, m, timefmt.DaysInMonth(y, m)))
		}), nil
	}}, "last_day")
}

// timeOnly is timeArg with dates as timestamps.
func (c *Context) timeOnly(what string, e Expr) (Expr, error) {
	e, err := c.timeArg(what, e)
	if err != nil || e.Type().ID != vector.TypeDate {
		return e, err
	}
	return c.Cast(e, vector.Timestamp(0), false)
}

// bindEpoch counts units: since 1970 of a time, all of a duration.
func bindEpoch(name string, per int64) func(*Context, []Expr) ([]Expr, vector.Type, kernel, error) {
	return func(c *Context, args []Expr) ([]Expr, vector.Type, kernel, error) {
		e := args[0]
		if e.Type().ID != vector.TypeDuration {
			var err error
			if e, err = c.timeOnly(name, e); err != nil {
				return nil, i64, nil, err
			}
		}
		units := e.Type().UnitsPerSecond()
		return []Expr{e}, i64, func(n int, v []*vector.Vector, valid vector.Bitmap, out *vector.Vector) error {
			for i, x := range v[0].Ints[:n] {
				y, ok := convert.Scale(x, units, per)
				if !ok && (valid == nil || valid.Get(i)) {
					return execError("%s: the time does not fit BIGINT", name)
				}
				out.Ints = append(out.Ints, y)
			}
			return nil
		}, nil
	}
}
