package logql

import (
	"context"
	"strconv"
	"time"

	"varve/engine/status"
	"varve/sqlexec/logql/syntax"
	"varve/sqlexec/promql"
)

// MetricQuery asks for numbers at steps from Start to End, both included, ns. An instant query has Step 0.
type MetricQuery struct {
	Expr             syntax.Expr
	Start, End, Step int64
	MostSeries       int // of the answer; 0: no bound
	Stats            *Stats
}

// lookback is how old a sample of a leaf may be: each step has its own.
const lookback = time.Millisecond

// Literal is the number that a query is without reading anything; ok false: it is none.
func (q *MetricQuery) Literal() (ok bool) {
	_, scalar := new(translator).expr(q.Expr)
	return scalar
}

// steps are the times of the query.
func (q *MetricQuery) steps() steps {
	if q.Step == 0 {
		return steps{q.Start, 0, 1}
	}
	return steps{q.Start, q.Step, int((q.End-q.Start)/q.Step) + 1}
}

// leafQueries are the aggregations of ranges of a query, and the expression of metrics over them.
func (q *MetricQuery) leafQueries() (list []*leafQuery, text string) {
	if q.Stats == nil {
		q.Stats = new(Stats)
	}
	var t translator
	text, _ = t.expr(q.Expr)
	also, answer := namedBy(q.Expr), answering(q.Expr)
	for _, l := range t.leaves {
		one := &leafQuery{leaf: l, frame: newFrame(q.steps(), &l.agg.Range), stats: q.Stats, also: also}
		if l.agg == answer {
			one.most = q.MostSeries
		}
		list = append(list, one)
	}
	return list, text
}

// Statements are the statements of a query, for EXPLAIN, and the expression of metrics over their results.
func (q *MetricQuery) Statements(ctx context.Context, store Store) (list []Statement, text string, err error) {
	leaves, text := q.leafQueries()
	for _, l := range leaves {
		plans, err := l.plan(ctx, store)
		if err != nil {
			return nil, "", err
		}
		for i := range plans {
			list = append(list, Statement{plans[i].statement, plans[i].function})
		}
	}
	return list, text, nil
}

// Run computes a query. The result is a vector or, with steps, a matrix.
func (q *MetricQuery) Run(ctx context.Context, store Store, base promql.Query) (*promql.Result, error) {
	leaves, text := q.leafQueries()
	values := &leafStorage{}
	for _, l := range leaves {
		p, err := l.run(ctx, store)
		if err != nil {
			return nil, err
		}
		values.leaves = append(values.leaves, p)
	}
	base.Expr, base.Lookback, base.ZeroIsNaN = text, lookback, true
	base.Start, base.End, base.Step = floorMS(q.Start), floorMS(q.End), q.Step/1e6
	result, err := base.Run(ctx, values)
	if err == nil && q.MostSeries > 0 && result.Len() > q.MostSeries {
		err = tooManySeries(q.MostSeries)
	}
	return result, err
}

// answering is the aggregation of a range whose series are those of the answer, one for one; nil: there is none.
func answering(e syntax.Expr) *syntax.RangeAggregation {
	switch e := e.(type) {
	case *syntax.RangeAggregation:
		if e.Op == syntax.OpAbsentOverTime || e.Op == syntax.OpRateCounter { // these leave series out
			return nil
		}
		return e
	case *syntax.VectorAggregation:
		agg, ok := e.Expr.(*syntax.RangeAggregation)
		switch {
		case e.Op == syntax.OpSort || e.Op == syntax.OpSortDesc:
			return answering(e.Expr)
		case ok && e.Op == syntax.OpSum && sumsUp(agg):
			return agg
		}
	case *syntax.LabelReplace:
		return answering(e.Expr)
	case *syntax.Binary:
		if _, ok := e.Right.(*syntax.Literal); ok && !compares(e.Op) {
			return answering(e.Left)
		}
		if _, ok := e.Left.(*syntax.Literal); ok && !compares(e.Op) {
			return answering(e.Right)
		}
	}
	return nil
}

// leafStorage is the results of the leaves as series of metrics.
type leafStorage struct{ leaves [][]points }

// Select finds the series of the leaf that a matcher names.
func (s *leafStorage) Select(_ context.Context, sel promql.Selection) (promql.SeriesSet, error) {
	for _, m := range sel.Matchers {
		if m.Name != leafLabel {
			continue
		}
		n, err := strconv.Atoi(m.Value)
		if err == nil && n >= 0 && n < len(s.leaves) {
			return &leafSeries{s.leaves[n], sel.Start, sel.End}, nil
		}
	}
	return nil, status.New(status.Internal, "a query of numbers reads what is no aggregation of lines")
}

// LabelNames lists nothing: nobody asks.
func (s *leafStorage) LabelNames(context.Context, []promql.Selection) ([]string, error) {
	return nil, nil
}

// LabelValues lists nothing: nobody asks.
func (s *leafStorage) LabelValues(context.Context, string, []promql.Selection) ([]string, error) {
	return nil, nil
}

// leafSeries is the series of a leaf.
type leafSeries struct {
	list       []points
	start, end int64 // ms
}

// Len is the number of series.
func (s *leafSeries) Len() int { return len(s.list) }

// Labels is the label set of a series.
func (s *leafSeries) Labels(i int) promql.Labels { return s.list[i].labels }

// Scan visits series with their values at steps.
func (s *leafSeries) Scan(ctx context.Context, from, to int, visit func(i int, s promql.Samples) error) error {
	for i := from; i < to; i++ {
		p := &s.list[i]
		first, end := 0, len(p.t)
		for first < end && p.t[first] < s.start {
			first++
		}
		for end > first && p.t[end-1] > s.end {
			end--
		}
		if err := visit(i, promql.Samples{T: p.t[first:end], V: p.v[first:end]}); err != nil {
			return err
		}
		if err := ctx.Err(); err != nil {
			return err
		}
	}
	return nil
}

// Close has nothing to let go of.
func (s *leafSeries) Close() {}
