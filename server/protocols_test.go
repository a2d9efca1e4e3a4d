package server

import (
	"regexp"
	"testing"

	"github.com/prometheus/client_golang/prometheus"
	"github.com/valyala/fasthttp"

	"varve/engine"
)

// TestProtocolsOwnTheirPaths: a request with the wrong method has no route, and is yet one of the protocol that has the
// path: its credentials and its errors are those of the protocol, and pages of other origins are refused as well.
func TestProtocolsOwnTheirPaths(t *testing.T) {
	store, err := engine.Open(engine.Options{Dir: t.TempDir(), MinFree: 1})
	if err != nil {
		t.Fatal(err)
	}
	defer func() {
		if err := store.Close(t.Context(), false); err != nil {
			t.Errorf("close the store: %v", err)
		}
	}()
	var o Options
	o.Admin.Store = store
	s, err := New(o, prometheus.NewRegistry())
	if err != nil {
		t.Fatal(err)
	}
	parameter := regexp.MustCompile(`\{[^}]+\}`)
	names, seen := map[string]bool{}, 0
	for i := range s.protocols {
		p := &s.protocols[i]
		if names[p.Name] || p.Name == "" {
			t.Errorf("the name %q of a protocol is there twice, or empty", p.Name)
		}
		names[p.Name] = true
		for _, r := range p.Routes {
			path := parameter.ReplaceAllString(r.Path, "x")
			var rc fasthttp.RequestCtx
			rc.Request.SetRequestURI(path)
			if shared := s.shared(&route{r, p}, &rc); shared != s.shared(other(s.wrongMethod), &rc) {
				t.Errorf("%s %s: pages of other origins may ask: %v, with another method the opposite", p.Name, path, shared)
			}
			owner := s.owner(path)
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
