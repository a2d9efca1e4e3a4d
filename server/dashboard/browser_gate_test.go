//go:build dashboard && browser

package dashboard

import (
	"bytes"
	"io"
	"net/http"
	"net/http/httptest"
	"net/http/httputil"
	"net/url"
	"regexp"
	"sync"
	"testing"
)

// gate is a server in front of another one. It holds requests of some kinds until they are let go.
type gate struct {
	*server // with the address of the gate
	kinds   map[string]*regexp.Regexp

	mu     sync.Mutex
	closed map[string]chan struct{}
	came   map[string]int // requests of each kind since it was closed
	left   map[string]int // those of them that were given up while they were held
}

// gated puts a gate in front of a server. A request is of a kind when its path with its query, and its body, match the
// expression.
func gated(t *testing.T, s *server, kinds map[string]string) *gate {
	t.Helper()
	to, err := url.Parse(s.url)
	if err != nil {
		t.Fatal(err)
	}
	g := &gate{kinds: map[string]*regexp.Regexp{}, closed: map[string]chan struct{}{}, came: map[string]int{},
		left: map[string]int{}}
	for kind, expression := range kinds {
		g.kinds[kind] = regexp.MustCompile(expression)
	}
	proxy := httputil.NewSingleHostReverseProxy(to)
	// the page gave it up
	proxy.ErrorHandler = func(w http.ResponseWriter, _ *http.Request, _ error) { w.WriteHeader(http.StatusBadGateway) }
	front := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		body, err := io.ReadAll(r.Body)
		if err != nil {
			return // the page gave it up
		}
		r.Body = io.NopCloser(bytes.NewReader(body))
		said, _ := url.QueryUnescape(string(body))
		if g.pass(r, r.URL.RequestURI()+" "+said) {
			proxy.ServeHTTP(w, r)
		}
	}))
	t.Cleanup(front.Close)
	t.Cleanup(func() {
		for kind := range kinds {
			g.open(kind)
		}
	})
	g.server = &server{url: front.URL}
	return g
}

// pass waits while a request is held; false: it was given up.
func (g *gate) pass(r *http.Request, said string) bool {
	for kind, expression := range g.kinds {
		if !expression.MatchString(said) {
			continue
		}
		g.mu.Lock()
		held := g.closed[kind]
		g.came[kind]++
		g.mu.Unlock()
		if held == nil {
			return true
		}
		select {
		case <-held:
			return true
		case <-r.Context().Done():
			g.mu.Lock()
			g.left[kind]++
			g.mu.Unlock()
			return false
		}
	}
	return true
}

// close holds the requests of some kinds from now on.
func (g *gate) close(kinds ...string) {
	g.mu.Lock()
	defer g.mu.Unlock()
	for _, kind := range kinds {
		if g.closed[kind] == nil {
			g.closed[kind] = make(chan struct{})
		}
		g.came[kind], g.left[kind] = 0, 0
	}
}

// open lets the requests of a kind go.
func (g *gate) open(kind string) {
	g.mu.Lock()
	defer g.mu.Unlock()
	if held := g.closed[kind]; held != nil {
		close(held)
		delete(g.closed, kind)
	}
}

// counts are how many requests of a kind came since it was closed, and how many of them were given up.
func (g *gate) counts(kind string) (came, left int) {
	g.mu.Lock()
	defer g.mu.Unlock()
	return g.came[kind], g.left[kind]
}

// orders are all orders of some things.
func orders(of []string) (all [][]string) {
	if len(of) == 0 {
		return [][]string{nil}
	}
	for i, first := range of {
		rest := append(append([]string(nil), of[:i]...), of[i+1:]...)
		for _, order := range orders(rest) {
			all = append(all, append([]string{first}, order...))
		}
	}
	return all
}
