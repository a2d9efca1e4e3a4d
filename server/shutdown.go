package server

import (
	"context"
	"errors"
	"sync"
	"sync/atomic"
	"time"

	"varve/server/web"
)

// state is the life of a server: its listener while it serves, and whether it stops.
type state struct {
	mu       sync.Mutex
	l        *listener
	draining atomic.Bool
}

// begin notes the listener; false when the server was stopped before.
func (s *state) begin(l *listener) bool {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.draining.Load() {
		return false
	}
	s.l = l
	return true
}

func (s *state) connections() int {
	s.mu.Lock()
	l := s.l
	s.mu.Unlock()
	if l == nil {
		return 0
	}
	return l.open()
}

// Shutdown stops the server: no new connections, idle ones closed, requests in hand finished. When four fifths of ctx's
// time are over the contexts of what still runs end, and with ctx every connection is closed whatever it does. It
// returns ctx's error when that was needed.
func (s *Server) Shutdown(ctx context.Context) error {
	s.state.mu.Lock()
	s.state.draining.Store(true)
	l := s.state.l
	s.state.mu.Unlock()
	defer s.cancel()
	calls, others := make(chan error, 1), make(chan error, 1)
	go func() { calls <- s.shutdownRPC(ctx) }()
	go func() { others <- s.listeners.shutdown(ctx) }()
	err := errors.Join(s.drain(ctx, l), <-calls, <-others)
	if s.o.Slow != nil {
		s.o.Slow.Close(ctx)
	}
	return err
}

// drain finishes the requests of a listener; nil: there is none.
func (s *Server) drain(ctx context.Context, l *listener) error {
	if l == nil {
		return nil
	}
	l.Listener.Close() // Serve then returns
	patience := time.NewTimer(web.UntilCancel(ctx))
	defer patience.Stop()
	tick := time.NewTicker(10 * time.Millisecond)
	defer tick.Stop()
	for {
		l.closeIdle()
		if l.open() == 0 {
			return nil
		}
		select {
		case <-tick.C:
		case <-patience.C:
			s.cancel()
		case <-ctx.Done():
			s.cancel()
			l.closeAll()
			return ctx.Err()
		}
	}
}
