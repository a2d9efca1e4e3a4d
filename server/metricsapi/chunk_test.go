package metricsapi

import (
	"math"
	"math/rand/v2"
	"testing"

	"github.com/prometheus/prometheus/tsdb/chunkenc"

	"varve/server/protowire"
	"varve/server/samples"
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
				t.Fatalf("sample %d of %d: %d %x, want %d %x", k, n, at, math.Float64bits(v), times[k], math.Float64bits(values[k]))
			}
		}
		if it.Err() != nil || k != n {
			t.Fatalf("%d of %d samples: %v", k, n, it.Err())
		}
	}
}

// TestHistogramRoundTrip: a histogram that was written is read as the same message.
func TestHistogramRoundTrip(t *testing.T) {
	for _, h := range []histogram.Histogram{
		{Integer: true, Count: 9, Sum: 12.5, Schema: 1, ZeroThreshold: 0.001, ZeroCount: 1, Negative: []histogram.Bucket{{Index: -3, Count: 2}}, Positive: []histogram.Bucket{{Index: -1, Count: 1}, {Index: 0, Count: 3}, {Index: 7, Count: 2}}, Hint: histogram.Gauge},
		{Count: 4.5, Sum: math.Inf(1), Positive: []histogram.Bucket{{Index: 0, Count: 1.5}, {Index: 1, Count: 3}}},
		{Integer: true, Count: 3, Schema: histogram.CustomSchema, Bounds: []float64{1, 2.5}, Positive: []histogram.Bucket{{Index: 0, Count: 1}, {Index: 2, Count: 2}}},
		{},
	} {
		var got wireHistogram
		if err := got.read(appendHistogram(nil, &h, -5)); err != nil {
			t.Fatal(err)
		}
		if err := got.finish(); err != nil || got.at != -5 {
			t.Fatal(err, got.at)
		}
		if a, b := string(h.AppendBinary(nil)), string(got.AppendBinary(nil)); a != b {
			t.Errorf("%+v comes back as %+v", h, got.Histogram)
		}
	}
}

// FuzzRemote: any bytes are a request or an error, of each message.
func FuzzRemote(f *testing.F) {
	f.Add(protowire.AppendMessage(nil, 1, func(m []byte) []byte {
		m = protowire.AppendMessage(m, 1, func(l []byte) []byte { return protowire.AppendBytes(protowire.AppendBytes(l, 1, "__name__"), 2, "up") })
		return protowire.AppendMessage(m, 2, func(s []byte) []byte { return protowire.AppendVarint(protowire.AppendDouble(s, 1, 1), 2, 1000) })
	}))
	f.Add(protowire.AppendMessage(nil, 1, func(m []byte) []byte {
		m = protowire.AppendVarint(protowire.AppendVarint(m, 1, 1), 2, 9)
		return protowire.AppendMessage(m, 3, func(l []byte) []byte {
			return protowire.AppendBytes(protowire.AppendBytes(protowire.AppendVarint(l, 1, 2), 2, "job"), 3, "a.*")
		})
	}))
	f.Add(appendHistogram(nil, &histogram.Histogram{Integer: true, Count: 3, Schema: histogram.CustomSchema, Bounds: []float64{1, 2.5}, Positive: []histogram.Bucket{{Index: 0, Count: 1}, {Index: 2, Count: 2}}}, 7))
	f.Fuzz(func(t *testing.T, body []byte) {
		if r, err := decodeRead(body); err == nil && len(r.queries) > len(body) {
			t.Errorf("%d queries in %d bytes", len(r.queries), len(body))
		}
		var h wireHistogram
		if h.read(body) == nil && h.finish() == nil {
			if again, err := histogram.Decode(h.AppendBinary(nil)); err != nil {
				t.Errorf("a histogram that was taken cannot be read: %v of %+v", err, again)
			}
		}
		tables := samples.New(samples.Options{CacheBytes: 1 << 20})
		for _, version := range []int{1, 2} {
			w := &request{h: &Handler{o: Options{Tables: tables}}, db: "public", version: version}
			if err := w.search(body); err == nil && len(w.series) > len(body) {
				t.Errorf("%d series in %d bytes", len(w.series), len(body))
			}
		}
	})
}
