package write_test

import (
	"encoding/json"
	"fmt"
	"strings"
	"testing"

	"varve/server/servertest"
)

// TestOddTimes: times that are none, and those at and past the ends of what can be kept, are refused or passed over in
// each protocol, or kept as they are: none comes out as another time.
func TestOddTimes(t *testing.T) {
	h := servertest.Real(t, nil)
	const document, ndjson, journal = "application/json", "application/x-ndjson", "application/vnd.fdo.journal"
	for _, c := range []struct{ name, path, kind, body, table, column string }{
		{"line protocol", servertest.LinePath, "", "t_lines f=1 $", "t_lines", "service_timestamp"},
		{"line protocol in hours", servertest.LinePath + "?precision=h", "", "t_hours f=1 $", "t_hours",
			"service_timestamp"},
		{"line protocol of version 3", "/api/v3/write_lp", "", "t_guess f=1 $", "t_guess", "service_timestamp"},
		{"JSON put", servertest.PutPath, "", `{"metric":"t_put","timestamp":$,"value":1,"tags":{}}`, "t_put",
			"service_timestamp"},
		{"log push", servertest.PushPath, document, `{"streams":[{"stream":{},"values":[[$,"x"],["$","x"]]}]}`,
			"loki_logs", "service_timestamp"},
		{"bulk", servertest.BulkPath + "/t_bulk/_bulk?_time_field=t", ndjson, "{\"index\":{}}\n{\"t\":$}\n", "t_bulk",
			"service_timestamp"},
		{"events", servertest.CollectorPath + "/services/collector?table=t_hec", "", `{"time":$,"event":1}`, "t_hec",
			"service_timestamp"},
		{"agents", servertest.AgentPath + "/api/v2/logs?table=t_agents", document, `[{"timestamp":$}]`, "t_agents",
			"service_timestamp"},
		{"journal", "/v1/journald/upload", journal, "__REALTIME_TIMESTAMP=$\nMESSAGE=x\n\n", "journald_logs",
			"service_timestamp"},
		{"ingest", "/v1/ingest?table=t_ingest&pipeline_name=service_identity&_time_field=t", ndjson, `{"t":$}`,
			"t_ingest", "service_timestamp"},
		{"logs", servertest.OTLPLogs, document, servertest.OTLPLog(`{"timeUnixNano":$}`, `{"timeUnixNano":"$"}`),
			"opentelemetry_logs", "timestamp"},
		{"metrics", servertest.OTLPMetrics, document,
			servertest.OTLPMetric(`"name":"t_metric","gauge":{"dataPoints":[{"timeUnixNano":$,"asDouble":1}]}`), "t_metric",
			"service_timestamp"},
		{"spans", servertest.OTLPTraces, document,
			`{"resourceSpans":[{"scopeSpans":[{"spans":[{"startTimeUnixNano":$,"endTimeUnixNano":$}]}]}]}`,
			"opentelemetry_traces", "timestamp"},
	} {
		t.Run(c.name, func(t *testing.T) {
			h := *h
			h.TB = t
			taken := 0
			for _, odd := range []string{
				"9223372036854775807", "-9223372036854775807", "-9223372036854775808", "9223372036854775808",
				"18446744073709551615", "99999999999999999999", "9223372036854776", "1e300", "-1e300", "1e19", "NaN",
				`"x"`, `""`, "{}", "[]", "true", "null", `"2023-99-99T00:00:00Z"`, `"9999-01-01T00:00:00Z"`,
				`"0001-01-01T00:00:00Z"`,
			} {
				body := strings.ReplaceAll(c.body, "$", odd)
				a := h.Do("POST", c.path, body, "Content-Type", c.kind)
				switch {
				case a.Status == 400 && a.Body != "":
				case a.Status == 200 || a.Status == 202 || a.Status == 204:
					taken++
				default:
					t.Errorf("%d %q for %s", a.Status, a.Body, body)
				}
				if strings.HasPrefix(a.Header.Get("Content-Type"), "application/json") && !json.Valid([]byte(a.Body)) {
					t.Errorf("no JSON: %q for %s", a.Body, body)
				}
			}
			if taken == 0 {
				return
			}
			h.Holds(fmt.Sprintf(
				`SELECT count(*) FROM %s WHERE %[2]s > '1971-01-01' AND %[2]s < now() - INTERVAL '1 hour' OR %[2]s > now() + INTERVAL '1 hour' AND %[2]s < '2262-04-11'`, c.table, c.column), "[[0]]")
		})
	}
}
