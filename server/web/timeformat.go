package web

import (
	"strconv"
	"time"

	"varve/engine/status"
	"varve/engine/timefmt"
	"varve/engine/vector"
	"varve/sqlexec/expr"
)

// TimeFormat is how the formats csv, json and table write times; the zero value keeps the integers of their unit.
type TimeFormat struct {
	zone *time.Location // of texts; nil: integers
}

// ParseTimeFormat reads the parameter time_format: rfc3339, in the request's zone, or nothing.
func ParseTimeFormat(text string, zone *time.Location) (TimeFormat, error) {
	switch text {
	case "":
		return TimeFormat{}, nil
	case "rfc3339":
		return TimeFormat{zone}, nil
	}
	return TimeFormat{}, status.New(status.InvalidArguments, "Invalid request parameter: time_format %q is not known, it is rfc3339 or left out", text)
}

// rfc3339 are the layouts of timestamps by the digits of their fractions.
var rfc3339 = [...]string{
	0: "2006-01-02T15:04:05Z07:00", 3: "2006-01-02T15:04:05.000Z07:00", 6: "2006-01-02T15:04:05.000000Z07:00", 9: "2006-01-02T15:04:05.000000000Z07:00",
}

// cells gives times as text, with quote around it unless that is 0, and everything else as otherwise does.
func (f TimeFormat) cells(otherwise func(*vector.Vector) cell, quote byte) func(*vector.Vector) cell {
	if f.zone == nil {
		return otherwise
	}
	return func(v *vector.Vector) cell {
		var text func(dst []byte, i int) []byte
		switch v.Type.ID {
		case vector.TypeTimestamp:
			text = func(dst []byte, i int) []byte { return f.timestamp(dst, v.Int(i), v.Type) }
		case vector.TypeDate:
			text = func(dst []byte, i int) []byte { return timefmt.AppendDate(dst, v.Int(i)) }
		case vector.TypeTime:
			text = func(dst []byte, i int) []byte { return expr.AppendText(dst, v, i) }
		default:
			return otherwise(v)
		}
		null := otherwise(v)
		return func(dst []byte, i int) []byte {
			switch {
			case v.IsNull(i):
				return null(dst, i)
			case quote == 0:
				return text(dst, i)
			}
			return append(text(append(dst, quote), i), quote)
		}
	}
}

// timestamp appends a timestamp. Years that have no four digits stay the integer that they are; an offset that is no
// whole number of minutes, as before there were zones, has no form: such times are in UTC.
func (f TimeFormat) timestamp(dst []byte, n int64, t vector.Type) []byte {
	unit := t.UnitsPerSecond()
	sec, rest := n/unit, n%unit
	if rest < 0 {
		sec, rest = sec-1, rest+unit
	}
	at := time.Unix(sec, rest*(1e9/unit)).In(f.zone)
	if _, offset := at.Zone(); offset%60 != 0 {
		at = at.UTC()
	}
	if year := at.Year(); year < 0 || year > 9999 {
		return strconv.AppendInt(dst, n, 10)
	}
	return at.AppendFormat(dst, rfc3339[t.Precision])
}
