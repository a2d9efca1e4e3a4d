package exec

import (
	"math"

	"varve/engine/status"
	"varve/engine/vector"
)

func rowNumbers(r *framer, from, to int) error {
	for i := from; i < to; i++ {
		r.out.Ints = append(r.out.Ints, int64(i)+1)
	}
	r.n += to - from
	return nil
}

// peerNumbers is rank: the number of the first of the row's peers.
func peerNumbers(r *framer, from, to int) error {
	for i := from; i < to; i++ {
		if err := r.enter(i); err != nil {
			return err
		}
		r.out.Ints = append(r.out.Ints, int64(r.first)+1)
	}
	r.n += to - from
	return nil
}

func denseRanks(r *framer, from, to int) error {
	for i := from; i < to; i++ {
		if err := r.enter(i); err != nil {
			return err
		}
		r.out.Ints = append(r.out.Ints, int64(r.group)+1)
	}
	r.n += to - from
	return nil
}

func percentRanks(r *framer, from, to int) error {
	n, err := r.p.size()
	if err != nil {
		return err
	}
	for i := from; i < to; i++ {
		if err := r.enter(i); err != nil {
			return err
		}
		x := 0.0
		if n > 1 {
			x = float64(r.first) / float64(n-1)
		}
		r.out.Floats = append(r.out.Floats, x)
	}
	r.n += to - from
	return nil
}

// shares is cume_dist: the share of the rows up to the last of the row's peers.
func shares(r *framer, from, to int) error {
	n, err := r.p.size()
	if err != nil {
		return err
	}
	for i := from; i < to; i++ {
		if err := r.enter(i); err != nil {
			return err
		}
		end, err := r.to.peers.start(r.group + 1)
		if err != nil {
			return err
		}
		r.out.Floats = append(r.out.Floats, float64(end)/float64(n))
	}
	r.n += to - from
	return nil
}

// tiles is ntile: it deals the rows of a partition into k buckets, the first of which are larger by one.
func tiles(r *framer, from, to int) error {
	rows, err := r.p.size()
	if err != nil {
		return err
	}
	if from == 0 {
		if err := r.enter(0); err != nil {
			return err
		}
		var ok bool
		if r.shift, ok = integerAt(r.here.page.cols[r.args], r.here.row()); !ok || r.shift < 1 {
			return status.New(status.EngineExecuteQuery, "ntile needs a positive integer")
		}
	}
	n, buckets := int64(rows), r.shift
	size, rest := n/buckets, n%buckets
	for i := int64(from); i < int64(to); i++ {
		if i < rest*(size+1) {
			r.out.Ints = append(r.out.Ints, i/(size+1)+1)
		} else {
			r.out.Ints = append(r.out.Ints, rest+(i-rest*(size+1))/max(size, 1)+1)
		}
	}
	r.n += to - from
	return nil
}

func integerAt(v *vector.Vector, i int) (int64, bool) {
	if v.IsNull(i) || !v.Type.IsInteger() {
		return 0, false
	}
	if v.Type.Kind() == vector.Uint64 {
		return int64(min(v.Uint(i), math.MaxInt64)), true
	}
	return v.Int(i), true
}

// farShift is farther than any row lies from another.
const farShift = 1 << 40

// shifts is lag and lead: the value of the row that lies so many times ahead as the second argument says, else the
// default.
func shifts(r *framer, from, to int) error {
	if err := r.enter(from); err != nil {
		return err
	}
	if from == 0 {
		r.low.reset(0)
		r.high.reset(0)
		d := int64(1)
		if r.argCount > 1 {
			var ok bool
			if d, ok = integerAt(r.here.page.cols[r.args+1], r.here.row()); !ok {
				return status.New(status.EngineExecuteQuery, "%s needs an integer as second argument", r.f.Name)
			}
		}
		r.shift = min(max(d, -farShift), farShift) * r.fn.ahead
	}
	for i := from; i < to; i++ {
		ok, err := r.shifted(i)
		if err != nil {
			return err
		}
		switch {
		case ok:
			err = r.value(r.high.page.cols[r.args], r.high.row())
		case r.argCount > 2:
			r.here.at = i
			if _, err = r.here.stand(); err == nil {
				err = r.value(r.here.page.cols[r.args+2], r.here.row())
			}
		default:
			r.giver.null()
		}
		if err != nil {
			return err
		}
	}
	r.flush()
	return nil
}

// shifted goes to the row that row i gets its value from; false: there is none.
func (r *framer) shifted(i int) (bool, error) {
	if !r.f.IgnoreNulls || r.shift == 0 {
		at := i + int(r.shift)
		r.high.at = max(at, 0)
		if at < 0 {
			return false, nil
		}
		return r.high.stand()
	}
	if err := r.count(&r.low, i); err != nil {
		return false, err
	}
	number := r.low.n + int(r.shift)
	if r.shift > 0 {
		r.here.at = i
		if _, err := r.here.stand(); err != nil {
			return false, err
		}
		if r.here.page.cols[r.args].IsNull(r.here.row()) { // the row itself is none of those before it
			number--
		}
	}
	if number < 0 {
		return false, nil
	}
	return r.seek(&r.high, number, math.MaxInt)
}
