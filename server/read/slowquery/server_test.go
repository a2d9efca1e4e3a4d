package slowquery_test

import (
	"fmt"
	"net/url"
	"strings"
	"testing"

	"varve/server"
	"varve/server/servertest"
)

// TestSlowStatements: statements of all doors are rows of the table, with what is known of them, those that failed as
// well.
func TestSlowStatements(t *testing.T) {
	h := servertest.Recording(t, func(o *server.Options) {
		o.Users = servertest.Users(t, "static_user_provider:cmd:ann=a")
	})
	as := []string{"Authorization", servertest.Basic("ann", "a")}
	get := func(path string, query ...string) {
		v := url.Values{}
		for i := 0; i < len(query); i += 2 {
			v.Set(query[i], query[i+1])
		}
		h.Do("GET", path+"?"+v.Encode(), "", as...)
	}
	get("/v1/sql", "sql", "CREATE TABLE t (ts TIMESTAMP TIME INDEX, v DOUBLE)")
	get("/v1/sql", "sql", "INSERT INTO t VALUES (0, 1), (1000, 2); SELECT v FROM t")
	get("/v1/sql", "sql", "SELECT number FROM numbers LIMIT 50", "limit", "3")
	get("/v1/sql", "sql", "SELECT nothing FROM t")
	get("/v1/sql", "sql", "TQL EVAL (0, 10, '5s') t")
	get("/v1/mquery", "query", "t", "start", "0", "end", "10", "step", "5s")
	get("/v1/metricsapi/api/v1/query", "query", "1+1", "time", "7")
	get("/v1/metricsapi/api/v1/query_range", "query", "t", "start", "0", "end", "20", "step", "10")
	get("/v1/metricsapi/api/v1/query_range", "query", "sum(", "start", "0", "end", "20", "step", "10")
	get("/v1/jaeger/api/services", "db", "public")
	h.Slow.Close(t.Context())
	a := h.Do("GET", "/v1/sql?format=csv&sql="+url.QueryEscape(
		"SELECT query, is_promql, cast(promql_start AS BIGINT), cast(promql_end AS BIGINT), promql_step, db, user_name, row_count, error FROM service_private.slow_queries ORDER BY query, promql_end"), "", as...)
	want := strings.Join([]string{
		`1+1,true,7000,7000,0,public,ann,,`,
		`"CREATE TABLE t (ts TIMESTAMP TIME INDEX, v DOUBLE)",false,,,,public,ann,0,`,
		`"INSERT INTO t VALUES (0, 1), (1000, 2)",false,,,,public,ann,2,`,
		`SELECT DISTINCT service_name FROM opentelemetry_traces_services ORDER BY service_name LIMIT 10001,false,,,,public,ann,,"Failed to plan SQL: Table not found: service.public.opentelemetry_traces_services (line 1, column 35)"`,
		`SELECT nothing FROM t,false,,,,public,ann,,"Failed to plan SQL: No field named nothing. Valid fields are t.ts, t.v. (line 1, column 8)"`,
		`SELECT number FROM numbers LIMIT 50,false,,,,public,ann,50,`,
		`SELECT v FROM t,false,,,,public,ann,2,`,
		`"TQL EVAL (0, 10, '5s') t",true,0,10000,5000,public,ann,3,`,
		`sum(,true,0,20000,10000,public,ann,,1:5: parse error: unclosed left parenthesis`,
		`t,true,0,10000,5000,public,ann,3,`,
		`t,true,0,20000,10000,public,ann,,`,
	}, "\r\n") + "\r\n"
	if a.Body != want {
		t.Errorf("got\n%s\nwant\n%s", a.Body, want)
	}
	if a := h.Do("GET", "/v1/sql?format=csv&sql=SHOW+CREATE+TABLE+service_private.slow_queries", "",
		as...); !strings.Contains(a.Body, "append_mode = 'true'") || !strings.Contains(a.Body, "ttl = '30days'") {
		t.Errorf("the table is\n%s", a.Body)
	}
}

// TestSlowStatementIsKilled: a statement that KILL ends is recorded.
func TestSlowStatementIsKilled(t *testing.T) {
	h := servertest.Recording(t, nil)
	const endless = "SELECT count(*) FROM numbers a, numbers b, numbers c, numbers d, numbers e, numbers f"
	ended := make(chan servertest.Answer, 1)
	go func() { ended <- h.Do("GET", "/v1/sql?sql="+url.QueryEscape(endless), "") }()
	var id []any
	for id == nil {
		for _, row := range h.Ask("SELECT id FROM information_schema.process_list WHERE query = '" + endless + "'") {
			id = row
		}
	}
	h.Do("GET", fmt.Sprintf("/v1/sql?sql=KILL+'%v'", id[0]), "")
	h.Want(<-ended, 504, "Query was killed")
	h.Slow.Close(t.Context())
	if got := fmt.Sprint(h.Ask("SELECT error, row_count FROM service_private.slow_queries WHERE query = '" + endless +
		"'")); got != "[[Query was killed <nil>]]" {
		t.Errorf("recorded is %s", got)
	}
}
