package server_test

import (
	"fmt"
	"regexp"
	"slices"
	"strings"
	"testing"

	"google.golang.org/grpc/codes"
	"google.golang.org/grpc/status"

	"varve/server"
	"varve/server/servertest"
)

// TestProtocolsOff: the paths of a protocol that is switched off are 404, with and without /v1 before them, and no
// others.
func TestProtocolsOff(t *testing.T) {
	all := servertest.Real(t, nil).Server.AllRoutes()
	parameter := regexp.MustCompile(`\{[^}]+\}`)
	for _, c := range []struct {
		name string
		off  server.Protocols
		gone string // an expression for its paths
	}{
		{"line protocol", server.Protocols{Lines: true},
			`^/v1/lineproto/|^/(write|query|ping|api/v2/write|api/v2/buckets|api/v2/setup|api/v2/orgs|api/v3/write_lp)$`},
		{"JSON puts", server.Protocols{Puts: true}, `^(/v1/jsonput)?/api/put$`},
		{"metrics API", server.Protocols{Metrics: true},
			`^(/v1/metricsapi)?/(api/v1/(write|read|query|query_range|query_exemplars|labels|label/.*|series|metadata|format_query|parse_query|rules|alerts|alertmanagers|targets.*|features|status/.*)|-/.*)$|^/v1/metricsapi/`},
		{"OTLP", server.Protocols{OTLP: true}, `^/v1/otlp/|^/v1/(metrics|logs|traces)$`},
		{"trace search", server.Protocols{TraceQueries: true},
			`^(/v1/jaeger)?/api/(services|operations|dependencies|traces)(/|$)`},
		{"log queries", server.Protocols{LogQueries: true}, `^(/v1/logpush)?/loki/api/v1/[^p]|/patterns$`},
		{"analysis as a stream", server.Protocols{AnalyzeStream: true}, `^/v1/sql/analyze/`},
		{"none", server.Protocols{}, `^$`},
	} {
		t.Run(c.name, func(t *testing.T) {
			h := servertest.Real(t, func(o *server.Options) { o.Off = c.off })
			gone := regexp.MustCompile(c.gone)
			left := h.Server.AllRoutes()
			many := 0
			for _, r := range all {
				served := slices.ContainsFunc(left,
					func(l server.ServedRoute) bool { return l.Path == r.Path && slices.Equal(l.Methods, r.Methods) })
				if served == gone.MatchString(r.Path) {
					t.Errorf("%s %s is served: %v", strings.Join(r.Methods, " "), r.Path, served)
				}
				if served {
					continue
				}
				for _, m := range r.Methods {
					many++
					if a := h.Do(m, parameter.ReplaceAllString(r.Path, "x"), ""); a.Status != 404 {
						t.Errorf("%s %s: %d %s", m, r.Path, a.Status, a.Body)
					}
				}
			}
			if (many == 0) != (c.off == server.Protocols{}) {
				t.Errorf("%d methods and paths are gone", many)
			}
			h.Want(h.Do("GET", "/health", "", "User-Agent", "influxdb-client-go/2"), 200, "{")
			h.Want(h.Do("GET", "/v1/sql?sql=SELECT+1", ""), 200, "records")
		})
	}
}

// TestMethodsOff: gRPC has no methods of OTLP where that is switched off.
func TestMethodsOff(t *testing.T) {
	h := servertest.Real(t, func(o *server.Options) { o.Off.OTLP = true })
	c := servertest.Dial(t, h.Calls())
	methods := servertest.Real(t, nil).Server.CallMethods()
	if len(methods) != 3 {
		t.Errorf("gRPC has %d methods", len(methods))
	}
	for _, method := range methods {
		if _, err := servertest.Call(c, method, nil, nil); status.Code(err) != codes.Unimplemented {
			t.Errorf("%s: %v", method, err)
		}
	}
}

// TestMergeModeOfLines: tables that line protocol makes have the merge mode of the configuration, unless a request says
// another.
func TestMergeModeOfLines(t *testing.T) {
	for _, c := range []struct{ mode, hint, want string }{
		{"", "", "[[1 2]]"}, {"last_non_null", "", "[[1 2]]"}, {"last_row", "", "[[<nil> 2]]"},
		{"last_row", "merge_mode=last_non_null", "[[1 2]]"},
	} {
		h := servertest.Real(t, func(o *server.Options) { o.Lines.MergeMode = c.mode })
		for _, line := range []string{"m,host=a x=1 1000", "m,host=a y=2 1000"} {
			h.Want(h.Do("POST", "/v1/lineproto/write", line, "x-service-hints", c.hint), 204, "")
		}
		if got := fmt.Sprint(h.Ask("SELECT x, y FROM m")); got != c.want {
			t.Errorf("merge mode %q with the hint %q: %s, want %s", c.mode, c.hint, got, c.want)
		}
	}
}
