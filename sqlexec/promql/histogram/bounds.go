package histogram

import (
	"math"
	"math/big"
)

// fractions[k] is 2^(k/256): the bounds of the finest schema between 1 and 2. Coarser schemas take every second,
// fourth, ... of them.
var fractions = exponentialFractions()

// below is, for each k, by how many units in the last place less one the bound of the reference lies below the nearest
// float: its table was rounded on the way. Texts of histograms show bounds to the last digit.
const below = "" +
	"1111112111211111112311222222222211211121122211221122102211221122" +
	"1111112222332132112111211112111111121011213311221222112121332222" +
	"2121223322322122222222323233323311221121223321332233212232332232" +
	"2243223233433343333333444455435422322333324422333243223333543344"

// exponentialFractions multiplies in 200 bits, so that each result is the nearest float, and goes down from there.
func exponentialFractions() (out [1 << MaxSchema]float64) {
	const precision = 200
	root := new(big.Float).SetPrec(precision).SetInt64(2)
	for range MaxSchema {
		root.Sqrt(root)
	}
	product := new(big.Float).SetPrec(precision).SetInt64(1)
	for k := range out {
		nearest, _ := product.Float64()
		out[k] = math.Float64frombits(math.Float64bits(nearest) + 1 - uint64(below[k]-'0'))
		product.Mul(product, root)
	}
	return out
}

// exponentialBound is the upper bound of the bucket of an index, before mirroring. The bucket that would end at 2^1024
// ends at the largest float; the one after it holds the infinities.
func exponentialBound(index, schema int32) float64 {
	exponent, fraction := int(index), 1.0
	if schema < 0 {
		exponent <<= -schema
	} else {
		fraction = fractions[(int(index)&(1<<schema-1))<<(MaxSchema-schema)]
		exponent >>= schema
	}
	if exponent == 1024 && fraction == 1 {
		return math.MaxFloat64
	}
	return math.Ldexp(fraction, exponent)
}

// upper is the upper bound of a positive bucket.
func (h *Histogram) upper(index int32) float64 {
	if !h.Custom() {
		return exponentialBound(index, h.Schema)
	}
	switch {
	case index < 0:
		return math.Inf(-1)
	case int(index) >= len(h.Bounds):
		return math.Inf(1)
	}
	return h.Bounds[index]
}

// coarser is the index in a schema that is shift steps coarser.
func coarser(index, shift int32) int32 { return (index-1)>>shift + 1 }

// Interval is a bucket with its bounds.
type Interval struct {
	Lower, Upper                   float64
	LowerInclusive, UpperInclusive bool
	Count                          float64
}

// positive is the interval of a positive bucket.
func (h *Histogram) positive(b Bucket) Interval {
	iv := Interval{Lower: h.upper(b.Index - 1), Upper: h.upper(b.Index), UpperInclusive: true, Count: b.Count}
	iv.LowerInclusive = h.Custom() && b.Index == 0
	return iv
}

// negative is the interval of a negative bucket.
func (h *Histogram) negative(b Bucket) Interval {
	return Interval{Lower: -h.upper(b.Index), Upper: -h.upper(b.Index - 1), LowerInclusive: true, Count: b.Count}
}

// zero is the interval of the zero bucket.
func (h *Histogram) zero() Interval {
	return Interval{Lower: -h.ZeroThreshold, Upper: h.ZeroThreshold, LowerInclusive: true, UpperInclusive: true,
		Count: h.ZeroCount}
}

// Intervals appends all buckets in rising order. Buckets that overlap the zero bucket are cut at its edge.
func (h *Histogram) Intervals(dst []Interval) []Interval {
	for i := len(h.Negative) - 1; i >= 0; i-- {
		iv := h.negative(h.Negative[i])
		if iv.Upper < 0 && iv.Upper > -h.ZeroThreshold {
			iv.Upper = -h.ZeroThreshold
		}
		dst = append(dst, iv)
	}
	if h.ZeroCount > 0 {
		dst = append(dst, h.zero())
	}
	for _, b := range h.Positive {
		iv := h.positive(b)
		if iv.Lower > 0 && iv.Lower < h.ZeroThreshold {
			iv.Lower = h.ZeroThreshold
		}
		dst = append(dst, iv)
	}
	return dst
}

// share returns the part of the interval below v, which must be inside it: linear in custom and zero buckets, otherwise
// on the logarithmic scale on which exponential buckets have equal widths.
func (iv Interval) share(v float64, linear bool) float64 {
	if linear {
		return (v - iv.Lower) / (iv.Upper - iv.Lower)
	}
	lower, upper, at := math.Log2(math.Abs(iv.Lower)), math.Log2(math.Abs(iv.Upper)), math.Log2(math.Abs(v))
	if v > 0 {
		return (at - lower) / (upper - lower)
	}
	return 1 - (at-upper)/(lower-upper)
}
