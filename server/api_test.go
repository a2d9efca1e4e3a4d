package server_test

import (
	"context"
	"net"
	"regexp"
	"strings"
	"testing"

	"varve/server"
	"varve/server/servertest"
)

// api serves the API alone at an address of its own.
func api(h *servertest.House) *servertest.House {
	h.Helper()
	ln, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		h.Fatal(err)
	}
	served := make(chan error, 1)
	go func() { served <- h.Server.ServeAPI(ln) }()
	h.Cleanup(func() {
		h.Server.Shutdown(context.Background()) // the address before is ended as well; its own end finds nothing to do
		if err := <-served; err != nil {
			h.Errorf("ServeAPI: %v", err)
		}
	})
	there := h.As(h.TB)
	there.Addr, there.URL = ln.Addr().String(), "http://"+ln.Addr().String()
	return there
}

// TestAPIAddress: at the address of the API alone every path of /v1 and of the dashboard answers as at the other one,
// and nothing else is there.
func TestAPIAddress(t *testing.T) {
	h := servertest.Real(t, func(o *server.Options) { o.Dashboard.Dir = "dashboard/web" })
	api := api(h)
	parameter := regexp.MustCompile(`\{[^}]+\}`)
	for _, r := range h.Server.AllRoutes() {
		path := parameter.ReplaceAllString(r.Path, "x")
		got := api.Do(r.Methods[0], path, "")
		switch {
		case !strings.HasPrefix(path, "/v1/") && !strings.HasPrefix(path, "/dashboard/"):
			if got.Status != 404 || got.Body != "" {
				t.Errorf("%s %s: %d %s", r.Methods[0], path, got.Status, got.Body)
			}
		case got.Status == 404 && got.Body == "":
			t.Errorf("%s %s: %d %s", r.Methods[0], path, got.Status, got.Body)
		}
	}
	api.Want(api.Do("GET", "/v1/sql?sql=SELECT+1", ""), 200, "records")
	api.Want(api.Do("GET", "/dashboard", ""), 308, "")
	for _, path := range []string{"/v1/../config", "/v1/..%2fconfig", "/v1", "/V1/sql?sql=SELECT+1", "/dashboardx",
		"/nothing"} {
		if a := api.Do("GET", path, ""); a.Status != 404 {
			t.Errorf("GET %s: %d %s", path, a.Status, a.Body)
		}
	}
	h.Want(h.Do("GET", "/config", ""), 200, "enable_telemetry")
}

// TestAddressesShareConnections: the bound of connections holds for both addresses together.
func TestAddressesShareConnections(t *testing.T) {
	h := servertest.Open(t, func(o *server.Options) { o.MaxConnections = 1 })
	api := api(h)
	held, err := net.Dial("tcp", h.Addr)
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
	api.Want(api.Do("GET", "/v1/sql?sql=SELECT+1", ""), 503, "Too many connections")
}
