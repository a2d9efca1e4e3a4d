package iceberg_test

import (
	"context"
	"encoding/json"
	"strings"
	"testing"

	"varve/engine"
	"varve/engine/bucket"
	"varve/server"
	"varve/server/read/iceberg"
	"varve/server/servertest"
	"varve/sqlexec"
	"varve/sqlexec/opentables"
)

const users = "static_user_provider:cmd:ann=a,bob:wo=b,eve:ro=e"

// start starts a server with users and open tables in a directory.
func start(t *testing.T) *servertest.House {
	t.Helper()
	e, err := engine.Open(engine.Options{Dir: t.TempDir(), MinFree: 1})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := e.Close(context.Background(), false); err != nil {
			t.Error(err)
		}
	})
	place, err := bucket.Open(t.Context(), bucket.Options{URL: t.TempDir()})
	if err != nil {
		t.Fatal(err)
	}
	x, err := opentables.New(opentables.Options{Engine: e, Bucket: place, TempDir: t.TempDir(), MaxColumns: 40})
	if err != nil {
		t.Fatal(err)
	}
	return servertest.On(t, e, func(o *server.Options) {
		o.Users = servertest.Users(t, users)
		o.Query.Executor = sqlexec.New(e, sqlexec.Options{Export: x.Export})
		o.Open = iceberg.Options{Catalog: x, IO: map[string]string{"s3.region": "here"}}
	})
}

var (
	ann = []string{"Authorization", servertest.Basic("ann", "a")}
	bob = []string{"Authorization", servertest.Basic("bob", "b")}
	eve = []string{"Authorization", "Bearer " + strings.TrimPrefix(servertest.Basic("eve", "e"), "Basic ")}
)

// do runs a statement as ann.
func do(h *servertest.House, statement string) {
	h.Helper()
	h.Want(h.Do("POST", "/v1/sql", "sql="+escape(statement), append([]string{"Content-Type",
		"application/x-www-form-urlencoded"}, ann...)...), 200, "")
}

func escape(text string) string {
	return strings.NewReplacer("%", "%25", "+", "%2B", "&", "%26", ";", "%3B", "\n", " ").Replace(text)
}

// TestCatalog: what the endpoints answer, to whom.
func TestCatalog(t *testing.T) {
	h := start(t)
	do(h, "CREATE TABLE t (host STRING PRIMARY KEY, ts TIMESTAMP TIME INDEX) WITH (open_format = 'iceberg')")
	do(h, "CREATE TABLE closed (ts TIMESTAMP TIME INDEX)")
	do(h, "INSERT INTO t VALUES ('a', '2026-01-01 10:00:00')")
	const base = "/v1/iceberg/v1"
	for _, c := range []struct {
		name, method, path string
		as                 []string
		status             int
		has                string
	}{
		{"config", "GET", "/config?warehouse=w", ann, 200, `"GET /v1/{prefix}/namespaces"`},
		{"config of nobody", "GET", "/config", nil, 401, `"type":"NotAuthorizedException"`},
		{"namespaces", "GET", "/namespaces", ann, 200, `["public"]`},
		{"below a namespace", "GET", "/namespaces?parent=public", ann, 200, `{"namespaces":[]}`},
		{"below none", "GET", "/namespaces?parent=no", ann, 404, `"type":"NoSuchNamespaceException"`},
		{"namespace", "GET", "/namespaces/public", eve, 200, `"namespace":["public"]`},
		{"no namespace", "GET", "/namespaces/no", ann, 404, `"type":"NoSuchNamespaceException"`},
		{"is a namespace", "HEAD", "/namespaces/public", ann, 200, ""},
		{"is none", "HEAD", "/namespaces/no", ann, 404, ""},
		{"tables", "GET", "/namespaces/public/tables", eve, 200,
			`{"identifiers":[{"namespace":["public"],"name":"t"}]}`},
		{"table", "GET", "/namespaces/public/tables/t", eve, 200, `"metadata-location":"file:///`},
		{"file IO", "GET", "/namespaces/public/tables/t", eve, 200, `"config":{"s3.region":"here"}`},
		{"is a table", "HEAD", "/namespaces/public/tables/t", eve, 200, ""},
		{"closed table", "GET", "/namespaces/public/tables/closed", ann, 404, `"type":"NoSuchTableException"`},
		{"no table", "HEAD", "/namespaces/public/tables/no", ann, 404, ""},
		{"report", "POST", "/namespaces/public/tables/t/metrics", eve, 204, ""},
		{"report of none", "POST", "/namespaces/public/tables/no/metrics", eve, 404, `"code":404`},
		{"bad name", "GET", "/namespaces/public/tables/%FF", ann, 400, `"type":"BadRequestException"`},
		{"no endpoint", "GET", "/views", ann, 404, ""},
		{"namespaces of who may not read", "GET", "/namespaces", bob, 200, `{"namespaces":[]}`},
		{"table of who may not read", "GET", "/namespaces/public/tables/t", bob, 404, `"code":404`},
	} {
		t.Run(c.name, func(t *testing.T) {
			h := h.As(t)
			a := h.Do(c.method, base+c.path, `{}`, c.as...)
			h.Want(a, c.status, c.has)
			if c.status < 400 && c.method == "GET" && !json.Valid([]byte(a.Body)) {
				t.Errorf("no JSON: %s", a.Body)
			}
		})
	}
	h.Want(h.Do("POST", base+"/namespaces/public/tables/t/metrics", strings.Repeat(" ", 1<<20+1), ann...), 413,
		"length limit exceeded")
	do(h, "ADMIN export_table('t')")
	h.Want(h.Do("GET", base+"/namespaces/public/tables/t", "", ann...), 200, `"varve.window":"2026-01-01"`)
	do(h, "DROP TABLE t")
	h.Want(h.Do("GET", base+"/namespaces/public/tables/t", "", ann...), 404, "Table does not exist: public.t")
}
