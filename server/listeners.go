package server

import (
	"context"
	"errors"
	"net"
	"slices"

	"github.com/prometheus/client_golang/prometheus"

	"varve/server/read/pgwire"
	"varve/server/read/query"
	"varve/server/write/forward"
	"varve/server/write/syslog"
)

// listeners are the protocols that are no HTTP. Those of syslog and forward have no users: who reaches their addresses
// may write.
type listeners struct {
	syslog  *syslog.Server
	forward *forward.Server
	pg      *pgwire.Server
}

func newListeners(o *Options, sql *query.Shared) *listeners {
	logs := o.Syslog
	logs.Deps, logs.Zone, logs.Logger, logs.Intake = o.Rows, o.Zone, o.Logger, o.Intake
	entries := o.Forward
	entries.Deps, entries.Logger, entries.Intake = o.Rows, o.Logger, o.Intake
	asks := o.PG
	asks.Statements, asks.Zone, asks.Logger, asks.Timeout = sql, o.Zone, o.Logger, o.Timeout
	asks.Left, asks.Progress, asks.Version = peerLeft, o.WriteProgress, o.Admin.Version
	if o.Users != nil {
		asks.SCRAM = func(name string) pgwire.Exchange { return o.Users.SCRAM(name) }
	}
	if o.Answers != nil {
		asks.Crowded = func() { o.Answers.GiveWay(1) }
	}
	return &listeners{syslog: syslog.New(logs), forward: forward.New(entries), pg: pgwire.New(asks)}
}

func (l *listeners) collectors() []prometheus.Collector {
	return slices.Concat(l.syslog.Collectors(), l.forward.Collectors(), l.pg.Collectors())
}

func (l *listeners) shutdown(ctx context.Context) error {
	others := make(chan error, 2)
	go func() { others <- l.forward.Shutdown(ctx) }()
	go func() { others <- l.pg.Shutdown(ctx) }()
	return errors.Join(l.syslog.Shutdown(ctx), <-others, <-others)
}

// ServeForward takes log entries in the forward protocol from the connections of ln until Shutdown.
func (s *Server) ServeForward(ln net.Listener) error { return s.listeners.forward.Serve(ln) }

// ServeSyslog takes syslog messages from the connections of ln, of TCP or TLS, until Shutdown.
func (s *Server) ServeSyslog(ln net.Listener) error { return s.listeners.syslog.Serve(ln) }

// ServeSyslogUDP takes syslog messages from the datagrams of c until Shutdown.
func (s *Server) ServeSyslogUDP(c net.PacketConn) error { return s.listeners.syslog.ServeUDP(c) }

// ServePG answers SQL over the wire protocol of PostgreSQL on the connections of ln until Shutdown.
func (s *Server) ServePG(ln net.Listener) error { return s.listeners.pg.Serve(ln) }
