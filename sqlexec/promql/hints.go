package promql

import "varve/sqlexec/promql/histogram"

// hinted is histogram i of a series with what is known of a reset since the one before it: compared once here, so that
// windows that overlap need not compare again. Where only counts are wanted it has no buckets.
func hinted(hs []*histogram.Histogram, i int, counts bool) *histogram.Histogram {
	h := hs[i]
	hint := h.Hint
	if hint == histogram.UnknownReset && i > 0 && hs[i-1] != nil && !isStale(hs[i-1].Sum) {
		switch reset := h.ResetSince(hs[i-1]); {
		case !reset:
			hint = histogram.NoReset
		case counts:
			hint = histogram.CounterReset
		}
	}
	switch {
	case counts:
		return &histogram.Histogram{Hint: hint, Schema: h.Schema, Count: h.Count, Sum: h.Sum}
	case hint != h.Hint:
		return h.WithHint(hint)
	}
	return h
}
