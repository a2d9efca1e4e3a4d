package server

import (
	"slices"

	"github.com/prometheus/client_golang/prometheus"

	"varve/server/jsonput"
	"varve/server/logpush"
)

// protocols are the handlers of protocols in which log shippers and log libraries push.
type protocols struct {
	push *logpush.Handler
	put  *jsonput.Handler
}

// newProtocols makes them of what ingest and line protocol have.
func newProtocols(o *Options) *protocols {
	lines, ingest := &o.Lines, &o.Ingest
	return &protocols{
		push: logpush.New(logpush.Options{
			Writer: ingest.Writer, Tables: lines.Tables, Pipelines: ingest.Pipelines, Prefix: lines.Prefix, NoAutoCreate: ingest.NoAutoCreate, RowBytes: lines.RowBytes,
		}),
		put: jsonput.New(jsonput.Options{Writer: ingest.Writer, Tables: lines.Tables, Prefix: lines.Prefix, NoAutoCreate: ingest.NoAutoCreate, RowBytes: lines.RowBytes}),
	}
}

// routes are their paths. Clients that take no more than a host add a path of their own, which is there as well.
func (p *protocols) routes() []route {
	return []route{
		{post, "/v1/logpush/api/v1/push", accessWrite, p.push.Push},
		{post, "/v1/logpush/loki/api/v1/push", accessWrite, p.push.Push},
		{post, "/loki/api/v1/push", accessWrite, p.push.Push},
		{get, "/v1/logpush/ready", accessOpen, p.push.Ready},
		{post, "/v1/jsonput/api/put", accessWrite, p.put.Put},
	}
}

func (p *protocols) collectors() []prometheus.Collector {
	return slices.Concat(p.push.Collectors(), p.put.Collectors())
}
