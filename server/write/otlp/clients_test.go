package otlp_test

import (
	"testing"

	"varve/server/servertest"
)

// TestOTLPMetricsOfClients: what clients really send, with their headers, and what must be there afterwards.
func TestOTLPMetricsOfClients(t *testing.T) {
	servertest.SentByClients(t, "otlp.json", "otlp-metrics-", 6, (*servertest.House).WantStored)
}

// TestOTLPTracesOfClients: the same for spans.
func TestOTLPTracesOfClients(t *testing.T) {
	servertest.SentByClients(t, "otlp.json", "otlp-traces-", 4, (*servertest.House).WantStoredTwice)
}

// TestOTLPLogsOfClients: the same for log records.
func TestOTLPLogsOfClients(t *testing.T) {
	servertest.SentByClients(t, "otlp.json", "otlp-logs-", 4, (*servertest.House).WantStoredTwice)
}

// TestOTLPByHostAlone: exporters that are given a host alone add the paths of the signals to it.
func TestOTLPByHostAlone(t *testing.T) {
	h := servertest.Real(t, nil)
	h.Want(h.Do("POST", "/v1/logs", servertest.OTLPLog(`{"body":{"stringValue":"x"}}`), "Content-Type",
		"application/json"), 200, "{}")
	h.Want(h.Do("POST", "/v1/traces", "", "Content-Type", "application/x-protobuf"), 200, "")
	h.Want(h.Do("POST", "/v1/metrics", "", "Content-Type", "application/x-protobuf"), 200, "")
	h.Holds("SELECT body FROM opentelemetry_logs", "[[x]]")
	h.Want(h.Do("POST", "/api/put", `{"metric":"m","timestamp":1,"value":2,"tags":{}}`), 204, "")
}
