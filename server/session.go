package server

import (
	"slices"
	"strconv"
	"strings"

	"varve/engine/jsontext"
	"varve/server/web"
)

// features are what a page may use if the server has it, each with the beginning of its paths; "" is there always.
var features = [...]struct{ name, path string }{
	{"analyze_stream", "/v1/sql/analyze/"}, {"dashboards", "/v1/dashboards"}, {"dry_run_trace", ""},
	{"error_position", ""}, {"jsonput", "/v1/jsonput/"}, {"lineproto", "/v1/lineproto/"},
	{"logpush", "/v1/logpush/"}, {"metrics", "/v1/metricsapi/"}, {"otlp", "/v1/otlp/"},
}

// has reports whether there are paths with a beginning.
func (s *Server) has(path string) bool {
	return slices.ContainsFunc(s.routes(), func(r route) bool { return strings.HasPrefix(r.Path, path) })
}

// session answers GET /v1/session: who asks, and what may be asked.
func (s *Server) session(c *web.Ctx) error {
	body := jsontext.AppendString([]byte(`{"user":`), c.User.Name)
	body = append(body, `,"mode":"`+modes[c.User.Mode]+`","auth_required":`...)
	body = strconv.AppendBool(body, s.o.Users != nil)
	body = jsontext.AppendString(append(body, `,"version":`...), s.o.Admin.Version)
	body = jsontext.AppendString(append(body, `,"default_timezone":`...), s.o.Zone.String())
	body = append(body, `,"features":[`...)
	for _, f := range features {
		if !s.has(f.path) {
			continue
		}
		if body[len(body)-1] != '[' {
			body = append(body, ',')
		}
		body = jsontext.AppendString(body, f.name)
	}
	c.JSON(200, append(body, "]}"...))
	return nil
}

// modes are the names of what users may do.
var modes = map[web.Mode]string{web.ReadWrite: "rw", web.ReadOnly: "ro", web.WriteOnly: "wo"}
