package server

import (
	"fmt"
	"regexp"
	"slices"
	"strings"
	"testing"

	"google.golang.org/grpc/codes"
	"google.golang.org/grpc/status"
)

// TestProtocolsOff: the paths of a protocol that is switched off are 404, with and without /v1 before them, and no
// others.
func TestProtocolsOff(t *testing.T) {
	all := real(t, nil).s.routes()
	parameter := regexp.MustCompile(`\{[^}]+\}`)
	for _, c := range []struct {
		name string
		off  Protocols
		gone string // an expression for its paths
	}{
		{"line protocol", Protocols{Lines: true},
			`^/v1/lineproto/|^/(write|query|ping|api/v2/write|api/v2/buckets|api/v2/setup|api/v2/orgs|api/v3/write_lp)$`},
		{"JSON puts", Protocols{Puts: true}, `^(/v1/jsonput)?/api/put$`},
		{"metrics API", Protocols{Metrics: true},
			`^(/v1/metricsapi)?/(api/v1/(write|read|query|query_range|query_exemplars|labels|label/.*|series|metadata|format_query|parse_query|rules|alerts|alertmanagers|targets.*|features|status/.*)|-/.*)$|^/v1/metricsapi/`},
		{"OTLP", Protocols{OTLP: true}, `^/v1/otlp/|^/v1/(metrics|logs|traces)$`},
		{"trace search", Protocols{TraceQueries: true},
			`^(/v1/jaeger)?/api/(services|operations|dependencies|traces)(/|$)`},
		{"analysis as a stream", Protocols{AnalyzeStream: true}, `^/v1/sql/analyze/`},
		{"none", Protocols{}, `^$`},
	} {
		t.Run(c.name, func(t *testing.T) {
			h := real(t, func(o *Options) { o.Off = c.off })
			gone := regexp.MustCompile(c.gone)
			left := h.s.routes()
			many := 0
			for _, r := range all {
				served := slices.ContainsFunc(left,
					func(l route) bool { return l.Path == r.Path && slices.Equal(l.Methods, r.Methods) })
				if served == gone.MatchString(r.Path) {
					t.Errorf("%s %s is served: %v", strings.Join(r.Methods, " "), r.Path, served)
				}
				if served {
					continue
				}
				for _, m := range r.Methods {
					many++
					if a := h.do(m, parameter.ReplaceAllString(r.Path, "x"), ""); a.status != 404 {
						t.Errorf("%s %s: %d %s", m, r.Path, a.status, a.body)
					}
				}
			}
			if (many == 0) != (c.off == Protocols{}) {
				t.Errorf("%d methods and paths are gone", many)
			}
			h.want(h.do("GET", "/health", "", "User-Agent", "influxdb-client-go/2"), 200, "{")
			h.want(h.do("GET", "/v1/sql?sql=SELECT+1", ""), 200, "records")
		})
	}
}

// TestMethodsOff: gRPC has no methods of OTLP where that is switched off.
func TestMethodsOff(t *testing.T) {
	h := real(t, func(o *Options) { o.Off.OTLP = true })
	c := dial(t, h.calls())
	methods := real(t, nil).s.calls
	if len(methods) != 3 {
		t.Errorf("gRPC has %d methods", len(methods))
	}
	for method := range methods {
		if _, err := call(c, method, nil, nil); status.Code(err) != codes.Unimplemented {
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
		h := real(t, func(o *Options) { o.Lines.MergeMode = c.mode })
		for _, line := range []string{"m,host=a x=1 1000", "m,host=a y=2 1000"} {
			h.want(h.do("POST", "/v1/lineproto/write", line, "x-service-hints", c.hint), 204, "")
		}
		if got := fmt.Sprint(h.ask("SELECT x, y FROM m")); got != c.want {
			t.Errorf("merge mode %q with the hint %q: %s, want %s", c.mode, c.hint, got, c.want)
		}
	}
}
