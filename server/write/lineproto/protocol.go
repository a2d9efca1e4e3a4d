package lineproto

import (
	"strings"

	"varve/engine/status"
	"varve/server/web"
)

// base is the address that clients are given. Some take no more than a host.
const base = "/v1/lineproto"

// Protocols are two: line protocol for clients of version 1, and for those of versions 2 and 3, which read errors in
// another form.
func (h *Handler) Protocols(off bool) []web.Protocol {
	first, second := h.first(), h.second()
	for _, p := range [...]*web.Protocol{&first, &second} {
		p.Off, p.Credentials = off, present
	}
	if !off {
		second.Claims = h.claim
	}
	return []web.Protocol{second, first} // second comes first: it owns some of the paths that first owns
}

func (h *Handler) first() web.Protocol {
	routes := []web.Route{
		web.On(web.Get, base+"/health", web.AccessOpen, h.Health),
		web.On(web.Get, base+"/ready", web.AccessOpen, h.Ready),
		web.On(web.Get, base+"/ping", web.AccessOpen, h.Ping),
		{Methods: web.Get, Path: "/ping", Access: web.AccessOpen, Handler: h.Ping, Shared: true},
	}
	return web.Protocol{
		Name: "lineproto", Collectors: h.Collectors(), Features: []string{"lineproto"},
		Routes: append(routes, web.Below([]web.Route{
			web.On(web.Post, "/write", web.AccessWrite, h.Write),
			web.On(web.GetPost, "/query", web.AccessUser, h.Query),
		}, base, "")...),
		Owns: func(path string) bool {
			return strings.HasPrefix(path, base+"/") || path == "/write" || path == "/query"
		},
	}
}

func (h *Handler) second() web.Protocol {
	return web.Protocol{
		Name: "lineproto 2",
		Routes: web.Below([]web.Route{
			web.On(web.Post, "/api/v2/write", web.AccessWrite, h.WriteV2),
			web.On(web.Post, version3, web.AccessWrite, h.WriteV3),
			web.On(web.Get, "/api/v2/buckets", web.AccessUser, h.Buckets),
			web.On(web.Post, "/api/v2/buckets", web.AccessUser, h.CreateBucket),
			web.On(web.Get, "/api/v2/setup", web.AccessOpen, h.Setup),
			web.On(web.Get, "/api/v2/orgs", web.AccessUser, h.Organisations),
		}, base, ""),
		Owns: func(path string) bool {
			rest, below := strings.CutPrefix(path, base+"/")
			return strings.HasPrefix(path, "/api/v2/") || path == version3 ||
				below && (strings.Contains("/"+rest, "/api/v2/") || strings.HasSuffix("/"+rest, version3))
		},
		Fail: fail,
	}
}

// present takes Authorization, which may be a token, or else the name and the password in the query. It ignores
// x-service-auth.
func present(c *web.Ctx, shown *web.Credentials) error {
	shown.Service, shown.Scheme = nil, "token"
	shown.User, shown.Password = c.QueryArgs().Peek("u"), c.QueryArgs().Peek("p")
	switch {
	case shown.Authorization != nil || shown.User != nil && shown.Password != nil:
		return nil
	case shown.User == nil && shown.Password == nil:
		return status.New(status.AuthHeaderNotFound, "Not found influx http authorization info")
	}
	return status.New(status.InvalidArguments,
		"Invalid request parameter: influxdb auth: username and password must be provided together")
}

// claim answers libraries that were given a host alone and ask at the root what they would ask below base.
func (h *Handler) claim(c *web.Ctx) web.Handler {
	if string(c.Path()) == "/health" && library(c) {
		return h.Health
	}
	return nil
}
