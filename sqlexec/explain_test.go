package sqlexec

import (
	"context"
	"strings"
	"testing"

	"varve/engine/status"
)

// script runs statements that must succeed.
func script(t *testing.T, x *Executor, s *Session, sql string) {
	t.Helper()
	list, err := x.Parse(sql)
	if err != nil {
		t.Fatal(err)
	}
	for _, st := range list {
		r, err := x.Execute(context.Background(), s, st)
		if err != nil {
			t.Fatalf("%s: %v", st.Source(), err)
		}
		if _, err := read(r); err != nil {
			t.Fatalf("%s: %v", st.Source(), err)
		}
	}
}

// physicalPlan is the optimized plan of a query.
func physicalPlan(t *testing.T, x *Executor, s *Session, sql string) string {
	t.Helper()
	o, err := answer(x, s, "EXPLAIN "+sql, false)
	if err != nil || o.err != nil {
		t.Fatalf("%s: %v %v", sql, err, o.err)
	}
	return o.rows[1][1]
}

// TestPushdown holds what a scan decides itself: every spelling of a time range, and conditions on columns. Nothing is
// left over unless the case says so.
func TestPushdown(t *testing.T) {
	x := New(openStore(t), Options{Workers: 2})
	s := &Session{}
	script(t, x, s,
		`CREATE TABLE t (ts TIMESTAMP TIME INDEX, host STRING, s STRING, v DOUBLE, n INT, u BIGINT UNSIGNED, ok BOOLEAN, PRIMARY KEY (host)) WITH ('append_mode'='true')`)
	for _, c := range []struct{ where, want string }{
		{"ts >= 1700000000000", "time=[2023-11-14T22:13:20, inf)"},
		{"ts >= '2024-01-01T00:00:00Z' AND ts < '2024-01-02'", "time=[2024-01-01T00:00:00, 2024-01-02T00:00:00)"},
		{"ts BETWEEN '2024-01-01' AND '2024-01-02'", "time=[2024-01-01T00:00:00, 2024-01-02T00:00:00.001)"},
		{"ts > '2024-01-01'::TIMESTAMP(9)", "time=[2024-01-01T00:00:00.001, inf)"},
		{"'2024-01-01' <= ts", "time=[2024-01-01T00:00:00, inf)"},
		{"ts <= '2024-01-01 00:00:00.0005'", "time=(-inf, 2024-01-01T00:00:00.001)"},
		{"ts = '2024-01-01'", "time=[2024-01-01T00:00:00, 2024-01-01T00:00:00.001)"},
		{"ts > 2000 AND ts < 1000", "no rows"},
		{"host = 'a'", `filter=[host = Utf8("a")]`},
		{"host IN ('b', 'a', 'b')", "filter=[host IN (2 values)]"},
		{"host = 'a' OR host = 'b'", "filter=[host IN (2 values)]"},
		{"host NOT IN ('a', 'b')", "filter=[host NOT IN"},
		{"host NOT IN ('a')", "filter=[host <> "},
		{"host IN ('a')", "filter=[host = "},
		{"host IS NULL", "filter=[host IS NULL]"},
		{"s LIKE '%x%' AND s NOT LIKE 'y%'", `filter=[s LIKE Utf8("%x%") AND s NOT LIKE Utf8("y%")]`},
		{"s ~ 'a+'", `filter=[s ~ Utf8("a+")]`},
		{"s @@ 'timeout'", `filter=[s @@ Utf8("timeout")]`},
		{"matches_term(s, 'timeout')", `filter=[s @@ Utf8("timeout")]`},
		{"v > 1", "filter=[v > Float64(1.0)]"},
		{"n <> 3", "filter=[n <> Int32(3)]"},
		{"u = 18446744073709551615", "filter=[u = UInt64(18446744073709551615)]"},
		{"ok", "filter=[ok = Boolean(true)]"},
		{"NOT ok", "filter=[ok = Boolean(false)]"},
		{"1 = 0", "no rows"},
		{"NULL", "no rows"},
		{"upper(s) = 'X'", "residual=["},
	} {
		got := physicalPlan(t, x, s, "SELECT n FROM t WHERE "+c.where)
		if !strings.Contains(got, c.want) {
			t.Errorf("WHERE %s\n%s\nwants %s", c.where, got, c.want)
		}
		if !strings.Contains(c.want, "residual") && strings.Contains(got, "residual") ||
			strings.Contains(got, "Filter:") {
			t.Errorf("WHERE %s leaves something over:\n%s", c.where, got)
		}
	}
}

func TestColumnsAreCut(t *testing.T) {
	x := New(openStore(t), Options{Workers: 2})
	s := &Session{}
	script(t, x, s, `CREATE TABLE t (ts TIMESTAMP TIME INDEX, host STRING, v DOUBLE, n INT, PRIMARY KEY (host))`)
	for _, c := range []struct{ sql, want string }{
		{"SELECT v FROM t", "columns=[v]"},
		{"SELECT count(*) FROM t", "columns=[]"},
		{"SELECT host, count(*) FROM t WHERE n > 3 GROUP BY host", "columns=[host]"},
		{"SELECT x.v FROM (SELECT * FROM t) AS x ORDER BY x.n", "columns=[v, n]"},
		{"SELECT host FROM (SELECT host, max(v) AS m FROM t GROUP BY host) AS x WHERE host = 'a'",
			`filter=[host = Utf8("a")]`},
	} {
		if got := physicalPlan(t, x, s, c.sql); !strings.Contains(got, c.want) {
			t.Errorf("%s\n%s\nwants %s", c.sql, got, c.want)
		}
	}
}

// TestErrorTexts holds the texts that clients show.
func TestErrorTexts(t *testing.T) {
	x := New(openStore(t), Options{Workers: 2})
	s := &Session{}
	script(t, x, s, `CREATE TABLE t (ts TIMESTAMP TIME INDEX, host STRING, val DOUBLE, PRIMARY KEY (host))`)
	for _, c := range []struct {
		sql  string
		code status.Code
		want string
	}{
		{"SELECT 1 FROM nope", 4001, "Failed to plan SQL: Table not found: service.public.nope"},
		{"DROP TABLE nope", 4001, "Table not found: service.public.nope"},
		{"SELECT x FROM t", 3000, "Failed to plan SQL: No field named x. Valid fields are t.ts, t.host, t.val."},
		{"SELECT vall FROM t", 3000, "Did you mean 't.val'?"},
		{"SELECT nofunc(1)", 3000, "Failed to plan SQL: Invalid function 'nofunc'"},
		{"CREATE TABLE t (ts TIMESTAMP TIME INDEX)", 4000, "Table already exists: `service.public.t`"},
		{"CREATE DATABASE public", 1004, "Schema public already exists"},
		{"DROP DATABASE public", 1004, "Schema public is in use"},
		{"USE nowhere", 4004, "Database not found: nowhere"},
		{"CREATE TABLE a (b INT)", 2000, "Missing time index constraint"},
		{"CREATE TABLE a (ts TIMESTAMP TIME INDEX, x STRING PRIMARY KEY, y STRING PRIMARY KEY)", 1004,
			"Illegal primary keys definition"},
		{"CREATE TABLE \"a b\" (ts TIMESTAMP TIME INDEX)", 1004, "Invalid table name: a b"},
		{"CREATE TABLE a (ts TIMESTAMP TIME INDEX) WITH (foo = 'x')", 1004, "Unrecognized table option key: foo"},
		{"INSERT INTO t VALUES (1)", 1004, "column count mismatch"},
		{"INSERT INTO t VALUES ('x', 'a', 1)", 2000, "Failed to parse value: 'x'"},
		{"SELECT * FROM t WHERE ts > 'soon'", 2000, "Failed to parse value"},
		{"SELECT host, val FROM t GROUP BY host", 3000, "must be in GROUP BY"},
		{"SELECT * FROM t ORDER BY 9", 3000, "position 9"},
		{"ADMIN nothing('t')", 3000, "nothing"},
		{"KILL 99", 1004, "no query with the id 99"},
		{"INSERT INTO information_schema.tables VALUES (1)", 1001, "read only"},
		{"SET time_zone = 'Mars/Base'", 1004, "Invalid timezone: Mars/Base"},
		{"TQL EVAL (0, 1, '1s') sum(", 2000, "parse error"},
		{"CREATE FLOW f", 1001, "not supported: CREATE FLOW"},
	} {
		o, err := answer(x, s, c.sql, false)
		if err != nil {
			t.Errorf("%s: %v", c.sql, err)
			continue
		}
		if status.Of(o.err) != c.code || !strings.Contains(o.err.Error(), c.want) {
			t.Errorf("%s: got %d %v, want %d with %q", c.sql, status.Of(o.err), o.err, c.code, c.want)
		}
	}
}

// TestKill ends a query that runs without end.
func TestKill(t *testing.T) {
	x := New(openStore(t), Options{Workers: 2})
	s := &Session{}
	list, err := x.Parse("SELECT value FROM generate_series(0, 9999999)")
	if err != nil {
		t.Fatal(err)
	}
	r, err := x.Execute(context.Background(), s, list[0])
	if err != nil {
		t.Fatal(err)
	}
	running := x.Running()
	if len(running) != 1 || running[0].Query != "SELECT value FROM generate_series(0, 9999999)" {
		t.Fatalf("running: %+v", running)
	}
	script(t, x, &Session{}, "KILL "+running[0].ID)
	if _, err := read(r); status.Of(err) != status.Cancelled {
		t.Errorf("a killed query ends with %v", err)
	}
	if n := len(x.Running()); n != 0 {
		t.Errorf("%d queries are left on the list", n)
	}
}
