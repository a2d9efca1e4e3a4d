package promql_test

import (
	"context"
	"fmt"
	"testing"

	"varve/engine/schema"
	"varve/sqlexec/promql"
)

// BenchmarkSmallQueries: queries of few series, in memory and in a part, which cost what every query does.
func BenchmarkSmallQueries(b *testing.B) {
	store := newMemory()
	for host := range 200 {
		for _, metric := range []string{"load1", "load5", "up"} {
			var samples []memorySample
			for k := range 40 {
				samples = append(samples, memorySample{T: int64(k) * 15_000, V: float64(k * host % 17)})
			}
			store.Add(promql.NewLabels("__name__", metric, "instance", fmt.Sprintf("host-%03d:9100", host), "job",
				[]string{"node", "app"}[host%2], "region", fmt.Sprint("r", host%5), "zone", fmt.Sprint("z", host%7),
				"version", "1.2.3"), samples...)
		}
	}
	e := openEngine(b)
	fill(b, e, store)
	ctx, service := context.Background(), promql.NewService(promql.Limits{})
	for _, state := range []string{"memory", "part"} {
		if state == "part" {
			if err := e.Flush(ctx, schema.Name{DB: "public", Table: physical}); err != nil {
				b.Fatal(err)
			}
		}
		for _, expr := range []string{`load1{instance="host-042:9100"}`, `count by (job) (up)`,
			`sum by (job) (rate(load1{instance="host-042:9100"}[5m]))`} {
			b.Run(fmt.Sprintf("%s/%s", state, expr), func(b *testing.B) {
				b.ReportAllocs()
				for b.Loop() {
					q := promql.Query{Expr: expr, Start: 580_000, End: 580_000}
					rows := 0
					err := service.Evaluate(ctx, q, &promql.Tables{Engine: e, DB: "public"},
						func(r *promql.Result) error {
							rows = r.Len()
							return nil
						})
					if err != nil || rows == 0 {
						b.Fatal(rows, err)
					}
				}
			})
		}
	}
}
