package syntax

import (
	"errors"
	"fmt"
	"math"
	"strconv"
	"strings"
	"time"
)

// periods are the units of durations of the metrics language, in the order they may stand.
var periods = [...]struct {
	name string
	size time.Duration
}{{"y", 365 * 24 * time.Hour}, {"w", 7 * 24 * time.Hour}, {"d", 24 * time.Hour}, {"h", time.Hour}, {"m", time.Minute},
	{"s", time.Second}, {"ms", time.Millisecond}}

// ParseDuration reads a duration as the metrics language writes it (1d12h), or as Go does (1.5h, 10µs).
func ParseDuration(s string) (time.Duration, error) {
	if d, ok := parsePeriods(s); ok {
		return d, nil
	}
	d, err := time.ParseDuration(s)
	if err != nil {
		return 0, errors.New(strings.TrimPrefix(err.Error(), "time: "))
	}
	return d, nil
}

// parsePeriods reads whole numbers with units, the greater units first; ok is false for other texts.
func parsePeriods(s string) (d time.Duration, ok bool) {
	if s == "" {
		return 0, false
	}
	next := 0
	for s != "" {
		n := digits(s)
		count, err := strconv.ParseInt(s[:n], 10, 64)
		if err != nil {
			return 0, false
		}
		s = s[n:]
		unit := s[:lettersLength(s)]
		s = s[len(unit):]
		for next < len(periods) && periods[next].name != unit {
			next++
		}
		if next == len(periods) || count > int64((math.MaxInt64-d)/periods[next].size) {
			return 0, false
		}
		d += time.Duration(count) * periods[next].size
		next++
	}
	return d, true
}

// ParseBytes reads a size: a number, which may have commas, and a unit of decimal (kB, MB) or binary (KiB, MiB) size,
// in any case, with or without its B.
func ParseBytes(s string) (uint64, error) {
	n := 0
	for n < len(s) && (isDigit(s[n]) || s[n] == '.' || s[n] == ',') {
		n++
	}
	number := s[:n]
	if strings.IndexByte(number, ',') >= 0 {
		number = strings.ReplaceAll(number, ",", "")
	}
	f, err := strconv.ParseFloat(number, 64)
	if err != nil {
		return 0, err
	}
	size, ok := unitSize(strings.TrimSpace(s[n:]))
	if !ok {
		return 0, fmt.Errorf("unhandled size name: %v", strings.ToLower(strings.TrimSpace(strings.Clone(s[n:]))))
	}
	if f *= size; f >= math.MaxUint64 {
		return 0, fmt.Errorf("too large: %v", strings.Clone(s))
	}
	return uint64(f), nil
}

// unitSize is the bytes of a unit of sizes.
func unitSize(unit string) (size float64, ok bool) {
	if unit == "" {
		return 1, true
	}
	power := strings.IndexByte("bkmgtpe", unit[0]|0x20)
	if power < 0 {
		return 0, false
	}
	rest := unit[1:]
	base := 1000.0
	if power > 0 && rest != "" && rest[0]|0x20 == 'i' {
		base, rest = 1024, rest[1:]
	}
	if power > 0 && rest != "" && rest[0]|0x20 == 'b' {
		rest = rest[1:]
	}
	return math.Pow(base, float64(power)), rest == ""
}

// bytesString is the text of a size that is printed: decimal with at most one digit after the point if this is exact,
// the text that was written otherwise.
func bytesString(size float64, written string) string {
	v, unit := size, 0
	units := [...]string{"B", "kB", "MB", "GB", "TB", "PB", "EB"}
	for v >= 1000 && unit+1 < len(units) {
		v, unit = v/1000, unit+1
	}
	text := strconv.FormatFloat(math.Round(v*10)/10, 'f', -1, 64) + units[unit]
	if back, err := ParseBytes(text); err != nil || float64(back) != size {
		return written
	}
	return text
}
