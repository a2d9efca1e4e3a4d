package workload

import (
	"strings"
	"testing"

	"varve/bench/gen"
)

func accessSet(t *testing.T, rows int64) *gen.Set {
	t.Helper()
	s, err := gen.New("access", gen.Options{Rows: rows, Seed: 1})
	if err != nil {
		t.Fatal(err)
	}
	return s
}

func TestQueriesAreFilled(t *testing.T) {
	for name, wantTen := range map[string]int{"access": 10, "nested": 7, "text": 3, "traces": 6} {
		set, err := gen.New(name, gen.Options{Rows: 1000, Seed: 1})
		if err != nil {
			t.Fatal(err)
		}
		q, err := For(set, "public", "logs", "dashboard")
		if err != nil || len(q) != wantTen {
			t.Errorf("%s: %d dashboard queries, %v; want %d", name, len(q), err, wantTen)
		}
		for _, q := range q {
			if asked := q.SQL + q.Path; strings.Contains(asked, "$") ||
				!strings.Contains(asked, "logs") && q.Path == "" {
				t.Errorf("%s: %s", q.Name, q.SQL)
			}
		}
	}
	needle, err := For(accessSet(t, 1000), "public", "logs", "one trace id")
	if want := "SELECT * FROM logs WHERE trace_id = '" + traceID(accessSet(t, 1000)) + "'"; err != nil ||
		len(needle) != 1 || needle[0].SQL != want {
		t.Errorf("got %v, %v; want %s", needle, err, want)
	}
	if id := traceID(accessSet(t, 1000)); len(id) != 32 {
		t.Errorf("trace id %q", id)
	}
	if word := sessionOf(accessSet(t, 1000)); len(word) < 8 || strings.Contains(word, " ") {
		t.Errorf("session %q", word)
	}
	if _, err := For(accessSet(t, 10), "public", "logs", "no such query"); err == nil {
		t.Error("an unknown choice is taken")
	}
}
