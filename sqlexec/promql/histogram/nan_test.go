package histogram_test

import (
	"math"
	"testing"

	"varve/sqlexec/promql/histogram"
)

// TestQuantileBesideNaN: observations of NaN count as if they lay above all buckets. A quantile that lies in a bucket
// is that of a histogram of as many observations there, whichever bucket it is and whichever side of zero.
func TestQuantileBesideNaN(t *testing.T) {
	buckets := []histogram.Bucket{{Index: 1, Count: 1}, {Index: 2, Count: 2}, {Index: 3, Count: 3}}
	for _, c := range []struct {
		name string
		h    histogram.Histogram
	}{
		{"positive", histogram.Histogram{Positive: buckets}},
		{"negative", histogram.Histogram{Negative: buckets}},
		{"both", histogram.Histogram{Positive: buckets, Negative: buckets, ZeroCount: 2, ZeroThreshold: 0.5}},
	} {
		inside := c.h.ZeroCount + 6*float64(len(c.h.Positive)+len(c.h.Negative))/3
		c.h.Count, c.h.Sum = inside+4, math.NaN()
		plain := c.h
		plain.Count, plain.Sum = inside, 0
		before := math.Inf(-1)
		for i := range 50 {
			q := float64(i) / 50
			got, skew := c.h.Quantile(q)
			if rank := q * c.h.Count; rank > inside {
				if !math.IsNaN(got) || skew != histogram.OnlyNaN {
					t.Errorf("%s, %v: %v, %v, want NaN", c.name, q, got, skew)
				}
				continue
			}
			want, _ := plain.Quantile(q * c.h.Count / inside)
			if math.Abs(got-want) > 1e-9*math.Abs(want)+1e-12 || skew != histogram.SkewedHigh || got < before {
				t.Errorf("%s, %v: %v, %v, want %v and that it rises", c.name, q, got, skew, want)
			}
			before = got
		}
	}
}
