// Package traceapi serves the query API of traces that dashboards use: services, their operations, search, and traces
// by id. It reads the tables of server/write/otlp with SQL. Every answer has a bound.
//
//	traceapi.go answer.go   endpoints, and the form of their answers
//	params.go search.go     what is asked, as conditions of SQL
//	rows.go                 statements and their rows
//	spans.go tags.go        rows as spans of traces
//	dependencies.go         which services call which
package traceapi

import (
	"strings"

	"varve/engine/jsontext"
	"varve/engine/status"
	"varve/server/web"
	"varve/sqlexec/parse"
)

// Options of a Handler.
type Options struct {
	Executor web.Executor
	// Admit takes one of the places of queries that run at a time, or refuses.
	Admit func(c *web.Ctx) error
}

// Handler answers the endpoints. Safe for concurrent use.
type Handler struct{ o Options }

// New makes a handler.
func New(o Options) *Handler { return &Handler{o} }

// Protocol is the query API below the address that dashboards are given; some take no more than a host.
func (h *Handler) Protocol(off bool) web.Protocol {
	var routes []web.Route
	for path, answer := range map[string]func(*request) (answer, error){
		"services": services, "services/{service}/operations": operationNames, "operations": operations,
		"dependencies": dependencies, "traces": search, "traces/{id}": one,
	} {
		routes = append(routes, web.On(web.Get, "/api/"+path, web.AccessRead, h.endpoint(answer)))
	}
	return web.Protocol{
		Name: "traces", Off: off, Routes: web.Below(routes, "/v1/jaeger", ""),
		Owns: func(path string) bool { return strings.HasPrefix(path, "/api/") },
	}
}

// maxListed bounds lists of services and of operations.
const maxListed = 10_000

// services lists all services that ever sent a span.
func services(r *request) (answer, error) {
	return r.list("SELECT DISTINCT service_name FROM "+r.beside("_services")+" ORDER BY service_name",
		func(dst []byte, row *row) []byte {
			return jsontext.AppendString(dst, row.text(0))
		})
}

// operationNames lists the names of the operations of a service.
func operationNames(r *request) (answer, error) {
	service, err := r.inPath("service")
	if err != nil {
		return answer{}, err
	}
	return r.list("SELECT DISTINCT span_name FROM "+r.beside("_operations")+" WHERE service_name = "+
		parse.QuoteText(service)+" ORDER BY span_name", func(dst []byte, row *row) []byte {
		return jsontext.AppendString(dst, row.text(0))
	})
}

// operations lists the operations of a service, or those of a kind, with their kinds.
func operations(r *request) (answer, error) {
	p, err := r.c.LastQuery("service", "spanKind")
	if err != nil {
		return answer{}, err
	}
	if p.String("service") == "" {
		return answer{}, missing("service")
	}
	where := "service_name = " + parse.QuoteText(p.String("service"))
	if kind := p.String("spanKind"); kind != "" {
		where += " AND span_kind = " + parse.QuoteText(kindPrefix+strings.ToUpper(kind))
	}
	return r.list("SELECT DISTINCT span_name, span_kind FROM "+r.beside("_operations")+" WHERE "+where+
		" ORDER BY span_name, span_kind", func(dst []byte, row *row) []byte {
		dst = jsontext.AppendString(append(dst, `{"name":`...), row.text(0))
		dst = jsontext.AppendString(append(dst, `,"spanKind":`...), kindOf(row.text(1)))
		return append(dst, '}')
	})
}

// list is the answer of one item for each row.
func (r *request) list(statement string, item func(dst []byte, row *row) []byte) (answer, error) {
	var a answer
	err := r.rows(statement+atMost(maxListed), func(row *row) error {
		if a.total == maxListed {
			return tooMany("The list has more than %d entries", maxListed)
		}
		a.begin()
		before := len(a.data)
		a.data = item(a.data, row)
		return row.reserve(len(a.data) - before)
	})
	if isAbsent(err) {
		return answer{none: true}, nil
	}
	return a, err
}

// one answers with a trace, or 404 if there is none of the id.
func one(r *request) (answer, error) {
	text, err := r.inPath("id")
	if err != nil {
		return answer{}, err
	}
	a, err := r.byID([]string{text})
	if err == nil && a.total == 0 {
		return answer{}, notFound
	}
	return a, err
}

// inPath is a part of the path.
func (r *request) inPath(name string) (string, error) {
	text, raw, ok := r.c.PathText(name)
	if !ok {
		return "", status.New(status.InvalidArguments, "the %s in the path is not text: %.80q", name, raw)
	}
	return text, nil
}
