package server

import (
	"slices"
	"strconv"

	"varve/engine/jsontext"
	"varve/server/web"
)

// features are what a page may use of the protocols that are served, in order.
func (s *Server) features() (list []string) {
	for i := range s.protocols {
		if p := &s.protocols[i]; !p.Off {
			list = append(list, p.Features...)
		}
	}
	slices.Sort(list)
	return list
}

// session answers GET /v1/session: who asks, and what may be asked.
func (s *Server) session(c *web.Ctx) error {
	body := jsontext.AppendString([]byte(`{"user":`), c.User.Name)
	body = append(body, `,"mode":"`+modes[c.User.Mode]+`","auth_required":`...)
	body = strconv.AppendBool(body, s.o.Users != nil)
	body = jsontext.AppendString(append(body, `,"version":`...), s.o.Admin.Version)
	body = jsontext.AppendString(append(body, `,"default_timezone":`...), s.o.Zone.String())
	body = append(body, `,"features":[`...)
	for i, name := range s.features() {
		if i > 0 {
			body = append(body, ',')
		}
		body = jsontext.AppendString(body, name)
	}
	c.JSON(200, append(body, "]}"...))
	return nil
}

// modes are the names of what users may do.
var modes = map[web.Mode]string{web.ReadWrite: "rw", web.ReadOnly: "ro", web.WriteOnly: "wo"}
