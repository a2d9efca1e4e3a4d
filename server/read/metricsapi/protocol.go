package metricsapi

import (
	"strings"

	"varve/server/web"
)

// base is the address that clients are given. Queries are asked at paths that begin with it and queries, or with
// queries alone: some clients take no more than a host.
const (
	base    = "/v1/metricsapi"
	queries = "/api/v1/"
)

// Protocols are remote read, with the probes of a server's life, and the query API, whose clients read errors in
// another form.
func (h *Handler) Protocols() []web.Protocol {
	remote := web.Protocol{
		Name:   "remote read",
		Routes: web.Below([]web.Route{web.On(web.Post, "/read", web.AccessRead, h.Read)}, base, "/api/v1"),
		Owns:   func(path string) bool { return strings.TrimPrefix(path, base) == queries+"read" },
	}
	for _, path := range [...]string{"/-/healthy", "/-/ready"} {
		alive := web.On(web.GetPost, path, web.AccessRead, h.Healthy)
		remote.Routes = append(remote.Routes, web.Below([]web.Route{alive}, base)...)
		alive.Shared = true
		remote.Routes = append(remote.Routes, alive)
	}
	query := web.Protocol{
		Name: "metrics queries", Routes: web.Below(h.queries(), base, ""), Fail: fail, Features: []string{"metrics"},
		Owns: func(path string) bool { return strings.HasPrefix(strings.TrimPrefix(path, base), queries) },
	}
	return []web.Protocol{remote, query}
}

// queries are the routes of the query API.
func (h *Handler) queries() (list []web.Route) {
	for path, handler := range map[string]web.Handler{
		"query": h.Query, "query_range": h.QueryRange,
		"labels": h.listed(h.Labels), "label/{name}/values": h.listed(h.LabelValues),
		"series": h.listed(h.Series), "metadata": h.listed(h.Metadata),
		"query_exemplars": endpoint(h.Exemplars),
		"format_query":    endpoint(h.FormatQuery), "parse_query": endpoint(h.ParseQuery),
		"status/buildinfo": endpoint(h.BuildInfo), "status/runtimeinfo": endpoint(h.RuntimeInfo),
		"status/tsdb": endpoint(h.TSDB), "status/config": endpoint(fixed(noConfig)),
		"status/flags": endpoint(fixed(noFlags)), "rules": endpoint(h.Rules),
		"alerts": endpoint(h.Alerts), "targets": endpoint(fixed(noTargets)),
		"alertmanagers":    endpoint(h.Alertmanagers),
		"targets/metadata": endpoint(fixed(noneOfTheKind)), "features": endpoint(fixed(knownToBeEmpty)),
	} {
		list = append(list, web.On(web.GetPost, queries+path, web.AccessRead, handler))
	}
	return list
}

// fail answers with an error. The refusal of a user without the right is put into the form of the query API.
func fail(c *web.Ctx, err error, plain func(*web.Ctx, error)) {
	plain(c, err)
	if c.Response.StatusCode() == 403 {
		restate(c, err)
	}
}
