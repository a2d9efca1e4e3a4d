package promql

import (
	"errors"
	"fmt"
	"strings"
	"testing"

	"varve/engine/status"
)

// TestPlan: a plan has a line for each node, with what it is and how it is evaluated.
func TestPlan(t *testing.T) {
	for _, c := range []struct{ expr, want string }{
		{`sum by (job) (rate(x{host=~"a.*"}[5m]))`, `
aggregate sum by (job): adds series as they are read
  function rate
    windows of 5m
      series {host=~"a.*", __name__="x"}: reads the labels (job)`},
		{`count(x offset 90s) + 2`, `
operator +
  aggregate count: adds series as they are read
    series {__name__="x"} offset 1m30s without values: reads no labels
  number 2`},
		{`sum(x) / (sum(x) + sum without (a) (y @ 3))`, `
operator /
  aggregate sum: once for all of class 1, adds series as they are read
    series {__name__="x"}: reads no labels
  operator +
    aggregate sum: once for all of class 1, adds series as they are read
      series {__name__="x"}: reads no labels
    aggregate sum without (a): adds series as they are read, once for all steps
      series {__name__="y"} @ 3.000: once for all steps`},
		{`max_over_time((a > bool on ("l.1") group_left (m) b)[1h:1m] offset -1d)`, `
function max_over_time
  windows of 1h over steps of 1m offset -1d
    operator > bool on ("l.1") group_left (m)
      series {__name__="a"}
      series {__name__="b"}`},
		{`rate(x[step()])`, `
function rate
  windows of 15s
    series {__name__="x"}`},
		{`-histogram_count(h @ end())`, `
negation: once for all steps
  function histogram_count: once for all steps
    series {__name__="h"} @ 120.000 without buckets: once for all steps`},
		{`label_replace(x, "a", "$1", "b", "\"")`, `
function label_replace
  series {__name__="x"}
  text "a"
  text "$1"
  text "b"
  text "\""`},
	} {
		q := Query{Expr: c.expr, Start: 60_000, End: 120_000, Step: 15_000}
		p, err := q.Compile()
		if err != nil {
			t.Errorf("%s: %v", c.expr, err)
		} else if got := "\n" + strings.Join(p.Lines(), "\n"); got != c.want {
			t.Errorf("%s:%s\nwant%s", c.expr, got, c.want)
		}
	}
}

// TestCompileErrors: what a plan cannot be made of.
func TestCompileErrors(t *testing.T) {
	for _, c := range []struct {
		q    Query
		code status.Code
	}{
		{Query{Expr: "x{", Start: 1, End: 1}, status.InvalidSyntax},
		{Query{Expr: "x[5m]", Start: 1, End: 2, Step: 1}, status.InvalidArguments},
		{Query{Expr: "x", Start: 2, End: 1, Step: 1}, status.InvalidArguments},
		{Query{Expr: "rate(x[0s-1s])", Start: 1, End: 1}, status.InvalidArguments},
		{Query{Expr: "rate(x[range()])", Start: 1, End: 1}, status.InvalidArguments},
	} {
		if p, err := c.q.Compile(); p != nil || status.Of(err) != c.code {
			t.Errorf("%s: %v, %v, want the code %d", c.q.Expr, p, err, c.code)
		}
	}
}

// TestPlans: equal texts have one plan, but for those whose numbers come from the times of the query. What is kept is
// bounded.
func TestPlans(t *testing.T) {
	var c plans
	of := func(expr string, end int64) *Plan {
		t.Helper()
		p, err := c.of(&Query{Expr: expr, Start: 0, End: end, Step: 1000})
		if err != nil {
			t.Fatalf("%s: %v", expr, err)
		}
		return p
	}
	if of("rate(x[5m])", 5000) != of("rate(x[5m])", 9000) {
		t.Error("a plan is made twice")
	}
	for _, expr := range []string{"x @ end()", "x offset step()", "range()", "rate(x[max_of(range(), 1m)])"} {
		if of(expr, 5000) == of(expr, 9000) {
			t.Errorf("%s has one plan for different times", expr)
		}
	}
	if _, err := c.of(&Query{Expr: "x{", Step: 1}); status.Of(err) != status.InvalidSyntax {
		t.Errorf("a query that cannot be read: %v", err)
	}
	first := of("first", 5000)
	for i := range 5000 {
		of(fmt.Sprintf(`x{a="%d",b="%s"}`, i, strings.Repeat("b", i%50)), 5000)
		if i%100 == 0 && of("first", 5000) != first {
			t.Fatal("a plan that is asked for again is dropped")
		}
	}
	kept := 0
	for _, generation := range []map[string]*Plan{c.young, c.old} {
		for _, p := range generation {
			kept += p.bytes()
		}
	}
	if kept > 2*plansBytes || kept < plansBytes/2 {
		t.Errorf("%d bytes of plans are kept, want at most %d", kept, 2*plansBytes)
	}
	long := `x{a="` + strings.Repeat("a", planBytes) + `"}`
	if p := of(long, 5000); p == of(long, 5000) {
		t.Error("a large plan is kept")
	}
	var over *status.Error
	if _, err := c.of(&Query{Expr: "x", Start: 0, End: 12_000_000, Step: 1000}); !errors.As(err, &over) {
		t.Errorf("too many steps: %v", err)
	}
}
