package encoding

import (
	"encoding/binary"
	"math"

	"varve/engine/vector"
)

// Floats: Constant: 8B. Plain: a section of 8B values. Decimal (decimal.go), XOR (xor.go).

// floatCost is what the time to read a value of Decimal or XOR is worth, in bytes: either takes 3.5 ns a row, plain
// floats take 0.7. So it must save an eighth of them.
const floatCost = 1

// floatBlock is a block of floats that is encoded.
type floatBlock struct {
	values []float64
	single bool // they are float32
	runs   int  // of values of the same bits; 0: there are none
}

// appendFloats encodes floats, with the ID in front; single: they are float32.
func (e *Encoder) appendFloats(dst []byte, v []float64, single bool) []byte {
	e.floats.analyse(v, single)
	dst = floatWriters.append(e, dst, &e.floats)
	e.floats.values = nil
	return dst
}

func (b *floatBlock) analyse(v []float64, single bool) {
	*b = floatBlock{values: v, single: single}
	if len(v) == 0 {
		return
	}
	last := ^math.Float64bits(v[0])
	for _, f := range v {
		x := math.Float64bits(f)
		b.runs += int(vector.Bit(x != last))
		last = x
	}
}

func leastConstantFloats(_ *Encoder, b *floatBlock) int {
	if b.runs != 1 {
		return never
	}
	return 8
}

func planConstantFloats(_ *Encoder, dst []byte, _ *floatBlock) ([]byte, int) { return dst, 8 }

func appendConstantFloats(_ *Encoder, dst []byte, b *floatBlock) []byte {
	return binary.LittleEndian.AppendUint64(dst, math.Float64bits(b.values[0]))
}

// leastPlainFloats is the size of the floats uncompressed. To find out what compression saves would take longer than
// all other plans.
func leastPlainFloats(_ *Encoder, b *floatBlock) int { return 8 * len(b.values) }

func planPlainFloats(_ *Encoder, dst []byte, b *floatBlock) ([]byte, int) {
	return dst, 8 * len(b.values)
}

func appendPlainFloats(e *Encoder, dst []byte, b *floatBlock) []byte {
	e.packed = e.packed[:0]
	for _, x := range b.values {
		e.packed = binary.LittleEndian.AppendUint64(e.packed, math.Float64bits(x))
	}
	return appendSection(dst, e.packed, savePlain)
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
