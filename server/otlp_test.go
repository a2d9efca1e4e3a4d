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
