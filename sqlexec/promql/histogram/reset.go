package histogram

// ResetSince reports whether the counter began anew between prev and h: a count fell, a populated bucket is gone, the
// schema became finer or the zero bucket narrower. A hint answers at once.
func (h *Histogram) ResetSince(prev *Histogram) bool {
	switch h.Hint {
	case CounterReset:
		return true
	case NoReset:
		return false
	}
	switch {
	case h.Count < prev.Count:
		return true
	case h.Custom() && !prev.Custom():
		return true
	case h.Custom() && !sameBounds(h.Bounds, prev.Bounds):
		return h.customResetSince(prev)
	case h.Schema > prev.Schema, h.ZeroThreshold < prev.ZeroThreshold:
		return true
	}
	zero, pos, neg := prev.ZeroCount, prev.Positive, prev.Negative
	if h.ZeroThreshold > prev.ZeroThreshold {
		t, threshold := swallow(term{n: zero}, appendTerms(nil, pos, 1), appendTerms(nil, neg, 1), prev.Schema,
			h.ZeroThreshold)
		if threshold != h.ZeroThreshold { // a populated bucket lies across the edge
			return true
		}
		zero = t.value()
	}
	if h.ZeroCount < zero {
		return true
	}
	return h.sideReset(h.Positive, pos, prev.Schema) || h.sideReset(h.Negative, neg, prev.Schema)
}

// sideReset compares the buckets of one side outside of the zero bucket. Those of the previous histogram are in its
// own, finer or equal, schema.
func (h *Histogram) sideReset(side, prev []Bucket, schema int32) bool {
	shift := schema - h.Schema
	for len(prev) > 0 {
		index := coarser(prev[0].Index, shift)
		var before float64
		for len(prev) > 0 && coarser(prev[0].Index, shift) == index {
			before += prev[0].Count
			prev = prev[1:]
		}
		if !h.Custom() && exponentialBound(index, h.Schema) <= h.ZeroThreshold {
			continue
		}
		for len(side) > 0 && side[0].Index < index {
			side = side[1:]
		}
		if len(side) == 0 || side[0].Index > index {
			if before != 0 {
				return true
			}
		} else if side[0].Count < before {
			return true
		}
	}
	return false
}

// customResetSince compares at the bounds that both have.
func (h *Histogram) customResetSince(prev *Histogram) bool {
	common := commonBounds(h.Bounds, prev.Bounds)
	now, before := rollUp(h, common), rollUp(prev, common)
	for i := range now {
		if now[i] < before[i] {
			return true
		}
	}
	return false
}

// rollUp are the counts in the buckets of fewer bounds.
func rollUp(h *Histogram, bounds []float64) []float64 {
	out := make([]float64, len(bounds)+1)
	for _, b := range h.Positive {
		out[place(b.Index, h.Bounds, bounds)] += b.Count
	}
	return out
}
