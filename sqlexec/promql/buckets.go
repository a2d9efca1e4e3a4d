package promql

import (
	"cmp"
	"math"
	"slices"
	"sort"
)

// noise is the relative difference between the counts of neighbouring buckets that is taken for rounding.
const noise = 1e-12

// bucket is a bucket of a classic histogram: how many observations are at most its bound.
type bucket struct{ bound, count float64 }

// forced is what was done to buckets so that their counts rise.
type forced struct {
	any                bool
	low, high, maxDiff float64 // bounds of the first and last bucket that was raised, and by how much at most
}

// sortedBuckets sorts by bound and adds up equal bounds, in place. ok is false without a bucket for +Inf.
func sortedBuckets(b []bucket) (out []bucket, ok bool) {
	slices.SortFunc(b, func(x, y bucket) int { return cmp.Compare(x.bound, y.bound) })
	if !math.IsInf(b[len(b)-1].bound, 1) {
		return b, false
	}
	out = b[:1]
	for _, x := range b[1:] {
		if last := &out[len(out)-1]; last.bound == x.bound {
			last.count += x.count
		} else {
			out = append(out, x)
		}
	}
	return out, true
}

// rise makes counts rise from bucket to bucket: what falls, or rises by noise only, is set to the one before.
func rise(b []bucket) (f forced) {
	f.low, f.high = math.Inf(1), math.Inf(-1)
	before := b[0].count
	for i := 1; i < len(b); i++ {
		now := b[i].count
		switch {
		case now == before:
		case nearly(before, now):
			b[i].count = before
		case now < before:
			b[i].count = before
			f.any = true
			f.low, f.high = min(f.low, b[i].bound), max(f.high, b[i].bound)
			f.maxDiff = max(f.maxDiff, before-now)
		default:
			before = now
		}
	}
	return f
}

// nearly reports whether two numbers differ by noise.
func nearly(a, b float64) bool {
	if math.IsNaN(a) || math.IsNaN(b) {
		return math.IsNaN(a) && math.IsNaN(b)
	}
	const smallestNormal = 0x1p-1022
	sum, diff := math.Abs(a)+math.Abs(b), math.Abs(a-b)
	if a == 0 || b == 0 || sum < smallestNormal {
		return diff < noise*smallestNormal
	}
	return diff/math.Min(sum, math.MaxFloat64) < noise
}

// bucketQuantile estimates a quantile: linear inside a bucket, from zero in the first one if its bound is positive, the
// highest finite bound in the last. It changes the buckets.
func bucketQuantile(q float64, b []bucket) (float64, forced) {
	switch {
	case math.IsNaN(q):
		return math.NaN(), forced{}
	case q < 0:
		return math.Inf(-1), forced{}
	case q > 1:
		return math.Inf(1), forced{}
	}
	b, ok := sortedBuckets(b)
	if !ok {
		return math.NaN(), forced{}
	}
	f := rise(b)
	last := len(b) - 1
	if last < 1 || b[last].count == 0 {
		return math.NaN(), f
	}
	rank := q * b[last].count
	at := sort.Search(last, func(i int) bool { return b[i].count >= rank })
	switch {
	case at == last:
		return b[last-1].bound, f
	case at == 0 && b[0].bound <= 0:
		return b[0].bound, f
	case at == 0:
		return b[0].bound * (rank / b[0].count), f
	}
	below := b[at-1]
	return below.bound + (b[at].bound-below.bound)*((rank-below.count)/(b[at].count-below.count)), f
}

// bucketFraction estimates the part of the observations between two values. It changes the buckets.
func bucketFraction(lower, upper float64, b []bucket) float64 {
	b, ok := sortedBuckets(b)
	if !ok {
		return math.NaN()
	}
	all := b[len(b)-1].count
	switch {
	case all == 0 || math.IsNaN(lower) || math.IsNaN(upper):
		return math.NaN()
	case lower >= upper:
		return 0
	}
	return (bucketRank(upper, b) - bucketRank(lower, b)) / all
}

// bucketRank is how many observations are at most v. A bucket without an end says nothing of where they lie: all those
// below the first bound count, none of those above the last.
func bucketRank(v float64, b []bucket) float64 {
	all := b[len(b)-1].count
	start := 0.0
	if b[0].bound <= 0 {
		start = math.Inf(-1)
	}
	rank := 0.0
	for _, x := range b {
		switch {
		case start >= v:
			return math.Min(rank, all)
		case x.bound > v && math.IsInf(start, -1):
			return math.Min(x.count, all)
		case x.bound > v:
			return math.Min(rank+(x.count-rank)*(v-start)/(x.bound-start), all)
		}
		start, rank = x.bound, x.count
	}
	return all
}
