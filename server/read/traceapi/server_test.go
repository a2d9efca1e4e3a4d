package traceapi_test

import (
	"encoding/json"
	"fmt"
	"net"
	"net/url"
	"strings"
	"testing"

	"varve/server"
	"varve/server/servertest"
)

// shopped are the spans of two traces: a server's with its client's child, and another service's.
const shopped = `{"resourceSpans":[
 {"resource":{"attributes":[{"key":"service.name","value":{"stringValue":"it's a \"shop\"/100%25"}},{"key":"host.name","value":{"stringValue":"h1"}},{"key":"replica","value":{"intValue":2}}]},
  "scopeSpans":[{"scope":{"name":"lib","version":"1.2","attributes":[{"key":"s","value":{"boolValue":true}}]},"spans":[
   {"traceId":"0af7651916cd43dd8448eb211c80319c","spanId":"b7ad6b7169203331","name":"GET /o'clock","kind":2,"startTimeUnixNano":"1700000000000001999","endTimeUnixNano":"1700000000001501999",
    "traceState":"a=b","status":{"code":2,"message":"boom"},
    "attributes":[{"key":"http.response.status_code","value":{"intValue":500}},{"key":"ratio","value":{"doubleValue":0.5}},{"key":"cached","value":{"boolValue":false}},{"key":"user","value":{"stringValue":"O'Hara\"; DROP TABLE x --"}},
     {"key":"list","value":{"arrayValue":{"values":[{"intValue":1},{"stringValue":"a"}]}}},{"key":"raw","value":{"bytesValue":"AQL/"}}],
    "events":[{"timeUnixNano":"1700000000000500000","name":"retry","attributes":[{"key":"n","value":{"intValue":3}},{"key":"why","value":{"stringValue":"slow"}},{"key":"x","value":{"doubleValue":1}}]}],
    "links":[{"traceId":"0000000000000000000000000000abcd","spanId":"02"}]},
   {"traceId":"0af7651916cd43dd8448eb211c80319c","spanId":"b7ad6b7169203332","parentSpanId":"b7ad6b7169203331","name":"query","kind":3,"startTimeUnixNano":"1700000000000101000","endTimeUnixNano":"1700000000000201000","status":{"code":1}}]}]},
 {"resource":{"attributes":[{"key":"service.name","value":{"stringValue":"db"}}]},
  "scopeSpans":[{"spans":[
   {"traceId":"0af7651916cd43dd8448eb211c80319c","spanId":"b7ad6b7169203333","parentSpanId":"b7ad6b7169203332","name":"scan","startTimeUnixNano":"1700000000000111000","endTimeUnixNano":"1700000000000121000"},
   {"traceId":"0000000000000000000000000000abcd","spanId":"0000000000000002","name":"vacuum","kind":1,"startTimeUnixNano":"1700000060000000000","endTimeUnixNano":"1700000120000000000","attributes":[{"key":"http.response.status_code","value":{"intValue":200}}]}]}]}]}`

const shop = `it's a "shop"/100%25`

// traced asks the API of traces; parameters are names and values in turn.
func traced(h *servertest.House, path string, parameters ...string) servertest.Answer {
	h.Helper()
	v := url.Values{}
	for i := 0; i < len(parameters); i += 2 {
		v.Add(parameters[i], parameters[i+1])
	}
	return h.Do("GET", "/v1/jaeger/api/"+path+"?"+v.Encode(), "")
}

// found are the ids and numbers of spans of the traces of an answer.
func found(h *servertest.House, a servertest.Answer) string {
	h.Helper()
	var out struct {
		Data []struct {
			TraceID string
			Spans   []json.RawMessage
		}
		Total  int
		Errors []any
	}
	if err := json.Unmarshal([]byte(a.Body), &out); err != nil || a.Status != 200 || out.Total != len(out.Data) ||
		len(out.Errors) > 0 {
		h.Fatalf("%v: %d %s", err, a.Status, a.Body)
	}
	var list []string
	for _, t := range out.Data {
		list = append(list, fmt.Sprintf("%s:%d", strings.TrimLeft(t.TraceID, "0")[:4], len(t.Spans)))
	}
	return strings.Join(list, " ")
}

// TestTraceAPILists: services and operations, whatever their names.
func TestTraceAPILists(t *testing.T) {
	h := servertest.Real(t, nil)
	const nothing, none = `{"data":[],"total":0,"limit":0,"offset":0,"errors":[]}`,
		`{"data":null,"total":0,"limit":0,"offset":0,"errors":[]}`
	for _, path := range []string{"services", "services/x/operations", "operations?service=x", "traces?service=x",
		"traces?traceID=1", "dependencies"} {
		h.Want(h.Do("GET", "/v1/jaeger/api/"+path, ""), 200, none)
	}
	h.Want(h.OTLP("traces", shopped), 200, "{}")
	h.Want(traced(h, "services"), 200,
		`{"data":["db","it's a \"shop\"/100%25"],"total":2,"limit":0,"offset":0,"errors":[]}`)
	h.Want(traced(h, "services/"+url.PathEscape("it's")+"/operations"), 200, nothing)
	h.Want(traced(h, "services/db/operations"), 200, `{"data":["scan","vacuum"],"total":2,`)
	h.Want(traced(h, "services/"+url.PathEscape(shop)+"/operations"), 200,
		`{"data":["GET /o'clock","query"],"total":2,`)
	h.Want(traced(h, "operations", "service", shop), 200,
		`{"data":[{"name":"GET /o'clock","spanKind":"server"},{"name":"query","spanKind":"client"}],"total":2,`)
	h.Want(traced(h, "operations", "service", shop, "spanKind", "client"), 200,
		`{"data":[{"name":"query","spanKind":"client"}],"total":1,`)
	h.Want(traced(h, "operations", "service", "db"), 200, `{"name":"scan","spanKind":""}`)
	h.Want(traced(h, "operations", "service", "db", "spanKind", "x' OR '1'='1"), 200, nothing)
	h.Want(traced(h, "operations"), 400,
		`{"data":null,"total":0,"limit":0,"offset":0,"errors":[{"code":400,"msg":"parameter 'service' is required"}]}`)
	h.Want(h.Do("GET", "/v1/jaeger/api/services", "", "x-service-trace-table-name", `no" such`), 200, none)
	h.Want(h.Do("GET", "/v1/jaeger/api/services?db=absent", ""), 400, `"msg":"Database not found: absent"`)
}

// TestTraceAPIByHostAlone: a data source that was given a host alone asks below it, with the same rights.
func TestTraceAPIByHostAlone(t *testing.T) {
	h := servertest.Real(t, nil)
	h.Want(h.Do("POST", "/v1/traces",
		`{"resourceSpans":[{"resource":{"attributes":[{"key":"service.name","value":{"stringValue":"shop"}}]},"scopeSpans":[{"spans":[{"traceId":"5b8efff798038103d269b633813fc60c","spanId":"eee19b7ec3c1b174","name":"pay","startTimeUnixNano":"1700000000000000000","endTimeUnixNano":"1700000001000000000"}]}]}]}`, "Content-Type", "application/json"), 200, "")
	for _, path := range []string{"/api/services", "/api/services/shop/operations", "/api/operations?service=shop",
		"/api/traces/5b8efff798038103d269b633813fc60c", "/api/traces?service=shop&start=1", "/api/dependencies"} {
		own := h.Do("GET", "/v1/jaeger"+path, "")
		if alone := h.Do("GET", path, ""); alone.Status != 200 || alone.Body != own.Body {
			t.Errorf("%s: %d %s, want %s", path, alone.Status, alone.Body, own.Body)
		}
	}
	guarded := servertest.Real(t, func(o *server.Options) {
		o.Users = servertest.Users(t, "static_user_provider:cmd:writer:wo=w")
	})
	guarded.Want(guarded.Do("GET", "/api/services", ""), 401, "")
	guarded.Want(guarded.Do("GET", "/api/services", "", "Authorization", servertest.Basic("writer", "w")), 403, "")
	guarded.Want(guarded.Do("POST", "/upload", "", "Content-Type", "application/vnd.fdo.journal"), 401, "")
}

// TestTraceAPITrace: a trace as dashboards read it.
func TestTraceAPITrace(t *testing.T) {
	h := servertest.Real(t, nil)
	h.Want(traced(h, "traces/0af7"), 404,
		`{"data":null,"total":0,"limit":0,"offset":0,"errors":[{"code":404,"msg":"trace not found"}]}`)
	h.Want(h.OTLP("traces", shopped), 200, "{}")
	const want = `{"data":[{"traceID":"0af7651916cd43dd8448eb211c80319c","spans":[` +
		`{"traceID":"0af7651916cd43dd8448eb211c80319c","spanID":"b7ad6b7169203331","operationName":"GET /o'clock","references":[{"refType":"FOLLOWS_FROM","traceID":"0000000000000000000000000000abcd","spanID":"02"}],` +
		`"startTime":1700000000000001,"duration":1500,"tags":[{"key":"otel.scope.s","type":"bool","value":true},{"key":"cached","type":"bool","value":false},{"key":"http.response.status_code","type":"int64","value":500},` +
		`{"key":"list","type":"string","value":"[1,\"a\"]"},{"key":"ratio","type":"float64","value":0.5},{"key":"raw","type":"binary","value":"AQL/"},{"key":"user","type":"string","value":"O'Hara\"; DROP TABLE x --"},` +
		`{"key":"span.kind","type":"string","value":"server"},{"key":"otel.status_code","type":"string","value":"ERROR"},{"key":"otel.status_description","type":"string","value":"boom"},{"key":"w3c.tracestate","type":"string","value":"a=b"},` +
		`{"key":"otel.scope.name","type":"string","value":"lib"},{"key":"otel.scope.version","type":"string","value":"1.2"},{"key":"error","type":"bool","value":true}],` +
		`"logs":[{"timestamp":1700000000000500,"fields":[{"key":"event","type":"string","value":"retry"},{"key":"n","type":"int64","value":3},{"key":"why","type":"string","value":"slow"},{"key":"x","type":"float64","value":1.0}]}],"processID":"p1","warnings":null},` +
		`{"traceID":"0af7651916cd43dd8448eb211c80319c","spanID":"b7ad6b7169203332","operationName":"query","references":[{"refType":"CHILD_OF","traceID":"0af7651916cd43dd8448eb211c80319c","spanID":"b7ad6b7169203331"}],` +
		`"startTime":1700000000000101,"duration":100,"tags":[{"key":"otel.scope.s","type":"bool","value":true},{"key":"span.kind","type":"string","value":"client"},{"key":"otel.status_code","type":"string","value":"OK"},` +
		`{"key":"otel.scope.name","type":"string","value":"lib"},{"key":"otel.scope.version","type":"string","value":"1.2"}],"logs":[],"processID":"p1","warnings":null},` +
		`{"traceID":"0af7651916cd43dd8448eb211c80319c","spanID":"b7ad6b7169203333","operationName":"scan","references":[{"refType":"CHILD_OF","traceID":"0af7651916cd43dd8448eb211c80319c","spanID":"b7ad6b7169203332"}],` +
		`"startTime":1700000000000111,"duration":10,"tags":[],"logs":[],"processID":"p2","warnings":null}],` +
		`"processes":{"p1":{"serviceName":"it's a \"shop\"/100%25","tags":[{"key":"host.name","type":"string","value":"h1"},{"key":"replica","type":"int64","value":2}]},"p2":{"serviceName":"db","tags":[]}},"warnings":null}],` +
		`"total":1,"limit":0,"offset":0,"errors":[]}`
	for _, flushed := range []bool{false, true} {
		for _, id := range []string{"0af7651916cd43dd8448eb211c80319c", "AF7651916CD43DD8448EB211C80319C",
			"0af76519-16cd-43dd-8448-eb211c80319c"} {
			if a := traced(h, "traces/"+id); a.Status != 200 || a.Body != want {
				t.Errorf("flushed %v: %d\n got %s\nwant %s", flushed, a.Status, a.Body, want)
			}
		}
		h.Want(h.Do("POST", "/v1/sql?sql=ADMIN+flush_table('opentelemetry_traces')", ""), 200, "")
	}
	if got := found(h, traced(h, "traces", "traceID", "abcd", "traceID", "0af7651916cd43dd8448eb211c80319c", "traceID",
		"77")); got != "abcd:1 af76:3" {
		t.Error(got)
	}
	h.Want(traced(h, "traces/77"), 404, "trace not found")
	for _, id := range []string{"x", "1%27%20OR%20%271", "-1", strings.Repeat("a", 129)} {
		h.Want(traced(h, "traces/"+id), 400, "is not an id of hexadecimal digits")
	}
	h.Want(h.Do("GET", "/v1/sql?sql=CREATE+TABLE+plain(timestamp+TIMESTAMP+TIME+INDEX,+trace_id+STRING)", ""), 200, "")
	h.Want(h.Do("GET", "/v1/jaeger/api/traces/77", "", "x-service-trace-table-name", "plain"), 400,
		`table \"plain\" is not a table of spans: it has no column timestamp of type`)
}

// TestTraceAPISearch: each condition, and those that are wrong.
func TestTraceAPISearch(t *testing.T) {
	h := servertest.Real(t, nil)
	h.Want(h.OTLP("traces", shopped), 200, "{}")
	h.Want(h.OTLP("traces", shopped, "x-service-trace-table-name", `odd "table"`), 200, "{}")
	all := []string{"start", "1699999999000000", "end", "1700000100000000"}
	for _, c := range []struct {
		service, more, want string
	}{
		{shop, "", "af76:3"},
		{"db", "", "abcd:1 af76:3"},
		{"db", "limit=1", "abcd:1"},
		{"db", "limit=&operation=&tags=&minDuration=", "abcd:1 af76:3"},
		{"db", "operation=scan", "af76:3"},
		{shop, "operation=GET /o'clock", "af76:3"},
		{shop, "operation=' OR '1'='1", ""},
		{"x' OR 1=1 --", "", ""},
		{"db", "end=1700000050000000", "af76:3"},
		{"db", "start=1700000050000000", "abcd:1"},
		{shop, "start=1700000000000001&end=1700000000000001", "af76:3"}, // within the microsecond
		{shop, "start=1700000000000002&end=1700000000000100", ""},
		{shop, "minDuration=1.5ms", "af76:3"},
		{shop, "minDuration=1.500001ms", ""},
		{"db", "maxDuration=1s", "af76:3"},
		{"db", "maxDuration=1m&minDuration=60000ms", "abcd:1"},
		{"db", "maxDuration=0s", ""},
		{shop, `tags={"http.response.status_code":"500"}`, "af76:3"},
		{shop, `tags={"http.response.status_code":500}`, "af76:3"},
		{"db", `tags={"http.response.status_code":"500"}`, ""},
		{shop, `tags={"http.response.status_code":"five"}`, ""},
		{shop, `tags={"ratio":"0.5"}`, "af76:3"},
		{shop, `tags={"ratio":"5e-1","cached":"false"}`, "af76:3"},
		{shop, `tags={"cached":"true"}`, ""},
		{shop, `tags={"cached":false}`, "af76:3"},
		{shop, `tags={"list":"[1,\"a\"]"}`, "af76:3"},
		{shop, `tags={"user":"O'Hara\"; DROP TABLE x --"}`, "af76:3"},
		{shop, `tags={"user":"' OR ''='"}`, ""},
		{shop, `tags={"x\" IS NULL OR \"y":"1"}`, ""},
		{shop, `tags={"host.name":"h1","replica":"2"}`, "af76:3"},
		{shop, `tags={"replica":"3"}`, ""},
		{shop, `tags={"error":"true"}`, "af76:3"},
		{"db", `tags={"error":"true"}`, ""},
		{"db", `tags={"error":"false","span.kind":"internal"}`, "abcd:1"},
		{shop, `tags={"span.kind":"client","otel.status_code":"OK"}`, "af76:3"},
		{shop,
			`tags={"otel.status_description":"boom","w3c.tracestate":"a=b","otel.scope.name":"lib","otel.scope.version":"1.2","otel.scope.s":"true"}`, "af76:3"},
		{shop, `tag=http.response.status_code:500&tag=cached:false`, "af76:3"},
		{shop, `tag=http.response.status_code:500&tag=cached:true`, ""},
	} {
		more, err := url.ParseQuery(strings.ReplaceAll(strings.ReplaceAll(c.more, ";", "%3B"), " ", "+"))
		if err != nil {
			t.Fatal(err)
		}
		parameters := append([]string{"service", c.service}, all...)
		for name, values := range more {
			for _, v := range values {
				parameters = append(parameters, name, v)
			}
		}
		if got := found(h, traced(h, "traces", parameters...)); got != c.want {
			t.Errorf("%s %s: got %q, want %q", c.service, c.more, got, c.want)
		}
	}
	h.Want(traced(h, "traces", append(all, "service", shop, "tags",
		`{"negative":"-1","small":"7","big":"18446744073709551615"}`)...), 200, `{"data":[],"total":0,`)
	h.Want(h.Do("POST", "/v1/sql?sql="+
		url.QueryEscape(
			`ALTER TABLE opentelemetry_traces ADD COLUMN "span_attributes.negative" TINYINT, ADD COLUMN "span_attributes.small" INT UNSIGNED, ADD COLUMN "span_attributes.big" BIGINT UNSIGNED`), ""), 200, "")
	h.Want(h.Do("POST", "/v1/sql?sql="+
		url.QueryEscape(
			`INSERT INTO opentelemetry_traces (timestamp, duration_nano, trace_id, span_id, service_name, "span_attributes.negative", "span_attributes.small", "span_attributes.big")
		VALUES ('2023-11-14T22:13:21Z', 1000, 'bbbbbb', '1', 'typed', -1, 7, 18446744073709551615)`), ""), 200, "")
	a := traced(h, "traces", append(all, "service", "typed", "tags",
		`{"negative":"-1","small":"7","big":"18446744073709551615"}`)...)
	h.Want(a, 200,
		`[{"key":"negative","type":"int64","value":-1},{"key":"small","type":"int64","value":7},{"key":"big","type":"int64","value":18446744073709551615}]`)
	h.Want(traced(h, "traces", "service", "db"), 200, `{"data":[],"total":0,`) // of the last two days
	a = h.Do("GET", "/v1/jaeger/api/traces?service=db&start=0&end=1700000100000000", "", "x-service-trace-table-name",
		`odd "table"`)
	if got := found(h, a); got != "abcd:1 af76:3" {
		t.Error(got)
	}
	many := map[string]int{}
	for i := range 33 {
		many[fmt.Sprint(i)] = i
	}
	tags, err := json.Marshal(many)
	if err != nil {
		t.Fatal(err)
	}
	for _, c := range [][3]string{
		{"start", "yesterday", "parameter 'start': \\\"yesterday\\\" is not a time"},
		{"end", "9223372036854775807", "before the year 2262"}, {"end", "1", "it is before the start"},
		{"minDuration", "5", "is not a duration such as"}, {"maxDuration", "-1s", "is not a duration such as"},
		{"limit", "1501", "is not a number from 1 to 1500"}, {"limit", "0", "is not a number from 1"},
		{"tags", "{", "it is not a JSON object"}, {"tags", `{"a":[1]}`, `is not a text, number or boolean`},
		{"tags", `{} {}`, "it is not a JSON object"}, {"tag", "a", "not of the form"},
		{"tags", string(tags), "there are 33, the limit is 32"},
	} {
		h.Want(traced(h, "traces", "service", "db", "start", "1699999999000000", c[0], c[1]), 400, c[2])
	}
	h.Want(traced(h, "traces", "service", "db", "minDuration", "2s", "maxDuration", "1s"), 400,
		"'maxDuration' should be greater than 'minDuration'")
	h.Want(traced(h, "traces"), 400, "parameter 'service' is required")
}

// TestTraceAPILookback: a search without a start goes back as far as it says.
func TestTraceAPILookback(t *testing.T) {
	h := servertest.Real(t, nil)
	h.Want(h.OTLP("traces", shopped), 200, "{}")
	for _, c := range []struct{ more, want string }{
		{"lookback=2m", "abcd:1 af76:3"}, {"lookback=30s", "abcd:1"}, {"lookback=2d", "abcd:1 af76:3"},
		{"lookback=custom", "abcd:1 af76:3"}, {"lookback=1s&start=1699999999000000", "abcd:1 af76:3"},
		{"lookback=nonsense&start=1699999999000000", "abcd:1 af76:3"}, {"lookback=1ms", ""},
	} {
		if got := found(h, h.Do("GET", "/v1/jaeger/api/traces?service=db&end=1700000080000000&"+c.more, "")); got !=
			c.want {
			t.Errorf("%s: got %q, want %q", c.more, got, c.want)
		}
	}
	h.Want(h.Do("GET", "/v1/jaeger/api/traces?service=db&lookback=much", ""), 400, "is not a duration such as 1h or 2d")
	h.Want(h.Do("GET", "/v1/jaeger/api/traces?service=db&lookback=-1h", ""), 400, "is not a duration such as 1h or 2d")
}

// TestTraceAPIFar: a trace that is found by one span has those that lie hours away where its parent lacks, or a span
// lasts so long; spans a day away are left out.
func TestTraceAPIFar(t *testing.T) {
	h := servertest.Real(t, nil)
	const hour = int64(3600e9)
	span := func(trace, id, parent, service string, at, lasts int64) string {
		at += 1700000000e9
		return fmt.Sprintf(
			`{"resource":{"attributes":[{"key":"service.name","value":{"stringValue":"%s"}}]},"scopeSpans":[{"spans":[{"traceId":"%s","spanId":"%s","parentSpanId":"%s","name":"op","startTimeUnixNano":"%d","endTimeUnixNano":"%d"}]}]}`,
			service, trace, id, parent, at, at+lasts)
	}
	h.Want(h.OTLP("traces", `{"resourceSpans":[`+strings.Join([]string{
		// ancestors
		span("aaaa", "01", "", "other", -6*hour, 1), span("aaaa", "02", "01", "other", -5*hour, 1),
		span("aaaa", "03", "02", "seeker", 0, 1),
		// a long one
		span("bbbb", "01", "", "seeker", 1, 5*hour), span("bbbb", "02", "01", "other", 4*hour, 1),
		span("bbbb", "03", "01", "other", hour/2, 1),
		// whole, but for what is too far
		span("cccc", "01", "", "seeker", 2, 1), span("cccc", "02", "01", "other", hour/2, 1),
		span("cccc", "03", "99", "other", -30*hour, 1),
	}, ",")+`]}`), 200, "{}")
	if got := found(h, h.Do("GET", "/v1/jaeger/api/traces?service=seeker&start=1699999999000000&end=1700000001000000",
		"")); got != "cccc:2 bbbb:3 aaaa:3" {
		t.Error(got)
	}
}

// TestTraceAPIRights: who may read may ask.
func TestTraceAPIRights(t *testing.T) {
	h := servertest.Real(t, func(o *server.Options) {
		o.Users = servertest.Users(t, "static_user_provider:cmd:reader:ro=r,writer:wo=w")
	})
	h.Want(h.Do("GET", "/v1/jaeger/api/services", ""), 401, "")
	h.Want(h.Do("GET", "/v1/jaeger/api/services", "", "Authorization", servertest.Basic("writer", "w")), 403, "")
	h.Want(h.Do("GET", "/v1/jaeger/api/services", "", "Authorization", servertest.Basic("reader", "r")), 200,
		`"data":null`)
}

// TestTraceAPIManyTraces: the most traces of an answer, in their order.
func TestTraceAPIManyTraces(t *testing.T) {
	h := servertest.Real(t, nil)
	var spans []string
	for i := range 1600 {
		spans = append(spans,
			fmt.Sprintf(
				`{"traceId":"%032x","spanId":"%016x","name":"op","startTimeUnixNano":"%d","endTimeUnixNano":"%d"}`,
				i+0xa0000, i+1, 1700000000000000000+i*1000000, 1700000000000000000+i*1000000+10))
	}
	h.Want(h.OTLP("traces",
		`{"resourceSpans":[{"resource":{"attributes":[{"key":"service.name","value":{"stringValue":"many"}}]},"scopeSpans":[{"spans":[`+strings.Join(spans, ",")+`]}]}]}`), 200, "{}")
	for _, c := range [][2]string{{"", "20"}, {"1500", "1500"}} {
		a := traced(h, "traces", "service", "many", "start", "1699999999000000", "end", "1700000100000000", "limit",
			c[0])
		h.Want(a, 200, `{"data":[{"traceID":"000000000000000000000000000a063f"`)
		h.Want(a, 200, `"total":`+c[1]+`,`)
	}
	spans = spans[:0]
	for i := range 10_001 {
		spans = append(spans, fmt.Sprintf(
			`{"traceId":"01","spanId":"02","name":"op%d","startTimeUnixNano":"1","endTimeUnixNano":"1"}`, i))
	}
	h.Want(h.OTLP("traces",
		`{"resourceSpans":[{"resource":{"attributes":[{"key":"service.name","value":{"stringValue":"wide"}}]},"scopeSpans":[{"spans":[`+strings.Join(spans, ",")+`]}]}]}`), 200, "{}")
	h.Want(traced(h, "services/wide/operations"), 400, `"msg":"The list has more than 10000 entries"`)
	h.Want(traced(h, "operations", "service", "wide"), 400, "more than 10000")
}

// TestTraceAPIDependencies: which services call which, of the time that is asked for.
func TestTraceAPIDependencies(t *testing.T) {
	h := servertest.Real(t, nil)
	h.Want(h.OTLP("traces", shopped), 200, "{}")
	h.Want(traced(h, "dependencies", "endTs", "1700000100000", "lookback", "3600000"), 200,
		`{"data":[{"parent":"it's a \"shop\"/100%25","child":"db","callCount":1}],"total":1,`)
	h.Want(traced(h, "dependencies", "endTs", "1699999999000"), 200, `{"data":[],"total":0,`)
	h.Want(traced(h, "dependencies"), 200, `{"data":[],"total":0,`)
	for _, text := range []string{"x", "-1", "9223372036854775807"} {
		h.Want(traced(h, "dependencies", "lookback", text), 400, `"msg":"parameter 'lookback'`)
	}
	h.Want(traced(h, "dependencies", "endTs", "1", "lookback", "9223372036854"), 200, `"data":[]`)
}

// TestTraceAPIBound: its queries have their places among those that run at a time.
func TestTraceAPIBound(t *testing.T) {
	h := servertest.Real(t, func(o *server.Options) { o.Query.MaxConcurrent, o.Query.NoQueue = 1, true })
	conn, err := net.Dial("tcp", h.Addr)
	if err != nil {
		t.Fatal(err)
	}
	defer conn.Close()
	fmt.Fprintf(conn, "GET /v1/sql?sql=%s HTTP/1.1\r\nHost: x\r\n\r\n",
		url.QueryEscape("SELECT number, repeat('x', 1000) AS t FROM generate_series(0, 9999999) AS n(number)"))
	if _, err := conn.Read(make([]byte, 1000)); err != nil { // it streams
		t.Fatal(err)
	}
	for _, path := range []string{"services", "traces?service=x", "traces/1", "dependencies"} {
		a := h.Do("GET", "/v1/jaeger/api/"+path, "")
		h.Want(a, 429,
			`"errors":[{"code":429,"msg":"Too many queries are running: at most 1 (max_concurrent_queries), and at most 0 wait"}]`)
		if a.Header.Get("Retry-After") == "" {
			t.Error(a.Header)
		}
	}
	conn.Close()
	h.Eventually(func() bool { return traced(h, "services").Status == 200 })
	for range 3 { // each gives its place back
		h.Want(traced(h, "services"), 200, `"data":null`)
	}
}
