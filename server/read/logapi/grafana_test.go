package logapi_test

import (
	"net/url"
	"strings"
	"testing"
)

// TestLogAPIAsGrafanaAsks: the requests of Grafana's data source for Loki: its back end asks for lines and numbers with
// times in nanoseconds, steps in milliseconds and labels by kind, its front end for what the editor offers.
func TestLogAPIAsGrafanaAsks(t *testing.T) {
	h := house(t, nil)
	const span = "start=1700000400000000000&end=1700000500000000000&"
	for _, c := range []struct{ what, path, want string }{
		{"health check", "query?direction=backward&time=4000000000&" + q("vector(1)+vector(1)"),
			`{"status":"success","data":{"resultType":"vector","result":[{"metric":{},"value":[4000000000,"2"]}],`},
		{"panel of lines", "query_range?" + span + "direction=backward&limit=1000&step=500ms&" +
			q(`{app="shop"} |= "pay"`),
			`{"status":"success","data":{"resultType":"streams","encodingFlags":["categorize-labels"],"result":[` +
				`{"stream":{"app":"shop","level":"error","service_name":"shop","service_table":"loki_logs"},"values":[["1700000400000000000","pay \u003cb\u003e failed",` +
				`{"structuredMetadata":{"detected_level":"error","trace":"t1"}}]]}],`},
		{"panel of numbers", "query_range?" + span + "direction=backward&step=60000ms&" +
			q(`sum by (app) (count_over_time({app=~".+"}[1m]))`),
			`{"status":"success","data":{"resultType":"matrix","result":[{"metric":{"app":"api"},"values":[[1700000460,"1"`},
		{"instant query", "query?direction=backward&time=1700000460000000000&" + q(`count_over_time({app="api"}[1m])`),
			`{"status":"success","data":{"resultType":"vector","result":[{"metric":{"app":"api","service_table":"loki_logs"},` +
				`"value":[1700000460,"1"]}],`},
		{"volume of lines", "query_range?" + span + "step=100000ms&" +
			q(`sum by (level, detected_level) (count_over_time({app="shop"} | drop __error__[100s]))`),
			`{"status":"success","data":{"resultType":"matrix","result":[{"metric":{"detected_level":"error",` +
				`"level":"error"},"values":[`},
		{"context of a line, behind it", "query_range?start=1700000400000000000&end=1700007600000000000&limit=10&" +
			"direction=forward&" + q(`{app="shop",level="error"}`),
			`{"status":"success","data":{"resultType":"streams","encodingFlags":["categorize-labels"],"result":[` +
				`{"stream":{"app":"shop","level":"error","service_name":"shop","service_table":"loki_logs"},"values":[["1700000400000000000",`},
		{"label browser", "labels?" + span, `{"status":"success","data":["app","level","service_name","service_table"]}`},
		{"values for a selector", "label/app/values?" + span + q(`{level="error"}`),
			`{"status":"success","data":["shop"]}`},
		{"variable by series", "series?" + span + "match%5B%5D=" + url.QueryEscape(`{app="api"}`),
			`{"status":"success","data":[{"app":"api","service_name":"api","service_table":"loki_logs"}]}`},
		{"size of a query", "index/stats?" + span + q(`{app="shop"}`),
			`{"streams":1,"chunks":1,"bytes":31,"entries":2}`},
		{"whether labels are detected", "detected_labels?" + span,
			`{"detectedLabels":[{"label":"app","cardinality":2}`},
		{"fields", "detected_fields?" + span + "limit=1000&" + q(`{app="api"}`),
			`{"fields":[{"label":"detected_level"`},
		// what Drilldown asks besides
		{"services", "index/volume?" + span + "limit=5000&targetLabels=service_name&" + q(`{service_name=~".+"}`),
			`{"status":"success","data":{"resultType":"vector","result":[{"metric":{"service_name":"api"},` +
				`"value":[1700000500,"31"]},{"metric":{"service_name":"shop"},"value":[1700000500,"31"]}],`},
		{"services over time", "index/volume_range?" + span + "step=100s&targetLabels=service_name&" +
			q(`{service_name="shop"}`),
			`{"status":"success","data":{"resultType":"vector","result":[{"metric":{"service_name":"shop"},`},
		{"lines of a service by level", "query_range?" + span + "step=100000ms&" + q(`sum by (detected_level) `+
			`(count_over_time({service_name="api"} | json | logfmt | drop __error__, __error_details__ [100s]))`),
			`{"status":"success","data":{"resultType":"matrix","result":[{"metric":{"detected_level":"unknown"},`},
		{"lines of a service", "query_range?" + span + "limit=1000&" + q("{service_name=`shop`} | json  | logfmt | "+
			"drop __error__, __error_details__ | detected_level=`error`"),
			`{"status":"success","data":{"resultType":"streams","encodingFlags":["categorize-labels"],"result":[` +
				`{"stream":{"app":"shop","level":"error","service_name":"shop","service_table":"loki_logs"},"values":[[`},
		{"values of a label", "label/service_name/values?" + span, `{"status":"success","data":["api","shop"]}`},
		{"shapes of a service", "patterns?" + span + q("{service_name=`shop`}"),
			`{"status":"success","data":[{"pattern":"`},
		{"labels of a service", "detected_labels?" + span + q("{service_name=`shop`}"),
			`{"detectedLabels":[{"label":"app","cardinality":1},{"label":"level","cardinality":1},`},
		{"values of a field", "detected_field/user/values?" + span + q("{service_name=`shop`}"),
			`{"values":["ann"],"limit":1000}`},
		{"lines of a field", "query_range?" + span + "step=100000ms&" + q("sum by (user) (count_over_time("+
			"{service_name=`shop`} | logfmt | user!=\"\" [100s]))"),
			`{"status":"success","data":{"resultType":"matrix","result":[{"metric":{"user":"ann"},`},
		{"limits", "drilldown-limits", `{"limits":{"discover_log_levels":true,`},
		{"build", "status/buildinfo", `{"version":"`},
	} {
		a := asked(h, c.path, "X-Loki-Response-Encoding-Flags", "categorize-labels", "X-Query-Tags",
			"Source=datasample")
		if a.Status != 200 || !strings.HasPrefix(a.Body, c.want) {
			t.Errorf("%s: %s: %d\n got %s\nwant %s", c.what, c.path, a.Status, a.Body, c.want)
		}
	}
	// the text of an error is the whole body
	if a := asked(h, "query_range?"+span+q(`{app="shop"`)); a.Status != 400 ||
		!strings.HasPrefix(a.Header.Get("Content-Type"), "text/plain") || !strings.HasPrefix(a.Body, "parse error at") {
		t.Errorf("a query with a fault: %d %s %s", a.Status, a.Header.Get("Content-Type"), a.Body)
	}
}
