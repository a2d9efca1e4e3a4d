package server

import (
	"net"
	"sync"
	"time"

	"varve/server/web"
)

// watchPeriod is how often a connection is looked at while a query runs.
const watchPeriod = 50 * time.Millisecond

// watch ends the request's context when its client leaves. A timer looks at the connection, so that a request that ends
// before has no goroutine of its own.
func (s *Server) watch(c *web.Ctx, from net.Conn) {
	var look *time.Timer
	var mu sync.Mutex // held while the connection is looked at: the request does not end meanwhile
	over, ctx := false, c.Context
	mu.Lock()
	defer mu.Unlock()
	look = time.AfterFunc(watchPeriod, func() {
		mu.Lock()
		defer mu.Unlock()
		switch {
		case over || ctx.Err() != nil:
		case peerLeft(from):
			s.metrics.ClientsLeft.Inc()
			c.Cancel()
		default:
			look.Reset(watchPeriod)
		}
	})
	c.Finally(func() {
		mu.Lock()
		defer mu.Unlock()
		over = true
		look.Stop()
	})
}
