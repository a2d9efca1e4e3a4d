package server

import (
	"net/url"
	"slices"
	"strings"

	"github.com/valyala/fasthttp"

	"varve/engine/status"
)

// foreign is the refusal of requests that a page of another origin makes a browser send.
var foreign = status.New(status.PermissionDenied, "Requests from pages of other origins are refused; see http.cors_allowed_origins")

// cors sets the headers that let pages read the answer. Paths under /debug have none.
func (s *Server) cors(rc *fasthttp.RequestCtx, path string) {
	if !s.o.EnableCORS || strings.HasPrefix(path, "/debug/") {
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

// preflight tells whether the request asks what a page may send.
func (s *Server) preflight(rc *fasthttp.RequestCtx, path string) bool {
	return s.o.EnableCORS && rc.IsOptions() && !strings.HasPrefix(path, "/debug/") &&
		len(rc.Request.Header.Peek("Access-Control-Request-Method")) > 0
}

// foreignPage tells whether a browser sends the request for a page of another origin to a server without users: such a
// page could otherwise read and drop what lies on the visitor's own machine. Programs send neither header.
func (s *Server) foreignPage(rc *fasthttp.RequestCtx, path string) bool {
	if s.o.Users != nil || !(strings.HasPrefix(path, "/v1/") || strings.HasPrefix(path, "/debug/") || path == "/config") {
		return false
	}
	origin := string(rc.Request.Header.Peek("Origin"))
	if origin != "" && slices.Contains(s.o.CORSOrigins, origin) {
		return false
	}
	if string(rc.Request.Header.Peek("Sec-Fetch-Site")) == "cross-site" {
		return true
	}
	if origin == "" {
		return false
	}
	u, err := url.Parse(origin)
	return err != nil || !strings.EqualFold(u.Host, string(rc.Host()))
}
