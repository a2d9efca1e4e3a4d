// Package iceberg serves the read side of the REST catalog of Apache Iceberg for open tables: engines find tables and
// their metadata here, and read the files from the bucket by themselves. Databases are namespaces. What the catalog
// cannot do, such as making tables, is not there: GET config lists what is.
//
// Source: the open specification of the Iceberg REST catalog, version 1.
package iceberg

import (
	"context"
	"encoding/json"
	"errors"
	"slices"
	"strings"

	"varve/engine/schema"
	"varve/engine/status"
	"varve/server/web"
	"varve/sqlexec/opentables"
)

// base is the address that engines are given.
const base = "/v1/iceberg"

// maxReport bounds a report of metrics, in bytes.
const maxReport = 1 << 20

// Catalog is what is served.
type Catalog interface {
	Databases() []string
	// Tables lists the open tables of a database; DatabaseNotFound.
	Tables(db string) ([]string, error)
	// Load returns an open table; ok is false if there is none of that name.
	Load(ctx context.Context, n schema.Name) (l opentables.Loaded, ok bool, err error)
}

// Options of a Handler.
type Options struct {
	Catalog Catalog // nil: nothing is served
	// IO says how engines reach the bucket, by the properties of their file IO.
	IO map[string]string
}

// Handler answers the endpoints. Safe for concurrent use.
type Handler struct{ o Options }

// New makes a handler.
func New(o Options) *Handler { return &Handler{o} }

// endpoints are what GET config lists.
var endpoints = []string{"GET /v1/{prefix}/namespaces", "GET /v1/{prefix}/namespaces/{namespace}",
	"HEAD /v1/{prefix}/namespaces/{namespace}", "GET /v1/{prefix}/namespaces/{namespace}/tables",
	"GET /v1/{prefix}/namespaces/{namespace}/tables/{table}",
	"HEAD /v1/{prefix}/namespaces/{namespace}/tables/{table}",
	"POST /v1/{prefix}/namespaces/{namespace}/tables/{table}/metrics"}

// Protocol is the catalog. Users show themselves by basic authentication, or by a token that is user:password in
// base64. Every user may ask; to those who may not read, no table is there.
func (h *Handler) Protocol() web.Protocol {
	const spaces = base + "/v1/namespaces"
	return web.Protocol{
		Name: "iceberg catalog", Off: h.o.Catalog == nil,
		Routes: []web.Route{
			web.On(web.Get, base+"/v1/config", web.AccessUser, h.config),
			web.On(web.Get, spaces, web.AccessUser, h.namespaces),
			web.On(web.Get, spaces+"/{namespace}", web.AccessUser, h.namespace),
			web.On(web.Get, spaces+"/{namespace}/tables", web.AccessUser, h.tables),
			web.On(web.Get, spaces+"/{namespace}/tables/{table}", web.AccessUser, h.table),
			web.On(web.Post, spaces+"/{namespace}/tables/{table}/metrics", web.AccessUser, h.report),
		},
		Owns: func(path string) bool { return strings.HasPrefix(path, base+"/") },
		Credentials: func(_ *web.Ctx, shown *web.Credentials) error {
			shown.Scheme, shown.Encoded = "bearer", true
			return nil
		},
		Fail: fail,
	}
}

// fault is an error in the words of the specification.
type fault struct {
	http int
	kind string
	text string
}

func (f *fault) Error() string { return f.text }

// fail answers with an error in the form of the specification.
func fail(c *web.Ctx, err error, plain func(c *web.Ctx, err error)) {
	var f *fault
	if errors.As(err, &f) {
		web.ReplyErrorStatus(c, f.http, status.New(status.TableNotFound, "%s", f.text))
		reply(c, f.http, f.kind, f.text)
		return
	}
	plain(c, err)
	code := c.Response.StatusCode()
	_, text := web.Message(err)
	var refused *web.Reject
	if errors.As(err, &refused) {
		text = refused.Text
	}
	kind := "BadRequestException"
	switch {
	case code == 401:
		kind = "NotAuthorizedException"
	case code == 403:
		kind = "ForbiddenException"
	case code == 404:
		kind = "NoSuchEndpointException"
	case code >= 500:
		kind = "ServiceFailureException"
	}
	reply(c, code, kind, text)
}

// reply answers with an error.
func reply(c *web.Ctx, code int, kind, text string) {
	body, err := json.Marshal(map[string]any{"error": map[string]any{"message": text, "type": kind, "code": code}})
	if err != nil {
		body = []byte(`{"error":{"message":"","type":"ServiceFailureException","code":500}}`) // of texts alone: never
	}
	c.JSON(code, body)
}

// answer answers with the value that find gives, as JSON, when its turn comes.
func answer(c *web.Ctx, find func() (any, error)) error {
	return c.Make(200, "application/json", func() ([]byte, error) {
		v, err := find()
		if err != nil {
			return nil, err
		}
		return json.Marshal(v)
	})
}

// reads reports whether the user may read tables.
func reads(c *web.Ctx) bool { return web.AccessRead.Allows(c.User.Mode) }

// config answers GET config: there is one warehouse, and what it can do.
func (h *Handler) config(c *web.Ctx) error {
	return answer(c, func() (any, error) {
		return map[string]any{"defaults": map[string]string{}, "overrides": map[string]string{},
			"endpoints": endpoints}, nil
	})
}

// namespaces answers GET namespaces: the databases.
func (h *Handler) namespaces(c *web.Ctx) error {
	return answer(c, func() (any, error) {
		list := [][]string{}
		if parent := string(c.QueryArgs().Peek("parent")); parent != "" {
			if !h.has(c, parent) {
				return nil, noNamespace(parent)
			}
		} else if reads(c) {
			for _, db := range h.o.Catalog.Databases() {
				list = append(list, []string{db})
			}
		}
		return map[string]any{"namespaces": list}, nil
	})
}

// has reports whether there is a database that the user may read.
func (h *Handler) has(c *web.Ctx, db string) bool {
	return reads(c) && slices.Contains(h.o.Catalog.Databases(), db)
}

func noNamespace(db string) error {
	return &fault{404, "NoSuchNamespaceException", "Namespace does not exist: " + db}
}

// pathName is a name in the path.
func pathName(c *web.Ctx, part string) (string, error) {
	text, raw, ok := c.PathText(part)
	if !ok {
		return "", status.New(status.InvalidArguments, "Invalid request parameter: the name %q is not valid text in a URL",
			raw)
	}
	return text, nil
}

// db is the namespace of the path.
func (h *Handler) db(c *web.Ctx) (string, error) {
	db, err := pathName(c, "namespace")
	if err == nil && !h.has(c, db) {
		err = noNamespace(db)
	}
	return db, err
}

// namespace answers GET namespaces/{namespace}.
func (h *Handler) namespace(c *web.Ctx) error {
	return answer(c, func() (any, error) {
		db, err := h.db(c)
		return map[string]any{"namespace": []string{db}, "properties": map[string]string{}}, err
	})
}

// identifier names a table.
type identifier struct {
	Namespace []string `json:"namespace"`
	Name      string   `json:"name"`
}

// tables answers GET namespaces/{namespace}/tables.
func (h *Handler) tables(c *web.Ctx) error {
	return answer(c, func() (any, error) {
		db, err := h.db(c)
		if err != nil {
			return nil, err
		}
		names, err := h.o.Catalog.Tables(db)
		list := make([]identifier, len(names))
		for i, n := range names {
			list[i] = identifier{[]string{db}, n}
		}
		return map[string]any{"identifiers": list}, err
	})
}

// load is the table of the path.
func (h *Handler) load(c *web.Ctx) (opentables.Loaded, error) {
	db, err := h.db(c)
	if err != nil {
		return opentables.Loaded{}, err
	}
	name, err := pathName(c, "table")
	if err != nil {
		return opentables.Loaded{}, err
	}
	l, ok, err := h.o.Catalog.Load(c.Context, schema.Name{DB: db, Table: name})
	if err == nil && !ok {
		err = &fault{404, "NoSuchTableException", "Table does not exist: " + db + "." + name}
	}
	return l, err
}

// table answers GET namespaces/{namespace}/tables/{table}: the metadata, and where it lies.
func (h *Handler) table(c *web.Ctx) error {
	return answer(c, func() (any, error) {
		l, err := h.load(c)
		if err != nil {
			return nil, err
		}
		io := h.o.IO
		if io == nil {
			io = map[string]string{}
		}
		return map[string]any{"metadata-location": l.Location, "metadata": l.Metadata, "config": io}, nil
	})
}

// report takes what an engine tells of its scan. Nothing is made of it.
func (h *Handler) report(c *web.Ctx) error {
	if _, err := h.load(c); err != nil {
		return err
	}
	c.LimitBody(maxReport)
	if _, err := c.ReadBody(); err != nil {
		return err
	}
	c.Empty(204)
	return nil
}
