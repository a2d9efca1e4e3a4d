// Package timefmt reads and prints times, durations and intervals as the interface wants them: SQL timestamp text,
// strftime-style layouts, durations in words, intervals, and time zones by name or offset.
//
// Times are seconds since 1970-01-01T00:00:00Z with nanoseconds apart where the whole calendar matters, and plain
// nanoseconds where the caller's column has that unit. Leap seconds do not exist: :60 is the next minute's :00.
//
// Everything here is safe for concurrent use. Reading with a compiled Layout allocates nothing.
package timefmt

import (
	"errors"
	"time"
)

// Bounds of the calendar: about what a timestamp in microseconds can hold.
const (
	minYear = -262143
	maxYear = 262142
)

const (
	secondsPerDay = 86400
	nanosPerSec   = int64(time.Second)
)

// ErrRange is the error for times outside the calendar or the unit asked for.
var ErrRange = errors.New("time out of range")

// ErrSyntax is the error for text that does not have the form asked for.
var ErrSyntax = errors.New("unreadable time")

// ErrIncomplete is the error of strict layouts for text without a full date and time.
var ErrIncomplete = errors.New("input is not enough for unique date and time")

// Days is the number of days from 1970-01-01 to a day of the proleptic Gregorian calendar; negative before it.
// month is 1..12, day 1..31.
func Days(year, month, day int) int64 {
	y := int64(year)
	if month <= 2 {
		y--
	}
	era := FloorDiv(y, 400)
	yoe := y - era*400
	mp := int64((month + 9) % 12)
	doy := (153*mp+2)/5 + int64(day) - 1
	doe := yoe*365 + yoe/4 - yoe/100 + doy
	return era*146097 + doe - 719468
}

// Civil is the inverse of Days.
func Civil(days int64) (year, month, day int) {
	z := days + 719468
	era := FloorDiv(z, 146097)
	doe := z - era*146097
	yoe := (doe - doe/1460 + doe/36524 - doe/146096) / 365
	doy := doe - (365*yoe + yoe/4 - yoe/100)
	mp := (5*doy + 2) / 153
	day = int(doy - (153*mp+2)/5 + 1)
	month = int(mp+2)%12 + 1
	y := yoe + era*400
	if month <= 2 {
		y++
	}
	return int(y), month, day
}

// Weekday is the day of the week of a day number: 0 is Sunday.
func Weekday(days int64) int { return int(FloorMod(days+4, 7)) }

// DaysInMonth is the length of a month.
func DaysInMonth(year, month int) int {
	switch month {
	case 2:
		if isLeap(year) {
			return 29
		}
		return 28
	case 4, 6, 9, 11:
		return 30
	}
	return 31
}

// YearDay is the day within the year, from 1.
func YearDay(year, month, day int) int { return int(Days(year, month, day)-Days(year, 1, 1)) + 1 }

// ISOWeek is the ISO 8601 year and week of a day number.
func ISOWeek(days int64) (year, week int) {
	thursday := days - FloorMod(days+3, 7) + 3
	year, _, _ = Civil(thursday)
	return year, int(thursday-Days(year, 1, 1))/7 + 1
}

func isLeap(y int) bool { return y%4 == 0 && (y%100 != 0 || y%400 == 0) }

// FloorDiv is a / b rounded down.
func FloorDiv(a, b int64) int64 {
	q := a / b
	if a%b != 0 && (a < 0) != (b < 0) {
		q--
	}
	return q
}

// FloorMod is what FloorDiv leaves: 0, or of the sign of b and nearer to 0.
func FloorMod(a, b int64) int64 { return a - FloorDiv(a, b)*b }

// local says how a wall-clock time lies in a zone.
type local uint8

const (
	unique    local = iota
	ambiguous       // the clock was set back: the time came twice
	missing         // the clock was set forward over it
)

// toUTC places the wall-clock time wall, in seconds as if the zone were UTC, into a zone. For an ambiguous time it
// gives the first of the two, for a missing one the instant at which a clock that was not set forward shows it.
func toUTC(wall int64, loc *time.Location) (sec int64, how local) {
	if loc == nil || loc == time.UTC {
		return wall, unique
	}
	// Offsets change rarely: those of a day before and after are all there are.
	before, after := offsetAt(wall-secondsPerDay, loc), offsetAt(wall+secondsPerDay, loc)
	u1, u2 := wall-before, wall-after
	ok1, ok2 := offsetAt(u1, loc) == before, offsetAt(u2, loc) == after
	switch {
	case ok1 && ok2 && u1 != u2:
		return min(u1, u2), ambiguous
	case ok1:
		return u1, unique
	case ok2:
		return u2, unique
	}
	return u1, missing
}

// offsetAt is the zone's offset from UTC at an instant, in seconds.
func offsetAt(sec int64, loc *time.Location) int64 {
	if loc == nil || loc == time.UTC {
		return 0
	}
	_, off := time.Unix(sec, 0).In(loc).Zone()
	return int64(off)
}

// toNanos joins seconds and nanoseconds, checking the range of nanosecond timestamps (1677 to 2262).
func toNanos(sec int64, nanos int32) (int64, error) {
	const maxSec, minSec = (1<<63 - 1) / nanosPerSec, -(1 << 63) / nanosPerSec
	// One second less than the true bounds: no overflow whatever the nanoseconds are.
	if sec >= maxSec || sec < minSec {
		if sec == maxSec && int64(nanos) <= (1<<63-1)%nanosPerSec {
			return sec*nanosPerSec + int64(nanos), nil
		}
		return 0, ErrRange
	}
	return sec*nanosPerSec + int64(nanos), nil
}

// split is the inverse of joining: seconds rounded down and the rest.
func split(ns int64) (sec int64, nanos int32) {
	sec = FloorDiv(ns, nanosPerSec)
	return sec, int32(ns - sec*nanosPerSec)
}
