package server_test

import (
	"context"
	"errors"
	"os"
	"strings"
	"testing"

	"varve/engine"
	"varve/engine/schema"
	"varve/server"
	"varve/server/protowire"
	"varve/server/read/slowquery"
	"varve/server/rules"
	"varve/server/servertest"
	"varve/server/write/rows/rejects"
	"varve/sqlexec"
	"varve/sqlexec/parse"
)

// ownTables are the server's own tables, by name.
var ownTables = []string{
	engine.DashboardsTable, engine.ExemplarsTable, engine.MetadataTable, engine.PipelinesTable, engine.RejectedTable,
	engine.AlertsTable, engine.RulesTable, engine.SlowQueriesTable, engine.ViewsTable,
}

// keeping is a server on a store that keeps what a server can keep, and its log of rejects.
func keeping(t *testing.T, e *engine.Engine) (*servertest.House, *rejects.Log) {
	t.Helper()
	left := rejects.New(e, nil)
	return servertest.On(t, e, func(o *server.Options) {
		o.Rows.Rejects = left
		o.Slow = slowquery.New(slowquery.Options{Store: e, TTL: "30d", Ratio: 1})
		o.Query.Executor = sqlexec.New(e, sqlexec.Options{Ended: o.Slow.Ended})
		var err error
		r := rules.Options{Store: e, Samples: o.Metrics.Samples, SQL: o.Query.Executor}
		if o.Rules, err = rules.New(r); err != nil {
			t.Fatal(err)
		}
		o.Rules.Start()
	}), left
}

// keep has a server keep something in each of its own tables, under a name.
func keep(h *servertest.House, left *rejects.Log, name string) {
	h.Helper()
	h.Want(h.Do("POST", "/v1/dashboards/"+name, "drawn"), 200, "")
	h.Upload(name, "transform:\n  - field: ts\n    type: epoch, ms\n    index: timestamp\n")
	h.Execute("CREATE VIEW " + name + " AS SELECT 1 AS one")
	h.Want(h.Do("PUT", "/v1/rules/"+name, "groups: [{name: g, interval: 50ms, rules: [{alert: "+name+
		", expr: vector(1)}]}]"), 200, "")
	fired := "SELECT count(*) FROM service_private.rule_alerts WHERE rule = '" + name + "'"
	h.Eventually(func() bool { return strings.Contains(h.SQL(fired).Body, "[[1]]") })
	described := protowire.AppendMessage(nil, 3, func(m []byte) []byte {
		m = protowire.AppendBytes(protowire.AppendVarint(m, 1, 1), 2, name+"_total")
		return protowire.AppendBytes(m, 4, "what it is")
	})
	sample := func(m []byte) []byte {
		return protowire.AppendMessage(m, 2, func(s []byte) []byte {
			return protowire.AppendVarint(protowire.AppendDouble(s, 1, 1), 2, 1000)
		})
	}
	series := servertest.Series1([]string{"__name__", name + "_total"}, sample,
		servertest.Exemplar1(0.5, 1500, "trace_id", name))
	h.Want(h.Do("POST", servertest.WritePath, servertest.Snappy(series, described)), 204, "")
	if err := left.Add(h.Context(),
		[]rejects.Entry{{Protocol: "forward", Table: name, Why: errors.New("no time"),
			Text: []byte("an entry")}}); err != nil {
		h.Fatal(err)
	}
}

// kept checks that a server has what keep had kept under a name.
func kept(h *servertest.House, name string) {
	h.Helper()
	h.Want(h.Do("GET", "/v1/dashboards/"+name, ""), 200, `"definition":"drawn"`)
	h.Want(h.Do("POST", "/v1/ingest?table=t&pipeline_name="+name, `{"ts":1700000000000}`, "Content-Type",
		"application/json"), 200, "")
	h.Want(h.SQL("SELECT one FROM "+name), 200, "[[1]]")
	h.Want(h.Do("GET", "/v1/rules/"+name, ""), 200, "alert: "+name)
	h.Holds("SELECT count(*), min(ended_at) FROM service_private.rule_alerts WHERE rule = '"+name+"'", "[[1 <nil>]]")
	h.Want(h.Do("GET", "/v1/metricsapi/api/v1/metadata?metric="+name+"_total", ""), 200, `"what it is"`)
	h.Want(h.Do("GET", "/v1/metricsapi/api/v1/query_exemplars?query="+name+"_total&start=0&end=9999999999", ""), 200,
		`"trace_id":"`+name)
	h.Holds(`SELECT "protocol", reason, entry FROM service_private.rejected WHERE "table" = '`+name+"'",
		"[[forward no time an entry]]")
}

// definitions are the statements that make the server's own tables as they are.
func definitions(h *servertest.House) string {
	h.Helper()
	var all strings.Builder
	for _, name := range ownTables {
		all.WriteString(h.Ask("SHOW CREATE TABLE service_private." + name)[0][1].(string) + ";\n\n")
	}
	return all.String()
}

// TestFormsOfPrivateTables: the server makes its own tables as it always has: stores keep them for years. A store with
// such tables keeps what is in them, and so does one whose tables were made before columns came to them.
func TestFormsOfPrivateTables(t *testing.T) {
	const file = "testdata/private.sql"
	golden, err := os.ReadFile(file)
	if err != nil {
		t.Fatal(err)
	}
	older := strings.NewReplacer("  \"database_made\" BIGINT NULL,\n", "", "  \"table_id\" BIGINT NULL,\n",
		"", "  \"keep_since\" TIMESTAMP(3) NULL,\n", "").Replace(string(golden))
	if older == string(golden) {
		t.Fatal("no column came later")
	}
	for _, c := range []struct{ name, made string }{{"new", ""}, {"of today", string(golden)}, {"of before", older}} {
		t.Run(c.name, func(t *testing.T) {
			dir := t.TempDir()
			for start := range 3 {
				e, err := engine.Open(engine.Options{Dir: dir, MinFree: 1})
				if err != nil {
					t.Fatal(err)
				}
				if start == 0 {
					makeOwn(t, e, c.made)
				}
				h, left := keeping(t, e)
				name := []string{"first", "second", "third"}[start]
				keep(h, left, name)
				for _, before := range []string{"first", "second", "third"}[:start+1] {
					kept(h, before)
				}
				h.Slow.Close(t.Context())
				h.Holds("SELECT count(*) > 0 FROM service_private.slow_queries WHERE query LIKE '%"+name+"%'",
					"[[true]]")
				if got := definitions(h); c.made != older && got != string(golden) {
					t.Errorf("the tables are made as\n%s\nwant as %s says", got, file)
				}
				if aside := e.TablesAside(); len(aside) > 0 {
					t.Errorf("set aside: %v", aside)
				}
				if err := e.Close(context.Background(), false); err != nil {
					t.Fatal(err)
				}
			}
		})
	}
}

// makeOwn makes tables in the server's own name by statements.
func makeOwn(t *testing.T, e *engine.Engine, statements string) {
	t.Helper()
	list, err := parse.Parse(statements)
	if err != nil && statements != "" {
		t.Fatal(err)
	}
	x := sqlexec.New(e, sqlexec.Options{})
	for _, st := range list {
		if _, err := x.Execute(engine.AsServer(t.Context()), &sqlexec.Session{DB: engine.PrivateDB}, st); err != nil {
			t.Fatal(err)
		}
	}
	for _, name := range ownTables {
		_, err := e.Table(schema.Name{DB: engine.PrivateDB, Table: name})
		if (err == nil) != (statements != "") {
			t.Fatalf("%s is made: %v", name, err)
		}
	}
}
