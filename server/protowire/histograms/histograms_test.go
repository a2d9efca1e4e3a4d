package histograms

import (
	"math"
	"testing"

	"varve/sqlexec/promql/histogram"
)

// TestHistogramRoundTrip: a histogram that was written is read as the same message.
func TestHistogramRoundTrip(t *testing.T) {
	for _, h := range []histogram.Histogram{
		{Integer: true, Count: 9, Sum: 12.5, Schema: 1, ZeroThreshold: 0.001, ZeroCount: 1,
			Negative: []histogram.Bucket{{Index: -3, Count: 2}},
			Positive: []histogram.Bucket{{Index: -1, Count: 1}, {Index: 0, Count: 3}, {Index: 7, Count: 2}},
			Hint:     histogram.Gauge},
		{Count: 4.5, Sum: math.Inf(1), Positive: []histogram.Bucket{{Index: 0, Count: 1.5}, {Index: 1, Count: 3}}},
		{Integer: true, Count: 3, Schema: histogram.CustomSchema, Bounds: []float64{1, 2.5},
			Positive: []histogram.Bucket{{Index: 0, Count: 1}, {Index: 2, Count: 2}}},
		{},
	} {
		var got Message
		if err := got.Read(Append(nil, &h, -5)); err != nil {
			t.Fatal(err)
		}
		if err := got.Finish(); err != nil || got.At != -5 {
			t.Fatal(err, got.At)
		}
		if a, b := string(h.AppendBinary(nil)), string(got.AppendBinary(nil)); a != b {
			t.Errorf("%+v comes back as %+v", h, got.Histogram)
		}
	}
}

// FuzzMessage: any bytes are a histogram or an error, and a histogram that was taken can be read again.
func FuzzMessage(f *testing.F) {
	f.Add(Append(nil, &histogram.Histogram{Integer: true, Count: 3, Schema: histogram.CustomSchema,
		Bounds: []float64{1, 2.5}, Positive: []histogram.Bucket{{Index: 0, Count: 1}, {Index: 2, Count: 2}}}, 7))
	f.Fuzz(func(t *testing.T, body []byte) {
		var h Message
		if h.Read(body) == nil && h.Finish() == nil {
			if again, err := histogram.Decode(h.AppendBinary(nil)); err != nil {
				t.Errorf("a histogram that was taken cannot be read: %v of %+v", err, again)
			}
		}
	})
}
