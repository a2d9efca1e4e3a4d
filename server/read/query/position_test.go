package query_test

import (
	"net/url"
	"testing"

	"varve/server/servertest"
)

// TestErrorPosition looks at where in its text a statement is said to be wrong.
func TestErrorPosition(t *testing.T) {
	h := servertest.Real(t, nil)
	h.Want(h.SQL("CREATE TABLE t (ts TIMESTAMP TIME INDEX, level STRING)"), 200, "")
	for _, c := range []struct{ name, path, text, want string }{
		{"a word that fits nowhere", "/v1/sql?sql=", "SELECT 1\nFORM t", `"position":{"line":2,"column":6,"length":1}`},
		{"a statement that is none", "/v1/sql?sql=", "  SELCT 1", `"position":{"line":1,"column":3,"length":5}`},
		{"a column that is not there", "/v1/sql?sql=", "SELECT 'é', levle FROM t",
			`"position":{"line":1,"column":13,"length":5}`},
		{"a column in quotes", "/v1/sql?sql=", `SELECT "no such" FROM t`,
			`"position":{"line":1,"column":8,"length":9}`},
		{"a table that is not there", "/v1/sql?sql=", "SELECT *\n  FROM nowhere",
			`"position":{"line":2,"column":8,"length":7}`},
		{"a column of a table that is not there", "/v1/sql?sql=", `SELECT x."no such" + 1 FROM t`,
			`"position":{"line":1,"column":8,"length":11}`},
		{"a table of a database that is not there", "/v1/sql?sql=", "SELECT * FROM nodb.é.t",
			`"position":{"line":1,"column":15,"length":8}`},
		{"a function that is not there", "/v1/sql?sql=", "SELECT nofunction(1)",
			`"position":{"line":1,"column":8,"length":10}`},
		{"the second statement", "/v1/sql?sql=", "SELECT 1; SELECT x FROM t",
			`"position":{"line":1,"column":18,"length":1}`},
		{"a quote that is not closed", "/v1/sql?sql=", "SELECT 'abc\ndef",
			`"position":{"line":1,"column":8,"length":4}`},
		{"the end of the text", "/v1/sql?sql=", "SELECT", `"position":{"line":1,"column":7,"length":0}`},
		{"an operator", "/v1/sql?sql=", "SELECT 1 ! 2", `"position":{"line":1,"column":10,"length":1}`},
		{"a text that is only read", "/v1/sql/parse?sql=", "SELECT 1 FORM t",
			`"position":{"line":1,"column":15,"length":1}`},
		{"metrics in SQL", "/v1/sql?sql=", "TQL EVAL (0, 10, '1s')\n  sum(up",
			`"position":{"line":2,"column":9,"length":0}`},
		{"metrics in SQL on the first line", "/v1/sql?sql=", "TQL EXPLAIN (0, 10, '1s') up up",
			`"position":{"line":1,"column":30,"length":2}`},
		{"metrics", "/v1/metricsapi/api/v1/query?query=", "up +\n  nofunction(x)",
			`"position":{"line":2,"column":3,"length":10}`},
		{"metrics over a range", "/v1/metricsapi/api/v1/query_range?start=0&end=10&step=1&query=", "rate(é_total",
			`"position":{"line":1,"column":6,"length":7}`},
		{"no place", "/v1/sql?sql=", "SELECT 1/0 FROM t WHERE substr(level, 1, 2) = 7", `"execution_time_ms"`},
	} {
		t.Run(c.name, func(t *testing.T) {
			a := h.Do("GET", c.path+url.QueryEscape(c.text), "")
			if c.name != "no place" && a.Status != 400 {
				t.Errorf("status %d", a.Status)
			}
			h := *h
			h.TB = t
			h.Want(a, a.Status, c.want)
		})
	}
}
