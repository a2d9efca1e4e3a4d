package promql

import (
	"cmp"
	"math"
	"slices"
	"strconv"

	"github.com/prometheus/prometheus/promql/parser"
	"github.com/prometheus/prometheus/util/annotations"
)

// aggregate evaluates an aggregation.
func (e *evaluator) aggregate(n *aggregateNode, g grid) (nodeMatrix, error) {
	by := newGrouping(n)
	switch n.op {
	case parser.COUNT_VALUES:
		return e.countValues(n, by, g)
	case parser.TOPK, parser.BOTTOMK, parser.LIMITK, parser.LIMIT_RATIO:
		return e.aggregateK(n, by, g)
	case parser.QUANTILE:
		return e.aggregateQuantile(n, by, g)
	}
	return e.fold(n, by, g)
}

// grouping maps rows to groups.
type grouping struct {
	names   []string // sorted; with without the name of the metric is among them
	without bool
	index   map[labelsKey]int32 // of the labels that rows of a group share
	groups  []identity
	left    projection
	key     []byte
	bytes   int64 // of groups that are not counted yet
}

func newGrouping(n *aggregateNode) *grouping {
	b := &grouping{names: n.names, without: n.without, index: map[labelsKey]int32{}}
	b.left.labels = func(ls Labels) Labels {
		if b.without {
			return ls.drop(b.names...)
		}
		return ls.keep(b.names)
	}
	return b
}

// one reports whether all rows are of one group, without labels.
func (b *grouping) one() bool { return !b.without && len(b.names) == 0 }

// of is the group of a row with some labels, made if need be.
func (b *grouping) of(ls Labels, id *identity) int32 {
	b.key = ls.appendKeyOf(b.key[:0], b.names, b.without)
	key := keyOf(b.key)
	at, ok := b.index[key]
	if !ok {
		at = int32(len(b.groups))
		b.index[key] = at
		b.groups = append(b.groups, b.left.of(id))
		b.bytes += groupBytes + b.groups[at].ownBytes()
	}
	b.groups[at].dropName = b.groups[at].dropName || id.dropName
	return at
}

// groupBytes is about the memory of a group besides its labels, while the lists grow.
const groupBytes = 96

// count takes the memory of the groups made since it was called last.
func (b *grouping) count(l *queryLimits) error {
	bytes := b.bytes
	b.bytes = 0
	return l.reserve(bytes)
}

// number assigns numbers to the groups of rows; n is the number of groups.
func (e *evaluator) number(by *grouping, n int, row func(i int) (Labels, identity)) ([]int32, error) {
	if err := e.limits.reserve(int64(n) * 4); err != nil {
		return nil, err
	}
	group := make([]int32, n)
	if by.one() && n > 0 { // no labels are needed
		id := named(nil, 0)
		by.of(nil, &id)
		return group, by.count(e.limits)
	}
	for i := range group {
		ls, id := row(i)
		group[i] = by.of(ls, &id)
		if i%chunkRows == chunkRows-1 || i == n-1 {
			if err := cmp.Or(e.ctx.Err(), by.count(e.limits)); err != nil {
				return nil, err
			}
		}
	}
	return group, nil
}

// numberSeries numbers the groups of the series of a source.
func (e *evaluator) numberSeries(by *grouping, src *sampleRows) ([]int32, error) {
	if set, ok := src.set.(*tableSeries); ok && !by.one() && !by.without && set.Len() > 1 {
		return e.numberAlike(by, src, set)
	}
	of := originOf(src.set)
	return e.number(by, src.set.Len(), func(i int) (Labels, identity) {
		return src.set.Labels(i), identity{of: of, at: int32(i), dropName: src.dropName(i)}
	})
}

// numberAlike is numberSeries for series whose labels have numbers: only those with new numbers are asked for their
// texts. Where most have new ones, all are asked.
func (e *evaluator) numberAlike(by *grouping, src *sampleRows, set *tableSeries) ([]int32, error) {
	n := set.Len()
	if err := e.limits.reserve(int64(n) * 4); err != nil {
		return nil, err
	}
	group, known, of := make([]int32, n), map[string]int32{}, originOf(set)
	var key []byte
	for i := range group {
		at, ok := int32(0), false
		if known != nil {
			key = set.appendNumbers(key[:0], i)
			at, ok = known[string(key)]
		}
		if !ok {
			var ls Labels
			if known != nil {
				ls = set.ownLabels(i)
			} else {
				ls = set.Labels(i)
			}
			id := named(ls, 0)
			if of.room > 0 { // too many series to keep their labels
				id = identity{of: of, at: int32(i)}
			}
			id.dropName = src.dropName(i)
			at = by.of(ls, &id)
			if known != nil {
				known[string(key)] = at
				by.bytes += int64(len(key)) + alikeBytes
			}
			if len(known) > fewAlike && len(known) > i/2 {
				known = nil
			}
		}
		group[i] = at
		if i%chunkRows == chunkRows-1 || i == n-1 {
			if err := cmp.Or(e.ctx.Err(), by.count(e.limits)); err != nil {
				return nil, err
			}
		}
	}
	return group, nil
}

// alikeBytes is about the memory of a known series without its numbers; fewAlike is how many are known before it is
// asked whether that pays.
const alikeBytes, fewAlike = 64, 64

// numberRows numbers the groups of rows.
func (e *evaluator) numberRows(by *grouping, m nodeMatrix) ([]int32, error) {
	return e.number(by, len(m), func(i int) (Labels, identity) { return m[i].labels(), m[i].identity })
}

// fold evaluates the aggregations that take rows one by one: rows are added to their group as they are read, and the
// rows of the argument never exist together. Groups are numbered before that, so that workers do not meet.
func (e *evaluator) fold(n *aggregateNode, by *grouping, g grid) (nodeMatrix, error) {
	src, m, err := e.rowsOrSource(n, g)
	if err != nil {
		return nil, err
	}
	var group []int32
	workers := 1
	if src == nil {
		group, err = e.numberRows(by, m)
	} else {
		workers = e.workersFor(src, g)
		group, err = e.numberSeries(by, src)
	}
	if err == nil {
		err = e.limits.hold(int64(len(by.groups)) * int64(g.n))
	}
	if err != nil {
		return nil, err
	}
	accs := make([]*accumulator, workers)
	for k := range accs {
		accs[k] = newAccumulator(n.op, g, e.limits, n.of.base().pos, len(by.groups))
	}
	if src == nil {
		err = e.eachRow(m, func(i int) error { return accs[0].add(group[i], &m[i]) })
	} else {
		err = e.scan(src, g, false, func(k, i int, r *row) error { return accs[k].add(group[i], r) })
	}
	if err != nil {
		return nil, err
	}
	for _, other := range accs[1:] { // in the order of the series, so that sums repeat
		if err := accs[0].merge(e.ctx, other); err != nil {
			return nil, err
		}
	}
	return accs[0].finish(e, by)
}

// rowsOrSource is the source of the rows of a node that is folded, else its rows.
func (e *evaluator) rowsOrSource(n *aggregateNode, g grid) (*sampleRows, nodeMatrix, error) {
	if !n.folds {
		m, err := e.eval(n.of, g)
		return nil, m, err
	}
	var src *sampleRows
	var err error
	switch of := n.of.(type) {
	case *selectorNode:
		src, err = e.instantSource(of, g)
	case *callNode:
		src, err = e.callSource(of, of.over, g)
	}
	return src, nil, err
}

// countValues counts how often each value occurs, the value being a label of the answer.
func (e *evaluator) countValues(n *aggregateNode, by *grouping, g grid) (nodeMatrix, error) {
	label := text(n.param)
	if !validLabelName(label) {
		return nil, execution("invalid label name %q", label)
	}
	if !by.without && !slices.Contains(by.names, label) {
		by.names = append(slices.Clone(by.names), label)
		slices.Sort(by.names)
	}
	m, err := e.eval(n.of, g)
	if err != nil {
		return nil, err
	}
	acc := newAccumulator(parser.COUNT, g, e.limits, n.of.base().pos, 0)
	texts := map[float64]string{}
	for i := range m {
		for step := range m[i].has.steps {
			var text string
			if h := m[i].histogram(step); h != nil {
				text = h.String()
			} else {
				text = valueText(texts, m[i].vals[step])
			}
			ls := m[i].labels().with(label, text)
			id := named(ls, int64(len(text)))
			groups := len(by.groups)
			at := by.of(ls, &id)
			if len(by.groups) > groups {
				if err := e.limits.hold(int64(g.n)); err != nil {
					return nil, err
				}
			}
			c, err := acc.group(at)
			if err != nil {
				return nil, err
			}
			c.sum[step]++
			c.floats.set(step)
		}
		if err := cmp.Or(e.ctx.Err(), by.count(e.limits)); err != nil {
			return nil, err
		}
	}
	return acc.finish(e, by)
}

func valueText(known map[float64]string, v float64) string {
	text, ok := known[v]
	if !ok {
		text = strconv.FormatFloat(v, 'f', -1, 64)
		known[v] = text
	}
	return text
}

// aggregateQuantile sorts the values of each group at each step.
func (e *evaluator) aggregateQuantile(n *aggregateNode, by *grouping, g grid) (nodeMatrix, error) {
	qs, err := e.values(n.param, g)
	if err != nil {
		return nil, err
	}
	low, high := math.Inf(1), math.Inf(-1)
	for _, q := range qs {
		if math.IsNaN(q) {
			e.note(annotations.NewInvalidQuantileWarning(q, n.param.base().pos))
			continue
		}
		low, high = min(low, q), max(high, q)
	}
	if high > 1 {
		e.note(annotations.NewInvalidQuantileWarning(high, n.param.base().pos))
	}
	if low < 0 {
		e.note(annotations.NewInvalidQuantileWarning(low, n.param.base().pos))
	}
	m, err := e.eval(n.of, g)
	if err != nil {
		return nil, err
	}
	members, err := e.membersOf(m, by)
	if err != nil {
		return nil, err
	}
	a := newArena(e.limits, g)
	out := make(nodeMatrix, 0, len(by.groups))
	var v []float64
	for at := range by.groups {
		rows := members.of(at)
		r, err := a.row()
		if err != nil {
			return nil, err
		}
		r.identity = by.groups[at]
		for i := range g.n {
			if err := e.ctx.Err(); err != nil {
				return nil, err
			}
			v = v[:0]
			for _, k := range rows {
				switch {
				case !m[k].has.has(i):
				case m[k].histogram(i) != nil:
					e.note(annotations.NewHistogramIgnoredInAggregationInfo("quantile", n.of.base().pos))
				default:
					v = append(v, m[k].vals[i])
				}
			}
			if len(v) > 0 {
				r.put(i, quantile(qs[i], v))
			}
		}
		if !r.has.empty() {
			out = append(out, r)
		}
	}
	return out, nil
}

// membersOf lists the rows of each group.
func (e *evaluator) membersOf(m nodeMatrix, by *grouping) (lists, error) {
	group, err := e.numberRows(by, m)
	if err == nil {
		err = e.limits.reserve(int64(len(m)+len(by.groups)) * listBytes)
	}
	if err != nil {
		return lists{}, err
	}
	return listsOf(group, len(by.groups)), nil
}
