package metricsapi

import (
	"encoding/binary"
	"math"
	"math/bits"

	"varve/server/protowire"
	"varve/sqlexec/promql/histogram"
)

// Numbers of the encodings of histograms.
const (
	integerEncoding = 2
	floatEncoding   = 3
)

// appendHistogramChunk appends a chunk of one histogram as a field of a series. All samples of a chunk share the
// buckets and the reset hint of the first, so that a chunk of one sample loses nothing.
func appendHistogramChunk(dst []byte, h *histogram.Histogram, at int64) []byte {
	chunk := protowire.Begin(&dst, 2)
	if at != 0 {
		dst = protowire.AppendVarint(protowire.AppendVarint(dst, 1, uint64(at)), 2, uint64(at))
	}
	encoding := uint64(floatEncoding)
	if h.Integer {
		encoding = integerEncoding
	}
	dst = protowire.AppendVarint(dst, 3, encoding)
	data := protowire.Begin(&dst, 4)
	dst = protowire.End(appendOneHistogram(dst, h, at), data)
	return protowire.End(dst, chunk)
}

// resetBits are the first bits of a chunk's flags, by hint.
var resetBits = [...]byte{histogram.UnknownReset: 0b00 << 6, histogram.CounterReset: 0b10 << 6,
	histogram.NoReset: 0b01 << 6, histogram.Gauge: 0b11 << 6}

// appendOneHistogram appends the data of a chunk: the number of samples, flags, width of the zero bucket, schema, spans
// of both sides, custom bounds; then the sample's time, count, zero count, sum and bucket counts. An integer count of a
// bucket is written as the difference to the bucket before, a float as it is.
func appendOneHistogram(dst []byte, h *histogram.Histogram, at int64) []byte {
	dst = append(binary.BigEndian.AppendUint16(dst, 1), resetBits[h.Hint&3])
	w := bitWriter{b: appendThreshold(dst, h.ZeroThreshold)}
	w.varbit(int64(h.Schema))
	positive, negative := h.Positive, h.Negative
	stale := math.Float64bits(h.Sum) == staleMarker
	if stale { // it has nothing but its sum
		positive, negative = nil, nil
	}
	w.spans(positive)
	w.spans(negative)
	if h.Schema == histogram.CustomSchema {
		w.uvarbit(uint64(len(h.Bounds)))
		for _, b := range h.Bounds {
			w.bound(b)
		}
	}
	w.varbit(at)
	if h.Integer {
		w.uvarbit(uint64(h.Count))
		w.uvarbit(uint64(h.ZeroCount))
	} else {
		w.bits(math.Float64bits(h.Count), 64)
		w.bits(math.Float64bits(h.ZeroCount), 64)
	}
	w.bits(math.Float64bits(h.Sum), 64)
	for _, side := range [...][]histogram.Bucket{positive, negative} {
		before := int64(0)
		for _, b := range side {
			if !h.Integer {
				w.bits(math.Float64bits(b.Count), 64)
				continue
			}
			w.varbit(int64(b.Count) - before)
			before = int64(b.Count)
		}
	}
	return w.b
}

// staleMarker are the bits of the NaN that marks the end of a series.
const staleMarker = 0x7ff0000000000002

// appendThreshold writes the width of the zero bucket: a byte where it is zero or a usual power of two, else 255 and
// its bits.
func appendThreshold(dst []byte, width float64) []byte {
	frac, exp := math.Frexp(width)
	switch {
	case width == 0:
		return append(dst, 0)
	case frac == 0.5 && exp >= -242 && exp <= 11:
		return append(dst, byte(exp+243))
	}
	return binary.BigEndian.AppendUint64(append(dst, 255), math.Float64bits(width))
}

// spans writes which buckets a side has: for each stretch its length, and its distance from the end of the stretch
// before.
func (w *bitWriter) spans(side []histogram.Bucket) {
	type stretch struct {
		offset int64
		length uint64
	}
	var stretches []stretch
	end := int64(0)
	for i, b := range side {
		if i == 0 || int64(b.Index) != end {
			stretches = append(stretches, stretch{offset: int64(b.Index) - end})
		}
		stretches[len(stretches)-1].length++
		end = int64(b.Index) + 1
	}
	w.uvarbit(uint64(len(stretches)))
	for _, s := range stretches {
		w.uvarbit(s.length)
		w.varbit(s.offset)
	}
}

// bound writes a custom bound: as a number of thousandths if that is small and exact, else its bits. The reader divides
// by 1000, so it is exact if the quotient is the bound: neighbours of the bound may have the same product.
func (w *bitWriter) bound(b float64) {
	if t := math.Round(b * 1000); t <= 33554430 && t/1000 == b && !math.Signbit(b) {
		w.uvarbit(uint64(t) + 1)
		return
	}
	w.bits(0, 1)
	w.bits(math.Float64bits(b), 64)
}

// varbitWidths are the widths, in bits, of numbers of variable length. Before a number stand as many ones as the place
// of its width in the list, and then a zero, which the last place does without.
var varbitWidths = [...]int{0, 3, 6, 9, 12, 18, 25, 56, 64}

func (w *bitWriter) width(place int) int {
	if last := len(varbitWidths) - 1; place == last {
		w.bits(1<<last-1, last)
	} else {
		w.bits(1<<(place+1)-2, place+1)
	}
	return varbitWidths[place]
}

// varbit writes a signed number; of n bits are those from -2^(n-1)+1 to 2^(n-1).
func (w *bitWriter) varbit(x int64) {
	place := 0
	for !fits(x, varbitWidths[place]) {
		place++
	}
	w.bits(uint64(x), w.width(place))
}

func fits(x int64, n int) bool {
	switch n {
	case 0:
		return x == 0
	case 64:
		return true
	}
	return -(1<<(n-1)-1) <= x && x <= 1<<(n-1)
}

// uvarbit writes a number without a sign.
func (w *bitWriter) uvarbit(x uint64) {
	place := 0
	for bits.Len64(x) > varbitWidths[place] {
		place++
	}
	w.bits(x, w.width(place))
}
