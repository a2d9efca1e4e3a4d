package encoding

import (
	"encoding/binary"

	"varve/engine/vector"
)

// Encoder encodes blocks. It keeps scratch memory between them. One goroutine at a time.
type Encoder struct {
	values, deltas, deltas2, highs, texts []uint64
	runs, lengths, sorted                 []uint64
	stretches, shifts, steps, changes     []uint64 // of repeats
	bases                                 []uint64 // of groups
	widths                                []byte
	signed                                []int64
	ints                                  intBlock // the blocks at hand, here because local ones would move to the heap
	floats                                floatBlock
	bools                                 boolBlock
	coded                                 codeBlock
	wide                                  wideBlock
	strings                               textBlock
	positions, codes, sharedCodes         []uint32
	slots                                 [4 * maxLocalInts]uint16
	packed, heap, block                   []byte
	local                                 *Dictionary
	tried                                 Dictionary // of a part's column that has none yet
	dense                                 vector.Vector
	rows                                  []uint32
	templates                             *templater
	objects                               *objects
	level                                 level
	textual                               bool // the strings at hand are text
}

// level is what an encoder encodes.
type level uint8

const (
	columnLevel level = iota
	memberLevel       // the values of JSON objects: text may have templates, but no objects
	slotLevel         // the streams of templates: no templates within templates
)

// NewEncoder is an encoder without memory yet.
func NewEncoder() *Encoder {
	return &Encoder{local: NewDictionary(MaxRows/minLocalUse, MaxHeap)}
}

// SharedCodes are the codes of the block that was encoded last, of its valid rows, when it went by the part's
// dictionary; empty otherwise.
func (e *Encoder) SharedCodes() []uint32 { return e.sharedCodes }

// LocalValues are the distinct values of the block that was encoded last, when that was as Local strings.
func (e *Encoder) LocalValues() (views []vector.View, heap []byte) {
	return e.local.Views, e.local.Heap
}

// Append appends the encoded block: n rows of the Flat vector v, at most MaxRows. shared is the part's dictionary of
// the column, which new values are added to; nil: none.
func (e *Encoder) Append(dst []byte, v *vector.Vector, n int, shared *Dictionary) []byte {
	mark := len(dst)
	e.sharedCodes = e.sharedCodes[:0]
	if e.templates != nil {
		e.templates.parsed = false
	}
	if e.objects != nil {
		e.objects.words.known = false
	}
	if v.Valid != nil && !v.Valid.All(n) {
		count := vector.Bitmap(v.Valid[:vector.Words(n)]).Count()
		if count == 0 {
			return append(dst, byte(Null), 0)
		}
		e.rows = vector.Bitmap(v.Valid[:vector.Words(n)]).AppendRows(e.rows[:0])
		from := *v
		from.Valid = nil
		e.dense.Gather(&from, e.rows)
		dst = append(dst, 0, flagValid)
		dst = appendValid(dst, v.Valid, n)
		v, n = &e.dense, count
	} else {
		dst = append(dst, 0, 0)
	}
	// The encodings put their ID in front; it belongs into the head.
	at := len(dst)
	dst = e.appendValues(dst, v, n, shared)
	dst[mark] = dst[at]
	copy(dst[at:], dst[at+1:])
	return dst[:len(dst)-1]
}

func (e *Encoder) appendValues(dst []byte, v *vector.Vector, n int, shared *Dictionary) []byte {
	switch v.Type.Kind() {
	case vector.Bool:
		return e.appendBools(dst, v.Bools, n)
	case vector.Int64:
		e.texts = vector.Sized(e.texts, n)
		for i, x := range v.Ints[:n] {
			e.texts[i] = uint64(x)
		}
		return e.appendInts(dst, e.texts, true)
	case vector.Uint64:
		e.texts = append(e.texts[:0], v.Uints[:n]...)
		return e.appendInts(dst, e.texts, false)
	case vector.Float64:
		return e.appendFloats(dst, v.Floats[:n], v.Type.ID == vector.TypeFloat32)
	}
	e.textual = v.Type.ID == vector.TypeString || v.Type.ID == vector.TypeJSON || v.Type.ID == vector.TypeList
	var l *learnt
	if shared != nil {
		l = &shared.learnt
	}
	return e.appendStrings(dst, v.Views[:n], v.Heap, shared, l)
}

// Validity: section of bits, ceil(n/8) bytes.
func appendValid(dst []byte, valid vector.Bitmap, n int) []byte {
	return appendSection(dst, bitBytes(nil, valid, n), savePlain)
}

// bitBytes appends n bits as bytes.
func bitBytes(dst []byte, b vector.Bitmap, n int) []byte {
	mark := len(dst)
	for _, w := range b[:vector.Words(n)] {
		dst = binary.LittleEndian.AppendUint64(dst, w)
	}
	dst = dst[:mark+(n+7)/8]
	if tail := n & 7; tail != 0 {
		dst[len(dst)-1] &= 1<<tail - 1
	}
	return dst
}
