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
		{"ALTER TABLE t ADD COLUMN w TIMESTAMP TIME INDEX", "column w cannot be a time index: table t already has the time index ts",
			status.InvalidArguments},
		{"DELETE FROM t", "ALTER TABLE t SET 'ttl' = '30d', or all together, TRUNCATE TABLE t",
			status.InvalidArguments},
		{"SELECT now() - 1hh", "1hh is not a number at line 1", status.InvalidSyntax},
		{"SELECT 1 FROM t AS a WHERE EXISTS (SELECT 1 FROM t AS b HAVING sum(a.v) > 1)",
			"sum(a.v) is an aggregate of the outer query, because it names columns of that query alone",
			status.PlanQuery},
		{"SELECT x.n FROM t AS a, LATERAL (SELECT count(a.v) AS n FROM t AS b) AS x",
			"count(a.v) is an aggregate of the outer query", status.PlanQuery},
		{"SELECT count(*) FROM t AS a GROUP BY (SELECT max(a.v))", "max(a.v) is an aggregate of the outer query",
			status.PlanQuery},
		{"SELECT 1 FROM t AS a JOIN t AS b ON (SELECT max(a.v)) > 1", "max(a.v) is an aggregate of the outer query",
			status.PlanQuery},
		{"ADMIN COLUMNS('x')", "ADMIN needs one of its functions at line 1, column 7", status.InvalidSyntax},
		{"SELECT 12abc", "12abc is not a number at line 1", status.InvalidSyntax},
	} {
		refused(t, x, c.sql, c.text, c.code)
	}
}

// TestSpansOfTimeWithoutQuotes holds that a number with a unit at once is a span of time wherever one may stand, and
// an option's value.
func TestSpansOfTimeWithoutQuotes(t *testing.T) {
	x := New(openStore(t), Options{Workers: 1})
	for _, c := range [][2]string{
		{"SELECT '2024-03-02'::TIMESTAMP - 1day AS a", "SELECT '2024-03-02'::TIMESTAMP - INTERVAL '1 day' AS a"},
		{"SELECT '2024-03-02'::TIMESTAMP + 1h30m AS a, - 2Hours AS b, 1.5day AS c",
			"SELECT '2024-03-02'::TIMESTAMP + INTERVAL '1h30m' AS a, - INTERVAL '2 hours' AS b, INTERVAL '1.5 day' AS c"},
		{"SELECT INTERVAL 1day AS a, INTERVAL -1day AS b, (3days)*2 AS c",
			"SELECT INTERVAL '1day' AS a, INTERVAL '-1day' AS b, INTERVAL '3 days' * 2 AS c"},
		{"SELECT date_bin(5m, '2024-03-02 00:07:00'::TIMESTAMP) AS a",
			"SELECT date_bin('5m', '2024-03-02 00:07:00'::TIMESTAMP) AS a"},
		{"SELECT count(*) OVER (ORDER BY v RANGE 1d PRECEDING) AS a FROM (VALUES ('2024-03-02'::TIMESTAMP), ('2024-03-01'::TIMESTAMP)) AS g (v)",
			"SELECT count(*) OVER (ORDER BY v RANGE INTERVAL '1d' PRECEDING) AS a FROM (VALUES ('2024-03-02'::TIMESTAMP), ('2024-03-01'::TIMESTAMP)) AS g (v)"},
	} {
		if got, want := outcomeOf(t, x, c[0]), outcomeOf(t, x, c[1]); got != want {
			t.Errorf("%s is\n%s, not\n%s", c[0], got, want)
		}
	}
	for _, sql := range []string{"CREATE TABLE t (ts TIMESTAMP TIME INDEX) WITH (ttl = 1day)",
		"ALTER TABLE t SET ttl = 1day", "ALTER TABLE t SET 'ttl' = 24h",
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

// TestAdminBySelect holds that a SELECT of one function of ADMIN alone is that ADMIN, its column named as a SELECT
// names it.
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

// TestNumbersOfAnotherUnit holds that a number beside a time which is of our days in another unit is warned of, and
// no other.
func TestNumbersOfAnotherUnit(t *testing.T) {
	x := New(openStore(t), Options{Workers: 1})
	outcomeOf(t, x,
		`CREATE TABLE s (ts TIMESTAMP(0) TIME INDEX); CREATE TABLE ms (k INT, ts TIMESTAMP(3) TIME INDEX, PRIMARY KEY (k));
		CREATE TABLE us (ts TIMESTAMP(6) TIME INDEX); CREATE TABLE ns (ts TIMESTAMP(9) TIME INDEX)`)
	const seconds = "ts is in milliseconds, of which 1795433600 is 1970-01-21T18:43:53.600. Is the number in seconds? Then write '2026-11-23T11:33:20'"
	for _, c := range []struct{ sql, want string }{
		{"SELECT count(*) FROM ms WHERE ts > 1795433600", seconds},
		{"SELECT count(*) FROM ms WHERE 1795433600 < ts AND 1795433600 < ts", seconds},
		{"SELECT count(*) FROM ms WHERE ts BETWEEN 1795433600 AND 1795433600000", seconds},
		{"SELECT count(*) FROM ms WHERE ts IN (1795433600000, 1795433600)", seconds},
		{"SELECT count(*) FROM (SELECT * FROM ms WHERE k = 1) AS g WHERE ts = 1795433600", seconds},
		{"DELETE FROM ms WHERE ts < 1795433600000000000",
			"Is the number in nanoseconds? Then write '2026-11-23T11:33:20'"},
		{"SELECT count(*) FROM s WHERE ts > 1795433600000", "s is in seconds"},
		{"SELECT count(*) FROM us WHERE ts > 1795433600000", "Is the number in milliseconds?"},
		{"SELECT count(*) FROM ns WHERE ts > 1795433600", "Is the number in seconds?"},
		{"SELECT count(*) FROM ms WHERE ts > 1795433600000", ""},
		{"SELECT count(*) FROM ms WHERE ts > 0 AND ts <> -1 AND ts < 9223372036854775807 AND ts > 100000", ""},
		{"SELECT count(*) FROM s WHERE ts > 1795433600", ""},
		{"SELECT count(*) FROM ms WHERE k < 1795433600", ""},
	} {
		list, err := parse.Parse(c.sql)
		if err != nil {
			t.Fatal(err)
		}
		r, err := x.Execute(t.Context(), &Session{}, list[0])
		if err != nil {
			t.Fatalf("%s: %v", c.sql, err)
		}
		if r.Rows != nil {
			r.Rows.Close()
		}
		if want := min(len(c.want), 1); len(r.Warnings) != want ||
			want == 1 && !strings.Contains(r.Warnings[0], strings.TrimPrefix(c.want, "s ")) {
			t.Errorf("%s: warnings %q, want %q", c.sql, r.Warnings, c.want)
		}
	}
	if got := outcomeOf(t, x, "EXPLAIN SELECT count(*) FROM ms WHERE ts > 1795433600"); !strings.Contains(got,
		seconds) {
		t.Errorf("EXPLAIN:\n%s", got)
	}
}

// TestStepOfTQLIsASpan holds that the step of TQL may be an interval of fixed length.
func TestStepOfTQLIsASpan(t *testing.T) {
	x := New(openStore(t), Options{Workers: 1})
	want := outcomeOf(t, x, "TQL EVAL (0, 300, '1m30s', '5m') vector(1)")
	for _, step := range []string{"1m30s", "INTERVAL '90 seconds'"} {
		if got := outcomeOf(t, x, "TQL EVAL (0, 300, "+step+", 5min) vector(1)"); got != want {
			t.Errorf("step %s:\n%s, want\n%s", step, got, want)
		}
	}
	for _, step := range []string{"1month", "200000days", "-1m", "0s", "NULL::INTERVAL"} {
		refused(t, x, "TQL EVAL (0, 300, "+step+") vector(1)", "", status.InvalidArguments, status.InvalidSyntax,
			status.PlanQuery)
	}
}
