package timefmt

import (
	"strings"
	"time"
)

// fields collects what a layout read, before it is put together. have holds bit 1<<f for the fields that were there.
type fields struct {
	have   uint32
	v      [fieldCount]int64
	strict bool           // see CompileStrict
	zone   *time.Location // what a strict %Z read
}

const (
	fYear = iota
	fYearDiv100
	fYearMod100
	fISOYear
	fISOYearMod100
	fQuarter
	fMonth
	fDay
	fWeekFromSun
	fWeekFromMon
	fISOWeek
	fWeekday // 0 is Sunday
	fYearDay
	fHourDiv12
	fHourMod12
	fMinute
	fSecond
	fNano
	fTimestamp
	fOffset // seconds east
	fieldCount
)

const dateFields = 1<<(fYearDay+1) - 1
const timeFields = 1<<fHourDiv12 | 1<<fHourMod12 | 1<<fMinute | 1<<fSecond

func (f *fields) has(i int) bool { return f.have>>i&1 != 0 }

// set puts a field; one that is there already must be equal.
func (f *fields) set(i int, x, lo, hi int64) bool {
	if x < lo || x > hi || f.has(i) && f.v[i] != x {
		return false
	}
	f.have |= 1 << i
	f.v[i] = x
	return true
}

// Parse reads the whole text. hasOffset reports that the text had an offset from UTC (or %s); otherwise the time is
// local to loc (nil: UTC), and a local time that loc has twice or never is an error. A layout without a time of day
// reads midnight. Errors are ErrSyntax, ErrRange (nanoseconds reach from 1677 to 2262) and, for strict layouts,
// ErrIncomplete.
func (l *Layout) Parse(text string, loc *time.Location) (ns int64, hasOffset bool, err error) {
	sec, nanos, hasOffset, err := l.ParseSeconds(text, loc)
	if err != nil {
		return 0, hasOffset, err
	}
	ns, err = toNanos(sec, nanos)
	return ns, hasOffset, err
}

// ParseSeconds is Parse for the whole calendar.
func (l *Layout) ParseSeconds(text string, loc *time.Location) (sec int64, nanos int32, hasOffset bool, err error) {
	f := fields{strict: l.strict}
	s := text
	for i := range l.items {
		var ok bool
		if s, ok = l.items[i].read(s, &f); !ok {
			return 0, 0, false, ErrSyntax
		}
	}
	if s != "" {
		return 0, 0, false, ErrSyntax
	}
	return f.resolve(loc)
}

// numberItem is an item that is a number: the field it sets, its most digits, and the values it may have. A sign may
// stand before those that are signed, which then have any number of digits.
type numberItem struct {
	field, width int
	signed       bool
	lo, hi       int64
}

var numberItems = [...]numberItem{
	opYear:          {fYear, 4, true, minYear, maxYear},
	opISOYear:       {fISOYear, 4, true, minYear, maxYear},
	opYearDiv100:    {fYearDiv100, 2, false, 0, 99},
	opYearMod100:    {fYearMod100, 2, false, 0, 99},
	opISOYearMod100: {fISOYearMod100, 2, false, 0, 99},
	opQuarter:       {fQuarter, 1, false, 1, 4},
	opMonth:         {fMonth, 2, false, 1, 12},
	opDay:           {fDay, 2, false, 1, 31},
	opWeekFromSun:   {fWeekFromSun, 2, false, 0, 53},
	opWeekFromMon:   {fWeekFromMon, 2, false, 0, 53},
	opISOWeek:       {fISOWeek, 2, false, 1, 53},
	opYearDay:       {fYearDay, 3, false, 1, 366},
	opMinute:        {fMinute, 2, false, 0, 59},
	opSecond:        {fSecond, 2, false, 0, 60},
	opNanosecond:    {fNano, 9, false, 0, 999999999},
	opTimestamp:     {fTimestamp, 20, true, -1 << 62, 1 << 62},
}

// read reads one item.
func (it *item) read(s string, f *fields) (rest string, ok bool) {
	if int(it.op) < len(numberItems) && numberItems[it.op].width > 0 {
		return f.number(s, &numberItems[it.op])
	}
	switch it.op {
	case opLiteral:
		return strings.CutPrefix(s, it.lit)
	case opSpace:
		return trimBlanks(s), true
	case opHour, opHour12, opWeekdayFromSun, opWeekdayFromMon:
		return it.readMapped(s, f)
	case opMonthShort, opMonthLong:
		i, rest := readName(s, monthNames[:])
		return rest, i >= 0 && f.set(fMonth, int64(i+1), 1, 12)
	case opWeekdayName, opWeekdayLong:
		i, rest := readName(s, weekdayNames[:])
		return rest, i >= 0 && f.set(fWeekday, int64(i), 0, 6)
	case opAMPM, opAMPMLower:
		return f.half(s)
	case opFraction:
		if s == "" || s[0] != '.' {
			return s, true
		}
		nanos, rest, ok := readNanos(s[1:])
		return rest, ok && f.set(fNano, int64(nanos), 0, 999999999)
	case opDecimals:
		nanos, rest, ok := readNanos(s)
		return rest, ok && f.set(fNano, int64(nanos), 0, 999999999)
	case opFractionFixed:
		return f.fraction(s, int(it.width))
	case opFractionExact:
		if s == "" || s[0] != '.' {
			return s, false
		}
		return f.fraction(s[1:], int(it.width))
	case opZoneName:
		i := 0
		for i < len(s) && !isBlank(s[i]) {
			i++
		}
		return s[i:], !f.strict || f.zoneName(s[:i])
	default:
		off, rest, ok := scanOffset(trimBlanks(s), it.op)
		return rest, ok && f.set(fOffset, off, -secondsPerDay+1, secondsPerDay-1)
	}
}

// half reads am or pm.
func (f *fields) half(s string) (rest string, ok bool) {
	if len(s) < 2 || s[1]|0x20 != 'm' || s[0]|0x20 != 'a' && s[0]|0x20 != 'p' {
		return s, false
	}
	half := int64(0)
	if s[0]|0x20 == 'p' {
		half = 1
	}
	return s[2:], f.set(fHourDiv12, half, 0, 1)
}

// fraction reads so many digits of a second's fraction.
func (f *fields) fraction(s string, digits int) (rest string, ok bool) {
	n, rest, ok := readDigits(s, digits, digits)
	for range 9 - digits {
		n *= 10
	}
	return rest, ok && f.set(fNano, int64(n), 0, 999999999)
}

// zoneName takes the name of a zone.
func (f *fields) zoneName(name string) bool {
	switch name {
	case "UTC", "GMT", "UT", "Z":
		return f.set(fOffset, 0, 0, 0)
	}
	loc, err := Zone(name)
	f.zone = loc
	return err == nil
}

// readMapped reads numbers that are kept in another form than written.
func (it *item) readMapped(s string, f *fields) (rest string, ok bool) {
	n, rest, ok := readDigits(trimBlanks(s), 1, int(it.width))
	if !ok {
		return s, false
	}
	switch it.op {
	case opHour:
		return rest, n < 24 && f.set(fHourDiv12, int64(n/12), 0, 1) && f.set(fHourMod12, int64(n%12), 0, 11)
	case opHour12:
		return rest, n >= 1 && n <= 12 && f.set(fHourMod12, int64(n%12), 0, 11)
	case opWeekdayFromSun:
		return rest, f.set(fWeekday, int64(n), 0, 6)
	}
	return rest, n >= 1 && n <= 7 && f.set(fWeekday, int64(n%7), 0, 6)
}

// number reads an item after blanks.
func (f *fields) number(s string, it *numberItem) (rest string, ok bool) {
	s = trimBlanks(s)
	width, neg := min(it.width, maxDigits), false
	if it.signed && s != "" && (s[0] == '-' || s[0] == '+') {
		width, neg, s = maxDigits, s[0] == '-', s[1:]
	}
	n, rest, ok := readDigits(s, 1, width)
	if neg {
		n = -n
	}
	return rest, ok && f.set(it.field, int64(n), it.lo, it.hi)
}

// maxDigits is how many digits surely fit an int64.
const maxDigits = 18

func trimBlanks(s string) string {
	for s != "" && isBlank(s[0]) {
		s = s[1:]
	}
	return s
}

// readName finds the long name, or its first three letters, that s begins with, in any case.
func readName(s string, names []string) (index int, rest string) {
	for i, name := range names {
		if !foldPrefix(s, name[:3]) {
			continue
		}
		if foldPrefix(s, name) {
			return i, s[len(name):]
		}
		return i, s[3:]
	}
	return -1, s
}

func foldPrefix(s, prefix string) bool {
	if len(s) < len(prefix) {
		return false
	}
	for i := range len(prefix) {
		if s[i]|0x20 != prefix[i]|0x20 {
			return false
		}
	}
	return true
}

// scanOffset reads an offset: +0800, +08:00, +08 00; for the loose form also +08 and Z; minutes are optional in the
// hours form; seconds are read where the seconds form has them.
func scanOffset(s string, op op) (sec int64, rest string, ok bool) {
	if (op == opOffsetLoose || op == opOffsetRFC) && s != "" && s[0]|0x20 == 'z' {
		return 0, s[1:], true
	}
	neg := false
	switch {
	case s == "":
		return 0, s, false
	case s[0] == '+':
		s = s[1:]
	case s[0] == '-':
		neg, s = true, s[1:]
	case strings.HasPrefix(s, "\u2212"): // the typographic minus of ISO 8601
		neg, s = true, s[len("\u2212"):]
	default:
		return 0, s, false
	}
	hour, s, ok := readDigits(s, 2, 2)
	if !ok {
		return 0, s, false
	}
	minute, second := 0, 0
	minute, rest, ok = readDigits(skipColons(s), 2, 2)
	switch {
	case ok:
		s = rest
	case op == opOffsetLoose || op == opOffsetHours:
		minute = 0
	default:
		return 0, s, false
	}
	if op == opOffsetSeconds {
		if n, r, ok := readDigits(skipColons(s), 2, 2); ok {
			second, s = n, r
		}
	}
	if minute > 59 || second > 59 {
		return 0, s, false
	}
	if sec = int64(hour)*3600 + int64(minute)*60 + int64(second); neg {
		sec = -sec
	}
	return sec, s, true
}

func skipColons(s string) string {
	for s != "" && (s[0] == ':' || isBlank(s[0])) {
		s = s[1:]
	}
	return s
}

// resolve puts the fields together.
func (f *fields) resolve(loc *time.Location) (sec int64, nanos int32, hasOffset bool, err error) {
	hasOffset = f.has(fOffset) || f.has(fTimestamp)
	if f.has(fNano) {
		nanos = int32(f.v[fNano])
	}
	if f.has(fTimestamp) {
		return f.v[fTimestamp], nanos, true, nil
	}
	if f.strict && !f.complete() {
		return 0, 0, hasOffset, ErrIncomplete
	}
	if f.zone != nil {
		loc, hasOffset = f.zone, true
	}
	days, ok := f.date()
	if !ok {
		return 0, 0, hasOffset, ErrSyntax
	}
	second, ok := f.timeOfDay()
	if !ok {
		return 0, 0, hasOffset, ErrSyntax
	}
	wall := days*secondsPerDay + second
	if f.has(fOffset) {
		return wall - f.v[fOffset], nanos, true, nil
	}
	sec, how := toUTC(wall, loc)
	if how != unique {
		return 0, 0, hasOffset, ErrRange
	}
	return sec, nanos, hasOffset, nil
}

// complete reports whether the fields make a date and a time of day.
func (f *fields) complete() bool {
	all := func(want ...int) bool {
		for _, i := range want {
			if !f.has(i) {
				return false
			}
		}
		return true
	}
	if !all(fHourDiv12, fHourMod12, fMinute) {
		return false
	}
	if (f.has(fYear) || f.has(fYearMod100)) &&
		(all(fMonth, fDay) || all(fYearDay) || all(fWeekday, fWeekFromSun) || all(fWeekday, fWeekFromMon)) {
		return true
	}
	return (f.has(fISOYear) || f.has(fISOYearMod100)) && all(fISOWeek, fWeekday)
}

// timeOfDay is the second of the day. Hours need minutes; twelve-hour times need their half.
func (f *fields) timeOfDay() (second int64, ok bool) {
	if f.have&timeFields == 0 {
		return 0, true
	}
	if !f.has(fHourDiv12) || !f.has(fHourMod12) || !f.has(fMinute) {
		return 0, false
	}
	second = (f.v[fHourDiv12]*12+f.v[fHourMod12])*3600 + f.v[fMinute]*60
	if f.has(fSecond) {
		second += f.v[fSecond]
	}
	return second, true
}

// date is the day number from whichever fields there are: month and day, day of the year, or week and weekday. All
// others must agree with it.
func (f *fields) date() (days int64, ok bool) {
	year, ok := f.year(fYear, fYearDiv100, fYearMod100)
	isoYear, okISO := f.year(fISOYear, -1, fISOYearMod100)
	switch {
	case ok && f.has(fMonth) && f.has(fDay):
		if int(f.v[fDay]) > DaysInMonth(year, int(f.v[fMonth])) {
			return 0, false
		}
		days = Days(year, int(f.v[fMonth]), int(f.v[fDay]))
	case ok && f.has(fYearDay):
		if f.v[fYearDay] == 366 && !isLeap(year) {
			return 0, false
		}
		days = Days(year, 1, 1) + f.v[fYearDay] - 1
	case ok && f.has(fWeekday) && f.has(fWeekFromSun):
		days = dayInWeek(year, f.v[fWeekFromSun], f.v[fWeekday], 0)
	case ok && f.has(fWeekday) && f.has(fWeekFromMon):
		days = dayInWeek(year, f.v[fWeekFromMon], (f.v[fWeekday]+6)%7, 1)
	case okISO && f.has(fISOWeek) && f.has(fWeekday):
		jan4 := Days(isoYear, 1, 4)
		days = jan4 - FloorMod(jan4+3, 7) + (f.v[fISOWeek]-1)*7 + (f.v[fWeekday]+6)%7
	default:
		return 0, false
	}
	return days, f.agrees(days)
}

// dayInWeek is the day with the given weekday, counted from the week's first, of week n; week 1 begins with the year's
// first day first (0 is Sunday).
func dayInWeek(year int, n, weekday, first int64) int64 {
	jan1 := Days(year, 1, 1)
	begin := jan1 + FloorMod(first-int64(Weekday(jan1)), 7) // of week 1
	return begin + (n-1)*7 + weekday
}

// year is the year from its own field, or from its last two digits: 70..99 are 19xx, and 69 when strict.
func (f *fields) year(whole, div, mod int) (year int, ok bool) {
	if f.has(whole) {
		y := f.v[whole]
		if div >= 0 && f.has(div) && FloorDiv(y, 100) != f.v[div] || f.has(mod) && FloorMod(y, 100) != f.v[mod] {
			return 0, false
		}
		return int(y), true
	}
	if !f.has(mod) {
		return 0, false
	}
	if div >= 0 && f.has(div) {
		return int(f.v[div]*100 + f.v[mod]), true
	}
	pivot := int64(70)
	if f.strict {
		pivot = 69
	}
	if f.v[mod] < pivot {
		return int(2000 + f.v[mod]), true
	}
	return int(1900 + f.v[mod]), true
}

// agrees checks every date field that was read against the day found.
func (f *fields) agrees(days int64) bool {
	// The common layouts have year, month and day alone.
	if f.have&dateFields&^(1<<fYear|1<<fMonth|1<<fDay) == 0 {
		return true
	}
	year, month, day := Civil(days)
	isoYear, isoWeek := ISOWeek(days)
	yearDay := YearDay(year, month, day)
	for i, want := range [...]int64{
		fYear: int64(year), fYearDiv100: FloorDiv(int64(year), 100), fYearMod100: FloorMod(int64(year), 100),
		fISOYear: int64(isoYear), fISOYearMod100: FloorMod(int64(isoYear), 100), fQuarter: int64(month+2) / 3,
		fMonth: int64(month), fDay: int64(day), fWeekFromSun: int64(yearDay+6-Weekday(days)) / 7,
		fWeekFromMon: int64(yearDay+6-(Weekday(days)+6)%7) / 7, fISOWeek: int64(isoWeek),
		fWeekday: int64(Weekday(days)),
		fYearDay: int64(yearDay),
	} {
		if f.has(i) && f.v[i] != want {
			return false
		}
	}
	return true
}
