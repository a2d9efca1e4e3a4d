package sqlexec

import (
	"strings"
	"testing"
)

// TestAsofPushdown holds which conditions on the left side of an ASOF JOIN bound the right side's scan too: those on
// keys, and those that no partner's time can miss.
func TestAsofPushdown(t *testing.T) {
	x := New(openStore(t), Options{Workers: 2})
	s := &Session{}
	script(t, x, s,
		`CREATE TABLE l (k STRING, v DOUBLE, ts TIMESTAMP TIME INDEX, PRIMARY KEY (k)); CREATE TABLE r (k STRING, w DOUBLE, ts TIMESTAMP TIME INDEX, PRIMARY KEY (k))`)
	for _, c := range []struct{ op, where, want string }{
		{">=", "l.k = 'a'", `public.r columns=[k, w, ts] filter=[k = Utf8("a")]`},
		{">=", "l.k IN ('a', 'b')", "public.r columns=[k, w, ts] filter=[k IN (2 values)]"},
		{">=", "l.ts < '2024-01-01'", "public.r columns=[k, w, ts] time=(-inf, 2024-01-01T00:00:00)"},
		{">=", "l.ts > '2024-01-01'", "public.r columns=[k, w, ts]"},
		{"<", "l.ts > '2024-01-01'", "public.r columns=[k, w, ts] time=[2024-01-01T00:00:00.001, inf)"},
		{"<", "l.ts < '2024-01-01'", "public.r columns=[k, w, ts]"},
		{">=", "l.ts <> '2024-01-01'", "public.r columns=[k, w, ts]"},
		{">=", "r.w > 1", "public.r columns=[k, w, ts]"},
		{">=", "l.v > 1", "public.r columns=[k, w, ts]"},
	} {
		plan := physicalPlan(t, x, s,
			"SELECT l.v, r.w FROM l ASOF LEFT JOIN r ON l.k = r.k AND l.ts "+c.op+" r.ts WHERE "+c.where)
		if !strings.Contains(plan+"\n", c.want+"\n") {
			t.Errorf("%s, %s: got\n%s\nwant %s at the end of a line", c.op, c.where, plan, c.want)
		}
	}
}
