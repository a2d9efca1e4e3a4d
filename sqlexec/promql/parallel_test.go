package promql_test

import (
	"context"
	"fmt"
	"math/rand/v2"
	"slices"
	"testing"

	"varve/sqlexec/promql"
)

// TestWorkers: answers and notes do not depend on how many goroutines read.
func TestWorkers(t *testing.T) {
	r := rand.New(rand.NewPCG(11, 12))
	store := newMemory()
	for i := range 300 {
		zone := fmt.Sprintf("z%d", i%3)
		store.Add(promql.NewLabels("__name__", "requests_total", "i", fmt.Sprint(i), "zone", zone), floats(r, true)...)
		store.Add(promql.NewLabels("__name__", "load", "i", fmt.Sprint(i), "zone", zone), floats(r, false)...)
		store.Add(promql.NewLabels("__name__", "size", "i", fmt.Sprint(i), "zone", zone), histograms(r, i%2 == 1)...)
	}
	for _, over := range []string{"requests_total", "load", "rate(requests_total[5m])", "delta(load[4m])", "size",
		"rate(size[5m])", `{__name__=~"load|size"}`} {
		for _, op := range []string{"sum", "avg", "min", "max", "count", "group", "stddev", "stdvar"} {
			expr := op + " by (zone) (" + over + ")"
			q := promql.Query{Expr: expr, Start: 0, End: 40 * minute, Step: 10_000, Workers: 1}
			want, err := q.Run(context.Background(), store)
			if err != nil {
				t.Fatalf("%s: %v", expr, err)
			}
			q.Workers = 4
			got, err := q.Run(context.Background(), store)
			if err != nil {
				t.Fatalf("%s by four: %v", expr, err)
			}
			if diff := difference(describe(got), describe(want)); diff != "" {
				t.Errorf("%s by four: %s", expr, diff)
			}
			if a, b := notesOf(got.Warnings, got.Infos), notesOf(want.Warnings, want.Infos); !slices.Equal(a, b) {
				t.Errorf("%s by four: notes %q, want %q", expr, a, b)
			}
		}
	}
}
