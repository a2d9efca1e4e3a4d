package logql

import (
	"sort"

	"varve/sqlexec/logql/syntax"
)

// steps are the times at which a query is evaluated: start, start+step, .. up to end. Times are ns. An instant query
// has one, and step 0.
type steps struct {
	start, step int64
	n           int
}

// at is the time of step i.
func (s steps) at(i int) int64 { return s.start + int64(i)*s.step }

// frame is the windows of an aggregation: that of step i is (at(i)-offset-interval, at(i)-offset].
type frame struct {
	steps
	interval, offset int64
	// bucket is the length of the buckets that windows are made of: each window is whole buckets. 0: buckets do not
	// pay, there would be too many of them.
	bucket int64
}

// maxBuckets bounds the buckets of a query.
const maxBuckets = 100_000

func newFrame(s steps, r *syntax.LogRange) frame {
	f := frame{steps: s, interval: int64(r.Interval), offset: int64(r.Offset)}
	switch {
	case s.n == 1 || s.step >= f.interval:
		f.bucket = max(s.step, f.interval) // one for each step
	default:
		f.bucket = gcd(f.interval, s.step)
		if (s.step*int64(s.n-1)+f.interval)/f.bucket > maxBuckets {
			f.bucket = 0
		}
	}
	return f
}

func gcd(a, b int64) int64 {
	for b != 0 {
		a, b = b, a%b
	}
	return a
}

// span is the time of all windows: from included, to not.
func (f *frame) span() (from, to int64) {
	return f.start - f.offset - f.interval + 1, f.at(f.n-1) - f.offset + 1
}

// bucketOf is the bucket of a time; ok false: no window has the time. Bucket 0 ends where the first window ends.
func (f *frame) bucketOf(at int64) (bucket int64, ok bool) {
	d := at - (f.start - f.offset)
	b := d / f.bucket
	if d > 0 && d%f.bucket != 0 {
		b++ // the end of a bucket belongs to it
	}
	if f.step >= f.interval || f.n == 1 { // the buckets are apart, with gaps before their windows
		end := b * f.bucket
		return b, d > end-f.interval && b >= 0 && b < int64(f.n)
	}
	return b, true
}

// buckets are the buckets of the window of step i: from included, to not.
func (f *frame) buckets(i int) (from, to int64) {
	if f.step >= f.interval || f.n == 1 {
		return int64(i), int64(i) + 1
	}
	end := int64(i) * (f.step / f.bucket)
	return end - f.interval/f.bucket + 1, end + 1
}

// most is a bound of the steps whose windows have one of some samples or buckets.
func (f *frame) most(samples int) int64 {
	each := int64(1)
	if f.step > 0 {
		each += f.interval / f.step
	}
	if int64(samples) > int64(f.n)/each {
		return int64(f.n)
	}
	return int64(samples) * each
}

// covered reports whether a window has a time.
func (f *frame) covered(at int64) bool {
	d := at - (f.start - f.offset)
	if f.n == 1 {
		return d <= 0 && d > -f.interval
	}
	if f.step < f.interval {
		return d > -f.interval && d <= f.step*int64(f.n-1)
	}
	k := d / f.step
	if d > 0 && d%f.step != 0 {
		k++
	}
	return k >= 0 && k < int64(f.n) && d > k*f.step-f.interval
}

// tally is the number of a bucket and what was added up in it.
type tally struct {
	bucket int64
	total  float64
}

// overBuckets yields for each step whose window has lines the total of its buckets, which are sorted.
func (f *frame) overBuckets(list []tally, yield func(step int, total float64)) {
	from, to, total := 0, 0, 0.0 // whole numbers below 2^53: sums and differences are exact
	for i := range f.n {
		first, end := f.buckets(i)
		for ; to < len(list) && list[to].bucket < end; to++ {
			total += list[to].total
		}
		for ; from < to && list[from].bucket < first; from++ {
			total -= list[from].total
		}
		if from < to {
			yield(i, total)
		}
	}
}

// overSamples yields for each step whose window has samples those samples, which are sorted by time.
func (f *frame) overSamples(list []sample, yield func(step int, w window) error) error {
	for i := range f.n {
		end := f.at(i) - f.offset
		from := sort.Search(len(list), func(k int) bool { return list[k].at > end-f.interval })
		to := from + sort.Search(len(list)-from, func(k int) bool { return list[from+k].at > end })
		if from < to {
			if err := yield(i, window{list[from:to], end, f.interval}); err != nil {
				return err
			}
		}
	}
	return nil
}
