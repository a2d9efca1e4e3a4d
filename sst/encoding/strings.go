package encoding

import (
	"encoding/binary"

	"varve/engine/vector"
)

// Plain strings: packed lengths (ID and integers, ints.go) | section: all strings back to back.
//
// Constant: length | bytes. Local: number of values | plain strings | codes. Shared: codes.

// savePlain: text is compressed when that saves an eighth.
const savePlain = 8

// minLocalUse is how often each value must come in the mean for a dictionary of the block. With fewer rows the codes
// and the values together are about as long as the compressed strings, and those need no second look.
const minLocalUse = 4

// appendStrings encodes byte strings, with the ID in front. shared and what was learnt may be nil. The part's
// dictionary comes first: its codes are found by postings and compared as they are. Then the shortest of what remains,
// weighed by what reading costs: on log fields (blocks of 8,192 rows) that ends within 0.5 % of the fewest bytes that
// any of these would take.
func (e *Encoder) appendStrings(dst []byte, views []vector.View, heap []byte, shared *Dictionary, l *learnt) []byte {
	e.sharedCodes = e.sharedCodes[:0]
	if shared != nil && shared.Refused < maxRefused {
		var ok bool
		if shared.Len() == 0 {
			e.sharedCodes, ok = shared.begin(&e.tried, e.sharedCodes, views, heap)
		} else {
			e.sharedCodes, ok = shared.Codes(e.sharedCodes, views, heap)
		}
		if ok {
			return e.appendCodes(append(dst, byte(Shared)), e.sharedCodes)
		}
		shared.Refused++
	}
	if len(views) == 0 {
		return e.appendPlain(append(dst, byte(Plain)), views, heap)
	}
	if allEqual(views, heap) {
		w := views[0]
		dst = binary.AppendUvarint(append(dst, byte(Constant)), uint64(w.Len))
		return append(dst, heap[w.Off:w.Off+w.Len]...)
	}
	mark := len(dst)
	for _, parse := range parsers {
		switch out, ok := parse(e, dst, views, heap); {
		case !ok:
		case len(dst) == mark:
			dst = out
		case len(out)-len(dst) < len(dst)-mark:
			dst = append(dst[:mark], out[len(dst):]...)
		}
	}
	if len(dst) > mark {
		// Repeated values would take a third of that as Local. But a lookup of one value in the encoded block would
		// take three times as long, because the dictionary of every block must be inflated first.
		return dst
	}
	e.local.Reset()
	e.local.limit = len(views) / minLocalUse // beyond it long texts are not copied to find out how many more there are
	var ok bool
	if e.codes, ok = e.local.Codes(e.codes[:0], views, heap); ok {
		dst = binary.AppendUvarint(append(dst, byte(Local)), uint64(e.local.Len()))
		dst = e.appendPlain(dst, e.local.Views, e.local.Heap)
		return e.appendCodes(dst, e.codes)
	}
	return e.appendText(dst, views, heap, l)
}

// maxRefused is the number of blocks that may fail to enter the part's dictionary before it is no longer tried.
const maxRefused = 2

func allEqual(views []vector.View, heap []byte) bool {
	first := heap[views[0].Off : views[0].Off+views[0].Len]
	for _, w := range views[1:] {
		if string(heap[w.Off:w.Off+w.Len]) != string(first) {
			return false
		}
	}
	return true
}

func (e *Encoder) appendPlain(dst []byte, views []vector.View, heap []byte) []byte {
	e.values = vector.Sized(e.values, len(views))
	size, packed := 0, true
	for i, w := range views {
		e.values[i] = uint64(w.Len)
		packed = packed && (i == 0 || w.Off == views[i-1].Off+views[i-1].Len)
		size += int(w.Len)
	}
	dst = e.appendLengths(dst, e.values)
	if packed && len(views) > 0 {
		from := views[0].Off
		return appendSection(dst, heap[from:int(from)+size], savePlain)
	}
	e.heap = e.heap[:0]
	for _, w := range views {
		e.heap = append(e.heap, heap[w.Off:w.Off+w.Len]...)
	}
	return appendSection(dst, e.heap, savePlain)
}

// appendLengths encodes lengths: constant or packed, never by anything that needs the scratch of appendInts.
func (e *Encoder) appendLengths(dst []byte, v []uint64) []byte {
	if len(v) > 0 && countRuns(v) == 1 {
		return binary.LittleEndian.AppendUint64(append(dst, byte(Constant)), v[0])
	}
	dst = append(dst, byte(Packed))
	if len(v) == 0 {
		return dst
	}
	return e.appendFrame(dst, v, planFrame(v))
}

// decodePlain reads n strings into v. own: the heap must not be scratch that is used again.
func (d *Decoder) decodePlain(r *reader, v *vector.Vector, n int, own bool) {
	d.ints = vector.Sized(d.ints, n)
	id := ID(r.byte())
	if id != Constant && id != Packed {
		r.fail("%s is not an encoding of lengths", id)
		return
	}
	d.decodeUints(r, id, d.ints)
	if r.err != nil {
		return
	}
	var scratch []byte
	if !own {
		scratch = v.Heap
	}
	heap := r.section(scratch, MaxHeap)
	if r.err != nil {
		return
	}
	v.Views = vector.Sized(v.Views, n)
	var at uint64
	for i, l := range d.ints {
		if l > uint64(len(heap))-at {
			r.fail("strings are longer than their heap of %d bytes", len(heap))
			return
		}
		v.Views[i] = vector.View{Off: uint32(at), Len: uint32(l)}
		at += l
	}
	if at != uint64(len(heap)) {
		r.fail("heap of %d bytes for strings of %d", len(heap), at)
		return
	}
	if r.inPlace { // nothing decoded points into the source
		heap = append(scratch[:0], heap...)
	}
	v.Heap = heap
}

func decodePlainStrings(d *Decoder, r *reader, v *vector.Vector, n int, _ *vector.Vector) {
	d.decodePlain(r, v, n, false)
}

func decodeConstantString(_ *Decoder, r *reader, v *vector.Vector, _ int, _ *vector.Vector) {
	s := r.take(r.count(len(r.b), "bytes"))
	v.Heap = append(v.Heap[:0], s...)
	v.Views = append(v.Views[:0], vector.View{Len: uint32(len(s))})
	v.Form = vector.Const
}

func decodeLocalStrings(d *Decoder, r *reader, v *vector.Vector, n int, _ *vector.Vector) {
	values := &vector.Vector{Type: v.Type}
	k := r.count(n, "values")
	if r.err != nil {
		return
	}
	d.decodePlain(r, values, k, true)
	v.Codes = vector.Sized(v.Codes, n)
	d.decodeCodes(r, v.Codes, k)
	v.Form, v.Values = vector.Dict, values
}

func decodeShared(d *Decoder, r *reader, v *vector.Vector, n int, shared *vector.Vector) {
	if shared == nil {
		r.fail("codes without a dictionary")
		return
	}
	v.Codes = vector.Sized(v.Codes, n)
	d.decodeCodes(r, v.Codes, shared.Len())
	v.Form, v.Values = vector.Dict, shared
}
