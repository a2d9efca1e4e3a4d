package encoding

import (
	"math"

	"varve/engine/timefmt"
	"varve/engine/vector"
)

// Time strings: separator 1B | point 1B | fraction digits 1B | zone length 1B | zone | ID and integers (ints.go)
//
// All strings are yyyy-mm-dd, separator, hh:mm:ss, then, unless the digits are 0, the point and that many digits, then
// the zone, which is the same in all. They are kept as numbers of the smallest unit since 1970 in their own zone; only
// what prints back to the same bytes counts, so days and times are those of the calendar.

// timeShape is what the strings of a block have in common.
type timeShape struct {
	separator, point byte
	digits           int
	zone             []byte
}

// Lengths of time strings.
const (
	timeHead  = 19 // yyyy-mm-dd hh:mm:ss
	maxTime   = timeHead + 1 + 9 + maxZone
	maxZone   = 6 // +hh:mm
	dayLength = 86400
)

// shapeOfTime guesses the shape of a string.
func shapeOfTime(s []byte) (t timeShape, ok bool) {
	if len(s) < timeHead || len(s) > maxTime || s[4] != '-' || s[10] != 'T' && s[10] != ' ' {
		return t, false
	}
	t.separator = s[10]
	s = s[timeHead:]
	if len(s) > 1 && (s[0] == '.' || s[0] == ',') {
		t.point, s = s[0], s[1:]
		for t.digits < len(s) && t.digits < 9 && s[t.digits]-'0' < 10 {
			t.digits++
		}
		s = s[t.digits:]
		if t.digits == 0 {
			return t, false
		}
	}
	t.zone = s
	return t, len(s) <= maxZone
}

// parse reads a string of the shape.
func (t *timeShape) parse(s []byte) (int64, bool) {
	fraction := timeHead
	if t.digits > 0 {
		fraction += 1 + t.digits
	}
	if len(s) != fraction+len(t.zone) || s[4] != '-' || s[7] != '-' || s[10] != t.separator || s[13] != ':' ||
		s[16] != ':' || string(s[fraction:]) != string(t.zone) {
		return 0, false
	}
	century, ok1 := twoDigits(s[0:])
	year, ok2 := twoDigits(s[2:])
	month, ok3 := twoDigits(s[5:])
	day, ok4 := twoDigits(s[8:])
	hour, ok5 := twoDigits(s[11:])
	minute, ok6 := twoDigits(s[14:])
	second, ok7 := twoDigits(s[17:])
	if !(ok1 && ok2 && ok3 && ok4 && ok5 && ok6 && ok7) || month < 1 || month > 12 || day < 1 || hour > 23 ||
		minute > 59 || second > 59 {
		return 0, false
	}
	y := int(century*100 + year)
	days := timefmt.Days(y, int(month), int(day))
	if _, m, d := timefmt.Civil(days); m != int(month) || d != int(day) {
		return 0, false // February 30
	}
	x := days*dayLength + int64(hour*3600+minute*60+second)
	if t.digits == 0 {
		return x, true
	}
	if s[timeHead] != t.point {
		return 0, false
	}
	unit := int64(pow10[t.digits])
	if x > math.MaxInt64/unit-1 || x < math.MinInt64/unit+1 {
		return 0, false
	}
	part := int64(0)
	for _, c := range s[timeHead+1 : fraction] {
		if c-'0' > 9 {
			return 0, false
		}
		part = part*10 + int64(c-'0')
	}
	return x*unit + part, true
}

// timeWriter prints times of one shape. It caches the text of the day, because consecutive times mostly have the same
// day.
type timeWriter struct {
	timeShape
	day  int64
	text [11]byte // of the day, with the separator
}

func (t *timeWriter) append(dst []byte, x int64) ([]byte, bool) {
	unit := int64(pow10[t.digits])
	part := x % unit
	if x /= unit; part < 0 {
		part += unit
		x--
	}
	second := x % dayLength
	day := x / dayLength
	if second < 0 {
		second += dayLength
		day--
	}
	if day != t.day || t.text[4] == 0 {
		year, month, d := timefmt.Civil(day)
		if year < 0 || year > 9999 {
			return dst, false
		}
		text := appendPadded(t.text[:0], uint64(year), 4)
		text = appendPadded(append(text, '-'), uint64(month), 2)
		appendPadded(append(text, '-'), uint64(d), 2) // all of it in t.text
		t.day, t.text[10] = day, t.separator
	}
	dst = append(dst, t.text[:]...)
	dst = appendVariable(dst, timeSlot, 0, uint64(second))
	if t.digits > 0 {
		dst = appendPadded(append(dst, t.point), uint64(part), t.digits)
	}
	return append(dst, t.zone...), true
}

// planTimes appends the strings when all are of one shape.
func planTimes(e *Encoder, dst []byte, b *textBlock) (out []byte, cost int) {
	shape, ok := shapeOfTime(b.string(0))
	if !ok {
		return dst, never
	}
	e.texts = vector.Sized(e.texts, len(b.views))
	for i, w := range b.views {
		x, ok := shape.parse(b.heap[w.Off : w.Off+w.Len])
		if !ok {
			return dst, never
		}
		e.texts[i] = uint64(x)
	}
	out = append(dst, shape.separator, shape.point, byte(shape.digits), byte(len(shape.zone)))
	out = e.appendInts(append(out, shape.zone...), e.texts, true)
	return out, len(out) - len(dst)
}

// readShape reads what the strings of a block have in common.
func readShape(r *reader) (t timeShape) {
	t.separator, t.point, t.digits = r.byte(), r.byte(), int(r.byte())
	zone := int(r.byte())
	if t.digits > 9 || zone > maxZone {
		r.fail("times with %d digits and a zone of %d bytes", t.digits, zone)
	}
	t.zone = r.take(zone)
	return t
}

func decodeTimes(d *Decoder, r *reader, v *vector.Vector, n int, _ *vector.Vector) {
	w := timeWriter{timeShape: readShape(r)}
	d.decodeTexts(r, n)
	if r.err != nil {
		return
	}
	v.Views = vector.Sized(v.Views, n)
	heap := v.Heap[:0]
	for i, x := range d.texts {
		from := len(heap)
		var ok bool
		if heap, ok = w.append(heap, int64(x)); !ok {
			r.fail("time %d lies outside of the calendar", int64(x))
			return
		}
		v.Views[i] = vector.View{Off: uint32(from), Len: uint32(len(heap) - from)}
	}
	v.Heap = heap
}

func keepTime(d *Decoder, r *reader, n int, s []byte, keep vector.Bitmap) bool {
	shape := readShape(r)
	x, ok := shape.parse(s)
	return d.keepText(r, n, uint64(x), ok, keep)
}
