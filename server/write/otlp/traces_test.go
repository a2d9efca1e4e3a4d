package otlp_test

import (
	"fmt"
	"strings"
	"testing"

	"varve/server"
	"varve/server/servertest"
)

// otlpSpan is a request of spans, each with these members besides ids and times.
func otlpSpan(spans ...string) string {
	for i, s := range spans {
		spans[i] = fmt.Sprintf(
			`{"traceId":"0af7651916cd43dd8448eb211c80319C","spanId":"b7ad6b716920333%d","startTimeUnixNano":"1700000000000000001","endTimeUnixNano":1700000000000000003,"name":"op%d"%s}`, i, i, s)
	}
	return `{"resourceSpans":[{"resource":{"attributes":[{"key":"service.name","value":{"stringValue":"shop"}},{"key":"replica","value":{"intValue":1}}]},"scopeSpans":[{"scope":{"name":"lib","attributes":[{"key":"s","value":{"boolValue":true}}]},"spans":[` + strings.Join(spans, ",") + `]}]}]}`
}

// otlpValue is a span's attribute v.
func otlpValue(value string) string { return `,"attributes":[{"key":"v","value":{` + value + `}}]` }

// TestOTLPTraceTable: the columns of spans, and the tables beside theirs.
func TestOTLPTraceTable(t *testing.T) {
	h := servertest.Real(t, nil)
	h.Want(h.OTLP("traces",
		otlpSpan(
			`,"kind":"SPAN_KIND_SERVER","traceState":"a=b","status":{"code":2,"message":"boom"},"parentSpanId":"00f067aa0ba902b7",`+
				`"attributes":[{"key":"b.list","value":{"arrayValue":{"values":[{"stringValue":"x"},{"intValue":"2"},{"kvlistValue":{"values":[{"key":"z","value":{"doubleValue":1}},{"key":"a","value":{}}]}}]}}},{"key":"raw","value":{"bytesValue":"AQL/"}}],`+
				`"events":[{"timeUnixNano":"1700000000000000002","name":"e","attributes":[{"key":"z","value":{"intValue":1}},{"key":"y","value":{"bytesValue":"_w=="}}]}],"links":[{"traceId":"01","spanId":"02","traceState":"c=d"}]`, `,"parentSpanId":"","kind":17`)), 200, "{}")
	h.Holds(
		`SELECT column_name, data_type, semantic_type FROM information_schema.columns WHERE table_name = 'opentelemetry_traces' ORDER BY ordinal_position`, strings.ReplaceAll(
			`[[timestamp timestamp(9) TIMESTAMP] [timestamp_end timestamp(9) FIELD] [duration_nano bigint unsigned FIELD] [parent_span_id string FIELD] [trace_id string FIELD] [span_id string FIELD]
[span_kind string FIELD] [span_name string FIELD] [span_status_code string FIELD] [span_status_message string FIELD] [trace_state string FIELD] [scope_name string FIELD] [scope_version string FIELD]
[service_name string TAG] [resource_attributes.replica bigint FIELD] [scope_attributes.s boolean FIELD] [span_attributes.b.list json FIELD] [span_attributes.raw binary FIELD] [span_events json FIELD] [span_links json FIELD]]`, "\n", " "))
	h.Holds(
		`SELECT duration_nano, parent_span_id, trace_id, span_kind, span_status_code, span_status_message, trace_state FROM opentelemetry_traces ORDER BY span_id`,
		"[[2 00f067aa0ba902b7 0af7651916cd43dd8448eb211c80319c SPAN_KIND_SERVER STATUS_CODE_ERROR boom a=b] [2 <nil> 0af7651916cd43dd8448eb211c80319c SPAN_KIND_UNSPECIFIED   ]]")
	h.Holds(
		`SELECT CAST("span_attributes.b.list" AS STRING), CAST(span_events AS STRING), CAST(span_links AS STRING) FROM opentelemetry_traces ORDER BY span_id`,
		`[[["x",2,{"a":null,"z":1.0}] [{"attributes":{"y":"ff","z":1},"name":"e","time":"2023-11-14T22:13:20.000000002Z"}] [{"attributes":{},"span_id":"02","trace_id":"01","trace_state":"c=d"}]] [<nil> [] []]]`)
	for range 2 {
		h.Holds(`SELECT CAST(timestamp AS STRING), service_name FROM opentelemetry_traces_services`,
			"[[2100-01-01T00:00:00 shop]]")
		h.Holds(`SELECT service_name, span_name, span_kind FROM opentelemetry_traces_operations ORDER BY span_name`,
			"[[shop op0 SPAN_KIND_SERVER] [shop op1 SPAN_KIND_UNSPECIFIED]]")
		h.Want(h.OTLP("traces", otlpSpan(`,"kind":2`)), 200, "{}")
	}
	for _, want := range []string{"append_mode = 'true'", "table_data_model = 'service_trace_v1'", "SKIPPING INDEX",
		"Created on insertion"} {
		h.Want(h.Do("GET", "/v1/sql?sql=SHOW+CREATE+TABLE+opentelemetry_traces", ""), 200, want)
	}
	h.Want(h.OTLP("traces", otlpSpan(""), "x-service-trace-table-name", "mine", "x-service-hints", "ttl=7d"), 200, "{}")
	h.Want(h.Do("GET", "/v1/sql?sql=SHOW+CREATE+TABLE+mine", ""), 200, "7days")
	if a := h.Do("GET", "/v1/sql?sql=SHOW+CREATE+TABLE+mine_services", ""); strings.Contains(a.Body, "ttl") {
		t.Error(a.Body)
	}
	h.Want(h.OTLP("traces", otlpSpan(""), "x-service-pipeline-name", "other"), 400, "service_trace_v1")
	h.Want(h.OTLP("traces", otlpSpan(""), "x-service-hints", "auto_create_table=false", "x-service-trace-table-name",
		"absent"), 400, "does not exist")
}

// TestOTLPNumbersApart: where integers and floats are two kinds, by the configuration or a hint, a column of integers
// stays one, and a float is refused.
func TestOTLPNumbersApart(t *testing.T) {
	columnType := `SELECT data_type FROM information_schema.columns WHERE column_name = 'span_attributes.v'`
	float, whole := otlpSpan(otlpValue(`"doubleValue":1.5`)), otlpSpan(otlpValue(`"intValue":1`))
	h := servertest.Real(t, func(o *server.Options) { o.Rows.StrictNumbers = true })
	h.Want(h.OTLP("traces", whole), 200, "{}")
	h.Want(h.OTLP("traces", float), 400, "span_attributes.v")
	h.Holds(columnType, "[[bigint]]")
	h.Want(h.OTLP("traces", float, "x-service-hints", "widen_numbers=on"), 200, "{}")
	h.Holds(columnType, "[[double]]")
	h = servertest.Real(t, nil)
	h.Want(h.OTLP("traces", whole), 200, "{}")
	h.Want(h.OTLP("traces", float, "x-service-hints", "widen_numbers=false"), 400, "span_attributes.v")
	h.Want(h.OTLP("traces", float), 200, "{}")
	h.Holds(columnType, "[[double]]")
}

// TestOTLPTypeDrift: the type of a new attribute is that which all values of a request fit.
func TestOTLPTypeDrift(t *testing.T) {
	for _, c := range []struct {
		name   string
		values []string
		want   string
	}{
		{"integers", []string{`"intValue":1`, `"intValue":"2"`}, "bigint [[1] [2]]"},
		{"floats win over integers", []string{`"intValue":1`, `"doubleValue":1.5`}, "double [[1] [1.5]]"},
		{"and the other way round", []string{`"doubleValue":1.5`, `"intValue":1`}, "double [[1.5] [1]]"},
		{"texts that are integers", []string{`"stringValue":"7"`, `"intValue":1`, `"stringValue":"8"`},
			"bigint [[7] [1] [8]]"},
		{"texts that are floats", []string{`"stringValue":"7.5"`, `"doubleValue":1`}, "double [[7.5] [1]]"},
		{"texts that are booleans", []string{`"boolValue":true`, `"stringValue":"false"`}, "boolean [[true] [false]]"},
		{"a text that is none", []string{`"intValue":1`, `"stringValue":"x"`, `"doubleValue":2.5`, `"boolValue":true`},
			"string [[1] [x] [2.5] [true]]"},
		{"a text that is none first", []string{`"stringValue":"x"`, `"intValue":1`, `"intValue":2`},
			"string [[x] [1] [2]]"},
		{"booleans and numbers", []string{`"boolValue":true`, `"intValue":1`}, "string [[true] [1]]"},
		{"nothing", []string{``, `"intValue":1`}, "bigint [[<nil>] [1]]"},
		{"JSON takes all", []string{`"arrayValue":{}`, `"intValue":1`}, "json [[[]] [1]]"},
	} {
		t.Run(c.name, func(t *testing.T) {
			h := servertest.Real(t, nil)
			var spans []string
			for _, v := range c.values {
				spans = append(spans, otlpValue(v))
			}
			h.Want(h.OTLP("traces", otlpSpan(spans...)), 200, "{}")
			typ := h.Selected(
				`SELECT data_type FROM information_schema.columns WHERE table_name = 'opentelemetry_traces' AND column_name = 'span_attributes.v'`)
			if got := fmt.Sprint(typ[0][0], " ",
				h.Selected(`SELECT "span_attributes.v" FROM opentelemetry_traces ORDER BY span_id`)); got != c.want {
				t.Errorf("got %s, want %s", got, c.want)
			}
		})
	}
}

// TestOTLPTypeOfTable: the type of the table's column rules; integers become floats; a span that does not fit is
// refused alone.
func TestOTLPTypeOfTable(t *testing.T) {
	h := servertest.Real(t, nil)
	put := func(status int, want string, values ...string) {
		h.Helper()
		var spans []string
		for _, v := range values {
			spans = append(spans, otlpValue(v))
		}
		h.Want(h.OTLP("traces", otlpSpan(spans...)), status, want)
	}
	put(200, "{}", `"intValue":1`)
	put(200, "{}", `"stringValue":"2"`)
	put(200,
		`"rejectedSpans":"1","errorMessage":"column span_attributes.v is of type Int64, which cannot hold the value \"x\""`, `"intValue":3`, `"stringValue":"x"`)
	put(400, "cannot hold the value", `"stringValue":"x"`)
	h.Holds(`SELECT count(*), sum("span_attributes.v") FROM opentelemetry_traces`, "[[3 6]]")
	h.Want(h.Do("POST", "/v1/sql?sql=ADMIN+flush_table('opentelemetry_traces')", ""), 200, "")
	put(200, "{}", `"intValue":4`, `"doubleValue":4.5`)
	h.Holds(`SELECT count(*), sum("span_attributes.v") FROM opentelemetry_traces`, "[[5 14.5]]")
	h.Holds(
		`SELECT data_type FROM information_schema.columns WHERE table_name = 'opentelemetry_traces' AND column_name = 'span_attributes.v'`, "[[double]]")

	// Those that the conventions define have their type whatever comes first.
	known := `,"attributes":[{"key":"http.response.status_code","value":{"stringValue":"200"}},{"key":"http.route","value":{"intValue":5}}]`
	h.Want(h.OTLP("traces", otlpSpan(known)), 200, "{}")
	h.Holds(
		`SELECT "span_attributes.http.response.status_code" + 1, "span_attributes.http.route" FROM opentelemetry_traces WHERE "span_attributes.http.route" IS NOT NULL`, "[[201 5]]")
}

// TestOTLPSpansRefused: what cannot be kept leaves nothing behind.
func TestOTLPSpansRefused(t *testing.T) {
	h := servertest.Real(t, nil)
	deep := strings.Repeat(`"arrayValue":{"values":[{`, 25) + strings.Repeat(`}]}`, 25)
	for _, c := range []struct{ name, span, want string }{
		{"attributes", `,"attributes":[` + manyAttributes(10_000) + `]`, "more than 1024 attributes"},
		{"times", `,"startTimeUnixNano":"18446744073709551615"`, "18446744073709551615"},
		{"time of an event", `,"events":[{"timeUnixNano":"18446744073709551615"}]`, "an event is past"},
		{"a name that is not UTF-8", ",\"name\":\"\xff\"", "span_name: a text is not valid UTF-8"},
		{"an attribute that is not UTF-8", ",\"attributes\":[{\"key\":\"new\",\"value\":{\"stringValue\":\"\xff\"}}]",
			"column span_attributes.new: a text is not valid UTF-8"},
		{"a key that is not UTF-8", ",\"attributes\":[{\"key\":\"\xff\",\"value\":{\"stringValue\":\"x\"}}]",
			"is not valid UTF-8"},
		{"an id", `,"spanId":"` + strings.Repeat("00", 65) + `"`, "an id of a span has 65 bytes"},
	} {
		t.Run(c.name, func(t *testing.T) {
			h := *h
			h.TB = t
			h.Want(h.OTLP("traces", otlpSpan(c.span)), 400, c.want)
			a := h.OTLP("traces", otlpSpan(otlpValue(`"intValue":1`), c.span, otlpValue(`"intValue":2`)))
			h.Want(a, 200, `"rejectedSpans":"1"`)
			h.Want(a, 200, c.want)
			h.Holds(
				`SELECT count(*) FROM information_schema.columns WHERE table_name = 'opentelemetry_traces' AND column_name LIKE 'span_attributes.%' AND column_name <> 'span_attributes.v'`, "[[0]]")
		})
	}
	h.Holds(`SELECT count(*), sum("span_attributes.v") FROM opentelemetry_traces`, "[[14 21]]")
	h.Want(h.OTLP("traces", otlpSpan(otlpValue(deep)), "x-service-trace-table-name", "deep"), 200, "{}")
	h.Want(h.OTLP("traces",
		otlpSpan(otlpValue(strings.Repeat(`"arrayValue":{"values":[{`, 200)+
			strings.Repeat(`}]}`, 200)))), 400, "nesting is deeper than")
}
