package otlp_test

import (
	"fmt"
	"strings"
	"testing"

	"varve/server/servertest"
)

// TestOTLPMetricNames: the tables that metrics go to, by the strategies of the header.
func TestOTLPMetricNames(t *testing.T) {
	h := servertest.Real(t, nil)
	point := `{"dataPoints":[{"timeUnixNano":"1700000000123456789","asDouble":1}]`
	const strategy = "x-service-otlp-metric-translation-strategy"
	for _, c := range []struct{ name, unit, kind, strategy, want string }{
		{"memory.usage", "By", `"gauge":` + point + `}`, "", "memory_usage_bytes"},
		{"cache.hit_ratio", "1", `"gauge":` + point + `}`, "", "cache_hit_ratio"},
		{"system.network.io", "By", `"sum":` + point + `,"isMonotonic":true}`, "", "system_network_io_bytes_total"},
		{"app.cost.usage", "USD", `"sum":` + point + `,"isMonotonic":true}`, "", "app_cost_usage_USD_total"},
		{"queue.length", "{item}", `"sum":` + point + `}`, "", "queue_length"},
		{"disk.rate", "By/s", `"gauge":` + point + `}`, "", "disk_rate_bytes_per_second"},
		{"a.total.b", "", `"sum":` + point + `,"isMonotonic":true}`, "", "a_b_total"},
		{"0.start", "", `"gauge":` + point + `}`, "", "_0_start"},
		{"plain.name", "By", `"sum":` + point + `,"isMonotonic":true}`, "UnderscoreEscapingWithoutSuffixes",
			"plain_name"},
		{"http.server.request-duration_total", "ms", `"sum":` + point + `,"isMonotonic":true}`,
			"NoUTF8EscapingWithSuffixes", "http.server.request-duration_milliseconds_total"},
		{"rate_per_second", "By/s", `"gauge":` + point + `}`, "NoUTF8EscapingWithSuffixes", "rate_bytes_per_second"},
		{"as.it-is", "By", `"gauge":` + point + `}`, "NoTranslation", "as.it-is"},
	} {
		a := h.OTLP("metrics", servertest.OTLPMetric(fmt.Sprintf(`{"name":%q,"unit":%q,%s}`, c.name, c.unit, c.kind)),
			strategy, c.strategy)
		h.Want(a, 200, "{}")
		h.Holds(fmt.Sprintf(`SELECT CAST(service_timestamp AS BIGINT), service_value FROM "%s"`, c.want),
			"[[1.700000000123e+12 1]]")
	}
	h.Want(h.OTLP("metrics", "{}", strategy, "Underscore"), 400, strategy)
	h.Want(h.Do("GET", "/v1/metricsapi/api/v1/metadata?metric=system_network_io_bytes_total", ""), 200, `"counter"`)
}

// TestOTLPMetricLabels: which attributes become labels, and what they are called.
func TestOTLPMetricLabels(t *testing.T) {
	h := servertest.Real(t, nil)
	gauge := func(name string) string {
		return servertest.OTLPMetric(`{"name":"` + name +
			`","gauge":{"dataPoints":[{"timeUnixNano":1700000000000000000,"asInt":"3","attributes":[{"key":"_x","value":{"stringValue":"1"}},{"key":"1y","value":{"boolValue":true}},` +
			`{"key":"a-b","value":{"doubleValue":0.5}},{"key":"list","value":{"arrayValue":{"values":[]}}},{"key":"job","value":{"stringValue":"own"}},{"key":"__name__","value":{"stringValue":"other"}}]}]}}`)
	}
	h.Want(h.OTLP("metrics", gauge("m1")), 200, "{}")
	h.Holds(`SELECT * FROM m1`, "[[1.7e+12 3 0.5 i-1 own true 1 i-1 shop]]")
	h.Holds(`SELECT column_name FROM information_schema.columns WHERE table_name = 'm1' ORDER BY ordinal_position`,
		"[[service_timestamp] [service_value] [a_b] [instance] [job] [key_1y] [key_x] [service_instance_id] [service_name]]")
	h.Want(h.OTLP("metrics", gauge("m2"), "x-service-otlp-metric-promote-all-resource-attrs", "true",
		"x-service-otlp-metric-ignore-resource-attrs", "host.name;none", "x-service-otlp-metric-promote-scope-attrs",
		"1"), 200, "{}")
	h.Holds(`SELECT zone_id, otel_scope_name, otel_scope_version, otel_scope_schema_url, otel_scope_a_b FROM m2`,
		"[[7 lib 2 http://s 1.5]]")
	h.Want(h.Do("GET", "/v1/sql?sql=SELECT+host_name+FROM+m2", ""), 400, "host_name")
	h.Want(h.OTLP("metrics", gauge("m3"), "x-service-otlp-metric-promote-resource-attrs", "host.name; other"), 200,
		"{}")
	h.Holds(`SELECT host_name FROM m3`, "[[h]]")
	h.Want(h.OTLP("metrics", gauge("m4"), "x-service-otlp-metric-translation-strategy", "NoTranslation"), 200, "{}")
	h.Holds(`SELECT "a-b", "_x", "service.name" FROM m4`, "[[0.5 1 shop]]")
}

// TestOTLPHistograms: the rows of all kinds of metrics that have several.
func TestOTLPHistograms(t *testing.T) {
	h := servertest.Real(t, nil)
	h.Want(h.OTLP("metrics",
		servertest.OTLPMetric(
			`{"name":"rpc.duration","unit":"ms","histogram":{"aggregationTemporality":"AGGREGATION_TEMPORALITY_CUMULATIVE","dataPoints":[{"timeUnixNano":"1700000000000000000","count":"10","sum":12.5,"bucketCounts":["1",2,"3",4],"explicitBounds":[0.005,1,10]},`+
				`{"timeUnixNano":"1700000001000000000","count":3,"bucketCounts":[],"explicitBounds":[]},{"timeUnixNano":"1700000002000000000","flags":1}]}}`)), 200, "{}")
	h.Holds(`SELECT le, service_value FROM rpc_duration_milliseconds_bucket ORDER BY service_timestamp, service_value`,
		"[[0.005 1] [1 3] [10 6] [+Inf 10] [+Inf 3]]")
	h.Holds(`SELECT service_value FROM rpc_duration_milliseconds_sum`, "[[12.5]]")
	h.Holds(`SELECT service_value FROM rpc_duration_milliseconds_count ORDER BY service_timestamp`, "[[10] [3]]")
	h.Want(h.Do("GET",
		"/v1/metricsapi/api/v1/query?query=histogram_quantile(0.5,rpc_duration_milliseconds_bucket)&time=1700000000",
		""), 200, `"7`)

	h.Want(h.OTLP("metrics",
		servertest.OTLPMetric(
			`{"name":"expo","exponentialHistogram":{"dataPoints":[{"timeUnixNano":"1700000000000000000","count":"11","sum":3,"scale":0,"zeroCount":"2","zeroThreshold":0.25,"positive":{"offset":1,"bucketCounts":["4","3"]},"negative":{"offset":-1,"bucketCounts":[2]}}]}}`)), 200, "{}")
	h.Holds(`SELECT le, service_value FROM expo_bucket ORDER BY service_value, le DESC`,
		"[[-0.5 2] [0.25 4] [4 8] [8 11] [+Inf 11]]")
	h.Holds(`SELECT service_value FROM expo_count`, "[[11]]")

	h.Want(h.OTLP("metrics",
		servertest.OTLPMetric(
			`{"name":"sum.mary","summary":{"dataPoints":[{"timeUnixNano":"1700000000000000000","count":"4","sum":9,"quantileValues":[{"quantile":0.5,"value":2},{"quantile":1,"value":"NaN"}]}]}}`)), 200, "{}")
	h.Holds(`SELECT quantile, isnan(service_value) FROM sum_mary ORDER BY quantile`, "[[0.5 false] [1 true]]")
	h.Holds(`SELECT a.service_value, b.service_value FROM sum_mary_sum a, sum_mary_count b`, "[[9 4]]")

	for _, c := range []struct{ name, points, want string }{
		{"bounds and counts", `{"bucketCounts":[1],"explicitBounds":[1]}`, "one count more than bounds"},
		{"falling bounds", `{"bucketCounts":[1,2,3],"explicitBounds":[2,1]}`, "out of order"},
		{"too many", `{"bucketCounts":[` + strings.Repeat("1,", 3000) + `1],"explicitBounds":[]}`,
			"3001 buckets, the limit is"},
	} {
		h.Want(h.OTLP("metrics", servertest.OTLPMetric(`{"name":"bad","histogram":{"dataPoints":[`+c.points+`]}}`)),
			400, c.want)
	}
	h.Want(h.OTLP("metrics", servertest.OTLPMetric(`{"name":"bad","exponentialHistogram":{"dataPoints":[{"scale":21}]}}`)), 400,
		"scale 21")
}

// TestOTLPMetricsRefused: what cannot be kept is counted, the rest is stored.
func TestOTLPMetricsRefused(t *testing.T) {
	h := servertest.Real(t, nil)
	h.Want(h.Do("POST", "/v1/sql?sql=CREATE+TABLE+taken+(ts+TIMESTAMP+TIME+INDEX,+x+STRING)", ""), 200, "")
	point := `{"dataPoints":[{"timeUnixNano":"1700000000000000000","asDouble":1},{"timeUnixNano":"1700000001000000000","asDouble":2}]}`
	good, bad, nameless := `{"name":"good","gauge":`+point+`}`, `{"name":"taken","gauge":`+point+`}`,
		`{"name":"--","gauge":`+point+`}`
	a := h.OTLP("metrics", servertest.OTLPMetric(strings.Join([]string{good, bad, nameless}, ",")))
	h.Want(a, 200, `{"partialSuccess":{"rejectedDataPoints":"4","errorMessage":"a metric has the name \"--\"`)
	h.Holds(`SELECT count(*) FROM good`, "[[2]]")
	h.Want(h.OTLP("metrics", servertest.OTLPMetric(bad)), 400, `"code":3`)
	h.Want(h.OTLP("metrics", servertest.OTLPMetric(`{"name":"many","gauge":{"dataPoints":[{"asInt":1,"attributes":[`+
		manyAttributes(2000)+`]}]}}`)), 400, "has 2004 labels, the limit is")
	h.Want(h.Do("GET", "/metrics", ""), 200, `varve_otlp_records_refused_total{signal="metrics"}`)
}

func manyAttributes(n int) string {
	var list []string
	for i := range n {
		list = append(list, fmt.Sprintf(`{"key":"k%d","value":{"stringValue":"v"}}`, i))
	}
	return strings.Join(list, ",")
}

// TestOTLPExemplars: exemplars of all kinds of points belong to the series of their point or bucket; one that cannot be
// kept fails nothing.
func TestOTLPExemplars(t *testing.T) {
	h := servertest.Real(t, nil)
	const ids = `"traceId":"5b8efff798038103d269b633813fc60c","spanId":"eee19b7ec3c1b174"`
	for _, m := range []string{
		`{"name":"hits","sum":{"isMonotonic":true,"dataPoints":[{"timeUnixNano":"1700000000000000000","asInt":3,"attributes":[{"key":"code","value":{"stringValue":"200"}}],"exemplars":[{"timeUnixNano":"1700000000001000000","asInt":"2",` + ids + `,"filteredAttributes":[{"key":"user.id","value":{"intValue":7}},{"key":"list","value":{"arrayValue":{}}}]}]}]}}`,
		`{"name":"lat","histogram":{"dataPoints":[{"timeUnixNano":"1700000000000000000","count":"6","sum":1,"bucketCounts":[1,2,3],"explicitBounds":[0.5,1],"exemplars":[{"asDouble":0.5,` + ids + `},{"asDouble":0.75,"timeUnixNano":1700000000002000000},{"asDouble":9},{"traceId":"00"},{"asDouble":0.1,"filteredAttributes":[{"key":"a","value":{"stringValue":"` + strings.Repeat("x", 200) + `"}}],` + ids + `}]}]}}`,
		`{"name":"expo","exponentialHistogram":{"dataPoints":[{"timeUnixNano":"1700000000000000000","count":"11","sum":3,"scale":0,"zeroCount":"2","zeroThreshold":0.25,"positive":{"offset":1,"bucketCounts":["4","3"]},"negative":{"offset":-1,"bucketCounts":[2]},"exemplars":[{"asDouble":3},{"asDouble":-0.75},{"asDouble":0.1},{"asDouble":100}]}]}}`,
	} {
		h.Want(h.OTLP("metrics", servertest.OTLPMetric(m)), 200, "{}")
	}
	query := func(of string, want ...string) {
		t.Helper()
		a := h.Do("GET", "/v1/metricsapi/api/v1/query_exemplars?start=1699999999&end=1700000001&query="+of, "")
		for _, part := range want {
			h.Want(a, 200, part)
		}
	}
	query("hits_total", `"code":"200"`, `"labels":{"span_id":"eee19b7ec3c1b174","trace_id":"5b8efff798038103d269b633813fc60c","user_id":"7"},"value":"2","timestamp":1700000000.001`)
	query(`lat_bucket{le="0.5"}`, `{"span_id":"eee19b7ec3c1b174","trace_id":"5b8efff798038103d269b633813fc60c"},"value":"0.5","timestamp":1700000000}`,
		`{"span_id":"eee19b7ec3c1b174","trace_id":"5b8efff798038103d269b633813fc60c"},"value":"0.1"`)
	query(`lat_bucket{le="1"}`, `"exemplars":[{"labels":{},"value":"0.75","timestamp":1700000000.002}]`)
	query(`lat_bucket{le="%2BInf"}`, `"exemplars":[{"labels":{},"value":"9","timestamp":1700000000}]`)
	for bound, value := range map[string]string{"4": "3", "-0.5": "-0.75", "0.25": "0.1", "%2BInf": "100"} {
		query(`expo_bucket{le="`+bound+`"}`, `"exemplars":[{"labels":{},"value":"`+value+`","timestamp":1700000000}]`)
	}
}
