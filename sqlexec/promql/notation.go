package promql

import (
	model "github.com/prometheus/prometheus/model/histogram"
	"github.com/prometheus/prometheus/model/labels"

	"varve/engine/status"
	"varve/sqlexec/promql/histogram"
)

// Written is one value of a series in the notation of unit tests, such as up{job="a"} 0+10x5 _ stale.
type Written struct {
	Point
	Absent bool // there is no sample
}

// ParseSeries reads a series in the notation of unit tests: its labels, and its values one interval apart. The error is
// of code InvalidSyntax. The notation may stand for many values: most bounds the bytes of the text.
func ParseSeries(text string, most int) (Labels, []Written, error) {
	if len(text) > most {
		return nil, nil, status.New(status.InvalidSyntax, "the series has %d bytes, at most %d are read", len(text),
			most)
	}
	ls, list, err := language.ParseSeriesDesc(text)
	if err != nil {
		return nil, nil, status.Wrap(err, status.InvalidSyntax, "%s", err)
	}
	var out Labels
	ls.Range(func(l labels.Label) { out = append(out, Label{l.Name, l.Value}) })
	values := make([]Written, len(list))
	for i, v := range list {
		values[i] = Written{Point: Point{V: v.Value}, Absent: v.Omitted}
		if v.Histogram != nil {
			values[i].H = ofModel(v.Histogram)
		}
	}
	return out, values, nil
}

// ofModel is a histogram of the parser as one of ours.
func ofModel(f *model.FloatHistogram) *histogram.Histogram {
	h := &histogram.Histogram{Hint: histogram.ResetHint(f.CounterResetHint), Schema: f.Schema,
		ZeroThreshold: f.ZeroThreshold, ZeroCount: f.ZeroCount, Count: f.Count, Sum: f.Sum, Bounds: f.CustomValues}
	side := func(it model.BucketIterator[float64]) (list []histogram.Bucket) {
		for it.Next() {
			b := it.At()
			list = append(list, histogram.Bucket{Index: b.Index, Count: b.Count})
		}
		return list
	}
	h.Positive, h.Negative = side(f.PositiveBucketIterator()), side(f.NegativeBucketIterator())
	return h.Compact()
}
