package timefmt

import (
	"fmt"
	"slices"
	"unicode/utf8"
)

// Layout is a compiled strftime pattern, for reading and printing. Immutable; safe for concurrent use.
//
// Specifiers: %Y %C %y %G %g %q %m %b %B %h %d %e %a %A %w %u %U %W %V %j %D %x %F %v %H %k %I %l %P %p %M %S %f %.f
// %.3f %.6f %.9f %3f %6f %9f %R %T %X %r %c %+ %Z %z %:z %::z %:::z %#z %s %t %n %%. Numbers take a flag after the %:
// - prints without padding, _ with blanks, 0 with zeros.
type Layout struct {
	text   string
	items  []item
	strict bool
}

// item is one step of a layout.
type item struct {
	op    op
	pad   byte // printing: '0', ' ' or 0 for none
	width uint8
	lit   string // opLiteral
}

type op uint8

const (
	opLiteral op = iota
	opSpace      // any run of blanks, also none
	opYear
	opYearDiv100
	opYearMod100
	opISOYear
	opISOYearMod100
	opQuarter
	opMonth
	opDay
	opWeekFromSun
	opWeekFromMon
	opISOWeek
	opWeekdayFromSun // 0..6
	opWeekdayFromMon // 1..7
	opYearDay
	opHour
	opHour12
	opMinute
	opSecond
	opNanosecond  // %f: a count of nanoseconds
	opTimestamp   // %s
	opMonthShort  // names: reading takes short and long names in any case
	opMonthLong   //
	opWeekdayName // short
	opWeekdayLong
	opAMPM // upper case
	opAMPMLower
	opFraction      // %.f: nothing, or a point and digits; width is the digits to print, 0 for as many as needed
	opFractionFixed // %3f: exactly width digits
	opOffset        // %z
	opOffsetColon   // %:z
	opOffsetSeconds // %::z
	opOffsetHours   // %:::z
	opOffsetLoose   // %#z: also Z and hours alone
	opZoneName      // %Z: printed; skipped when reading, read as a zone when strict
	opOffsetRFC     // the offset of %+: Z or +08:00
	opFractionExact // %.3f when strict: a point and exactly width digits
	opDecimals      // %f of Decimals: digits of the second's fraction
)

// maxLayout bounds the text of a layout.
const maxLayout = 1024

// Compile reads a strftime pattern. The error names the specifier.
func Compile(strftime string) (*Layout, error) {
	if len(strftime) > maxLayout {
		return nil, fmt.Errorf("time format of %d bytes is longer than %d", len(strftime), maxLayout)
	}
	l := &Layout{text: strftime}
	if err := l.compile(strftime); err != nil {
		return nil, err
	}
	return l, nil
}

// CompileStrict is Compile for layouts that read as scripts want it: a time of day has to be there (or %s), %.3f takes
// exactly three digits, of two-digit years 69 is 1969, and %Z reads the name of a zone. Parse tells by ErrIncomplete
// when the text is good and says too little.
func CompileStrict(strftime string) (*Layout, error) {
	l, err := Compile(strftime)
	if err != nil {
		return nil, err
	}
	l.strict = true
	for i := range l.items {
		if it := &l.items[i]; it.op == opFraction && it.width > 0 {
			it.op = opFractionExact
		}
	}
	return l, nil
}

// Decimals is the layout with %f as the digits of the second's fraction, as many as there are: 5 is half a second.
func (l *Layout) Decimals() *Layout {
	d := &Layout{text: l.text, items: slices.Clone(l.items), strict: l.strict}
	for i := range d.items {
		if it := &d.items[i]; it.op == opNanosecond {
			it.op = opDecimals
		}
	}
	return d
}

// String is the pattern.
func (l *Layout) String() string { return l.text }

func (l *Layout) compile(s string) error {
	for s != "" {
		if s[0] != '%' {
			s = l.text1(s)
			continue
		}
		rest, err := l.specifier(s[1:])
		if err != nil {
			return fmt.Errorf("time format %q: %w", l.text, err)
		}
		s = rest
	}
	return nil
}

// text1 takes a run of blanks or of other characters.
func (l *Layout) text1(s string) (rest string) {
	i := 0
	for i < len(s) && isBlank(s[i]) {
		i++
	}
	if i > 0 {
		l.items = append(l.items, item{op: opSpace, lit: s[:i]})
		return s[i:]
	}
	for i < len(s) && s[i] != '%' && !isBlank(s[i]) {
		i++
	}
	l.items = append(l.items, item{op: opLiteral, lit: s[:i]})
	return s[i:]
}

// specifier takes what follows a percent sign.
func (l *Layout) specifier(s string) (rest string, err error) {
	var flag byte
	if s != "" && (s[0] == '-' || s[0] == '_' || s[0] == '0') {
		flag, s = s[0], s[1:]
	}
	if flag == 0 {
		if rest, ok := l.special(s); ok {
			return rest, nil
		}
	}
	if s == "" {
		return "", fmt.Errorf("it ends in the middle of a specifier")
	}
	if it, ok := numbers[s[0]]; ok {
		switch flag {
		case '-':
			it.pad = 0
		case '_':
			it.pad = ' '
		case '0':
			it.pad = '0'
		}
		l.items = append(l.items, it)
		return s[1:], nil
	}
	_, size := utf8.DecodeRuneInString(s)
	if flag == 0 {
		if it, ok := names[s[0]]; ok {
			l.items = append(l.items, it)
			return s[1:], nil
		}
		if whole, ok := composites[s[0]]; ok {
			return s[1:], l.compile(whole)
		}
		return "", fmt.Errorf("unknown specifier %%%s", s[:size])
	}
	return "", fmt.Errorf("unknown specifier %%%c%s", flag, s[:size])
}

// special takes the specifiers of more than one character.
func (l *Layout) special(s string) (rest string, ok bool) {
	for _, c := range specials {
		if len(s) >= len(c.text) && s[:len(c.text)] == c.text {
			l.items = append(l.items, c.item)
			return s[len(c.text):], true
		}
	}
	return s, false
}

// rfcOffset stands in composites for the offset of RFC 3339; scripts cannot write it.
const rfcOffset = "\x00z"

var specials = []struct {
	text string
	item item
}{
	{".f", item{op: opFraction}}, {".3f", item{op: opFraction, width: 3}}, {".6f", item{op: opFraction, width: 6}},
	{".9f", item{op: opFraction, width: 9}},
	{"3f", item{op: opFractionFixed, width: 3}}, {"6f", item{op: opFractionFixed, width: 6}},
	{"9f", item{op: opFractionFixed, width: 9}},
	{":::z", item{op: opOffsetHours}}, {"::z", item{op: opOffsetSeconds}}, {":z", item{op: opOffsetColon}},
	{"#z", item{op: opOffsetLoose}},
	{rfcOffset, item{op: opOffsetRFC}},
}

var numbers = map[byte]item{
	'Y': {op: opYear, width: 4, pad: '0'}, 'C': {op: opYearDiv100, width: 2, pad: '0'},
	'y': {op: opYearMod100, width: 2, pad: '0'},
	'G': {op: opISOYear, width: 4, pad: '0'}, 'g': {op: opISOYearMod100, width: 2, pad: '0'},
	'q': {op: opQuarter, width: 1},
	'm': {op: opMonth, width: 2, pad: '0'}, 'd': {op: opDay, width: 2, pad: '0'}, 'e': {op: opDay, width: 2, pad: ' '},
	'U': {op: opWeekFromSun, width: 2, pad: '0'}, 'W': {op: opWeekFromMon, width: 2, pad: '0'},
	'V': {op: opISOWeek, width: 2, pad: '0'},
	'w': {op: opWeekdayFromSun, width: 1}, 'u': {op: opWeekdayFromMon, width: 1},
	'j': {op: opYearDay, width: 3, pad: '0'},
	'H': {op: opHour, width: 2, pad: '0'}, 'k': {op: opHour, width: 2, pad: ' '},
	'I': {op: opHour12, width: 2, pad: '0'}, 'l': {op: opHour12, width: 2, pad: ' '},
	'M': {op: opMinute, width: 2, pad: '0'}, 'S': {op: opSecond, width: 2, pad: '0'},
	'f': {op: opNanosecond, width: 9, pad: '0'},
	's': {op: opTimestamp, width: 20},
}

var names = map[byte]item{
	'b': {op: opMonthShort}, 'h': {op: opMonthShort}, 'B': {op: opMonthLong}, 'a': {op: opWeekdayName},
	'A': {op: opWeekdayLong},
	'p': {op: opAMPM}, 'P': {op: opAMPMLower}, 'z': {op: opOffset}, 'Z': {op: opZoneName},
	'%': {op: opLiteral, lit: "%"},
	't': {op: opSpace, lit: "\t"}, 'n': {op: opSpace, lit: "\n"},
}

var composites = map[byte]string{
	'D': "%m/%d/%y", 'x': "%m/%d/%y", 'F': "%Y-%m-%d", 'v': "%e-%b-%Y", 'R': "%H:%M", 'T': "%H:%M:%S", 'X': "%H:%M:%S",
	'r': "%I:%M:%S %p",
	'c': "%a %b %e %H:%M:%S %Y", '+': "%Y-%m-%dT%H:%M:%S%.f%" + rfcOffset,
}

var monthNames = [...]string{"January", "February", "March", "April", "May", "June", "July", "August", "September",
	"October", "November", "December"}
var weekdayNames = [...]string{"Sunday", "Monday", "Tuesday", "Wednesday", "Thursday", "Friday", "Saturday"}
