package server_test

import (
	"strings"
	"testing"

	"varve/server/servertest"
)

// TestPagesAreKnownByRoute: a page of another origin is refused by the route that it gets, whatever its path looks like
// when it is decoded.
func TestPagesAreKnownByRoute(t *testing.T) {
	h := servertest.Real(t, nil)
	for path, body := range map[string]string{
		"/v1/elasticsearch/x/_doc/..%2f..%2f..%2f..%2f..%2fhealth": `{"a":1}`,
		"/x/_doc/..%2f..%2f..%2fping":                              `{"a":1}`,
		"/v1/dashboards/..%2f..%2fhealth":                          `{}`,
	} {
		raw := h.Raw("POST " + path + " HTTP/1.1\r\nHost: " + h.Addr + "\r\nOrigin: https://evil.example\r\n" +
			"Content-Type: text/plain\r\nConnection: close\r\nContent-Length: 7\r\n\r\n" + (body + "     ")[:7])
		if !strings.HasPrefix(raw, "HTTP/1.1 403 ") {
			t.Errorf("POST %s: %.100q", path, raw)
		}
	}
	h.Want(h.Do("GET", "/v1/sql?sql=SELECT+*+FROM+x", ""), 400, "Table not found")
}
