package encoding

import (
	"encoding/binary"

	"varve/engine/vector"
)

// Wide numbers of templates: method 1B, which is the ID of one of wideSchemes.
//
//	0 integers with their ID (ints.go)
//	1 section: 8B each, in which zstd finds repetitions
const (
	wideInts  ID = 0
	wideBytes ID = 1
)

// wideScheme is one method: how numbers are written, and the function that reads those of a stream.
type wideScheme struct {
	writer[wideBlock]
	decode func(d *Decoder, r *reader, s *openStream)
}

// wideBlock is a block of wide numbers that is encoded.
type wideBlock struct{ values []uint64 }

// appendWide encodes wide numbers.
func (e *Encoder) appendWide(dst []byte, values []uint64) []byte {
	e.wide.values = values
	dst = wideWriters.append(e, dst, &e.wide)
	e.wide.values = nil
	return dst
}

// leastWide: only the bytes of either method tell.
func leastWide(_ *Encoder, _ *wideBlock) int { return 0 }

func planWideInts(e *Encoder, dst []byte, b *wideBlock) (out []byte, cost int) {
	out = e.appendInts(dst, b.values, false)
	return out, len(out) - len(dst)
}

func planWideBytes(e *Encoder, dst []byte, b *wideBlock) (out []byte, cost int) {
	e.packed = e.packed[:0]
	for _, x := range b.values {
		e.packed = binary.LittleEndian.AppendUint64(e.packed, x)
	}
	out = appendSection(dst, e.packed, savePlain)
	return out, len(out) - len(dst)
}

// decodeWide reads the wide numbers of a stream.
func (d *Decoder) decodeWide(r *reader, s *openStream) {
	method := r.byte()
	if int(method) >= len(wideSchemes) {
		r.fail("method %d of wide numbers", method)
		return
	}
	wideSchemes[method].decode(d, r, s)
}

func decodeWideInts(d *Decoder, r *reader, s *openStream) {
	s.ints = vector.Sized(s.ints, s.count)
	d.decodeUints(r, ID(r.byte()), s.ints)
}

func decodeWideBytes(_ *Decoder, r *reader, s *openStream) {
	s.openBytes(r, 8)
	if r.err != nil {
		return
	}
	s.ints = vector.Sized(s.ints, s.count)
	for i := range s.ints {
		s.ints[i] = binary.LittleEndian.Uint64(s.packed[8*i:])
	}
}
