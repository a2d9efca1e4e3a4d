// Package listen serves protocols that are streams without requests: senders connect and send messages, and the server
// stores them in batches. A connection is not read while its batch is written, so TCP makes senders wait for the store.
// A protocol provides how to find messages in a stream, and how to turn them into rows.
package listen

import (
	"bufio"
	"context"
	"log/slog"
	"net"
	"runtime/debug"
	"sync"
	"sync/atomic"
	"time"

	"github.com/prometheus/client_golang/prometheus"

	"varve/engine"
	"varve/server/web"
	"varve/server/write/rows/rejects"
)

// Options of a Server.
type Options struct {
	// Name is the protocol's, for figures and log lines.
	Name  string
	Store web.Store
	// Rows makes rows of messages. It calls hold with the bytes that the rows take besides the messages; hold may wait,
	// and Rows returns its error. If the rows are too many for one set, Rows calls write for those that are in the set.
	Rows func(ctx context.Context, messages []Message, set *engine.WriteSet, hold func(bytes int64) error,
		write func() error) (Made, error)
	// Rejects keeps entries that are not stored; nil: nothing does.
	Rejects *rejects.Log
	// Intake bounds the bytes of the messages in hand, together with the bodies of requests; nil: nothing does.
	Intake *web.Intake
	// Writers is the number of batches that become rows at a time. Default 8.
	Writers int
	// MaxConnections is the number of connections served at a time, others are closed. Default 256.
	MaxConnections int
	// MaxPerAddress is the number of connections of one address. Default three quarters of MaxConnections.
	MaxPerAddress int
	// IdleTimeout is how long a connection may send nothing. Default 10 min.
	IdleTimeout time.Duration
	Logger      *slog.Logger
}

// Message is one message with its time of arrival.
type Message struct {
	Text []byte
	At   time.Time
}

// Made is what Rows made of messages. Left gives the entries that the rows leave out; it is called when the rows are
// written.
type Made struct {
	Rows int
	Left func() []rejects.Entry // may be nil
}

// Framer finds messages in a stream.
type Framer interface {
	// Next reads the next message, which is valid until the call after. acked: its sender waits for it to be stored.
	Next() (text []byte, acked bool, err error)
	// Stored is called when a message whose sender waits is stored; it writes the answer.
	Stored(to net.Conn) error
	// Close is called when the connection has ended.
	Close()
}

const (
	// batchBytes and batchMessages bound a batch, batchAge is how long a message may lie in one.
	batchBytes    = 256 << 10
	batchMessages = 4096
	batchAge      = time.Second
	// messageTime is how long a message may take to arrive.
	messageTime = time.Minute
	// readBytes is the buffer of a connection.
	readBytes = 16 << 10
)

// Server serves connections. Safe for concurrent use.
type Server struct {
	o       Options
	ctx     context.Context // ends when writes that wait for room are given up
	cancel  context.CancelFunc
	sets    engine.SpareSets
	writing chan struct{}
	places  *web.Places
	lines   lines

	mu        sync.Mutex // protects what follows
	draining  bool
	listeners map[interface{ Close() error }]bool
	conns     map[*Conn]bool
	idle      sync.WaitGroup // of connections

	messages, rows, refused, turned prometheus.Counter
	waiting                         atomic.Int64 // messages in batches
}

// New makes a server.
func New(o Options) *Server {
	if o.Writers <= 0 {
		o.Writers = 8
	}
	if o.MaxConnections <= 0 {
		o.MaxConnections = 256
	}
	if o.IdleTimeout <= 0 {
		o.IdleTimeout = 10 * time.Minute
	}
	if o.Logger == nil {
		o.Logger = slog.New(slog.DiscardHandler)
	}
	counter := func(name, help string) prometheus.Counter {
		return prometheus.NewCounter(prometheus.CounterOpts{Name: "varve_" + o.Name + "_" + name, Help: help})
	}
	s := &Server{
		o: o, writing: make(chan struct{}, o.Writers), listeners: map[interface{ Close() error }]bool{},
		conns:    map[*Conn]bool{},
		places:   web.NewPlaces(o.MaxConnections, web.PerAddress(o.MaxPerAddress, o.MaxConnections)),
		lines:    lines{log: o.Logger, kinds: map[string]*window{}},
		messages: counter("messages_total", "Messages that arrived on the listeners."),
		rows:     counter("rows_total", "Rows written."),
		refused:  counter("messages_refused_total", "Messages that could not be stored."),
		turned: counter("connections_refused_total",
			"Connections closed because there were too many, of all or of their address."),
	}
	s.ctx, s.cancel = context.WithCancel(context.Background())
	return s
}

// Collectors are the figures of the server.
func (s *Server) Collectors() []prometheus.Collector {
	waiting := prometheus.NewGaugeFunc(prometheus.GaugeOpts{
		Name: "varve_" + s.o.Name + "_messages_waiting", Help: "Messages that arrived and are not stored yet.",
	}, func() float64 { return float64(s.waiting.Load()) })
	return []prometheus.Collector{s.messages, s.rows, s.refused, s.turned, waiting,
		prometheus.NewGaugeFunc(prometheus.GaugeOpts{
			Name: "varve_" + s.o.Name + "_connections", Help: "Open connections.",
		}, func() float64 {
			s.mu.Lock()
			defer s.mu.Unlock()
			return float64(len(s.conns))
		})}
}

// Keep notes a listener that Shutdown is to close. If the server was stopped before, Keep closes it and returns false.
// The caller calls done when it has handled everything that came from the listener.
func (s *Server) Keep(ln interface{ Close() error }) (done func(), ok bool) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.draining {
		ln.Close()
		return nil, false
	}
	s.listeners[ln] = true
	s.idle.Add(1)
	return s.idle.Done, true
}

// Stopping reports whether Shutdown was called.
func (s *Server) Stopping() bool {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.draining
}

// Serve takes the connections of ln until Shutdown.
func (s *Server) Serve(ln net.Listener, framer func(r *bufio.Reader, from *Conn) Framer) error {
	done, ok := s.Keep(ln)
	if !ok {
		return nil
	}
	defer done()
	return Accept(s.ctx, ln, s.o.Name, s.o.Logger, s.Stopping, func(c net.Conn) {
		if k := s.begin(c); k != nil {
			go s.run(k, framer)
		}
	})
}

// begin takes a connection, or closes it where there are too many.
func (s *Server) begin(c net.Conn) *Conn {
	k := &Conn{Conn: c, s: s, address: web.NetworkOf(c.RemoteAddr())}
	if err := s.places.Take(k.address); err != nil {
		s.turned.Inc()
		s.Warn("a connection is refused", "from", c.RemoteAddr().String(), "reason", err)
		c.Close()
		return nil
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.draining {
		s.places.Give(k.address)
		c.Close()
		return nil
	}
	k.batch.s = s
	s.conns[k] = true
	s.idle.Add(1)
	return k
}

// run serves a connection to its end. What makes it fail is one line in the log.
func (s *Server) run(k *Conn, framer func(r *bufio.Reader, from *Conn) Framer) {
	defer func() {
		if p := recover(); p != nil {
			s.o.Logger.Error("panic in a connection", "protocol", s.o.Name, "panic", p, "stack", string(debug.Stack()))
		}
		k.Close()
		s.mu.Lock()
		delete(s.conns, k)
		s.mu.Unlock()
		s.places.Give(k.address)
		s.idle.Done()
	}()
	r := bufio.NewReaderSize(k, readBytes)
	f := framer(r, k)
	defer f.Close()
	if err := k.read(r, f); err != nil {
		s.Warn("a connection is closed", "from", k.RemoteAddr().String(), "reason", err)
	}
}

// Warn writes a line about a sender to the log. text is the kind of the line: of each kind not too many are written.
func (s *Server) Warn(text string, args ...any) { s.lines.warn(s.o.Name+": "+text, args...) }

// Shutdown stops the server: it closes the listeners, stops reading connections and writes the messages that have
// arrived. After four fifths of ctx's time it gives up writes that wait for room. When ctx ends it closes all
// connections.
func (s *Server) Shutdown(ctx context.Context) error {
	s.mu.Lock()
	s.draining = true
	for ln := range s.listeners {
		ln.Close()
	}
	for k := range s.conns {
		k.SetReadDeadline(past)
	}
	s.mu.Unlock()
	defer s.lines.close()
	return Drain(ctx, &s.idle, s.cancel, func() {
		s.mu.Lock()
		defer s.mu.Unlock()
		for k := range s.conns {
			k.Close()
		}
	})
}
