// Package logapi serves the query API of the log push protocol: lines, numbers over lines, labels, streams, volumes,
// fields, patterns and a live tail, by the language of package sqlexec/logql over all tables of logs.
//
//	logapi.go params.go errors.go     endpoints, parameters, errors
//	store.go few.go                   the tables of a database and their statements, as one request sees them
//	query.go explain.go               queries
//	answer.go                         lines and numbers as JSON
//	labels.go volume.go fields.go     streams, their size, fields and shapes of lines
//	tail.go                           lines as they come
//	status.go                         texts of queries, builds and limits
package logapi

import (
	"cmp"
	"strings"
	"time"

	"varve/engine"
	"varve/server/web"
	"varve/sqlexec/exec"
	"varve/sqlexec/promql"
)

// Options of a Handler.
type Options struct {
	Executor web.Executor
	// Admit takes one of the places of queries that run at a time, or refuses.
	Admit func(c *web.Ctx) error
	// Store has the tables.
	Store *engine.Engine
	// Memory is what all queries together may keep; nil: no bound.
	Memory *exec.Pool
	// Queries knows the limits of the engine of metrics; nil: the default limits.
	Queries *promql.Service
	// TenantsAreDatabases makes the header X-Scope-OrgID the name of the database, without which a request is refused.
	TenantsAreDatabases bool

	Version, Commit, Branch string
	Now                     func() time.Time // default: time.Now
}

// Handler answers the endpoints. Safe for concurrent use.
type Handler struct {
	o      Options
	tails  tails
	census census
}

// New makes a handler.
func New(o Options) *Handler {
	if o.Now == nil {
		o.Now = time.Now
	}
	if o.Queries == nil {
		o.Queries = promql.NewService(promql.Limits{})
	}
	return &Handler{o: o, tails: tails{running: map[string]int{}}}
}

// The bases of the endpoints: clients are given a host, or the address of the protocol.
const (
	pathBase = "/v1/logpush"
	apiPath  = "/loki/api/v1/"
)

// Protocol is the query API.
func (h *Handler) Protocol(off bool) web.Protocol {
	var routes []web.Route
	for path, answer := range map[string]func(*request) (answer, error){
		"query": query, "query_range": queryRange, "format_query": formatQuery,
		"labels": labels, "label": labels, "label/{name}/values": labelValues, "series": series,
		"index/stats": indexStats, "index/volume": volume, "index/volume_range": volumeRange, "patterns": patterns,
		"detected_labels": detectedLabels, "detected_fields": detectedFields,
		"detected_field/{name}/values": detectedFieldValues, "drilldown-limits": drilldownLimits,
		"status/buildinfo": buildInfo,
	} {
		routes = append(routes, web.On(web.GetPost, apiPath+path, web.AccessRead, h.endpoint(answer)))
	}
	routes = append(routes, web.On(web.Get, apiPath+"tail", web.AccessRead, h.tail))
	return web.Protocol{
		Name: "log queries", Off: off, Routes: web.Below(routes, pathBase, ""), Features: []string{"logql"}, Owns: owns,
		Claims: func(c *web.Ctx) web.Handler {
			if !owns(string(c.Path())) {
				return nil
			}
			return notFound
		},
	}
}

// owns reports whether a path is below those of the API.
func owns(path string) bool { return strings.HasPrefix(strings.TrimPrefix(path, pathBase), apiPath) }

// notFound answers requests for paths of the API that there are not.
func notFound(c *web.Ctx) error {
	c.Text(404, "404 page not found\n")
	return nil
}

// answer is what an endpoint answers with. The memory of the request counts a body that is long.
type answer struct {
	status      int    // 0: 200
	contentType string // empty: jsonType
	body        []byte
}

// jsonType is the content type of answers.
const jsonType = "application/json; charset=UTF-8"

// endpoint makes a handler. Errors are answered in the form of this API.
func (h *Handler) endpoint(find func(r *request) (answer, error)) web.Handler {
	return func(c *web.Ctx) error {
		r, err := h.begin(c)
		if err != nil {
			return reply(c, err)
		}
		var a answer
		err = r.attended(func() (err error) {
			a, err = find(r)
			return err
		})
		if err != nil {
			return reply(c, err)
		}
		c.Reply(cmp.Or(a.status, 200), cmp.Or(a.contentType, jsonType), a.body)
		return nil
	}
}
