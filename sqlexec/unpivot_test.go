package sqlexec

import (
	"fmt"
	"strings"
	"testing"
)

// TestUnpivotWide: UNPIVOT of very many columns reads each value once: the plan neither joins the rows with a number
// for each column nor chooses each value among all columns.
func TestUnpivotWide(t *testing.T) {
	const columns, rows = 4095, 20
	x, s := New(openStore(t), Options{Workers: 1}), &Session{}
	names := make([]string, columns)
	for i := range names {
		names[i] = fmt.Sprintf("c%d BIGINT DEFAULT %d", i, i)
	}
	outcomeOf(t, x, "CREATE TABLE w (ts TIMESTAMP TIME INDEX, "+strings.Join(names, ", ")+
		") WITH (append_mode = 'true');")
	outcomeOf(t, x, fmt.Sprintf("INSERT INTO w (ts, c0) SELECT number::BIGINT, NULL FROM numbers LIMIT %d;", rows))
	const unpivot = "SELECT count(*), sum(value), count(DISTINCT name) FROM (UNPIVOT w ON COLUMNS('c.*'))"
	for _, state := range []string{"", "ADMIN flush_table('w');"} {
		if state != "" {
			outcomeOf(t, x, state)
		}
		want := fmt.Sprintf("%d | %d | %d", rows*(columns-1), rows*columns*(columns-1)/2, columns-1)
		if got := rowsOf(t, x, s, unpivot); got[0] != want {
			t.Errorf("after %q: %q, want %q", state, got, want)
		}
	}
	plan := strings.Join(rowsOf(t, x, s, "EXPLAIN "+unpivot), "\n")
	if strings.Contains(plan, "Join") || strings.Contains(plan, "CASE") || !strings.Contains(plan, "Unpivot") {
		t.Errorf("the plan is not one pass over the rows:\n%.500s", plan)
	}
}

// TestUnpivotConditions: conditions on what a row repeats, on the name and on the value choose the rows that they
// choose above it, and values that only floats have stay values.
func TestUnpivotConditions(t *testing.T) {
	x, s := New(openStore(t), Options{Workers: 1}), &Session{}
	outcomeOf(t, x,
		"CREATE TABLE u (h STRING PRIMARY KEY, a DOUBLE, b BIGINT, c DECIMAL(8, 2), ts TIMESTAMP TIME INDEX);")
	outcomeOf(t, x,
		"INSERT INTO u VALUES ('x', 'NaN'::DOUBLE, 1, 1.25, 1), ('y', NULL, 2, NULL, 2), ('z', 'inf'::DOUBLE, NULL, 3, 3);")
	for _, state := range []string{"", "ADMIN flush_table('u');",
		"INSERT INTO u VALUES ('z', 'inf'::DOUBLE, NULL, 3, 3);"} {
		if state != "" {
			outcomeOf(t, x, state)
		}
		for _, c := range []struct{ sql, want string }{
			{"SELECT * FROM (UNPIVOT (SELECT h, a, b FROM u) ON a, b)", "x | a | NaN;x | b | 1;y | b | 2;z | a | +Inf"},
			{"SELECT * FROM (UNPIVOT INCLUDE NULLS (SELECT h, a, b FROM u) ON a, b) WHERE h > 'x'",
				"y | a | ;y | b | 2;z | a | +Inf;z | b | "},
			{"SELECT h FROM (UNPIVOT u ON a, b, c) WHERE name = 'b' AND value > 1", "y"},
			{"SELECT value FROM (UNPIVOT (SELECT h, c FROM u) ON c) WHERE h = 'z'", "3.00"},
			{"SELECT name FROM (UNPIVOT u ON a, b * 2 AS d, c) WHERE h = 'y'", "d"},
			{"SELECT h, v, w FROM u UNPIVOT ((v, w) FOR n IN ((b, a), (c, c) AS 'k')) WHERE n = 'k'",
				"x | 1.25 | 1.25;z | 3.00 | 3"},
			{"SELECT count(*) FROM (UNPIVOT (SELECT * FROM u WHERE false) ON a, b)", "0"},
			{"SELECT o.h, e.name FROM u o, LATERAL (SELECT * FROM (UNPIVOT (SELECT o.b AS b, o.c AS c) ON b, c)) e WHERE o.ts < 3::TIMESTAMP", "x | b;x | c;y | b"},
		} {
			if got := strings.Join(rowsOf(t, x, s, c.sql), ";"); got != c.want {
				t.Errorf("after %q: %s\n got %s\nwant %s", state, c.sql, got, c.want)
			}
		}
	}
}
