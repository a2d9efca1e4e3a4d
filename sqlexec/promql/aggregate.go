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
func (e *evaluator) aggregate(n *parser.AggregateExpr, g grid) (matrix, error) {
	names := append([]string{}, n.Grouping...)
	slices.Sort(names)
	by := &grouping{names: names, without: n.Without, index: map[labelsKey]int32{}}
	switch n.Op {
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
	names   []string
	without bool
	index   map[labelsKey]int32 // of the labels that rows of a group share
	groups  matrix              // without values until they are finished
	key     []byte
	bytes   int64 // of groups that are not counted yet
}

// of is the group of a row, made if need be.
func (b *grouping) of(ls Labels, dropName bool) int32 {
	b.key = b.key[:0]
	switch {
	case b.without:
		for _, l := range ls {
			if l.Name != NameLabel && !slices.Contains(b.names, l.Name) {
				b.key = appendKeyLabel(b.key, l)
			}
		}
	default:
		b.key = ls.appendKeyOf(b.key, b.names, false)
	}
	key := keyOf(b.key)
	at, ok := b.index[key]
	if !ok {
		at = int32(len(b.groups))
		b.index[key] = at
		b.groups = append(b.groups, row{identity: identity{own: b.labels(ls)}})
		b.bytes += groupBytes + int64(labelBytes*len(b.groups[at].own))
	}
	b.groups[at].dropName = b.groups[at].dropName || dropName
	return at
}

// groupBytes is about the memory of a group besides its labels, while the lists grow.
const groupBytes = rowBytes + 80

// count takes the memory of the groups made since it was called last.
func (b *grouping) count(l *limits) error {
	bytes := b.bytes
	b.bytes = 0
	return l.reserve(bytes)
}

func (b *grouping) labels(ls Labels) Labels {
	if b.without {
		return ls.drop(append(slices.Clone(b.names), NameLabel)...)
	}
	return ls.keep(b.names)
}

// fold evaluates the aggregations that take rows one by one: rows are added to their group as they are read, and the
// rows of the argument never exist together.
func (e *evaluator) fold(n *parser.AggregateExpr, by *grouping, g grid) (matrix, error) {
	src, m, err := e.rowsOrSource(n.Expr, by, g)
	if err != nil {
		return nil, err
	}
	pos := n.Expr.PositionRange()
	if src == nil {
		acc := newAccumulator(n.Op, g, e.limits, pos)
		for i := range m {
			if err := acc.add(by.of(m[i].labels(), m[i].dropName), &m[i]); err != nil {
				return nil, err
			}
			if i%chunkRows == 0 {
				if err := cmp.Or(e.ctx.Err(), by.count(e.limits)); err != nil {
					return nil, err
				}
			}
		}
		return acc.finish(e, by), nil
	}
	// Groups are numbered before the scan, so that workers do not meet.
	if err := e.limits.reserve(int64(src.set.Len()) * 4); err != nil {
		return nil, err
	}
	group := make([]int32, src.set.Len())
	for i := range group {
		group[i] = by.of(src.set.Labels(i), src.dropName(i))
		if i%chunkRows == chunkRows-1 || i == len(group)-1 {
			if err := cmp.Or(e.ctx.Err(), by.count(e.limits)); err != nil {
				return nil, err
			}
		}
	}
	accs := make([]*accumulator, e.workersFor(src, g))
	for k := range accs {
		accs[k] = newAccumulator(n.Op, g, e.limits, pos)
	}
	err = e.scan(src, g, false, func(k, i int, r *row) error { return accs[k].add(group[i], r) })
	if err != nil {
		return nil, err
	}
	for _, other := range accs[1:] { // in the order of the series, so that sums repeat
		accs[0].merge(other)
	}
	return accs[0].finish(e, by), nil
}

// rowsOrSource is the source of the rows of a node that reads series and is needed here only, with the labels that groups have,
// else its rows.
func (e *evaluator) rowsOrSource(x parser.Expr, by *grouping, g grid) (*source, matrix, error) {
	_, shared := e.shared[unwrap(x)]
	if !shared && (g.n == 1 || !e.same[x]) {
		switch n := unwrap(x).(type) {
		case *parser.VectorSelector:
			e.wantLabels(n, by)
			src, err := e.instantSource(n, g)
			return src, nil, err
		case *parser.Call:
			if fn := rangeFuncs[n.Func.Name]; fn != nil && n.Func.Name != "absent_over_time" {
				for _, arg := range n.Args {
					if m, ok := unwrap(arg).(*parser.MatrixSelector); ok {
						e.wantLabels(m.VectorSelector.(*parser.VectorSelector), by)
					}
				}
				src, err := e.callSource(n, fn, g)
				return src, nil, err
			}
		}
	}
	m, err := e.eval(x, g)
	return nil, m, err
}

// wantLabels has a selector read no labels but those of groups.
func (e *evaluator) wantLabels(vs *parser.VectorSelector, by *grouping) {
	if !by.without {
		e.labels[vs] = by.names
	}
}

// countValues counts how often each value occurs, the value being a label of the answer.
func (e *evaluator) countValues(n *parser.AggregateExpr, by *grouping, g grid) (matrix, error) {
	label := unwrap(n.Param).(*parser.StringLiteral).Val
	if !validLabelName(label) {
		return nil, execution("invalid label name %s", n.Param)
	}
	if !by.without && !slices.Contains(by.names, label) {
		by.names = append(by.names, label)
		slices.Sort(by.names)
	}
	m, err := e.eval(n.Expr, g)
	if err != nil {
		return nil, err
	}
	acc := newAccumulator(parser.COUNT, g, e.limits, n.Expr.PositionRange())
	texts := map[float64]string{}
	for i := range m {
		for step := range m[i].has.steps {
			var text string
			if h := m[i].histogram(step); h != nil {
				text = h.String()
			} else {
				text = valueText(texts, m[i].vals[step])
			}
			at := by.of(m[i].labels().with(label, text), false)
			if group := &by.groups[at]; group.text == 0 {
				group.text = int64(len(text))
				if err := e.limits.reserve(group.text); err != nil {
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
	return acc.finish(e, by), nil
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
func (e *evaluator) aggregateQuantile(n *parser.AggregateExpr, by *grouping, g grid) (matrix, error) {
	qs, err := e.values(n.Param, g)
	if err != nil {
		return nil, err
	}
	low, high := math.Inf(1), math.Inf(-1)
	for _, q := range qs {
		if math.IsNaN(q) {
			e.note(annotations.NewInvalidQuantileWarning(q, n.Param.PositionRange()))
			continue
		}
		low, high = min(low, q), max(high, q)
	}
	if high > 1 {
		e.note(annotations.NewInvalidQuantileWarning(high, n.Param.PositionRange()))
	}
	if low < 0 {
		e.note(annotations.NewInvalidQuantileWarning(low, n.Param.PositionRange()))
	}
	m, err := e.eval(n.Expr, g)
	if err != nil {
		return nil, err
	}
	members, err := e.membersOf(m, by)
	if err != nil {
		return nil, err
	}
	a := newArena(e.limits, g)
	out := make(matrix, 0, len(members))
	var v []float64
	for at, rows := range members {
		r, err := a.row()
		if err != nil {
			return nil, err
		}
		r.identity = by.groups[at].identity
		for i := range g.n {
			v = v[:0]
			for _, k := range rows {
				switch {
				case !m[k].has.has(i):
				case m[k].histogram(i) != nil:
					e.note(annotations.NewHistogramIgnoredInAggregationInfo("quantile", n.Expr.PositionRange()))
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
		if err := e.ctx.Err(); err != nil {
			return nil, err
		}
	}
	return out, nil
}

// memberBytes is about the memory of a row in the list of its group, while that grows.
const memberBytes = 24

// membersOf lists the rows of each group.
func (e *evaluator) membersOf(m matrix, by *grouping) ([][]int, error) {
	if err := e.limits.reserve(int64(len(m)) * memberBytes); err != nil {
		return nil, err
	}
	var out [][]int
	for i := range m {
		if i%chunkRows == 0 {
			if err := cmp.Or(e.ctx.Err(), by.count(e.limits)); err != nil {
				return nil, err
			}
		}
		at := by.of(m[i].labels(), m[i].dropName)
		if int(at) == len(out) {
			out = append(out, nil)
		}
		out[at] = append(out[at], i)
	}
	return out, nil
}
