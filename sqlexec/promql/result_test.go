package promql

import (
	"math"
	"testing"

	"varve/sqlexec/promql/histogram"
)

// TestRepeatedPoints: a value that is there again has its text again; zeros of both signs and histograms in between are
// told apart.
func TestRepeatedPoints(t *testing.T) {
	zero, h := math.Copysign(0, -1), &histogram.Histogram{Count: 1, Sum: 2}
	samples := []rawSeries{
		{Samples: Samples{T: []int64{1000, 2000, 3000, 4000, 5000, 6000},
			V: []float64{0, zero, zero, 1.5, 1.5, math.NaN()}}},
		{Samples: Samples{T: []int64{1000, 2000, 3000}, V: []float64{0.1, 0, 0.1},
			H: []*histogram.Histogram{nil, h, nil}}},
	}
	want := `{"metric":{},"values":[[1,"0"],[2,"-0"],[3,"-0"],[4,"1.5"],[5,"1.5"],[6,"NaN"]]}`
	if got := string(samples[0].appendPoints([]byte(`{"metric":{},`))); got != want {
		t.Errorf("%s, want %s", got, want)
	}
	want = `{"values":[[1,"0.1"],[3,"0.1"]],"histograms":[[2,` + string(h.AppendJSON(nil)) + `]]}`
	if got := string(samples[1].appendPoints([]byte(`{`))); got != want {
		t.Errorf("%s, want %s", got, want)
	}
}
