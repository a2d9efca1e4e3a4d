package pgwire

import (
	"encoding/binary"
	"encoding/hex"
	"math"
	"strconv"
	"time"

	"varve/engine/convert"
	"varve/engine/timefmt"
	"varve/engine/vector"
	"varve/sqlexec/expr"
)

// cell appends the value of a row of a column, which is not NULL.
type cell func(dst []byte, i int) []byte

// textCell writes the values of a column as texts.
func textCell(v *vector.Vector, zone *time.Location) cell {
	switch v.Type.ID {
	case vector.TypeBool:
		return func(dst []byte, i int) []byte {
			if v.Bool(i) {
				return append(dst, 't')
			}
			return append(dst, 'f')
		}
	case vector.TypeTimestamp:
		unit := v.Type.UnitsPerSecond()
		return func(dst []byte, i int) []byte { return appendTime(dst, v.Int(i), unit, zone) }
	case vector.TypeDate:
		return func(dst []byte, i int) []byte { return appendDate(dst, v.Int(i)) }
	case vector.TypeDuration:
		unit := v.Type.UnitsPerSecond()
		return func(dst []byte, i int) []byte { return appendSpan(dst, 0, 0, micros(v.Int(i), unit)) }
	case vector.TypeInterval:
		return func(dst []byte, i int) []byte {
			months, days, us := interval(v.Bytes(i))
			return appendSpan(dst, months, days, us)
		}
	case vector.TypeTime:
		unit := v.Type.UnitsPerSecond()
		return func(dst []byte, i int) []byte { return appendClock(dst, micros(v.Int(i), unit)) }
	case vector.TypeBinary:
		return func(dst []byte, i int) []byte { return hex.AppendEncode(append(dst, `\x`...), v.Bytes(i)) }
	case vector.TypeList:
		if v.Type.Elem().ID == vector.TypeList {
			return func(dst []byte, i int) []byte { return append(dst, v.Bytes(i)...) }
		}
		return func(dst []byte, i int) []byte { return appendList(dst, v.Type.Elem(), v.Bytes(i), zone) }
	case vector.TypeString, vector.TypeJSON:
		return func(dst []byte, i int) []byte { return append(dst, v.Bytes(i)...) }
	}
	switch v.Type.Kind() {
	case vector.Int64:
		return func(dst []byte, i int) []byte { return strconv.AppendInt(dst, v.Int(i), 10) }
	case vector.Uint64:
		return func(dst []byte, i int) []byte { return strconv.AppendUint(dst, v.Uint(i), 10) }
	case vector.Float64:
		bits := 64
		if v.Type.ID == vector.TypeFloat32 {
			bits = 32
		}
		return func(dst []byte, i int) []byte { return appendFloat(dst, v.Float(i), bits) }
	}
	return func(dst []byte, i int) []byte { return convert.AppendText(dst, v, i) }
}

func appendFloat(dst []byte, f float64, bits int) []byte {
	switch {
	case math.IsInf(f, 1):
		return append(dst, "Infinity"...)
	case math.IsInf(f, -1):
		return append(dst, "-Infinity"...)
	case f == math.Trunc(f) && math.Abs(f) < 1e15:
		return strconv.AppendFloat(dst, f, 'f', -1, bits)
	}
	return strconv.AppendFloat(dst, f, 'g', -1, bits)
}

// micros is a count of units in microseconds; what is finer is cut towards the past. Counts that do not fit are the
// nearest that does.
func micros(n, unit int64) int64 {
	if unit == 1e9 {
		return timefmt.FloorDiv(n, 1000)
	}
	factor := 1_000_000 / unit
	if n > math.MaxInt64/factor {
		return math.MaxInt64
	}
	if n < math.MinInt64/factor {
		return math.MinInt64
	}
	return n * factor
}

// instant is a time in microseconds; infinite: clients know no such time, and see -infinity or infinity.
func instant(n, unit int64) (us int64, infinite bool) {
	us = micros(n, unit)
	return us, us == math.MaxInt64 || us <= math.MinInt64+epochMicros
}

// appendTime appends a timestamp in a zone: 2026-01-02 03:04:05.678+00.
func appendTime(dst []byte, n, unit int64, zone *time.Location) []byte {
	us, infinite := instant(n, unit)
	if infinite {
		return appendInfinity(dst, us < 0)
	}
	sec := timefmt.FloorDiv(us, 1_000_000)
	at := time.Unix(sec, (us-sec*1_000_000)*1000).In(zone)
	dst = appendYear(dst, at.Year())
	dst = at.AppendFormat(dst, "-01-02 15:04:05.999999")
	_, offset := at.Zone()
	return appendEra(appendOffset(dst, offset), at.Year())
}

// appendDate appends a date: 2026-01-02.
func appendDate(dst []byte, days int64) []byte {
	if days-epochDays <= math.MinInt32 {
		return appendInfinity(dst, true)
	}
	year, month, day := timefmt.Civil(days)
	dst = appendTwo(append(appendYear(dst, year), '-'), month)
	return appendEra(appendTwo(append(dst, '-'), day), year)
}

func appendInfinity(dst []byte, negative bool) []byte {
	if negative {
		dst = append(dst, '-')
	}
	return append(dst, "infinity"...)
}

// appendYear appends a year with four digits or more; those before Christ are counted from 1.
func appendYear(dst []byte, year int) []byte {
	if year <= 0 {
		year = 1 - year
	}
	for least := 1000; year < least && least > 1; least /= 10 {
		dst = append(dst, '0')
	}
	return strconv.AppendInt(dst, int64(year), 10)
}

// appendEra appends BC to a time before Christ.
func appendEra(dst []byte, year int) []byte {
	if year <= 0 {
		return append(dst, " BC"...)
	}
	return dst
}

// appendOffset appends +01, -03:30 or +00:01:15.
func appendOffset(dst []byte, offset int) []byte {
	sign := byte('+')
	if offset < 0 {
		sign, offset = '-', -offset
	}
	dst = appendTwo(append(dst, sign), offset/3600)
	if offset%3600 != 0 {
		dst = appendTwo(append(dst, ':'), offset/60%60)
	}
	if offset%60 != 0 {
		dst = appendTwo(append(dst, ':'), offset%60)
	}
	return dst
}

func appendTwo(dst []byte, n int) []byte { return append(dst, byte('0'+n/10%10), byte('0'+n%10)) }

// appendClock appends a time of day, or an amount of time, in microseconds.
func appendClock(dst []byte, us int64) []byte {
	rest := uint64(us)
	if us < 0 {
		dst, rest = append(dst, '-'), -rest
	}
	if hours := rest / 3_600_000_000; hours < 100 {
		dst = appendTwo(dst, int(hours))
	} else {
		dst = strconv.AppendUint(dst, hours, 10)
	}
	dst = appendTwo(append(dst, ':'), int(rest/60_000_000%60))
	dst = appendTwo(append(dst, ':'), int(rest/1_000_000%60))
	if rest %= 1_000_000; rest > 0 {
		digits := strconv.AppendUint(nil, 1_000_000+rest, 10)[1:]
		for digits[len(digits)-1] == '0' {
			digits = digits[:len(digits)-1]
		}
		dst = append(append(dst, '.'), digits...)
	}
	return dst
}

// interval takes an interval apart; what is finer than microseconds is cut.
func interval(b []byte) (months, days int32, us int64) {
	return int32(binary.LittleEndian.Uint32(b)), int32(binary.LittleEndian.Uint32(b[4:])),
		micros(int64(binary.LittleEndian.Uint64(b[8:])), 1e9)
}

// appendSpan appends an interval: 1 year 2 mons 3 days 04:05:06.
func appendSpan(dst []byte, months, days int32, us int64) []byte {
	begin := len(dst)
	part := func(n int32, one string) {
		if n == 0 {
			return
		}
		if len(dst) > begin {
			dst = append(dst, ' ')
		}
		dst = append(append(strconv.AppendInt(dst, int64(n), 10), ' '), one...)
		if n != 1 {
			dst = append(dst, 's')
		}
	}
	part(months/12, "year")
	part(months%12, "mon")
	part(days, "day")
	if us == 0 && len(dst) > begin {
		return dst
	}
	if len(dst) > begin {
		dst = append(dst, ' ')
	}
	return appendClock(dst, us)
}

// appendList appends a list: {1,NULL,"a b"}.
func appendList(dst []byte, elem vector.Type, list []byte, zone *time.Location) []byte {
	v := &vector.Vector{Type: elem}
	n := expr.AppendElements(v, 0, list)
	write := textCell(v, zone)
	dst = append(dst, '{')
	for i := range n {
		if i > 0 {
			dst = append(dst, ',')
		}
		if v.IsNull(i) {
			dst = append(dst, "NULL"...)
			continue
		}
		at := len(dst)
		if dst = write(dst, i); needsQuotes(dst[at:]) {
			dst = quote(dst, at)
		}
	}
	return append(dst, '}')
}

// needsQuotes reports whether an element would be read as something else without quotes.
func needsQuotes(text []byte) bool {
	if len(text) == 0 || len(text) == 4 && string(upper(text)) == "NULL" {
		return true
	}
	for _, c := range text {
		switch c {
		case '{', '}', ',', '"', '\\', ' ', '\t', '\n', '\r', '\v', '\f':
			return true
		}
	}
	return false
}

func upper(text []byte) []byte {
	b := make([]byte, 0, 4)
	for _, c := range text {
		if c >= 'a' && c <= 'z' {
			c -= 'a' - 'A'
		}
		b = append(b, c)
	}
	return b
}

// quote puts quotes around the bytes from at on.
func quote(dst []byte, at int) []byte {
	text := append([]byte(nil), dst[at:]...)
	dst = append(dst[:at], '"')
	for _, c := range text {
		if c == '"' || c == '\\' {
			dst = append(dst, '\\')
		}
		dst = append(dst, c)
	}
	return append(dst, '"')
}
