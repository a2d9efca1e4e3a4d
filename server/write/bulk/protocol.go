package bulk

import (
	"bytes"
	"strings"

	"varve/server/web"
)

// base is the address that clients are given. Some take no more than a host.
const base = "/v1/elasticsearch"

// asked are paths at which shippers ask or set up things before they send.
var asked = [...]string{"_ilm", "_index_template", "_component_template", "_template", "_ingest", "_nodes", "_cluster",
	"_data_stream", "_alias", "_xpack", "_logstash"}

// Protocol is the bulk interface.
func (h *Handler) Protocol() web.Protocol {
	return web.Protocol{
		Name: "bulk", Collectors: h.Collectors(), Routes: append(h.ownRoutes(), web.Below(h.routes(), base, "")...),
		Owns: func(path string) bool {
			// At the root, a part of the path begins with an underscore; paths of other protocols have none.
			return path == base || strings.HasPrefix(path, base+"/") ||
				!strings.HasPrefix(path, "/v1/") && strings.Contains(path, "/_")
		},
		Claims: h.claim,
		Credentials: func(_ *web.Ctx, shown *web.Credentials) error {
			shown.Scheme, shown.Encoded = "apikey", true
			return nil
		},
	}
}

// ownRoutes are the paths that are below base alone.
func (h *Handler) ownRoutes() []web.Route {
	return []web.Route{
		{Path: base, Access: web.AccessWrite, Handler: h.Info, Exact: true, Not: web.Post},
		web.On(web.Asking, base+"/{index}", web.AccessWrite, h.Index),
		web.On(web.Get, base+"/", web.AccessWrite, h.Info),
		web.On(web.Asking, base+"/logstash", web.AccessWrite, h.Fine),
		web.On(web.Asking, base+"/logstash/{rest:*}", web.AccessWrite, h.Fine),
		web.On(web.Post, base+"/{index}/{type}", web.AccessWrite, h.Typed),
		web.On(web.PutPost, base+"/{index}/{type}/{id:*}", web.AccessWrite, h.Typed),
	}
}

// routes are the paths that are below base and at the root.
func (h *Handler) routes() []web.Route {
	list := []web.Route{
		web.On(web.PutPost, "/_bulk", web.AccessWrite, h.Bulk),
		web.On(web.PutPost, "/{index}/_bulk", web.AccessWrite, h.Bulk),
		web.On(web.PutPost, "/{index}/_doc/_bulk", web.AccessWrite, h.Bulk),
		web.On(web.PutPost, "/{index}/{type}/_bulk", web.AccessWrite, h.Bulk), // indexes had types of documents once
		web.On(web.Post, "/{index}/_doc", web.AccessWrite, h.Document),
		web.On(web.PutPost, "/{index}/_doc/{id:*}", web.AccessWrite, h.Document), // none behind the slash, too
		web.On(web.PutPost, "/{index}/_create/{id}", web.AccessWrite, h.Document),
		web.On(web.Asking, "/{index}/_refresh", web.AccessWrite, h.Refresh),
		web.On(web.Asking, "/{index}/_alias/{rest:*}", web.AccessWrite, h.Fine),
		web.On(web.Asking, "/{index}/_mapping", web.AccessWrite, h.Fine),
		web.On(web.Asking, "/{index}/_settings", web.AccessWrite, h.Fine),
		web.On(web.Get, "/_license", web.AccessWrite, h.License),
		web.On(web.Get, "/_cluster/health", web.AccessWrite, h.Health),
	}
	for _, name := range asked {
		list = append(list, web.On(web.Asking, "/"+name, web.AccessWrite, h.Fine),
			web.On(web.Asking, "/"+name+"/{rest:*}", web.AccessWrite, h.Fine))
	}
	return list
}

// claim answers libraries that were given a host alone: they ask at the root what they would ask at base, and look for
// an index, or make one, before they write.
func (h *Handler) claim(c *web.Ctx) web.Handler {
	if !library(c) {
		return nil
	}
	switch index := string(c.Path()[1:]); {
	case index == "":
		return h.Info
	case index != "health" && !strings.Contains(index, "/"):
		c.SetUserValue("index", index)
		return h.Index
	}
	return nil
}

// library reports whether the client is a library of this interface.
func library(c *web.Ctx) bool {
	agent := bytes.ToLower(c.Request.Header.UserAgent())
	return bytes.Contains(agent, []byte("elastic")) || bytes.Contains(agent, []byte("opensearch")) ||
		len(c.Request.Header.Peek("X-Elastic-Client-Meta")) > 0
}
