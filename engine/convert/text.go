package convert

import (
	"encoding/binary"
	"encoding/hex"
	"math"
	"strconv"

	"varve/engine/jsontext"
	"varve/engine/timefmt"
	"varve/engine/vector"
)

// AppendText appends row i of v, which is neither NULL nor a list, as CAST(.. AS STRING) gives it.
func AppendText(dst []byte, v *vector.Vector, i int) []byte {
	switch v.Type.ID {
	case vector.TypeBool:
		return strconv.AppendBool(dst, v.Bool(i))
	case vector.TypeInt8, vector.TypeInt16, vector.TypeInt32, vector.TypeInt64:
		return strconv.AppendInt(dst, v.Int(i), 10)
	case vector.TypeUint8, vector.TypeUint16, vector.TypeUint32, vector.TypeUint64:
		return strconv.AppendUint(dst, v.Uint(i), 10)
	case vector.TypeFloat32:
		return AppendFloat(dst, v.Float(i), 32)
	case vector.TypeFloat64:
		return AppendFloat(dst, v.Float(i), 64)
	case vector.TypeDate:
		return timefmt.AppendDate(dst, v.Int(i))
	case vector.TypeTimestamp:
		return timefmt.AppendTimestamp(dst, v.Int(i), v.Type.Precision)
	case vector.TypeTime:
		unit := v.Type.UnitsPerSecond()
		x := v.Int(i)
		return timefmt.AppendTime(dst, int(x/unit), int32(x%unit*(1e9/unit)))
	case vector.TypeDuration:
		return appendDuration(dst, v.Int(i), v.Type.UnitsPerSecond())
	case vector.TypeInterval:
		m, d, ns := Interval(v.Bytes(i))
		return appendInterval(dst, m, d, ns)
	case vector.TypeDecimal:
		return printDecimal(dst, v.Bytes(i), int(v.Type.Scale))
	case vector.TypeBinary:
		return hex.AppendEncode(dst, v.Bytes(i))
	}
	return append(dst, v.Bytes(i)...)
}

// AppendFloat appends a float as SQL writes it: as JSON does, and NaN, inf and -inf.
func AppendFloat(dst []byte, f float64, bits int) []byte {
	switch {
	case math.IsNaN(f):
		return append(dst, "NaN"...)
	case math.IsInf(f, 1):
		return append(dst, "inf"...)
	case math.IsInf(f, -1):
		return append(dst, "-inf"...)
	}
	return jsontext.AppendDecimal(dst, f, bits)
}

// Interval reads the 16 bytes of an INTERVAL.
func Interval(b []byte) (months, days int32, ns int64) {
	if len(b) != 16 {
		return 0, 0, 0
	}
	return int32(binary.LittleEndian.Uint32(b)), int32(binary.LittleEndian.Uint32(b[4:])),
		int64(binary.LittleEndian.Uint64(b[8:]))
}

// IntervalLength is the nanoseconds of the 16 bytes of an INTERVAL. It has none if it has months, or if its length
// exceeds 292 years: ok is false then.
func IntervalLength(b []byte) (ns int64, ok bool) {
	const day = 86_400_000_000_000
	months, days, ns := Interval(b)
	if n := int64(days); months != 0 || n > math.MaxInt64/day || n < math.MinInt64/day {
		return 0, false
	}
	whole := int64(days) * day
	sum := whole + ns
	return sum, (sum > whole) == (ns > 0)
}

// AppendIntervalBytes appends the 16 bytes of an INTERVAL.
func AppendIntervalBytes(dst []byte, months, days int32, ns int64) []byte {
	dst = binary.LittleEndian.AppendUint32(dst, uint32(months))
	dst = binary.LittleEndian.AppendUint32(dst, uint32(days))
	return binary.LittleEndian.AppendUint64(dst, uint64(ns))
}

// appendInterval: 14 mons 3 days 4 hours 5 mins 6.000100000 secs, zero parts left out, all zero 0 secs.
func appendInterval(dst []byte, months, days int32, ns int64) []byte {
	at := len(dst)
	part := func(n int64, unit string) {
		if n == 0 {
			return
		}
		if len(dst) > at {
			dst = append(dst, ' ')
		}
		dst = strconv.AppendInt(dst, n, 10)
		dst = append(dst, unit...)
	}
	part(int64(months), " mons")
	part(int64(days), " days")
	part(ns/3600e9, " hours")
	part(ns/60e9%60, " mins")
	if rest := ns % 60e9; rest != 0 || len(dst) == at {
		if len(dst) > at {
			dst = append(dst, ' ')
		}
		if rest < 0 {
			dst, rest = append(dst, '-'), -rest
		}
		dst = strconv.AppendInt(dst, rest/1e9, 10)
		if f := rest % 1e9; f != 0 {
			dst = append(dst, '.')
			digits := strconv.Itoa(int(f))
			for range 9 - len(digits) {
				dst = append(dst, '0')
			}
			dst = append(dst, digits...)
		}
		dst = append(dst, " secs"...)
	}
	return dst
}

// appendDuration: ISO-like, PT1.5S, zero P0D, days apart.
func appendDuration(dst []byte, x, unit int64) []byte {
	if x == 0 {
		return append(dst, "P0D"...)
	}
	if x < 0 {
		dst = append(dst, '-')
		x = -x
	}
	dst = append(dst, 'P')
	day := 86400 * unit
	if d := x / day; d > 0 {
		dst = append(strconv.AppendInt(dst, d, 10), 'D')
	}
	if x %= day; x == 0 {
		return dst
	}
	dst = strconv.AppendInt(append(dst, 'T'), x/unit, 10)
	if f := x % unit; f != 0 {
		text := strconv.FormatInt(f+unit, 10)[1:] // leading zeros kept
		for text[len(text)-1] == '0' {
			text = text[:len(text)-1]
		}
		dst = append(append(dst, '.'), text...)
	}
	return append(dst, 'S')
}
