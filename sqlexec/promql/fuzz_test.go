package promql_test

import (
	"context"
	"encoding/json"
	"math/rand/v2"
	"testing"
	"time"

	"varve/engine/status"
	"varve/sqlexec/promql"
)

// FuzzQuery: any text is an answer that reads as JSON, or an error with a code.
func FuzzQuery(f *testing.F) {
	r := rand.New(rand.NewPCG(21, 22))
	store := randomStore(r)
	for range 60 {
		f.Add(generator{Rand: r}.vector(3), r.IntN(2) == 0)
	}
	f.Fuzz(func(t *testing.T, expr string, ranged bool) {
		ctx, cancel := context.WithTimeout(context.Background(), time.Second)
		defer cancel()
		q := promql.Query{Expr: expr, Start: 30 * minute, End: 30 * minute, MaxSamples: 100_000,
			Memory: &budget{64 << 20}}
		if ranged {
			q.End, q.Step = 40*minute, 30_000
		}
		answer, err := q.Run(ctx, store)
		if err != nil {
			if code := status.Of(err); code == status.Internal && err != errBudget {
				t.Fatalf("%q: %v", expr, err)
			}
			return
		}
		if body := whole(t, answer, true); !json.Valid(body) {
			t.Fatalf("%q: %s", expr, body)
		}
		x, err := promql.Parse(expr)
		if err != nil {
			t.Fatal(err)
		}
		if tree, err := promql.AppendTree(nil, x); err == nil && !json.Valid(tree) {
			t.Fatalf("%q: %s", expr, tree)
		}
	})
}
