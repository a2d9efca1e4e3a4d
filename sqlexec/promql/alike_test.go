package promql_test

import (
	"context"
	"fmt"
	"slices"
	"testing"

	"varve/sqlexec/promql"
)

// TestGroupsOfTables: groups of series of tables, which are told apart by the numbers of their labels, are those of the
// same series in memory, which are by texts; where few series share a group and where many do.
func TestGroupsOfTables(t *testing.T) {
	store := newMemory()
	for i := range 400 {
		for m, metric := range []string{"load", "disk"} {
			labels := []string{"__name__", metric, "host", fmt.Sprint("h", i), "zone", fmt.Sprint("z", i%(3+m))}
			if i%5 > 0 {
				labels = append(labels, "rack", fmt.Sprint("r", i%5))
			}
			store.Add(promql.NewLabels(labels...), memorySample{T: 1000, V: float64(i*2 + m)})
		}
	}
	e := openEngine(t)
	fill(t, e, store)
	for _, expr := range []string{
		`sum by (zone) (load)`, `count by (rack) (disk)`, `max by (zone, rack) ({__name__=~"load|disk"})`,
		`min by (host) (load)`, `group by (__name__) ({__name__=~"load|disk"})`, `avg by (absent, zone) (load)`,
		`sum by (host, zone) ({__name__=~"load|disk",rack="r1"})`, `count by (zone) (last_over_time(load[5m]))`,
		`sum(load)`, `sum without (host) (load)`, `count by (rack) (load{host="h7"})`,
	} {
		q := promql.Query{Expr: expr, Start: 1000, End: 1000}
		want, got := rowsOf(t, q, store), rowsOf(t, q, &promql.Tables{Engine: e, DB: "public"})
		if len(want) == 0 || !slices.Equal(got, want) {
			t.Errorf("%s: %v, want %v", expr, got, want)
		}
	}
}

// rowsOf are the rows of an instant query as sorted texts.
func rowsOf(t *testing.T, q promql.Query, store promql.Storage) (rows []string) {
	t.Helper()
	r, err := q.Run(context.Background(), store)
	if err != nil {
		t.Fatalf("%s: %v", q.Expr, err)
	}
	for i := range r.Len() {
		for _, p := range r.Samples(i) {
			rows = append(rows, fmt.Sprint(r.Labels(i), p.V))
		}
	}
	slices.Sort(rows)
	return rows
}
