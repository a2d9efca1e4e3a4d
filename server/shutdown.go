package server

import (
	"context"
	"errors"
	"sync"
	"sync/atomic"
	"time"

	"varve/server/web"
)

// state is the life of a server: its listeners while it serves, and whether it stops.
type state struct {
	mu       sync.Mutex
	ls       listening
	draining atomic.Bool
}

// begin notes a listener; false when the server was stopped before.
func (s *state) begin(l *listener) bool {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.draining.Load() {
		return false
	}
	s.ls = append(s.ls, l)
	return true
}

func (s *state) connections() int {
	s.mu.Lock()
	ls := s.ls
	s.mu.Unlock()
	return ls.open()
}

// listening are the listeners of a server.
type listening []*listener

func (ls listening) open() (n int) {
	for _, l := range ls {
		n += l.open()
	}
	return n
}

func (ls listening) each(f func(l *listener)) {
	for _, l := range ls {
		f(l)
	}
}

// Shutdown stops the server: it takes no new connections, closes idle ones and finishes the requests in hand. After
// four fifths of ctx's time it ends the contexts of the requests that still run. When ctx ends it closes all
// connections and returns ctx's error.
func (s *Server) Shutdown(ctx context.Context) error {
	s.state.mu.Lock()
	s.state.draining.Store(true)
	ls := s.state.ls
	s.state.mu.Unlock()
	defer s.cancel()
	read := s.queues.Shutdown(ctx)
	calls, others := make(chan error, 1), make(chan error, 1)
	go func() { calls <- s.shutdownRPC(ctx) }()
	go func() { others <- s.listeners.shutdown(ctx) }()
	ruled := make(chan struct{})
	go func() {
		defer close(ruled)
		if s.o.Rules != nil {
			s.o.Rules.Stop(ctx)
		}
	}()
	err := errors.Join(read, s.drain(ctx, ls), <-calls, <-others)
	<-ruled
	if s.o.Slow != nil {
		s.o.Slow.Close(ctx)
	}
	return err
}

// drain finishes the requests of listeners.
func (s *Server) drain(ctx context.Context, ls listening) error {
	ls.each(func(l *listener) { l.Listener.Close() }) // Serve then returns
	patience := time.NewTimer(web.UntilCancel(ctx))
	defer patience.Stop()
	tick := time.NewTicker(10 * time.Millisecond)
	defer tick.Stop()
	for {
		ls.each((*listener).closeIdle)
		if ls.open() == 0 {
			return nil
		}
		select {
		case <-tick.C:
		case <-patience.C:
			s.cancel()
		case <-ctx.Done():
			s.cancel()
			ls.each((*listener).closeAll)
			return ctx.Err()
		}
	}
}
