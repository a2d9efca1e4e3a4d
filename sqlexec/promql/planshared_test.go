package promql_test

import (
	"context"
	"errors"
	"fmt"
	"sync"
	"testing"

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
