package logapi_test

import (
	"encoding/json"
	"fmt"
	"net/url"
	"strings"
	"testing"

	"varve/server"
	"varve/server/servertest"
)

const api = "/loki/api/v1/"

// house is a server with a few lines in two streams, and two tables that were not pushed.
func house(t *testing.T, change func(*server.Options)) *servertest.House {
	t.Helper()
	h := servertest.Real(t, change)
	h.Want(h.Do("POST", api+"push", `{"streams":[{"stream":{"app":"shop","level":"error"},"values":[["1700000400000000000","pay <b> failed",{"trace":"t1"}],["1700000410000000000","user=ann took=5ms"]]},{"stream":{"app":"api"},"values":[["1700000420000000000","{\"status\":500,\"req\":{\"id\":\"x\"}}"]]}]}`, "Content-Type", "application/json"), 204, "")
	return h
}

const day = "start=1700000000&end=1700086400&"

func asked(h *servertest.House, path string, headers ...string) servertest.Answer {
	h.Helper()
	return h.Do("GET", api+path, "", headers...)
}

func q(text string) string { return "query=" + url.QueryEscape(text) }

// TestEndpoints: each endpoint answers in its form.
func TestEndpoints(t *testing.T) {
	h := house(t, nil)
	for _, c := range []struct{ path, want string }{
		{"labels?" + day, `{"status":"success","data":["app","level","service_name","service_table"]}`},
		{"label?" + day, `{"status":"success","data":["app","level","service_name","service_table"]}`},
		{"labels?" + day + q(`{app="api"}`), `{"status":"success","data":["app","service_name","service_table"]}`},
		{"label/app/values?" + day, `{"status":"success","data":["api","shop"]}`},
		{"label/app/values?" + day + q(`{level="error"}`), `{"status":"success","data":["shop"]}`},
		{"label/app/values?start=1800000000&end=1800000100", `{"status":"success"}`},
		{"label/none/values?" + day, `{"status":"success"}`},
		{"series?" + day, `{"status":"success","data":[{"app":"api","service_name":"api","service_table":"loki_logs"},{"app":"shop","level":"error","service_name":"shop","service_table":"loki_logs"}]}`},
		{"series?" + day + "match[]=" + url.QueryEscape(`{app="api"}`) + "&match=" + url.QueryEscape(`{app="shop"}`),
			`{"status":"success","data":[{"app":"api","service_name":"api","service_table":"loki_logs"},{"app":"shop","level":"error","service_name":"shop","service_table":"loki_logs"}]}`},
		{"series?start=1800000000&end=1800000100", `{"status":"success","data":[]}`},
		{"index/stats?" + day + q(`{app=~".+"}`), `{"streams":2,"chunks":2,"bytes":62,"entries":3}`},
		{"index/stats?" + day + q(`sum(rate({app="api"}[1m]))`), `{"streams":1,"chunks":1,"bytes":31,"entries":1}`},
		{"index/stats?start=1800000000&end=1800000100&" + q(`{app=~".+"}`),
			`{"streams":0,"chunks":0,"bytes":0,"entries":0}`},
		{"index/volume?" + day + q(`{app=~".+"}`), `{"status":"success","data":{"resultType":"vector","result":[{"metric":{"app":"api"},"value":[1700086400,"31"]},{"metric":{"app":"shop"},"value":[1700086400,"31"]}],*`},
		{"index/volume?" + day + "aggregateBy=labels&" + q(`{app=~".+"}`), `{"status":"success","data":{"resultType":"vector","result":[{"metric":{"app":""},"value":[1700086400,"62"]},{"metric":{"service_name":""},"value":[1700086400,"62"]},{"metric":{"service_table":""},"value":[1700086400,"62"]},{"metric":{"level":""},"value":[1700086400,"31"]}],*`},
		{"index/volume?" + day + "targetLabels=level&limit=1&" + q(`{level=~".+"}`), `{"status":"success","data":{"resultType":"vector","result":[{"metric":{"level":"error"},"value":[1700086400,"31"]}],*`},
		{"index/volume_range?start=1700000400&end=1700000430&step=10&" + q(`{app="shop"}`), `{"status":"success","data":{"resultType":"matrix","result":[{"metric":{"app":"shop"},"values":[[1700000409.999,"14"],[1700000419.999,"17"]]}],*`},
		{"detected_labels?" + day, `{"detectedLabels":[{"label":"app","cardinality":2},{"label":"level","cardinality":1},{"label":"service_name","cardinality":2},{"label":"service_table","cardinality":1}]}`},
		{"detected_labels?start=1800000000&end=1800000100", `{}`},
		{"detected_fields?" + day + q(`{app=~".+"}`), `{"fields":[{"label":"detected_level","type":"string","cardinality":2,"parsers":null},{"label":"req_id","type":"string","cardinality":1,"parsers":["json"],"jsonPath":["req","id"]},{"label":"status","type":"int","cardinality":1,"parsers":["json"],"jsonPath":["status"]},{"label":"took","type":"duration","cardinality":1,"parsers":["logfmt"]},{"label":"trace","type":"string","cardinality":1,"parsers":null},{"label":"user","type":"string","cardinality":1,"parsers":["logfmt"]}],"limit":1000}`},
		{"detected_field/user/values?" + day + q(`{app="shop"}`), `{"values":["ann"],"limit":1000}`},
		{"detected_field/nothing/values?" + day + q(`{app="shop"}`), `{}`},
		{"patterns?" + day + q(`{app="shop"}`), `{"status":"success","data":[{"pattern":"pay \u003cb\u003e failed","level":"unknown","samples":[[1700000340,1]]},{"pattern":"user=ann took=\u003c_\u003e","level":"unknown","samples":[[1700000340,1]]}]}`},
		{"format_query?" + q(`{app="a"}|="x"`), `{"status":"success","data":"{app=\"a\"} |= \"x\""}`},
		{"query?time=4000000000&direction=backward&" + q("vector(1)+vector(1)"), `{"status":"success","data":{"resultType":"vector","result":[{"metric":{},"value":[4000000000,"2"]}],*`},
		{"query?time=1795477315&" + q("1+1"), `{"status":"success","data":{"resultType":"scalar","result":[1795477315000,"2"],*`},
		{"query?time=1700000460.5&" + q(`sum(count_over_time({app="shop"}[2m]))`), `{"status":"success","data":{"resultType":"vector","result":[{"metric":{},"value":[1700000460.5,"2"]}],*`},
		{"query_range?" + day + q(`{app="shop"} |= "pay"`), `{"status":"success","data":{"resultType":"streams","result":[{"stream":{"app":"shop","detected_level":"error","level":"error","service_name":"shop","service_table":"loki_logs","trace":"t1"},"values":[["1700000400000000000","pay \u003cb\u003e failed"]]}],*`},
		{"query_range?" + day + q(`{app="none"}`), `{"status":"success","data":{"resultType":"streams","result":[],*`},
		{"query_range?start=1700000400000000000&end=2023-11-14T22:20:00.5Z&limit=1&direction=FORWARD&" + q(`{app="shop"}`), `{"status":"success","data":{"resultType":"streams","result":[{"stream":{"app":"shop","detected_level":"error","level":"error","service_name":"shop","service_table":"loki_logs","trace":"t1"},"values":[["1700000400000000000","pay \u003cb\u003e failed"]]}],*`},
		{"query_range?start=1700000400&end=1700000430&interval=15&direction=forward&" + q(`{app=~".+"}`), `{"status":"success","data":{"resultType":"streams","result":[{"stream":{"app":"api","detected_level":"unknown","service_name":"api","service_table":"loki_logs"},"values":[["1700000420000000000",*`},
	} {
		for _, base := range []string{"", "/v1/logpush"} {
			a := h.Do("GET", base+api+c.path, "")
			want, prefix := strings.CutSuffix(c.want, "*")
			if a.Status != 200 || a.Body != want && !(prefix && strings.HasPrefix(a.Body, want)) ||
				a.Header.Get("Content-Type") != "application/json; charset=UTF-8" {
				t.Errorf("%s: %d %s\n got %s\nwant %s", c.path, a.Status, a.Header.Get("Content-Type"), a.Body, c.want)
			}
		}
		path, form, _ := strings.Cut(c.path, "?")
		if a := h.Do("POST", api+path, form, "Content-Type", "application/x-www-form-urlencoded"); a.Status != 200 {
			t.Errorf("POST %s: %d %s", path, a.Status, a.Body)
		}
	}
}

// TestCategorized: with the flag, lines keep their labels apart by kind.
func TestCategorized(t *testing.T) {
	h := house(t, nil)
	flags := []string{"X-Loki-Response-Encoding-Flags", "categorize-labels,more"}
	for _, c := range []struct{ query, want string }{
		{`{app="shop"} |= "pay"`, `"encodingFlags":["categorize-labels","more"],"result":[{"stream":{"app":"shop","level":"error","service_name":"shop","service_table":"loki_logs"},"values":[["1700000400000000000","pay \u003cb\u003e failed",{"structuredMetadata":{"detected_level":"error","trace":"t1"}}]]}],`},
		{`{app="shop"} | logfmt | user="ann" | drop detected_level`, `"values":[["1700000410000000000","user=ann took=5ms",{"parsed":{"took":"5ms","user":"ann"}}]]`},
		{`{app="shop"} |= "pay" | drop trace, detected_level`, `"pay \u003cb\u003e failed",{}]]`},
	} {
		a := asked(h, "query_range?"+day+q(c.query), flags...)
		if a.Status != 200 || !strings.Contains(a.Body, c.want) {
			t.Errorf("%s: %d\n got %s\nwant %s", c.query, a.Status, a.Body, c.want)
		}
	}
	a := asked(h, "query_range?"+day+q(`sum(rate({app="shop"}[1m]))`), flags...)
	if a.Status != 200 || strings.Contains(a.Body, "encodingFlags") {
		t.Errorf("numbers with flags: %d %s", a.Status, a.Body)
	}
}

// TestStats: an answer says what was read.
func TestStats(t *testing.T) {
	h := house(t, nil)
	a := asked(h, "query_range?"+day+q(`{app="shop"} | logfmt | user="ann"`))
	var out struct {
		Data struct {
			Stats struct {
				Summary struct {
					TotalLinesProcessed, TotalEntriesReturned, TotalBytesProcessed int
					ExecTime                                                       float64
				}
				Querier, Ingester, Cache, Index map[string]any
			}
		}
	}
	if err := json.Unmarshal([]byte(a.Body), &out); err != nil {
		t.Fatal(err)
	}
	s := out.Data.Stats
	if s.Summary.TotalEntriesReturned != 1 || s.Summary.TotalLinesProcessed < 1 || s.Summary.TotalBytesProcessed < 17 ||
		s.Summary.ExecTime <= 0 || s.Querier["store"] == nil || s.Ingester["store"] == nil || s.Cache["chunk"] == nil {
		t.Errorf("the statistics are %+v", s)
	}
}

// TestErrors: errors are plain texts.
func TestErrors(t *testing.T) {
	h := house(t, nil)
	for _, c := range []struct {
		path   string
		status int
		want   string
	}{
		{"query?" + q(`{app=`), 400, `parse error at line 1, col 6: syntax error: unexpected $end, expecting STRING`},
		{"query_range?" + day + "step=0&" + q(`{app="a"}`), 400, `zero or negative query resolution step widths are not accepted. Try a positive integer`},
		{"query_range?" + day + "step=1&" + q(`{app="a"}`), 400, `exceeded maximum resolution of 11,000 points per time series. Try increasing the value of the step parameter`},
		{"query_range?start=yesterday&" + q(`{app="a"}`), 400, `could not parse 'start' parameter: parsing time "yesterday" as "2006-01-02T15:04:05.999999999Z07:00": cannot parse "yesterday" as "2006"`},
		{"query_range?step=1.5s&" + q(`{app="a"}`), 400, `cannot parse "1.5s" to a valid duration`},
		{"query?" + q(`sum(count_over_time({app="a"}[800h]))`), 400, `the query time range exceeds the limit (query length: 800h0m0s, limit: 30d1h)`},
		{"series?match=" + url.QueryEscape(`{app="a"} |= "x"`), 400, `only label matchers are supported`},
		{"index/volume?aggregateBy=x&" + q(`{app="a"}`), 400, `invalid aggregation option`},
		{"detected_fields", 400, `parse error at line 1, col 1: syntax error: unexpected $end`},
		{"query?db=nowhere&" + q(`vector(1)`), 400, `Database not found: nowhere`},
		{"format_query?" + q(`{app=`), 400, `{"status":"invalid-query","error":"parse error at line 1, col 6: syntax error: unexpected $end, expecting STRING"}`},
		{"tail?" + q(`{app="a"}`), 400, "Bad Request: the client did not ask for a WebSocket"},
		{"tail?delay_for=6&" + q(`{app="a"}`), 400, `delay_for can't be greater than 5`},
		{"nothing", 404, "404 page not found"},
		{"../../../v1/logpush/loki/api/v1/query/more", 404, "404 page not found"},
		{"tail?" + q(`{app=`), 400, `parse error at line 1, col 6: syntax error: unexpected $end, expecting STRING`},
	} {
		a := asked(h, c.path)
		if a.Status != c.status || strings.TrimSpace(a.Body) != c.want {
			t.Errorf("%s:\n got %d %s\nwant %d %s", c.path, a.Status, a.Body, c.status, c.want)
		}
	}
}

// TestManySeries: an answer of more than 500 series is refused, one of 500 is not.
func TestManySeries(t *testing.T) {
	h := servertest.Real(t, nil)
	var b strings.Builder
	for i := range 501 {
		fmt.Fprintf(&b, `,["%d","n=%d"]`, 1700000400000000000+i, i)
	}
	h.Want(h.Do("POST", api+"push", `{"streams":[{"stream":{"app":"a"},"values":[`+b.String()[1:]+`]}]}`,
		"Content-Type", "application/json"), 204, "")
	a := asked(h, "query?time=1700000401&"+q(`sum by (n) (count_over_time({app="a"} | logfmt [1m]))`))
	want := "maximum number of series (500) reached for a single query; consider reducing query cardinality by "
	if a.Status != 400 || !strings.HasPrefix(a.Body, want) {
		t.Errorf("501 series: %d %.200s", a.Status, a.Body)
	}
	for _, text := range []string{`sum by (n) (count_over_time({app="a"} | logfmt | n > 0 [1m]))`,
		`count(count_over_time({app="a"} | logfmt [1m]))`, `count_over_time({app="a"} | logfmt [1m]) > 1 or vector(1)`,
		`topk(500, count_over_time({app="a"} | logfmt [1m]))`, `absent_over_time({app="a"} | logfmt [1m])`} {
		if a = asked(h, "query?time=1700000401&"+q(text)); a.Status != 200 {
			t.Errorf("%s: %d %.200s", text, a.Status, a.Body)
		}
	}
	for _, text := range []string{`count_over_time({app="a"} | logfmt [1m])`, `sort(rate({app="a"} | logfmt [1m]) * 2)`,
		`sum_over_time({app="a"} | logfmt | label_format m="{{.n}}" | unwrap n [1m])`,
		`label_replace(count_over_time({app="a"} | logfmt [1m]), "m", "$1", "n", "(.*)")`,
		`count_over_time({app="a"} | logfmt [1m]) or vector(1)`} {
		if a = asked(h, "query?time=1700000401&"+q(text)); a.Status != 400 || !strings.HasPrefix(a.Body, want) {
			t.Errorf("%s: %d %.200s", text, a.Status, a.Body)
		}
	}
}

// TestTables: other tables of logs are streams, too; the name of the table is one of their labels.
func TestTables(t *testing.T) {
	h := house(t, nil)
	h.Execute(`CREATE TABLE app_logs (ts TIMESTAMP(3) TIME INDEX, host STRING, service STRING, level STRING, "user.id" BIGINT, message STRING) WITH ('append_mode'='true', 'log_labels'='service,level')`)
	h.Execute(`INSERT INTO app_logs VALUES (1700000400000, 'h1', 'pay', 'warn', 7, 'slow answer'), (1700000415000, 'h2', 'pay', 'info', NULL, 'ok')`)
	h.Execute(`CREATE TABLE events (ts TIMESTAMP(9) TIME INDEX, kind STRING, n BIGINT) WITH ('append_mode'='true')`)
	h.Execute(`INSERT INTO events VALUES (1700000401000000000, 'a', 5)`)
	h.Execute(`CREATE TABLE numbers_only (ts TIMESTAMP TIME INDEX, v DOUBLE)`)
	for _, c := range []struct{ query, want string }{
		{`{service="pay"}`, `0 {host="h1",level="warn",service="pay",service_table="app_logs",user_id="7"} slow answer|15 {host="h2",level="info",service="pay",service_table="app_logs"} ok`},
		{`{service_table="app_logs"} | user_id > 5`, `0 {host="h1",level="warn",service="pay",service_table="app_logs",user_id="7"} slow answer`},
		{`{service_table="events"} | json | n = 5 | keep n`, `1 {n="5"} {"kind":"a","n":5}`},
		{`{level=~"error|info"} != "user"`, `0 {app="shop",level="error",trace="t1"} pay <b> failed|15 {host="h2",level="info",service="pay",service_table="app_logs"} ok`},
		{`{service_table=~"numbers.*"}`, ``},
	} {
		rows := shownRows(t, asked(h, "query_range?start=1700000000&end=1700000600&"+q(c.query)), false)
		if got := strings.Join(rows, "|"); got != c.want {
			t.Errorf("%s\n got %s\nwant %s", c.query, got, c.want)
		}
	}
	rows := shownRows(t, asked(h, "query?time=1700000460&"+q(`sum by (service_table) (count_over_time({service_table=~".+"}[1m]))`)), false)
	if got := strings.Join(rows, "|"); got != `{service_table="app_logs"} 1|{service_table="events"} 1|{service_table="loki_logs"} 2` {
		t.Errorf("lines by table: %s", got)
	}
	if a := asked(h, "label/service_table/values?"+day); a.Body != `{"status":"success","data":["app_logs","events","loki_logs"]}` {
		t.Errorf("tables: %s", a.Body)
	}
}

// TestExplain: a query shows the statements that it runs, and their plans.
func TestExplain(t *testing.T) {
	h := house(t, nil)
	a := asked(h, "query_range?explain=true&"+day+q(`{app="shop"} |= "pay" | logfmt | user="ann"`))
	for _, want := range []string{"SELECT service_timestamp, line, ", " AND app = 'shop' AND line LIKE '%pay%'",
		"logql_keep(", "ORDER BY service_timestamp DESC LIMIT 100", "TableScan: public.loki_logs"} {
		if a.Status != 200 || !strings.Contains(a.Body, want) {
			t.Errorf("no %q in the plan: %d %s", want, a.Status, a.Body)
		}
	}
	a = asked(h, "query?explain=true&"+q(`topk(2, sum by (app) (rate({app="shop"}[1m])))`))
	if want := `metrics: topk(2, sum by (app) ({__leaf__="0"}))`; a.Status != 200 || !strings.Contains(a.Body, want) {
		t.Errorf("no %q in the plan: %d %s", want, a.Status, a.Body)
	}
}

// TestTenants: where tenants are databases, the header names the database of pushes and queries.
func TestTenants(t *testing.T) {
	h := servertest.Real(t, func(o *server.Options) { o.TenantsAreDatabases = true })
	h.Execute("CREATE DATABASE team")
	body := `{"streams":[{"stream":{"app":"a"},"values":[["1700000400000000000","x"]]}]}`
	h.Want(h.Do("POST", api+"push", body, "Content-Type", "application/json"), 401, "no org id")
	h.Want(asked(h, "labels?"+day), 401, "no org id")
	h.Want(h.Do("POST", api+"push", body, "Content-Type", "application/json", "X-Scope-OrgID", "team"), 204, "")
	h.Want(asked(h, "labels?"+day, "X-Scope-OrgID", "team"), 200, `"data":["app",`)
	h.Holds("SELECT count(*) FROM team.loki_logs", "[[1]]")
}

// TestSlowLog: the record of slow statements shows the query as it was asked, once, however many statements it runs.
func TestSlowLog(t *testing.T) {
	h := servertest.Recording(t, nil)
	h.Want(h.Do("POST", api+"push", `{"streams":[{"stream":{"app":"a"},"values":[["1700000400000000000","x"]]}]}`,
		"Content-Type", "application/json"), 204, "")
	var values []string
	for i := range 1200 { // a table of few lines is read by one statement
		values = append(values, fmt.Sprintf(`["%d","x %d"]`, int64(1700000500e9)+int64(i), i))
	}
	h.Want(h.Do("POST", api+"push", `{"streams":[{"stream":{"app":"b"},"values":[`+strings.Join(values, ",")+`]}]}`,
		"Content-Type", "application/json"), 204, "")
	h.Want(asked(h, "query_range?"+day+q(`{app="a"} |= "x"`)), 200, "")
	h.Want(asked(h, "labels?"+day), 200, "")
	h.Want(asked(h, "query?time=1700000600&"+q(`sum by (app) (count_over_time({app=~"a|b"}[1h]))`)), 200, "")
	h.Want(asked(h, "query_range?"+day+q(`{app="none"} | json`)), 200, "")
	h.Slow.Close(t.Context())
	h.Holds("SELECT query, row_count FROM service_private.slow_queries WHERE query LIKE '{%' ORDER BY 1",
		`[[{app="a"} |= "x" 1] [{app="none"} | json 0]]`)
	h.Holds("SELECT row_count FROM service_private.slow_queries WHERE query LIKE 'sum by%'", "[[2]]")
	h.Holds("SELECT query FROM service_private.slow_queries WHERE query LIKE '/%'", "[["+api+"labels]]")
}

// TestNestedDivision: a divisor may be a division, as deep as expressions nest.
func TestNestedDivision(t *testing.T) {
	h := house(t, nil)
	const depth = 30
	text := strings.Repeat("1 / (", depth) + `sum(count_over_time({app="shop"}[1m]))` + strings.Repeat(")", depth)
	a := asked(h, "query?time=1700000420&"+q(text))
	want := `{"status":"success","data":{"resultType":"vector","result":[{"metric":{},"value":[1700000420,"2"]}],`
	if a.Status != 200 || !strings.HasPrefix(a.Body, want) {
		t.Errorf("%d %.300s\nwant %s", a.Status, a.Body, want)
	}
}
