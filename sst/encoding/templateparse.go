package encoding

import (
	"bytes"

	"varve/engine/vector"
)

// charBits says what an ASCII letter or digit is good for.
const (
	digitChar = 1 << iota
	hexChar   // a to f
	smallChar // g to z
	largeChar // A to Z
)

// wordChar holds the charBits of letters and digits, 0 for what parts words.
var wordChar = func() (t [256]byte) {
	for c := '0'; c <= '9'; c++ {
		t[c] = digitChar
	}
	for c := 'a'; c <= 'z'; c++ {
		t[c] = smallChar
	}
	for c := 'a'; c <= 'f'; c++ {
		t[c] = hexChar
	}
	for c := 'A'; c <= 'Z'; c++ {
		t[c] = largeChar
	}
	return t
}()

// variable is one variable of a row: a number, or the place of its text in the heap (offset << 32 | length).
type variable = uint64

func spanOf(from, to int) variable { return uint64(from)<<32 | uint64(to-from) }

func viewOf(v variable) vector.View { return vector.View{Off: uint32(v >> 32), Len: uint32(v)} }

// parser takes rows apart.
type parser struct {
	row      []byte
	base     int // where the row begins in its heap
	template []byte
	vars     []variable
	// words gathers the text of variables, and of the letters next to them, of all rows since it was emptied. Texts
	// that are separate in a row stay separate here.
	words []byte
	last  int // where what was gathered last ends in its heap
}

// parse makes p.template the template of the row heap[from:to] and p.vars its variables; false when the row holds the
// mark. wild are the constant words, by their number in the row, that count as variables.
func (p *parser) parse(heap []byte, from, to int, wild []uint16) bool {
	p.row, p.base, p.template, p.vars = heap[from:to], from, p.template[:0], p.vars[:0]
	row, words, done := p.row, 0, 0 // row[:done] is in the template
	for at := 0; at < len(row); {
		c := row[at]
		kind := wordChar[c]
		if kind == 0 {
			if c == slotMark {
				return false
			}
			at++
			continue
		}
		start := at
		for at++; at < len(row) && wordChar[row[at]] != 0; at++ {
			kind |= wordChar[row[at]]
		}
		if kind&digitChar == 0 && !(kind == hexChar && p.uuidAt(start, at)) {
			words++
			if len(wild) == 0 || int(wild[0]) != words-1 {
				continue
			}
			wild = wild[1:]
		}
		p.template = append(p.template, row[done:start]...)
		if len(p.vars) >= maxSlots-3 { // a composite adds up to two
			p.slot(restSlot, 0, p.span(start, len(row)))
			p.gather(start, len(row))
			return bytes.IndexByte(row[start:], slotMark) < 0
		}
		switch {
		case p.uuidAt(start, at):
			p.slot(uuidSlot, 0, p.span(start, start+uuidLength))
			at = start + uuidLength
		case kind&digitChar == 0:
			p.slot(wordSlot, 0, p.span(start, at))
		case kind == digitChar:
			at = p.number(start, at)
		default:
			at = p.mixed(start, at, kind)
		}
		p.gather(start, at)
		done = at
	}
	p.template = append(p.template, row[done:]...)
	return true
}

// gather adds row[from:to] to words. A blank separates it from the previous text, unless it continues that text
// directly or after a dot, so that addresses stay whole.
func (p *parser) gather(from, to int) {
	switch at := p.base + from; {
	case at == p.last+1 && from > 0 && p.row[from-1] == '.':
		p.words = append(p.words, '.')
	case at != p.last || from == 0:
		p.words = append(p.words, ' ')
	}
	p.words = append(p.words, p.row[from:to]...)
	p.last = p.base + to
}

func (p *parser) slot(k slotKind, width int, v variable) {
	p.template = append(p.template, slotMark, byte(k), byte(width))
	p.vars = append(p.vars, v)
}

// span is the text row[from:to] as a variable.
func (p *parser) span(from, to int) variable { return spanOf(p.base+from, p.base+to) }

// number takes the digits row[start:at], and what belongs to them, and gives where they end.
func (p *parser) number(start, at int) int {
	row := p.row
	switch rest := row[at:]; {
	case at-start == 2 && len(rest) >= 6 && rest[0] == ':' && rest[3] == ':':
		if to, ok := p.clock(start); ok {
			return to
		}
	case at-start == 4 && len(rest) >= 6 && rest[0] == '-' && rest[3] == '-':
		if to, ok := p.date(start); ok {
			return to
		}
	case len(rest) >= 2 && rest[0] == '.' && wordChar[rest[1]] == digitChar:
		if to, ok := p.dotted(start, at); ok {
			return to
		}
	}
	if at-start > maxDigitsSlot {
		p.slot(wordSlot, 0, p.span(start, at))
		return at
	}
	x := parseDigits(row[start:at])
	if fraction := start > 1 && (row[start-1] == '.' || row[start-1] == ',') &&
		wordChar[row[start-2]] == digitChar; fraction || row[start] == '0' && at-start > 1 {
		p.slot(paddedSlot, at-start, x)
		return at
	}
	if at-start >= wideDigits {
		p.slot(wideSlot, 0, x)
		return at
	}
	p.slot(intSlot, 0, x)
	return at
}

// clock takes a time of day, its fraction, and the Z of UTC.
func (p *parser) clock(start int) (int, bool) {
	row, end := p.row, len(p.row)
	seconds, ok := parseClock(row[start : start+8])
	to := start + 8
	if !ok {
		return 0, false
	}
	fraction := to
	if to+1 < end && (row[to] == '.' || row[to] == ',') && wordChar[row[to+1]] == digitChar {
		for to++; to < end && wordChar[row[to]] == digitChar; to++ {
		}
	}
	if to-fraction > 10 {
		return 0, false
	}
	utc := to < end && row[to] == 'Z'
	if to+int(vector.Bit(utc)) < end && wordChar[row[to+int(vector.Bit(utc))]] != 0 {
		return 0, false
	}
	p.slot(timeSlot, 0, seconds)
	if to > fraction {
		p.template = append(p.template, row[fraction])
		p.slot(paddedSlot, to-fraction-1, parseDigits(row[fraction+1:to]))
	}
	if utc {
		p.template = append(p.template, 'Z')
		to++
	}
	return to, true
}

// date takes a date, and the T that parts it from a time.
func (p *parser) date(start int) (int, bool) {
	row, end := p.row, len(p.row)
	day, ok := parseDate(row[start : start+10])
	to := start + 10
	parted := to+1 < end && row[to] == 'T' && wordChar[row[to+1]] == digitChar
	if !ok || to < end && wordChar[row[to]] != 0 && !parted {
		return 0, false
	}
	p.slot(dateSlot, 0, day)
	if parted {
		p.template = append(p.template, 'T')
		to++
	}
	return to, true
}

// dotted takes an address, or a number with a fraction and a short unit.
func (p *parser) dotted(start, at int) (int, bool) {
	row, end := p.row, len(p.row)
	if start > 0 && row[start-1] == '.' {
		return 0, false
	}
	dots, to := 0, at
	for to < end && (wordChar[row[to]] == digitChar ||
		row[to] == '.' && to+1 < end && wordChar[row[to+1]] == digitChar) {
		if row[to] == '.' {
			dots++
		}
		to++
	}
	unit := to
	for unit < end && wordChar[row[unit]] > digitChar {
		unit++
	}
	if unit < end && wordChar[row[unit]] != 0 || unit-to > 4 {
		return 0, false
	}
	switch {
	case dots == 3 && unit == to:
		x, ok := parseIPv4(row[start:to])
		if ok {
			p.slot(addressSlot, 0, uint64(x))
		}
		return to, ok
	case dots == 1 && to-start-1 <= maxDigitsSlot && (row[start] != '0' || at-start == 1):
		width := to - at - 1
		x := parseDigits(row[start:at])
		for _, c := range row[at+1 : to] {
			x = x*10 + uint64(c-'0')
		}
		p.slot(decimalSlot, width, x)
		p.template = append(p.template, row[to:unit]...)
		return unit, true
	}
	return 0, false
}

// mixed takes a word of letters and digits.
func (p *parser) mixed(start, at int, kind byte) int {
	word := p.row[start:at]
	if kind == digitChar|hexChar && len(word) >= 8 && len(word)%2 == 0 && len(word) <= 2*maxHexWidth {
		p.slot(hexSlot, len(word)/2, p.span(start, at))
		return at
	}
	// Letters, then a number: u123. A number, then letters: 500ms.
	i := 0
	for wordChar[word[i]] != digitChar {
		i++
	}
	j := i
	for j < len(word) && wordChar[word[j]] == digitChar {
		j++
	}
	canonical := j-i <= 10 && (word[i] != '0' || j-i == 1)
	switch {
	case canonical && j == len(word) && i <= 8:
		p.template = append(p.template, word[:i]...)
		p.slot(intSlot, 0, parseDigits(word[i:]))
	case canonical && i == 0 && len(word)-j <= 4 && !hasDigit(word[j:]):
		p.slot(intSlot, 0, parseDigits(word[:j]))
		p.template = append(p.template, word[j:]...)
	default:
		p.slot(wordSlot, 0, p.span(start, at))
	}
	return at
}

// uuidAt reports whether a UUID begins with the word row[start:at], and ends with a word.
func (p *parser) uuidAt(start, at int) bool {
	to := start + uuidLength
	return at-start == 8 && to <= len(p.row) && p.row[at] == '-' && (to == len(p.row) || wordChar[p.row[to]] == 0) &&
		isUUID(p.row[start:to])
}

func hasDigit(s []byte) bool {
	for _, c := range s {
		if wordChar[c] == digitChar {
			return true
		}
	}
	return false
}

// parseDigits reads at most maxDigitsSlot digits.
func parseDigits(s []byte) (x uint64) {
	for _, c := range s {
		x = x*10 + uint64(c-'0')
	}
	return x
}

// parseClock reads hh:mm:ss.
func parseClock(s []byte) (seconds uint64, ok bool) {
	h, ok1 := twoDigits(s[0:])
	m, ok2 := twoDigits(s[3:])
	sec, ok3 := twoDigits(s[6:])
	return h*3600 + m*60 + sec, ok1 && ok2 && ok3 && m < 60 && sec < 60
}

// parseDate reads yyyy-mm-dd, whose year is digits already.
func parseDate(s []byte) (day uint64, ok bool) {
	m, ok1 := twoDigits(s[5:])
	d, ok2 := twoDigits(s[8:])
	return parseDigits(s[:4])*10000 + m*100 + d, ok1 && ok2
}

func twoDigits(s []byte) (uint64, bool) {
	a, b := s[0]-'0', s[1]-'0'
	return uint64(a)*10 + uint64(b), a < 10 && b < 10
}

// isUUID reports whether 36 bytes are a UUID in lower case, which prints back unchanged.
func isUUID(s []byte) bool {
	for i, c := range s[:uuidLength] {
		if uuidDash(i) != (c == '-') || c != '-' && hexValue[c] == 0xFF {
			return false
		}
	}
	return true
}
