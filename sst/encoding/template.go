package encoding

import (
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
// The values of one slot of one template stand together, in the order of rows. Frequent ones have a stream of their
// own; the others, and ids that come again in other templates, share a stream with all of their kind and width, in the
// order of templates and slots. So a reader can decode the variables of the templates it is interested in.
//
// Numbers are kept as integers (ints.go), words, rests and members as strings (strings.go), hex digits and UUIDs as a
// section of bytes, wide numbers as 0 and integers or as 1 and a section of 8 bytes each. Strings of members may be
// templates again, but no objects (objects.go).

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
	memberSlot  slotKind = 12 // a value of a JSON object, of the key with the number width: strings
)

// wideDigits: a number of so many digits is an id rather than a quantity.
const wideDigits = 16

// numeric reports whether values are kept as integers.
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
	// maxTemplateText bounds the templates of a block together: beyond it rows have hardly anything in common.
	maxTemplateText = 1 << 20
	// ownRows is the number of rows from which a template's slots may have streams of their own.
	ownRows = 96
	// rareRows is the number of rows below which a template is not worth its bytes.
	rareRows = 3
)

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

// textStream holds the values of one field, or of all fields of rare templates with the same kind and width.
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
type pools [memberSlot + 1][maxHexWidth + 1]int32

// of returns the pool of a field. All words share one pool.
func (p *pools) of(f *field) *int32 {
	if f.kind == wordSlot {
		return &p[wordSlot][0]
	}
	return &p[f.kind][f.width]
}

// layout returns the fields of the templates, which have so many rows each, their streams. own are those with a stream
// of their own. The slice of streams is used again.
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
