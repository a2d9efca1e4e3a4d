package promql_test

import (
	"context"
	"errors"
	"fmt"
	"math/rand/v2"
	"sync"
	"testing"
	"time"

	"varve/sqlexec/promql"
)

// TestPlanIsShared: queries with one text and different times run at once by one plan, each with its own answer.
func TestPlanIsShared(t *testing.T) {
	store := newMemory()
	for i := range 20 {
		for k := range 10 {
			store.Add(promql.NewLabels("__name__", "load", "host", fmt.Sprint("h", i)),
				memorySample{T: int64(k) * minute, V: float64(k)})
		}
	}
	e := openEngine(t)
	fill(t, e, store)
	s := promql.NewService(promql.Limits{})
	errs := make([]error, 8)
	var wg sync.WaitGroup
	for i := range errs {
		wg.Go(func() {
			for k := range 10 {
				q := promql.Query{Expr: `count_values("v", load) or sum by (host) (load) / sum(load offset 0s)`,
					Start: int64(k) * minute, End: int64(k) * minute}
				err := s.Evaluate(context.Background(), q, &promql.Tables{Engine: e, DB: "public"},
					func(r *promql.Result) error {
						if want := fmt.Sprint(k); r.Len() == 0 || r.Labels(0).Get("v") != want {
							return fmt.Errorf("at %d: %d rows, the first %v", k, r.Len(), r.Labels(0))
						}
						return nil
					})
				errs[i] = errors.Join(errs[i], err)
			}
		})
	}
	wg.Wait()
	if err := errors.Join(errs...); err != nil {
		t.Error(err)
	}
}

// TestPlansOfRandomQueries: a query that others asked before, at other times, answers what it would alone; after
// another label came, too.
func TestPlansOfRandomQueries(t *testing.T) {
	const queries, runs = 60, 4
	r := rand.New(rand.NewPCG(76, 1))
	e := openEngine(t)
	fill(t, e, randomStore(r))
	s := promql.NewService(promql.Limits{})
	g := generator{Rand: r}
	for k := range queries {
		if k == queries/2 {
			more := newMemory()
			more.Add(promql.NewLabels("__name__", "load", "host", "h1", "shelf", "s"), memorySample{T: 1800_000, V: 3})
			fill(t, e, more)
		}
		expr := g.vector(3)
		var wg sync.WaitGroup
		for i := range runs {
			q := promql.Query{Expr: expr, Start: int64(r.IntN(3600)) * 1000, Workers: 1,
				Lookback: time.Duration(1+r.IntN(600)) * time.Second}
			q.End = q.Start
			if i > 0 {
				q.Step = int64(1+r.IntN(200)) * 1000
				q.End += q.Step * int64(r.IntN(100))
			}
			wg.Go(func() {
				tables := &promql.Tables{Engine: e, DB: "public"}
				want, wantErr := q.Run(context.Background(), tables)
				err := s.Evaluate(context.Background(), q, tables, func(got *promql.Result) error {
					if wantErr != nil {
						return fmt.Errorf("no error, want %w", wantErr)
					}
					if d := difference(describe(got), describe(want)); d != "" {
						return errors.New(d)
					}
					return nil
				})
				if err != nil && (wantErr == nil || err.Error() != wantErr.Error()) {
					t.Errorf("%s from %d to %d by %d: %v", expr, q.Start, q.End, q.Step, err)
				}
			})
		}
		wg.Wait()
	}
}
