package plan

import (
	"math"
	"math/bits"
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
	group  []int
	starts []int
	// For RANGE frames with an offset: the order key of all rows, whether it descends, and the rows of the partition that have
	// one.
	key        *vector.Vector
	desc       bool
	some, none int
}

// split cuts sorted rows into partitions with their groups of peers.
func (w *Window) split(n int, partition, order []*vector.Vector) []windowInput {
	same := func(cols []*vector.Vector, i, j int) bool {
		for _, c := range cols {
			if !sameValue(c, i, j) {
				return false
			}
		}
		return true
	}
	var out []windowInput
	for from := 0; from < n; {
		p := windowInput{from: from}
		to := from
		for ; to < n && (to == from || same(partition, to-1, to)); to++ {
			if to == from || len(order) > 0 && !same(order, to-1, to) {
				p.starts = append(p.starts, to-from)
			}
			p.group = append(p.group, len(p.starts)-1)
		}
		p.to = to
		out = append(out, p)
		from = to
	}
	return out
}

// keyed makes p ready for RANGE frames with an offset. NULLs lie together at one end.
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

// place is the first row, relative to the partition, whose key is not before the target of row i, or with after the first that
// comes after it. A row without a key has its peers around it.
func (p *windowInput) place(target *vector.Vector, i int, after bool) int {
	if p.key.IsNull(p.from + i) {
		if after {
			return p.groupStart(p.group[i] + 1)
		}
		return p.starts[p.group[i]]
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
			lo = p.groupStart(clampGroup(p.group[i], f.From.Offset, len(p.starts)))
		}
		if t := f.To.Target; t > 0 {
			hi = p.place(targets[t-1], i, true)
		} else if !f.To.Unbounded {
			hi = p.groupStart(clampGroup(p.group[i], satAdd(f.To.Offset, 1), len(p.starts)))
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
	return p.starts[g]
}

// rankColumn computes a ranking function for one partition.
func (f *WindowFunc) rank(p *windowInput, args []*vector.Vector, out *vector.Vector) error {
	n := p.to - p.from
	switch f.Name {
	case "row_number":
		for i := range n {
			out.Uints = append(out.Uints, uint64(i)+1)
		}
	case "rank":
		for i := range n {
			out.Uints = append(out.Uints, uint64(p.starts[p.group[i]])+1)
		}
	case "dense_rank":
		for i := range n {
			out.Uints = append(out.Uints, uint64(p.group[i])+1)
		}
	case "percent_rank":
		for i := range n {
			r := 0.0
			if n > 1 {
				r = float64(p.starts[p.group[i]]) / float64(n-1)
			}
			out.Floats = append(out.Floats, r)
		}
	case "cume_dist":
		for i := range n {
			out.Floats = append(out.Floats, float64(p.groupStart(p.group[i]+1))/float64(n))
		}
	case "ntile":
		return f.ntile(p, args[0], out)
	case "lag", "lead":
		return f.shift(p, args, out)
	}
	return nil
}

// ntile deals the rows into k buckets; the first ones are larger by one.
func (f *WindowFunc) ntile(p *windowInput, k *vector.Vector, out *vector.Vector) error {
	n := uint64(p.to - p.from)
	buckets, ok := integerAt(k, p.from)
	if !ok || buckets < 1 {
		return status.New(status.EngineExecuteQuery, "ntile needs a positive integer")
	}
	size, rest := n/uint64(buckets), n%uint64(buckets)
	for i := range n {
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

// shift is lag and lead: the value some rows before or after, else the default.
func (f *WindowFunc) shift(p *windowInput, args []*vector.Vector, out *vector.Vector) error {
	n := p.to - p.from
	d := int64(1)
	if len(args) > 1 {
		var ok bool
		if d, ok = integerAt(args[1], p.from); !ok {
			return status.New(status.EngineExecuteQuery, "%s needs an integer as second argument", f.Name)
		}
	}
	step := 1
	if f.Name == "lag" {
		d = -d
	}
	if d < 0 {
		step = -1
	}
	for i := range n {
		at := i
		switch {
		case f.IgnoreNulls:
			for k := d; k != 0 && at >= 0 && at < n; k -= int64(step) {
				at += step
				for at >= 0 && at < n && args[0].IsNull(p.from+at) {
					at += step
				}
			}
		case d > int64(n) || d < -int64(n):
			at = -1
		default:
			at += int(d)
		}
		switch {
		case at >= 0 && at < n:
			out.Append(p.from+i, args[0], p.from+at, p.from+at+1)
		case len(args) > 2:
			out.Append(p.from+i, args[2], p.from+i, p.from+i+1)
		default:
			out.AppendNulls(p.from+i, 1)
		}
	}
	return nil
}

// frameColumn computes a function over frames for one partition. keep tells which rows the FILTER lets through; nil: all.
func (f *WindowFunc) frames(p *windowInput, args []*vector.Vector, keep *vector.Vector, out *vector.Vector) error {
	passes := func(i int) bool {
		return keep == nil || !keep.IsNull(p.from+i) && keep.Bool(p.from+i)
	}
	args, targets := args[:len(args)-f.targets], args[len(args)-f.targets:]
	if f.Agg != nil {
		return f.aggregate(p, args, targets, passes, out)
	}
	acc := &windowAcc{f: f, out: out}
	if len(args) > 0 {
		acc.v = args[0]
	}
	doneLo, doneHi := 0, 0 // acc holds the frame [doneLo, doneHi)
	for i := range p.to - p.from {
		lo, hi := p.bounds(&f.Frame, targets, i)
		switch f.Name {
		case "first_value", "last_value", "nth_value":
			if err := f.pick(p, args, lo, hi, i, passes, out); err != nil {
				return err
			}
			continue
		}
		if lo != doneLo || hi < doneHi { // begin anew: the frame lost rows
			acc.reset()
			doneHi = lo
		}
		for r := doneHi; r < hi; r++ {
			if passes(r) {
				acc.add(p.from + r)
			}
		}
		doneLo, doneHi = lo, hi
		acc.emit(p.from + i)
	}
	return nil
}

// aggregate computes an aggregate of the general kind over frames: rows are added as a frame grows, and it begins anew where
// a frame lost rows.
func (f *WindowFunc) aggregate(p *windowInput, args, targets []*vector.Vector, passes func(int) bool, out *vector.Vector) error {
	acc := f.Agg.New()
	acc.Grow(1)
	var rows, groups []uint32
	var result *vector.Vector // of the frame [doneLo, doneHi); nil: not known
	picked := make([]*vector.Vector, len(args))
	for k := range picked {
		picked[k] = &vector.Vector{}
	}
	doneLo, doneHi := 0, 0
	for i := range p.to - p.from {
		lo, hi := p.bounds(&f.Frame, targets, i)
		if lo != doneLo || hi < doneHi {
			acc, result, doneHi = f.Agg.New(), nil, lo
			acc.Grow(1)
		}
		rows = rows[:0]
		for r := doneHi; r < hi; r++ {
			if passes(r) {
				rows = append(rows, uint32(p.from+r))
			}
		}
		doneLo, doneHi = lo, hi
		if len(rows) > 0 {
			for len(groups) < len(rows) {
				groups = append(groups, 0)
			}
			for k, v := range args {
				picked[k].Gather(v, rows)
			}
			if err := acc.Add(len(rows), groups, picked, nil); err != nil {
				return err
			}
			result = nil
		}
		if result == nil {
			var err error
			if result, err = acc.Result(1); err != nil {
				return err
			}
		}
		out.Append(p.from+i, result, 0, 1)
	}
	return nil
}

// pick is first_value, last_value and nth_value of a frame.
func (f *WindowFunc) pick(p *windowInput, args []*vector.Vector, lo, hi, i int, passes func(int) bool, out *vector.Vector) error {
	counts := func(r int) bool { return passes(r) && !(f.IgnoreNulls && args[0].IsNull(p.from+r)) }
	at := -1
	switch f.Name {
	case "first_value":
		for r := lo; r < hi && at < 0; r++ {
			if counts(r) {
				at = r
			}
		}
	case "last_value":
		for r := hi - 1; r >= lo && at < 0; r-- {
			if counts(r) {
				at = r
			}
		}
	case "nth_value":
		nth, ok := integerAt(args[1], p.from+i)
		if !ok || nth < 1 {
			return status.New(status.EngineExecuteQuery, "nth_value needs a positive integer as second argument")
		}
		for r := lo; r < hi && at < 0; r++ {
			if counts(r) {
				if nth--; nth == 0 {
					at = r
				}
			}
		}
	}
	if at < 0 {
		out.AppendNulls(p.from+i, 1)
	} else {
		out.Append(p.from+i, args[0], p.from+at, p.from+at+1)
	}
	return nil
}

// windowAcc adds values up as a frame grows.
type windowAcc struct {
	f     *WindowFunc
	v     *vector.Vector // the argument; nil for count(*)
	out   *vector.Vector
	count int64
	i     int64
	u     uint64
	fl    float64
	best  int // row of the least or greatest value
	b     bool
}

func (a *windowAcc) reset() { a.count, a.i, a.u, a.fl, a.b = 0, 0, 0, 0, false }

func (a *windowAcc) add(r int) {
	if a.v == nil {
		a.count++
		return
	}
	if a.v.IsNull(r) {
		return
	}
	switch a.f.Name {
	case "sum", "avg", "mean":
		switch a.v.Type.Kind() {
		case vector.Int64:
			a.i += a.v.Int(r)
			a.fl += float64(a.v.Int(r))
		case vector.Uint64:
			a.u, _ = bits.Add64(a.u, a.v.Uint(r), 0)
			a.fl += float64(a.v.Uint(r))
		case vector.Float64:
			a.fl += a.v.Float(r)
		}
	case "min":
		if a.count == 0 || compareAny(a.v, r, a.best) < 0 {
			a.best = r
		}
	case "max":
		if a.count == 0 || compareAny(a.v, r, a.best) > 0 {
			a.best = r
		}
	case "bool_and":
		a.b = (a.count == 0 || a.b) && a.v.Bool(r)
	case "bool_or":
		a.b = a.b || a.v.Bool(r)
	}
	a.count++
}

// compareAny orders two values of a vector of any form.
func compareAny(v *vector.Vector, a, b int) int {
	switch v.Type.Kind() {
	case vector.Bool:
		return compareOrdered(map[bool]int{true: 1}[v.Bool(a)], map[bool]int{true: 1}[v.Bool(b)])
	case vector.Int64:
		return compareOrdered(v.Int(a), v.Int(b))
	case vector.Uint64:
		return compareOrdered(v.Uint(a), v.Uint(b))
	case vector.Float64:
		x, y := v.Float(a), v.Float(b)
		if x != x || y != y {
			return compareOrdered(map[bool]int{true: 1}[x != x], map[bool]int{true: 1}[y != y])
		}
		return compareOrdered(x, y)
	}
	switch x, y := v.Str(a), v.Str(b); {
	case x < y:
		return -1
	case x > y:
		return 1
	}
	return 0
}

// emit writes the frame's value as row n of the output.
func (a *windowAcc) emit(n int) {
	if a.f.Name == "count" {
		a.out.Append(n, vector.ConstInt(vector.Int64Type, a.count), 0, 1)
		return
	}
	if a.count == 0 {
		a.out.AppendNulls(n, 1)
		return
	}
	switch a.f.Name {
	case "avg", "mean":
		a.out.Append(n, vector.ConstFloat(vector.FloatType, a.fl/float64(a.count)), 0, 1)
	case "min", "max":
		a.out.Append(n, a.v, a.best, a.best+1)
	case "bool_and", "bool_or":
		a.out.Append(n, vector.ConstBool(a.b), 0, 1)
	case "sum":
		switch a.out.Type.Kind() {
		case vector.Int64:
			a.out.Append(n, vector.ConstInt(a.out.Type, a.i), 0, 1)
		case vector.Uint64:
			a.out.Append(n, vector.ConstUint(a.out.Type, a.u), 0, 1)
		default:
			a.out.Append(n, vector.ConstFloat(a.out.Type, a.fl), 0, 1)
		}
	}
}
