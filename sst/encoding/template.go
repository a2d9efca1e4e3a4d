package encoding

import (
	"bytes"
	"encoding/binary"
	"strconv"

	"varve/engine/vector"
)

// Templates: log text as its constant words and its variables.
//
//	uvarint templates | templates as plain strings (strings.go) | codes, one a row (codes.go) |
//	section of bits: the slots with a stream of their own | for each stream: uvarint bytes | values
//
// A template is the text of a row in which variables are replaced by slots: the byte 0xFF, the slot's kind, its width.
// What a slot stands for is parsed so that it prints back to the same bytes, so a row is exactly its template with its
// variables printed into the slots. A row that holds the byte 0xFF, or whose template would be rare, has the template
// that is one rest slot and nothing else.
//
// The values of one slot of one template stand together, in the order of rows. Frequent ones have a stream of their own;
// the others, and ids that come again in other templates, share a stream with all of their kind and width, in the order
// of templates and slots. So a reader can decode the variables of the templates it is interested in.
//
// Numbers are kept as integers (ints.go), words and rests as strings (strings.go), hex digits and UUIDs as a section of
// bytes, wide numbers as 0 and integers or as 1 and a section of 8 bytes each.

// slotMark begins a slot in a template; no UTF-8 text holds it.
const slotMark = 0xFF

// slotSize is the length of a slot in a template: mark, kind, width.
const slotSize = 3

// slotKind says what a variable is and how it is kept. Written to disk, never changed.
type slotKind uint8

const (
	intSlot     slotKind = 1 // digits without leading zeros, an integer
	paddedSlot  slotKind = 2 // width digits, an integer
	decimalSlot slotKind = 3 // integer.fraction of width digits: one integer
	addressSlot slotKind = 4 // dotted IPv4 address, an integer
	timeSlot    slotKind = 5 // hh:mm:ss, seconds
	dateSlot    slotKind = 6 // yyyy-mm-dd, yyyymmdd
	hexSlot     slotKind = 7 // 2*width small hex digits: width bytes
	uuidSlot    slotKind = 8 // 36 characters: 16 bytes
	wordSlot    slotKind = 9 // ASCII letters and digits: strings; width: which kinds of characters (charBits) occur
	restSlot    slotKind = 10
	wideSlot    slotKind = 11 // as intSlot, of wideDigits and more: an id
)

// wideDigits: a number of so many digits is an id rather than a quantity.
const wideDigits = 16

// numeric tells whether values are integers.
func (k slotKind) numeric() bool { return k <= dateSlot || k == wideSlot }

// maxDigitsSlot is the greatest width of paddedSlot and decimalSlot: numbers have at most so many digits.
const maxDigitsSlot = 19

// maxHexWidth is the greatest width of a hexSlot, in bytes.
const maxHexWidth = 64

// Limits of the templates of one block.
const (
	// maxSlots is the number of slots of a template: text behind so many variables is a rest.
	maxSlots = 64
	// maxTemplates is where text is no log text.
	maxTemplates = 4096
	// ownRows is the number of rows from which a template's slots may have streams of their own.
	ownRows = 96
	// rareRows is the number of rows below which a template is not worth its bytes.
	rareRows = 3
)

// charBits tells what an ASCII letter or digit is good for.
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

// variable is one variable of a row: a number, or where its text lies in the heap (offset << 32 | length).
type variable = uint64

func spanOf(from, to int) variable { return uint64(from)<<32 | uint64(to-from) }

func viewOf(v variable) vector.View { return vector.View{Off: uint32(v >> 32), Len: uint32(v)} }

// parser takes rows apart.
type parser struct {
	row      []byte
	base     int // where the row begins in its heap
	template []byte
	vars     []variable
	// words gathers the text of variables, and of the letters that stand beside them, of all rows since it was emptied.
	// What stands apart in a row stands apart here.
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

// gather adds row[from:to] to words, behind a blank unless it goes on from what was gathered last, be it after a dot:
// addresses are kept together.
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
	if fraction := start > 1 && (row[start-1] == '.' || row[start-1] == ',') && wordChar[row[start-2]] == digitChar; fraction || row[start] == '0' && at-start > 1 {
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
	if to+bit(utc) < end && wordChar[row[to+bit(utc)]] != 0 {
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
	for to < end && (wordChar[row[to]] == digitChar || row[to] == '.' && to+1 < end && wordChar[row[to+1]] == digitChar) {
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

// uuidAt tells whether a UUID begins with the word row[start:at], and ends with a word.
func (p *parser) uuidAt(start, at int) bool {
	to := start + uuidLength
	return at-start == 8 && to <= len(p.row) && p.row[at] == '-' && (to == len(p.row) || wordChar[p.row[to]] == 0) && isUUID(p.row[start:to])
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

// isUUID tells whether 36 bytes are a UUID of small digits.
func isUUID(s []byte) bool {
	for i, c := range s[:uuidLength] {
		if uuidDash(i) != (c == '-') || c != '-' && hexValue[c] == 0xFF {
			return false
		}
	}
	return true
}

// appendVariable prints a numeric variable.
func appendVariable(dst []byte, k slotKind, width int, x uint64) []byte {
	switch k {
	case paddedSlot:
		return appendPadded(dst, x, width)
	case decimalSlot:
		dst = appendDigits(dst, x/pow10[width])
		return appendPadded(append(dst, '.'), x%pow10[width], width)
	case addressSlot:
		return appendAddress(dst, uint32(x))
	case timeSlot:
		dst = appendPadded(dst, x/3600, 2)
		dst = appendPadded(append(dst, ':'), x/60%60, 2)
		return appendPadded(append(dst, ':'), x%60, 2)
	case dateSlot:
		dst = appendPadded(dst, x/10000, 4)
		dst = appendPadded(append(dst, '-'), x/100%100, 2)
		return appendPadded(append(dst, '-'), x%100, 2)
	}
	return appendDigits(dst, x)
}

var pow10 = func() (t [maxDigitsSlot + 1]uint64) {
	x := uint64(1)
	for i := range t {
		t[i] = x
		x *= 10
	}
	return t
}()

// appendPadded appends the last width digits of x.
func appendPadded(dst []byte, x uint64, width int) []byte {
	at := len(dst) + width
	for range width {
		dst = append(dst, '0')
	}
	for i := at - 1; i >= at-width; i-- {
		dst[i] = '0' + byte(x%10)
		x /= 10
	}
	return dst
}

// digitPairs holds the numbers 0 to 99 with two digits each.
var digitPairs = func() (t [200]byte) {
	for i := range 100 {
		t[2*i], t[2*i+1] = '0'+byte(i/10), '0'+byte(i%10)
	}
	return t
}()

// appendDigits appends x in decimal.
func appendDigits(dst []byte, x uint64) []byte {
	var buf [20]byte
	i := len(buf)
	for x >= 100 {
		q := x / 100
		r := 2 * (x - 100*q)
		i -= 2
		binary.LittleEndian.PutUint16(buf[i:], binary.LittleEndian.Uint16(digitPairs[r:]))
		x = q
	}
	if x >= 10 {
		i -= 2
		buf[i], buf[i+1] = digitPairs[2*x], digitPairs[2*x+1]
	} else {
		i--
		buf[i] = '0' + byte(x)
	}
	return append(dst, buf[i:]...)
}

func appendAddress(dst []byte, x uint32) []byte {
	var buf [16]byte
	n := 0
	for shift := 24; shift >= 0; shift -= 8 {
		o := octets[byte(x>>shift)]
		binary.LittleEndian.PutUint32(buf[n:n+4], o)
		n += int(octetSizes[byte(x>>shift)])
	}
	return append(dst, buf[:n-1]...)
}

// octets holds the numbers 0 to 255 in decimal with a dot behind, octetSizes their lengths with the dot.
var octets, octetSizes = func() (t [256]uint32, sizes [256]uint8) {
	for i := range t {
		text := append(strconv.AppendInt(nil, int64(i), 10), '.')
		sizes[i] = uint8(len(text))
		t[i] = binary.LittleEndian.Uint32(append(text, 0, 0))
	}
	return t, sizes
}()

// field is one slot of one template, with its values.
type field struct {
	kind   slotKind
	width  int
	at     int // where its slot lies in the heap of the templates
	stream int
	from   int // its first value among those of all streams
}

// textStream is the values of one field, or of all fields of rare templates of one kind and width.
type textStream struct {
	kind        slotKind
	width       int
	from, count int
}

// fieldsOf finds the slots of the templates: those of template i begin at first[i]. Both slices are used again.
func fieldsOf(first []int, fields []field, templates []vector.View, heap []byte) ([]int, []field) {
	first, fields = append(first[:0], 0), fields[:0]
	for _, w := range templates {
		text := heap[w.Off : w.Off+w.Len]
		for at := 0; at+slotSize <= len(text); at++ {
			if text[at] == slotMark {
				fields = append(fields, field{kind: slotKind(text[at+1]), width: int(text[at+2]), at: int(w.Off) + at})
				at += slotSize - 1
			}
		}
		first = append(first, len(fields))
	}
	return first, fields
}

// pools are the shared streams, by kind and width, plus one; 0: none yet.
type pools [wideSlot + 1][maxHexWidth + 1]int32

// of is the pool of a field. Words share one whatever is in them.
func (p *pools) of(f *field) *int32 {
	if f.kind == wordSlot {
		return &p[wordSlot][0]
	}
	return &p[f.kind][f.width]
}

// layout gives the fields of the templates, which have so many rows each, their streams. own are those with a stream of
// their own. The slice of streams is used again.
func layout(streams []textStream, first []int, fields []field, counts []int, own vector.Bitmap) []textStream {
	var shared pools
	streams = streams[:0]
	for i, n := range counts {
		for k := first[i]; k < first[i+1]; k++ {
			f := &fields[k]
			pool := shared.of(f)
			if own.Get(k) || *pool == 0 {
				streams = append(streams, textStream{kind: f.kind, width: f.width})
				f.stream = len(streams) - 1
			} else {
				f.stream = int(*pool - 1)
			}
			if !own.Get(k) {
				*pool = int32(f.stream + 1)
			}
			s := &streams[f.stream]
			f.from = s.count // within the stream, for now
			s.count += n
		}
	}
	total := 0
	for i := range streams {
		streams[i].from = total
		total += streams[i].count
	}
	for i := range fields {
		fields[i].from += streams[fields[i].stream].from
	}
	return streams
}
