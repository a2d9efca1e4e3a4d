package server

import (
	"testing"

	"varve/engine"
)

// TestReady: /ready tells what /health does not: that rows cannot be served yet.
func TestReady(t *testing.T) {
	h := open(t, func(*Options) {})
	h.state.ready = engine.ErrStarting
	h.want(h.do("GET", "/ready", ""), 503, `"code":4008,"error":"the server is starting`)
	h.want(h.do("GET", "/health", ""), 200, "{}")
	h.state.ready = nil
	h.want(h.do("GET", "/ready", ""), 200, "{}")
}
