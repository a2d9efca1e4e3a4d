package histogram

import (
	"encoding/binary"
	"fmt"
	"math"
)

// version is the first byte of the binary form. Other versions are refused.
const version = 1

// Flags of the second byte. The low two bits are the hint.
const (
	flagInteger = 1 << 2 // counts are integers, written as uvarints
	flagZero    = 1 << 3 // zero threshold and zero count follow
	flagBounds  = 1 << 4 // custom bounds follow
)

// maxBuckets bounds the memory that a decoder takes for a few bytes.
const maxBuckets = 1 << 16

// AppendBinary appends the binary form, little endian:
//
//	version 1B | flags 1B | schema 1B | sum 8B | count | [zero threshold 8B, zero count]
//	| [bounds: uvarint n, n * 8B] | positive side | negative side
//	side: uvarint buckets, then for each: varint index less the one before it, count
//	count: uvarint where flagInteger is set, else 8B
func (h *Histogram) AppendBinary(dst []byte) []byte {
	flags := byte(h.Hint)
	if h.Integer && h.wholeNumbers() {
		flags |= flagInteger
	}
	if h.ZeroCount != 0 || h.ZeroThreshold != 0 {
		flags |= flagZero
	}
	if len(h.Bounds) > 0 {
		flags |= flagBounds
	}
	count := func(dst []byte, v float64) []byte {
		if flags&flagInteger != 0 {
			return binary.AppendUvarint(dst, uint64(v))
		}
		return appendFloat(dst, v)
	}
	dst = append(dst, version, flags, byte(int8(h.Schema)))
	dst = appendFloat(dst, h.Sum)
	dst = count(dst, h.Count)
	if flags&flagZero != 0 {
		dst = appendFloat(dst, h.ZeroThreshold)
		dst = count(dst, h.ZeroCount)
	}
	if flags&flagBounds != 0 {
		dst = binary.AppendUvarint(dst, uint64(len(h.Bounds)))
		for _, b := range h.Bounds {
			dst = appendFloat(dst, b)
		}
	}
	for _, side := range [][]Bucket{h.Positive, h.Negative} {
		dst = binary.AppendUvarint(dst, uint64(len(side)))
		before := int32(0)
		for _, b := range side {
			dst = binary.AppendVarint(dst, int64(b.Index)-int64(before))
			dst = count(dst, b.Count)
			before = b.Index
		}
	}
	return dst
}

// wholeNumbers reports whether all counts are integers that a float holds exactly.
func (h *Histogram) wholeNumbers() bool {
	ok := func(v float64) bool { return v >= 0 && v < 1<<53 && v == math.Trunc(v) }
	if !ok(h.Count) || !ok(h.ZeroCount) {
		return false
	}
	for _, side := range [][]Bucket{h.Positive, h.Negative} {
		for _, b := range side {
			if !ok(b.Count) {
				return false
			}
		}
	}
	return true
}

func appendFloat(dst []byte, v float64) []byte {
	return binary.LittleEndian.AppendUint64(dst, math.Float64bits(v))
}

// Decode reads the binary form. The histogram keeps nothing of b.
func Decode(b []byte) (*Histogram, error) {
	d := decoder{b: b}
	h := &Histogram{}
	if v := d.byte(); v != version && !d.short {
		return nil, fmt.Errorf("histogram of format version %d, want %d", v, version)
	}
	d.flags = d.byte()
	h.Hint = ResetHint(d.flags & 3)
	h.Integer = d.flags&flagInteger != 0
	h.Schema = int32(int8(d.byte()))
	h.Sum = d.float()
	h.Count = d.count()
	if d.flags&flagZero != 0 {
		h.ZeroThreshold = d.float()
		h.ZeroCount = d.count()
	}
	if d.flags&flagBounds != 0 {
		for range d.length(8) {
			h.Bounds = append(h.Bounds, d.float())
		}
	}
	h.Positive = d.side()
	h.Negative = d.side()
	switch {
	case d.short:
		return nil, fmt.Errorf("histogram of %d bytes is cut short", len(b))
	case len(d.b) > 0:
		return nil, fmt.Errorf("histogram of %d bytes has %d too many", len(b), len(d.b))
	case h.Custom() || h.Schema >= MinSchema && h.Schema <= MaxSchema:
		return h, nil
	}
	return nil, fmt.Errorf("histogram schema %d is not known", h.Schema)
}

// decoder reads fields and remembers whether there were too few bytes.
type decoder struct {
	b     []byte
	flags byte
	short bool
}

// take is the next n bytes; zeros once there are too few.
func (d *decoder) take(n int) []byte {
	if len(d.b) < n {
		d.short, d.b = true, nil
		return make([]byte, n)
	}
	out := d.b[:n]
	d.b = d.b[n:]
	return out
}

func (d *decoder) byte() byte { return d.take(1)[0] }

func (d *decoder) float() float64 {
	return math.Float64frombits(binary.LittleEndian.Uint64(d.take(8)))
}

func (d *decoder) uvarint() uint64 {
	v, n := binary.Uvarint(d.b)
	if n <= 0 {
		d.short, d.b = true, nil
		return 0
	}
	d.b = d.b[n:]
	return v
}

func (d *decoder) count() float64 {
	if d.flags&flagInteger != 0 {
		return float64(d.uvarint())
	}
	return d.float()
}

// length is a number of things of at least size bytes each.
func (d *decoder) length(size int) int {
	n := d.uvarint()
	if n > maxBuckets || n > uint64(len(d.b)/size) {
		d.short, d.b = true, nil
		return 0
	}
	return int(n)
}

func (d *decoder) side() []Bucket {
	n := d.length(2)
	if n == 0 {
		return nil
	}
	out := make([]Bucket, n)
	at := int64(0)
	for i := range out {
		step, size := binary.Varint(d.b)
		if size <= 0 || i > 0 && step <= 0 {
			d.short, d.b = true, nil
			return nil
		}
		d.b = d.b[size:]
		at += step
		if at < math.MinInt32 || at > math.MaxInt32 {
			d.short, d.b = true, nil
			return nil
		}
		out[i] = Bucket{int32(at), d.count()}
	}
	return out
}
