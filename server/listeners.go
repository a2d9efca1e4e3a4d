package server

import (
	"context"
	"errors"
	"net"

	"github.com/prometheus/client_golang/prometheus"

	"varve/server/write/forward"
	"varve/server/write/syslog"
)

// listeners are the protocols that are no HTTP and have no users: who reaches their addresses may write.
type listeners struct {
	syslog  *syslog.Server
	forward *forward.Server
}

func newListeners(o *Options) *listeners {
	logs := o.Syslog
	logs.Deps, logs.Zone, logs.Logger, logs.Intake = o.Rows, o.Zone, o.Logger, o.Intake
	entries := o.Forward
	entries.Deps, entries.Logger, entries.Intake = o.Rows, o.Logger, o.Intake
	return &listeners{syslog: syslog.New(logs), forward: forward.New(entries)}
}

func (l *listeners) collectors() []prometheus.Collector {
	return append(l.syslog.Collectors(), l.forward.Collectors()...)
}

func (l *listeners) shutdown(ctx context.Context) error {
	other := make(chan error, 1)
	go func() { other <- l.forward.Shutdown(ctx) }()
	return errors.Join(l.syslog.Shutdown(ctx), <-other)
}

// ServeForward takes log entries in the forward protocol from the connections of ln until Shutdown.
func (s *Server) ServeForward(ln net.Listener) error { return s.listeners.forward.Serve(ln) }

// ServeSyslog takes syslog messages from the connections of ln, of TCP or TLS, until Shutdown.
func (s *Server) ServeSyslog(ln net.Listener) error { return s.listeners.syslog.Serve(ln) }

// ServeSyslogUDP takes syslog messages from the datagrams of c until Shutdown.
func (s *Server) ServeSyslogUDP(c net.PacketConn) error { return s.listeners.syslog.ServeUDP(c) }
