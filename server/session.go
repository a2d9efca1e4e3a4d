package server

import (
	"strconv"

	"varve/engine/jsontext"
	"varve/server/web"
)

// features are what a page may use if the server has it; others are found out by trying.
var features = []string{"dashboards", "dry_run_trace", "error_position"}

// session answers GET /v1/session: who asks, and what may be asked.
func (s *Server) session(c *web.Ctx) error {
	body := jsontext.AppendString([]byte(`{"user":`), c.User.Name)
	body = append(body, `,"mode":"`+modes[c.User.Mode]+`","auth_required":`...)
	body = strconv.AppendBool(body, s.o.Users != nil)
	body = jsontext.AppendString(append(body, `,"version":`...), s.o.Admin.Version)
	body = jsontext.AppendString(append(body, `,"default_timezone":`...), s.o.Zone.String())
	body = append(body, `,"features":[`...)
	for _, f := range features {
		if f == "dashboards" && s.saved == nil {
			continue
		}
		if body[len(body)-1] != '[' {
			body = append(body, ',')
		}
		body = jsontext.AppendString(body, f)
	}
	c.JSON(200, append(body, "]}"...))
	return nil
}

// modes are the names of what users may do.
var modes = map[web.Mode]string{web.ReadWrite: "rw", web.ReadOnly: "ro", web.WriteOnly: "wo"}
