package logapi_test

import (
	"strings"
	"testing"
)

// TestLogAPIAsLogcliAsks: the requests of logcli: times in nanoseconds, steps and intervals in seconds with a fraction,
// directions in capitals, one match for each selector.
func TestLogAPIAsLogcliAsks(t *testing.T) {
	h := house(t, nil)
	const span = "end=1700000500000000000&start=1700000400000000000"
	for _, c := range []struct{ what, path, want string }{
		{"query", "query_range?direction=BACKWARD&" + span + "&limit=30&" + q(`{app="shop"} |= "pay"`),
			`{"status":"success","data":{"resultType":"streams","result":[{"stream":{"app":"shop",`},
		{"query forward, one line in 15 s", "query_range?direction=FORWARD&interval=15.000000&" + span + "&limit=30&" +
			q(`{app="shop"}`), `{"status":"success","data":{"resultType":"streams","result":[{"stream":{"app":"shop",` +
			`"detected_level":"error","level":"error","service_name":"shop","service_table":"loki_logs","trace":"t1"},` +
			`"values":[["1700000400000000000","pay \u003cb\u003e failed"]]}],`},
		{"query of numbers", "query_range?direction=BACKWARD&" + span + "&limit=30&step=50.000000&" +
			q(`sum(count_over_time({app=~".+"}[50s]))`), `{"status":"success","data":{"resultType":"matrix","result":[` +
			`{"metric":{},"values":[[1700000400,"1"],[1700000450,"2"]]}],`},
		{"instant-query", "query?direction=BACKWARD&limit=30&time=1700000460000000000&" +
			q(`sum by (app) (count_over_time({app="api"}[1m]))`), `{"status":"success","data":{"resultType":"vector",` +
			`"result":[{"metric":{"app":"api"},"value":[1700000460,"1"]}],`},
		{"labels", "labels?" + span, `{"status":"success","data":["app","level","service_name","service_table"]}`},
		{"labels app", "label/app/values?" + span, `{"status":"success","data":["api","shop"]}`},
		{"series", "series?" + span + "&match=%7Bapp%3D%22api%22%7D", `{"status":"success","data":[{"app":"api",`},
		{"stats", "index/stats?" + span + "&" + q(`{app="shop"}`),
			`{"streams":1,"chunks":1,"bytes":31,"entries":2}`},
		{"volume", "index/volume?aggregateBy=series&" + span + "&limit=30&" + q(`{app=~".+"}`) + "&targetLabels=app",
			`{"status":"success","data":{"resultType":"vector","result":[{"metric":{"app":"api"},`},
		{"volume_range", "index/volume_range?aggregateBy=labels&" + span + "&limit=30&step=10&" + q(`{app="shop"}`),
			`{"status":"success","data":{"resultType":"matrix","result":[{"metric":{"app":""},`},
		{"detected-fields", "detected_fields?" + span + "&limit=1000&line_limit=1000&" + q(`{app="api"}`),
			`{"fields":[{"label":"detected_level","type":"string","cardinality":1,"parsers":null},`},
	} {
		a := asked(h, c.path, "Cache-Control", "no-cache", "User-Agent", "loki-logcli/3.7.8 ()", "X-Query-Tags",
			"Source=logcli")
		if a.Status != 200 || !strings.HasPrefix(a.Body, c.want) {
			t.Errorf("%s: %s: %d\n got %s\nwant %s", c.what, c.path, a.Status, a.Body, c.want)
		}
	}
}
