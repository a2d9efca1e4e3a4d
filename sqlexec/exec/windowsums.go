package exec

import (
	"math"
	"math/bits"

	"varve/engine/status"
	"varve/engine/vector"
)

// sums is sum and avg. Sums of integers are differences of sums from one row on, which have 128 bits and are exact.
func (r *framer) sums() error {
	switch r.f.Args[0].Type().Kind() {
	case vector.Float64:
		return r.floats()
	case vector.Int64:
		return r.wideSums(true)
	}
	return r.wideSums(false)
}

// wide is a number of 128 bits, two's complement where it has a sign.
type wide struct{ hi, lo uint64 }

func (x wide) add(y wide) wide {
	lo, carry := bits.Add64(x.lo, y.lo, 0)
	hi, _ := bits.Add64(x.hi, y.hi, carry)
	return wide{hi, lo}
}

func (x wide) sub(y wide) wide {
	lo, borrow := bits.Sub64(x.lo, y.lo, 0)
	hi, _ := bits.Sub64(x.hi, y.hi, borrow)
	return wide{hi, lo}
}

// addUp adds up the integers up to a place.
func (r *framer) addUp(w *walker, to int, signed bool) error {
	return w.walk(to, func(page *rowPage, a, b int) error {
		v, all := page.cols[r.args], r.all(page)
		for i := a; i < b; i++ {
			switch {
			case !all && !r.counting(page, i):
				continue
			case signed:
				x := v.Ints[i]
				w.sum = w.sum.add(wide{uint64(x >> 63), uint64(x)})
			default:
				w.sum = w.sum.add(wide{0, v.Uints[i]})
			}
			w.n++
		}
		return nil
	})
}

// wideSums appends the sum or the mean of each frame of integers.
func (r *framer) wideSums(signed bool) error {
	for k, lo := range r.lo {
		r.frame(lo, r.hi[k])
		if err := r.addUp(&r.low, lo, signed); err != nil {
			return err
		}
		if err := r.addUp(&r.high, r.hi[k], signed); err != nil {
			return err
		}
		n := r.high.n - r.low.n
		switch x := r.high.sum.sub(r.low.sum); {
		case r.fn.mean:
			r.out.Floats = append(r.out.Floats, wideFloat(x.hi, x.lo, signed)/float64(max(n, 1)))
		case signed && x.hi != uint64(int64(x.lo)>>63), !signed && x.hi != 0:
			return status.New(status.EngineExecuteQuery, "Overflow in sum: it does not fit %s", r.f.Type)
		case signed:
			r.out.Ints = append(r.out.Ints, int64(x.lo))
		default:
			r.out.Uints = append(r.out.Uints, x.lo)
		}
		r.null = append(r.null, n == 0)
	}
	r.numbers(r.null)
	return nil
}

// wideFloat is a number of 128 bits as a float.
func wideFloat(hi, lo uint64, signed bool) float64 {
	if signed && hi>>63 != 0 {
		var borrow uint64
		lo, borrow = bits.Sub64(0, lo, 0)
		hi, _ = bits.Sub64(0, hi, borrow)
		return -wideFloat(hi, lo, false)
	}
	return math.Ldexp(float64(hi), 64) + float64(lo)
}

// shortFrame is the largest number of rows that are added up one by one.
const shortFrame = 64

// floats adds floats up. Nothing is ever taken off a sum, so the answer does not drift: a frame that grows goes on with
// its sum, a short one is added up anew, a long one is put together from a tree of partial sums.
func (r *framer) floats() error {
	t := &r.tree
	add := func(page *rowPage, a, b int) error {
		v, all := page.cols[r.args], r.all(page)
		for i := a; i < b; i++ {
			if all || r.counting(page, i) {
				r.high.n++
				t.add(v.Floats[i], !r.from.bound.Unbounded)
			}
		}
		return nil
	}
	for k, lo := range r.lo {
		r.frame(lo, r.hi[k])
		if err := r.count(&r.low, lo); err != nil {
			return err
		}
		if err := r.high.walk(r.hi[k], add); err != nil {
			return err
		}
		n := r.high.n - r.low.n
		x := t.sum(r.low.n, r.high.n)
		if r.fn.mean {
			x /= float64(max(n, 1))
		}
		r.out.Floats = append(r.out.Floats, x)
		r.null = append(r.null, n == 0)
	}
	r.numbers(r.null)
	t.trim(r.low.n)
	return nil
}

// sumTree keeps the floats of a frame, and partial sums of them: level 0 has the values, level k the sums of treeFan^k
// neighbours. A frame that has begun at one value has its sum without them.
type sumTree struct {
	levels   []sumLevel
	n        int     // values that were added
	from, to int     // the frame of the last sum
	total    float64 // of it
	pending  float64 // the same with the values that came since
}

// sumLevel has the sums from one on.
type sumLevel struct {
	at   int
	sums []float64
}

// none reports whether there never was a sum, kept or not.
func (l *sumLevel) none() bool { return l.at+len(l.sums) == 0 }

// treeFan is the number of sums that one of the next level adds up.
const treeFan = 16

func (t *sumTree) clear() {
	for k := range t.levels {
		t.levels[k] = sumLevel{sums: t.levels[k].sums[:0]}
	}
	t.n, t.from, t.to, t.total, t.pending = 0, 0, 0, 0, 0
}

// add takes a value, which is kept where frames may begin behind the first value.
func (t *sumTree) add(x float64, keep bool) {
	t.n++
	t.pending += x
	for k, n := 0, t.n; keep; k++ {
		if k == len(t.levels) {
			t.levels = append(t.levels, sumLevel{})
		}
		l := &t.levels[k]
		if l.sums = append(l.sums, x); n%treeFan != 0 {
			return
		}
		x = 0
		for _, y := range l.sums[len(l.sums)-treeFan:] {
			x += y
		}
		n /= treeFan
	}
}

// sum adds values [lo, hi) up; hi is the number of values that were added, or lo.
func (t *sumTree) sum(lo, hi int) float64 {
	switch {
	case lo >= hi:
		t.total = 0
	case lo == t.from && hi >= t.to:
		t.total = t.pending
	case hi-lo <= shortFrame:
		t.total = 0
		l := &t.levels[0]
		for _, x := range l.sums[lo-l.at : hi-l.at] {
			t.total += x
		}
	default:
		t.total = t.together(lo, hi)
	}
	t.from, t.to, t.pending = lo, max(lo, hi), t.total
	return t.total
}

// together adds values [lo, hi) up from partial sums.
func (t *sumTree) together(lo, hi int) float64 {
	left, right := 0.0, 0.0
	for k := range t.levels {
		l, last := &t.levels[k], k == len(t.levels)-1 || t.levels[k+1].none()
		for ; lo < hi && (lo%treeFan != 0 || last); lo++ {
			left += l.sums[lo-l.at]
		}
		for ; lo < hi && hi%treeFan != 0; hi-- {
			right += l.sums[hi-1-l.at]
		}
		if lo >= hi {
			break
		}
		lo, hi = lo/treeFan, hi/treeFan
	}
	return left + right
}

// trim forgets the values before one, and sums that none is part of that comes after.
func (t *sumTree) trim(lo int) {
	for k := range t.levels {
		l := &t.levels[k]
		if drop := lo/treeFan*treeFan - l.at; drop >= checkRows && drop >= len(l.sums)/2 && drop <= len(l.sums) {
			l.sums = append(l.sums[:0], l.sums[drop:]...)
			l.at += drop
		}
		lo /= treeFan
	}
}

func (t *sumTree) bytes() (bytes int64) {
	for _, l := range t.levels {
		bytes += int64(8 * cap(l.sums))
	}
	return bytes
}
