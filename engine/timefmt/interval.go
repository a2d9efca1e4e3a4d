package timefmt

import (
	"errors"
	"fmt"
	"math"
	"strconv"
	"strings"
)

// errInterval is the cause of every error of ParseInterval.
var errInterval = errors.New("invalid interval")

// interval collects the parts of an interval; over tells that a sum left 64 bits.
type interval struct {
	m, d, n int64 // months, days, nanoseconds
	over    bool
}

// ParseInterval reads an interval: 1 day 2 hours, 5 minutes, 1.5 year (18 months), 1y2mon3w4d5h6m7s8ms9us10ns,
// 03:04:05.6, or ISO 8601 (P3Y3M700DT1H), which is one fixed span. Each number has its own sign.
func ParseInterval(text string) (months, days int32, ns int64, err error) {
	s := strings.ToLower(strings.TrimSpace(text))
	bad := func() (int32, int32, int64, error) {
		return 0, 0, 0, fmt.Errorf("%w: %q", errInterval, text)
	}
	if s == "" {
		return bad()
	}
	if s[0] == 'p' || len(s) > 1 && s[1] == 'p' && (s[0] == '-' || s[0] == '+') {
		span, ok := parseISO(s)
		if !ok {
			return bad()
		}
		return 0, 0, span, nil
	}
	var iv interval
	for s != "" {
		rest, ok := iv.readPart(s)
		if !ok {
			return bad()
		}
		s = strings.TrimLeft(rest, " \t\r\n,")
	}
	if iv.over || iv.m != int64(int32(iv.m)) || iv.d != int64(int32(iv.d)) {
		return 0, 0, 0, fmt.Errorf("%w: %q is out of range", errInterval, text)
	}
	return int32(iv.m), int32(iv.d), iv.n, nil
}

// readPart reads one number and unit, or h:m:s.
func (iv *interval) readPart(s string) (rest string, ok bool) {
	neg := false
	if s[0] == '-' || s[0] == '+' {
		neg = s[0] == '-'
		s = strings.TrimLeft(s[1:], " ")
	}
	i := digits(s)
	if i > 0 && i < len(s) && s[i] == ':' {
		return iv.readClock(s, neg)
	}
	whole, frac, rest, ok := readDecimal(s)
	if !ok {
		return s, false
	}
	s = strings.TrimLeft(rest, " \t\r\n")
	i = 0
	for i < len(s) && (s[i] >= 'a' && s[i] <= 'z' || s[i] >= 0x80) {
		i++
	}
	if neg {
		whole, frac = -whole, -frac
	}
	return s[i:], iv.add(s[:i], whole, frac)
}

// readDecimal reads digits with an optional fraction. frac keeps 15 digits, enough for nanoseconds of a year.
func readDecimal(s string) (whole int64, frac float64, rest string, ok bool) {
	i := digits(s)
	j := i
	if i < len(s) && s[i] == '.' {
		j = i + 1 + digits(s[i+1:])
		if j == i+1 && i == 0 {
			return 0, 0, s, false
		}
		frac, _ = strconv.ParseFloat("0"+s[i:j], 64)
	}
	if j == 0 {
		return 0, 0, s, false
	}
	if i > 0 {
		var err error
		if whole, err = strconv.ParseInt(s[:i], 10, 64); err != nil {
			return 0, 0, s, false
		}
	}
	return whole, frac, s[j:], true
}

func digits(s string) int {
	i := 0
	for i < len(s) && isDigit(s[i]) {
		i++
	}
	return i
}

// readClock reads h:m or h:m:s.
func (iv *interval) readClock(s string, neg bool) (rest string, ok bool) {
	hour, _, s, ok := readDecimal(s)
	minute, s, ok1 := readPart(s, ':')
	if !ok || !ok1 || minute > 59 {
		return s, false
	}
	second, nanos := 0, int32(0)
	if s != "" && s[0] == ':' {
		if second, s, ok = readPart(s, ':'); !ok || second > 59 {
			return s, false
		}
		if nanos, s, ok = readFraction(s); !ok {
			return s, false
		}
	}
	if s != "" && !isBlank(s[0]) && s[0] != ',' {
		return s, false
	}
	rest2 := int64(minute)*nsMinute + int64(second)*nsSecond + int64(nanos)
	if neg {
		hour, rest2 = -hour, -rest2
	}
	iv.addTime(hour, 0, nsHour)
	iv.addTime(rest2, 0, 1)
	return s, true
}

// add adds whole+frac units.
func (iv *interval) add(unit string, whole int64, frac float64) bool {
	switch unit {
	case "millennium", "millennia", "millenniums", "mil", "mils":
		iv.addMonths(whole, frac, 12000)
	case "century", "centuries", "cent", "c":
		iv.addMonths(whole, frac, 1200)
	case "decade", "decades", "dec", "decs":
		iv.addMonths(whole, frac, 120)
	case "y", "yr", "yrs", "year", "years":
		iv.addMonths(whole, frac, 12)
	case "quarter", "quarters", "qtr", "qtrs":
		iv.addMonths(whole, frac, 3)
	case "mon", "mons", "month", "months":
		iv.addMonths(whole, frac, 1)
	case "w", "wk", "wks", "week", "weeks":
		iv.addDays(whole, frac, 7)
	case "d", "day", "days":
		iv.addDays(whole, frac, 1)
	case "h", "hr", "hrs", "hour", "hours":
		iv.addTime(whole, frac, nsHour)
	case "m", "min", "mins", "minute", "minutes":
		iv.addTime(whole, frac, nsMinute)
	case "s", "sec", "secs", "second", "seconds":
		iv.addTime(whole, frac, nsSecond)
	case "ms", "msec", "msecs", "milli", "millis", "millisecond", "milliseconds":
		iv.addTime(whole, frac, nsMilli)
	case "us", "µs", "usec", "usecs", "micro", "micros", "microsecond", "microseconds":
		iv.addTime(whole, frac, nsMicro)
	case "ns", "nsec", "nsecs", "nano", "nanos", "nanosecond", "nanoseconds":
		iv.addTime(whole, frac, 1)
	default:
		return false
	}
	return true
}

// addMonths adds units of so many months; a rest that is no whole month becomes days of a 30-day month.
func (iv *interval) addMonths(whole int64, frac float64, months int64) {
	iv.m = iv.sum(iv.m, iv.mul(whole, months))
	fm := frac * float64(months)
	w := math.Trunc(fm)
	iv.m = iv.sum(iv.m, int64(w))
	if rest := fm - w; math.Abs(rest) > 1e-9 {
		iv.addDays(0, rest, 30)
	}
}

// addDays adds units of so many days; a rest that is no whole day becomes time.
func (iv *interval) addDays(whole int64, frac float64, days int64) {
	iv.d = iv.sum(iv.d, iv.mul(whole, days))
	fd := frac * float64(days)
	w := math.Trunc(fd)
	iv.d = iv.sum(iv.d, int64(w))
	if rest := fd - w; math.Abs(rest) > 1e-12 {
		iv.addTime(0, rest, nsDay)
	}
}

func (iv *interval) addTime(whole int64, frac float64, unit int64) {
	iv.n = iv.sum(iv.n, iv.mul(whole, unit))
	if frac != 0 {
		iv.n = iv.sum(iv.n, int64(math.Round(frac*float64(unit))))
	}
}

func (iv *interval) sum(a, b int64) int64 {
	c := a + b
	if (c > a) != (b > 0) && b != 0 {
		iv.over = true
	}
	return c
}

func (iv *interval) mul(a, b int64) int64 {
	c := a * b
	if a != 0 && (c/a != b || a == -1 && b == math.MinInt64) {
		iv.over = true
	}
	return c
}

// parseISO reads P3Y3M700DT1H2M3.5S, lower case, as one span: a year has 365 days, a month 30.
func parseISO(s string) (ns int64, ok bool) {
	neg := s[0] == '-'
	if s[0] != 'p' {
		s = s[1:]
	}
	s = s[1:]
	var iv interval
	clock, any := false, false
	for s != "" {
		if s[0] == 't' {
			if clock {
				return 0, false
			}
			clock, s = true, s[1:]
			continue
		}
		minus := s[0] == '-'
		if minus || s[0] == '+' {
			s = s[1:]
		}
		whole, frac, rest, ok := readDecimal(s)
		if !ok || rest == "" {
			return 0, false
		}
		unit := isoUnit(rest[0], clock)
		if unit == 0 {
			return 0, false
		}
		if minus != neg {
			whole, frac = -whole, -frac
		}
		iv.addTime(whole, frac, unit)
		s, any = rest[1:], true
	}
	return iv.n, any && !iv.over
}

func isoUnit(c byte, clock bool) int64 {
	switch {
	case c == 'y' && !clock:
		return 365 * nsDay
	case c == 'm' && !clock:
		return 30 * nsDay
	case c == 'w' && !clock:
		return nsWeek
	case c == 'd' && !clock:
		return nsDay
	case c == 'h' && clock:
		return nsHour
	case c == 'm' && clock:
		return nsMinute
	case c == 's' && clock:
		return nsSecond
	}
	return 0
}
