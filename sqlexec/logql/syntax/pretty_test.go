package syntax

import (
	"math/rand/v2"
	"strings"
	"testing"
)

// TestPretty holds the form of long queries; short ones stay in one line.
func TestPretty(t *testing.T) {
	long := strings.Repeat("x", 60)
	for _, c := range []struct{ in, want string }{
		{`sum by (app) (rate({app="a"} |= "x" [1m]))`, `sum by (app)(rate({app="a"} |= "x"[1m]))`},
		{`{app="` + long + `", b="c"} |= "error" | json | status >= 500`, strings.Join([]string{
			`{app="` + long + `", b="c"}`, `  |= "error"`, `  | json`, `  | status>=500`}, "\n")},
		{`topk(3, sum by (a) (quantile_over_time(0.9, {app="` + long +
			`"} | json | unwrap took [5m] offset 1m) by (a))) > 5`,
			strings.Join([]string{`  topk(`, `    3,`, `    sum by (a)(`, `      quantile_over_time(`,
				`        0.9,`, `        {app="` + long + `"}`, `          | json`,
				`          | unwrap took [5m] offset 1m`, `      ) by (a)`, `    )`, `  )`, `>`, `  5`}, "\n")},
		{`max_over_time({app="` + long + `"} != "some text" or "other" | json | unwrap took | __error__="" [1h] ` +
			`offset -90s)`,
			strings.Join([]string{`max_over_time(`, `  {app="` + long + `"}`, `    != "some text"`, `    != "other"`,
				`    | json`, `    | unwrap took`, `    | __error__="" [1h] offset -1m30s`, `)`}, "\n")},
		// Operands have parentheses where the operators would group otherwise.
		{`(rate({a="` + long + `"}[1m]) - rate({b="` + long + `"}[1m])) * on (c, d) group_left (e) rate({f="g"}[1m])`,
			strings.Join([]string{`  (`, `      rate({a="` + long + `"}[1m])`, `    -`, `      rate({b="` + long +
				`"}[1m])`, `  )`, `* on (c, d) group_left (e)`, `  rate({f="g"}[1m])`}, "\n")},
		{`rate({a="` + long + `"}[1m]) - rate({b="` + long + `"}[1m]) * 2`,
			strings.Join([]string{`  rate({a="` + long + `"}[1m])`, `-`, `  (rate({b="` + long +
				`"}[1m]) * 2)`}, "\n")},
		{`label_replace(rate({app="` + long + `"} |= "some text" [5m]), "dst", "$1", "src", "(.*)")`,
			strings.Join([]string{`label_replace(`,
				`  rate({app="` + long + `"} |= "some text"[5m]),`, `  "dst",`, `  "$1",`, `  "src",`, `  "(.*)"`,
				`)`}, "\n")},
	} {
		q, err := Parse(c.in)
		if err != nil {
			t.Fatal(err)
		}
		if got := Pretty(q); got != c.want {
			t.Errorf("%s:\n got %s\nwant %s", c.in, got, c.want)
		}
		checkRoundTrip(t, q)
	}
}

// TestPrettyOperators holds that random chains of operators are read again as they were.
func TestPrettyOperators(t *testing.T) {
	r := rand.New(rand.NewPCG(3, 3))
	ops := []string{"or", "and", "unless", "==", "> bool", "+", "-", "*", "/", "%", "^", "^ on (a)",
		"* ignoring () group_left"}
	var random func(depth int) string
	random = func(depth int) string {
		if depth == 0 || r.IntN(5) == 0 {
			return `rate({app="` + strings.Repeat("x", 1+r.IntN(60)) + `"}[1m])`
		}
		text := random(depth-1) + " " + ops[r.IntN(len(ops))] + " " + random(depth-1)
		if r.IntN(2) == 0 {
			text = "(" + text + ")"
		}
		return text
	}
	for range 500 {
		text := random(1 + r.IntN(4))
		q, err := Parse(text)
		if err != nil {
			t.Fatalf("%s: %v", text, err)
		}
		checkRoundTrip(t, q)
	}
}
