package exec

import (
	"math"

	"varve/engine/status"
	"varve/engine/vector"
	"varve/sqlexec/expr"
)

// framer computes a function over the rows of one partition after another, and keeps its memory in between.
type framer struct {
	giver
	f     *WindowFunc
	fn    *WindowFunction // its loop; nil: its aggregate computes it
	order []expr.SortKey
	// Columns of pages: the first argument, the number of arguments, the first end of RANGE frames, and FILTER; keep
	// is -1 where all rows pass.
	args, argCount, targets, keep int
	skipNulls                     bool        // rows whose first argument is NULL do not count
	memory                        expr.Memory // for what is kept
	kept                          int64       // bytes taken of it

	p        *partition
	done     int    // rows that were computed
	here     cursor // the row whose frame is looked for, or whose value
	group    int    // of that row's peers
	first    int    // the first of that row's peers
	from, to frameEnd
	around   [2]frameEnd // the row's peers, for EXCLUDE
	anchor   cursor      // at the first row, where cursors may go back
	lo, hi   []int       // the frames of the rows at hand
	spans    [][3]rowSpan
	lastLo   int // the frame of the row before
	lastHi   int
	low      walker // at the begin of the frame
	high     walker // at its end
	ahead    walker // at the row that is picked
	null     []bool // scratch: rows of output that are NULL

	shift  int64 // by how many rows lag and lead look ahead
	tree   sumTree
	total  float64 // of the frame
	shelf  shelf
	picked valueAt
	grown  growing
}

// valueAt is a value of a row.
type valueAt struct {
	v     *vector.Vector // nil: none
	i, at int
}

// framer makes the framer of a function whose columns begin at a place in pages.
func (f *WindowFunc) framer(order []expr.SortKey, at int, memory expr.Memory) *framer {
	r := &framer{f: f, fn: windowFunctions[f.Name], order: order, args: at, argCount: len(f.Args) - f.Targets,
		targets: at + len(f.Args) - f.Targets, keep: -1, memory: memory}
	if f.Agg != nil {
		r.fn = nil
	}
	if f.Filter != nil && (r.fn == nil || !r.fn.Ranks) {
		r.keep = at + len(f.Args)
	}
	r.skipNulls = r.fn != nil && r.argCount > 0 && (!r.fn.Picks && !r.fn.Ranks || f.IgnoreNulls)
	r.from = frameEnd{bound: f.Frame.From, mode: f.Frame.Mode}
	r.to = frameEnd{bound: f.Frame.To, mode: f.Frame.Mode, behind: true}
	r.around = [2]frameEnd{{mode: "groups"}, {mode: "groups", behind: true}}
	if r.fn != nil && r.fn.Ranks {
		r.to = r.around[1]
	}
	return r
}

// constantPlace is the row of a frame that is picked, from 0, where it is the same for all rows; -1: it is not.
func (r *framer) constantPlace() int {
	if r.fn == nil || r.fn.first {
		return 0
	}
	if c, ok := r.f.Args[1].(*expr.Const); ok {
		if n, ok := integerAt(c.Value, 0); ok && n > 0 {
			return int(min(n-1, math.MaxInt32))
		}
	}
	return -1
}

// begin goes to the first row of a partition. Cursors that never move are not begun: a pager would keep all rows.
func (r *framer) begin(p *partition) {
	r.p, r.done, r.group, r.first, r.lastLo, r.lastHi = p, 0, 0, 0, 0, 0
	r.here.begin(p)
	r.low, r.high, r.ahead = walker{cursor: cursor{p: p}}, walker{cursor: cursor{p: p}}, walker{cursor: cursor{p: p}}
	if r.fn != nil && r.fn.Ranks {
		if r.fn.peers {
			r.to.begin(p)
		}
		if r.fn.ahead != 0 {
			r.high.begin(p)
		}
		if r.fn.ahead != 0 && r.f.IgnoreNulls {
			r.low.begin(p)
		}
		return
	}
	r.from.begin(p)
	r.to.begin(p)
	if !r.from.bound.Unbounded {
		r.low.begin(p)
	}
	excludes := r.f.Frame.Exclude != ""
	if excludes {
		r.around[0].begin(p)
		r.around[1].begin(p)
	}
	if r.fn != nil && r.fn.picksAhead(r) {
		r.ahead.begin(p)
	} else {
		r.high.begin(p)
	}
	if r.f.mayGoBack(r.order) || excludes && r.fn == nil && r.from.bound.Unbounded {
		r.anchor.begin(p)
	}
	r.restart(0)
}

// free gives back what is kept.
func (r *framer) free() {
	r.restart(0)
	r.memory.Release(r.kept)
	r.kept = 0
}

// restart forgets the frame; the next one begins at lo.
func (r *framer) restart(lo int) {
	r.flush()
	r.low.reset(lo)
	r.high.reset(lo)
	r.ahead.reset(lo)
	r.tree.clear()
	r.shelf.clear()
	r.total, r.picked = 0, valueAt{}
	r.grown.free()
}

// frame notes the frame of a row. Frames that go back begin anew.
func (r *framer) frame(lo, hi int) {
	if lo < r.lastLo || hi < r.lastHi {
		r.restart(lo)
	}
	r.lastLo, r.lastHi = lo, hi
}

// next computes the next n rows.
func (r *framer) next(n int) error {
	for to := r.done + n; r.done < to; {
		some := min(to-r.done, checkRows)
		if err := r.p.ran(some); err != nil {
			return err
		}
		if err := r.some(r.done, r.done+some); err != nil {
			return err
		}
		r.done += some
		r.here.at = r.done
	}
	return nil
}

// some computes rows [from, to).
func (r *framer) some(from, to int) error {
	if r.fn != nil && r.fn.Ranks {
		return r.fn.rank(r, from, to)
	}
	if err := r.frames(from, to); err != nil {
		return err
	}
	var err error
	switch {
	case r.fn == nil && r.f.Frame.Exclude != "":
		err = r.generalSpans()
	case r.fn == nil:
		err = r.general()
	default:
		r.null = r.null[:0]
		err = r.fn.frame(r)
	}
	if err != nil {
		return err
	}
	return r.keeps(r.tree.bytes() + r.shelf.bytes())
}

// keeps counts the bytes that are kept.
func (r *framer) keeps(bytes int64) error {
	more := bytes - r.kept
	if more <= tellBytes && more >= -tellBytes {
		return nil
	}
	r.kept = bytes
	if more < 0 {
		r.memory.Release(-more)
		return nil
	}
	return r.memory.Reserve(more)
}

// enter goes to row i, the next one or the first.
func (r *framer) enter(i int) error {
	r.here.at = i
	if _, err := r.here.stand(); err != nil {
		return err
	}
	if i > 0 && r.here.page.starts.Get(r.here.row()) {
		r.group++
		r.first = i
	}
	return nil
}

// frames finds the frames of rows [from, to).
func (r *framer) frames(from, to int) error {
	r.lo, r.hi, r.spans = r.lo[:0], r.hi[:0], r.spans[:0]
	excludes := r.f.Frame.Exclude != ""
	placed := excludes || r.from.placed() || r.to.placed()
	for i := from; i < to; i++ {
		if placed {
			if err := r.enter(i); err != nil {
				return err
			}
		}
		lo, err := r.from.of(r, i)
		if err != nil {
			return err
		}
		hi, err := r.to.of(r, i)
		if err != nil {
			return err
		}
		hi = max(lo, hi)
		r.lo, r.hi = append(r.lo, lo), append(r.hi, hi)
		if excludes {
			if err := r.exclude(i, lo, hi); err != nil {
				return err
			}
		}
	}
	return nil
}

// counting reports whether a row counts: it passes the FILTER and, but for count(*) and unless NULLs are respected, has
// a value.
func (r *framer) counting(page *rowPage, row int) bool {
	if r.keep >= 0 {
		if keep := page.cols[r.keep]; keep.IsNull(row) || !keep.Bool(row) {
			return false
		}
	}
	return !r.skipNulls || !page.cols[r.args].IsNull(row)
}

// all reports whether all rows of a page count.
func (r *framer) all(page *rowPage) bool {
	return r.keep < 0 && (!r.skipNulls || page.cols[r.args].Valid == nil)
}

// count counts the rows up to a place.
func (r *framer) count(w *walker, to int) error {
	return w.walk(to, func(page *rowPage, a, b int) error {
		if r.all(page) {
			w.n += b - a
			return nil
		}
		for i := a; i < b; i++ {
			if r.counting(page, i) {
				w.n++
			}
		}
		return nil
	})
}

// seek goes on to the counting row of a number before a place; false: there is none.
func (r *framer) seek(w *walker, number, place int) (bool, error) {
	for w.at < place {
		if ok, err := w.stand(); err != nil || !ok {
			return false, err
		}
		if r.counting(w.page, w.row()) {
			if w.n == number {
				return true, nil
			}
			w.n++
		}
		w.at++
		if err := w.p.ran(1); err != nil {
			return false, err
		}
	}
	return false, nil
}

// counts is the number of rows that count in each frame.
func (r *framer) counts() error {
	for k, lo := range r.lo {
		r.frame(lo, r.hi[k])
		if err := r.count(&r.low, lo); err != nil {
			return err
		}
		if err := r.count(&r.high, r.hi[k]); err != nil {
			return err
		}
		r.out.Ints = append(r.out.Ints, int64(r.high.n-r.low.n))
	}
	r.n += len(r.lo)
	return nil
}

// logic is bool_and and bool_or.
func (r *framer) logic() error {
	add := func(w *walker, to int) error {
		return w.walk(to, func(page *rowPage, a, b int) error {
			v := page.cols[r.args]
			for i := a; i < b; i++ {
				if r.counting(page, i) {
					w.n++
					w.trues += int(vector.Bit(v.Bool(i)))
				}
			}
			return nil
		})
	}
	for k, lo := range r.lo {
		r.frame(lo, r.hi[k])
		if err := add(&r.low, lo); err != nil {
			return err
		}
		if err := add(&r.high, r.hi[k]); err != nil {
			return err
		}
		n, trues := r.high.n-r.low.n, r.high.trues-r.low.trues
		r.out.PushBool(r.n+k, r.fn.all && trues == n && n > 0 || !r.fn.all && trues > 0)
		r.null = append(r.null, n == 0)
	}
	r.numbers(r.null)
	return nil
}

// extremes is min and max: a queue has the rows of the frame that no later row of it beats, the best first. Where all
// frames begin at the first row, the best one is enough.
func (r *framer) extremes() error {
	sign := 1
	if r.fn.greatest {
		sign = -1
	}
	s := &r.shelf
	add := func(page *rowPage, a, b int) error {
		v := page.cols[r.args]
		for i := a; i < b; i++ {
			if !r.counting(page, i) {
				continue
			}
			beats := func(k int) bool { return sign*expr.Compare(v, i, &s.v, int(s.at[k].value)) < 0 }
			if r.from.bound.Unbounded && s.len() > 0 && !beats(s.head) {
				continue
			}
			for s.len() > 0 && beats(len(s.at)-1) {
				s.at = s.at[:len(s.at)-1]
			}
			s.put(r.high.at+i-a, v, i)
		}
		return nil
	}
	for k, lo := range r.lo {
		r.frame(lo, r.hi[k])
		r.high.at = max(r.high.at, min(lo, r.hi[k]))
		if err := r.high.walk(r.hi[k], add); err != nil {
			return err
		}
		s.drop(lo)
		r.low.at = lo
		if err := r.shelved(0); err != nil {
			return err
		}
	}
	return r.settle()
}

// shelved gives the value that is so far from the begin of the shelf, or NULL.
func (r *framer) shelved(at int) error {
	if at < 0 || at >= r.shelf.len() {
		r.giver.null()
		return nil
	}
	return r.value(&r.shelf.v, int(r.shelf.at[r.shelf.head+at].value))
}

// settle ends a round of values of the shelf.
func (r *framer) settle() error {
	r.flush()
	r.shelf.compact()
	return nil
}

// firsts is first_value, and nth_value of a constant.
func (r *framer) firsts() error {
	place := r.constantPlace()
	for k, lo := range r.lo {
		r.frame(lo, r.hi[k])
		if err := r.count(&r.low, lo); err != nil {
			return err
		}
		if r.from.bound.Unbounded && r.picked.v != nil {
			// It stays the same.
		} else if ok, err := r.seek(&r.ahead, r.low.n+place, r.hi[k]); err != nil {
			return err
		} else if !ok {
			r.picked.v = nil
		} else {
			r.picked = valueAt{v: r.ahead.page.cols[r.args], i: r.ahead.row()}
			if r.from.bound.Unbounded {
				r.ahead.at = math.MaxInt // no row is waited for
			}
		}
		if err := r.pickedValue(); err != nil {
			return err
		}
	}
	r.flush()
	return nil
}

// lasts is last_value.
func (r *framer) lasts() error {
	for k, lo := range r.lo {
		r.frame(lo, r.hi[k])
		err := r.high.walk(r.hi[k], func(page *rowPage, a, b int) error {
			for i := b - 1; i >= a; i-- {
				if r.counting(page, i) {
					r.picked = valueAt{page.cols[r.args], i, r.high.at + i - a}
					return nil
				}
			}
			return nil
		})
		if err != nil {
			return err
		}
		r.low.at = lo
		if r.picked.at < lo {
			r.picked.v = nil
		}
		if err := r.pickedValue(); err != nil {
			return err
		}
	}
	r.flush()
	return nil
}

// pickedValue gives the value that is picked, or NULL.
func (r *framer) pickedValue() error {
	if r.picked.v == nil {
		r.giver.null()
		return nil
	}
	return r.value(r.picked.v, r.picked.i)
}

// pick is first_value, last_value and nth_value.
func (r *framer) pick() error {
	switch {
	case r.fn.picksAhead(r):
		return r.firsts()
	case r.fn.last && r.f.Frame.Exclude == "":
		return r.lasts()
	}
	return r.pickSpans()
}

// picksAhead reports whether a cursor goes to the row that is picked.
func (fn *WindowFunction) picksAhead(r *framer) bool {
	return fn.Picks && !fn.last && r.f.Frame.Exclude == "" && r.constantPlace() >= 0
}

// nth is the place that nth_value asks for in row i, from 0.
func (r *framer) nth(i int) (int, error) {
	r.here.at = i
	if _, err := r.here.stand(); err != nil {
		return 0, err
	}
	n, ok := integerAt(r.here.page.cols[r.args+1], r.here.row())
	if !ok || n < 1 {
		return 0, status.New(status.EngineExecuteQuery, "nth_value needs a positive integer as second argument")
	}
	return int(min(n-1, math.MaxInt32)), nil
}
