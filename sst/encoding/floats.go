package encoding

import (
	"encoding/binary"
	"math"

	"varve/engine/vector"
)

// Floats: the choice between Constant (8B), Decimal (decimal.go), XOR (xor.go) and Plain (a section of 8B values).

// floatSchemes are the encodings of floats, those that are read fastest first. The first is taken that saves an eighth;
// where none does, Plain.
var floatSchemes = [...]ID{Decimal, XOR}

// appendFloats encodes floats, with the ID in front; single: they are float32.
func (e *Encoder) appendFloats(dst []byte, v []float64, single bool) []byte {
	e.texts = vector.Sized(e.texts, len(v))
	same := len(v) > 0
	for i, x := range v {
		e.texts[i] = math.Float64bits(x)
		same = same && e.texts[i] == e.texts[0]
	}
	if same {
		return binary.LittleEndian.AppendUint64(append(dst, byte(Constant)), e.texts[0])
	}
	for _, id := range floatSchemes {
		if out, ok := id.scheme().appendFloats(e, append(dst, byte(id)), v, single); ok &&
			len(out)-len(dst) < 7*len(v) {
			return out
		}
	}
	e.packed = e.packed[:0]
	for _, x := range v {
		e.packed = binary.LittleEndian.AppendUint64(e.packed, math.Float64bits(x))
	}
	return appendSection(append(dst, byte(Plain)), e.packed, savePlain)
}

func decodeConstantFloats(_ *Decoder, r *reader, dst []float64) {
	x := math.Float64frombits(r.uint64())
	for i := range dst {
		dst[i] = x
	}
}

func decodePlainFloats(d *Decoder, r *reader, dst []float64) {
	d.packed = vector.Sized(d.packed, 8*len(dst))
	b := r.section(d.packed, 8*len(dst))
	if r.err == nil && len(b) != 8*len(dst) {
		r.fail("%d bytes for %d floats", len(b), len(dst))
	}
	if r.err != nil {
		return
	}
	for i := range dst {
		dst[i] = math.Float64frombits(binary.LittleEndian.Uint64(b[8*i:]))
	}
}
