package promql_test

import (
	"context"
	"fmt"
	"strings"
	"testing"

	"varve/engine/status"
	"varve/sqlexec/promql"
)

// panicStore panics while its series are read.
type panicStore struct{ promql.Storage }

type panicSet struct{ promql.SeriesSet }

func (s panicStore) Select(ctx context.Context, sel promql.Selection) (promql.SeriesSet, error) {
	set, err := s.Storage.Select(ctx, sel)
	return panicSet{set}, err
}

func (s panicSet) Scan(_ context.Context, from, _ int, _ func(int, promql.Samples) error) error {
	panic(fmt.Sprintf("series %d", from))
}

// TestPanic: a panic of a worker is the end of its query, not of the server.
func TestPanic(t *testing.T) {
	store := panicStore{bigStore(1000)}
	for _, workers := range []int{1, 4} {
		q := promql.Query{Expr: "sum(big_total)", Start: 0, End: 60 * minute, Step: minute / 2, Workers: workers}
		_, err := q.Run(context.Background(), store)
		if status.Of(err) != status.Internal || !strings.Contains(err.Error(), "panic in a worker of a query: series") {
			t.Errorf("%d workers: %v", workers, err)
		}
	}
}
