// Package server is the HTTP front end: connections, routes, access rights, limits, and the path of a request from its
// first byte to its answer. The packages below it hold the handlers.
//
// # The path of a request
//
//	listener -> connection -> router -> route, which knows its protocol -> middleware -> handler -> answer
//
// A protocol is a value, web.Protocol: its routes, how its clients show who they are, how they read errors, and its
// figures. Its package makes it. Packages that store rows share one set of dependencies, rows.Deps. A new protocol
// needs a line of protocols.go.
//
// # Files
//
//	server.go        options, and what a server is made of
//	protocols.go     the list of protocols
//	routes.go        the router, the protocol of a request that has no route, and what is answered before routing
//	middleware.go    what every request needs: limits, panics, users, errors, figures
//	cors.go          pages of other origins
//	framing.go       requests whose length is in doubt
//	conn.go          connections: bounds, deadlines, the reserve for when all are taken
//	socket_*.go      what the system knows of a socket
//	watch.go         clients that leave before they are answered
//	stranger.go      clients of other protocols, who are told where they have come
//	session.go       who asks, and what may be asked
//	door.go          messages of queues, which become requests of HTTP
//	grpc.go          calls of gRPC, which become requests of HTTP
//	rpcconns.go      connections of gRPC
//	listeners.go     protocols over TCP and UDP that are no HTTP
//	metrics.go       figures
//	shutdown.go      the end
//
// # Packages
//
//	web                  the frame: bodies, parameters, answers, errors, their bounds; Protocol and Route
//	protowire/...        the wire format of protocol buffers; native histograms in it
//	rules/...            rules that are evaluated by themselves, and whom they tell
//	write/...            one package for each protocol that stores rows
//	write/rows/...       how these packages make rows
//	read/...             SQL, the metrics API with remote read, trace search; slow statements
//	listen               streams of messages over TCP
//	auth                 users
//	admin                state, figures, profiles
//	dashboard/...        the web application, and what it saves
//	servertest           a whole server and what clients send, for tests
//
// A package of write or read imports none beside it. The map of the whole tree is docs/code.md.
//
// # Tests
//
// Tests lie beside what they test. Those of a package x_test, such as otlp_test, drive a whole server as clients do, by
// servertest; the others call the functions of their package. Tests of several protocols lie in write. The tests here
// test this folder, the cases of all protocols in testdata/http, and the server's own tables.
package server

import (
	"context"
	"fmt"
	"log/slog"
	"math"
	"net"
	"net/http"
	"time"

	"github.com/fasthttp/router"
	"github.com/prometheus/client_golang/prometheus"
	"github.com/valyala/fasthttp"

	"varve/engine"
	"varve/server/admin"
	"varve/server/admin/standby"
	"varve/server/auth"
	"varve/server/dashboard"
	"varve/server/read/iceberg"
	"varve/server/read/metricsapi"
	"varve/server/read/pgwire"
	"varve/server/read/query"
	"varve/server/read/slowquery"
	"varve/server/rules"
	"varve/server/web"
	"varve/server/write/forward"
	"varve/server/write/ingest"
	"varve/server/write/kafka"
	"varve/server/write/lineproto"
	"varve/server/write/otlp"
	"varve/server/write/rows"
	"varve/server/write/syslog"
)

// readBuffer bounds a request's header, and with it SQL in a query string; longer SQL goes into a form.
const readBuffer = 32 << 10

// Options of a Server. Zero values mean the documented default.
type Options struct {
	// BodyLimit is the most bytes of a request body after decompression; 0 means no limit.
	BodyLimit int64
	// Intake bounds the bytes of all bodies in hand; nil: nothing does.
	Intake *web.Intake
	// Answers bounds the bytes of all answers that clients have not read yet; nil: nothing does.
	Answers *web.Answers
	// Timeout is the time limit of requests that ask for none; 0 means that requests have no limit at all.
	Timeout time.Duration
	// Zone is the zone of requests that name none. Default UTC.
	Zone *time.Location
	// EnableCORS lets pages read answers; CORSOrigins are the origins allowed, none meaning any.
	EnableCORS  bool
	CORSOrigins []string
	// Users are the users; nil lets everybody do everything.
	Users *auth.Users
	// MetricsNeedAuth closes /metrics to requests without credentials.
	MetricsNeedAuth bool
	// MaxConnections is the number of connections served at a time. Default 1024.
	MaxConnections int
	// MaxPerAddress is the number of connections of one address served at a time. Default three quarters of
	// MaxConnections.
	MaxPerAddress int
	// MaxGRPCConnections is the number of connections served at a time that speak gRPC. Default 256.
	MaxGRPCConnections int
	// MaxGRPCPerAddress is the number of gRPC connections of one address. Default three quarters of MaxGRPCConnections.
	MaxGRPCPerAddress int
	// GRPCPatience is how long a call may be without its message. Default 10 s.
	GRPCPatience time.Duration
	// WriteProgress is how long one chunk of an answer may wait for a client that does not read. Default 30 s.
	WriteProgress time.Duration
	// ReadOnly refuses requests that write, as the store does.
	ReadOnly bool
	// Hosts are the names by which pages may call a server without users, besides localhost; see cors.go.
	Hosts []string

	// Off are protocols that are not served.
	Off Protocols

	// Rows is what protocols that store rows are made of. New copies it into the Deps of the options below.
	Rows rows.Deps
	// Ingest, Lines, OTLP, Query, Metrics and Admin do the work. Without Metrics.Samples there are no endpoints of
	// metrics.
	Ingest  ingest.Options
	Lines   lineproto.Options
	OTLP    otlp.Options
	Query   query.Options
	Metrics metricsapi.Options
	Admin   admin.Options
	// Open is the catalog of open tables.
	Open iceberg.Options
	// Standby answers a server that follows this one.
	Standby standby.Options
	// Forward is the listener of the forward protocol, Syslog are those of syslog.
	Forward forward.Options
	Syslog  syslog.Options
	// Queues are read by the server; its Store is needed where there are any.
	Queues kafka.Options
	// PG is the listener of the wire protocol of PostgreSQL. Its Executor is needed where it is served.
	PG pgwire.Options
	// Slow records slow statements for the handlers that share it: the server shows its figures and closes it; nil:
	// none.
	Slow *slowquery.Recorder
	// TenantsAreDatabases makes the header X-Scope-OrgID of log push and its queries the name of the database.
	TenantsAreDatabases bool
	// Saved is the store that keeps saved views and queries; nil: none are kept.
	Saved *engine.Engine
	// Rules evaluates rules: the server shows them, takes documents of rules, and stops them; nil: there are none.
	Rules *rules.Manager
	// Dashboard is the web application; without files there is none.
	Dashboard dashboard.Options

	Logger *slog.Logger
}

// Protocols are the protocols that the configuration can turn off: their paths are 404 then.
type Protocols struct {
	Lines         bool // line protocol
	Puts          bool // JSON puts
	Metrics       bool // the metrics API, with remote write and read
	OTLP          bool // on HTTP, and its methods of gRPC
	TraceQueries  bool
	LogQueries    bool // of the log push protocol
	AnalyzeStream bool // /v1/sql/analyze/stream
}

// Server serves the HTTP interface. Safe for concurrent use.
type Server struct {
	o       Options
	log     *slog.Logger
	metrics *metrics

	protocols []web.Protocol
	listeners *listeners
	queues    *kafka.Sources
	sql       *query.Shared // the way of statements of all protocols

	router   *router.Router
	exact    map[string]exact  // paths that are matched before the router
	reserved map[string]bool   // paths that are answered above the bounds of connections
	calls    map[string]*route // of gRPC, by the paths of their methods
	doors    map[string]*route // that take rows, by their paths
	// What answers requests before they are routed.
	crowded, absent, allow fasthttp.RequestHandler

	http      *fasthttp.Server
	places    *web.Places  // of its connections
	figures   *web.Answers // those of figures, see answers; nil: nothing bounds answers
	copies    *web.Answers // what a standby copies
	rpc       *http.Server
	rpcConns  *rpcConns
	rpcPlaces *web.Places     // of its calls
	ctx       context.Context // ends when the server stops waiting for requests
	cancel    context.CancelFunc
	state     state
}

// New makes a server; registry takes its figures.
func New(o Options, registry *prometheus.Registry) (*Server, error) {
	if o.Logger == nil {
		o.Logger = slog.New(slog.DiscardHandler)
	}
	if o.Zone == nil {
		o.Zone = time.UTC
	}
	if o.MaxConnections <= 0 {
		o.MaxConnections = 1024
	}
	o.MaxPerAddress = web.PerAddress(o.MaxPerAddress, o.MaxConnections)
	if o.MaxGRPCConnections <= 0 {
		o.MaxGRPCConnections = 256
	}
	if o.GRPCPatience <= 0 {
		o.GRPCPatience = headerTimeout
	}
	s := &Server{o: o, log: o.Logger, metrics: newMetrics(o.Intake, o.Answers),
		places: web.NewPlaces(o.MaxConnections, o.MaxPerAddress)}
	if o.Answers != nil {
		s.figures = web.NewAnswers(figuresBytes, o.Answers.Wait())
		s.copies = web.NewAnswers(copiesBytes, o.Answers.Wait())
	}
	s.ctx, s.cancel = context.WithCancel(context.Background())
	o.Queues.Door, o.Queues.Intake = s.deliver, o.Intake
	s.queues = kafka.New(o.Queues)
	var err error
	if s.protocols, err = s.newProtocols(&o); err != nil {
		return nil, fmt.Errorf("server: %w", err)
	}
	s.listeners = newListeners(&o, s.sql)
	if err := s.register(registry); err != nil {
		return nil, fmt.Errorf("server: %w", err)
	}
	s.buildRouter()
	s.rpc, s.rpcPlaces = s.newRPC(), web.NewPlaces(rpcCalls, web.PerAddress(0, rpcCalls))
	s.rpcConns = newRPCConns(web.NewPlaces(o.MaxGRPCConnections,
		web.PerAddress(o.MaxGRPCPerAddress, o.MaxGRPCConnections)), s.metrics.RPCTurned)
	s.http = &fasthttp.Server{
		Name:                         "varve",
		Handler:                      s.serve,
		ErrorHandler:                 s.readError,
		HeaderReceived:               s.headerReceived,
		ReadTimeout:                  headerTimeout,
		IdleTimeout:                  idleTimeout,
		ReadBufferSize:               readBuffer,
		WriteBufferSize:              16 << 10,
		StreamRequestBody:            true,
		DisablePreParseMultipartForm: true,
		NoDefaultContentType:         true,
		SecureErrorLogMessage:        true,
		Concurrency:                  math.MaxInt32, // the listener bounds them; those that gave way end a moment later
		Logger:                       quiet{s.log},
	}
	return s, nil
}

// quiet takes what the HTTP library logs: connection troubles, of interest only when one looks for them.
type quiet struct{ log *slog.Logger }

func (q quiet) Printf(format string, args ...any) {
	q.log.Debug("http: " + fmt.Sprintf(format, args...))
}

// Serve answers the connections of ln until Shutdown. A server that was shut down before closes ln.
func (s *Server) Serve(ln net.Listener) error { return s.serveOn(newListener(ln, s.places)) }

// ServeAPI is Serve for an address that serves /v1 and the dashboard only: other paths are 404.
func (s *Server) ServeAPI(ln net.Listener) error {
	l := newListener(ln, s.places)
	l.api = true
	return s.serveOn(l)
}

func (s *Server) serveOn(l *listener) error {
	if s.o.WriteProgress > 0 {
		l.progress = s.o.WriteProgress
	}
	if !s.state.begin(l) {
		return l.Listener.Close()
	}
	return s.http.Serve(l)
}

// RefreshUsers reads a watched user file again when it changed.
func (s *Server) RefreshUsers() {
	if s.o.Users != nil {
		s.o.Users.Refresh()
	}
}
