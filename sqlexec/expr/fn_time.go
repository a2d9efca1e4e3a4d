package expr

import (
	"time"

	"varve/engine/convert"
	"varve/engine/timefmt"
	"varve/engine/vector"
)

// bindTimeArith binds + and - with timestamps, dates, durations and intervals; ok is false when none is there.
func (c *Context) bindTimeArith(op string, args []Expr) (out []Expr, t vector.Type, k kernel, ok bool, err error) {
	a, b := args[0].Type(), args[1].Type()
	if !timelike(a) && !timelike(b) {
		return nil, t, nil, false, nil
	}
	if args, t, k, ok, err := c.bindScale(op, args); ok || err != nil {
		return args, t, k, ok, err
	}
	fail := func() ([]Expr, vector.Type, kernel, bool, error) {
		return nil, t, nil, false, planError("Cannot compute %s %s %s", a, op, b)
	}
	if op != "+" && op != "-" {
		return fail()
	}
	if op == "+" && (a == vector.Interval || a.ID == vector.TypeDuration) &&
		(b.IsTimestamp() || b.ID == vector.TypeDate) {
		args, a, b = []Expr{args[1], args[0]}, b, a
	}
	sign := int64(1)
	if op == "-" {
		sign = -1
	}
	other, err := c.besideTime(op, a, args[1])
	if err != nil {
		return nil, t, nil, false, err
	}
	args, b = []Expr{args[0], other}, other.Type()
	switch {
	case a == vector.Interval && b == vector.Interval:
		return args, a, intervalSums(sign), true, nil
	case a.ID == vector.TypeDuration && b.ID == vector.TypeDuration:
		t := vector.Duration(max(a.Precision, b.Precision))
		args, err := c.castAll(args, t)
		return args, t, durationSums(sign), true, err
	case a.ID == vector.TypeDuration && b == vector.Interval, a == vector.Interval && b.ID == vector.TypeDuration:
		args, err := c.castAll(args, vector.Interval)
		if err != nil {
			return nil, t, nil, false, err
		}
		return c.bindTimeArith(op, args)
	case (a.IsTimestamp() || a.ID == vector.TypeDate) && b == vector.Interval:
		t := shiftedType(a, args[1])
		first, err := c.Cast(args[0], t, false)
		return []Expr{first, args[1]}, t, shiftKernel(t, sign), true, err
	case (a.IsTimestamp() || a.ID == vector.TypeDate) && b.ID == vector.TypeDuration:
		t := vector.Timestamp(max(fineness(a), b.Precision))
		first, err := c.Cast(args[0], t, false)
		return []Expr{first, args[1]}, t, durationShift(t, b, sign), true, err
	case op == "-" && a.ID == vector.TypeDate && b.ID == vector.TypeDate:
		return args, vector.Int64Type, timeDifferences, true, nil
	case op == "-" && (a.IsTimestamp() || a.ID == vector.TypeDate) && (b.IsTimestamp() || b.ID == vector.TypeDate):
		p := uint8(0)
		if a.IsTimestamp() {
			p = a.Precision
		}
		if b.IsTimestamp() {
			p = max(p, b.Precision)
		}
		args, err := c.castAll(args, vector.Timestamp(p))
		return args, vector.Duration(p), timeDifferences, true, err
	case a.ID == vector.TypeDate && b.IsInteger():
		e, err := c.Cast(args[1], vector.Int64Type, false)
		return []Expr{args[0], e}, a, dayShift(sign), true, err
	}
	return fail()
}

// shiftedType is the type of a time, a timestamp or a date, that an interval is added to: one that holds each part of a
// constant interval. A date stays one where the interval has whole days. Of an interval that is no constant a timestamp
// keeps what its unit holds.
func shiftedType(t vector.Type, by Expr) vector.Type {
	k, ok := by.(*Const)
	switch {
	case !ok && t.ID == vector.TypeDate:
		return vector.Timestamp(6)
	case !ok || k.Value.IsNull(0):
		return t
	}
	_, _, ns := convert.Interval(k.Value.Bytes(0))
	precision := uint8(0)
	for unit := int64(1e9); ns%unit != 0; unit /= 1e3 {
		precision += 3
	}
	if t.ID == vector.TypeDate && ns%86400e9 == 0 {
		return t
	}
	return vector.Timestamp(max(fineness(t), precision))
}

// fineness is the precision of a timestamp, or of the one that a date becomes where it gets a time of day.
func fineness(t vector.Type) uint8 {
	if t.IsTimestamp() {
		return t.Precision
	}
	return 3
}

// besideTime converts the second argument beside a time, a: text becomes an interval or, after - and if it is not an
// interval, a time; NULL becomes an interval.
func (c *Context) besideTime(op string, a vector.Type, e Expr) (Expr, error) {
	switch t := e.Type(); {
	case t == vector.NullType:
		return Null(vector.Interval), nil
	case !t.IsText() || a == vector.Interval:
		return e, nil
	}
	span, err := c.Cast(e, vector.Interval, false)
	if err != nil && op == "-" {
		return c.Cast(e, a, false)
	}
	return span, err
}

// intervalSums adds intervals, or subtracts them.
func intervalSums(sign int64) kernel {
	return func(n int, v []*vector.Vector, valid vector.Bitmap, out *vector.Vector) error {
		for i := range n {
			if valid != nil && !valid.Get(i) {
				out.PushBytes(convert.AppendIntervalBytes(nil, 0, 0, 0))
				continue
			}
			m1, d1, n1 := convert.Interval(v[0].Bytes(i))
			m2, d2, n2 := convert.Interval(v[1].Bytes(i))
			months, days := int64(m1)+sign*int64(m2), int64(d1)+sign*int64(d2)
			ns, fits := shiftBy(n1, n2, sign, 1, 1)
			if !fits || months != int64(int32(months)) || days != int64(int32(days)) {
				return execError("interval overflow in adding '%s' and '%s'", AppendText(nil, v[0], i),
					AppendText(nil, v[1], i))
			}
			out.PushBytes(convert.AppendIntervalBytes(nil, int32(months), int32(days), ns))
		}
		return nil
	}
}

// durationShift adds durations to points in time, or subtracts them.
func durationShift(of, by vector.Type, sign int64) kernel {
	return func(n int, v []*vector.Vector, valid vector.Bitmap, out *vector.Vector) error {
		for i := range n {
			x, fits := shiftBy(v[0].Ints[i], v[1].Ints[i], sign, by.UnitsPerSecond(), of.UnitsPerSecond())
			if !fits && (valid == nil || valid.Get(i)) {
				return execError("timestamp overflow in duration arithmetic")
			}
			out.Ints = append(out.Ints, x)
		}
		return nil
	}
}

// shiftBy is x + sign*d, where d counts units of from and x units of to; false: it overflows.
func shiftBy(x, d, sign, from, to int64) (int64, bool) {
	d, fits := convert.Scale(d, from, to)
	y := x + sign*d
	return y, fits && (sign > 0 && (d >= 0) == (y >= x) || sign < 0 && (d >= 0) == (y <= x))
}

// timeDifferences subtracts points in time of one unit.
func timeDifferences(n int, v []*vector.Vector, valid vector.Bitmap, out *vector.Vector) error {
	for i := range n {
		d, fits := shiftBy(v[0].Ints[i], v[1].Ints[i], -1, 1, 1)
		if !fits && (valid == nil || valid.Get(i)) {
			return execError("duration overflow in subtracting two points in time")
		}
		out.Ints = append(out.Ints, d)
	}
	return nil
}

// dayShift adds days to dates, or subtracts them.
func dayShift(sign int64) kernel {
	return func(n int, v []*vector.Vector, valid vector.Bitmap, out *vector.Vector) error {
		for i := range n {
			day, ok := addTo(v[0].Ints[i], sign*v[1].Ints[i])
			if (!ok || day < -mostDays || day > mostDays) && (valid == nil || valid.Get(i)) {
				return execError("date overflow in adding %d days", sign*v[1].Ints[i])
			}
			out.Ints = append(out.Ints, day)
		}
		return nil
	}
}

// mostDays bounds dates to about 262,000 years on either side of 1970.
const mostDays = 95_800_000

// shiftKernel adds an interval to timestamps or dates; months clip to the month's end.
func shiftKernel(t vector.Type, sign int64) kernel {
	return func(n int, v []*vector.Vector, valid vector.Bitmap, out *vector.Vector) error {
		for i := range n {
			if valid != nil && !valid.Get(i) {
				out.Ints = append(out.Ints, 0)
				continue
			}
			m, d, ns := convert.Interval(v[1].Bytes(i))
			x, ok := shift(v[0].Ints[i], t, sign*int64(m), sign*int64(d), sign*ns)
			if !ok {
				return execError("timestamp overflow in interval arithmetic")
			}
			out.Ints = append(out.Ints, x)
		}
		return nil
	}
}

// shift adds months, days and nanoseconds to a timestamp or date of type t.
func shift(x int64, t vector.Type, months, days, ns int64) (int64, bool) {
	if t.ID == vector.TypeDate {
		y, ok := shift(x*86400, vector.Timestamp(0), months, days, ns)
		return timefmt.FloorDiv(y, 86400), ok
	}
	unit := t.UnitsPerSecond()
	if months != 0 {
		day := timefmt.FloorDiv(x, 86400*unit)
		within := x - day*86400*unit
		y, m, dom := timefmt.Civil(day)
		total := int64(y)*12 + int64(m) - 1 + months
		y, m = int(timefmt.FloorDiv(total, 12)), int(timefmt.FloorMod(total, 12))+1
		dom = min(dom, timefmt.DaysInMonth(y, m))
		first, fits := convert.Scale(timefmt.Days(y, m, dom)*86400, 1, unit)
		if x = first + within; !fits || x < first {
			return 0, false
		}
	}
	delta, fits := convert.Scale(days*86400, 1, unit)
	if !fits {
		return 0, false
	}
	if ns != 0 {
		part := ns / (1e9 / unit)
		if unit < 1e9 && ns%(1e9/unit) != 0 && ns < 0 {
			part = timefmt.FloorDiv(ns, 1e9/unit)
		}
		if delta, fits = addTo(delta, part); !fits {
			return 0, false
		}
	}
	return addTo(x, delta)
}

// addTo is x + d; ok is false when it overflows.
func addTo(x, d int64) (y int64, ok bool) {
	y = x + d
	return y, (d >= 0) == (y >= x)
}

// timeArg casts an argument to the time type it stands for: text and integers become timestamps.
func (c *Context) timeArg(what string, e Expr) (Expr, error) {
	t := e.Type()
	switch {
	case t.IsTimestamp() || t.ID == vector.TypeDate:
		return e, nil
	case t.IsText():
		if k, ok := e.(*Const); ok && !k.Value.IsNull(0) {
			x, err := convert.ParseTime(k.Value.Str(0), vector.Timestamp(9), c.zone())
			if err != nil {
				return nil, planError("%s: cannot read '%s' as a time", what, k.Value.Str(0))
			}
			return &Const{Value: vector.ConstInt(vector.Timestamp(9), x)}, nil
		}
		return c.Cast(e, vector.Timestamp(9), false)
	case t == vector.NullType:
		return Null(vector.Timestamp(9)), nil
	}
	return nil, planError("%s needs a timestamp or date, found %s", what, t)
}

// instantArg is timeArg with dates as the instants at which they begin.
func (c *Context) instantArg(what string, e Expr) (Expr, error) {
	e, err := c.timeArg(what, e)
	if err != nil || e.Type().ID != vector.TypeDate {
		return e, err
	}
	return c.Cast(e, vector.Timestamp(9), false)
}

// intervalArg reads a constant interval.
func (c *Context) intervalArg(what string, e Expr) (months, days int32, ns int64, err error) {
	k, ok := e.(*Const)
	if !ok || k.Value.IsNull(0) {
		return 0, 0, 0, planError("%s needs a constant interval", what)
	}
	switch {
	case k.Value.Type.IsText():
		months, days, ns, err = timefmt.ParseInterval(k.Value.Str(0))
		if err != nil {
			return 0, 0, 0, planError("%s: invalid interval '%s'", what, k.Value.Str(0))
		}
		return months, days, ns, nil
	case k.Value.Type == vector.Interval:
		months, days, ns = convert.Interval(k.Value.Bytes(0))
		return months, days, ns, nil
	}
	return 0, 0, 0, planError("%s needs an interval, found %s", what, k.Value.Type)
}

func init() {
	register(&Function{min: 2, max: 3, bind: bindDateBin}, "date_bin")
	register(&Function{min: 2, max: 2, bind: bindDateTrunc}, "date_trunc")
	register(&Function{min: 2, max: 2, bind: func(c *Context, args []Expr) ([]Expr, vector.Type, kernel, error) {
		return c.bindDateFormat("date_format", args)
	}}, "date_format", "to_char")
	addInterval := func(op string) func(*Context, []Expr) ([]Expr, vector.Type, kernel, error) {
		return func(c *Context, args []Expr) ([]Expr, vector.Type, kernel, error) {
			t, err := c.timeArg("date_add", args[0])
			if err != nil {
				return nil, vector.Type{}, nil, err
			}
			iv, err := c.Cast(args[1], vector.Interval, false)
			if err != nil {
				return nil, vector.Type{}, nil, err
			}
			a, typ, k, _, err := c.bindTimeArith(op, []Expr{t, iv})
			return a, typ, k, err
		}
	}
	register(&Function{min: 2, max: 2, bind: addInterval("+")}, "date_add")
	register(&Function{min: 2, max: 2, bind: addInterval("-")}, "date_sub")
	register(&Function{min: 1, max: 1, makesNull: true, bind: bindToUnix}, "to_unixtime")
	for name, p := range map[string]uint8{"to_timestamp": 9, "to_timestamp_seconds": 0, "to_timestamp_millis": 3,
		"to_timestamp_micros": 6, "to_timestamp_nanos": 9} {
		register(&Function{min: 1, max: -1, bind: bindToTimestamp(name, p)}, name)
	}
	register(&Function{min: 1, max: 1, bind: bindToTimestamp("from_unixtime", 0)}, "from_unixtime")
	now := func(t vector.Type) func(*Context, []Expr) ([]Expr, vector.Type, kernel, error) {
		return func(c *Context, args []Expr) ([]Expr, vector.Type, kernel, error) {
			x, _ := convert.Time(c.Now.UnixNano(), vector.Timestamp(9), t) // the clock's time fits
			return []Expr{&Const{Value: vector.ConstInt(t, x)}}, t,
				func(n int, v []*vector.Vector, _ vector.Bitmap, out *vector.Vector) error {
					out.Ints = append(out.Ints, v[0].Ints[:n]...)
					return nil
				}, nil
		}
	}
	register(&Function{max: 1, bind: now(vector.Timestamp(9))}, "now", "current_timestamp", "localtimestamp")
	register(&Function{max: 0, bind: now(vector.DateType)}, "current_date", "today", "curdate")
	register(&Function{max: 0, bind: now(vector.Type{ID: vector.TypeTime, Precision: 9})}, "current_time", "curtime")
	register(&Function{min: 1, max: 1, bind: func(c *Context, args []Expr) ([]Expr, vector.Type, kernel, error) {
		args, err := c.castAll(args, vector.DateType)
		return args, vector.DateType, func(n int, v []*vector.Vector, _ vector.Bitmap, out *vector.Vector) error {
			out.Ints = append(out.Ints, v[0].Ints[:n]...)
			return nil
		}, err
	}}, "to_date", "date")
	register(&Function{min: 3, max: 3, bind: func(c *Context, args []Expr) ([]Expr, vector.Type, kernel, error) {
		args, err := c.castAll(args, vector.Int64Type)
		return args, vector.DateType, func(n int, v []*vector.Vector, valid vector.Bitmap, out *vector.Vector) error {
			for i := range n {
				y, m, d := v[0].Ints[i], v[1].Ints[i], v[2].Ints[i]
				if (valid == nil || valid.Get(i)) &&
					(y < -262000 || y > 262000 || m < 1 || m > 12 || d < 1 ||
						int(d) > timefmt.DaysInMonth(int(y), int(m))) {
					return execError("make_date: %d-%d-%d is not a date", y, m, d)
				}
				out.Ints = append(out.Ints, timefmt.Days(int(y), int(m), int(d)))
			}
			return nil
		}, err
	}}, "make_date")
	zoneShift := func(back bool) func(*Context, []Expr) ([]Expr, vector.Type, kernel, error) {
		return func(c *Context, args []Expr) ([]Expr, vector.Type, kernel, error) {
			t, err := c.timeArg("AT TIME ZONE", args[0])
			if err != nil {
				return nil, vector.Type{}, nil, err
			}
			zone := c.zone()
			if len(args) > 1 {
				k, ok := args[1].(*Const)
				if !ok || !k.Value.Type.IsText() || k.Value.IsNull(0) {
					return nil, vector.Type{}, nil, planError("AT TIME ZONE needs a constant zone")
				}
				if zone, err = timefmt.Zone(k.Value.Str(0)); err != nil {
					return nil, vector.Type{}, nil, planError("unknown time zone '%s'", k.Value.Str(0))
				}
			}
			typ := t.Type()
			if typ.ID == vector.TypeDate {
				typ = vector.Timestamp(9)
				if t, err = c.Cast(t, typ, false); err != nil {
					return nil, typ, nil, err
				}
			}
			unit := typ.UnitsPerSecond()
			return []Expr{t}, typ, func(n int, v []*vector.Vector, _ vector.Bitmap, out *vector.Vector) error {
				for _, x := range v[0].Ints[:n] {
					sec := timefmt.FloorDiv(x, unit)
					_, off := time.Unix(sec, 0).In(zone).Zone()
					if back { // wall time in the zone to UTC
						_, off = time.Unix(sec-int64(off), 0).In(zone).Zone()
						off = -off
					}
					out.Ints = append(out.Ints, x+int64(off)*unit)
				}
				return nil
			}, nil
		}
	}
	register(&Function{min: 2, max: 2, bind: zoneShift(false)}, "at_time_zone")
	register(&Function{min: 1, max: 1, bind: zoneShift(false)}, "to_local_time")
}
