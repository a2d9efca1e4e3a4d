package pgwire

import (
	"errors"
	"fmt"
	"math"
	"strconv"
	"strings"
	"time"

	"varve/engine/timefmt"
)

// Years that SQL reads.
const (
	minYear = -262143
	maxYear = 262142
)

// readTime is the text of a time or date as SQL reads it: years beyond 9999 have a sign, and those before Christ count
// down from 0.
func readTime(text string) (string, error) {
	s := strings.TrimSpace(text)
	switch strings.ToLower(s) {
	case "infinity", "+infinity", "-infinity":
		return "", fail("22008", "the time "+s+" is not supported: times are finite")
	}
	before := len(s) > 3 && strings.EqualFold(s[len(s)-3:], " BC")
	n := 0
	for n < len(s) && s[n] >= '0' && s[n] <= '9' {
		n++
	}
	if n < 4 || n > 7 || n == len(s) || s[n] != '-' || n == 4 && !before {
		return text, nil
	}
	year, err := strconv.Atoi(s[:n])
	if err != nil || before && year == 0 {
		return text, nil
	}
	rest := s[n:]
	if before {
		year, rest = 1-year, strings.TrimRight(rest[:len(rest)-3], " ")
	}
	if year < minYear || year > maxYear {
		return "", outOfRange
	}
	return yearText(year) + rest, nil
}

var outOfRange = fail("22008", fmt.Sprintf("a time or date is out of range: years go from %d to %d", minYear, maxYear))

// yearText is a year as SQL reads it.
func yearText(year int) string {
	switch {
	case year < 0:
		return fmt.Sprintf("-%04d", -year)
	case year > 9999:
		return fmt.Sprintf("+%d", year)
	}
	return fmt.Sprintf("%04d", year)
}

// inZone is the text of a time with its zone, which is zone where the text names none. What is no time stays: the cast
// says so.
func inZone(text string, zone *time.Location) (string, error) {
	text, err := readTime(text)
	if err != nil {
		return "", err
	}
	sec, nanos, err := timefmt.ParseTimestamp(text, zone)
	if errors.Is(err, timefmt.ErrRange) {
		return "", outOfRange
	}
	if err != nil {
		return text, nil
	}
	return timeText(sec, nanos) + "Z", nil
}

// timeText is a time in UTC as SQL reads it, without a zone.
func timeText(sec int64, nanos int32) string {
	days := timefmt.FloorDiv(sec, 86400)
	dst := append(timefmt.AppendDate(nil, days), ' ')
	return string(timefmt.AppendTime(dst, int(sec-days*86400), nanos))
}

// readDays is a date in binary as text.
func readDays(n int32) (string, error) {
	switch n {
	case math.MaxInt32:
		return readTime("infinity")
	case math.MinInt32:
		return readTime("-infinity")
	}
	days := int64(n) + epochDays
	if year, _, _ := timefmt.Civil(days); year < minYear || year > maxYear {
		return "", outOfRange
	}
	return string(timefmt.AppendDate(nil, days)), nil
}

// readTimestamp is a time in binary as text, without a zone.
func readTimestamp(us int64) (string, error) {
	switch us {
	case math.MaxInt64:
		return readTime("infinity")
	case math.MinInt64:
		return readTime("-infinity")
	}
	sec := timefmt.FloorDiv(us, 1_000_000)
	nanos := int32(us-sec*1_000_000) * 1000
	sec += epochDays * 86400
	if year, _, _ := timefmt.Civil(timefmt.FloorDiv(sec, 86400)); year < minYear || year > maxYear {
		return "", outOfRange
	}
	return timeText(sec, nanos), nil
}
