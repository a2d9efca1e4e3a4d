package servertest

import (
	"strings"
)

// OTLPLog is a request of log records with these members.
func OTLPLog(records ...string) string {
	return `{"resourceLogs":[{"resource":{"attributes":[{"key":"Env","value":{"stringValue":"prod"}},{"key":"team","value":{"stringValue":"a"}}]},"schemaUrl":"http://r","scopeLogs":[{"scope":{"name":"lib","version":"1","attributes":[{"key":"team","value":{"stringValue":"b"}}]},"logRecords":[` +
		strings.Join(records, ",") + `]}]}]}`
}

// OTLP sends a request in JSON.
func (h *House) OTLP(signal, body string, headers ...string) Answer {
	h.Helper()
	return h.Do("POST", "/v1/otlp/v1/"+signal, body,
		append([]string{"Content-Type", "application/json"}, headers...)...)
}

// OTLPMetric is a request of one metric of resource and scope with these members.
func OTLPMetric(metric string) string {
	return `{"resourceMetrics":[{"resource":{"attributes":[{"key":"service.name","value":{"stringValue":"shop"}},{"key":"service.instance.id","value":{"stringValue":"i-1"}},{"key":"zone.id","value":{"intValue":"7"}},{"key":"host.name","value":{"stringValue":"h"}}]},` +
		`"scopeMetrics":[{"scope":{"name":"lib","version":"2","attributes":[{"key":"a.b","value":{"doubleValue":1.5}}]},"schemaUrl":"http://s","metrics":[` + metric + `]}]}]}`
}
