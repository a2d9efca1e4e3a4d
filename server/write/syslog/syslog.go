// Package syslog accepts syslog messages over TCP, TLS and UDP, in the forms of RFC 5424 and RFC 3164; each message
// shows which one it has. A message in neither form is stored as it is.
package syslog

import (
	"bufio"
	"context"
	"log/slog"
	"net"
	"time"

	"github.com/prometheus/client_golang/prometheus"

	"varve/server/listen"
	"varve/server/web"
	"varve/server/write/rows"
)

// Options of a Server.
type Options struct {
	rows.Deps
	Store web.Store
	// Table takes the messages. Default syslog.
	Table string
	// MaxMessage bounds the bytes of a message: the rest of a longer one is cut off. Default 64 KiB.
	MaxMessage int
	// Intake, MaxConnections, MaxPerAddress and IdleTimeout are those of package listen.
	Intake         *web.Intake
	MaxConnections int
	MaxPerAddress  int
	IdleTimeout    time.Duration
	// Zone is the zone of times without one. Default UTC.
	Zone   *time.Location
	Logger *slog.Logger
}

// Server takes messages. Safe for concurrent use.
type Server struct {
	o       Options
	streams *listen.Server

	cut, lost prometheus.Counter
	drops     *drops
}

// New makes a server.
func New(o Options) *Server {
	if o.Table == "" {
		o.Table = "syslog"
	}
	if o.MaxMessage <= 0 {
		o.MaxMessage = 64 << 10
	}
	if o.Zone == nil {
		o.Zone = time.UTC
	}
	if o.Logger == nil {
		o.Logger = slog.New(slog.DiscardHandler)
	}
	s := &Server{
		o: o, drops: newDrops(),
		cut: prometheus.NewCounter(prometheus.CounterOpts{Name: "varve_syslog_messages_cut_total",
			Help: "Messages cut off because they were too long."}),
		lost: prometheus.NewCounter(prometheus.CounterOpts{Name: "varve_syslog_udp_lost_total",
			Help: "Datagrams lost because they came faster than they could be stored."}),
	}
	s.streams = listen.New(listen.Options{
		Name: "syslog", Store: o.Store, Rows: s.rows, Rejects: o.Rejects, Intake: o.Intake,
		MaxConnections: o.MaxConnections, MaxPerAddress: o.MaxPerAddress,
		IdleTimeout: o.IdleTimeout, Logger: o.Logger,
	})
	return s
}

// Collectors are the figures of the server.
func (s *Server) Collectors() []prometheus.Collector {
	return append(s.streams.Collectors(), s.cut, s.lost, s.drops)
}

// Serve takes the messages of the connections of ln, of TCP or TLS, until Shutdown.
func (s *Server) Serve(ln net.Listener) error {
	return s.streams.Serve(ln, func(r *bufio.Reader, from *listen.Conn) listen.Framer {
		return &frames{r: r, most: s.o.MaxMessage, cut: func() { s.cutOff(from.RemoteAddr()) }}
	})
}

// cutOff notes that a message was too long.
func (s *Server) cutOff(from net.Addr) {
	s.cut.Inc()
	s.streams.Warn("a message is cut off", "from", from.String(), "limit_bytes", s.o.MaxMessage)
}

// Shutdown stops the server and writes the messages that have arrived.
func (s *Server) Shutdown(ctx context.Context) error { return s.streams.Shutdown(ctx) }
