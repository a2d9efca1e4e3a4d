package metricsapi_test

import (
	"encoding/json"
	"net/url"
	"strings"
	"testing"
	"time"

	"varve/server"
	"varve/server/servertest"
	"varve/sqlexec/promql"
)

const apiPath = "/v1/metricsapi/api/v1/"

// apiHouse has a few series: up{job="x"|"y"} and http.requests{le.x="1"}.
func apiHouse(t *testing.T) *servertest.House {
	t.Helper()
	h := servertest.Real(t, nil)
	h.Want(h.Do("POST", servertest.WritePath, servertest.Snappy(servertest.Message1(servertest.Up, 1, 2),
		servertest.Message1([]string{"__name__", "up", "job", "y", "zone", "z"}, 3),
		servertest.Message1([]string{"__name__", "http.requests", "le.x", "1"}, 5))), 204, "")
	h.Execute("CREATE TABLE plain (ts TIMESTAMP TIME INDEX, host STRING PRIMARY KEY, v DOUBLE)")
	h.Execute("INSERT INTO plain VALUES (1000, 'p', 7)")
	h.Execute("CREATE TABLE tags_alone (timestamp TIMESTAMP TIME INDEX, host STRING PRIMARY KEY)")
	return h
}

// TestMetricsAPIAnswers: data, errors and their status, by GET and by POST alike.
func TestMetricsAPIAnswers(t *testing.T) {
	h := apiHouse(t)
	for _, c := range []struct {
		path, query string
		status      int
		text        string
	}{
		{"query", "query=1%2B1&time=5", 200, `{"status":"success","data":{"resultType":"scalar","result":[5,"2"]}}`},
		{"query", "query=%22text%22&time=1.5", 200, `{"resultType":"string","result":[1.500,"text"]}`},
		{"query", "query=up{job=%22x%22}&time=2", 200,
			`{"resultType":"vector","result":[{"metric":{"__name__":"up","job":"x"},"value":[2,"2"]}]}`},
		{"query", "query=up{job=%22x%22}[5m]&time=2", 200,
			`{"resultType":"matrix","result":[{"metric":{"__name__":"up","job":"x"},"values":[[1,"1"],[2,"2"]]}]}`},
		{"query", "query=up&time=2&limit=1", 200, `"warnings":["results truncated due to limit"]`},
		{"query", "query=up&time=1970-01-01T00:00:02Z&stats=all", 200, `"stats":{"timings":{`},
		{"query", "query=up&time=1000&lookback_delta=1h", 200, `"value":[1000,"3"]`},
		{"query", "query=up&time=1000", 200, `"result":[]}}`},
		{"query", "query=plain&time=2", 200, `{"metric":{"__name__":"plain","host":"p"},"value":[2,"7"]}`},
		{"query", "query=nothing&time=2", 200, `"result":[]`},
		{"query", "query=up&time=2&db=nowhere", 200, `"result":[]`},
		{"query", "query=up{&time=2", 400, `{"status":"error","errorType":"bad_data","error":"1:`},
		{"query", "time=2", 400, `"errorType":"bad_data"`},
		{"query", "query=up&time=soon", 400, `invalid parameter \"time\": `},
		{"query", "query=up&limit=-1", 400, `invalid parameter \"limit\": `},
		{"query", "query=up&limit=x", 400, `invalid parameter \"limit\": `},
		{"query", "query=up&timeout=x", 400, `invalid parameter \"timeout\": `},
		{"query", "query=up&timeout=0", 503, `"errorType":"timeout"`},
		{"query", "query=up&timeout=-1", 503, `"errorType":"timeout"`},
		{"query", "query=up+%2B+on()+up&time=1", 422, `"errorType":"execution"`},
		{"query_range", "query=up{job=%22x%22}&start=1&end=2&step=1", 200,
			`{"resultType":"matrix","result":[{"metric":{"__name__":"up","job":"x"},"values":[[1,"1"],[2,"2"]]}]}`},
		{"query_range", "query=1&start=1&end=1.5&step=500ms", 200,
			`{"resultType":"matrix","result":[{"metric":{},"values":[[1,"1"],[1.500,"1"]]}]}`},
		{"query_range", "query=up&start=2&end=1&step=1", 400,
			`invalid parameter \"end\": end timestamp must not be before start time`},
		{"query_range", "query=up&start=1&end=2&step=0", 400,
			`invalid parameter \"step\": zero or negative query resolution step widths are not accepted`},
		{"query_range", "query=up&start=1&end=2", 400, `invalid parameter \"step\": `},
		{"query_range", "query=up&end=2&step=1", 400, `invalid parameter \"start\": `},
		// 11,000 parts of a range have a step more
		{"query_range", "query=1&start=0&end=11000&step=1", 200, `[11000,"1"]`},
		{"query_range", "query=up&start=0&end=11001&step=1", 400,
			`exceeded maximum resolution of 11,000 points per timeseries. Try decreasing the query resolution (?step=XX)`},
		{"query_range", "query=up[5m]&start=0&end=1&step=1", 400, `"errorType":"bad_data"`},
		{"query_range", "query=%22x%22&start=0&end=1&step=1", 400, `"errorType":"bad_data"`},
		{"query_range", "query=sum(rate(up[step()]))&start=1&end=2&step=1&explain=true", 200,
			`{"status":"success","data":{"query":"sum(rate(up[step()]))","plan":["aggregate sum: adds series as ` +
				`they are read","  function rate","    windows of 1s","      series {__name__=\"up\"}: reads no labels"]}}`},
		{"query", "query=up&explain=1", 200, `{"query":"up","plan":["series {__name__=\"up\"}"]}}`},
		{"query", "query=up&time=1&explain=0", 200, `"resultType":"vector"`},
		{"query", "query=up&explain=perhaps", 400, `invalid parameter \"explain\": `},
		{"query", "query=up{&explain=true", 400, `"errorType":"bad_data"`},
		{"labels", "", 200, `{"status":"success","data":["__name__","job","le.x","zone"]}`},
		{"labels", "match[]=up&match[]=nothing", 200, `"data":["__name__","job","zone"]}`},
		{"labels", "match[]=plain", 200, `"data":["__name__","host"]}`},
		{"labels", "limit=2", 200, `"data":["__name__","job"],"warnings":["results truncated due to limit"]}`},
		{"labels", "match[]=%7B%7D", 400, `"errorType":"bad_data"`},
		{"labels", "match[]=up%7B", 400, `"errorType":"bad_data"`},
		{"labels", "db=nowhere", 200, `"data":[`},
		{"label/job/values", "", 200, `"data":["x","y"]}`},
		{"label/job/values", "match[]=up%7Bzone%3D%22z%22%7D", 200, `"data":["y"]}`},
		{"label/__name__/values", "", 200, `"data":["http.requests","up"]}`},
		{"label/U__le_2e_x/values", "", 200, `"data":["1"]}`},
		{"label/le.x/values", "", 200, `"data":["1"]}`},
		{"label/nothing/values", "", 200, `"data":[]}`},
		{"label/__field__/values", "match[]=up", 200, `"data":["service_value"]}`},
		{"label/job/values", "start=2&end=1", 400, `invalid parameter \"end\"`},
		{"series", "match[]=up", 200, `"data":[{"__name__":"up","job":"x"},{"__name__":"up","job":"y","zone":"z"}]}`},
		{"series", "match[]=up&match[]=up{job=%22x%22}", 200,
			`"data":[{"__name__":"up","job":"x"},{"__name__":"up","job":"y","zone":"z"}]}`},
		{"series", "match[]={__name__=~%22.%2B%22}&limit=1", 200,
			`"data":[{"__name__":"http.requests","le.x":"1"}],"warnings":["results truncated due to limit"]}`},
		{"series", "", 400, `match[] parameter is required`},
		{"series", "match[]=nothing", 200, `"data":[]}`},
		{"metadata", "", 200, `"data":{}}`},
		{"query_exemplars", "query=up", 200, `"data":[]}`},
		{"query_exemplars", "query=up{", 400, `"errorType":"bad_data"`},
		{"format_query", "query=foo%2Fbar", 200, `"data":"foo / bar"}`},
		{"format_query", "query=not+http_requests", 400, `"errorType":"bad_data"`},
		{"parse_query", "query=foo", 200, `"type":"vectorSelector"`},
		{"parse_query", "", 400, `"errorType":"bad_data"`},
		{"status/buildinfo", "", 200, `"goVersion":"go`},
		{"status/runtimeinfo", "", 200, `"GOMAXPROCS":`},
		{"status/flags", "", 200, `"data":{}}`},
		{"status/config", "", 200, `"data":{"yaml":""}}`},
		{"status/tsdb", "", 200,
			`{"headStats":{"numSeries":3,"numLabelPairs":6,"chunkCount":0,"minTime":1000,"maxTime":2000},` +
				`"seriesCountByMetricName":[{"name":"up","value":2},{"name":"http.requests","value":1}],` +
				`"labelValueCountByLabelName":[{"name":"__name__","value":2},{"name":"job","value":2},{"name":"le.x","value":1},{"name":"zone","value":1}],` +
				`"memoryInBytesByLabelName":[{"name":"__name__","value":17},{"name":"job","value":2},{"name":"le.x","value":1},{"name":"zone","value":1}],` +
				`"seriesCountByLabelValuePair":[{"name":"__name__=up","value":2},{"name":"__name__=http.requests","value":1},{"name":"job=x","value":1},` +
				`{"name":"job=y","value":1},{"name":"le.x=1","value":1},{"name":"zone=z","value":1}]}`},
		{"status/tsdb", "limit=1", 200, `"labelValueCountByLabelName":[{"name":"__name__","value":2}],"memory`},
		{"status/tsdb", "limit=-1", 400, `invalid parameter \"limit\"`},
		{"status/tsdb", "limit=0", 400, `invalid parameter \"limit\"`},
		{"status/tsdb", "limit=10001", 400, `invalid parameter \"limit\"`},
		{"status/tsdb", "db=nowhere", 200,
			`{"headStats":{"numSeries":0,"numLabelPairs":0,"chunkCount":0,"minTime":0,"maxTime":0},"seriesCountByMetricName":[],`},
		{"rules", "", 200, `"data":{"groups":[]}}`},
		{"alerts", "", 200, `"data":{"alerts":[]}}`},
		{"targets", "", 200, `"activeTargets":[]`},
	} {
		get := h.Do("GET", apiPath+c.path+"?"+c.query, "")
		post := h.Do("POST", apiPath+c.path, c.query, "Content-Type", "application/x-www-form-urlencoded")
		for method, a := range map[string]servertest.Answer{"GET": get, "POST": post} {
			if a.Status != c.status || !strings.Contains(a.Body, c.text) ||
				a.Header.Get("Content-Type") != "application/json" || !json.Valid([]byte(a.Body)) {
				t.Errorf("%s %s?%s: %d %s %s, want %d with %s", method, c.path, c.query, a.Status,
					a.Header.Get("Content-Type"), a.Body, c.status, c.text)
			}
		}
	}
	if a := h.Do("GET", apiPath+"query_exemplars?query=1", ""); a.Status != 204 || a.Body != "" {
		t.Errorf("exemplars of no selector: %d %q", a.Status, a.Body)
	}
	// The URL and the form are one.
	h.Want(h.Do("POST", apiPath+"query?time=2", "query="+url.QueryEscape(`up{job="x"}`), "Content-Type",
		"application/x-www-form-urlencoded"), 200, `"value":[2,"2"]`)
	h.Want(h.Do("GET", "/v1/metricsapi/-/ready", ""), 200, "healthy")
	h.Want(h.Do("POST", apiPath+"query?query=1", ""), 200, `"resultType":"scalar"`)
	for _, kind := range []string{"application/json", ""} {
		h.Want(h.Do("POST", apiPath+"query?query=1", "{}", "Content-Type", kind), 415,
			"Form requests must have `Content-Type: application/x-www-form-urlencoded`")
	}
}

// TestMetricsAPIRights: who may only write neither asks nor reads, and the other way round.
func TestMetricsAPIRights(t *testing.T) {
	h := servertest.Real(t, func(o *server.Options) {
		o.Users = servertest.Users(t, "static_user_provider:cmd:ro:ro=r,wo:wo=w")
	})
	body := servertest.Snappy(servertest.Message1(servertest.Up, 1))
	for _, c := range []struct {
		method, path, user string
		status             int
	}{
		{"POST", servertest.WritePath, "", 401}, {"POST", servertest.WritePath, "ro", 403}, {"POST",
			servertest.WritePath, "wo", 204},
		{"GET", apiPath + "query?query=up", "", 401}, {"GET", apiPath + "query?query=up", "wo", 403},
		{"GET", apiPath + "query?query=up", "ro", 200},
		{"POST", readPath, "wo", 403}, {"GET", apiPath + "series?match[]=up", "wo", 403},
		{"GET", "/v1/mquery?query=up&start=0&end=1&step=1", "wo", 403},
		{"GET", "/v1/mquery?query=up&start=0&end=1&step=1", "ro", 200},
	} {
		var headers []string
		if c.user != "" {
			headers = []string{"Authorization", servertest.Basic(c.user, c.user[:1])}
		}
		if a := h.Do(c.method, c.path, body, headers...); a.Status != c.status {
			t.Errorf("%s %s by %q: %d %s, want %d", c.method, c.path, c.user, a.Status, a.Body, c.status)
		}
	}
}

// TestMetricsAPILimits: queries that ask for too much end, and say why.
func TestMetricsAPILimits(t *testing.T) {
	h := servertest.Real(t, func(o *server.Options) {
		o.Metrics.Queries = promql.NewService(promql.Limits{MaxSamples: 1000, MaxConcurrent: 1})
		o.Metrics.Timeout = time.Minute
	})
	values := make([]float64, 3000)
	h.Want(h.Do("POST", servertest.WritePath, servertest.Snappy(servertest.Message1(servertest.Up, values...))), 204,
		"")
	h.Want(h.Do("GET", apiPath+"query?time=3000&query="+url.QueryEscape("up[2h]"), ""), 422,
		"query processing would load too many samples into memory in query execution")
	h.Want(h.Do("POST", readPath, servertest.Snappy(servertest.ReadQuery(0, 1<<40, 0, "__name__", "up"))), 400,
		"exceeded sample limit (1000)")
	start := time.Now()
	query := "sum_over_time(sum_over_time(sum_over_time(vector(1)[1y:1s])[1y:1s])[1y:1s])"
	a := h.Do("GET", apiPath+"query?timeout=100ms&query="+url.QueryEscape(query), "")
	if a.Status != 503 && a.Status != 422 || time.Since(start) > 20*time.Second {
		t.Errorf("nested subqueries over a year: %d %s after %v", a.Status, a.Body, time.Since(start))
	}
	for _, query := range []string{"topk(1e9, up)", `up{job=~"(a+)+$"}`, "count_values(\"v\", up)"} {
		if a := h.Do("GET", apiPath+"query?time=2&query="+url.QueryEscape(query), ""); a.Status != 200 {
			t.Errorf("%s: %d %s", query, a.Status, a.Body)
		}
	}
}
