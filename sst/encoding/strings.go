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

// leastStrings is for writers that have to try: nothing is known of the strings but that there are some.
func leastStrings(_ *Encoder, b *textBlock) int {
	if len(b.views) == 0 {
		return never
	}
	return 0
}

func leastShared(_ *Encoder, b *textBlock) int {
	if b.shared == nil || b.shared.Refused >= maxRefused {
		return never
	}
	return 0
}

// planShared appends the codes of the part's dictionary when that takes the strings.
func planShared(e *Encoder, dst []byte, b *textBlock) (out []byte, cost int) {
	var ok bool
	if b.shared.Len() == 0 {
		e.sharedCodes, ok = b.shared.begin(&e.tried, e.sharedCodes, b.views, b.heap)
	} else {
		e.sharedCodes, ok = b.shared.Codes(e.sharedCodes, b.views, b.heap)
	}
	if !ok {
		b.shared.Refused++
		return dst, never
	}
	out = e.appendCodes(dst, e.sharedCodes)
	return out, len(out) - len(dst)
}

func leastConstantString(_ *Encoder, b *textBlock) int {
	if len(b.views) == 0 || !allEqual(b.views, b.heap) {
		return never
	}
	return 1 + int(b.views[0].Len)
}

func planConstantString(_ *Encoder, dst []byte, b *textBlock) (out []byte, cost int) {
	s := b.string(0)
	return append(binary.AppendUvarint(dst, uint64(len(s))), s...), 1 + len(s)
}

// planLocalStrings appends a dictionary of the block when the strings come again often enough.
func planLocalStrings(e *Encoder, dst []byte, b *textBlock) (out []byte, cost int) {
	e.local.Reset()
	// Beyond the limit long texts are not copied to find out how many more there are.
	e.local.limit = len(b.views) / minLocalUse
	var ok bool
	if e.codes, ok = e.local.Codes(e.codes[:0], b.views, b.heap); !ok {
		return dst, never
	}
	out = binary.AppendUvarint(dst, uint64(e.local.Len()))
	out = e.appendPlain(out, e.local.Views, e.local.Heap)
	out = e.appendCodes(out, e.codes)
	return out, len(out) - len(dst)
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

// appendLengths encodes lengths, with the ID in front.
func (e *Encoder) appendLengths(dst []byte, v []uint64) []byte {
	e.ints.analyse(v, false)
	return lengthWriters.append(e, dst, &e.ints)
}

// decodePlain reads n strings into v. own: the heap must not be scratch that is used again.
func (d *Decoder) decodePlain(r *reader, v *vector.Vector, n int, own bool) {
	d.ints = vector.Sized(d.ints, n)
	id := ID(r.byte())
	if !id.scheme().lengths {
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
