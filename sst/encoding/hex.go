package encoding

import (
	"encoding/binary"
	"slices"

	"varve/engine/filter"
	"varve/engine/vector"
)

// Hex strings: length 1B | dashes 1B | n x bytes
//
// All strings have the same length and consist of lower-case hex digits, an even number; dashes 1 puts dashes where
// UUIDs have them (36 characters, 32 digits).

const uuidLength = 36

// uuidDash reports whether a UUID has a dash at position i.
func uuidDash(i int) bool { return i == 8 || i == 13 || i == 18 || i == 23 }

var hexValue = func() (t [256]byte) {
	for i := range t {
		t[i] = 0xFF
	}
	for i := range 10 {
		t['0'+i] = byte(i)
	}
	for i := range 6 {
		t['a'+i] = byte(10 + i)
	}
	return t
}()

// planHex appends the strings when all are of that form.
func planHex(_ *Encoder, dst []byte, b *textBlock) (out []byte, cost int) {
	views, heap := b.views, b.heap
	size := int(views[0].Len)
	if size == 0 || size > 254 || size%2 != 0 {
		return dst, never
	}
	dashes := size == uuidLength && heap[views[0].Off+8] == '-'
	digits := size
	if dashes {
		digits = 32
	}
	dst = append(dst, byte(size), byte(vector.Bit(dashes)))
	at := len(dst)
	dst = append(dst, make([]byte, digits/2*len(views))...)
	rest := dst[at:]
	for _, w := range views {
		if int(w.Len) != size {
			return dst, never
		}
		s := heap[w.Off : w.Off+w.Len]
		ok := false
		if dashes {
			ok = packUUID(rest[:16], s)
		} else {
			ok = packHex(rest[:digits/2], s)
		}
		if !ok {
			return dst, never
		}
		rest = rest[digits/2:]
	}
	return dst, 2 + len(dst) - at
}

// packHex packs two digits into every byte of dst; false if a character is not a lower-case hex digit.
func packHex(dst, s []byte) bool {
	var bad byte
	s = s[:2*len(dst)]
	for i := range dst {
		hi, lo := hexValue[s[2*i]], hexValue[s[2*i+1]]
		bad |= hi | lo
		dst[i] = hi<<4 | lo
	}
	return bad < 0x10
}

func packUUID(dst, s []byte) bool {
	at := 0
	for i := 0; i < uuidLength; {
		if uuidDash(i) {
			if s[i] != '-' {
				return false
			}
			i++
			continue
		}
		if !packHex(dst[at:at+1], s[i:i+2]) {
			return false
		}
		at++
		i += 2
	}
	return true
}

const hexDigits = "0123456789abcdef"

// hexPairs[b] holds the two digits of b.
var hexPairs = func() (t [256][2]byte) {
	for i := range t {
		t[i] = [2]byte{hexDigits[i>>4], hexDigits[i&15]}
	}
	return t
}()

func decodeHex(_ *Decoder, r *reader, v *vector.Vector, n int, _ *vector.Vector) {
	size, dashes := int(r.byte()), r.byte() == 1
	digits := size
	if dashes {
		digits = 32
	}
	if size == 0 || size%2 != 0 || dashes && size != uuidLength {
		r.fail("hex strings of %d characters", size)
		return
	}
	src := r.take(digits / 2 * n)
	if r.err != nil {
		return
	}
	rowsOf(v, n, size)
	if dashes {
		unpackUUIDs(v.Heap, src)
		return
	}
	unpackHex(v.Heap, src)
}

// rowsOf makes room for n strings of one length.
func rowsOf(v *vector.Vector, n, size int) {
	v.Heap = vector.Sized(v.Heap, size*n)
	v.Views = vector.Sized(v.Views, n)
	for i := range v.Views {
		v.Views[i] = vector.View{Off: uint32(i * size), Len: uint32(size)}
	}
}

func unpackHex(out, src []byte) {
	out = out[:2*len(src)]
	for i, b := range src {
		p := &hexPairs[b]
		binary.LittleEndian.PutUint16(out[2*i:], uint16(p[0])|uint16(p[1])<<8)
	}
}

func pickHex(_ *Decoder, r *reader, v *vector.Vector, n int, rows []uint32) bool {
	p, ok := openHex(r, n)
	if !ok {
		return false
	}
	unpack := unpackHex
	if p.dashes {
		unpack = unpackUUIDs
	}
	rowsOf(v, len(rows), p.size)
	for i, row := range rows {
		unpack(v.Heap[i*p.size:][:p.size], p.body[int(row)*p.width:][:p.width])
	}
	return true
}

func unpackUUIDs(out, src []byte) {
	for ; len(src) >= 16; src = src[16:] {
		o := out[:uuidLength]
		at := 0
		for _, b := range src[:16] {
			if uuidDash(at) {
				o[at] = '-'
				at++
			}
			o[at], o[at+1] = hexPairs[b][0], hexPairs[b][1]
			at += 2
		}
		out = out[uuidLength:]
	}
}

// dashed reports whether an encoded block holds UUIDs: every value has their length.
func dashed(page []byte) bool {
	r := reader{b: page}
	if r.byte(); r.byte()&flagValid != 0 { // past the validity section
		if head := r.uvarint(); head&1 == 0 {
			r.take(int(min(head>>1, MaxHeap)))
		} else {
			r.take(r.count(len(r.b), "compressed bytes"))
		}
	}
	r.byte()
	return r.byte() == 1 && r.err == nil
}

// hexPage is an encoded block of hex strings.
type hexPage struct {
	size, width int // of a string, and of its bytes
	dashes      bool
	body        []byte
}

// openHex takes a block of n strings; false: the decoder says what is wrong with it.
func openHex(r *reader, n int) (p hexPage, ok bool) {
	if len(r.b) < 2 {
		return p, false
	}
	p = hexPage{size: int(r.b[0]), width: int(r.b[0]) / 2, dashes: r.b[1] == 1, body: r.b[2:]}
	if p.dashes {
		p.width = 16
	}
	if p.size == 0 || p.size%2 != 0 || p.dashes && p.size != uuidLength || len(p.body) != p.width*n {
		return p, false
	}
	r.b = nil
	return p, true
}

// pack packs a text like the texts of the block; false if the text does not have their form.
func (p *hexPage) pack(dst, s []byte) bool {
	switch {
	case len(s) != p.size:
		return false
	case p.dashes:
		return packUUID(dst, s)
	}
	return packHex(dst, s)
}

// keepHex compares packed digits.
func keepHex(_ *Decoder, r *reader, n int, s []byte, keep vector.Bitmap) bool {
	p, ok := openHex(r, n)
	if !ok {
		return false
	}
	packed := make([]byte, p.width)
	switch {
	case !p.pack(packed, s):
		clear(keep)
	case p.width == 16:
		keepWide(keep, p.body, binary.LittleEndian.Uint64(packed), binary.LittleEndian.Uint64(packed[8:]))
	default:
		for i := range n {
			if string(p.body[i*p.width:(i+1)*p.width]) != string(packed) {
				keep.Clear(i)
			}
		}
	}
	return true
}

// keepHexOf compares packed digits with those of a few texts.
func keepHexOf(_ *Decoder, r *reader, n int, list *filter.Listed, keep vector.Bitmap) bool {
	if len(r.b) < 2 || r.b[0] != 32 && r.b[1] != 1 { // ids of 16 bytes are what long lists are of
		return false
	}
	p, ok := openHex(r, n)
	if !ok {
		return false
	}
	var of wideList
	var packed [16]byte
	for i := range list.Len() {
		if p.pack(packed[:], list.At(i)) {
			of.add(binary.LittleEndian.Uint64(packed[:]), binary.LittleEndian.Uint64(packed[8:]))
		}
	}
	of.keep(keep, p.body)
	return true
}

// wideList are a few ids of 16 bytes. A mark of the first eight refutes most others.
type wideList struct {
	ids   [][2]uint64
	marks [64]uint64
}

func wideMark(lo uint64) uint64 { return lo * 0x9E3779B97F4A7C15 >> (64 - 12) }

func (l *wideList) add(lo, hi uint64) {
	l.ids = append(l.ids, [2]uint64{lo, hi})
	m := wideMark(lo)
	l.marks[m>>6&63] |= 1 << (m & 63)
}

// keep keeps the rows whose 16 bytes are listed.
func (l *wideList) keep(keep []uint64, body []byte) {
	for w := range keep {
		if keep[w] == 0 {
			continue
		}
		var m uint64
		rows := body[w*1024 : min((w+1)*1024, len(body))]
		for i := 0; len(rows) >= 16; i++ {
			lo := binary.LittleEndian.Uint64(rows)
			if mark := wideMark(lo); l.marks[mark>>6&63]>>(mark&63)&1 != 0 &&
				slices.Contains(l.ids, [2]uint64{lo, binary.LittleEndian.Uint64(rows[8:])}) {
				m |= 1 << i
			}
			rows = rows[16:]
		}
		keep[w] &= m
	}
}

// keepWide keeps the rows whose 16 bytes are lo and hi.
func keepWide(keep []uint64, body []byte, lo, hi uint64) {
	for w := range keep {
		var m uint64
		rows := body[w*1024 : min((w+1)*1024, len(body))]
		for i := 0; len(rows) >= 16; i++ {
			if binary.LittleEndian.Uint64(rows) == lo && binary.LittleEndian.Uint64(rows[8:]) == hi {
				m |= 1 << i
			}
			rows = rows[16:]
		}
		keep[w] &= m
	}
}
