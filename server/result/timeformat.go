package result

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
	return TimeFormat{}, status.New(status.InvalidArguments,
		"Invalid request parameter: time_format %q is not supported: use rfc3339, or leave it out", text)
}

// rfc3339 are the layouts of timestamps by the digits of their fractions.
var rfc3339 = [...]string{
	0: "2006-01-02T15:04:05Z07:00", 3: "2006-01-02T15:04:05.000Z07:00", 6: "2006-01-02T15:04:05.000000Z07:00",
	9: "2006-01-02T15:04:05.000000000Z07:00",
}

// cells chooses how columns are written: times as text, with quote around it unless that is 0; lists of times as JSON
// text, which list appends; everything else as otherwise does.
func (f TimeFormat) cells(otherwise func(*vector.Vector) cell, quote byte,
	list func(dst, text []byte) []byte) func(*vector.Vector) cell {
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
			if !hasTimes(v.Type) {
				return otherwise(v)
			}
			null := otherwise(v)
			var all []byte
			return func(dst []byte, i int) []byte {
				if v.IsNull(i) {
					return null(dst, i)
				}
				all = f.appendList(all[:0], v.Type.Elem(), v.Bytes(i))
				return list(dst, all)
			}
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

// hasTimes reports whether a type is a list of times, or of such lists.
func hasTimes(t vector.Type) bool {
	for ; t.ID == vector.TypeList; t = t.Elem() {
		switch t.Elem().ID {
		case vector.TypeTimestamp, vector.TypeDate, vector.TypeTime:
			return true
		}
	}
	return false
}

// appendList appends a list of times as a JSON array.
func (f TimeFormat) appendList(dst []byte, elem vector.Type, list []byte) []byte {
	v := &vector.Vector{Type: elem}
	n := expr.AppendElements(v, 0, list)
	write := f.cells(jsonCell, '"', asItIs)(v)
	dst = append(dst, '[')
	for i := range n {
		if i > 0 {
			dst = append(dst, ',')
		}
		dst = write(dst, i)
	}
	return append(dst, ']')
}

// asItIs appends the text of a list where nothing has to be escaped.
func asItIs(dst, text []byte) []byte { return append(dst, text...) }

// timestamp appends a timestamp. It appends the integer if the year does not have four digits. RFC 3339 has no form for
// an offset that is no whole number of minutes, which zones had long ago: such times are written in UTC.
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
