package promql_test

import (
	"context"
	"fmt"
	"math/rand/v2"
	"strings"
	"testing"

	"varve/engine/status"
	"varve/sqlexec/promql"
)

// TestOperatorsOfAllKinds: each operator between operands of all kinds is an answer or an error of the client.
func TestOperatorsOfAllKinds(t *testing.T) {
	store := randomStore(rand.New(rand.NewPCG(5, 6)))
	operands := []string{"1", "NaN", "time()", "-(1)", "vector(2)", "load", "size", "mixed", "none", "scalar(load)",
		"load[5m]", "load[5m:1m]", `"text"`, "sum(size)", "(1 + 2)"}
	operators := strings.Fields("+ - * / % ^ == != > < >= <= </ >/ atan2 and or unless =~ ! =")
	modifiers := []string{"", "bool", "on()", "ignoring(host)", "on(host) group_left", "group_right()", "on() fill(0)",
		"bool on(host) group_left(zone) fill_left(1)"}
	for _, op := range operators {
		for _, modifier := range modifiers {
			for _, a := range operands {
				for _, b := range operands {
					mustBeTaken(t, store, fmt.Sprintf("%s %s %s %s", a, op, modifier, b))
				}
			}
		}
	}
	for query, part := range map[string]string{"1 </ 2": `"</"`, "time() >/ 3": `">/"`,
		"sum(load) + (1 >/ 2)": `">/"`} {
		q := promql.Query{Expr: query, Start: 30 * minute, End: 30 * minute}
		if _, err := q.Run(context.Background(), store); status.Of(err) != status.EngineExecuteQuery ||
			!strings.Contains(err.Error(), part+" is not allowed between two scalars") {
			t.Errorf("%s: %v", query, err)
		}
	}
}

// TestWordsInAnyOrder: expressions of words and operators in any order are answers or errors of the client.
func TestWordsInAnyOrder(t *testing.T) {
	r := rand.New(rand.NewPCG(7, 8))
	store := randomStore(r)
	words := strings.Fields(
		`+ - * / % ^ == != > < >= <= </ >/ atan2 and or unless bool on ignoring group_left group_right fill ( ) ( ) [5m] [5m:1m] [5m:] {host="h1"} offset @ start() end() 1 0 -1 Inf NaN 5m ` +
			`load size mixed requests_total "x" , sum by without topk quantile count_values rate( histogram_quantile( label_replace( absent( vector( scalar( time() anchored smoothed step() range() info( limit_ratio`)
	for range 30_000 {
		var b strings.Builder
		for range 2 + r.IntN(7) {
			b.WriteString(words[r.IntN(len(words))] + " ")
		}
		mustBeTaken(t, store, b.String())
	}
}

// mustBeTaken holds that an expression, at one time and at several, is an answer or an error with a code.
func mustBeTaken(t *testing.T, store promql.Storage, query string) {
	t.Helper()
	defer func() {
		if p := recover(); p != nil {
			t.Fatalf("%s: panic: %v", query, p)
		}
	}()
	for _, q := range []promql.Query{{Start: 30 * minute, End: 30 * minute},
		{Start: 30 * minute, End: 33 * minute, Step: minute}} {
		q.Expr, q.MaxSamples, q.Memory = query, 100_000, &budget{64 << 20}
		if _, err := q.Run(context.Background(), store); err != nil && err != errBudget &&
			(status.Of(err) == status.Internal || status.Of(err) == status.Unknown) {
			t.Fatalf("%s: %v", query, err)
		}
	}
}
