package server

import (
	"context"
	"net"
	"regexp"
	"strings"
	"testing"
)

// api serves the API alone at an address of its own.
func (h *house) api() *house {
	h.Helper()
	ln, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		h.Fatal(err)
	}
	served := make(chan error, 1)
	go func() { served <- h.s.ServeAPI(ln) }()
	h.Cleanup(func() {
		h.s.Shutdown(context.Background()) // the address before is ended as well; its own end finds nothing to do
		if err := <-served; err != nil {
			h.Errorf("ServeAPI: %v", err)
		}
	})
	there := h.as(h.T)
	there.addr, there.url = ln.Addr().String(), "http://"+ln.Addr().String()
	return there
}

// TestAPIAddress: at the address of the API alone every path of /v1 and of the dashboard answers as at the other one,
// and nothing else is there.
func TestAPIAddress(t *testing.T) {
	h := real(t, func(o *Options) { o.Dashboard.Dir = "dashboard/web" })
	api := h.api()
	parameter := regexp.MustCompile(`\{[^}]+\}`)
	for _, r := range h.s.routes() {
		path := parameter.ReplaceAllString(r.Path, "x")
		got := api.do(r.Methods[0], path, "")
		switch {
		case !strings.HasPrefix(path, "/v1/") && !strings.HasPrefix(path, "/dashboard/"):
			if got.status != 404 || got.body != "" {
				t.Errorf("%s %s: %d %s", r.Methods[0], path, got.status, got.body)
			}
		case got.status == 404 && got.body == "":
			t.Errorf("%s %s: %d %s", r.Methods[0], path, got.status, got.body)
		}
	}
	api.want(api.do("GET", "/v1/sql?sql=SELECT+1", ""), 200, "records")
	api.want(api.do("GET", "/dashboard", ""), 308, "")
	for _, path := range []string{"/v1/../config", "/v1/..%2fconfig", "/v1", "/V1/sql?sql=SELECT+1", "/dashboardx",
		"/nothing"} {
		if a := api.do("GET", path, ""); a.status != 404 {
			t.Errorf("GET %s: %d %s", path, a.status, a.body)
		}
	}
	h.want(h.do("GET", "/config", ""), 200, "enable_telemetry")
}

// TestAddressesShareConnections: the bound of connections holds for both addresses together.
func TestAddressesShareConnections(t *testing.T) {
	h := open(t, func(o *Options) { o.MaxConnections = 1 })
	api := h.api()
	held, err := net.Dial("tcp", h.addr)
	if err != nil {
		t.Fatal(err)
	}
	defer held.Close()
	if _, err := held.Write([]byte("GET /health HTTP/1.1\r\nHost: x\r\n\r\n")); err != nil {
		t.Fatal(err)
	}
	if _, err := held.Read(make([]byte, 64)); err != nil {
		t.Fatal(err)
	}
	api.want(api.do("GET", "/v1/sql?sql=SELECT+1", ""), 503, "Too many connections")
}
