package encoding

import (
	"encoding/binary"
	"math/bits"
	"slices"
	"strconv"

	"varve/engine/vector"
)

// Numbers and short texts are printed into memory that has room for them and more, so that nothing is asked for each and
// whole words are written where only some of their bytes count.

// slack is how many bytes may be written behind what is printed.
const slack = 16

// mostPrinted is the length up to which a variable that is no text is printed: of maxHexWidth bytes.
const mostPrinted = 2 * maxHexWidth

// roomFor makes room in b, whose bytes from at on do not count, for n more and slack.
func roomFor(b []byte, at, n int) []byte {
	if len(b)-at >= n+slack {
		return b
	}
	b = slices.Grow(b[:at], max(n+slack, at)) // twice as much, as append does for small ones
	return b[:cap(b)]
}

// putShort writes src[from:from+n] to b[at:], which has room for it and slack, and returns where it ends.
func putShort(b []byte, at int, src []byte, from, n int) int {
	if n <= slack && from+slack <= len(src) {
		*(*[slack]byte)(b[at:]) = *(*[slack]byte)(src[from:])
		return at + n
	}
	return at + copy(b[at:], src[from:from+n])
}

// pow10 holds the powers of ten that are integers of 64 bits.
var pow10 = func() (t [maxDigitsSlot + 1]uint64) {
	x := uint64(1)
	for i := range t {
		t[i] = x
		x *= 10
	}
	return t
}()

// digits is the number of digits of x in decimal.
func digits(x uint64) int {
	x |= 1 // has as many, and 0 has one
	n := bits.Len64(x) * 1233 >> 12
	if x >= pow10[n] {
		n++
	}
	return n
}

// putDigits prints x to b[at:] in decimal and returns where it ends.
func putDigits(b []byte, at int, x uint64) int {
	end := at + digits(x)
	i := end
	for x >= 100 {
		q := x / 100
		i -= 2
		*(*[2]byte)(b[i:]) = digitPairs[x-100*q]
		x = q
	}
	if x >= 10 {
		*(*[2]byte)(b[at:]) = digitPairs[x]
	} else {
		b[at] = '0' + byte(x)
	}
	return end
}

// digitPairs holds the numbers 0 to 99 with two digits each.
var digitPairs = func() (t [100][2]byte) {
	for i := range t {
		t[i] = [2]byte{'0' + byte(i/10), '0' + byte(i%10)}
	}
	return t
}()

// putPadded prints the last width digits of x to b[at:] and returns where they end.
func putPadded(b []byte, at int, x uint64, width int) int {
	i := at + width
	for ; i > at+1; x /= 100 {
		i -= 2
		*(*[2]byte)(b[i:]) = digitPairs[x%100]
	}
	if i > at {
		b[at] = '0' + byte(x%10)
	}
	return at + width
}

// putTime prints seconds of a day to b[at:] as hh:mm:ss and returns where it ends.
func putTime(b []byte, at int, x uint64) int {
	at = putPadded(b, at, x/3600, 2)
	b[at] = ':'
	at = putPadded(b, at+1, x/60%60, 2)
	b[at] = ':'
	return putPadded(b, at+1, x%60, 2)
}

// putDate prints the date that is written as the number yyyymmdd to b[at:] as yyyy-mm-dd and returns where it ends.
func putDate(b []byte, at int, x uint64) int {
	at = putPadded(b, at, x/10000, 4)
	b[at] = '-'
	at = putPadded(b, at+1, x/100%100, 2)
	b[at] = '-'
	return putPadded(b, at+1, x%100, 2)
}

// putAddress prints an IPv4 address to b[at:], which has slack, and returns where it ends.
func putAddress(b []byte, at int, x uint32) int {
	o := (*[slack]byte)(b[at:])
	n := 0
	for shift := 24; shift >= 0; shift -= 8 {
		part := byte(x >> shift)
		binary.LittleEndian.PutUint32(o[n:], octets[part])
		n += int(octetSizes[part])
	}
	return at + n - 1
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

// putNumber prints a numeric variable to b[at:], which has room for mostPrinted bytes and slack, and returns where it ends.
func putNumber(b []byte, at int, k slotKind, width int, x uint64) int {
	switch k {
	case paddedSlot:
		return putPadded(b, at, x, width)
	case decimalSlot:
		at = putDigits(b, at, x/pow10[width])
		b[at] = '.'
		return putPadded(b, at+1, x%pow10[width], width)
	case addressSlot:
		return putAddress(b, at, uint32(x))
	case timeSlot:
		return putTime(b, at, x)
	case dateSlot:
		return putDate(b, at, x)
	}
	return putDigits(b, at, x)
}

// printStep is one step of printing a row of a template: constant text, or a field with its values in the order of rows.
type printStep struct {
	kind  slotKind // 0: constant
	width int      // of the slot, or of the constant
	text  []byte   // that begins with the constant, what views lie in, or the bytes of hex digits and UUIDs
	views []vector.View
	ints  []uint64
}

// step is the step of a field whose values begin with the one at from.
func (s *openStream) step(from int) printStep {
	p := printStep{kind: s.kind, width: s.width}
	switch s.kind {
	case wordSlot, restSlot, memberSlot:
		p.text, p.views = s.heap, s.views[from:]
	case hexSlot:
		p.text = s.packed[from*s.width:]
	case uuidSlot:
		p.text = s.packed[from*16:]
	default:
		p.ints = s.ints[from:]
	}
	return p
}

// printRow writes row ord of a template to b[at:], in which there may be more room then, and returns where it ends.
func printRow(b []byte, at int, steps []printStep, ord int) ([]byte, int) {
	for i := range steps {
		p := &steps[i]
		switch p.kind {
		case 0:
			b = roomFor(b, at, p.width)
			at = putShort(b, at, p.text, 0, p.width)
		case wordSlot, restSlot, memberSlot:
			w := p.views[ord]
			b = roomFor(b, at, int(w.Len))
			at = putShort(b, at, p.text, int(w.Off), int(w.Len))
		case hexSlot:
			b = roomFor(b, at, mostPrinted)
			unpackHex(b[at:at+2*p.width], p.text[ord*p.width:(ord+1)*p.width])
			at += 2 * p.width
		case uuidSlot:
			b = roomFor(b, at, uuidLength)
			unpackUUIDs(b[at:at+uuidLength], p.text[ord*16:(ord+1)*16])
			at += uuidLength
		default:
			b = roomFor(b, at, mostPrinted)
			at = putNumber(b, at, p.kind, p.width, p.ints[ord])
		}
	}
	return b, at
}
