package promql_test

import (
	"context"
	"fmt"
	"testing"

	"varve/engine/status"
	"varve/sqlexec/promql"
)

// leaving is a query's client, storage and memory that count what the query does, and of which the client leaves at
// some point of it.
type leaving struct {
	promql.Storage
	context.Context
	leave  func()                               // ends the context
	at     int                                  // event at which the client leaves; 0: never
	seen   int                                  // events: label sets, series read, and requests for memory
	pieces bool                                 // a piece of the answer is made, which is short
	after  struct{ sets, visits, requests int } // what was done once the client had left
}

func (l *leaving) event(after *int) {
	if l.Err() != nil && !l.pieces {
		*after++
	}
	if l.seen++; l.seen == l.at {
		l.leave()
	}
}

func (l *leaving) Reserve(int64) error { l.event(&l.after.requests); return nil }
func (l *leaving) Release(int64)       {}

func (l *leaving) Select(ctx context.Context, sel promql.Selection) (promql.SeriesSet, error) {
	set, err := l.Storage.Select(ctx, sel)
	return &leavingSet{set, l}, err
}

type leavingSet struct {
	promql.SeriesSet
	l *leaving
}

func (s *leavingSet) Labels(i int) promql.Labels {
	s.l.event(&s.l.after.sets)
	return s.SeriesSet.Labels(i)
}

func (s *leavingSet) Scan(_ context.Context, from, to int, visit func(int, promql.Samples) error) error {
	return s.SeriesSet.Scan(context.Background(), from, to, func(i int, x promql.Samples) error {
		s.l.event(&s.l.after.visits)
		return visit(i, x)
	})
}

// run evaluates an expression and makes its answer until the client leaves.
func (l *leaving) run(q promql.Query) error {
	l.Context, l.leave = context.WithCancel(context.Background())
	defer l.leave()
	q.Workers, q.Memory = 1, l
	r, err := q.Run(l, l)
	if err != nil {
		return err
	}
	a, err := r.Answer(l, false)
	for more := true; err == nil && more; { // as the server does, which looks after each piece
		l.pieces = true
		_, more = a.Append(nil)
		err = l.Err()
	}
	return err
}

// TestLeft: whatever a query does when its client leaves, it does not go through all its series once more. Each
// expression is left at many points of its life, the making of its answer among them.
func TestLeft(t *testing.T) {
	const series, points = 6_000, 8
	store := newMemory()
	for i := range series {
		for _, name := range []string{"a", "b"} {
			store.Add(promql.NewLabels("__name__", name, "i", fmt.Sprint(i), "job", fmt.Sprint(i%10), "le",
				fmt.Sprint(i%7)),
				memorySample{T: minute, V: float64(i * 7919 % series)}, memorySample{T: 2 * minute, V: float64(i)})
		}
	}
	for _, expr := range []string{
		"a", "-a", "a > 5", "abs(a)", "timestamp(a)", "scalar(a)", "absent(a)", "round(a, 2)", "rate(a[5m])", "a @ 120",
		"sum(a)", "sum by (i) (a)", "avg by (i, job) (-a)", "stddev without (job) (a)",
		"sum by (i) (sum by (i, job) (a))",
		"quantile(0.5, a)", "quantile by (i) (0.5, a)", "topk(10, a)", "topk by (i) (1, a)", "bottomk(3000, a)",
		"limitk(100, a)",
		"limitk by (i) (1, a)", "limit_ratio(0.5, a)", `count_values("v", a)`, "sort(a)", "sort_desc(-a)",
		`sort_by_label(a, "i")`,
		"a + on(i) b", "a * on(i) group_left b", "a * on(job) group_left() topk by (job) (1, b)",
		"a == on(i) group_right(le) b", "a + on(i) fill(0) b",
		"a and b", "a unless b", "a or b", "a or abs(b)", "a + a", "max_over_time(a[3m:1m])",
		`label_replace(a, "x", "$1", "i", "(.*)")`, `label_join(a, "x", "-", "i", "job")`, "histogram_quantile(0.5, a)",
		"info(a)",
	} {
		for _, q := range []promql.Query{{Expr: expr, Start: 2 * minute, End: 2 * minute},
			{Expr: expr, Start: minute, End: 3 * minute, Step: minute}} {
			whole := leaving{Storage: store}
			if err := whole.run(q); err != nil {
				t.Fatalf("%s: %v", expr, err)
			}
			for k := 1; k < points; k++ {
				l := leaving{Storage: store, at: whole.seen * k / points}
				err := l.run(q)
				const most = 2_500 // series; a node whose end is near may end
				done := l.after.sets + l.after.visits
				if status.Of(err) != status.Cancelled && err != context.Canceled || done > most ||
					l.after.requests > 2*done+most/64 {
					t.Errorf("%s over %d ms, left at %d of %d: error %v, then %+v", expr, q.End-q.Start, l.at,
						whole.seen, err, l.after)
				}
			}
		}
	}
}
