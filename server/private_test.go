package server_test

import (
	"context"
	"fmt"
	"maps"
	"net/url"
	"slices"
	"strings"
	"testing"

	"varve/engine"
	"varve/engine/schema"
	"varve/engine/vector"
	"varve/server"
	"varve/server/protowire"
	"varve/server/servertest"
	"varve/sqlexec"
	"varve/sqlexec/parse"
)

// TestPrivateDatabaseAtEveryDoor: no protocol and no statement writes to the server's own database, whoever asks.
func TestPrivateDatabaseAtEveryDoor(t *testing.T) {
	h := servertest.Real(t, func(o *server.Options) {
		o.Users = servertest.Users(t, "static_user_provider:cmd:admin=admin_pwd,writer:wo=writer_pwd")
	})
	as := func(user string) []string { return []string{"Authorization", servertest.Basic(user, user+"_pwd")} }
	own := []string{"table_name", "dashboard", "metric_metadata", "rejected"} // as the server makes them
	untouched := func(what string) {
		t.Helper()
		a := h.Do("GET", "/v1/sql?format=csv&sql="+
			url.QueryEscape("SELECT table_name FROM information_schema.tables WHERE table_schema = 'service_private'"),
			"", as("admin")...)
		for name := range strings.FieldsSeq(a.Body) {
			if !slices.Contains(own, name) || a.Status != 200 {
				t.Errorf("%s: made %s", what, name)
			}
		}
	}
	lists := []string{"otlp.json", "remote.json", "lineproto.json", "shippers.json", "jsonput.json", "logpush.json"}
	sent := 0
	for _, list := range lists {
		files := servertest.CapturedIn(t, list)
		for _, name := range slices.Sorted(maps.Keys(files)) {
			f := files[name]
			if f.Request.Path == "/v1/metricsapi/read" {
				continue
			}
			for _, user := range []string{"admin", "writer"} {
				path := strings.ReplaceAll(strings.ReplaceAll(f.Request.Path, "db=public", "db=service_private"),
					"bucket=public", "bucket=service_private")
				a := h.Do("POST", path, string(servertest.Payload(t, name)),
					append(append(f.Headers(), as(user)...), "x-service-db-name", "service_private")...)
				if a.Status < 400 && !strings.Contains(a.Body, `"errors":true`) {
					t.Errorf("%s to %s by %s: %d %.200q", name, path, user, a.Status, a.Body)
				}
				sent++
				untouched(name)
			}
		}
	}
	if sent < 60 {
		t.Errorf("only %d bodies were sent", sent)
	}

	typed := func(kind string) []string { return append(as("writer"), "Content-Type", kind) }
	for _, c := range []struct{ path, body, kind string }{
		{"/v1/ingest?table=pipelines&pipeline_name=service_identity&db=service_private", `{"name":1}`,
			"application/json"},
		{"/v1/ingest?table=x&pipeline_name=service_identity&db=service-service_private", `{"name":1}`,
			"application/json"},
		{"/v1/splunk/services/collector/event?db=service_private&table=dashboard", `{"event":"x"}`, "application/json"},
		{"/v1/splunk/services/collector/raw?db=service_private&table=dashboard", "x", "text/plain"},
		{"/v1/datadog/api/v2/logs?db=service_private", `[{"message":"x"}]`, "application/json"},
		{"/v1/elasticsearch/views/_doc?db=service_private", `{"a":1}`, "application/json"},
		{"/v1/lineproto/api/v3/write_lp?db=service_private", "views v=1", "text/plain"},
		{"/write?db=service_private", "pipelines,name=a pipeline=1", "text/plain"},
		{"/v1/metricsapi/write", servertest.Snappy(servertest.Message1([]string{"__name__", "views", "__database__",
			"service_private"}, 1)), "application/x-protobuf"},
		{"/v1/metricsapi/write", servertest.Snappy(servertest.Message1([]string{"__name__", "views",
			"x_service_database", "service_private"}, 1)), "application/x-protobuf"},
		{"/v1/metricsapi/write?physical_table=views&db=service_private", servertest.Snappy(servertest.Message1(servertest.Up, 1)),
			"application/x-protobuf"},
	} {
		a := h.Do("POST", c.path, c.body, typed(c.kind)...)
		if a.Status < 400 && !strings.Contains(a.Body, `"errors":true`) {
			t.Errorf("%s: %d %q", c.path, a.Status, a.Body)
		}
		untouched(c.path)
	}
	if _, err := servertest.Call(servertest.Dial(t, h.Calls()), servertest.RPCLogs,
		servertest.OTLPLogRequest(t, 3, false), append(as("writer"), "x-service-db-name",
			"service_private")); err == nil {
		t.Error("a call wrote")
	}
	untouched("gRPC")

	for _, sql := range []string{
		"CREATE TABLE service_private.x (ts TIMESTAMP TIME INDEX)",
		"CREATE TABLE IF NOT EXISTS service_private.pipelines (ts TIMESTAMP TIME INDEX)",
		"CREATE TABLE service_private.y AS SELECT ts FROM t", "CREATE VIEW service_private.v AS SELECT 1",
		"ALTER TABLE t RENAME service_private.views",
		"INSERT INTO service_private.dashboard VALUES ('a', 'b', 0)",
		"INSERT INTO service_private.dashboard SELECT 'a', 'b', ts FROM t",
		"DELETE FROM service_private.dashboard", "DELETE FROM service_private.dashboard WHERE name = 'kept'",
		"TRUNCATE TABLE service_private.dashboard",
		"DROP TABLE service_private.dashboard", "DROP TABLE IF EXISTS service_private.dashboard",
		"ALTER TABLE service_private.dashboard ADD COLUMN c STRING",
		"ALTER TABLE service_private.dashboard MODIFY COLUMN definition BIGINT",
		"ALTER TABLE service_private.dashboard DROP COLUMN definition",
		"ALTER TABLE service_private.dashboard RENAME COLUMN definition TO d",
		"ALTER TABLE service_private.dashboard RENAME d", "ALTER TABLE service_private.dashboard SET 'ttl' = '1s'",
		"COPY service_private.dashboard FROM 'f.csv' WITH (FORMAT = 'csv')",
		"COMMENT ON TABLE service_private.dashboard IS 'x'",
		"ALTER DATABASE service_private SET 'append_mode' = 'true'", "DROP DATABASE service_private",
		"CREATE TABLE service_private.p (ts TIMESTAMP TIME INDEX, v DOUBLE) ENGINE = metric WITH ('physical_metric_table' = 'true')",
	} {
		ask := func(user, sql string) servertest.Answer {
			return h.Do("POST", "/v1/sql", "sql="+url.QueryEscape(sql),
				append(as(user), "Content-Type", "application/x-www-form-urlencoded")...)
		}
		h.Want(ask("admin",
			"CREATE TABLE IF NOT EXISTS t (ts TIMESTAMP TIME INDEX); INSERT INTO t VALUES (1); COPY t TO 'f.csv' WITH (FORMAT = 'csv')"), 200, "")
		h.Want(h.Do("POST", "/v1/dashboards/kept", "text", as("admin")...), 200, "")
		for _, user := range []string{"admin", "writer"} {
			if a := ask(user, sql); a.Status != 400 && (user == "admin" || a.Status != 403) {
				t.Errorf("%s by %s: %d %s", sql, user, a.Status, a.Body)
			}
		}
		h.Want(h.Do("GET", "/v1/dashboards/kept", "", as("admin")...), 200, `"definition":"text"`)
		untouched(sql)
	}
}

// breakOwn makes every table of the server's own as nobody may make it any more, of one column and others.
func breakOwn(t *testing.T, e *engine.Engine) {
	t.Helper()
	for _, name := range []string{engine.PipelinesTable, engine.ViewsTable, engine.DashboardsTable,
		engine.SlowQueriesTable, engine.MetadataTable, engine.ExemplarsTable} {
		s := &schema.Table{Name: schema.Name{DB: engine.PrivateDB, Table: name}, Time: 0, Engine: "mito",
			Columns: []schema.Column{
				{Name: "ts", Type: vector.Timestamp(3), Semantic: schema.Timestamp},
				{Name: "name", Type: vector.Int64Type, Nullable: true}}}
		if _, err := e.CreateTable(engine.AsServer(t.Context()), s); err != nil {
			t.Fatal(err)
		}
	}
}

// TestBrokenPrivateTables: a server whose tables an older program let others break sets them aside, says so and does
// its work, after a restart as well.
func TestBrokenPrivateTables(t *testing.T) {
	dir := t.TempDir()
	for start := range 2 {
		e, err := engine.Open(engine.Options{Dir: dir, MinFree: 1})
		if err != nil {
			t.Fatal(err)
		}
		if start == 0 {
			breakOwn(t, e)
		}
		h := servertest.On(t, e, nil)
		h.Want(h.Do("POST", "/v1/dashboards/d", "x"), 200, "")
		h.Want(h.Do("GET", "/v1/dashboards", ""), 200, `"definition":"x"`)
		h.Upload("p", "transform:\n  - field: ts\n    type: epoch, ms\n    index: timestamp\n")
		h.Want(h.Do("POST", "/v1/ingest?table=t&pipeline_name=p", `{"ts":1700000000000}`, "Content-Type",
			"application/json"), 200, "")
		h.Want(h.Do("POST", "/v1/pipelines/dryrun?pipeline_name=p", `[{"ts":1700000000000}]`, "Content-Type",
			"application/json"), 200, "")
		h.Execute(fmt.Sprintf("CREATE VIEW v%d AS SELECT 1 AS one", start))
		h.Want(h.SQL("SELECT one FROM v0"), 200, "[[1]]")
		described := protowire.AppendMessage(nil, 3, func(m []byte) []byte {
			return protowire.AppendBytes(protowire.AppendBytes(protowire.AppendVarint(m, 1, 1), 2, "up"), 4,
				"what is up")
		})
		example := protowire.AppendMessage(nil, 1, func(m []byte) []byte {
			m = protowire.AppendMessage(m, 1, func(l []byte) []byte {
				return protowire.AppendBytes(protowire.AppendBytes(l, 1, "__name__"), 2, "up")
			})
			return protowire.AppendMessage(m, 3, func(x []byte) []byte {
				x = protowire.AppendMessage(x, 1, func(l []byte) []byte {
					return protowire.AppendBytes(protowire.AppendBytes(l, 1, "trace_id"), 2, "abc")
				})
				return protowire.AppendVarint(protowire.AppendDouble(x, 2, 1), 3, 1000)
			})
		})
		h.Want(h.Do("POST", servertest.WritePath, servertest.Snappy(servertest.Message1(servertest.Up, 1), example,
			described)), 204, "")
		h.Want(h.Do("GET", "/v1/metricsapi/api/v1/metadata", ""), 200, `"what is up"`)
		h.Want(h.Do("GET", "/v1/metricsapi/api/v1/query_exemplars?query=up&start=0&end=9999999999", ""), 200,
			`"trace_id"`)
		a := h.Do("GET", "/status", "")
		for _, name := range []string{"pipelines", "views", "dashboard", "metric_metadata", "metric_exemplars"} {
			h.Want(a, 200, `{"table":"service_private.`+name+`.aside-1","reason":"the table has `)
		}
		if err := e.Close(context.Background(), false); err != nil {
			t.Fatal(err)
		}
	}
}

// TestBadRowsOfPrivateTables: rows that others wrote to tables of the server's own by an older program are passed over,
// one by one.
func TestBadRowsOfPrivateTables(t *testing.T) {
	e, err := engine.Open(engine.Options{Dir: t.TempDir(), MinFree: 1})
	if err != nil {
		t.Fatal(err)
	}
	defer e.Close(context.Background(), false)
	h := servertest.On(t, e, nil)
	h.Execute("CREATE VIEW good AS SELECT 1 AS one")
	h.Upload("p", servertest.Makes("a"))
	h.Want(h.Do("POST", "/v1/dashboards/d", "x"), 200, "")
	x := sqlexec.New(e, sqlexec.Options{})
	for _, sql := range []string{
		"INSERT INTO service_private.views (view_schema, view_name, definition, columns, ts) VALUES ('public', 'bad', 'SELEC', '[]', 0), ('public', 'worse', 'SELECT 1', 'x', 0), (NULL, NULL, NULL, NULL, 0)",
		"INSERT INTO service_private.pipelines (name, \"schema\", content_type, pipeline, created_at) VALUES ('bad', NULL, NULL, NULL, 1), (NULL, NULL, NULL, NULL, 2)",
		"INSERT INTO service_private.dashboard (name, definition, saved_at) VALUES (NULL, NULL, 0), ('none', NULL, 0)",
	} {
		list, err := parse.Parse(sql)
		if err != nil {
			t.Fatal(err)
		}
		if _, err := x.Execute(engine.AsServer(t.Context()), &sqlexec.Session{}, list[0]); err != nil {
			t.Fatalf("%s: %v", sql, err)
		}
	}
	h = servertest.On(t, e, nil)
	h.Want(h.SQL("SELECT one FROM good"), 200, "[[1]]")
	h.Want(h.SQL("SELECT one FROM bad"), 400, "4001")
	h.Want(h.SQL("SHOW VIEWS"), 200, `[["good"]]`)
	h.Want(h.Do("GET", "/v1/dashboards", ""), 200, `{"dashboards":[{"name":"d","definition":"x"}],`)
	h.Want(h.Do("POST", "/v1/ingest?table=t&pipeline_name=bad", "{}", "Content-Type", "application/json"), 400, "")
	h.Want(h.Do("POST", "/v1/ingest?table=t&pipeline_name=pp", "{}", "Content-Type", "application/json"), 400,
		"Pipeline not found")
	h.Want(h.Do("POST", "/v1/ingest?table=t&pipeline_name=p", `{"a":"x","ts":1}`, "Content-Type", "application/json"),
		200, "")
}
