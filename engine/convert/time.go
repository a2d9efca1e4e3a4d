package convert

import (
	"fmt"
	"math"
	"time"

	"varve/engine/timefmt"
	"varve/engine/vector"
)

// ParseTime reads text as a timestamp or date of type t, in its unit; text without a zone is in loc.
func ParseTime(text string, t vector.Type, loc *time.Location) (int64, error) {
	sec, nanos, err := timefmt.ParseTimestamp(text, loc)
	if err != nil {
		return 0, err
	}
	if t.ID == vector.TypeDate {
		return timefmt.FloorDiv(sec, 86400), nil
	}
	x, ok := Count(sec, int64(nanos), t.UnitsPerSecond())
	if !ok {
		return 0, fmt.Errorf("timestamp '%s' does not fit %s", text, t)
	}
	return x, nil
}

// Count converts a time (seconds and 0 <= nanos < 1e9) to a count of units and cuts off finer parts; ok reports that it
// fits.
func Count(sec, nanos, unit int64) (n int64, ok bool) {
	if unit == 0 {
		return 0, false
	}
	part := nanos / (1e9 / unit)
	if sec < 0 { // the first second that fits may begin before the first instant that does
		sec, part = sec+1, part-unit
	}
	whole := sec * unit
	n = whole + part
	return n, whole/unit == sec && (part < 0 || n >= whole) && (part >= 0 || n < whole)
}

// timeConverter converts among timestamps, dates, times of day and counts of units.
func timeConverter(from, to vector.Type) Func {
	return func(v *vector.Vector, i int, out *vector.Vector) bool {
		var x int64
		switch {
		case from.Kind() == vector.Uint64:
			if v.Uint(i) > math.MaxInt64 {
				return false
			}
			x = int64(v.Uint(i))
		case from.Kind() == vector.Float64:
			x = int64(v.Float(i))
		default:
			x = v.Int(i)
		}
		y, ok := Time(x, from, to)
		if ok {
			out.Ints = append(out.Ints, y)
		}
		return ok
	}
}

// Time converts one value; integers count units of the target.
func Time(x int64, from, to vector.Type) (int64, bool) {
	switch {
	case from.IsNumber():
		return x, to.ID != vector.TypeDate || x == int64(int32(x))
	case from.ID == vector.TypeDate && to.IsTimestamp():
		return Scale(x*86400, 1, to.UnitsPerSecond()) // a date has 32 bits
	case from.IsTimestamp() && to.ID == vector.TypeDate:
		day := timefmt.FloorDiv(x, from.UnitsPerSecond()*86400)
		return day, day == int64(int32(day))
	case from.IsTimestamp() && to.ID == vector.TypeTime:
		day := from.UnitsPerSecond() * 86400
		return Scale(x-timefmt.FloorDiv(x, day)*day, from.UnitsPerSecond(), to.UnitsPerSecond())
	case from.ID == vector.TypeDate && to.ID == vector.TypeDate:
		return x, true
	case from.UnitsPerSecond() > 0 && to.UnitsPerSecond() > 0:
		return Scale(x, from.UnitsPerSecond(), to.UnitsPerSecond())
	}
	return 0, false
}

// Scale converts a count of units; ok is false when it overflows. Coarser units round down.
func Scale(x, from, to int64) (int64, bool) {
	if to >= from {
		f := to / from
		y := x * f
		return y, y/f == x
	}
	return timefmt.FloorDiv(x, from/to), true
}
