package histogram

import "math"

// Skew is the effect of not-a-number observations on a quantile or a fraction: they count, but are in no bucket.
type Skew uint8

// The kinds.
const (
	NoSkew     Skew = iota
	SkewedHigh      // the answer is higher than it would be without them
	OnlyNaN         // the answer lies among them: NaN
)

// Quantile estimates the q-quantile, 0 <= q <= 1. Inside of a bucket it interpolates on a logarithmic scale, in zero
// and custom buckets linearly.
func (h *Histogram) Quantile(q float64) (float64, Skew) {
	switch {
	case q < 0:
		return math.Inf(-1), NoSkew
	case q > 1:
		return math.Inf(1), NoSkew
	case h.Count == 0 || math.IsNaN(q):
		return math.NaN(), NoSkew
	}
	// From below for small q and where NaN was observed, from above for large q: less is added up.
	nan := math.IsNaN(h.Sum)
	forward := nan || q < 0.5
	rank := q * h.Count
	if !forward {
		rank = (1 - q) * h.Count
	}
	iv, count, rest := h.reach(rank, forward)
	if h.Custom() {
		switch {
		case math.IsInf(iv.Lower, -1) && iv.Upper <= 0:
			return iv.Upper, NoSkew
		case math.IsInf(iv.Lower, -1):
			iv.Lower = 0
		case math.IsInf(iv.Upper, 1):
			return iv.Lower, NoSkew
		}
	} else if iv.Lower < 0 && iv.Upper > 0 {
		iv = h.oneSided(iv)
	}
	count = math.Min(count, h.Count) // adding may have rounded up
	if count < rank {
		if nan {
			return math.NaN(), OnlyNaN
		}
		return iv.Upper, NoSkew
	}
	if forward {
		rank -= count - iv.Count
	} else {
		rank = count - rank
	}
	skew := NoSkew
	if nan {
		for _, r := range rest {
			count += r.Count
		}
		if count < h.Count {
			skew = SkewedHigh
		}
	}
	return h.inside(iv, rank/iv.Count), skew
}

// reach adds up intervals, from below or from above, until they are as many observations as rank. It returns the last
// one that has any, and from below those behind it.
func (h *Histogram) reach(rank float64, forward bool) (last Interval, count float64, rest []Interval) {
	all := h.Intervals(nil)
	for used := range all {
		last = all[used]
		if !forward {
			last = all[len(all)-1-used]
		}
		if last.Count == 0 {
			continue
		}
		if count += last.Count; count >= rank {
			return last, count, all[used+1:]
		}
	}
	return last, count, nil
}

// inside is the value at a fraction of the way through an interval.
func (h *Histogram) inside(iv Interval, fraction float64) float64 {
	if h.Custom() || iv.Lower <= 0 && iv.Upper >= 0 {
		return iv.Lower + (iv.Upper-iv.Lower)*fraction
	}
	lower, upper := math.Log2(math.Abs(iv.Lower)), math.Log2(math.Abs(iv.Upper))
	if iv.Lower > 0 {
		return math.Exp2(lower + (upper-lower)*fraction)
	}
	return -math.Exp2(upper + (lower-upper)*(1-fraction))
}

// oneSided cuts the zero bucket at zero where the histogram has buckets on one side only.
func (h *Histogram) oneSided(iv Interval) Interval {
	switch {
	case len(h.Negative) == 0 && len(h.Positive) > 0:
		iv.Lower = 0
	case len(h.Positive) == 0 && len(h.Negative) > 0:
		iv.Upper = 0
	}
	return iv
}

// Fraction estimates the part of the observations between lower and upper.
func (h *Histogram) Fraction(lower, upper float64) (float64, Skew) {
	if h.Count == 0 || math.IsNaN(lower) || math.IsNaN(upper) {
		return math.NaN(), NoSkew
	}
	if lower >= upper {
		return 0, NoSkew
	}
	all := h.Intervals(nil)
	below, above := -1.0, -1.0 // ranks of the two; negative: not yet known
	var rank, total float64
	for _, iv := range all {
		total += iv.Count
	}
	for _, iv := range all {
		linear := h.Custom()
		if iv.Lower <= 0 && iv.Upper >= 0 {
			linear = true
			iv = h.oneSided(iv)
		}
		below = rankIn(below, rank, lower, iv, linear)
		above = rankIn(above, rank, upper, iv, linear)
		if below >= 0 && above >= 0 {
			break
		}
		rank += iv.Count
	}
	skew, count := NoSkew, h.Count
	if math.IsNaN(h.Sum) {
		if count = total; total < h.Count {
			skew = SkewedHigh
		}
	}
	if below < 0 || below > count {
		below = count
	}
	if above < 0 || above > count {
		above = count
	}
	return (above - below) / h.Count, skew
}

// rankIn is the number of observations below v once the interval reaches it, else known as before. A bucket without an
// end says nothing of where its observations lie: below -Inf none are counted apart, towards +Inf none belong.
func rankIn(known, rank, v float64, iv Interval, linear bool) float64 {
	switch {
	case known >= 0:
		return known
	case iv.Lower >= v:
		return rank
	case iv.Upper <= v:
		return known
	case math.IsInf(iv.Lower, -1):
		return iv.Count
	}
	return rank + iv.Count*iv.share(v, linear)
}

// Variance estimates the mean of the squared distances from the average; each bucket stands at its middle.
func (h *Histogram) Variance() float64 {
	mean := h.Sum / h.Count
	var t term
	for _, iv := range h.Intervals(nil) {
		if iv.Count == 0 {
			continue
		}
		var at float64
		switch {
		case h.Custom():
			at = (iv.Upper + iv.Lower) / 2
		case iv.Lower <= 0 && iv.Upper >= 0:
		default:
			at = math.Copysign(math.Sqrt(iv.Upper*iv.Lower), iv.Upper)
		}
		t = t.add(iv.Count * (at - mean) * (at - mean))
	}
	return t.value() / h.Count
}
