package otlp_test

import (
	"bytes"
	"compress/gzip"
	"fmt"
	"strings"
	"testing"

	"varve/server"
	"varve/server/servertest"
)

// TestOTLPLargeIntegers: an integer of JSON that 64 bits with a sign do not hold is a double, in attributes, bodies and
// points.
func TestOTLPLargeIntegers(t *testing.T) {
	h := servertest.Real(t, nil)
	for _, c := range []struct{ in, want string }{
		{`"9223372036854775807"`, "9223372036854775807"}, {`-9223372036854775808`, "-9223372036854775808"},
		{`9223372036854775808`, "9.223372036854776e18"}, {`"18446744073709551615"`, "1.8446744073709552e19"},
		{`1e20`, "1e20"}, {`"-1e20"`, "-1e20"}, {`1e3`, "1000"}, {`1.5`, "1.5"}, {`100000000000000000000000`, "1e23"},
	} {
		log := fmt.Sprintf(
			`{"resourceLogs":[{"scopeLogs":[{"logRecords":[{"timeUnixNano":"1","body":{"intValue":%s},"attributes":[{"key":"k","value":{"intValue":%[1]s}}]}]}]}]}`, c.in)
		h.Want(h.OTLP("logs", log, "x-service-log-table-name", "l"), 200, "{}")
		h.Holds("SELECT body, json_get_string(log_attributes, 'k') FROM l", fmt.Sprintf("[[%s %[1]s]]", c.want))
		point := fmt.Sprintf(
			`{"resourceMetrics":[{"scopeMetrics":[{"metrics":[{"name":"m","gauge":{"dataPoints":[{"timeUnixNano":"1000000","asInt":%s}]}}]}]}]}`, c.in)
		h.Want(h.OTLP("metrics", point), 200, "{}")
		h.Holds(fmt.Sprintf("SELECT service_value = CAST('%s' AS DOUBLE) FROM m", c.want), "[[true]]")
		for _, table := range []string{"l", "m"} {
			h.Want(h.Do("POST", "/v1/sql?sql=DROP+TABLE+"+table, ""), 200, "")
		}
	}
	h.Want(h.OTLP("metrics",
		`{"resourceMetrics":[{"scopeMetrics":[{"metrics":[{"name":"m","gauge":{"dataPoints":[{"timeUnixNano":"1000000","asDouble":"1e999"}]}}]}]}]}`), 200, "{}")
	h.Holds("SELECT service_value > 1e308 FROM m", "[[true]]")
	for _, bad := range []string{`"x"`, `"NaN"`, `"Infinity"`, `true`, `""`} {
		h.Want(h.OTLP("logs", fmt.Sprintf(
			`{"resourceLogs":[{"scopeLogs":[{"logRecords":[{"body":{"intValue":%s}}]}]}]}`, bad)), 400, "number")
	}
}

// TestOTLPLogTable: the columns of log records, and what their values become.
func TestOTLPLogTable(t *testing.T) {
	h := servertest.Real(t, nil)
	h.Want(h.OTLP("logs",
		servertest.OTLPLog(
			`{"timeUnixNano":"1700000000000000001","severityNumber":"SEVERITY_NUMBER_WARN2","severityText":"warn","body":{"stringValue":"line \u00e9 \ud83d\ude00"},"traceId":"0AF7","spanId":"","flags":1,"attributes":[{"key":"b","value":{"intValue":1}},{"key":"a","value":{"doubleValue":0.5}},{"key":"b","value":{"intValue":2}}]}`)), 200, "{}")
	h.Holds(
		`SELECT column_name, data_type, semantic_type FROM information_schema.columns WHERE table_name = 'opentelemetry_logs' ORDER BY ordinal_position`, strings.ReplaceAll(
			`[[timestamp timestamp(9) TIMESTAMP] [trace_id string FIELD] [span_id string FIELD] [severity_text string FIELD] [severity_number int FIELD] [body string FIELD] [log_attributes json FIELD] [trace_flags int unsigned FIELD]
[scope_name string TAG] [scope_version string FIELD] [scope_attributes json FIELD] [scope_schema_url string FIELD] [resource_attributes json FIELD] [resource_schema_url string FIELD]]`, "\n", " "))
	h.Holds(
		`SELECT CAST(timestamp AS BIGINT) - 1700000000000000000, trace_id, span_id, severity_text, severity_number, body, CAST(log_attributes AS STRING), trace_flags, scope_name, scope_version, CAST(scope_attributes AS STRING), resource_schema_url FROM opentelemetry_logs`,
		`[[1 0af7  warn 14 line é 😀 {"a":0.5,"b":2} 1 lib 1 {"team":"b"} http://r]]`)
	for _, want := range []string{"append_mode = 'true'", "FULLTEXT INDEX"} {
		h.Want(h.Do("GET", "/v1/sql?sql=SHOW+CREATE+TABLE+opentelemetry_logs", ""), 200, want)
	}
	for i, c := range []struct{ record, column, want string }{
		{`{"body":{"intValue":42}}`, "body", "42"},
		{`{"body":{"kvlistValue":{"values":[{"key":"k","value":{"boolValue":true}}]}}}`, "body", `{"k":true}`},
		{`{"body":{"bytesValue":"aGk="}}`, "body", "hi"},
		{`{"body":{"bytesValue":"/w"}}`, "body", "ff"},
		{`{}`, "body", "<nil>"},
		{`{"observedTimeUnixNano":"5"}`, "CAST(timestamp AS BIGINT)", "5"},
		{`{}`, "timestamp > now() - INTERVAL '1 hour'", "true"},
		{`{"timeUnixNano":6,"observedTimeUnixNano":7}`, "CAST(timestamp AS BIGINT)", "6"},
	} {
		table := fmt.Sprint("t", i)
		h.Want(h.OTLP("logs", servertest.OTLPLog(c.record), "x-service-log-table-name", table), 200, "{}")
		h.Holds("SELECT "+c.column+" FROM "+table, "[["+c.want+"]]")
	}
	h.Want(h.OTLP("logs",
		`{"resource_logs":[{"scope_logs":[{"log_records":[{"time_unix_nano":1,"unknown":{"x":[1,{}]}},null]}]}]}`,
		"x-service-log-table-name", "bare"), 400, "expected an object")
	h.Want(h.OTLP("logs",
		`{"resource_logs":[{"scope_logs":[{"log_records":[{"time_unix_nano":1,"unknown":{"x":[1,{}]}}]}]}]}`,
		"x-service-log-table-name", "bare"), 200, "{}")
	h.Holds(`SELECT scope_name, scope_version, CAST(resource_attributes AS STRING) FROM bare`, "[[<nil>  null]]")
}

// TestOTLPLogKeys: attributes that become columns.
func TestOTLPLogKeys(t *testing.T) {
	h := servertest.Real(t, nil)
	keys := []string{"x-service-log-extract-keys", "env,TEAM, n ,absent"}
	h.Want(h.OTLP("logs", servertest.OTLPLog(`{"timeUnixNano":1,"attributes":[{"key":"n","value":{"intValue":7}}]}`,
		`{"timeUnixNano":2,"attributes":[{"key":"Team","value":{"stringValue":"c"}}]}`), keys...), 200, "{}")
	h.Holds(`SELECT env, "TEAM", n FROM opentelemetry_logs ORDER BY timestamp`, "[[prod b 7] [prod c <nil>]]")
	h.Want(h.Do("GET", "/v1/sql?sql=SHOW+CREATE+TABLE+opentelemetry_logs", ""), 200,
		`PRIMARY KEY (\"scope_name\", \"env\", \"TEAM\", \"n\")`)
	h.Want(h.Do("GET", "/v1/sql?sql=SELECT+absent+FROM+opentelemetry_logs", ""), 400, "absent")
	h.Want(h.OTLP("logs", servertest.OTLPLog(`{"attributes":[{"key":"n","value":{"doubleValue":1}}]}`), keys...), 400,
		`cannot be extracted`)
	h.Want(h.OTLP("logs", servertest.OTLPLog(`{"attributes":[{"key":"n","value":{"stringValue":"text"}}]}`), keys...), 400,
		`failed to align log column 'n'`)
	// a table keeps its key
	h.Want(h.OTLP("logs", servertest.OTLPLog(`{"timeUnixNano":3}`), "x-service-log-extract-keys", "team"), 200, "{}")
	h.Want(h.Do("GET", "/v1/sql?sql=SHOW+CREATE+TABLE+opentelemetry_logs", ""), 200,
		`PRIMARY KEY (\"scope_name\", \"env\", \"TEAM\", \"n\")`)
	h.Holds(`SELECT team FROM opentelemetry_logs WHERE team IS NOT NULL`, "[[b]]")
	h.Want(h.OTLP("logs", servertest.OTLPLog(`{}`), "x-service-log-extract-keys", strings.Repeat("k,", 200)), 400,
		"the limit is")
}

// TestOTLPLogAlign: a table that SQL made keeps its columns.
func TestOTLPLogAlign(t *testing.T) {
	h := servertest.Real(t, nil)
	h.Want(h.Do("POST", "/v1/sql",
		"sql=CREATE TABLE own (ts TIMESTAMP(3) TIME INDEX, severity_number STRING, scope_name STRING, host STRING, trace_flags BIGINT, log_attributes STRING, PRIMARY KEY (host))", "Content-Type", "application/x-www-form-urlencoded"), 200, "")
	h.Want(h.OTLP("logs",
		servertest.OTLPLog(
			`{"timeUnixNano":"1700000000123456789","severityNumber":9,"flags":3,"attributes":[{"key":"host","value":{"stringValue":"h1"}}]}`), "x-service-log-table-name", "own", "x-service-log-extract-keys", "host"), 200, "{}")
	h.Holds(
		`SELECT CAST(ts AS BIGINT), severity_number, scope_name, host, trace_flags, log_attributes, scope_version FROM own`, `[[1.700000000123e+12 9 lib h1 3 {"host":"h1"} 1]]`)
	h.Want(h.Do("POST", "/v1/sql?sql=CREATE+TABLE+odd+(ts+TIMESTAMP+TIME+INDEX,+body+BIGINT)", ""), 200, "")
	h.Want(h.OTLP("logs", servertest.OTLPLog(`{"body":{"stringValue":"x"}}`), "x-service-log-table-name", "odd"), 400,
		"failed to align log column 'body'")
	h.Holds(`SELECT count(*) FROM odd`, "[[0]]")
}

// TestOTLPLogPipeline: records as entries of a pipeline.
func TestOTLPLogPipeline(t *testing.T) {
	h := servertest.Real(t, nil)
	record := `{"timeUnixNano":"1700000000000000001","observedTimeUnixNano":"5","severityNumber":9,"severityText":"INFO","body":{"stringValue":"a=1"},"traceId":"0a","spanId":"0b","flags":1,"attributes":[{"key":"k","value":{"arrayValue":{"values":[{"intValue":1}]}}}]}`
	h.Want(h.OTLP("logs", servertest.OTLPLog(record), "x-service-pipeline-name", "service_identity",
		"x-service-log-table-name", "flat"), 200, "{}")
	h.Holds(
		`SELECT "Timestamp", "ObservedTimestamp", "TraceId", "SpanId", "TraceFlags", "SeverityText", "SeverityNumber", "Body", "ResourceSchemaUrl", "ResourceAttributes.Env", "ScopeName", "ScopeVersion", "ScopeAttributes.team", "LogAttributes.k" FROM flat`,
		"[[1.7e+18 5 0a 0b 1 INFO 9 a=1 http://r prod lib 1 b [1]]]")
	const document = "processors:\n  - dissect:\n      fields: [Body]\n      patterns: ['%{name}=%{value}']\n  - epoch:\n      field: Timestamp\n      resolution: ns\ntransform:\n  - fields: [name, value]\n    type: string\n  - field: Timestamp\n    type: time\n    index: timestamp\n"
	h.Want(h.Do("POST", "/v1/pipelines/kv", document, "Content-Type", "application/x-yaml"), 200, "")
	h.Want(h.OTLP("logs", servertest.OTLPLog(record), "x-service-pipeline-name", "absent",
		"x-service-log-pipeline-name", "kv", "x-service-log-table-name", "parsed"), 200, "{}")
	h.Holds(`SELECT name, value FROM parsed`, "[[a 1]]")
	bad := `{"timeUnixNano":1,"body":{"stringValue":"no pair"}}`
	h.Want(h.OTLP("logs", servertest.OTLPLog(bad), "x-service-pipeline-name", "kv", "x-service-log-table-name",
		"parsed"), 400, "")
	h.Want(h.OTLP("logs", servertest.OTLPLog(record, bad), "x-service-pipeline-name", "kv", "x-service-log-table-name",
		"parsed", "x-service-pipeline-params", "skip_error=true"), 200, `"rejectedLogRecords":"1"`)
	h.Want(h.OTLP("logs", servertest.OTLPLog(record), "x-service-pipeline-name", "absent"), 400, "absent")
	h.Holds(`SELECT count(*) FROM parsed`, "[[2]]")
}

// TestOTLPRequests: content types, encodings and bodies that are none.
func TestOTLPRequests(t *testing.T) {
	h := servertest.Real(t, nil)
	var packed bytes.Buffer
	z := gzip.NewWriter(&packed)
	z.Write([]byte(servertest.OTLPLog(`{}`)))
	z.Close()
	for _, signal := range []string{"metrics", "traces", "logs"} {
		path := "/v1/otlp/v1/" + signal
		for _, kind := range []string{"application/x-protobuf", ""} {
			a := h.Do("POST", path, "", "Content-Type", kind)
			if a.Status != 200 || a.Body != "" || a.Header.Get("Content-Type") != "application/x-protobuf" {
				t.Errorf("an empty request: %d %q %v", a.Status, a.Body, a.Header)
			}
			a = h.Do("POST", path, "certainly not protobuf", "Content-Type", kind)
			h.Want(a, 400, "Failed to decode OTLP request (content-type: ")
			if a.Header.Get("Content-Type") != "application/x-protobuf" || !strings.HasPrefix(a.Body, "\x08\x03\x12") {
				t.Errorf("an error: %q %v", a.Body, a.Header)
			}
		}
		for _, body := range []string{"", " ", "{}", `{"unknown":1}`} {
			h.Want(h.OTLP(signal, body, "Content-Type", "application/json; charset=utf-8"), 200, "{}")
		}
		for _, body := range []string{"[]", "{", "{}x", `{"resourceLogs":{},"resourceSpans":{},"resourceMetrics":{}}`,
			`{"resourceLogs":[[]],"resourceSpans":[[]],"resourceMetrics":[[]]}`} {
			a := h.OTLP(signal, body)
			h.Want(a, 400,
				`{"code":3,"message":"Failed to decode OTLP request (content-type: application/json): at byte`)
		}
		h.Want(h.Do("POST", path, "x", "Content-Type", "text/plain"), 400, "Unsupported content type 'text/plain'")
		h.Want(h.Do("GET", path, ""), 405, "")
	}
	h.Want(h.OTLP("logs", packed.String(), "Content-Encoding", "gzip"), 200, "{}")
	h.Want(h.OTLP("logs", packed.String()[:packed.Len()-9], "Content-Encoding", "gzip"), 400, `"code":3`)
	h.Want(h.OTLP("logs", servertest.OTLPLog(`{}`), "x-service-db-name", "nowhere"), 400, "nowhere")
	for _, c := range []struct{ record, want string }{
		{`{"timeUnixNano":"x"}`, "is not an integer of 64 bits"}, {`{"traceId":"xyz"}`, "hexadecimal"},
		{`{"traceId":"abc"}`, "hexadecimal"}, {`{"severityNumber":"LOUD"}`, "none of the names"},
		{`{"body":{"boolValue":1}}`, "true or false"}, {`{"body":{"bytesValue":"*"}}`, "base64"},
		{`{"timeUnixNano":1.5}`, "not an integer"}, {`{"body":{"stringValue":"\ud8"}}`, "unexpected"},
		{`{"timeUnixNano":"9223372036854775808"}`, "is past 9223372036854775807"},
		{"{\"body\":{\"stringValue\":\"\xff\"}}", "not valid UTF-8"},
	} {
		h.Want(h.OTLP("logs", servertest.OTLPLog(`{}`, c.record), "x-service-log-table-name", "bad"),
			map[bool]int{true: 200, false: 400}[strings.Contains(c.want, "is past") ||
				strings.Contains(c.want, "UTF-8")], c.want)
	}
	h.Holds("SELECT count(*) FROM bad", "[[2]]") // the good records beside those that could be read
}

// TestOTLPBodyLimit: a body that is too large by itself or when it is decompressed.
func TestOTLPBodyLimit(t *testing.T) {
	h := servertest.Real(t, func(o *server.Options) { o.BodyLimit = 1 << 16 })
	var packed bytes.Buffer
	z := gzip.NewWriter(&packed)
	z.Write(bytes.Repeat([]byte(" "), 1<<20))
	z.Close()
	h.Want(h.OTLP("logs", packed.String(), "Content-Encoding", "gzip"), 413, `"code":8`)
	h.Want(h.OTLP("logs", strings.Repeat(" ", 1<<17)), 413, `"code":8`)
}
