// Package saved keeps what people save in the dashboard, views and queries, under a name: texts that the server does not
// read. They are rows of an ordinary table, so that a backup has them and a crash loses none that was acknowledged.
package saved

import (
	"errors"
	"net/url"
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

// List answers GET /v1/dashboards.
func (h *Handler) List(c *web.Ctx) error {
	// What was there the last time is about what will be read now; before it is, there has to be room.
	if err := c.Room(h.store.size.Load()); err != nil {
		return err
	}
	all, err := h.store.list(c.Context)
	if err != nil {
		return err
	}
	return answer(c, all, true)
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
	return answer(c, []definition{d}, true)
}

// Save answers POST /v1/dashboards/{name}: the body is the definition.
func (h *Handler) Save(c *web.Ctx) error {
	name, err := pathName(c)
	if err != nil {
		return err
	}
	c.BodyLimit = maxDefinition
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
	return answer(c, []definition{d}, false)
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
	return answer(c, []definition{{name: name}}, false)
}

// pathName is the name in the path. The router leaves the escapes of URLs as they are.
func pathName(c *web.Ctx) (string, error) {
	raw, _ := c.UserValue("name").(string)
	name, err := url.PathUnescape(strings.Clone(raw))
	if err != nil || !utf8.ValidString(name) || strings.ContainsFunc(name, unicode.IsControl) {
		return "", status.New(status.InvalidArguments, "Invalid request parameter: the name %q is no text in a URL", raw)
	}
	if len(name) > maxName {
		return "", status.New(status.InvalidArguments, "Invalid request parameter: the name of a dashboard has %d bytes, the most are %d", len(name), maxName)
	}
	return name, nil
}

// notThere answers 404 for what is not there.
func notThere(c *web.Ctx, err error) error {
	var m errMissing
	if !errors.As(err, &m) {
		return err
	}
	web.ReplyErrorStatus(c, 404, err)
	return nil
}

// answer tells of definitions, with their texts or by name only.
func answer(c *web.Ctx, list []definition, texts bool) error {
	body := []byte(`{"dashboards":[`)
	held := int64(0)
	for _, d := range list {
		held += int64(len(d.name) + len(d.text))
	}
	for i, d := range list {
		if i > 0 {
			body = append(body, ',')
		}
		// Half of it again is what a slice grows by; what is quoted may be six times as long.
		if err := c.Room(held + int64(len(body)+len(body)/2+6*(len(d.name)+len(d.text)))); err != nil {
			return err
		}
		body = jsontext.AppendString(append(body, `{"name":`...), d.name)
		if texts {
			body = jsontext.AppendString(append(body, `,"definition":`...), d.text)
		}
		body = append(body, '}')
	}
	body = strconv.AppendInt(append(body, `],"execution_time_ms":`...), c.ElapsedMS(), 10)
	c.Executed(format)
	c.OwnJSON(200, append(body, '}'))
	return nil
}
