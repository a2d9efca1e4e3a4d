package server

import (
	"bytes"
	"net"
	"net/netip"
	"net/url"
	"slices"
	"strings"

	"github.com/valyala/fasthttp"

	"varve/engine/status"
	"varve/server/web"
)

// foreign is the refusal of requests that a page of another origin makes a browser send.
var foreign = status.New(status.PermissionDenied,
	"Requests from pages of other origins are refused, and from pages under a name that is not this server's; see "+
		"http.cors_allowed_origins and http.hosts")

// cors sets the headers that let pages read the answer to a request of a protocol.
func (s *Server) cors(rc *fasthttp.RequestCtx, p *web.Protocol) {
	if !s.o.EnableCORS || p.Inside || p.Bare != nil && p.Bare(string(rc.Path())) {
		return
	}
	if len(s.o.CORSOrigins) == 0 {
		rc.Response.Header.Set("Access-Control-Allow-Origin", "*")
		return
	}
	rc.Response.Header.Add("Vary", "Origin")
	if origin := string(rc.Request.Header.Peek("Origin")); slices.Contains(s.o.CORSOrigins, origin) {
		rc.Response.Header.Set("Access-Control-Allow-Origin", origin)
	}
}

// preflight reports whether the request asks what a page may send.
func (s *Server) preflight(rc *fasthttp.RequestCtx, path string) bool {
	return s.o.EnableCORS && rc.IsOptions() && !s.owner(path).Inside &&
		len(rc.Request.Header.Peek("Access-Control-Request-Method")) > 0
}

// foreignHost reports whether a browser calls the server by a name that is not known as the server's. The owner of a
// page can point the page's name at the visitor's machine: the browser then takes page and server for one origin. A
// name is known if it is an address, localhost or configured. Requests of pages carry Origin or Sec-Fetch-Site; plain
// reads of an insecure page carry neither. On a loopback address, where no other name is expected, User-Agent
// identifies a browser.
func (s *Server) foreignHost(rc *fasthttp.RequestCtx) bool {
	h := &rc.Request.Header
	page := len(h.Peek("Origin")) > 0 || len(h.Peek("Sec-Fetch-Site")) > 0 || len(h.Peek("Sec-Fetch-Mode")) > 0 ||
		len(h.Peek("Sec-Fetch-Dest")) > 0
	if !page && !(rc.LocalIP().IsLoopback() && bytes.HasPrefix(h.UserAgent(), []byte("Mozilla/"))) {
		return false
	}
	name := strings.ToLower(string(rc.Host()))
	if host, _, err := net.SplitHostPort(name); err == nil {
		name = host
	}
	name = strings.TrimSuffix(strings.Trim(name, "[]"), ".")
	if name == "localhost" || strings.HasSuffix(name, ".localhost") {
		return false
	}
	if _, err := netip.ParseAddr(name); err == nil {
		return false
	}
	return !slices.ContainsFunc(s.o.Hosts, func(known string) bool { return strings.EqualFold(known, name) })
}

// foreignPage reports whether a browser sends the request for a page of another origin that knows no password itself:
// the server has no users, or the browser adds the name and password that it keeps. Such a page could otherwise read
// and drop the tables of a server on the visitor's machine. Programs send neither Origin nor Sec-Fetch-Site.
func (s *Server) foreignPage(rc *fasthttp.RequestCtx) bool {
	h := &rc.Request.Header
	if s.o.Users != nil {
		if !keptByBrowser(h) {
			return false
		}
	} else if s.foreignHost(rc) {
		return true
	}
	origin := string(h.Peek("Origin"))
	if origin != "" && slices.Contains(s.o.CORSOrigins, origin) {
		return false
	}
	switch site := string(h.Peek("Sec-Fetch-Site")); {
	case site == "same-origin", site == "none":
		return false
	case site != "":
		return true
	case origin == "":
		return false
	}
	u, err := url.Parse(origin)
	return err != nil || !strings.EqualFold(u.Host, string(rc.Host()))
}

// keptByBrowser reports whether the credentials of a request are of the kind that browsers keep and add to the requests
// of any page.
func keptByBrowser(h *fasthttp.RequestHeader) bool {
	scheme, _, _ := strings.Cut(strings.TrimSpace(string(h.Peek("Authorization"))), " ")
	return strings.EqualFold(scheme, "basic") && len(h.Peek("x-service-auth")) == 0
}
