// Package pgwire serves SQL over the wire protocol of PostgreSQL, version 3. Messages are those of pgproto3; statements
// go the way of all SQL: rights, places, limits, the list of what runs, the log of slow ones.
//
//	pgwire.go conn.go frame.go        connections, their ends, messages as they arrive
//	startup.go binding.go             how a connection begins; requests to end a statement; what binds it to TLS
//	settings.go config.go             parameters of a session; set_config
//	backends.go                       ending other connections; pg_sleep
//	commands.go transactions.go       SET, BEGIN and others that are no SQL of ours
//	simple.go extended.go portal.go   queries, prepared statements, their rows
//	copy.go copyin.go copyrows.go     COPY to and from the client
//	infer.go beside.go                types of parameters
//	values.go times.go literals.go    values of parameters and literals
//	dialect.go dialecttables.go       functions and casts of clients that look at the catalog
//	dialectlists.go dialecttexts.go   those of lists of the catalog, of names and texts
//	dialecttimes.go                   times by templates
//	types.go text.go binary.go        types and values as clients read them
//	errors.go                         codes
//
// # Promises
//
// A connection holds little while it waits. Before its user is known a message has at most maxStartup bytes. Rows are
// sent as they are made: a portal of any number of rows keeps one batch.
package pgwire

import (
	"context"
	"crypto/tls"
	"errors"
	"io"
	"log/slog"
	"net"
	"net/netip"
	"runtime/debug"
	"sync"
	"time"

	"github.com/prometheus/client_golang/prometheus"

	"varve/engine/status"
	"varve/engine/vector"
	"varve/server/listen"
	"varve/server/web"
	"varve/sqlexec"
	"varve/sqlexec/exec"
	"varve/sqlexec/parse"
)

// Executor parses statements and describes their answers, see sqlexec.Executor.
type Executor interface {
	HasDatabase(name string) bool
	ParseDialect(ctx context.Context, text string, d *parse.Dialect) (list []parse.Statement, release func(), err error)
	Describe(ctx context.Context, s *sqlexec.Session, st parse.Statement) ([]vector.Field, error)
	SetReads(s *sqlexec.Session, name, text string) error
	Allowance() *exec.Allowance
	Kill(s *parse.Kill) error
	Attend(ctx context.Context, s *sqlexec.Session, text string, part func(ctx context.Context) error) error
}

// Statements is the way of statements of all protocols, see package query.
type Statements interface {
	Session(user web.User) *sqlexec.Session
	Enter(ctx context.Context, st parse.Statement, crowded func()) (leave func(), err error)
	Execute(ctx context.Context, user web.User, s *sqlexec.Session, st parse.Statement) (*sqlexec.Result, error)
	Allows(user web.User, st parse.Statement) error
	Writes(st parse.Statement) bool
}

// Exchange is an authentication by SCRAM-SHA-256, see package auth.
type Exchange interface {
	// Bind offers to bind the exchange to a connection with these bytes; bound: the client chose it.
	Bind(data []byte, bound bool)
	First(message []byte) (reply []byte, err error)
	Final(message []byte) (reply []byte, user web.User, err error)
	// Current returns a function that gives the user as the list of users has it at the time of the call.
	Current() func() (web.User, error)
}

// Options of a Server. Zero values mean the documented default.
type Options struct {
	Executor   Executor
	Statements Statements
	// SCRAM begins the authentication of a user; nil: everybody may do everything.
	SCRAM func(name string) Exchange
	// TLS encrypts connections whose clients ask for it; nil: none is.
	TLS *tls.Config
	// RequireTLS refuses connections without TLS from other machines.
	RequireTLS bool
	// MaxConnections is the number of connections served at a time, MaxPerAddress of these those of one address.
	// Defaults 256 and three quarters of it.
	MaxConnections, MaxPerAddress int
	// MaxMessage bounds a message, in bytes. Default 16 MiB.
	MaxMessage int
	// Patience is how long a connection may take to name its user. Default 10 s.
	Patience time.Duration
	// Telling is how long telling a client that there is no place may take. Default 2 s.
	Telling time.Duration
	// IdleTimeout is how long a connection may wait outside transactions. Default one hour.
	IdleTimeout time.Duration
	// Timeout is the time limit of statements of clients that set none; 0: none.
	Timeout time.Duration
	// Progress is how long a piece of an answer may wait for a client that does not read. Default 30 s.
	Progress time.Duration
	// Left reports whether the other side has closed a connection; nil: nobody knows.
	Left func(net.Conn) bool
	// Crowded is called while statements wait for a place, see query.Shared; may be nil.
	Crowded func()
	Zone    *time.Location // of sessions that set none; nil: UTC
	Version string         // of the server
	Logger  *slog.Logger
}

const (
	// proofTime is how long a client may take to prove who its user is: it derives a key, which takes a slow machine
	// long.
	proofTime = time.Minute
	// transactionIdle is how long a connection may wait in a transaction: it keeps files that merges have replaced.
	transactionIdle = 10 * time.Minute
	// messageTime is how long a message may take to arrive.
	messageTime = time.Minute
	// largeBytes bounds what arriving messages hold together beyond their first 64 KiB each.
	largeBytes = 64 << 20
	roomTime   = 30 * time.Second // a message waits for room
	leastRate  = 256 << 10        // bytes/s of a message while others wait for room
	// maxRefused bounds the clients without a place that are answered at a time.
	maxRefused = 64
)

// Server serves connections. Safe for concurrent use.
type Server struct {
	o      Options
	ctx    context.Context // ends when statements are given up
	cancel context.CancelFunc
	places *web.Places
	doors  *web.Places // of clients without a place, while they are answered
	large  *web.Intake

	mu        sync.Mutex // protects what follows
	draining  bool
	listeners map[net.Listener]bool
	conns     map[uint32]*conn // by the number that clients cancel by
	next      uint32
	idle      sync.WaitGroup // of connections

	refused, failed prometheus.Counter
}

// New makes a server.
func New(o Options) *Server {
	if o.MaxConnections <= 0 {
		o.MaxConnections = 256
	}
	if o.MaxMessage <= 0 {
		o.MaxMessage = 16 << 20
	}
	if o.Patience <= 0 {
		o.Patience = 10 * time.Second
	}
	if o.Telling <= 0 {
		o.Telling = 2 * time.Second
	}
	if o.IdleTimeout <= 0 {
		o.IdleTimeout = time.Hour
	}
	if o.Progress <= 0 {
		o.Progress = 30 * time.Second
	}
	if o.Zone == nil {
		o.Zone = time.UTC
	}
	if o.Left == nil {
		o.Left = func(net.Conn) bool { return false }
	}
	if o.Logger == nil {
		o.Logger = slog.New(slog.DiscardHandler)
	}
	counter := func(name, help string) prometheus.Counter {
		return prometheus.NewCounter(prometheus.CounterOpts{Name: "varve_pg_" + name, Help: help})
	}
	s := &Server{
		o: o, places: web.NewPlaces(o.MaxConnections, web.PerAddress(o.MaxPerAddress, o.MaxConnections)),
		doors:     web.NewPlaces(maxRefused, web.PerAddress(0, maxRefused)),
		large:     web.NewIntake(max(largeBytes, int64(o.MaxMessage)), roomTime, status.RateLimited),
		listeners: map[net.Listener]bool{}, conns: map[uint32]*conn{},
		refused: counter("connections_refused_total",
			"Connections closed because there were too many, of all or of their address."),
		failed: counter("connections_failed_total",
			"Connections closed because of what came on them, or because their user was not known."),
	}
	s.ctx, s.cancel = context.WithCancel(context.Background())
	return s
}

// Collectors are the figures of the server.
func (s *Server) Collectors() []prometheus.Collector {
	return []prometheus.Collector{s.refused, s.failed, prometheus.NewGaugeFunc(prometheus.GaugeOpts{
		Name: "varve_pg_connections", Help: "Open connections.",
	}, func() float64 {
		s.mu.Lock()
		defer s.mu.Unlock()
		return float64(len(s.conns))
	})}
}

// Serve serves the connections of ln until Shutdown.
func (s *Server) Serve(ln net.Listener) error {
	s.mu.Lock()
	if s.draining {
		s.mu.Unlock()
		return ln.Close()
	}
	s.listeners[ln] = true
	s.mu.Unlock()
	return listen.Accept(s.ctx, ln, "pg", s.o.Logger, s.stopping, func(c net.Conn) {
		if k := s.begin(c); k != nil {
			go s.run(k)
		}
	})
}

func (s *Server) stopping() bool {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.draining
}

// begin takes a connection, or closes it where there are too many.
func (s *Server) begin(c net.Conn) *conn {
	address := web.NetworkOf(c.RemoteAddr())
	if err := s.places.Take(address); err != nil {
		s.refuse(c, address, err)
		return nil
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.draining {
		s.places.Give(address)
		c.Close()
		return nil
	}
	s.next++
	for s.next == 0 || s.conns[s.next] != nil {
		s.next++
	}
	k := newConn(s, c, s.next, address)
	s.conns[k.number] = k
	s.idle.Add(1)
	return k
}

// refuse answers a client for which there is no place: a request to end a statement is done, for which it needs none,
// others are told when they have said who they are, as they listen then. What the client says meanwhile is read away: a
// system that closes a connection with unread bytes may take the answer back. Where many are answered already, the
// client is told nothing.
func (s *Server) refuse(c net.Conn, address netip.Addr, why error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.draining || s.doors.Take(address) != nil {
		s.refused.Inc()
		c.Close()
		return
	}
	k := newConn(s, c, 0, address)
	s.idle.Add(1)
	go func() {
		defer s.idle.Done()
		defer s.doors.Give(address)
		defer c.Close()
		defer s.recovered()
		c.SetDeadline(time.Now().Add(s.o.Telling)) // then the connection is closed, whatever was told
		parameters, err := k.greet()
		if err == nil && parameters == nil { // it has ended a statement
			return
		}
		s.refused.Inc()
		var f *failure
		if err == nil {
			f = &failure{code: "53300", text: "too many connections: " + why.Error()}
		} else if !errors.As(err, &f) {
			return
		}
		f.fatal = true
		if _, err := k.c.Write(f.encode(k.out)); err == nil {
			if half, ok := k.c.(interface{ CloseWrite() error }); ok && half.CloseWrite() == nil {
				io.Copy(io.Discard, io.LimitReader(k.c, maxStartup))
			}
		}
	}()
}

// run serves a connection to its end.
func (s *Server) run(k *conn) {
	defer func() {
		k.close()
		s.mu.Lock()
		delete(s.conns, k.number)
		s.mu.Unlock()
		s.places.Give(k.address)
		s.idle.Done()
	}()
	defer s.recovered()
	if err := k.serve(); err != nil {
		s.failed.Inc()
		s.o.Logger.Debug("pg: a connection is closed", "from", k.raw.RemoteAddr().String(), "reason", err)
	}
}

// recovered, deferred, keeps a panic to its connection.
func (s *Server) recovered() {
	if p := recover(); p != nil {
		s.o.Logger.Error("panic in a connection", "protocol", "pg", "panic", p, "stack", string(debug.Stack()))
	}
}

// past is a deadline that ends a read at once.
var past = time.Unix(1, 0)

// Shutdown stops the server: it closes the listeners and idle connections and waits for the statements at work. After
// four fifths of ctx's time it ends them. When ctx ends it closes all connections.
func (s *Server) Shutdown(ctx context.Context) error {
	s.mu.Lock()
	s.draining = true
	for ln := range s.listeners {
		ln.Close()
	}
	for _, k := range s.conns {
		k.raw.SetReadDeadline(past)
	}
	s.mu.Unlock()
	return listen.Drain(ctx, &s.idle, s.cancel, func() {
		s.mu.Lock()
		defer s.mu.Unlock()
		for _, k := range s.conns {
			k.raw.Close()
		}
	})
}

// local reports whether a connection comes from this machine.
func local(a netip.Addr) bool { return a.IsLoopback() }
