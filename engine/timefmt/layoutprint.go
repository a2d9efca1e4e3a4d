package timefmt

import (
	"strconv"
	"time"
)

// moment is a time taken apart for printing.
type moment struct {
	sec, offset        int64 // seconds since the epoch; seconds east
	nanos              int32
	days               int64 // local day number
	year, month, day   int
	hour, minute, secs int
	loc                *time.Location
}

// Append prints nanoseconds since the epoch as seen in loc (nil: UTC).
func (l *Layout) Append(dst []byte, ns int64, loc *time.Location) []byte {
	sec, nanos := split(ns)
	return l.AppendSeconds(dst, sec, nanos, loc)
}

// AppendSeconds is Append for the whole calendar.
func (l *Layout) AppendSeconds(dst []byte, sec int64, nanos int32, loc *time.Location) []byte {
	m := moment{sec: sec, nanos: nanos, offset: offsetAt(sec, loc), loc: loc}
	wall := sec + m.offset
	m.days = FloorDiv(wall, secondsPerDay)
	m.year, m.month, m.day = Civil(m.days)
	s := int(wall - m.days*secondsPerDay)
	m.hour, m.minute, m.secs = s/3600, s/60%60, s%60
	for i := range l.items {
		dst = l.items[i].print(dst, &m)
	}
	return dst
}

func (it *item) print(dst []byte, m *moment) []byte {
	switch it.op {
	case opLiteral, opSpace:
		return append(dst, it.lit...)
	case opYear:
		return it.printYear(dst, m.year)
	case opISOYear:
		year, _ := ISOWeek(m.days)
		return it.printYear(dst, year)
	case opMonthShort:
		return append(dst, monthNames[m.month-1][:3]...)
	case opMonthLong:
		return append(dst, monthNames[m.month-1]...)
	case opWeekdayName:
		return append(dst, weekdayNames[Weekday(m.days)][:3]...)
	case opWeekdayLong:
		return append(dst, weekdayNames[Weekday(m.days)]...)
	case opAMPM:
		return append(dst, "AMPM"[m.hour/12*2:][:2]...)
	case opAMPMLower:
		return append(dst, "ampm"[m.hour/12*2:][:2]...)
	case opFraction, opFractionExact:
		if it.width == 0 {
			return appendFraction(dst, m.nanos)
		}
		return appendPadded(append(dst, '.'), cutNanos(m.nanos, it.width), int(it.width), '0')
	case opFractionFixed:
		return appendPadded(dst, cutNanos(m.nanos, it.width), int(it.width), '0')
	case opTimestamp:
		return strconv.AppendInt(dst, m.sec, 10)
	case opOffset, opOffsetColon, opOffsetSeconds, opOffsetHours, opOffsetLoose, opOffsetRFC:
		return it.printOffset(dst, m.offset)
	case opZoneName:
		if m.loc == nil {
			return append(dst, "UTC"...)
		}
		name, _ := time.Unix(m.sec, 0).In(m.loc).Zone()
		return append(dst, name...)
	}
	return appendPadded(dst, it.number(m), int(it.width), it.pad)
}

// number is the value of a numeric item.
func (it *item) number(m *moment) int64 {
	switch it.op {
	case opYearDiv100:
		return max(0, FloorDiv(int64(m.year), 100))
	case opYearMod100:
		return FloorMod(int64(m.year), 100)
	case opISOYearMod100:
		year, _ := ISOWeek(m.days)
		return FloorMod(int64(year), 100)
	case opQuarter:
		return int64(m.month+2) / 3
	case opMonth:
		return int64(m.month)
	case opDay:
		return int64(m.day)
	case opWeekFromSun:
		return int64(YearDay(m.year, m.month, m.day)+6-Weekday(m.days)) / 7
	case opWeekFromMon:
		return int64(YearDay(m.year, m.month, m.day)+6-(Weekday(m.days)+6)%7) / 7
	case opISOWeek:
		_, week := ISOWeek(m.days)
		return int64(week)
	case opWeekdayFromSun:
		return int64(Weekday(m.days))
	case opWeekdayFromMon:
		return int64((Weekday(m.days)+6)%7 + 1)
	case opYearDay:
		return int64(YearDay(m.year, m.month, m.day))
	case opHour:
		return int64(m.hour)
	case opHour12:
		return int64((m.hour+11)%12 + 1)
	case opMinute:
		return int64(m.minute)
	case opSecond:
		return int64(m.secs)
	case opNanosecond:
		return int64(m.nanos)
	}
	panic("timefmt: item is not a number")
}

func (it *item) printYear(dst []byte, year int) []byte {
	switch {
	case year > 9999 && it.pad == '0':
		dst = append(dst, '+')
	case year < 0:
		dst, year = append(dst, '-'), -year
	}
	return appendPadded(dst, int64(year), int(it.width), it.pad)
}

func (it *item) printOffset(dst []byte, offset int64) []byte {
	sign := byte('+')
	if offset < 0 {
		sign, offset = '-', -offset
	}
	dst = appendTwo(append(dst, sign), int(offset/3600))
	switch it.op {
	case opOffsetHours:
		return dst
	case opOffset, opOffsetLoose:
		return appendTwo(dst, int(offset/60%60))
	}
	dst = appendTwo(append(dst, ':'), int(offset/60%60))
	if it.op == opOffsetSeconds {
		dst = appendTwo(append(dst, ':'), int(offset%60))
	}
	return dst
}

// cutNanos keeps the first width digits of nine.
func cutNanos(nanos int32, width uint8) int64 {
	n := int64(nanos)
	for range 9 - width {
		n /= 10
	}
	return n
}
