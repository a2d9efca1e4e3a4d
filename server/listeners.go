package server

import (
	"context"
	"net"

	"github.com/prometheus/client_golang/prometheus"

	"varve/server/syslog"
)

// listeners are the protocols that are no HTTP and have no users: who reaches their addresses may write.
type listeners struct {
	syslog *syslog.Server
}

func newListeners(o *Options) *listeners {
	logs := o.Syslog
	logs.Zone, logs.Logger = o.Zone, o.Logger
	return &listeners{syslog: syslog.New(logs)}
}

func (l *listeners) collectors() []prometheus.Collector { return l.syslog.Collectors() }

func (l *listeners) shutdown(ctx context.Context) error { return l.syslog.Shutdown(ctx) }

// ServeSyslog takes syslog messages from the connections of ln, of TCP or TLS, until Shutdown.
func (s *Server) ServeSyslog(ln net.Listener) error { return s.listeners.syslog.Serve(ln) }

// ServeSyslogUDP takes syslog messages from the datagrams of c until Shutdown.
func (s *Server) ServeSyslogUDP(c net.PacketConn) error { return s.listeners.syslog.ServeUDP(c) }
