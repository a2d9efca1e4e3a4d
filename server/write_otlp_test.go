package server

import "testing"

// TestOTLPMetricsOfClients: what clients really send, with their headers, and what must be there afterwards.
func TestOTLPMetricsOfClients(t *testing.T) {
	sentByClients(t, "otlp.json", "otlp-metrics-", 6, (*house).wantStored)
}

// TestOTLPTracesOfClients: the same for spans.
func TestOTLPTracesOfClients(t *testing.T) {
	sentByClients(t, "otlp.json", "otlp-traces-", 4, (*house).wantStoredTwice)
}

// TestOTLPLogsOfClients: the same for log records.
func TestOTLPLogsOfClients(t *testing.T) {
	sentByClients(t, "otlp.json", "otlp-logs-", 4, (*house).wantStoredTwice)
}

// TestOTLPByHostAlone: exporters that are given a host alone add the paths of the signals to it.
func TestOTLPByHostAlone(t *testing.T) {
	h := real(t, nil)
	h.want(h.do("POST", "/v1/logs", otlpLog(`{"body":{"stringValue":"x"}}`), "Content-Type", "application/json"), 200,
		"{}")
	h.want(h.do("POST", "/v1/traces", "", "Content-Type", "application/x-protobuf"), 200, "")
	h.want(h.do("POST", "/v1/metrics", "", "Content-Type", "application/x-protobuf"), 200, "")
	h.holds("SELECT body FROM opentelemetry_logs", "[[x]]")
	h.want(h.do("POST", "/api/put", `{"metric":"m","timestamp":1,"value":2,"tags":{}}`), 204, "")
}
