package server_test

import (
	"fmt"
	"net/url"
	"strings"
	"testing"

	"varve/server"
	"varve/server/servertest"
)

// TestWriterSeesNoValues loads files of stored rows into tables of every other type: the errors show the values to a
// user who may read, and none to one who may only write.
func TestWriterSeesNoValues(t *testing.T) {
	h := servertest.Real(t, func(o *server.Options) {
		o.Users = servertest.Users(t, "static_user_provider:cmd:admin=admin_pwd,writer:wo=writer_pwd")
	})
	ask := func(user, sql string) servertest.Answer {
		t.Helper()
		return h.Do("POST", "/v1/sql", "sql="+url.QueryEscape(sql), "Content-Type", "application/x-www-form-urlencoded",
			"Authorization", servertest.Basic(user, user+"_pwd"))
	}
	types := []string{"BIGINT", "BIGINT UNSIGNED", "TINYINT", "DOUBLE", "BOOLEAN", "DATE", "TIMESTAMP(0)",
		"DECIMAL(3, 1)", "JSON", "BINARY", "STRING"}
	columns := []struct{ name, typ, value, shown string }{
		{"s", "STRING", "'top-secret'", "top-secret"}, {"i", "BIGINT", "481516", "481516"},
		{"f", "DOUBLE", "3.14159", "3.14159"},
		{"b", "BINARY", "x'c0ffee'", "c0ffee"}, {"j", "JSON", `'{"k":"hush"}'`, "hush"},
		{"d", "DATE", "'2021-03-04'", "2021-03-04"},
		{"n", "DECIMAL(10, 2)", "27182.81", "27182.81"},
		{"at", "TIMESTAMP(3)", "'2022-05-06 07:08:09.5'", "2022-05-06"},
	}
	var defs, values []string
	for _, c := range columns {
		defs, values = append(defs, c.name+" "+c.typ), append(values, c.value)
	}
	h.Want(ask("admin", fmt.Sprintf("CREATE TABLE src (%s, ts TIMESTAMP TIME INDEX); INSERT INTO src VALUES (%s, 1)",
		strings.Join(defs, ", "), strings.Join(values, ", "))), 200, "")
	for _, format := range []string{"csv", "json", "parquet"} {
		h.Want(ask("admin", "COPY src TO 'f."+format+"' WITH (FORMAT = '"+format+"')"), 200, `"affectedrows":1`)
	}
	shown := 0
	for _, c := range columns {
		for _, typ := range types {
			h.Want(ask("admin", fmt.Sprintf("DROP TABLE IF EXISTS t; CREATE TABLE t (%s %s, ts TIMESTAMP TIME INDEX)",
				c.name, typ)), 200, "")
			for _, format := range []string{"csv", "json", "parquet"} {
				sql := "COPY t FROM 'f." + format + "' WITH (FORMAT = '" + format + "')"
				if a := ask("admin", sql); a.Status == 200 {
					continue
				} else if strings.Contains(a.Body, c.shown) {
					shown++
				}
				a := ask("writer", sql)
				h.Want(a, 400, "")
				if strings.Contains(a.Body, c.shown) || strings.Contains(a.Header.Get("x-service-err-msg"), c.shown) {
					t.Errorf("%s of %s into %s tells a user who may only write: %s", format, c.typ, typ, a.Body)
				}
			}
		}
	}
	if shown < 50 {
		t.Errorf("only %d errors show values to a user who may read them", shown)
	}
}

// TestHintsNameWhatMayBeRead: names of tables, views and pipelines that an error suggests are for users who may read
// them; who may only write gets the error without.
func TestHintsNameWhatMayBeRead(t *testing.T) {
	h := servertest.Real(t, func(o *server.Options) {
		o.Users = servertest.Users(t, "static_user_provider:cmd:admin=admin_pwd,writer:wo=writer_pwd")
	})
	do := func(user, method, path, body, kind string) servertest.Answer {
		t.Helper()
		return h.Do(method, path, body, "Content-Type", kind, "Authorization", servertest.Basic(user, user+"_pwd"))
	}
	ask := func(user, sql string) servertest.Answer {
		t.Helper()
		return do(user, "POST", "/v1/sql", "sql="+url.QueryEscape(sql), "application/x-www-form-urlencoded")
	}
	h.Want(ask("admin",
		"CREATE TABLE salaries (ts TIMESTAMP TIME INDEX, amount INT); CREATE VIEW bonuses AS SELECT ts FROM salaries; CREATE DATABASE payroll"), 200, "")
	h.Want(do("admin", "POST", "/v1/pipelines/redact",
		"version: 2\nprocessors:\n  - date:\n      fields: [at]\n      formats: ['%Y-%m-%d']\n",
		"application/x-yaml"), 200, "redact")
	hints := 0
	same := func(name string, request func(user string) servertest.Answer) {
		t.Helper()
		told := func(user string) bool {
			a := request(user)
			if a.Status < 400 {
				t.Errorf("%s: %d, want an error", name, a.Status)
			}
			text := a.Body + a.Header.Get("x-service-err-msg")
			for _, stored := range []string{"salaries", "bonuses", "payroll", "redact", "amount"} {
				if strings.Contains(text, stored) {
					return true
				}
			}
			return false
		}
		if told("admin") {
			hints++
		}
		if told("writer") {
			t.Errorf("%s: a user who may only write is told a name: %s", name, request("writer").Body)
		}
	}
	for _, sql := range []string{
		"INSERT INTO salarie VALUES (1, 2)", "INSERT INTO bonuse VALUES (1)", "INSERT INTO salarie (ts) VALUES (1)",
		"REPLACE INTO salarie VALUES (1, 2)",
		"DELETE FROM salarie", "TRUNCATE TABLE salarie", "DROP TABLE salarie", "DROP VIEW bonuse",
		"ALTER TABLE salarie ADD COLUMN x INT",
		"CREATE TABLE other LIKE salarie", "COMMENT ON TABLE salarie IS 'x'", "COPY salarie FROM 'f.csv'",
		"ADMIN flush_table('salarie')", "ADMIN compact_table('salarie')",
		"USE payrol", "DROP DATABASE payrol", "INSERT INTO payrol.salaries2 VALUES (1)",
		"EXPLAIN ANALYZE INSERT INTO salarie VALUES (1, 2)",
		"INSERT INTO salaries (amoun) VALUES (1)", "ALTER TABLE salaries DROP COLUMN amoun",
		"ALTER TABLE salaries RENAME COLUMN amoun TO x", "COMMENT ON COLUMN salaries.amoun IS 'x'",
	} {
		if strings.Contains(sql, "salaries") { // the request names the table itself
			for _, user := range []string{"admin", "writer"} {
				if a := ask(user, sql); user == "writer" &&
					strings.Contains(strings.ReplaceAll(a.Body, "amoun'", ""), "amount") {
					t.Errorf("%s: a user who may only write is told a column: %s", sql, a.Body)
				}
			}
			continue
		}
		same(sql, func(user string) servertest.Answer { return ask(user, sql) })
	}
	same("a pipeline", func(user string) servertest.Answer {
		return do(user, "POST", "/v1/ingest?pipeline_name=redcat&table=t", `{"at":1}`, "application/json")
	})
	if hints < 8 {
		t.Errorf("only %d errors tell a name to a user who may read", hints)
	}
	h.Want(do("writer", "POST", "/v1/ingest?pipeline_name=service_identty&table=t", `{"at":1}`, "application/json"),
		400, "Did you mean 'service_identity'?")
}
