package stdlib

import (
	"regexp"
	"strings"
	"time"

	"varve/engine/timefmt"
	"varve/pipeline/value"
	"varve/pipeline/vrl"
)

// dateStep is one part of a date format.
type dateStep struct {
	letter byte // of the format; 0 for text
	count  int
	text   string
}

// dateFormat reads dates by a format of letters: yyyy-MM-dd'T'HH:mm:ss.SSSZ.
type dateFormat struct {
	steps []dateStep
	zone  *time.Location // of texts that name none
}

// dateExpressions match each part; those of MMM and more letters and of a few others depend on the count.
var dateExpressions = map[byte]string{'y': `\d{1,4}`, 'M': `\d{1,2}`, 'd': `\d{1,2}`, 'H': `\d{1,2}`, 'h': `\d{1,2}`,
	'K': `\d{1,2}`, 'k': `\d{1,2}`, 'm': `\d{1,2}`, 's': `\d{1,2}`,
	'a': `(?i:am|pm)`, 'E': `[A-Za-z]+`, 'Z': `(?:Z|[+-]\d{2}:?\d{2})`, 'z': `[\w+:/-]+`}

// dateMatcher matches a date and gives its milliseconds: date("format"[, "zone"]).
func dateMatcher(c ruleCall) (string, groksFilter, error) {
	if len(c.args) < 1 || len(c.args) > 2 || !c.args[0].quoted || len(c.args) == 2 && !c.args[1].quoted {
		return "", nil, invalidArguments(c.name)
	}
	d := dateFormat{zone: time.UTC}
	if len(c.args) == 2 {
		zone, ok := looseZone(c.args[1].text)
		if !ok {
			return "", nil, invalidArguments(c.name)
		}
		d.zone = zone
	}
	if !d.compile(c.args[0].text) {
		return "", nil, invalidArguments(c.name)
	}
	return d.expression(), onText(d.parse), nil
}

// looseZone finds a zone by name, by an offset with or without minutes, or by UTC with an offset.
func looseZone(s string) (*time.Location, bool) {
	if offset, ok := strings.CutPrefix(s, "UTC"); ok && offset != "" {
		s = offset
	}
	if s == "CET" || s == "EET" || s == "MET" || s == "WET" || s == "EST" || s == "MST" || s == "HST" || s == "GMT" ||
		s == "UT" {
		if loc, err := timefmt.Zone(s); err == nil {
			return loc, true
		}
		return time.UTC, s == "GMT" || s == "UT"
	}
	loc, err := timefmt.Zone(s)
	return loc, err == nil
}

func (d *dateFormat) compile(s string) bool {
	for i := 0; i < len(s); {
		c := s[i]
		switch {
		case c == '\'':
			end := strings.IndexByte(s[i+1:], '\'')
			if end < 0 {
				return false
			}
			text := s[i+1 : i+1+end]
			if text == "" { // two quotes are one
				text = "'"
			}
			d.steps = append(d.steps, dateStep{text: text})
			i += end + 2
		case c|0x20 >= 'a' && c|0x20 <= 'z':
			n := 1
			for i+n < len(s) && s[i+n] == c {
				n++
			}
			if dateExpressions[c] == "" && c != 'S' {
				return false
			}
			d.steps = append(d.steps, dateStep{letter: c, count: n})
			i += n
		default:
			d.steps = append(d.steps, dateStep{text: s[i : i+1]})
			i++
		}
	}
	return len(d.steps) > 0
}

// expression matches what parse reads.
func (d *dateFormat) expression() string {
	var b strings.Builder
	for i, p := range d.steps {
		switch {
		case p.letter == 0:
			b.WriteString(regexp.QuoteMeta(p.text))
		case p.letter == 'S':
			b.WriteString(`\d{1,9}`)
		case p.letter == 'M' && p.count > 2:
			b.WriteString(`[A-Za-z]+`)
		case i+1 < len(d.steps) && d.steps[i+1].letter != 0 && p.count <= 4 && p.count > 1 &&
			strings.IndexByte("yMdHhms", p.letter) >= 0:
			b.WriteString(`\d{` + string(rune('0'+p.count)) + `}`) // the next part follows directly
		default:
			b.WriteString(dateExpressions[p.letter])
		}
	}
	return b.String()
}

// dateFields are the parts of a date as they were read; -1 is none.
type dateFields struct {
	year, month, day, hour, minute, second, nanos int
	half                                          int // 0 before noon, 1 after
	zone                                          *time.Location
}

// parse reads a text that the expression matched, as milliseconds. Without a year it is of the current one, without any
// date of the current day.
func (d *dateFormat) parse(f *vrl.Frame, s string) (value.Value, bool) {
	x := dateFields{year: -1, month: -1, day: -1, half: -1, zone: d.zone}
	for i, p := range d.steps {
		var ok bool
		direct := i+1 < len(d.steps) && d.steps[i+1].letter != 0
		if s, ok = x.read(p, s, direct); !ok {
			return value.Null, false
		}
	}
	now := f.Now().In(x.zone)
	if x.year < 0 {
		if x.year = now.Year(); x.month < 0 && x.day < 0 {
			x.month, x.day = int(now.Month()), now.Day()
		}
	}
	x.month, x.day = max(x.month, 1), max(x.day, 1)
	if x.half >= 0 {
		x.hour = x.hour%12 + 12*x.half
	}
	if s != "" || x.month > 12 || x.day > timefmt.DaysInMonth(x.year, x.month) || x.hour > 24 || x.minute > 59 ||
		x.second > 60 {
		return value.Null, false
	}
	return value.Int(time.Date(x.year, time.Month(x.month), x.day, x.hour, x.minute, x.second, x.nanos,
		x.zone).UnixMilli()), true
}

// read reads one part; direct reports that the next part follows without text between.
func (x *dateFields) read(p dateStep, s string, direct bool) (rest string, ok bool) {
	switch {
	case p.letter == 0:
		return strings.CutPrefix(s, p.text)
	case p.letter == 'E' || p.letter == 'M' && p.count > 2:
		return x.readName(p, s)
	case p.letter == 'a':
		x.half = 0
		if len(s) >= 2 && s[0]|0x20 == 'p' {
			x.half = 1
		}
		return s[min(2, len(s)):], len(s) >= 2
	case p.letter == 'Z' || p.letter == 'z':
		end := 0
		for end < len(s) && s[end] != ' ' && s[end] != ']' && s[end] != ',' {
			end++
		}
		if x.zone, ok = looseZone(s[:end]); !ok {
			return s, false
		}
		return s[end:], true
	}
	width := 0
	for width < len(s) && s[width]-'0' <= 9 && width < 9 && (!direct || width < p.count) {
		width++
	}
	n, why := decimal(s[:width])
	if why != "" {
		return s, false
	}
	switch p.letter {
	case 'S':
		for range 9 - width {
			n *= 10
		}
		x.nanos = int(n)
	case 'y':
		if x.year = int(n); width <= 2 {
			x.year += 2000
			if n > 68 {
				x.year -= 100
			}
		}
	case 'M':
		x.month = int(n)
	case 'd':
		x.day = int(n)
	case 'm':
		x.minute = int(n)
	case 's':
		x.second = int(n)
	default:
		x.hour = int(n)
	}
	return s[width:], true
}

// readName reads the name of a month or weekday; the latter says nothing new.
func (x *dateFields) readName(p dateStep, s string) (rest string, ok bool) {
	end := 0
	for end < len(s) && s[end]|0x20 >= 'a' && s[end]|0x20 <= 'z' {
		end++
	}
	if end < 3 {
		return s, false
	}
	if p.letter == 'M' {
		x.month = monthOf(s[:3])
		if x.month == 0 {
			return s, false
		}
	}
	return s[end:], true
}
