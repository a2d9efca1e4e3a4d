package promql

import (
	"container/heap"
	"context"
	"math"
	"sort"

	"github.com/prometheus/prometheus/model/labels"
	"github.com/prometheus/prometheus/promql/parser"
	"github.com/prometheus/prometheus/util/annotations"
)

// ranked is a row at a step, in a heap whose first element is removed next.
type ranked struct {
	v   float64
	row int
}

// ranking is a heap of rows. NaN goes first whichever way it is turned.
type ranking struct {
	rows    []ranked
	largest bool // the largest value goes first, for bottomk

	ctx   context.Context
	asked int
	ended error // the context's: what follows is in no order
}

func (r *ranking) Len() int      { return len(r.rows) }
func (r *ranking) Swap(i, j int) { r.rows[i], r.rows[j] = r.rows[j], r.rows[i] }
func (r *ranking) Push(x any)    { r.rows = append(r.rows, x.(ranked)) }
func (r *ranking) Pop() any      { panic("rows leave a ranking by being replaced") }

func (r *ranking) Less(i, j int) bool {
	if r.asked++; r.asked%askRanked == 0 && r.ended == nil {
		r.ended = r.ctx.Err()
	}
	if r.ended != nil {
		return false // the rest is soon over
	}
	a, b := r.rows[i].v, r.rows[j].v
	if math.IsNaN(a) {
		return true
	}
	if r.largest {
		return a > b
	}
	return a < b
}

// offer takes a row if there is room or if it is better than the first to go.
func (r *ranking) offer(x ranked, k int) {
	if len(r.rows) < k {
		heap.Push(r, x)
		return
	}
	worst := r.rows[0].v
	if r.largest && worst > x.v || !r.largest && worst < x.v || math.IsNaN(worst) && !math.IsNaN(x.v) {
		r.rows[0] = x
		heap.Fix(r, 0)
	}
}

// askRanked is how many comparisons of rows are made before the context is asked: a millisecond or so.
const askRanked = 1 << 16

// rankedBytes is the memory of the steps of a row that ranks among others, while no step keeps it.
const rankedBytes = 24

// aggregateK evaluates the aggregations that keep some rows whole.
func (e *evaluator) aggregateK(n *aggregateNode, by *grouping, g grid) (nodeMatrix, error) {
	params, err := e.values(n.param, g)
	if err != nil {
		return nil, err
	}
	m, err := e.eval(n.of, g)
	if err != nil {
		return nil, err
	}
	if n.op == parser.LIMIT_RATIO {
		return e.limitRatio(n, m, params, g)
	}
	if none, err := checkK(params); none || err != nil {
		return nil, err
	}
	if err := e.limits.reserve(int64(len(m)) * rankedBytes); err != nil {
		return nil, err
	}
	members, err := e.membersOf(m, by)
	if err != nil {
		return nil, err
	}
	r := ranking{largest: n.op == parser.BOTTOMK, ctx: e.ctx}
	kept := keptRows{has: make([]bitmap, len(m)), words: g.words()}
	for i := range g.n {
		k := int(min(int64(params[i]), int64(len(m))))
		if k < 1 {
			continue
		}
		for at := range by.groups {
			if at%askSeries == 0 && e.ctx.Err() != nil {
				return nil, e.ctx.Err()
			}
			if err := e.rank(n, m, members.of(at), i, k, &r); err != nil {
				return nil, err
			}
			kept.add(r.rows, i)
		}
	}
	return kept.of(m), nil
}

// rank finds the k rows of a group that a step keeps; in an instant query the best comes first.
func (e *evaluator) rank(n *aggregateNode, m nodeMatrix, rows []int32, step, k int, r *ranking) error {
	r.rows = r.rows[:0]
	for _, at := range rows {
		switch {
		case !m[at].has.has(step):
		case n.op == parser.LIMITK:
			if len(r.rows) < k {
				r.rows = append(r.rows, ranked{row: int(at)})
			}
		case m[at].histogram(step) != nil:
			e.note(annotations.NewHistogramIgnoredInAggregationInfo(n.op.String(), n.pos))
		default:
			r.offer(ranked{m[at].vals[step], int(at)}, k)
		}
	}
	if e.instant && n.op != parser.LIMITK && len(r.rows) > 1 {
		sort.Sort(sort.Reverse(r))
	}
	return r.ended
}

// keptRows is the rows that any step keeps, in their old order.
type keptRows struct {
	has   []bitmap // by row: the steps that keep it; nil: none
	words int
	order []int
}

// add notes the rows that a step keeps.
func (k *keptRows) add(rows []ranked, step int) {
	for _, x := range rows {
		if k.has[x.row] == nil {
			k.has[x.row] = make(bitmap, k.words)
			k.order = append(k.order, x.row)
		}
		k.has[x.row].set(step)
	}
}

// of is these rows of a matrix, at the steps that keep them.
func (k *keptRows) of(m nodeMatrix) nodeMatrix {
	out := make(nodeMatrix, 0, len(k.order))
	for _, at := range k.order {
		r := m[at]
		r.has = k.has[at]
		out = append(out, r)
	}
	return out
}

// checkK refuses parameters that are no numbers of rows; none says that no step wants any row.
func checkK(params []float64) (none bool, err error) {
	low, high, nan := math.Inf(1), math.Inf(-1), false
	for _, v := range params {
		nan = nan || math.IsNaN(v)
		low, high = math.Min(low, v), math.Max(high, v)
	}
	switch {
	case nan:
		return false, execution("Parameter value is NaN")
	case high < 1:
		return true, nil
	case low <= math.MinInt64:
		return false, execution("Scalar value %v underflows int64", low)
	case high >= math.MaxInt64:
		return false, execution("Scalar value %v overflows int64", high)
	}
	return false, nil
}

// limitRatio keeps a part of the rows, chosen by a hash of their labels; a negative ratio keeps the others.
func (e *evaluator) limitRatio(n *aggregateNode, m nodeMatrix, params []float64, g grid) (nodeMatrix, error) {
	low, high := 0.0, 0.0
	for _, v := range params {
		if math.IsNaN(v) {
			return nil, execution("Ratio value is NaN")
		}
		low, high = min(low, v), max(high, v)
	}
	if high > 1 {
		e.note(annotations.NewInvalidRatioWarning(high, 1, n.param.base().pos))
	}
	if low < -1 {
		e.note(annotations.NewInvalidRatioWarning(low, -1, n.param.base().pos))
	}
	return e.sift(m, func(_ int, r *row) {
		offset := hashOffset(r.labels())
		has := make(bitmap, g.words())
		for i := range r.has.steps {
			ratio := max(-1, min(1, params[i]))
			if ratio >= 0 && offset < ratio || ratio < 0 && offset >= 1+ratio {
				has.set(i)
			}
		}
		r.has = has
	})
}

// hashOffset places a label set between 0 and 1, where the reference places it.
func hashOffset(ls Labels) float64 {
	b := labels.NewScratchBuilder(len(ls))
	for _, l := range ls {
		b.Add(l.Name, l.Value)
	}
	return float64(b.Labels().Hash()) / float64(math.MaxUint64)
}
