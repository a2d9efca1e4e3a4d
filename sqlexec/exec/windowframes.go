package exec

import (
	"math"
	"math/bits"

	"varve/engine/status"
	"varve/engine/vector"
	"varve/sqlexec/expr"
)

// checkRows is the number of rows of a window after which the query may have been cancelled.
const checkRows = 4096

// framer computes a function over the frames of one partition after another, and keeps its memory in between.
type framer struct {
	f    *WindowFunc
	fn   *WindowFunction  // its loop; nil: its aggregate computes it
	args []*vector.Vector // Flat, of all rows; without the ends of RANGE frames
	// targets are the ends of RANGE frames.
	targets []*vector.Vector
	keep    *vector.Vector // FILTER; nil: all rows pass
	out     *vector.Vector
	err     func() error // not nil once the query is gone
	room    *textRoom

	p      *windowInput
	lo, hi []int32 // the frame of each row, as places among rows
	rows   []int32 // the rows of the partition that count, rising
	before []int32 // before[i] is the number of them before row i
	null   []bool  // scratch: output rows that are NULL
	picked []uint32
	queue  []int32
}

func (f *WindowFunc) framer(args []*vector.Vector, keep, out *vector.Vector, err func() error, room *textRoom) *framer {
	n := len(args) - f.Targets
	return &framer{f: f, fn: windowFunctions[f.Name],
		args: args[:n], targets: args[n:], keep: keep, out: out, err: err, room: room}
}

// run computes one partition.
func (r *framer) run(p *windowInput) error {
	r.p = p
	if r.f.Agg != nil {
		if r.f.Frame.Exclude != "" {
			return r.generalSpans()
		}
		return r.general()
	}
	if err := r.counting(); err != nil {
		return err
	}
	if r.f.Frame.Exclude != "" {
		return r.pickSpans()
	}
	if err := r.frames(); err != nil {
		return err
	}
	return r.fn.frame(r)
}

// counts is the number of rows that count in each frame.
func (r *framer) counts() error {
	for i := range r.lo {
		if err := r.cancelled(i); err != nil {
			return err
		}
		r.out.Ints = append(r.out.Ints, int64(r.hi[i]-r.lo[i]))
	}
	return nil
}

// cancelled asks every few thousand rows whether the query was cancelled.
func (r *framer) cancelled(i int) error {
	if i%checkRows == 0 {
		return r.err()
	}
	return nil
}

// counting finds the rows that count: those that pass the FILTER and, but for count(*) and unless NULLs are respected,
// have a value.
func (r *framer) counting() error {
	n := r.p.to - r.p.from
	r.rows, r.before = r.rows[:0], r.before[:0]
	var value *vector.Vector
	if len(r.args) > 0 && (!r.fn.Picks || r.f.IgnoreNulls) {
		value = r.args[0]
	}
	for i := range n {
		if err := r.cancelled(i); err != nil {
			return err
		}
		at := r.p.from + i
		r.before = append(r.before, int32(len(r.rows)))
		if r.keep != nil && (r.keep.IsNull(at) || !r.keep.Bool(at)) || value != nil && value.IsNull(at) {
			continue
		}
		r.rows = append(r.rows, int32(i))
	}
	r.before = append(r.before, int32(len(r.rows)))
	return nil
}

// frames finds the frame of each row among the rows that count.
func (r *framer) frames() error {
	n := r.p.to - r.p.from
	r.lo, r.hi = r.lo[:0], r.hi[:0]
	for i := range n {
		if err := r.cancelled(i); err != nil {
			return err
		}
		lo, hi := r.p.bounds(&r.f.Frame, r.targets, i)
		r.lo, r.hi = append(r.lo, r.before[lo]), append(r.hi, r.before[hi])
	}
	return nil
}

// pick is first_value, last_value and nth_value.
func (r *framer) pick() error {
	r.begin()
	for i := range r.lo {
		if err := r.cancelled(i); err != nil {
			return err
		}
		rows := r.hi[i] - r.lo[i]
		at, err := r.fn.place(r, i, rows)
		if err != nil {
			return err
		}
		if at < 0 || at >= rows {
			r.add(-1)
		} else {
			r.add(r.rows[r.lo[i]+at])
		}
	}
	return r.end()
}

// nth is the place that nth_value asks for in row i, from 0.
func (r *framer) nth(i int) (int32, error) {
	n, ok := integerAt(r.args[1], r.p.from+i)
	if !ok || n < 1 {
		return 0, status.New(status.EngineExecuteQuery, "nth_value needs a positive integer as second argument")
	}
	return int32(min(n-1, math.MaxInt32/2)), nil
}

// begin, add and end build the output of functions that give values of rows: -1 is NULL.
func (r *framer) begin() { r.picked, r.null = r.picked[:0], r.null[:0] }

func (r *framer) add(row int32) {
	r.picked, r.null = append(r.picked, uint32(r.p.from+int(max(row, 0)))), append(r.null, row < 0)
}

func (r *framer) end() error {
	for at := 0; at < len(r.picked); at += checkRows {
		if err := r.err(); err != nil {
			return err
		}
		for _, row := range r.picked[at:min(at+checkRows, len(r.picked))] {
			if err := r.room.take(r.args[0], int(row)); err != nil {
				return err
			}
		}
		r.out.AppendRows(r.p.from+at, r.args[0], r.picked[at:min(at+checkRows, len(r.picked))])
	}
	r.clear()
	return nil
}

// numbers marks the rows of empty frames as NULL; the values of all rows of the partition are in the output.
func (r *framer) numbers() error {
	r.null = r.null[:0]
	for i := range r.lo {
		r.null = append(r.null, r.lo[i] >= r.hi[i])
	}
	if v := r.out; v.Valid != nil {
		for len(v.Valid) < vector.Words(r.p.to) {
			v.Valid = append(v.Valid, 0)
		}
		for i := r.p.from; i < r.p.to; i++ {
			v.Valid.Set(i)
		}
	}
	r.clear()
	return r.err()
}

// clear takes the rows that are NULL out of the output's validity.
func (r *framer) clear() {
	v := r.out
	for i, null := range r.null {
		if !null {
			continue
		}
		if v.Valid == nil {
			v.Valid = vector.MakeBitmap(r.p.to)
			v.Valid.Fill(r.p.to)
		}
		v.Valid.Clear(r.p.from + i)
	}
}

// extremes is min and max: a queue has the rows of the frame that no later row of it beats, the best first. Frames
// whose ends move forward only add each row once; another one begins anew.
func (r *framer) extremes() error {
	v, sign := r.args[0], 1
	if r.fn.greatest {
		sign = -1
	}
	beats := func(a, b int32) bool { return sign*compareAny(v, r.p.from+int(a), r.p.from+int(b)) < 0 }
	r.begin()
	q, head := r.queue[:0], 0
	from, to := int32(0), int32(0)
	for i, lo := range r.lo {
		hi := r.hi[i]
		if err := r.cancelled(i); err != nil {
			return err
		}
		if lo < from || hi < to || lo > to {
			q, head, to = q[:0], 0, lo
		}
		for from = lo; to < hi; to++ {
			row := r.rows[to]
			for len(q) > head && beats(row, q[len(q)-1]) {
				q = q[:len(q)-1]
			}
			q = append(q, row)
		}
		if lo >= hi {
			r.add(-1)
			continue
		}
		for q[head] < r.rows[lo] {
			head++
		}
		r.add(q[head])
	}
	r.queue = q
	return r.end()
}

// logic is bool_and and bool_or, from the number of true rows before each.
func (r *framer) logic() error {
	v, and := r.args[0], r.fn.all
	trues := append(r.queue[:0], 0)
	for i, row := range r.rows {
		if err := r.cancelled(i); err != nil {
			return err
		}
		t := trues[len(trues)-1]
		if v.Bool(r.p.from + int(row)) {
			t++
		}
		trues = append(trues, t)
	}
	for len(r.out.Bools) < vector.Words(r.p.to) {
		r.out.Bools = append(r.out.Bools, 0)
	}
	for i, lo := range r.lo {
		if err := r.cancelled(i); err != nil {
			return err
		}
		hi := max(r.hi[i], lo)
		if t := trues[hi] - trues[lo]; and && t == hi-lo || !and && t > 0 {
			r.out.Bools.Set(r.p.from + i)
		}
	}
	r.queue = trues
	return r.numbers()
}

// sums is sum and avg. Sums of integers are differences of sums from the partition's begin, which have 128 bits and are
// exact.
func (r *framer) sums() error {
	v, mean := r.args[0], r.fn.mean
	switch v.Type.Kind() {
	case vector.Float64:
		return r.floats(v.Floats, mean)
	case vector.Int64:
		if err := r.wideSums(func(row int) wide { x := v.Ints[row]; return wide{uint64(x >> 63), uint64(x)} }, true,
			mean); err != nil {
			return err
		}
	case vector.Uint64:
		if err := r.wideSums(func(row int) wide { return wide{0, v.Uints[row]} }, false, mean); err != nil {
			return err
		}
	}
	return r.numbers()
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

// wideSums appends the sum or the mean of each frame of integers.
func (r *framer) wideSums(value func(row int) wide, signed, mean bool) error {
	sums := make([]wide, 1, len(r.rows)+1)
	for i, row := range r.rows {
		if err := r.cancelled(i); err != nil {
			return err
		}
		sums = append(sums, sums[len(sums)-1].add(value(r.p.from+int(row))))
	}
	for i, lo := range r.lo {
		if err := r.cancelled(i); err != nil {
			return err
		}
		switch x := sums[max(r.hi[i], lo)].sub(sums[lo]); {
		case mean:
			r.out.Floats = append(r.out.Floats, wideFloat(x.hi, x.lo, signed)/float64(max(r.hi[i]-lo, 1)))
		case signed && x.hi != uint64(int64(x.lo)>>63), !signed && x.hi != 0:
			return status.New(status.EngineExecuteQuery, "Overflow in sum: it does not fit %s", r.f.Type)
		case signed:
			r.out.Ints = append(r.out.Ints, int64(x.lo))
		default:
			r.out.Uints = append(r.out.Uints, x.lo)
		}
	}
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
func (r *framer) floats(all []float64, mean bool) error {
	values := make([]float64, 0, len(r.rows))
	for _, row := range r.rows {
		values = append(values, all[r.p.from+int(row)])
	}
	var tree sumTree
	sum, from, to := 0.0, int32(0), int32(0) // of [from, to)
	for i, lo := range r.lo {
		hi := max(r.hi[i], lo)
		if err := r.cancelled(i); err != nil {
			return err
		}
		switch {
		case lo == from && hi >= to && to > from:
			for _, x := range values[to:hi] {
				sum += x
			}
		case hi-lo <= shortFrame || i == 0:
			sum = 0
			for _, x := range values[lo:hi] {
				sum += x
			}
		default:
			if tree == nil {
				tree = newSumTree(values)
			}
			sum = tree.sum(values, int(lo), int(hi))
		}
		from, to = lo, hi
		x := sum
		if mean {
			x /= float64(max(hi-lo, 1))
		}
		r.out.Floats = append(r.out.Floats, x)
	}
	return r.numbers()
}

// sumTree holds partial sums: level k the sums of treeFan^(k+1) neighbours.
type sumTree [][]float64

// treeFan is the number of sums that one of the next level adds up.
const treeFan = 16

func newSumTree(values []float64) sumTree {
	tree := sumTree{}
	for below := values; len(below) >= treeFan; below = tree[len(tree)-1] {
		level := make([]float64, len(below)/treeFan)
		for i := range level {
			for _, x := range below[i*treeFan : (i+1)*treeFan] {
				level[i] += x
			}
		}
		tree = append(tree, level)
	}
	return tree
}

// sum adds values [lo, hi) up.
func (t sumTree) sum(values []float64, lo, hi int) float64 {
	left, right := 0.0, 0.0
	for level := values; ; level, t = t[0], t[1:] {
		for ; lo < hi && (lo%treeFan != 0 || len(t) == 0); lo++ {
			left += level[lo]
		}
		for ; lo < hi && hi%treeFan != 0; hi-- {
			right += level[hi-1]
		}
		if lo >= hi {
			return left + right
		}
		lo, hi = lo/treeFan, hi/treeFan
	}
}

// general computes an aggregate that has no loop here: rows are added as a frame grows, and it begins anew where a
// frame lost rows.
func (r *framer) general() error {
	p, f := r.p, r.f
	var g growing
	defer func() { g.free() }()
	for i := range p.to - p.from {
		lo, hi := p.bounds(&f.Frame, r.targets, i)
		if g.state == nil || lo != g.lo || hi < g.hi {
			g.free()
			g.begin(f.Agg.Within(r.room.budget.Memory()), lo)
		}
		if g.work++; g.hi < hi {
			if err := r.extend(&g, hi); err != nil {
				return err
			}
		} else if err := r.ran(&g); err != nil {
			return err
		}
		if g.result == nil {
			var err error
			if g.result, err = g.state.Result(1); err != nil {
				return err
			}
			g.given = -1
		}
		if err := r.room.take(g.result, 0); err != nil { // shared or not: what reads the rows does as much work
			return err
		}
		r.give(&g, i)
	}
	return r.err()
}

// growing is an aggregate over a frame [lo, hi) that takes up rows.
type growing struct {
	state  *expr.State
	lo, hi int
	result *vector.Vector // of the frame; nil: not known
	given  int            // the row that first got the result; -1: none has
	work   int            // rows added and given since the query was last seen to run
	rows   []uint32       // scratch
	groups []uint32       // all 0
	picked []*vector.Vector
}

func (g *growing) begin(state *expr.State, lo int) {
	g.state, g.lo, g.hi, g.result = state, lo, lo, nil
	state.Grow(1)
}

func (g *growing) free() {
	if g.state != nil {
		g.state.Free()
	}
}

// ran looks every few thousand rows whether the query still runs.
func (r *framer) ran(g *growing) error {
	if g.work < checkRows {
		return nil
	}
	g.work = 0
	return r.err()
}

// extend adds the rows up to hi that pass the FILTER.
func (r *framer) extend(g *growing, hi int) error {
	for g.hi < hi {
		if err := r.ran(g); err != nil {
			return err
		}
		g.rows = g.rows[:0]
		for ; g.hi < hi && len(g.rows) < checkRows; g.hi++ {
			if at := r.p.from + g.hi; r.keep == nil || !r.keep.IsNull(at) && r.keep.Bool(at) {
				g.rows = append(g.rows, uint32(at))
			}
		}
		g.work += len(g.rows) + 1
		if len(g.rows) == 0 {
			continue
		}
		for len(g.groups) < len(g.rows) {
			g.groups = append(g.groups, 0)
		}
		for len(g.picked) < len(r.args) {
			g.picked = append(g.picked, &vector.Vector{})
		}
		for k, v := range r.args {
			g.picked[k].Gather(v, g.rows)
		}
		g.result = nil
		if err := g.state.Add(len(g.rows), g.groups[:len(g.rows)], g.picked, nil); err != nil {
			return err
		}
	}
	return nil
}

// give appends the result of row i of the partition. Rows with the same result share its bytes.
func (r *framer) give(g *growing, i int) {
	v, row := r.out, r.p.from+i
	if g.given < 0 || v.Type.Kind() != vector.Bytes || g.result.IsNull(0) {
		g.given = row
		v.Append(row, g.result, 0, 1)
		return
	}
	v.Views = append(v.Views, v.Views[g.given])
	if v.Valid != nil {
		v.Valid = v.Valid.With(row)
	}
}

// compareAny orders two values of a vector of any form.
func compareAny(v *vector.Vector, a, b int) int { return expr.Compare(v, a, v, b) }
