package server

import (
	"net"
	"time"

	"varve/server/web"
)

// watchPeriod is how often a connection is looked at while a query runs.
const watchPeriod = 50 * time.Millisecond

// watch ends the request's context when its client leaves. The goroutine ends with the request.
func (s *Server) watch(c *web.Ctx, from net.Conn) {
	over := make(chan struct{})
	ended := make(chan struct{})
	c.Finally(func() { close(over); <-ended })
	go func() {
		defer close(ended)
		tick := time.NewTicker(watchPeriod)
		defer tick.Stop()
		for {
			select {
			case <-over:
				return
			case <-c.Context.Done():
				return
			case <-tick.C:
				if peerLeft(from) {
					s.metrics.ClientsLeft.Inc()
					c.Cancel()
					return
				}
			}
		}
	}()
}
