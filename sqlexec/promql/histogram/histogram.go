// Package histogram implements native histograms: samples of a metric that are not floats.
//
// A histogram counts observations in buckets. With an exponential schema s (-4..8) the upper bound of bucket i is
// 2^(i*2^-s), on the negative side mirrored, and a zero bucket holds what is close to zero. With custom bounds (schema
// -53) bucket i ends at the i-th bound and the last one at +Inf.
//
// Each side of a histogram has a list of buckets, sorted by index: adding histograms merges lists, and a coarser schema
// maps indexes. A histogram does not change once it is a sample: operations make new ones. docs/format/histogram.md
// draws the binary form for storage.
package histogram

import (
	"errors"
	"fmt"
	"math"
	"slices"
)

// The schemas of exponential buckets lie between MinSchema and MaxSchema; CustomSchema says that the bounds are listed.
const (
	MinSchema    = -4
	MaxSchema    = 8
	CustomSchema = -53
)

// MaxSentSchema is the finest schema that is taken. The published format keeps those above MaxSchema for later; a
// receiver may bring them down to it, which loses resolution and no observation.
const MaxSentSchema = 52

// ErrIncompatible is the error of putting exponential and custom buckets together.
var ErrIncompatible = errors.New("histograms with exponential and with custom buckets do not go together")

// ResetHint is the knowledge about a counter reset between a histogram and the previous one.
type ResetHint uint8

// The hints.
const (
	UnknownReset ResetHint = iota // compare to find out
	CounterReset                  // the counter began anew
	NoReset                       // it went on
	Gauge                         // not a counter
)

// Bucket is the number of observations in the bucket of an index.
type Bucket struct {
	Index int32
	Count float64
}

// Histogram is one sample. The zero value is an empty histogram of schema 0.
type Histogram struct {
	Hint    ResetHint
	Integer bool  // counts came as integers; arithmetic clears it
	Schema  int32 // MinSchema..MaxSchema or CustomSchema

	ZeroThreshold float64 // width of the zero bucket
	ZeroCount     float64
	Count, Sum    float64

	// Positive and Negative are sorted by index. Histograms with custom bounds have positive buckets only.
	Positive, Negative []Bucket

	// Bounds are the upper bounds of custom buckets, rising. Shared, never changed.
	Bounds []float64
}

// Custom reports whether the bounds are listed.
func (h *Histogram) Custom() bool { return h.Schema == CustomSchema }

// Clone copies the histogram and its buckets.
func (h *Histogram) Clone() *Histogram {
	c := *h
	c.Positive = slices.Clone(h.Positive)
	c.Negative = slices.Clone(h.Negative)
	return &c
}

// WithHint is the histogram with another hint; the buckets are shared.
func (h *Histogram) WithHint(hint ResetHint) *Histogram {
	c := *h
	c.Hint = hint
	return &c
}

// Scale multiplies all counts and the sum in place.
func (h *Histogram) Scale(factor float64) *Histogram {
	return h.apply(factor < 0, func(v float64) float64 { return v * factor })
}

// Divide divides all counts and the sum in place. Nothing is left of the buckets after a division by zero.
func (h *Histogram) Divide(by float64) *Histogram {
	if by == 0 {
		h.Positive, h.Negative = nil, nil
	}
	return h.apply(by < 0, func(v float64) float64 { return v / by })
}

func (h *Histogram) apply(negative bool, f func(float64) float64) *Histogram {
	h.Integer = false
	h.ZeroCount, h.Count, h.Sum = f(h.ZeroCount), f(h.Count), f(h.Sum)
	for _, side := range [][]Bucket{h.Positive, h.Negative} {
		for i := range side {
			side[i].Count = f(side[i].Count)
		}
	}
	if negative {
		h.Hint = Gauge
	}
	return h
}

// Compact drops the buckets that are empty, in place, and their memory where it is most of a side.
func (h *Histogram) Compact() *Histogram {
	h.Positive, h.Negative = compact(h.Positive), compact(h.Negative)
	return h
}

func compact(side []Bucket) []Bucket {
	side = slices.DeleteFunc(side, func(b Bucket) bool { return b.Count == 0 })
	if len(side) < cap(side)/2 {
		return slices.Clone(side)
	}
	return side
}

// Coarsen brings exponential buckets to a schema, in place, where that is coarser.
func (h *Histogram) Coarsen(schema int32) {
	if h.Custom() || h.Schema <= schema {
		return
	}
	shift := h.Schema - schema
	h.Schema, h.Positive, h.Negative = schema, coarsen(h.Positive, shift), coarsen(h.Negative, shift)
}

func coarsen(side []Bucket, shift int32) []Bucket {
	out := side[:0]
	for _, b := range side {
		b.Index = coarser(b.Index, shift)
		if n := len(out); n > 0 && out[n-1].Index == b.Index {
			out[n-1].Count += b.Count
			continue
		}
		out = append(out, b)
	}
	return out
}

// Equal compares bit by bit, empty buckets included; hints do not count.
func (h *Histogram) Equal(o *Histogram) bool {
	return h.Schema == o.Schema && same(h.Count, o.Count) && same(h.Sum, o.Sum) && h.ZeroThreshold == o.ZeroThreshold &&
		same(h.ZeroCount, o.ZeroCount) && (!h.Custom() || sameBounds(h.Bounds, o.Bounds)) &&
		slices.EqualFunc(h.Positive, o.Positive, sameBucket) && slices.EqualFunc(h.Negative, o.Negative, sameBucket)
}

func same(a, b float64) bool { return math.Float64bits(a) == math.Float64bits(b) }

func sameBucket(a, b Bucket) bool { return a.Index == b.Index && same(a.Count, b.Count) }

// sameBounds compares custom bounds, first by where they lie.
func sameBounds(a, b []float64) bool {
	if len(a) != len(b) {
		return false
	}
	return len(a) == 0 || &a[0] == &b[0] || slices.EqualFunc(a, b, same)
}

// Weight is how many float samples of memory the histogram is worth, for the limits of a query.
func (h *Histogram) Weight() int { return int(h.Bytes() / 16) }

// Bytes is about the memory of the histogram.
func (h *Histogram) Bytes() int64 { return int64(16 + 16*(len(h.Positive)+len(h.Negative)) + 160) }

// Validate describes the fault of a histogram that a client sent.
func (h *Histogram) Validate() error {
	switch {
	case h.Custom():
		if h.ZeroCount != 0 || h.ZeroThreshold != 0 || len(h.Negative) > 0 {
			return errors.New("a histogram with custom buckets has neither zero bucket nor negative buckets")
		}
		for i, b := range h.Bounds {
			if math.IsNaN(b) || math.IsInf(b, 1) || i > 0 && b <= h.Bounds[i-1] {
				return fmt.Errorf("custom bound %d is %v: bounds rise and are finite", i, b)
			}
		}
		if n := len(h.Positive); n > 0 && (h.Positive[0].Index < 0 || int(h.Positive[n-1].Index) > len(h.Bounds)) {
			return fmt.Errorf("a bucket lies outside of the %d custom bounds", len(h.Bounds))
		}
	case h.Schema < MinSchema || h.Schema > MaxSchema:
		return fmt.Errorf("histogram schema %d: %d to %d and %d are known", h.Schema, MinSchema, MaxSchema,
			CustomSchema)
	case len(h.Bounds) > 0:
		return errors.New("a histogram with exponential buckets has no custom bounds")
	}
	if h.Count < 0 || h.ZeroCount < 0 {
		return fmt.Errorf("count %v and zero count %v must not be negative", h.Count, h.ZeroCount)
	}
	for _, side := range [][]Bucket{h.Positive, h.Negative} {
		for i, b := range side {
			if b.Count < 0 {
				return fmt.Errorf("bucket %d has count %v", b.Index, b.Count)
			}
			if i > 0 && b.Index <= side[i-1].Index {
				return fmt.Errorf("bucket %d follows bucket %d", b.Index, side[i-1].Index)
			}
		}
	}
	return nil
}
