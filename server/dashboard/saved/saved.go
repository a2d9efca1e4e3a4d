// Package saved keeps the views and queries that people save in the dashboard, each under a name. The server does not
// read their content. They are rows of an ordinary table, so backups include them and a crash loses none that was
// acknowledged.
package saved

import (
	"errors"
	"strconv"
	"strings"
	"unicode"
	"unicode/utf8"

	"varve/engine"
	"varve/engine/jsontext"
	"varve/engine/status"
	"varve/server/web"
)

// Handler answers /v1/dashboards. Safe for concurrent use.
type Handler struct{ store store }

// New makes a handler over the tables of e.
func New(e *engine.Engine) *Handler { return &Handler{store: store{engine: e}} }

// format is the format of the answers.
const format = "service_manage"

// Protocol keeps saved views and queries.
func (h *Handler) Protocol() web.Protocol {
	return web.Protocol{
		Name: "dashboards", Features: []string{"dashboards"},
		Routes: []web.Route{
			web.On(web.Get, "/v1/dashboards", web.AccessRead, h.List),
			web.On(web.Get, "/v1/dashboards/{name}", web.AccessRead, h.Get),
			web.On(web.Post, "/v1/dashboards/{name}", web.AccessWrite, h.Save),
			web.On(web.Delete, "/v1/dashboards/{name}", web.AccessWrite, h.Delete),
		},
	}
}

// List answers GET /v1/dashboards.
func (h *Handler) List(c *web.Ctx) error {
	var all []definition
	err := c.Turn(func() (held int64, err error) {
		all, err = h.store.list(c.Context)
		for _, d := range all {
			held += int64(len(d.name) + len(d.text))
		}
		return held, err
	})
	if err != nil {
		return err
	}
	answer(c, all, true)
	return nil
}

// Get answers GET /v1/dashboards/{name}.
func (h *Handler) Get(c *web.Ctx) error {
	name, err := pathName(c)
	if err != nil {
		return err
	}
	d, err := h.store.find(c.Context, name)
	if err != nil {
		return notThere(c, err)
	}
	answer(c, []definition{d}, true)
	return nil
}

// Save answers POST /v1/dashboards/{name}: the body is the definition.
func (h *Handler) Save(c *web.Ctx) error {
	name, err := pathName(c)
	if err != nil {
		return err
	}
	c.LimitBody(maxDefinition)
	body, err := c.ReadBody()
	if err != nil {
		return err
	}
	if !utf8.Valid(body) {
		return status.New(status.InvalidArguments, "the definition of dashboard %s is not valid UTF-8", name)
	}
	d := definition{name, string(body)}
	if err := h.store.save(c.Context, d); err != nil {
		return err
	}
	answer(c, []definition{d}, false)
	return nil
}

// Delete answers DELETE /v1/dashboards/{name}.
func (h *Handler) Delete(c *web.Ctx) error {
	name, err := pathName(c)
	if err != nil {
		return err
	}
	if err := h.store.remove(c.Context, name); err != nil {
		return notThere(c, err)
	}
	answer(c, []definition{{name: name}}, false)
	return nil
}

// pathName is the name in the path.
func pathName(c *web.Ctx) (string, error) {
	name, raw, ok := c.PathText("name")
	if !ok || strings.ContainsFunc(name, unicode.IsControl) {
		return "", status.New(status.InvalidArguments, "Invalid request parameter: the name %q is not valid text in a URL",
			raw)
	}
	if len(name) > maxName {
		return "", status.New(status.InvalidArguments,
			"Invalid request parameter: the name of a dashboard has %d bytes, the limit is %d", len(name), maxName)
	}
	return name, nil
}

// notThere answers 404 if err says that there is no such definition, and returns other errors.
func notThere(c *web.Ctx, err error) error {
	var m errMissing
	if !errors.As(err, &m) {
		return err
	}
	web.ReplyErrorStatus(c, 404, err)
	return nil
}

// answer lists definitions, with their texts or by name only.
func answer(c *web.Ctx, list []definition, texts bool) {
	c.Executed(format)
	told := 0
	c.Pieces(func(body []byte) (out []byte, more bool) {
		if told == 0 {
			body = append(body, `{"dashboards":[`...)
		}
		for mark := len(body); told < len(list); told++ {
			if len(body)-mark >= web.PieceBytes {
				return body, true
			}
			if told > 0 {
				body = append(body, ',')
			}
			body = jsontext.AppendString(append(body, `{"name":`...), list[told].name)
			if texts {
				body = jsontext.AppendString(append(body, `,"definition":`...), list[told].text)
			}
			body = append(body, '}')
		}
		body = strconv.AppendInt(append(body, `],"execution_time_ms":`...), c.ElapsedMS(), 10)
		return append(body, '}'), false
	})
}
