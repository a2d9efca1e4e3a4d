package promql

import (
	"fmt"
	"maps"
	"math/rand/v2"
	"strings"
	"testing"

	"github.com/prometheus/prometheus/promql/parser"
)

// randomQuery is a query in which parts are often alike.
func randomQuery(r *rand.Rand, depth int) string {
	if depth == 0 || r.IntN(5) == 0 {
		return []string{`a{x="1"}`, `a{x="2"}`, "b", "b offset 5m", "b @ 100", "rate(b[5m])", "rate(b[6m])",
			"count(a)", "histogram_count(b)", "histogram_quantile(0.9, b)", "absent(b)", "vector(1)", "vector(time())",
			`label_replace(b, "y", "$1", "x", "(.*)")`}[r.IntN(14)]
	}
	part := func() string { return randomQuery(r, depth-1) }
	switch r.IntN(10) {
	case 0:
		return "sum by (x) (" + part() + ")"
	case 1:
		return "sum without (x) (" + part() + ")"
	case 2:
		return "(" + part() + ")"
	case 3:
		return "-(" + part() + ")"
	case 4:
		return "(" + part() + ") + on (x) group_left (y) (" + part() + ")"
	case 5:
		return fmt.Sprintf("clamp(%s, %d, 2)", part(), r.IntN(2))
	case 6:
		return fmt.Sprintf("topk(%d, %s)", 1+r.IntN(2), part())
	case 7:
		return fmt.Sprintf("max_over_time((%s)[10m:%dm])", part(), 1+r.IntN(2))
	}
	return "(" + part() + ") + (" + part() + ")"
}

// TestShareSubtrees: the parts that are shared are those whose texts, and whose ways to read samples, occur twice.
func TestShareSubtrees(t *testing.T) {
	r := rand.New(rand.NewPCG(21, 22))
	some := 0
	for range 3000 {
		q := Query{Expr: randomQuery(r, 4), Start: 1000, End: 2000, Step: 100}
		x, err := q.check()
		if err != nil {
			t.Fatalf("%s: %v", q.Expr, err)
		}
		if x, _, err = prepare(x, &q); err != nil {
			t.Fatalf("%s: %v", q.Expr, err)
		}
		e := &evaluator{counts: countsOnly(x), presence: presenceOnly(x)}
		e.shareSubtrees(x)
		want := sharedByText(e, x)
		if !maps.EqualFunc(want, e.shared, func(string, int32) bool { return true }) {
			t.Fatalf("%s: %d parts are shared, want %d: %v", q.Expr, len(e.shared), len(want), want)
		}
		numbers := map[string]int32{}
		for n, text := range want {
			if number, seen := numbers[text]; seen && number != e.shared[n] {
				t.Fatalf("%s: %s has the numbers %d and %d", q.Expr, text, number, e.shared[n])
			}
			numbers[text] = e.shared[n]
		}
		if distinct := map[int32]bool{}; len(numbers) > 0 {
			some++
			for _, number := range numbers {
				distinct[number] = true
			}
			if len(distinct) != len(numbers) {
				t.Fatalf("%s: %d numbers of %d texts", q.Expr, len(distinct), len(numbers))
			}
		}
	}
	if some < 300 {
		t.Errorf("only %d queries have common parts", some)
	}
}

// sharedByText finds common parts by their whole texts.
func sharedByText(e *evaluator, x parser.Expr) map[parser.Expr]string {
	texts, count := map[parser.Expr]string{}, map[string]int{}
	parser.Inspect(x, func(n parser.Node, path []parser.Node) error {
		if len(path) > 0 {
			if _, inRange := path[len(path)-1].(*parser.MatrixSelector); inRange {
				return nil
			}
		}
		switch n := n.(type) {
		case *parser.VectorSelector, *parser.Call, *parser.AggregateExpr, *parser.BinaryExpr:
			text := n.String()
			parser.Inspect(n, func(n parser.Node, _ []parser.Node) error {
				if vs, ok := n.(*parser.VectorSelector); ok {
					text += fmt.Sprint(" ", e.counts[vs], e.presence[vs])
				}
				return nil
			})
			texts[n.(parser.Expr)] = text
			count[text]++
		}
		return nil
	})
	maps.DeleteFunc(texts, func(_ parser.Expr, text string) bool { return count[text] < 2 })
	return texts
}

// TestShareOfLongQuery: common parts are found in queries as long as are taken.
func TestShareOfLongQuery(t *testing.T) {
	const parts = 2400
	q := Query{Expr: strings.Repeat("sum(rate(b[5m])) + ", parts) + "1", Start: 1000, End: 2000, Step: 100}
	x, err := q.check()
	if err != nil {
		t.Fatal(err)
	}
	e := &evaluator{}
	if e.shareSubtrees(x); len(e.shared) != 2*parts {
		t.Errorf("%d parts are shared, want %d", len(e.shared), 2*parts)
	}
}
