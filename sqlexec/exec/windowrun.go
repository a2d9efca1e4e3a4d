package exec

import (
	"math"
	"sort"

	"varve/engine/status"
	"varve/engine/vector"
	"varve/sqlexec/expr"
)

// windowInput is a partition while its functions are computed: rows [from, to) of a batch sorted by partition and
// order.
type windowInput struct {
	from, to int
	// group[i] is the number of row from+i's group of peers, and starts[g] where group g begins, relative to from.
	group  []int32
	starts []int32
	// For RANGE frames with an offset: the order key of all rows, whether it descends, and the rows of the partition
	// that have one.
	key        *vector.Vector
	desc       bool
	some, none int
}

// windowInputBytes is the size of a windowInput on machines of 64 bits.
const windowInputBytes = 96

// split cuts sorted rows into partitions with their groups of peers.
func (w *WindowSpec) split(n int, partition, order []*vector.Vector, cancelled func() error) ([]windowInput, error) {
	same := func(cols []*vector.Vector, i, j int) bool {
		for _, c := range cols {
			if !sameValue(c, i, c, j) {
				return false
			}
		}
		return true
	}
	var out []windowInput
	group, starts := make([]int32, n), make([]int32, 0, n) // of all partitions
	for from := 0; from < n; {
		first, to := len(starts), from
		for ; to < n && (to == from || same(partition, to-1, to)); to++ {
			if to%checkRows == 0 {
				if err := cancelled(); err != nil {
					return nil, err
				}
			}
			if to == from || len(order) > 0 && !same(order, to-1, to) {
				starts = append(starts, int32(to-from))
			}
			group[to] = int32(len(starts) - first - 1)
		}
		out = append(out, windowInput{from: from, to: to, group: group[from:to],
			starts: starts[first:len(starts):len(starts)]})
		from = to
	}
	return out, nil
}

// keyed prepares p for RANGE frames with an offset. NULLs are together at one end.
func (p *windowInput) keyed(order []*vector.Vector, keys []expr.SortKey) {
	p.key, p.desc = order[0], keys[0].Desc
	p.some, p.none = 0, p.to-p.from
	for p.some < p.none && p.key.IsNull(p.from+p.some) {
		p.some++
	}
	for p.some < p.none && p.key.IsNull(p.from+p.none-1) {
		p.none--
	}
}

// place is the first row, relative to the partition, whose key is not before the target of row i, or with after the
// first that comes after it. A row without a key has its peers around it.
func (p *windowInput) place(target *vector.Vector, i int, after bool) int {
	if p.key.IsNull(p.from + i) {
		if after {
			return p.groupStart(int(p.group[i]) + 1)
		}
		return int(p.starts[p.group[i]])
	}
	return p.some + sort.Search(p.none-p.some, func(r int) bool {
		d := expr.Compare(p.key, p.from+p.some+r, target, p.from+i)
		if p.desc {
			d = -d
		}
		return d > 0 || d == 0 && !after
	})
}

// bounds are the rows [lo, hi) that the frame of row i holds, relative to the partition.
func (p *windowInput) bounds(f *Frame, targets []*vector.Vector, i int) (lo, hi int) {
	n := p.to - p.from
	lo, hi = 0, n
	switch f.Mode {
	case "rows":
		if !f.From.Unbounded {
			lo = clampAdd(i, f.From.Offset, n)
		}
		if !f.To.Unbounded {
			hi = clampAdd(i, satAdd(f.To.Offset, 1), n)
		}
	default: // range without offsets is groups of peers
		if t := f.From.Target; t > 0 {
			lo = p.place(targets[t-1], i, false)
		} else if !f.From.Unbounded {
			lo = p.groupStart(clampGroup(int(p.group[i]), f.From.Offset, len(p.starts)))
		}
		if t := f.To.Target; t > 0 {
			hi = p.place(targets[t-1], i, true)
		} else if !f.To.Unbounded {
			hi = p.groupStart(clampGroup(int(p.group[i]), satAdd(f.To.Offset, 1), len(p.starts)))
		}
	}
	return lo, max(lo, hi)
}

func satAdd(a, b int64) int64 {
	if a > math.MaxInt64-b {
		return math.MaxInt64
	}
	return a + b
}

func clampAdd(i int, d int64, n int) int {
	if d > int64(n) {
		return n
	}
	return min(max(i+int(max(d, -int64(n)-1)), 0), n)
}

func clampGroup(g int, d int64, n int) int { return clampAdd(g, d, n) }

func (p *windowInput) groupStart(g int) int {
	if g >= len(p.starts) {
		return p.to - p.from
	}
	return int(p.starts[g])
}

// rank computes a ranking function for one partition, batch by batch; in between it calls cancelled to check whether
// the query still runs.
func (f *WindowFunc) rank(fn *WindowFunction, p *windowInput, args []*vector.Vector, out *vector.Vector,
	cancelled func() error, room *textRoom) error {
	if fn.ahead != 0 {
		return f.shift(fn.ahead, p, args, out, cancelled, room)
	}
	n := p.to - p.from
	for from := 0; from < n; from += checkRows {
		if err := cancelled(); err != nil {
			return err
		}
		if err := fn.rank(f, p, from, min(from+checkRows, n), args, out); err != nil {
			return err
		}
	}
	return nil
}

func rowNumbers(_ *WindowFunc, _ *windowInput, from, to int, _ []*vector.Vector, out *vector.Vector) error {
	for i := from; i < to; i++ {
		out.Uints = append(out.Uints, uint64(i)+1)
	}
	return nil
}

// peerNumbers is rank: the number of the first of the row's peers.
func peerNumbers(_ *WindowFunc, p *windowInput, from, to int, _ []*vector.Vector, out *vector.Vector) error {
	for i := from; i < to; i++ {
		out.Uints = append(out.Uints, uint64(p.starts[p.group[i]])+1)
	}
	return nil
}

func denseRanks(_ *WindowFunc, p *windowInput, from, to int, _ []*vector.Vector, out *vector.Vector) error {
	for i := from; i < to; i++ {
		out.Uints = append(out.Uints, uint64(p.group[i])+1)
	}
	return nil
}

func percentRanks(_ *WindowFunc, p *windowInput, from, to int, _ []*vector.Vector, out *vector.Vector) error {
	n := p.to - p.from
	for i := from; i < to; i++ {
		r := 0.0
		if n > 1 {
			r = float64(p.starts[p.group[i]]) / float64(n-1)
		}
		out.Floats = append(out.Floats, r)
	}
	return nil
}

// shares is cume_dist: the share of the rows up to the last of the row's peers.
func shares(_ *WindowFunc, p *windowInput, from, to int, _ []*vector.Vector, out *vector.Vector) error {
	n := p.to - p.from
	for i := from; i < to; i++ {
		out.Floats = append(out.Floats, float64(p.groupStart(int(p.group[i])+1))/float64(n))
	}
	return nil
}

// tiles is ntile: it deals the rows of a partition into k buckets, the first of which are larger by one, and returns
// the buckets of rows [from, to).
func tiles(_ *WindowFunc, p *windowInput, from, to int, args []*vector.Vector, out *vector.Vector) error {
	n := uint64(p.to - p.from)
	buckets, ok := integerAt(args[0], p.from)
	if !ok || buckets < 1 {
		return status.New(status.EngineExecuteQuery, "ntile needs a positive integer")
	}
	size, rest := n/uint64(buckets), n%uint64(buckets)
	for i := uint64(from); i < uint64(to); i++ {
		if i < rest*(size+1) {
			out.Uints = append(out.Uints, i/(size+1)+1)
		} else {
			out.Uints = append(out.Uints, rest+(i-rest*(size+1))/max(size, 1)+1)
		}
	}
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

// shift is lag and lead: the value of the row that lies so many times ahead as the second argument says, else the
// default.
func (f *WindowFunc) shift(ahead int64, p *windowInput, args []*vector.Vector, out *vector.Vector,
	cancelled func() error, room *textRoom) error {
	n := p.to - p.from
	d := int64(1)
	if len(args) > 1 {
		var ok bool
		if d, ok = integerAt(args[1], p.from); !ok {
			return status.New(status.EngineExecuteQuery, "%s needs an integer as second argument", f.Name)
		}
	}
	d *= ahead
	var some []int // the rows that count, where NULLs do not, and how many of them come before each row
	var before []int
	if f.IgnoreNulls {
		for i := range n {
			if i%checkRows == 0 {
				if err := cancelled(); err != nil {
					return err
				}
			}
			before = append(before, len(some))
			if !args[0].IsNull(p.from + i) {
				some = append(some, i)
			}
		}
	}
	for i := range n {
		if i%checkRows == 0 {
			if err := cancelled(); err != nil {
				return err
			}
		}
		at := -1
		switch {
		case d > int64(n) || d < -int64(n):
		case !f.IgnoreNulls || d == 0:
			at = i + int(d)
		default:
			k := before[i] + int(d)
			if d > 0 && args[0].IsNull(p.from+i) { // the row itself is none of those before it
				k--
			}
			if k >= 0 && k < len(some) {
				at = some[k]
			}
		}
		switch {
		case at >= 0 && at < n:
			if err := room.take(args[0], p.from+at); err != nil {
				return err
			}
			out.Append(p.from+i, args[0], p.from+at, p.from+at+1)
		case len(args) > 2:
			if err := room.take(args[2], p.from+i); err != nil {
				return err
			}
			out.Append(p.from+i, args[2], p.from+i, p.from+i+1)
		default:
			out.AppendNulls(p.from+i, 1)
		}
	}
	return nil
}
