package metricsapi

import (
	"math"
	"math/rand/v2"
	"slices"
	"testing"

	"github.com/prometheus/prometheus/tsdb/chunkenc"

	"varve/sqlexec/promql/histogram"
)

// TestXORBesideTheReference: what the reference reads out of our chunks is what we put in, bit for bit.
func TestXORBesideTheReference(t *testing.T) {
	rng := rand.New(rand.NewPCG(1, 2))
	for range 2000 {
		n := 1 + rng.IntN(chunkSamples)
		times, values := make([]int64, n), make([]float64, n)
		at := rng.Int64N(1<<40) - 1<<39
		for i := range times {
			times[i], values[i] = at, float64(rng.IntN(100))
			switch rng.IntN(4) {
			case 0:
				values[i] = math.Float64frombits(rng.Uint64())
			case 1:
				values[i] = math.Float64frombits(0x7ff0000000000002)
			}
			at += 15_000
			if rng.IntN(3) == 0 {
				at += rng.Int64N(1 << rng.IntN(40))
			}
		}
		c, err := chunkenc.FromData(chunkenc.EncXOR, appendXOR(nil, times, values))
		if err != nil {
			t.Fatal(err)
		}
		it, k := c.Iterator(nil), 0
		for ; it.Next() != chunkenc.ValNone; k++ {
			if at, v := it.At(); k >= n || at != times[k] || math.Float64bits(v) != math.Float64bits(values[k]) {
				t.Fatalf("sample %d of %d: %d %x, want %d %x", k, n, at, math.Float64bits(v), times[k],
					math.Float64bits(values[k]))
			}
		}
		if it.Err() != nil || k != n {
			t.Fatalf("%d of %d samples: %v", k, n, it.Err())
		}
	}
}

// TestHistogramChunksBesideTheReference: what the reference reads out of our chunks is the histogram that we put in. Of
// the hint of a chunk's first sample it believes no more than that it is a gauge.
func TestHistogramChunksBesideTheReference(t *testing.T) {
	rng := rand.New(rand.NewPCG(3, 4))
	side := func(integer bool, most int32) (list []histogram.Bucket) {
		index := rng.Int32N(40) - 20
		if most > 0 {
			index = 0
		}
		for range rng.IntN(9) {
			b := histogram.Bucket{Index: index, Count: float64(rng.Uint64N(1 << rng.IntN(50)))}
			if !integer {
				b.Count += rng.Float64()
			}
			list = append(list, b)
			if index += 1 + rng.Int32N(3)/2; most > 0 && index > most {
				break
			}
		}
		return list
	}
	for range 3000 {
		h := &histogram.Histogram{Hint: histogram.ResetHint(rng.IntN(4)), Integer: rng.IntN(2) == 0,
			Schema: int32(rng.IntN(13)) - 4, Sum: rng.NormFloat64() * 1e6,
			ZeroThreshold: []float64{0, 1, 0x1p-128, 0.001, 1e300}[rng.IntN(5)], ZeroCount: float64(rng.IntN(9))}
		if rng.IntN(3) == 0 {
			h.Schema, h.ZeroThreshold, h.ZeroCount = histogram.CustomSchema, 0, 0
			h.Bounds = []float64{-1, 0.005, 0.25, 10, 1e9}[rng.IntN(4):]
			h.Positive = side(h.Integer, int32(len(h.Bounds)))
		} else {
			h.Positive, h.Negative = side(h.Integer, 0), side(h.Integer, 0)
		}
		h.Count = h.ZeroCount
		for _, b := range append(append([]histogram.Bucket{}, h.Positive...), h.Negative...) {
			h.Count += b.Count
		}
		if rng.IntN(20) == 0 {
			h.Sum = math.Float64frombits(staleMarker)
		}
		at := rng.Int64N(1<<rng.IntN(45)+1) - 1<<20
		encoding := chunkenc.EncFloatHistogram
		if h.Integer {
			encoding = chunkenc.EncHistogram
		}
		c, err := chunkenc.FromData(encoding, appendOneHistogram(nil, h, at))
		if err != nil {
			t.Fatal(err)
		}
		it := c.Iterator(nil)
		if it.Next() == chunkenc.ValNone {
			t.Fatalf("%+v: nothing is read: %v", h, it.Err())
		}
		gotAt, got := it.AtFloatHistogram(nil)
		if gotAt != at || math.Float64bits(got.Sum) != math.Float64bits(h.Sum) {
			t.Fatalf("time %d and sum %v, want %d and %v", gotAt, got.Sum, at, h.Sum)
		}
		if math.Float64bits(h.Sum) == staleMarker {
			continue
		}
		if got.Count != h.Count || got.ZeroCount != h.ZeroCount || got.ZeroThreshold != h.ZeroThreshold ||
			got.Schema != h.Schema || (byte(got.CounterResetHint) == byte(histogram.Gauge)) !=
			(h.Hint == histogram.Gauge) ||
			!slices.Equal(got.CustomValues, h.Bounds) {
			t.Fatalf("read %+v, want %+v", got, h)
		}
		read := func(next func() bool, at func() (int32, float64), want []histogram.Bucket) {
			for i := 0; next(); i++ {
				if index, count := at(); i >= len(want) || (histogram.Bucket{Index: index, Count: count}) != want[i] {
					t.Fatalf("bucket %d is %d: %v of %+v", i, index, count, want)
				}
			}
		}
		positive, negative := got.PositiveBucketIterator(), got.NegativeBucketIterator()
		read(positive.Next, func() (int32, float64) { b := positive.At(); return b.Index, b.Count }, h.Positive)
		read(negative.Next, func() (int32, float64) { b := negative.At(); return b.Index, b.Count }, h.Negative)
		if len(got.PositiveBuckets) != len(h.Positive) || len(got.NegativeBuckets) != len(h.Negative) {
			t.Fatalf("%d and %d buckets, want %d and %d", len(got.PositiveBuckets), len(got.NegativeBuckets),
				len(h.Positive), len(h.Negative))
		}
		if it.Next() != chunkenc.ValNone || it.Err() != nil {
			t.Fatalf("more than a sample, or %v", it.Err())
		}
	}
}

// TestBoundsOfChunks: the reference reads each bound of custom buckets bit by bit, thousandths and what is beside them.
func TestBoundsOfChunks(t *testing.T) {
	var bounds []float64
	for k := range 5000 {
		b := float64(k) / 1000
		bounds = append(bounds, math.Nextafter(b, -1), b, math.Nextafter(b, 10))
	}
	bounds = append(bounds[1:], 33554.43, 33554.431, 1e300) // the first was negative
	for _, low := range []float64{math.Inf(-1), -1.5, math.Copysign(0, -1)} {
		h := &histogram.Histogram{Integer: true, Schema: histogram.CustomSchema, Count: 1,
			Bounds: append([]float64{low}, bounds[1:]...), Positive: []histogram.Bucket{{Index: 0, Count: 1}}}
		c, err := chunkenc.FromData(chunkenc.EncHistogram, appendOneHistogram(nil, h, 1000))
		if err != nil {
			t.Fatal(err)
		}
		it := c.Iterator(nil)
		it.Next()
		_, got := it.AtHistogram(nil)
		for i, b := range h.Bounds {
			if math.Float64bits(got.CustomValues[i]) != math.Float64bits(b) {
				t.Fatalf("bound %v is read as %v", b, got.CustomValues[i])
			}
		}
	}
}
