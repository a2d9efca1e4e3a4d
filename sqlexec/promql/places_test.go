package promql_test

import (
	"context"
	"math/rand/v2"
	"slices"
	"testing"
	"time"

	"varve/sqlexec/promql"
)

// TestPlacesOfNotes: warnings and infos point at the place that the reference names, inside of parentheses, and are
// there once a query, not once a step.
func TestPlacesOfNotes(t *testing.T) {
	engine := newReference()
	defer engine.Close()
	store := randomStore(rand.New(rand.NewPCG(15, 1)))
	for _, expr := range []string{
		`rate((load[25m]))`, `sum by (zone) (((mixed)))`, `quantile without (zone) ((scalar(vector(2))), (load))`,
		`stddev((size))`,
		`histogram_quantile((2), (size))`, `histogram_quantile(0.5, (load))`, `quantile_over_time((2), (load[5m]))`,
		`delta((size[10m]))`,
		`limit_ratio(time(), load)`, `limit_ratio(-time(), load)`, `limit_ratio((time() - 1800), load)`,
		`topk((1), (size))`, `max((mixed))`,
	} {
		q := promql.Query{Expr: expr, Start: 20 * minute, End: 40 * minute, Step: 100_000}
		ref, err := engine.NewRangeQuery(context.Background(), referenceStore{store: store}, nil, expr,
			time.UnixMilli(q.Start), time.UnixMilli(q.End), time.Duration(q.Step)*time.Millisecond)
		if err != nil {
			t.Fatal(expr, err)
		}
		want := ref.Exec(context.Background())
		warnings, infos := want.Warnings.AsStrings(expr, 0, 0)
		slices.Sort(warnings)
		slices.Sort(infos)
		got, err := q.Run(context.Background(), store)
		if err != nil || want.Err != nil {
			t.Fatal(expr, err, want.Err)
		}
		if !slices.Equal(got.Warnings, warnings) || !slices.Equal(got.Infos, infos) {
			t.Errorf("%s:\n got %q %q\nwant %q %q", expr, got.Warnings, got.Infos, warnings, infos)
		}
		ref.Close()
	}
}
