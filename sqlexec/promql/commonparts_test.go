package promql

import (
	"fmt"
	"maps"
	"math/rand/v2"
	"slices"
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

// TestShareCommon: the parts that are shared are those that are needed twice where equal ones are evaluated once.
// Equality is that of texts, and of ways to read samples.
func TestShareCommon(t *testing.T) {
	r := rand.New(rand.NewPCG(21, 22))
	some := 0
	for range 3000 {
		q := Query{Expr: randomQuery(r, 4), Start: 1000, End: 2000, Step: 100}
		p, err := q.Compile()
		if err != nil {
			t.Fatalf("%s: %v", q.Expr, err)
		}
		o := textOracle{t: t, query: q.Expr, uses: map[string]int{}, texts: map[node]string{}}
		o.visit(p.root)
		classes := map[string]int32{}
		for n, text := range o.texts {
			if want := o.uses[text] > 1; n.base().shared != want {
				t.Fatalf("%s: %s is shared: %v, want %v", q.Expr, text, n.base().shared, want)
			}
			if class, seen := classes[text]; seen && class != n.base().class {
				t.Fatalf("%s: %s is of the classes %d and %d", q.Expr, text, class, n.base().class)
			}
			classes[text] = n.base().class
		}
		if distinct := map[int32]bool{}; slices.ContainsFunc(slices.Collect(maps.Values(o.uses)),
			func(n int) bool { return n > 1 }) {
			some++
			for _, class := range classes {
				distinct[class] = true
			}
			if len(distinct) != len(classes) {
				t.Fatalf("%s: %d classes of %d texts", q.Expr, len(distinct), len(classes))
			}
		}
	}
	if some < 300 {
		t.Errorf("only %d queries have common parts", some)
	}
}

// textOracle counts how often the values of nodes are needed, by the whole texts of the nodes.
type textOracle struct {
	t     *testing.T
	query string
	uses  map[string]int
	texts map[node]string // of the nodes that it met
}

func (o *textOracle) visit(x node) {
	switch n := x.(type) {
	case *numberNode, *textNode, *rangeNode:
		return
	case *subqueryNode:
		o.visit(n.of)
		return
	}
	pos := x.base().pos
	parsed, err := Parse(o.query[pos.Start:pos.End])
	if err != nil {
		o.t.Fatalf("%s: %s: %v", o.query, o.query[pos.Start:pos.End], err)
	}
	text := canonical(parsed).String() + reads(x)
	o.texts[x] = text
	if o.uses[text]++; o.uses[text] > 1 {
		return
	}
	for _, part := range x.operands() {
		o.visit(part)
	}
}

// reads is how the selectors of a node read samples.
func reads(x node) (text string) {
	if n, ok := x.(*selectorNode); ok {
		text = fmt.Sprint(" ", n.counts, n.presence)
	}
	for _, part := range x.operands() {
		text += reads(part)
	}
	return text
}

// canonical has parentheses around the operands of operators, once, and nowhere else.
func canonical(x parser.Expr) parser.Expr {
	x = unwrap(x)
	switch n := x.(type) {
	case *parser.BinaryExpr:
		n.LHS, n.RHS = &parser.ParenExpr{Expr: canonical(n.LHS)}, &parser.ParenExpr{Expr: canonical(n.RHS)}
	case *parser.UnaryExpr:
		n.Expr = &parser.ParenExpr{Expr: canonical(n.Expr)}
	case *parser.SubqueryExpr:
		n.Expr = &parser.ParenExpr{Expr: canonical(n.Expr)}
	case *parser.AggregateExpr:
		n.Expr = canonical(n.Expr)
	case *parser.Call:
		for i := range n.Args {
			n.Args[i] = canonical(n.Args[i])
		}
	}
	return x
}

// TestShareOfLongQuery: common parts are found in queries as long as are taken.
func TestShareOfLongQuery(t *testing.T) {
	const parts = 2400
	q := Query{Expr: strings.Repeat("sum(rate(b[5m])) + ", parts) + "1", Start: 1000, End: 2000, Step: 100}
	p, err := q.Compile()
	if err != nil {
		t.Fatal(err)
	}
	shared := 0
	for _, line := range p.Lines() {
		if strings.Contains(line, "once for all of class") {
			shared++
		}
	}
	if shared != parts {
		t.Errorf("%d parts are shared, want %d", shared, parts)
	}
}
