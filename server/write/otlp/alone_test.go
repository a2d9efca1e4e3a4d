package otlp_test

import (
	"bytes"
	"strings"
	"testing"

	"varve/server/servertest"
)

// TestOTLPRecordsFailAlone: a record or a span that its table does not take costs no other, and the answer counts it
// and says why.
func TestOTLPRecordsFailAlone(t *testing.T) {
	h := servertest.Real(t, nil)
	for _, statement := range []string{
		`CREATE TABLE typed (timestamp TIMESTAMP(9) TIME INDEX, body BIGINT, severity_number TINYINT, n BIGINT) WITH (append_mode = 'true')`,
		`CREATE TABLE needs (timestamp TIMESTAMP(9) TIME INDEX, body STRING NOT NULL) WITH (append_mode = 'true')`,
		`CREATE TABLE shapes (service_timestamp TIMESTAMP(9) TIME INDEX, "Body" BIGINT) WITH (append_mode = 'true')`,
	} {
		h.Want(h.SQL(statement), 200, "")
	}
	put := func(table string, status int, want string, records ...string) {
		h.Helper()
		h.Want(h.OTLP("logs", servertest.OTLPLog(records...), "x-service-log-table-name", table,
			"x-service-log-extract-keys", "n"), status, want)
	}
	attribute := func(value string) string { return `{"attributes":[{"key":"n","value":{` + value + `}}]}` }
	const text = `{"body":{"stringValue":"x"}}`
	put("typed", 200,
		`"rejectedLogRecords":"1","errorMessage":"failed to align log column 'body': the table has type Int64, the request String"`, `{}`, text, `{"severityNumber":9}`)
	put("typed", 200, `"rejectedLogRecords":"1","errorMessage":"failed to align log column 'severity_number'`, `{}`,
		`{"severityNumber":300}`)
	put("typed", 200, `"rejectedLogRecords":"2","errorMessage":"failed to align log column 'n'`,
		attribute(`"intValue":5`), attribute(`"stringValue":"x"`), attribute(`"doubleValue":1`),
		attribute(`"stringValue":"6"`))
	put("typed", 400, `failed to align log column 'body'`, text)
	h.Holds(`SELECT count(*), sum(n) FROM typed`, "[[5 11]]")

	put("needs", 200, `"rejectedLogRecords":"1","errorMessage":"column body is NOT NULL`, text, `{}`, text)
	h.Holds(`SELECT count(*) FROM needs`, "[[2]]")
	put("fresh", 200, `"rejectedLogRecords":"1","errorMessage":"the attribute \"n\" cannot be extracted`,
		attribute(`"doubleValue":1`), text)
	h.Holds(`SELECT count(*) FROM information_schema.columns WHERE table_name = 'fresh' AND column_name = 'n'`, "[[0]]")

	through := h.OTLP("logs", servertest.OTLPLog(`{"body":{"stringValue":"x"}}`, `{}`), "x-service-log-table-name",
		"shapes", "x-service-pipeline-name", "service_identity")
	h.Want(through, 200, `"rejectedLogRecords":"1","errorMessage":"`)
	h.Holds(`SELECT count(*) FROM shapes`, "[[1]]")

	document := "version: 2\nprocessors:\n  - vrl:\n      source: |\n        .n = parse_int!(string!(.Body))\n        .ts = now()\n        .\ntransform: [{field: ts, type: time, index: time}]\n"
	h.Want(h.Do("POST", "/v1/pipelines/ints", document, "Content-Type", "application/x-yaml"), 200, "ints")
	number := func(text string) string { return `{"body":{"stringValue":"` + text + `"}}` }
	h.Want(h.OTLP("logs", servertest.OTLPLog(number("1"), number("x"), `{}`, number("2")), "x-service-log-table-name",
		"ints", "x-service-pipeline-name", "ints"), 200, `"rejectedLogRecords":"2","errorMessage":"`)
	h.Want(h.OTLP("logs", servertest.OTLPLog(number("x")), "x-service-log-table-name", "ints",
		"x-service-pipeline-name", "ints"), 400, "parse_int")
	h.Want(h.OTLP("logs", servertest.OTLPLog(number("4"), number("x")), "x-service-log-table-name", "ints",
		"x-service-pipeline-name", "ints", "x-service-pipeline-params", "skip_error=false"), 400, "parse_int")
	h.Holds("SELECT count(*), sum(n) FROM ints", "[[2 3]]")

	spans := func(status int, want string, values ...string) {
		h.Helper()
		for i, v := range values {
			values[i] = otlpValue(v)
		}
		h.Want(h.OTLP("traces", otlpSpan(values...)), status, want)
	}
	spans(200, "{}", `"intValue":"9007199254740993"`)
	h.Want(h.Do("POST", "/v1/sql?sql=ADMIN+flush_table('opentelemetry_traces')", ""), 200, "")
	spans(200,
		`"rejectedSpans":"1","errorMessage":"column span_attributes.v expect type Int64, given: Float64: it holds the integer 9007199254740993`, `"doubleValue":0.5`, `"stringValue":"7"`)
	spans(400, "which a float cannot hold exactly", `"doubleValue":0.5`)
	h.Holds(`SELECT count(*) FROM opentelemetry_traces`, "[[2]]")
}

// TestGRPCRecordsFailAlone: calls tell of such records in their answers, too.
func TestGRPCRecordsFailAlone(t *testing.T) {
	h := servertest.Real(t, nil)
	h.Want(
		h.SQL(
			`CREATE TABLE opentelemetry_logs (timestamp TIMESTAMP(9) TIME INDEX, scope_name STRING PRIMARY KEY, body STRING, severity_number TINYINT) WITH (append_mode = 'true')`), 200, "")
	c := servertest.Dial(t, h.Calls())
	good := servertest.OTLPLogRequest(t, 1, false)
	// Resource logs of scope logs of a record with the severity 300.
	bad := []byte{1<<3 | 2, 7, 2<<3 | 2, 5, 2<<3 | 2, 3, 2 << 3, 0xac, 0x02}
	answer, err := servertest.Call(c, servertest.RPCLogs, append(bytes.Clone(good), bad...), nil)
	if err != nil || !strings.Contains(string(answer), "failed to align log column 'severity_number'") ||
		answer[0] != 1<<3|2 || answer[2] != 1<<3 || answer[3] != 1 {
		t.Errorf("got %q, %v", answer, err)
	}
	h.Holds(`SELECT count(*) FROM opentelemetry_logs`, "[[1]]")
}
