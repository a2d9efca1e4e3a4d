package client

import (
	"fmt"
	"math"
	"slices"
	"strconv"
	"strings"
	"time"

	"varve/engine/timefmt"
)

// Zone is the time zone that a flag names: local, an IANA name or an offset; the empty name is local. Its error is a
// UsageError.
func Zone(name string) (*time.Location, error) {
	if name == "" || strings.EqualFold(name, "local") {
		return time.Local, nil
	}
	zone, err := timefmt.Zone(name)
	if err != nil {
		return nil, &UsageError{fmt.Errorf(
			"--timezone %s: expected a name such as Europe/Berlin, an offset such as +02:00, UTC or local", name)}
	}
	return zone, nil
}

// Instant reads the time of a flag in a zone; nil: the text is empty or "all", that end is open. Its error is a
// UsageError.
func Instant(flag, text string, zone *time.Location, now time.Time) (*time.Time, error) {
	if text == "" || strings.EqualFold(text, "all") {
		return nil, nil
	}
	at, ok := ParseTime(text, zone, now)
	if !ok {
		return nil,
			&UsageError{fmt.Errorf(
				"%s %s: expected a time such as now-1h, 10m (ago), 2026-11-21 03:46, 03:46, yesterday 14:00 or "+
					"seconds since 1970", flag, text)}
	}
	return &at, nil
}

// ParseTime reads what people write and paste for an instant, as the dashboard's picker does: now-15m, -2h, yesterday
// 14:00, 03:46 (today), 2026-11-21 03:46, RFC 3339, seconds, ms, us or ns since 1970 (told apart by their size), and
// the time of a log line with text around it. A length alone is so long ago: 10m is now-10m. ok is false for what is no
// time.
func ParseTime(text string, zone *time.Location, now time.Time) (at time.Time, ok bool) {
	text = strings.TrimSpace(text)
	for _, read := range []func(string, *time.Location, time.Time) (time.Time, bool){parseRelative, parseEpoch,
		parseISO, parseAccess, parseSyslog, parseClock} {
		if at, ok = read(text, zone, now); ok {
			return at, true
		}
	}
	return time.Time{}, false
}

const lengthPattern = `(\d+(?:\.\d+)?)\s*(ns|us|µs|ms|s|m|h|d|w)`

var (
	relative = Pattern(`(?i)^(?:(now|today|yesterday)\s*)?((?:[-+]\s*` + lengthPattern + `\s*)*)$`)
	ago      = Pattern(`(?i)^(?:` + lengthPattern + `\s*)+$`)
	signed   = Pattern(`(?i)([-+]?)\s*` + lengthPattern)
	epoch    = Pattern(`^(\d{9,19})(?:\.(\d{1,9}))?$`)
	iso      = Pattern(
		`(?i)(\d{4})[-/](\d{1,2})[-/](\d{1,2})(?:[T ,]+(\d{1,2}):(\d{2})(?::(\d{2})(?:[.,](\d{1,9}))?)?)?\s*(Z|UTC|GMT|[-+]\d{2}:?\d{2})?`)
	access = Pattern(
		`(\d{1,2})[/ -]([A-Z][a-z]{2})[/ -](\d{4})[: ](\d{2}):(\d{2}):(\d{2})(?:[.,](\d{1,9}))?\s*(Z|UTC|GMT|[-+]\d{4})?`)
	syslog = Pattern(`\b([A-Z][a-z]{2})\s+(\d{1,2})\s+(\d{2}):(\d{2}):(\d{2})(?:[.,](\d{1,9}))?`)
	clock  = Pattern(
		`(?i)^(?:(today|yesterday)\s+)?(\d{1,2}):(\d{2})(?::(\d{2})(?:[.,](\d{1,9}))?)?\s*(Z|UTC|GMT|[-+]\d{2}:?\d{2})?$`)
	offset = Pattern(`([-+])(\d{2}):?(\d{2})`)
)

// lengths are those of the units, ns.
var lengths = map[string]int64{"ns": 1, "us": 1e3, "µs": 1e3, "ms": 1e6, "s": 1e9, "m": 60e9, "h": 3600e9, "d": 86400e9,
	"w": 7 * 86400e9}

// longest is the longest length, seconds: more than lie between the first and the last day.
const longest = 10_000 * 366 * 86400

// firstDay and lastDay are those between which an instant must be: years have four digits.
var (
	firstDay = time.Date(0, 1, 1, 0, 0, 0, 0, time.UTC)
	lastDay  = time.Date(9999, 12, 31, 0, 0, 0, 0, time.UTC)
)

var months = strings.Split("jan feb mar apr may jun jul aug sep oct nov dec", " ")

func parseRelative(text string, zone *time.Location, now time.Time) (time.Time, bool) {
	m := relative().FindStringSubmatch(text)
	bare := m == nil && ago().MatchString(text)
	if !bare && (m == nil || m[1] == "" && m[2] == "") {
		return time.Time{}, false
	}
	at, rest := now, text
	if !bare {
		rest = m[2]
		switch strings.ToLower(m[1]) {
		case "today":
			at = startOfDay(now, zone, 0)
		case "yesterday":
			at = startOfDay(now, zone, -1)
		}
	}
	for _, part := range signed().FindAllStringSubmatch(rest, -1) {
		amount, err := strconv.ParseFloat(part[2], 64)
		// Seconds and what is left of one apart: a Duration ends at 292 years.
		seconds, rest := math.Modf(amount * float64(lengths[strings.ToLower(part[3])]) / 1e9)
		if err != nil || seconds > longest {
			return time.Time{}, false
		}
		nanos := math.Round(rest * 1e9)
		if bare || part[1] == "-" {
			seconds, nanos = -seconds, -nanos
		}
		at = time.Unix(at.Unix()+int64(seconds), int64(at.Nanosecond())+int64(nanos))
		if at.Before(firstDay) || at.After(lastDay) {
			return time.Time{}, false
		}
	}
	return at, true
}

// startOfDay is the midnight before an instant, some days on.
func startOfDay(at time.Time, zone *time.Location, days int) time.Time {
	year, month, day := at.In(zone).Date()
	return local(time.Date(year, month, day+days, 0, 0, 0, 0, time.UTC), zone)
}

// parseEpoch tells seconds, ms, us and ns apart by their size; a point stands behind seconds.
func parseEpoch(text string, _ *time.Location, _ time.Time) (time.Time, bool) {
	m := epoch().FindStringSubmatch(text)
	if m == nil {
		return time.Time{}, false
	}
	n, err := strconv.ParseInt(m[1], 10, 64)
	if err != nil {
		return time.Time{}, false
	}
	switch digits := len(m[1]); {
	case m[2] != "":
		return time.Unix(n, fraction(m[2])), true
	case digits <= 11:
		return time.Unix(n, 0), true
	case digits <= 14:
		return time.UnixMilli(n), true
	case digits <= 17:
		return time.UnixMicro(n), true
	}
	return time.Unix(0, n), true
}

func parseISO(text string, zone *time.Location, _ time.Time) (time.Time, bool) {
	m := iso().FindStringSubmatch(text)
	if m == nil {
		return time.Time{}, false
	}
	return calendar(digitsValue(m[1]), digitsValue(m[2]), digitsValue(m[3]), m[4:], zone)
}

// parseAccess finds the time of an access log: 21/Nov/2026:03:46:26 +0100.
func parseAccess(text string, zone *time.Location, _ time.Time) (time.Time, bool) {
	m := access().FindStringSubmatch(text)
	if m == nil {
		return time.Time{}, false
	}
	return calendar(digitsValue(m[3]), slices.Index(months, strings.ToLower(m[2]))+1, digitsValue(m[1]), m[4:], zone)
}

// parseSyslog finds a time without a year: Nov 21 03:46:26. What would lie ahead is of the year before.
func parseSyslog(text string, zone *time.Location, now time.Time) (time.Time, bool) {
	m := syslog().FindStringSubmatch(text)
	if m == nil {
		return time.Time{}, false
	}
	month, year := slices.Index(months, strings.ToLower(m[1]))+1, now.In(zone).Year()
	at, ok := calendar(year, month, digitsValue(m[2]), append(m[3:], ""), zone)
	if ok && at.After(now.Add(24*time.Hour)) {
		return calendar(year-1, month, digitsValue(m[2]), append(m[3:], ""), zone)
	}
	return at, ok
}

// parseClock reads a time of today or yesterday.
func parseClock(text string, zone *time.Location, now time.Time) (time.Time, bool) {
	m := clock().FindStringSubmatch(text)
	if m == nil {
		return time.Time{}, false
	}
	year, month, day := now.In(zone).Date()
	if strings.EqualFold(m[1], "yesterday") {
		year, month, day = time.Date(year, month, day-1, 0, 0, 0, 0, time.UTC).Date()
	}
	return calendar(year, int(month), day, m[2:], zone)
}

// calendar makes an instant of a date and hour, minute, second, fraction and offset, as texts that may be empty; ok is
// false when no calendar has it.
func calendar(year, month, day int, clock []string, zone *time.Location) (time.Time, bool) {
	h, m, s := digitsValue(clock[0]), digitsValue(clock[1]), digitsValue(clock[2])
	if month < 1 || month > 12 || day < 1 || day > 31 || h > 23 || m > 59 || s > 60 {
		return time.Time{}, false
	}
	if time.Date(year, time.Month(month), day, 0, 0, 0, 0, time.UTC).Day() != day {
		return time.Time{}, false
	}
	at := time.Date(year, time.Month(month), day, h, m, s, 0, time.UTC)
	if clock[4] == "" {
		at = local(at, zone)
	} else if o := offset().FindStringSubmatch(clock[4]); o != nil {
		ahead := time.Duration(digitsValue(o[2]))*time.Hour + time.Duration(digitsValue(o[3]))*time.Minute
		if o[1] == "-" {
			ahead = -ahead
		}
		at = at.Add(-ahead)
	}
	return at.Add(time.Duration(fraction(clock[3]))), true
}

// local is the instant at which the zone's clock shows what wall shows in UTC. Of two such instants the earlier counts;
// a time that a clock change leaves out is moved on by it.
func local(wall time.Time, zone *time.Location) time.Time {
	_, before := wall.Add(-24 * time.Hour).In(zone).Zone()
	_, after := wall.Add(24 * time.Hour).In(zone).Zone()
	early, late := wall.Add(-time.Duration(max(before, after))*time.Second),
		wall.Add(-time.Duration(min(before, after))*time.Second)
	for _, at := range []time.Time{early, late} {
		if _, is := at.In(zone).Zone(); at.Add(time.Duration(is) * time.Second).Equal(wall) {
			return at
		}
	}
	return late
}

// fraction is digits behind a point, ns.
func fraction(digits string) int64 {
	return int64(digitsValue((digits + "000000000")[:9]))
}

// digitsValue reads the digits that a pattern found; none are 0.
func digitsValue(digits string) int {
	n, _ := strconv.Atoi(digits) //nolint:errcheck // empty is 0, and patterns find few digits
	return n
}
