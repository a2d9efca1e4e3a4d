package metricsapi_test

import (
	"fmt"
	"net/url"
	"strings"
	"testing"

	"varve/engine"
	"varve/server"
	"varve/server/servertest"
	"varve/sqlexec"
	"varve/sqlexec/promql"
)

// TestReadBounds: a query that reads more than its user may ends with an error that names the bound, of SQL, in parts
// and in memory, with subqueries, and of metrics, at each of its ways; one within the bound is answered whole. A
// session lowers the bound and does not raise it.
func TestReadBounds(t *testing.T) {
	reads := engine.ReadLimits{Default: engine.ReadLimit{Rows: 20_000},
		Users: map[string]engine.ReadLimit{"all": {}, "few": {Bytes: 100}}}
	h := servertest.Real(t, func(o *server.Options) {
		e := o.Admin.Store.(*engine.Engine)
		o.Query.Executor = sqlexec.New(e, sqlexec.Options{Reads: reads})
		o.Metrics.Queries = promql.NewService(promql.Limits{Reads: reads})
		o.Users = servertest.Users(t, "static_user_provider:cmd:some=x,all=x,few=x")
	})
	ask := func(user, path string) servertest.Answer {
		t.Helper()
		return h.Do("GET", path, "", "Authorization", servertest.Basic(user, "x"))
	}
	sql := func(user, text string) servertest.Answer {
		t.Helper()
		return h.Do("POST", "/v1/sql", "sql="+url.QueryEscape(text), "Content-Type",
			"application/x-www-form-urlencoded", "Authorization", servertest.Basic(user, "x"))
	}
	for _, mode := range []string{"append_mode = 'true'", "merge_mode = 'last_row'"} {
		create := "CREATE TABLE t (ts TIMESTAMP(3) TIME INDEX, host STRING PRIMARY KEY, v DOUBLE) WITH (" + mode + "); "
		h.Want(sql("all", "DROP TABLE IF EXISTS t; "+create+insert(1, 30000)), 200, "30000")
		const over = "reads more than query.max_read_rows = 20000 rows"
		for _, where := range []string{"in memory", "in a part", "merged"} {
			for _, query := range []string{"SELECT sum(v) FROM t", "SELECT v FROM t",
				"SELECT max(v) FROM t WHERE v + 1 < 0",
				"SELECT host, count(v) FROM t GROUP BY host", "SELECT 1 WHERE 5 < (SELECT sum(v) FROM t)",
				"EXPLAIN ANALYZE SELECT sum(v) FROM t", "INSERT INTO t SELECT ts, host, v + 1 FROM t"} {
				a := sql("some", query)
				if !strings.Contains(a.Body, over) || a.Status != 200 && !strings.Contains(a.Body, "6000") {
					t.Errorf("%s, %s, %s: %d %.300s", mode, where, query, a.Status, a.Body)
				}
			}
			h.Want(sql("all", "SELECT sum(v) FROM t"), 200, "450015000")
			h.Want(sql("some", "SELECT sum(v) FROM t WHERE ts > 999999999"), 200, "null")
			switch where {
			case "in memory":
				h.Want(sql("all", "ADMIN flush_table('t')"), 200, "")
			case "in a part":
				h.Want(sql("all", "DROP TABLE t; "+create+insert(1, 20000)+"; ADMIN flush_table('t'); "+
					insert(20001, 30000)), 200, "10000")
			}
		}
		h.Want(sql("few", "ADMIN flush_table('t')"), 200, "")
	}
	if a := sql("few", "SELECT sum(v) FROM t"); !strings.Contains(a.Body, "query.max_read_bytes = 100 bytes") {
		t.Errorf("bytes: %d %s", a.Status, a.Body)
	}
	h.Want(sql("all", "SET max_read_rows = 10; SELECT sum(v) FROM t"), 500, "max_read_rows = 10 rows")
	h.Want(sql("all", "SET max_read_rows = 10; SET max_read_rows = DEFAULT; SELECT sum(v) FROM t"), 200, "450015000")
	h.Want(sql("some", "SET max_read_rows = 20001"), 400, "a session can only lower it")
	h.Want(sql("some", "SET max_read_rows = 'x'"), 400, "whole number")
	h.Want(sql("some", "SET max_read_bytes = '1KiB'; SET max_read_rows = 20000; SELECT 1"), 200, "[[1]]")
	for path, want := range map[string]string{
		"/v1/metricsapi/api/v1/query?query=sum(sum_over_time(t[1h]))&time=30": over(20000),
		"/v1/metricsapi/api/v1/query_range?query=t&start=0&end=30&step=1":     over(20000),
		"/v1/sql?sql=TQL+EVAL+(0,30,'1s')+sum_over_time(t[1h])":               over(20000),
	} {
		if a := ask("some", path); a.Status == 200 || !strings.Contains(a.Body, want) {
			t.Errorf("%s: %d %.300s, want %s", path, a.Status, a.Body, want)
		}
		h.Want(ask("all", path), 200, "")
	}
	if a := h.Do("POST", "/v1/metricsapi/read", servertest.Snappy(servertest.ReadQuery(0, 30_000, 0, "__name__", "t")),
		"Authorization", servertest.Basic("some", "x")); !strings.Contains(a.Body, over(20000)) {
		t.Errorf("remote read: %d %.300s", a.Status, a.Body)
	}
	h.Want(h.Do("GET", "/metrics", ""), 200, "varve_queries_over_read_bound_total ")
}

func over(rows int) string { return fmt.Sprintf("query.max_read_rows = %d rows", rows) }

// insert is a statement that writes rows with the times from..to.
func insert(from, to int) string {
	return fmt.Sprintf("INSERT INTO t SELECT n, concat('h', n %% 7), n FROM generate_series(%d, %d) AS g(n)", from, to)
}
