package server

import (
	"regexp"
	"strings"
	"testing"

	"github.com/valyala/fasthttp"
)

// TestProtocolsOwnTheirPaths: a request with the wrong method has no route, and is yet one of the protocol that has the
// path: its credentials and its errors are those of the protocol, and pages of other origins are refused as well.
func TestProtocolsOwnTheirPaths(t *testing.T) {
	h := real(t, nil)
	parameter := regexp.MustCompile(`\{[^}]+\}`)
	names, seen := map[string]bool{}, 0
	for i := range h.s.protocols {
		p := &h.s.protocols[i]
		if names[p.Name] || p.Name == "" {
			t.Errorf("the name %q of a protocol is there twice, or empty", p.Name)
		}
		names[p.Name] = true
		for _, r := range p.Routes {
			path := parameter.ReplaceAllString(r.Path, "x")
			var rc fasthttp.RequestCtx
			rc.Request.SetRequestURI(path)
			if shared := h.s.shared(&route{r, p}, &rc); shared != h.s.shared(other(h.s.wrongMethod), &rc) {
				t.Errorf("%s %s: pages of other origins may ask: %v, with another method the opposite", p.Name, path, shared)
			}
			owner := h.s.owner(path)
			if special := p.Credentials != nil || p.Fail != nil; special && owner != p && !r.Shared {
				t.Errorf("%s %s: with another method it is a path of %s", p.Name, path, owner.Name)
			}
			seen++
		}
	}
	if seen < 150 {
		t.Errorf("only %d routes", seen)
	}
}

// TestPagesAreKnownByRoute: a page of another origin is refused by the route that it gets, whatever its path looks like
// when it is decoded.
func TestPagesAreKnownByRoute(t *testing.T) {
	h := real(t, nil)
	for path, body := range map[string]string{
		"/v1/elasticsearch/x/_doc/..%2f..%2f..%2f..%2f..%2fhealth": `{"a":1}`,
		"/x/_doc/..%2f..%2f..%2fping":                              `{"a":1}`,
		"/v1/dashboards/..%2f..%2fhealth":                          `{}`,
	} {
		raw := h.raw("POST " + path + " HTTP/1.1\r\nHost: " + h.addr + "\r\nOrigin: https://evil.example\r\n" +
			"Content-Type: text/plain\r\nConnection: close\r\nContent-Length: 7\r\n\r\n" + (body + "     ")[:7])
		if !strings.HasPrefix(raw, "HTTP/1.1 403 ") {
			t.Errorf("POST %s: %.100q", path, raw)
		}
	}
	h.want(h.do("GET", "/v1/sql?sql=SELECT+*+FROM+x", ""), 400, "Table not found")
}
