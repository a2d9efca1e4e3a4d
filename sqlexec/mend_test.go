package sqlexec

import (
	"strings"
	"testing"

	"varve/engine/status"
	"varve/sqlexec/parse"
)

// TestErrorsThatMendThemselves holds that an error names what is wrong and what to do.
func TestErrorsThatMendThemselves(t *testing.T) {
	x := New(openStore(t), Options{Workers: 1})
	outcomeOf(t, x, "CREATE TABLE t (ts TIMESTAMP TIME INDEX, v INT) WITH ('append_mode' = 'true')")
	for _, c := range []struct {
		sql, text string
		code      status.Code
	}{
		{"ALTER TABLE t ADD COLUMN w TIMESTAMP TIME INDEX", "column w: a table has one time index, of table t it is ts", status.InvalidArguments},
		{"DELETE FROM t", "ALTER TABLE t SET 'ttl' = '30d', or all together, TRUNCATE TABLE t", status.InvalidArguments},
		{"SELECT now() - 1hh", "1hh is not a number at line 1", status.InvalidSyntax},
		{"SELECT (SELECT count(t.v)) FROM t", "count(t.v) is an aggregate of the outer query, because it names columns of that query alone", status.PlanQuery},
		{"SELECT (SELECT max(a.v + 1) FROM t AS b WHERE b.ts = a.ts) FROM t AS a", "max(a.v + 1) is an aggregate of the outer query", status.PlanQuery},
		{"SELECT (SELECT (SELECT count(a.v) FROM t AS b) FROM t AS c) FROM t AS a", "count(a.v) is an aggregate of the outer query", status.PlanQuery},
		{"SELECT 1 FROM t AS a WHERE EXISTS (SELECT 1 FROM t AS b HAVING sum(a.v) > 1)", "sum(a.v) is an aggregate of the outer query", status.PlanQuery},
		{"SELECT x.n FROM t AS a, LATERAL (SELECT count(a.v) AS n FROM t AS b) AS x", "count(a.v) is an aggregate of the outer query", status.PlanQuery},
		{"SELECT 12abc", "12abc is not a number at line 1", status.InvalidSyntax},
	} {
		refused(t, x, c.sql, c.text, c.code)
	}
}

// TestSpansOfTimeWithoutQuotes holds that a number with a unit at once is a span of time wherever one may stand, and an option's value.
func TestSpansOfTimeWithoutQuotes(t *testing.T) {
	x := New(openStore(t), Options{Workers: 1})
	for _, c := range [][2]string{
		{"SELECT '2024-03-02'::TIMESTAMP - 1day AS a", "SELECT '2024-03-02'::TIMESTAMP - INTERVAL '1 day' AS a"},
		{"SELECT '2024-03-02'::TIMESTAMP + 1h30m AS a, - 2Hours AS b, 1.5day AS c", "SELECT '2024-03-02'::TIMESTAMP + INTERVAL '1h30m' AS a, - INTERVAL '2 hours' AS b, INTERVAL '1.5 day' AS c"},
		{"SELECT INTERVAL 1day AS a, INTERVAL -1day AS b, (3days)*2 AS c", "SELECT INTERVAL '1day' AS a, INTERVAL '-1day' AS b, INTERVAL '3 days' * 2 AS c"},
		{"SELECT date_bin(5m, '2024-03-02 00:07:00'::TIMESTAMP) AS a", "SELECT date_bin('5m', '2024-03-02 00:07:00'::TIMESTAMP) AS a"},
		{"SELECT count(*) OVER (ORDER BY v RANGE 1d PRECEDING) AS a FROM (VALUES ('2024-03-02'::TIMESTAMP), ('2024-03-01'::TIMESTAMP)) AS g (v)",
			"SELECT count(*) OVER (ORDER BY v RANGE INTERVAL '1d' PRECEDING) AS a FROM (VALUES ('2024-03-02'::TIMESTAMP), ('2024-03-01'::TIMESTAMP)) AS g (v)"},
	} {
		if got, want := outcomeOf(t, x, c[0]), outcomeOf(t, x, c[1]); got != want {
			t.Errorf("%s is\n%s, not\n%s", c[0], got, want)
		}
	}
	for _, sql := range []string{"CREATE TABLE t (ts TIMESTAMP TIME INDEX) WITH (ttl = 1day)", "ALTER TABLE t SET ttl = 1day", "ALTER TABLE t SET 'ttl' = 24h",
		"ALTER DATABASE public SET ttl = 1d", "CREATE DATABASE d WITH (ttl = 23h60m)"} {
		outcomeOf(t, x, sql)
		shown := "SHOW CREATE TABLE t"
		if strings.Contains(sql, "DATABASE") {
			shown = "SHOW CREATE DATABASE " + strings.Fields(sql)[2]
		}
		if got := outcomeOf(t, x, shown); !strings.Contains(got, "ttl") || !strings.Contains(got, "'1day'") {
			t.Errorf("after %s:\n%s", sql, got)
		}
	}
}

// TestAdminBySelect holds that a SELECT of one function of ADMIN alone is that ADMIN, its column named as a SELECT names it.
func TestAdminBySelect(t *testing.T) {
	x := New(openStore(t), Options{Workers: 1})
	outcomeOf(t, x, "CREATE TABLE t (ts TIMESTAMP TIME INDEX); INSERT INTO t VALUES (1)")
	for _, name := range []string{"flush_table", "compact_table", "build_index"} {
		call := name + "('t')"
		if got, want := outcomeOf(t, x, "select "+call), outcomeOf(t, x, `SELECT 0 AS "`+call+`"`); got != want {
			t.Errorf("%s is\n%s, not\n%s", call, got, want)
		}
	}
	if got := outcomeOf(t, x, "SELECT flush_table('t') AS done"); !strings.Contains(got, "done") {
		t.Errorf("with an alias:\n%s", got)
	}
	refused(t, x, "SELECT flush_table('nope')", "Table not found: service.public.nope", status.TableNotFound)
	refused(t, x, "SELECT 1, flush_table('t')", "flush_table", status.PlanQuery)
	for _, sql := range []string{"SELECT flush_table('t')", "SELECT flush_table('t') AS done"} {
		list, err := parse.Parse(sql)
		if err != nil {
			t.Fatal(err)
		}
		if _, ok := list[0].(*parse.Admin); !ok {
			t.Errorf("%s is a %T", sql, list[0])
		}
	}
}
