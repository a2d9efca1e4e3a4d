package histogram

import "math"

// TrimAbove is the histogram without what was observed above a limit, estimated where the limit cuts a bucket.
func (h *Histogram) TrimAbove(limit float64) *Histogram { return h.trim(limit, true) }

// TrimBelow is the histogram without what was observed below a limit.
func (h *Histogram) TrimBelow(limit float64) *Histogram { return h.trim(limit, false) }

func (h *Histogram) trim(limit float64, upper bool) *Histogram {
	out := h.Clone()
	var count, sum float64
	changed, hasPositive, hasNegative := false, false, false
	keep := func(was *float64, kept, middle float64) {
		count += kept
		sum += middle * kept
		if *was != kept {
			*was, changed = kept, true
		}
	}
	for i := range out.Positive {
		if b := &out.Positive[i]; b.Count != 0 {
			hasPositive = true
			kept, middle := trimInterval(out.positive(*b), limit, upper, h.Custom())
			keep(&b.Count, kept, middle)
		}
	}
	for i := range out.Negative {
		if b := &out.Negative[i]; b.Count != 0 {
			hasNegative = true
			kept, middle := trimInterval(out.negative(*b), limit, upper, h.Custom())
			keep(&b.Count, kept, middle)
		}
	}
	if out.ZeroCount > 0 {
		iv := out.zero()
		if hasNegative && !hasPositive {
			iv.Upper = 0
		}
		if hasPositive && !hasNegative {
			iv.Lower = 0
		}
		kept, middle := trimZero(iv, limit, upper)
		keep(&out.ZeroCount, kept, middle)
	}
	if changed {
		out.Integer = false
		out.Count, out.Sum = count, sum
		out.Compact()
	}
	return out
}

// trimInterval is what is kept of a bucket and the middle of that.
func trimInterval(iv Interval, limit float64, upper, linear bool) (kept, middle float64) {
	inside, cut := iv.Lower >= limit, iv.Upper > limit
	if upper {
		inside, cut = iv.Upper <= limit, iv.Lower < limit
	}
	switch {
	case inside:
		return iv.Count, middleOf(iv.Lower, iv.Upper, linear)
	case !cut:
		return 0, 0
	case math.IsInf(iv.Lower, -1):
		return trimFromBelow(iv, limit, upper)
	case math.IsInf(iv.Upper, 1):
		// The positions of observations above the last bound are unknown. A limit beyond this bound keeps them when the
		// lower part is removed, and drops them when the upper part is removed.
		if !upper && limit >= iv.Lower {
			return iv.Count, limit
		}
		return 0, 0
	}
	under := iv.Count * iv.share(limit, linear)
	if upper {
		return under, middleOf(iv.Lower, limit, linear)
	}
	return iv.Count - under, middleOf(limit, iv.Upper, linear)
}

// trimFromBelow trims a bucket without lower end. With a positive upper end it is taken to begin at zero.
func trimFromBelow(iv Interval, limit float64, upper bool) (kept, middle float64) {
	finite := !math.IsInf(iv.Upper, 1)
	switch {
	case upper && limit > 0 && iv.Upper > 0 && finite:
		return iv.Count * limit / iv.Upper, limit / 2
	case upper && iv.Upper <= 0:
		return iv.Count, limit
	case !upper && limit >= 0 && finite:
		return iv.Count * (1 - limit/iv.Upper), (limit + iv.Upper) / 2
	}
	return 0, 0
}

// trimZero is trimInterval for the zero bucket, in which observations spread evenly.
func trimZero(iv Interval, limit float64, upper bool) (kept, middle float64) {
	width := iv.Upper - iv.Lower
	switch {
	case upper && limit <= iv.Lower:
		return 0, 0
	case upper && limit >= iv.Upper, !upper && limit <= iv.Lower:
		return iv.Count, (iv.Lower + iv.Upper) / 2
	case !upper && limit >= iv.Upper:
		return 0, 0
	case upper:
		return iv.Count * ((limit - iv.Lower) / width), (iv.Lower + limit) / 2
	}
	return iv.Count * ((iv.Upper - limit) / width), (limit + iv.Upper) / 2
}

// middleOf is where the observations between two bounds are taken to lie.
func middleOf(lower, upper float64, linear bool) float64 {
	switch low, high := math.IsInf(lower, 0), math.IsInf(upper, 0); {
	case low && high:
		return 0
	case low && upper > 0:
		return upper / 2
	case low:
		return upper
	case high:
		return lower
	case linear:
		return (lower + upper) / 2
	}
	middle := math.Sqrt(math.Abs(lower * upper))
	if upper <= 0 {
		return -middle
	}
	return middle
}
