package server

import (
	"slices"
	"strings"

	"github.com/prometheus/client_golang/prometheus"

	"varve/server/auth"
	"varve/server/web"
	"varve/server/write/bulk"
	"varve/server/write/datadog"
	"varve/server/write/hec"
	"varve/server/write/journald"
	"varve/server/write/jsonput"
	"varve/server/write/logpush"
	"varve/server/write/rows/entries"
)

// pushHandlers are the handlers of protocols in which shippers and log libraries push.
type pushHandlers struct {
	push    *logpush.Handler
	put     *jsonput.Handler
	bulk    *bulk.Handler
	hec     *hec.Handler
	journal *journald.Handler
	agents  *datadog.Handler
}

// newProtocols makes them of what ingest and line protocol have.
func newProtocols(o *Options) *pushHandlers {
	lines, ingest := &o.Lines, &o.Ingest
	logs := entries.Options{Writer: ingest.Writer, Pipelines: ingest.Pipelines, NoAutoCreate: ingest.NoAutoCreate,
		RowBytes: ingest.RowBytes, Variables: ingest.Variables, Begun: entries.NewBegun(ingest.Pipelines)}
	return &pushHandlers{
		push: logpush.New(logpush.Options{
			Writer: ingest.Writer, Tables: lines.Tables, Pipelines: ingest.Pipelines, Prefix: lines.Prefix,
			NoAutoCreate: ingest.NoAutoCreate, RowBytes: lines.RowBytes,
		}),
		put: jsonput.New(jsonput.Options{Writer: ingest.Writer, Tables: lines.Tables, Prefix: lines.Prefix,
			NoAutoCreate: ingest.NoAutoCreate, RowBytes: lines.RowBytes}),
		bulk: bulk.New(logs),
		hec:  hec.New(logs),
		journal: journald.New(journald.Options{Writer: ingest.Writer, Tables: lines.Tables, Rejects: o.Rejects,
			Prefix: lines.Prefix, NoAutoCreate: ingest.NoAutoCreate, RowBytes: lines.RowBytes}),
		agents: datadog.New(logs),
	}
}

// The paths below which bulk requests, events and logs of agents come. Clients that take no more than a host come
// without them.
const (
	bulkPath      = "/v1/elasticsearch"
	collectorPath = "/v1/splunk"
	agentPath     = "/v1/datadog"
	agentLogs     = "/api/v2/logs"
	agentInput    = "/v1/input"
	agentValidate = "/api/v1/validate"
	journalPath   = "/upload" // of a sender of journals that was given a host alone
)

// asked are paths below bulkPath that shippers ask and set up before they send.
var asked = [...]string{"_ilm", "_index_template", "_component_template", "_template", "_ingest", "_nodes", "_cluster",
	"_data_stream", "_alias", "_xpack", "_logstash"}

// putRoutes are the paths of JSON puts.
func (p *pushHandlers) putRoutes() []route {
	return []route{{post, "/v1/jsonput/api/put", accessWrite, p.put.Put}, {post, "/api/put", accessWrite, p.put.Put}}
}

// routes are the paths of the protocols that are always served.
func (p *pushHandlers) routes() []route {
	putPost, any := []string{"PUT", "POST"}, []string{"GET", "PUT", "POST"}
	options := []string{"OPTIONS"} // with which a driver of containers tries its token
	list := []route{
		{post, "/v1/logpush/api/v1/push", accessWrite, p.push.Push},
		{post, "/v1/logpush/loki/api/v1/push", accessWrite, p.push.Push},
		{post, "/loki/api/v1/push", accessWrite, p.push.Push},
		{get, "/v1/logpush/ready", accessOpen, p.push.Ready},
		{post, "/v1/journald/upload", accessWrite, p.journal.Upload},
		{post, journalPath, accessWrite, p.journal.Upload},

		{any, bulkPath + "/{index}", accessWrite, p.bulk.Index},
		{get, bulkPath + "/", accessWrite, p.bulk.Info},
		{any, bulkPath + "/logstash", accessWrite, p.bulk.Fine},
		{any, bulkPath + "/logstash/{rest:*}", accessWrite, p.bulk.Fine},
	}
	for _, base := range [...]string{bulkPath, ""} {
		list = append(list, []route{
			{putPost, base + "/_bulk", accessWrite, p.bulk.Bulk},
			{putPost, base + "/{index}/_bulk", accessWrite, p.bulk.Bulk},
			{putPost, base + "/{index}/_doc/_bulk", accessWrite, p.bulk.Bulk},
			{putPost, base + "/{index}/{type}/_bulk", accessWrite, p.bulk.Bulk}, // indexes had types of documents once
			{post, base + "/{index}/_doc", accessWrite, p.bulk.Document},
			{putPost, base + "/{index}/_doc/{id:*}", accessWrite, p.bulk.Document}, // none behind the slash, too
			{putPost, base + "/{index}/_create/{id}", accessWrite, p.bulk.Document},
			{any, base + "/{index}/_refresh", accessWrite, p.bulk.Refresh},
			{any, base + "/{index}/_alias/{rest:*}", accessWrite, p.bulk.Fine},
			{any, base + "/{index}/_mapping", accessWrite, p.bulk.Fine},
			{any, base + "/{index}/_settings", accessWrite, p.bulk.Fine},
			{get, base + "/_license", accessWrite, p.bulk.License},
			{get, base + "/_cluster/health", accessWrite, p.bulk.Health},
		}...)
		for _, name := range asked {
			list = append(list, route{any, base + "/" + name, accessWrite, p.bulk.Fine},
				route{any, base + "/" + name + "/{rest:*}", accessWrite, p.bulk.Fine})
		}
	}
	list = append(list, route{post, bulkPath + "/{index}/{type}", accessWrite, p.bulk.Typed},
		route{putPost, bulkPath + "/{index}/{type}/{id:*}", accessWrite, p.bulk.Typed})
	for _, base := range [...]string{collectorPath, ""} {
		base += "/services/collector"
		for _, path := range [...]string{"", "/event", "/event/1.0"} {
			list = append(list, route{post, base + path, accessWrite, p.hec.Event},
				route{options, base + path, accessWrite, p.hec.Health})
		}
		for _, version := range [...]string{"", "/1.0"} {
			list = append(list, route{post, base + "/raw" + version, accessWrite, p.hec.Raw},
				route{get, base + "/health" + version, accessOpen, p.hec.Health})
		}
		list = append(list, route{post, base + "/ack", accessWrite, p.hec.Ack})
	}
	for _, base := range [...]string{agentPath, ""} {
		list = append(list, route{post, base + agentLogs, accessWrite, p.agents.Logs},
			route{post, base + agentInput, accessWrite, p.agents.Input},
			route{post, base + agentInput + "/{key}", accessWrite, p.agents.Input},
			route{get, base + agentValidate, accessWrite, p.agents.Validate})
	}
	return list
}

func (p *pushHandlers) collectors() []prometheus.Collector {
	return slices.Concat(p.push.Collectors(), p.put.Collectors(), p.bulk.Collectors(), p.hec.Collectors(),
		p.journal.Collectors(), p.agents.Collectors())
}

// present adds the ways in which the clients of a protocol show who they are.
func present(c *web.Ctx, shown *auth.Credentials) {
	path := string(c.Path())
	switch {
	case isBulk(path):
		shown.Scheme = "apikey"
	case isCollector(c):
		shown.Scheme = "splunk"
	case strings.HasPrefix(path, agentPath+"/") || path == agentLogs || strings.HasPrefix(path, agentInput) ||
		path == agentValidate:
		shown.Key = agentKey(c, path)
	}
}

// agentKey is the key that an agent shows: in a header, in the query under one of two names, or behind the path of
// older ones.
func agentKey(c *web.Ctx, path string) []byte {
	if key := c.Request.Header.Peek("DD-API-KEY"); key != nil {
		return key
	}
	for _, name := range [...]string{"dd-api-key", "api_key"} {
		if key := c.QueryArgs().Peek(name); key != nil {
			return key
		}
	}
	if _, key, ok := strings.Cut(path, agentInput+"/"); ok {
		return []byte(key)
	}
	return nil
}

// isLines reports whether a path is one of line protocol.
func isLines(path string) bool {
	return strings.HasPrefix(path, linesPath+"/") || path == "/write" || path == "/query" ||
		strings.HasPrefix(path, "/api/v2/") && path != agentLogs || path == "/api/v3/write_lp"
}

// outside reports whether a path reads or writes although it is not below /v1: the clients that come there take no more
// than a host.
func outside(path string) bool {
	return isLines(path) || isBulk(path) || path == journalPath || strings.HasPrefix(path, "/loki/") ||
		strings.HasPrefix(path, "/services/") || strings.HasPrefix(path, "/api/")
}

// isBulk reports whether a path is one of documents in bulk. Without bulkPath a part of them begins with an underscore,
// as no other does.
func isBulk(path string) bool {
	return path == bulkPath || strings.HasPrefix(path, bulkPath+"/") ||
		!strings.HasPrefix(path, "/v1/") && strings.Contains(path, "/_")
}

// isCollector reports whether a request is one for the event collector.
func isCollector(c *web.Ctx) bool {
	return strings.HasPrefix(strings.TrimPrefix(string(c.Path()), collectorPath), "/services/collector")
}
