package server_test

import (
	"testing"

	"varve/engine"
	"varve/server"
	"varve/server/servertest"
)

// TestReady: /ready tells what /health does not: that rows cannot be served yet.
func TestReady(t *testing.T) {
	h := servertest.Open(t, func(*server.Options) {})
	h.State.NotReady = engine.ErrStarting
	h.Want(h.Do("GET", "/ready", ""), 503, `"code":4008,"error":"the server is starting`)
	h.Want(h.Do("GET", "/health", ""), 200, "{}")
	h.State.NotReady = nil
	h.Want(h.Do("GET", "/ready", ""), 200, "{}")
}
