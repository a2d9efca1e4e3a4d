package server

import (
	"fmt"

	"github.com/prometheus/client_golang/prometheus"

	"varve/server/admin"
	"varve/server/admin/standby"
	"varve/server/dashboard"
	"varve/server/dashboard/saved"
	"varve/server/read/iceberg"
	"varve/server/read/logapi"
	"varve/server/read/metricsapi"
	"varve/server/read/query"
	"varve/server/read/traceapi"
	"varve/server/rules/manage"
	"varve/server/web"
	"varve/server/write/bulk"
	"varve/server/write/datadog"
	"varve/server/write/hec"
	"varve/server/write/ingest"
	"varve/server/write/journald"
	"varve/server/write/jsonput"
	"varve/server/write/lineproto"
	"varve/server/write/logpush"
	"varve/server/write/otlp"
	"varve/server/write/remotewrite"
	"varve/server/write/rows/entries"
	"varve/sqlexec"
)

// newProtocols makes all protocols of HTTP. A new one is a line here. Where paths of two overlap, the first owns them.
func (s *Server) newProtocols(o *Options) ([]web.Protocol, error) {
	logs := entries.Options{Deps: o.Rows, Begun: entries.NewBegun(o.Rows.Pipelines)}
	o.Ingest.Deps, o.Ingest.Definition = o.Rows, sqlexec.Definition
	o.Lines.Deps, o.Lines.Executor = o.Rows, o.Query.Executor
	o.OTLP.Deps = o.Rows
	o.Admin.Dashboard = o.Dashboard.Files != nil || o.Dashboard.Dir != ""
	asks := query.New(o.Query)
	s.sql = asks.Shared()
	page, err := dashboard.New(o.Dashboard)
	if err != nil {
		return nil, err
	}
	list := []web.Protocol{
		ingest.New(o.Ingest).Protocol(),
		otlp.New(o.OTLP).Protocol(o.Off.OTLP),
		hec.New(logs).Protocol(),
		datadog.New(logs).Protocol(),
		logpush.New(o.Rows, o.TenantsAreDatabases).Protocol(),
		journald.New(o.Rows).Protocol(),
		jsonput.New(o.Rows).Protocol(o.Off.Puts),
	}
	list = append(list, lineproto.New(o.Lines).Protocols(o.Off.Lines)...)
	o.Metrics.Rules = o.Rules
	if o.Metrics.Samples != nil && !o.Off.Metrics {
		list = append(list, remotewrite.New(o.Rows, o.Metrics.Samples).Protocol())
		list = append(list, metricsapi.New(o.Metrics).Protocols()...)
	}
	if o.Metrics.Store != nil {
		list = append(list, logapi.New(logapi.Options{Executor: o.Query.Executor, Admit: asks.Admit,
			Store: o.Metrics.Store, Memory: o.Metrics.Memory, Queries: o.Metrics.Queries,
			TenantsAreDatabases: o.TenantsAreDatabases, Version: o.Metrics.Version, Commit: o.Metrics.Commit,
			Branch: o.Metrics.Branch}).Protocol(o.Off.LogQueries))
	}
	list = append(list, traceapi.New(traceapi.Options{Executor: o.Query.Executor, Admit: asks.Admit}).
		Protocol(o.Off.TraceQueries))
	list = append(list, asks.Protocols(o.Off.AnalyzeStream)...)
	list = append(list, web.Protocol{Name: "session",
		Routes: []web.Route{web.On(web.Get, "/v1/session", web.AccessUser, s.session)}})
	list = append(list, admin.New(o.Admin).Protocols(s.claimed)...)
	list = append(list, page.Protocol())
	if o.Saved != nil {
		list = append(list, saved.New(o.Saved).Protocol())
	}
	if o.Standby.Store != nil {
		list = append(list, standby.New(o.Standby).Protocol())
	}
	if o.Rules != nil {
		list = append(list, manage.New(o.Rules).Protocol())
	}
	list = append(list, s.queues.Protocol(), iceberg.New(o.Open).Protocol())
	return append(list, bulk.New(logs).Protocol()), nil // last: it owns all paths that look like its own
}

// claim is the handler of the protocol whose client asks at an address that is not the protocol's; nil: there is none.
func (s *Server) claim(c *web.Ctx) web.Handler {
	for i := range s.protocols {
		if claims := s.protocols[i].Claims; claims != nil {
			if h := claims(c); h != nil {
				return h
			}
		}
	}
	return nil
}

// claimed answers clients of protocols that claim the request, and others otherwise.
func (s *Server) claimed(otherwise web.Handler) web.Handler {
	return func(c *web.Ctx) error {
		if h := s.claim(c); h != nil {
			return h(c)
		}
		return otherwise(c)
	}
}

// register hands the figures of the server and its protocols to the registry.
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
	for i := range s.protocols {
		own = append(own, s.protocols[i].Collectors...)
	}
	own = append(own, s.listeners.collectors()...)
	if s.o.Slow != nil {
		own = append(own, s.o.Slow.Collectors()...)
	}
	for _, c := range own {
		if err := r.Register(c); err != nil {
			return fmt.Errorf("register figures: %w", err)
		}
	}
	return nil
}
