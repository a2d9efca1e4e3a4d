package exec

import (
	"encoding/binary"
	"math"
	"math/bits"

	"varve/engine/vector"
	"varve/sqlexec/intern"
)

// Several keys of many groups are one text, so that a group is found by one hash and one look-up whatever the number of
// its keys. The text of a group is
//
//	tag        a code of 3 bits for each number, a bit for each text that is written out, in whole bytes
//	numbers    as many bytes as their codes say, little endian, signed ones with their sign in the lowest bit
//	codes      4 bytes for each text that has few values, or long ones: its number among them
//	lengths    4 bytes for each text that is written out but the last one
//	texts      that are written out
//
// Equal keys have equal texts. Short ones, of up to 24 bytes, are compared as three words.

// packedForm is how a key is written.
type packedForm uint8

const (
	packedNumber packedForm = iota // the bits of the value
	packedCode                     // its number among the values of the column
	packedText                     // the bytes of the value
)

// numberWidths are the bytes of a number by its code. Code 0 is NULL.
var numberWidths = [8]int{0, 1, 2, 3, 4, 5, 6, 8}

// numberCodes are the codes of numbers by the bits that they take.
var numberCodes = func() (codes [65]uint8) {
	for n := range codes {
		code := 1
		for 8*numberWidths[code] < n {
			code++
		}
		codes[n] = uint8(code)
	}
	return codes
}()

const (
	numberTag  = 3  // bits of the tag that a number takes
	maxTag     = 64 // bits of a tag: further keys are codes
	fewValues  = 1 << 12
	shortTexts = 24 // bytes of a text on average up to which it is written out
)

// packing says how the keys of groups are written. It does not change once it is made.
type packing struct {
	types    []vector.Type
	forms    []packedForm
	shifts   []uint // of the bits in the tag
	tagBytes int
	lastText int // the key whose text comes last; -1: none
}

// newPacking chooses the form of each key by the groups that there are.
func newPacking(types []vector.Type, own *groups) *packing {
	p := &packing{types: types, lastText: -1}
	tag := 0
	for k, t := range types {
		form, take := packedNumber, numberTag
		if t.Kind() == vector.Bytes {
			form, take = packedText, 1
			n, heap := own.columns[k].Len(), len(own.columns[k].Values.Heap)
			if n < fewValues || n < own.n/4 || heap > (shortTexts+8)*n {
				form, take = packedCode, 0
			}
		}
		if tag+take > maxTag {
			form, take = packedCode, 0
		}
		p.forms, p.shifts = append(p.forms, form), append(p.shifts, uint(tag))
		if tag += take; form == packedText {
			p.lastText = k
		}
	}
	p.tagBytes = (tag + 7) / 8
	return p
}

// packer writes the keys of batches. One goroutine at a time.
type packer struct {
	*packing
	numbers [][]uint64
	valid   []vector.Bitmap
	codes   [][]uint32
	flat    vector.Vector
	out     vector.Vector
}

func newPacker(p *packing) *packer {
	n := len(p.types)
	return &packer{packing: p, numbers: make([][]uint64, n), valid: make([]vector.Bitmap, n),
		codes: make([][]uint32, n), out: vector.Vector{Type: vector.BinaryType}}
}

// pack returns the texts of n rows of keys, valid until the next call. The codes of keys that have them are there.
func (p *packer) pack(keys []*vector.Vector, n int) *vector.Vector {
	most := p.tagBytes
	for k, v := range keys {
		switch p.forms[k] {
		case packedNumber:
			p.load(k, v, n)
			most += 8
		case packedText:
			most += 4
		default:
			most += 4
		}
	}
	heap := p.out.Heap[:cap(p.out.Heap)]
	p.out.Views = vector.Sized(p.out.Views, n)
	at := 0
	for i := range n {
		need := most + 8
		for k, v := range keys {
			if p.forms[k] == packedText && !v.IsNull(i) {
				need += len(v.Bytes(i))
			}
		}
		for len(heap)-at < need {
			heap = append(heap, make([]byte, max(need, len(heap)))...)
		}
		end := at + p.row(heap[at:at+need], keys, i)
		p.out.Views[i] = vector.View{Off: uint32(at), Len: uint32(end - at)}
		at = end
	}
	p.out.Heap = heap[:at]
	return &p.out
}

// load makes the bits of a key of numbers.
func (p *packer) load(k int, v *vector.Vector, n int) {
	v = v.FlattenInto(&p.flat, n)
	p.numbers[k], p.valid[k] = vector.Sized(p.numbers[k], n), append(p.valid[k][:0], v.Valid...)
	if v.Valid == nil {
		p.valid[k] = nil
	}
	words := p.numbers[k]
	switch v.Type.Kind() {
	case vector.Int64:
		for i, x := range v.Ints[:len(words)] {
			words[i] = uint64(x<<1) ^ uint64(x>>63)
		}
	case vector.Uint64:
		copy(words, v.Uints)
	case vector.Float64:
		for i, x := range v.Floats[:len(words)] {
			words[i] = intern.FloatKey(x)
		}
	default:
		for i := range words {
			words[i] = vector.Bit(v.Bools.Get(i))
		}
	}
}

// row writes row i of keys to a buffer with 8 bytes to spare and returns its size.
func (p *packer) row(to []byte, keys []*vector.Vector, i int) int {
	tag, at := uint64(0), p.tagBytes
	for k, form := range p.forms {
		switch form {
		case packedNumber:
			if valid := p.valid[k]; valid != nil && !valid.Get(i) {
				continue
			}
			x := p.numbers[k][i]
			code := numberCodes[bits.Len64(x)]
			binary.LittleEndian.PutUint64(to[at:], x)
			at += numberWidths[code&7]
			tag |= uint64(code) << (p.shifts[k] & 63)
		case packedCode:
			binary.LittleEndian.PutUint32(to[at:], p.codes[k][i])
			at += 4
		}
	}
	if p.lastText >= 0 {
		at, tag = p.texts(to, at, tag, keys, i)
	}
	for b := range p.tagBytes {
		to[b] = byte(tag >> (8 * b))
	}
	return at
}

// texts writes the lengths and the texts of row i.
func (p *packer) texts(to []byte, at int, tag uint64, keys []*vector.Vector, i int) (int, uint64) {
	for k, form := range p.forms[:p.lastText] {
		if form != packedText {
			continue
		}
		length := 0
		if !keys[k].IsNull(i) {
			length = len(keys[k].Bytes(i))
		}
		binary.LittleEndian.PutUint32(to[at:], uint32(length))
		at += 4
	}
	for k, form := range p.forms[:p.lastText+1] {
		if form == packedText && !keys[k].IsNull(i) {
			tag |= 1 << (p.shifts[k] & 63)
			at += copy(to[at:], keys[k].Bytes(i))
		}
	}
	return at, tag
}

// unpack returns the keys of groups by their texts, Flat, and the codes of those that have codes instead.
func (p *packing) unpack(texts *vector.Vector, n int) (keys []*vector.Vector, codes [][]uint32) {
	keys, codes = make([]*vector.Vector, len(p.types)), make([][]uint32, len(p.types))
	for k, t := range p.types {
		if p.forms[k] == packedCode {
			codes[k] = make([]uint32, n)
		} else {
			keys[k] = &vector.Vector{Type: t}
		}
	}
	var tag [8]byte
	for i := range n {
		text := texts.Bytes(i)
		copy(tag[:p.tagBytes], text)
		p.unpackRow(text[p.tagBytes:], binary.LittleEndian.Uint64(tag[:]), i, keys, codes)
	}
	return keys, codes
}

// unpackRow appends the keys of group i, whose text goes on after the tag.
func (p *packing) unpackRow(text []byte, tag uint64, i int, keys []*vector.Vector, codes [][]uint32) {
	for k, form := range p.forms {
		switch form {
		case packedNumber:
			width := numberWidths[tag>>p.shifts[k]&7]
			if width == 0 {
				keys[k].AppendNulls(i, 1)
				continue
			}
			var x [8]byte
			copy(x[:], text[:width])
			text = text[width:]
			appendBits(keys[k], i, binary.LittleEndian.Uint64(x[:]))
		case packedCode:
			codes[k][i] = binary.LittleEndian.Uint32(text)
			text = text[4:]
		}
	}
	lengths := text
	for k := range max(p.lastText, 0) {
		if p.forms[k] == packedText {
			text = text[4:]
		}
	}
	for k := range p.lastText + 1 {
		if p.forms[k] != packedText {
			continue
		}
		length := len(text)
		if k < p.lastText {
			length = int(binary.LittleEndian.Uint32(lengths))
			lengths = lengths[4:]
		}
		if tag>>p.shifts[k]&1 == 0 {
			keys[k].AppendNulls(i, 1)
			continue
		}
		keys[k].PushBytes(text[:length])
		valued(keys[k], i)
		text = text[length:]
	}
}

// appendBits appends value i of a column of numbers.
func appendBits(v *vector.Vector, i int, x uint64) {
	switch v.Type.Kind() {
	case vector.Int64:
		v.Ints = append(v.Ints, int64(x>>1)^-int64(x&1))
	case vector.Uint64:
		v.Uints = append(v.Uints, x)
	case vector.Float64:
		v.Floats = append(v.Floats, math.Float64frombits(x))
	default:
		v.PushBool(i, x != 0)
	}
	valued(v, i)
}

// valued notes that value i is there.
func valued(v *vector.Vector, i int) {
	if v.Valid != nil {
		v.Valid = v.Valid.With(i)
	}
}
