package server

import (
	"strings"

	"varve/server/web"
	"varve/server/write/bulk"
	"varve/server/write/lineproto"
)

// access is who may use a route on a server with users. The zero value is the strictest.
type access uint8

const (
	accessAdmin   access = iota // users who may read and write
	accessRead                  // users who may read
	accessWrite                 // users who may write
	accessUser                  // every user; the handler decides by statement
	accessMetrics               // everybody, unless http.metrics_need_auth
	accessOpen                  // everybody
)

func (a access) String() string {
	return [...]string{"admin", "read", "write", "user", "metrics", "open"}[a]
}

// route is one path of the HTTP interface.
type route struct {
	methods []string
	path    string
	access  access
	handler web.Handler
}

var (
	get     = []string{"GET"}
	post    = []string{"POST"}
	getPost = []string{"GET", "POST"}
	del     = []string{"DELETE"}
)

// olderPaths begin the addresses that older senders of logs know for ingest and pipelines.
const olderPaths = "/v1/events"

// linesPath is the address that clients of line protocol are given.
const linesPath = "/v1/lineproto"

// The paths of OTLP, which its clients make of the address /v1/otlp.
const (
	otlpMetrics = "/v1/otlp/v1/metrics"
	otlpTraces  = "/v1/otlp/v1/traces"
	otlpLogs    = "/v1/otlp/v1/logs"
)

// health answers /health. Libraries of line protocol that were given a host alone read what they would find below
// linesPath.
func (s *Server) health(c *web.Ctx) error {
	if !s.o.Off.Lines && lineproto.Library(c) {
		return s.lineproto.Health(c)
	}
	return s.admin.Health(c)
}

// index answers /. Senders of documents in bulk that were given a host alone look there for what they would find at
// bulkPath.
func (s *Server) index(c *web.Ctx) error {
	if bulk.Library(c) {
		return s.protocols.bulk.Info(c)
	}
	return s.admin.Index(c)
}

// routes is the whole HTTP surface. What is not here is 404.
func (s *Server) routes() []route {
	a, q := s.admin, s.query
	list := []route{
		// Writing.
		{post, "/v1/ingest", accessWrite, s.ingest.Ingest}, {post, olderPaths + "/logs", accessWrite, s.ingest.Ingest},
		{get, "/v1/ingest/target", accessWrite, s.ingest.Target},

		// Asking.
		{getPost, "/v1/sql", accessUser, q.SQL},
		{getPost, "/v1/mquery", accessUser, q.MQuery},
		{getPost, "/v1/sql/format", accessUser, q.Format},
		{getPost, "/v1/sql/parse", accessUser, q.Parse},
		{get, "/v1/session", accessUser, s.session},

		// State of the server.
		{get, "/", accessOpen, s.index},
		{getPost, "/health", accessOpen, s.health},
		{getPost, "/ready", accessOpen, a.Ready},
		{getPost, "/v1/health", accessOpen, a.Health},
		{get, "/status", accessOpen, a.Status},
		{get, "/metrics", accessMetrics, a.Metrics},
		{get, "/config", accessAdmin, a.Config},

		// The web application.
		{getPost, "/dashboard/{file:*}", accessOpen, s.dashboard.Serve},
		{get, "/favicon.ico", accessOpen, s.dashboard.Icon},

		// Looking inside.
		{post, "/debug/log_level", accessAdmin, a.LogLevel},
		{post, "/debug/prof/cpu", accessAdmin, a.CPUProfile},
		{post, "/debug/prof/mem", accessAdmin, a.MemProfile},
		{get, "/debug/prof/mem/status", accessAdmin, a.MemStatus},
		{post, "/debug/prof/mem/activate", accessAdmin, a.MemActivate},
		{post, "/debug/prof/mem/deactivate", accessAdmin, a.MemDeactivate},
	}
	if !s.o.Off.AnalyzeStream {
		list = append(list, route{post, "/v1/sql/analyze/stream", accessUser, q.AnalyzeStream})
	}
	if d := s.saved; d != nil {
		list = append(list, route{get, "/v1/dashboards", accessRead, d.List},
			route{get, "/v1/dashboards/{name}", accessRead, d.Get},
			route{post, "/v1/dashboards/{name}", accessWrite, d.Save},
			route{del, "/v1/dashboards/{name}", accessWrite, d.Delete})
	}
	list = append(append(list, s.pipelineRoutes("/v1/pipelines")...), s.pipelineRoutes(olderPaths+"/pipelines")...)
	list = append(list, s.protocols.routes()...)
	for _, p := range [...]struct {
		off    bool
		routes func() []route
	}{
		{s.o.Off.Lines, s.lineRoutes}, {s.o.Off.OTLP, s.otlpRoutes}, {s.o.Off.Puts, s.protocols.putRoutes},
		{s.o.Off.TraceQueries, s.traceRoutes},
		{s.metricsapi == nil, s.metricRoutes},
	} {
		if !p.off {
			list = append(list, p.routes()...)
		}
	}
	return list
}

// pipelineRoutes are the paths of pipelines below a base.
func (s *Server) pipelineRoutes(base string) []route {
	return []route{
		{post, base + "/dryrun", accessRead, s.ingest.DryRun}, {post, base + "/_dryrun", accessRead, s.ingest.DryRun},
		{post, base + "/{name}", accessWrite, s.ingest.PutPipeline},
		{get, base + "/{name}", accessRead, s.ingest.GetPipeline},
		{del, base + "/{name}", accessWrite, s.ingest.DeletePipeline},
		{get, base + "/{name}/ddl", accessRead, s.ingest.PipelineDDL},
	}
}

// lineRoutes are the paths of line protocol.
func (s *Server) lineRoutes() []route {
	l := s.lineproto
	list := []route{{get, linesPath + "/health", accessOpen, l.Health},
		{get, linesPath + "/ready", accessOpen, l.Ready}}
	for _, base := range [...]string{linesPath, ""} { // some clients take no more than a host
		list = append(list, route{post, base + "/write", accessWrite, l.Write},
			route{post, base + "/api/v2/write", accessWrite, l.WriteV2},
			route{post, base + "/api/v3/write_lp", accessWrite, l.WriteV3},
			route{get, base + "/api/v2/buckets", accessUser, l.Buckets},
			route{post, base + "/api/v2/buckets", accessUser, l.CreateBucket},
			route{get, base + "/api/v2/setup", accessOpen, l.Setup},
			route{get, base + "/api/v2/orgs", accessUser, l.Organisations},
			route{getPost, base + "/query", accessUser, l.Query}, route{get, base + "/ping", accessOpen, l.Ping})
	}
	return list
}

// otlpRoutes are the paths of OTLP.
func (s *Server) otlpRoutes() []route {
	list := []route{
		{post, otlpTraces, accessWrite, s.otlp.Traces}, {post, "/v1/traces", accessWrite, s.otlp.Traces},
		{post, otlpLogs, accessWrite, s.otlp.Logs}, {post, "/v1/logs", accessWrite, s.otlp.Logs},
	}
	if s.otlp.HasMetrics() {
		list = append(list, route{post, otlpMetrics, accessWrite, s.otlp.Metrics},
			route{post, "/v1/metrics", accessWrite, s.otlp.Metrics})
	}
	return list
}

// traceRoutes are the paths of the query API of traces.
func (s *Server) traceRoutes() (list []route) {
	for _, r := range s.traceapi.Routes() {
		list = append(list, route{get, "/v1/jaeger" + r.Path, accessRead, r.Handler},
			route{get, r.Path, accessRead, r.Handler})
	}
	return list
}

// metricsPath is the path below which the metrics API is; its own paths are at the root, too.
const metricsPath = "/v1/metricsapi"

// asksMetrics reports whether a path is one of the query API of metrics.
func (s *Server) asksMetrics(path string) bool {
	rest, ok := strings.CutPrefix(strings.TrimPrefix(path, metricsPath), "/api/v1/")
	return ok && s.metricsapi != nil && rest != "write" && rest != "read" && path != agentValidate
}

// metricRoutes are the paths of the metrics API.
func (s *Server) metricRoutes() []route {
	m := s.metricsapi
	var list []route
	for _, path := range [...]string{metricsPath, "/api/v1"} { // some clients take no more than a host
		list = append(list, route{post, path + "/write", accessWrite, m.Write},
			route{get, path + "/write", accessWrite, m.WriteVersion}, route{post, path + "/read", accessRead, m.Read})
	}
	for _, base := range [...]string{metricsPath, ""} {
		for _, r := range m.Routes() {
			list = append(list, route{getPost, base + r.Path, accessRead, r.Handler})
		}
	}
	return list
}
