package timefmt

import (
	"fmt"
	"math"
	"math/bits"
	"strconv"
	"strings"
)

// Lengths of the units of durations in words, in nanoseconds. A month is 30.44 days and a year 365.25 days.
const (
	nsMicro  = int64(1e3)
	nsMilli  = int64(1e6)
	nsSecond = int64(1e9)
	nsMinute = 60 * nsSecond
	nsHour   = 60 * nsMinute
	nsDay    = 24 * nsHour
	nsWeek   = 7 * nsDay
	nsMonth  = 2630016 * nsSecond
	nsYear   = 31557600 * nsSecond
)

// durationUnit returns the length of a unit by its name; case counts: m is minutes, M months. 0 for unknown names.
func durationUnit(name string) int64 {
	switch name {
	case "ns", "nsec", "nsecs", "nano", "nanos", "nanosecond", "nanoseconds":
		return 1
	case "us", "µs", "usec", "usecs", "micro", "micros", "microsecond", "microseconds":
		return nsMicro
	case "ms", "msec", "msecs", "milli", "millis", "millisecond", "milliseconds":
		return nsMilli
	case "s", "sec", "secs", "second", "seconds":
		return nsSecond
	case "m", "min", "mins", "minute", "minutes":
		return nsMinute
	case "h", "hr", "hrs", "hour", "hours":
		return nsHour
	case "d", "day", "days":
		return nsDay
	case "w", "wk", "wks", "week", "weeks":
		return nsWeek
	case "M", "mon", "month", "months":
		return nsMonth
	case "y", "yr", "yrs", "year", "years":
		return nsYear
	}
	return 0
}

// ParseDuration reads a duration in words: number-unit pairs that are added up, as in 1d, 90m, 1h 30m, 1month 2d,
// 7days. A bare 0 needs no unit. The longest duration is about 292 years.
func ParseDuration(text string) (ns int64, err error) {
	s := strings.TrimSpace(text)
	if s == "0" {
		return 0, nil
	}
	if s == "" {
		return 0, fmt.Errorf("duration is empty")
	}
	for s != "" {
		i := 0
		for i < len(s) && isDigit(s[i]) {
			i++
		}
		if i == 0 {
			return 0, fmt.Errorf("duration %q: expected a number at %q", text, s)
		}
		n, err := strconv.ParseInt(s[:i], 10, 64)
		if err != nil {
			return 0, fmt.Errorf("duration %q: %s is too large", text, s[:i])
		}
		s = strings.TrimLeft(s[i:], " \t\r\n")
		i = 0
		for i < len(s) && !isDigit(s[i]) && !isBlank(s[i]) {
			i++
		}
		if i == 0 {
			return 0, fmt.Errorf("duration %q: time unit needed, for example %dsec or %dms", text, n, n)
		}
		unit := durationUnit(s[:i])
		if unit == 0 {
			return 0,
				fmt.Errorf(
					"duration %q: unknown time unit %q, supported units: ns, us, ms, s, m, h, d, w, M, y and their long forms", text, s[:i])
		}
		hi, lo := bits.Mul64(uint64(n), uint64(unit))
		if hi != 0 || lo > uint64(math.MaxInt64-ns) {
			return 0, fmt.Errorf("duration %q is longer than %s: %w", text, FormatDuration(math.MaxInt64), ErrRange)
		}
		ns += int64(lo)
		s = strings.TrimLeft(s[i:], " \t\r\n")
	}
	return ns, nil
}

func isBlank(c byte) bool { return c == ' ' || c >= '\t' && c <= '\r' }

// FormatDuration prints nanoseconds in words: 1day, 1h 30m, 7days, 1year 2months 3days 4h 5m 6s 7ms 8us 9ns; zero is
// 0s.
func FormatDuration(ns int64) string {
	if ns == 0 {
		return "0s"
	}
	var buf [64]byte
	dst := buf[:0]
	rest := uint64(ns)
	if ns < 0 {
		dst, rest = append(dst, '-'), -rest
	}
	for _, u := range [...]struct {
		length uint64
		name   string
		plural bool
	}{
		{uint64(nsYear), "year", true}, {uint64(nsMonth), "month", true}, {uint64(nsDay), "day", true},
		{uint64(nsHour), "h", false},
		{uint64(nsMinute), "m", false}, {uint64(nsSecond), "s", false}, {uint64(nsMilli), "ms", false},
		{uint64(nsMicro), "us", false}, {1, "ns", false},
	} {
		n := rest / u.length
		rest %= u.length
		if n == 0 {
			continue
		}
		if len(dst) > 1 {
			dst = append(dst, ' ')
		}
		dst = append(strconv.AppendUint(dst, n, 10), u.name...)
		if u.plural && n > 1 {
			dst = append(dst, 's')
		}
	}
	return string(dst)
}
