// Package server is the HTTP front end: connections, routes, access rights, limits, and the path of a request from its
// first byte to its answer. The packages below it hold the handlers.
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
	"varve/server/auth"
	"varve/server/dashboard"
	"varve/server/dashboard/saved"
	"varve/server/read/metricsapi"
	"varve/server/read/query"
	"varve/server/read/slowquery"
	"varve/server/read/traceapi"
	"varve/server/web"
	"varve/server/write/forward"
	"varve/server/write/ingest"
	"varve/server/write/lineproto"
	"varve/server/write/otlp"
	"varve/server/write/rows/rejects"
	"varve/server/write/syslog"
	"varve/sqlexec"
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
	// MaxGRPCPerAddress is the number of those of one address. Default three quarters of MaxGRPCConnections.
	MaxGRPCPerAddress int
	// GRPCPatience is how long a call may be without its message. Default 10 s.
	GRPCPatience time.Duration
	// WriteProgress is how long one chunk of an answer may wait for a client that does not read. Default 30 s.
	WriteProgress time.Duration
	// Hosts are the names by which pages may call a server without users, besides localhost; see cors.go.
	Hosts []string

	// Off are protocols that are not served.
	Off Protocols

	// Ingest, Lines, OTLP, Query, Metrics and Admin do the work. Without Metrics.Tables there are no endpoints of
	// metrics.
	Ingest  ingest.Options
	Lines   lineproto.Options
	OTLP    otlp.Options
	Query   query.Options
	Metrics metricsapi.Options
	Admin   admin.Options
	// Rejects keeps entries that cannot be stored and whose senders cannot be told.
	Rejects *rejects.Log
	// Forward is the listener of the forward protocol, Syslog are those of syslog.
	Forward forward.Options
	Syslog  syslog.Options
	// Slow keeps slow statements of those who were given it; nil: nobody was.
	Slow *slowquery.Recorder
	// Saved is the store that keeps saved views and queries; nil: none are kept.
	Saved *engine.Engine
	// Dashboard is the web application; without files there is none.
	Dashboard dashboard.Options

	Logger *slog.Logger
}

// Protocols are protocols, and a way to ask, whose paths the configuration may take away; they are 404 then.
type Protocols struct {
	Lines         bool // line protocol
	Puts          bool // JSON puts
	Metrics       bool // the metrics API, with remote write and read
	OTLP          bool // on HTTP, and its methods of gRPC
	TraceQueries  bool
	AnalyzeStream bool // /v1/sql/analyze/stream
}

// Server serves the HTTP interface. Safe for concurrent use.
type Server struct {
	o       Options
	log     *slog.Logger
	metrics *metrics

	ingest     *ingest.Handler
	query      *query.Handler
	lineproto  *lineproto.Handler
	otlp       *otlp.Handler
	metricsapi *metricsapi.Handler // nil: none
	traceapi   *traceapi.Handler
	protocols  *pushHandlers
	listeners  *listeners
	admin      *admin.Handler
	saved      *saved.Handler // nil: none
	dashboard  *dashboard.Handler

	router    *router.Router
	http      *fasthttp.Server
	places    *web.Places  // of its connections
	figures   *web.Answers // those of figures, see answers; nil: nothing bounds answers
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
		s.figures = web.NewAnswers(figuresBytes, o.Answers.Wait(), nil)
	}
	s.ctx, s.cancel = context.WithCancel(context.Background())
	o.Ingest.Definition = sqlexec.Definition
	s.ingest = ingest.New(o.Ingest)
	o.Lines.Executor = o.Query.Executor
	s.lineproto = lineproto.New(o.Lines)
	s.otlp = otlp.New(o.OTLP)
	s.protocols = newProtocols(&o)
	s.listeners = newListeners(&o)
	s.query = query.New(o.Query)
	s.traceapi = traceapi.New(traceapi.Options{Executor: o.Query.Executor, Admit: s.query.Admit})
	o.Admin.Dashboard = o.Dashboard.Files != nil || o.Dashboard.Dir != ""
	s.admin = admin.New(o.Admin)
	board, err := dashboard.New(o.Dashboard)
	if err != nil {
		return nil, fmt.Errorf("server: %w", err)
	}
	s.dashboard = board
	if o.Metrics.Tables != nil && !o.Off.Metrics {
		s.metricsapi = metricsapi.New(o.Metrics)
	}
	if o.Saved != nil {
		s.saved = saved.New(o.Saved)
	}
	if err := s.register(registry); err != nil {
		return nil, fmt.Errorf("server: register figures: %w", err)
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

// buildRouter registers the routes; HEAD works wherever GET does.
func (s *Server) buildRouter() {
	r := router.New()
	r.RedirectTrailingSlash, r.RedirectFixedPath, r.HandleOPTIONS = false, false, false
	for _, rt := range s.routes() {
		h := s.handle(&rt)
		for _, m := range rt.methods {
			r.Handle(m, rt.path, h)
			if m == "GET" {
				r.Handle("HEAD", rt.path, h)
			}
		}
	}
	r.MethodNotAllowed = s.handle(&route{path: otherPath, access: accessOpen, handler: s.wrongMethod})
	r.NotFound = s.handle(&route{path: otherPath, access: accessOpen, handler: s.notFound})
	s.router = r
}

// Serve answers the connections of ln until Shutdown. A server that was shut down before closes ln.
func (s *Server) Serve(ln net.Listener) error { return s.serveOn(newListener(ln, s.places)) }

// ServeAPI is Serve for an address where nothing is but /v1 and the dashboard: other paths are 404.
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

// register hands the figures of the server and its parts to the registry.
func (s *Server) register(r *prometheus.Registry) error {
	own := append(s.metrics.collectors(), prometheus.NewGaugeFunc(prometheus.GaugeOpts{
		Name: "varve_http_connections", Help: "Open connections.",
	}, func() float64 { return float64(s.state.connections()) }))
	own = append(own, prometheus.NewCounterFunc(prometheus.CounterOpts{
		Name: "varve_http_logins_refused_total", Help: "Requests refused for a wrong name or password.",
	}, func() float64 {
		if s.o.Users == nil {
			return 0
		}
		return float64(s.o.Users.Refused())
	}))
	own = append(own, s.ingest.Collectors()...)
	own = append(own, s.lineproto.Collectors()...)
	own = append(own, s.otlp.Collectors()...)
	own = append(own, s.protocols.collectors()...)
	own = append(own, s.listeners.collectors()...)
	own = append(own, s.query.Collectors()...)
	own = append(own, s.admin.Collectors()...)
	if s.o.Slow != nil {
		own = append(own, s.o.Slow.Collectors()...)
	}
	if s.metricsapi != nil {
		own = append(own, s.metricsapi.Collectors()...)
	}
	for _, c := range own {
		if err := r.Register(c); err != nil {
			return err
		}
	}
	return nil
}
