package entries

import (
	"bytes"
	"math"
	"strconv"
	"strings"
	"time"

	"varve/engine/timefmt"
)

// maxSeconds is the last whole second whose nanoseconds fit 64 bits.
const maxSeconds = math.MaxInt64/1_000_000_000 - 1

// Time reads a time as senders write it, in ns: text such as 2026-01-31T12:00:00.5Z, in UTC if it has no zone, or a
// number of seconds, milliseconds, microseconds or nanoseconds since 1970. The size of the number says which. It may
// have a fraction.
func Time(text []byte) (ns int64, ok bool) {
	text = bytes.TrimSpace(text)
	if len(text) == 0 {
		return 0, false
	}
	if c := text[0]; c == '-' || c-'0' <= 9 {
		if ns, ok = number(text); ok {
			return ns, true
		}
	}
	sec, nanos, err := timefmt.ParseTimestamp(string(text), time.UTC)
	if err != nil || sec > maxSeconds || sec < -maxSeconds {
		return 0, false
	}
	return sec*1e9 + int64(nanos), true
}

// number reads a number that is a time. Digits of a fraction below a nanosecond do not count.
func number(text []byte) (ns int64, ok bool) {
	whole, fraction, _ := strings.Cut(string(text), ".")
	x, err := strconv.ParseInt(whole, 10, 64)
	if bytes.ContainsAny(text, "eE") {
		var f float64
		if f, err = strconv.ParseFloat(string(text), 64); err == nil && math.Abs(f) < 1<<62 &&
			!bytes.ContainsAny(text, "xX_") {
			x, fraction = int64(math.Floor(f)), ""
		} else {
			return 0, false
		}
	}
	if err != nil {
		return 0, false
	}
	unit := scale(x)
	if x > math.MaxInt64/unit || x < math.MinInt64/unit {
		return 0, false
	}
	ns = x * unit
	part := int64(0)
	for _, c := range []byte(fraction) {
		if c-'0' > 9 {
			return 0, false
		}
		unit /= 10
		part += int64(c-'0') * unit
	}
	if whole[0] == '-' {
		return ns - part, ns >= math.MinInt64+part
	}
	return ns + part, ns <= math.MaxInt64-part
}

// scale is the unit of a number that is a time, in ns: times in seconds below 1e11 reach the year 5138, those in ms
// begin in 1973.
func scale(x int64) int64 {
	switch x = max(x, -x); {
	case x < 1e11:
		return 1e9
	case x < 1e14:
		return 1e6
	case x < 1e17:
		return 1e3
	}
	return 1
}
