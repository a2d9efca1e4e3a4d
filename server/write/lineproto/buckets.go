package lineproto

import (
	"encoding/json"
	"fmt"
	"hash/fnv"
	"strings"

	"varve/engine/jsontext"
	"varve/engine/status"
	"varve/server/web"
)

// Clients of version 2 look for their organisation and their bucket before they write, and make the bucket if it is not
// there. A bucket is a database. There is one organisation, which has every name that clients ask for.

// Buckets answers GET /v1/lineproto/api/v2/buckets, all of them or the one with the name that is asked for.
func (h *Handler) Buckets(c *web.Ctx) error {
	p, err := c.LastQuery("name")
	if err != nil {
		return err
	}
	if c.User.Mode == web.WriteOnly {
		return web.Denied
	}
	return c.Make(200, "application/json", func() ([]byte, error) { return h.buckets(p.String("name")), nil })
}

// buckets lists all buckets, or the one with a name.
func (h *Handler) buckets(name string) []byte {
	body := []byte(`{"buckets":[`)
	listed := 0
	for _, d := range h.o.Databases() {
		if name != "" && name != d.Name {
			continue
		}
		if listed++; listed > 1 {
			body = append(body, ',')
		}
		body = appendBucket(body, d.Name)
	}
	return append(body, "]}"...)
}

// CreateBucket answers POST /v1/lineproto/api/v2/buckets: it makes the database that the body names, unless it is
// there.
func (h *Handler) CreateBucket(c *web.Ctx) error {
	c.LimitBody(maxBucket)
	body, err := c.WholeBody()
	if err != nil {
		return err
	}
	var asked struct{ Name string }
	if err := json.Unmarshal(body, &asked); err != nil || asked.Name == "" {
		return status.New(status.InvalidArguments, `a bucket is made of a JSON object with its "name"`)
	}
	if err := h.createDatabase(c, asked.Name); err != nil {
		return err
	}
	c.JSON(201, appendBucket(nil, asked.Name))
	return nil
}

// maxBucket bounds the body that describes a bucket.
const maxBucket = 64 << 10

// Setup answers GET /v1/lineproto/api/v2/setup, by which tools ask whether they may create the first user: they may
// not.
func (h *Handler) Setup(c *web.Ctx) error {
	h.introduce(c)
	c.JSON(200, []byte(`{"allowed":false}`))
	return nil
}

// Organisations answers GET /v1/lineproto/api/v2/orgs.
func (h *Handler) Organisations(c *web.Ctx) error {
	p, err := c.LastQuery("org")
	if err != nil {
		return err
	}
	name := p.String("org")
	if name == "" {
		name = "varve"
	}
	body := jsontext.AppendString([]byte(`{"orgs":[{"id":"`+organisation+`","name":`),
		strings.ToValidUTF8(name, "\uFFFD"))
	c.JSON(200, append(body, `,"status":"active"}]}`...))
	return nil
}

// organisation is the id of the only organisation: 16 hexadecimal digits, as clients want ids.
const organisation = "7661727665000001"

func appendBucket(dst []byte, name string) []byte {
	h := fnv.New64a()
	h.Write([]byte(name))
	dst = fmt.Appendf(dst, `{"id":"%016x","orgID":"%s","type":"user","name":`, h.Sum64(), organisation)
	return append(jsontext.AppendString(dst, strings.ToValidUTF8(name, "\uFFFD")), `,"retentionRules":[]}`...)
}
