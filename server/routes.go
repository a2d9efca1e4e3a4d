package server

import (
	"slices"
	"strings"

	"github.com/fasthttp/router"
	"github.com/valyala/fasthttp"

	"varve/server/web"
)

// otherPath is the path label of requests that match no route.
const otherPath = "other"

// route is a path of the HTTP interface, which knows its protocol.
type route struct {
	web.Route
	protocol *web.Protocol
}

// none is the protocol of requests that belong to no other.
var none = &web.Protocol{Name: "none", Shared: true}

// other is the route of requests that match none. It has no protocol: the path says whose request it is.
func other(handler web.Handler) *route {
	return &route{Route: web.On(nil, otherPath, web.AccessOpen, handler)}
}

// routes are the paths that the router holds. What is neither here nor in exactRoutes is 404.
func (s *Server) routes() []route { return s.served(false) }

// exactRoutes are the paths that the router does not hold.
func (s *Server) exactRoutes() []route { return s.served(true) }

func (s *Server) served(exact bool) (list []route) {
	for i := range s.protocols {
		p := &s.protocols[i]
		for _, r := range p.Routes {
			if !p.Off && r.Exact == exact {
				list = append(list, route{r, p})
			}
		}
	}
	return list
}

// buildRouter registers the routes; HEAD works wherever GET does.
func (s *Server) buildRouter() {
	r := router.New()
	r.RedirectTrailingSlash, r.RedirectFixedPath, r.HandleOPTIONS = false, false, false
	s.exact, s.reserved, s.calls = map[string]exact{}, map[string]bool{}, map[string]*route{}
	s.doors = map[string]*route{}
	for _, rt := range s.exactRoutes() {
		s.exact[rt.Path] = exact{s.handle(&rt), rt.Not}
	}
	for _, rt := range s.routes() {
		h := s.handle(&rt)
		for _, m := range rt.Methods {
			r.Handle(m, rt.Path, h)
			if m == "GET" {
				r.Handle("HEAD", rt.Path, h)
			}
		}
		s.reserved[rt.Path] = rt.Reserved
		if rt.Access == web.AccessWrite && slices.Contains(rt.Methods, "POST") {
			s.doors[rt.Path] = &rt
		}
		for call, path := range rt.protocol.Calls {
			if path == rt.Path {
				s.calls[call] = &rt
			}
		}
	}
	r.MethodNotAllowed = s.handle(other(s.wrongMethod))
	r.NotFound = s.handle(other(s.notFound))
	s.router = r
	s.crowded, s.absent, s.allow = s.handle(other(crowded)), s.handle(other(absent)), s.handle(other(allowPage))
}

// exact serves every method of a path but some.
type exact struct {
	handler fasthttp.RequestHandler
	not     []string
}

// of is the protocol of a request: that of its route, or else the one that owns its path.
func (s *Server) of(rt *route, rc *fasthttp.RequestCtx) *web.Protocol {
	if rt.protocol != nil {
		return rt.protocol
	}
	return s.owner(string(rc.Path()))
}

// owner is the protocol that owns a path for which there is no route.
func (s *Server) owner(path string) *web.Protocol {
	for i := range s.protocols {
		if owns := s.protocols[i].Owns; owns != nil && owns(path) {
			return &s.protocols[i]
		}
	}
	return none
}

// shared reports whether pages of other origins may ask. Paths below /v1/ without a route are closed to them.
func (s *Server) shared(rt *route, rc *fasthttp.RequestCtx) bool {
	if rt.protocol == nil {
		path := string(rc.Path())
		return !strings.HasPrefix(path, "/v1/") && s.owner(path).Shared
	}
	return rt.Shared || rt.protocol.Shared
}

// serve is where every request begins.
func (s *Server) serve(rc *fasthttp.RequestCtx) {
	path := string(rc.Path())
	k := connOf(rc)
	exact, ok := s.exact[path]
	switch {
	case k != nil && k.over && (k.l.api || !s.reserved[path]):
		s.crowded(rc)
	case k != nil && k.l.api && !s.ofAPI(path):
		s.absent(rc)
	case s.preflight(rc, path):
		s.allow(rc)
	case ok && !slices.Contains(exact.not, string(rc.Method())):
		exact.handler(rc)
	default:
		s.router.Handler(rc)
	}
}

func connOf(rc *fasthttp.RequestCtx) *conn {
	k, _ := rc.Conn().(*conn)
	return k
}

// ofAPI reports whether a path is served at an address of the API alone.
func (s *Server) ofAPI(path string) bool {
	return strings.HasPrefix(path, "/v1/") || slices.ContainsFunc(s.protocols, func(p web.Protocol) bool {
		return p.OfAPI != nil && p.OfAPI(path)
	})
}

// hidePath is a path without the secrets that protocols have in theirs.
func (s *Server) hidePath(path string) string {
	for i := range s.protocols {
		if hide := s.protocols[i].HidePath; hide != nil {
			path = hide(path)
		}
	}
	return path
}

func absent(c *web.Ctx) error {
	c.Empty(404)
	return nil
}

func crowded(*web.Ctx) error {
	return &web.Reject{Status: 503, Text: "Too many connections", Close: true}
}

func allowPage(c *web.Ctx) error {
	c.Response.Header.Set("Access-Control-Allow-Methods", "GET,POST,PUT,DELETE,HEAD")
	c.Response.Header.Set("Access-Control-Allow-Headers", "*")
	c.Empty(200)
	return nil
}

// notFound answers 404. Under /v1/ a server with users first wants to know who asks.
func (s *Server) notFound(c *web.Ctx) error {
	path := string(c.Path())
	if s.o.Users != nil && strings.HasPrefix(path, "/v1/") {
		if _, err := s.authenticate(c, s.owner(path)); err != nil {
			return err
		}
	}
	if h := s.claim(c); h != nil {
		return h(c)
	}
	c.Empty(404)
	return nil
}

// wrongMethod answers 405; the router has set Allow.
func (s *Server) wrongMethod(c *web.Ctx) error {
	c.Empty(405)
	return nil
}
