package server

import (
	"fmt"
	"net/url"
	"strings"
	"testing"
)

// TestWriterSeesNoValues loads files of stored rows into tables of every other type: the errors show the values to a user
// who may read, and none to one who may only write.
func TestWriterSeesNoValues(t *testing.T) {
	h := real(t, func(o *Options) {
		o.Users = users(t, "static_user_provider:cmd:admin=admin_pwd,writer:wo=writer_pwd")
	})
	ask := func(user, sql string) answer {
		t.Helper()
		return h.do("POST", "/v1/sql", "sql="+url.QueryEscape(sql), "Content-Type", "application/x-www-form-urlencoded", "Authorization", basic(user, user+"_pwd"))
	}
	types := []string{"BIGINT", "BIGINT UNSIGNED", "TINYINT", "DOUBLE", "BOOLEAN", "DATE", "TIMESTAMP(0)", "DECIMAL(3, 1)", "JSON", "BINARY", "STRING"}
	columns := []struct{ name, typ, value, shown string }{
		{"s", "STRING", "'top-secret'", "top-secret"}, {"i", "BIGINT", "481516", "481516"}, {"f", "DOUBLE", "3.14159", "3.14159"},
		{"b", "BINARY", "x'c0ffee'", "c0ffee"}, {"j", "JSON", `'{"k":"hush"}'`, "hush"}, {"d", "DATE", "'2021-03-04'", "2021-03-04"},
		{"n", "DECIMAL(10, 2)", "27182.81", "27182.81"}, {"at", "TIMESTAMP(3)", "'2022-05-06 07:08:09.5'", "2022-05-06"},
	}
	var defs, values []string
	for _, c := range columns {
		defs, values = append(defs, c.name+" "+c.typ), append(values, c.value)
	}
	h.want(ask("admin", fmt.Sprintf("CREATE TABLE src (%s, ts TIMESTAMP TIME INDEX); INSERT INTO src VALUES (%s, 1)", strings.Join(defs, ", "), strings.Join(values, ", "))), 200, "")
	for _, format := range []string{"csv", "json", "parquet"} {
		h.want(ask("admin", "COPY src TO 'f."+format+"' WITH (FORMAT = '"+format+"')"), 200, `"affectedrows":1`)
	}
	shown := 0
	for _, c := range columns {
		for _, typ := range types {
			h.want(ask("admin", fmt.Sprintf("DROP TABLE IF EXISTS t; CREATE TABLE t (%s %s, ts TIMESTAMP TIME INDEX)", c.name, typ)), 200, "")
			for _, format := range []string{"csv", "json", "parquet"} {
				sql := "COPY t FROM 'f." + format + "' WITH (FORMAT = '" + format + "')"
				if a := ask("admin", sql); a.status == 200 {
					continue
				} else if strings.Contains(a.body, c.shown) {
					shown++
				}
				a := ask("writer", sql)
				h.want(a, 400, "")
				if strings.Contains(a.body, c.shown) || strings.Contains(a.header.Get("x-service-err-msg"), c.shown) {
					t.Errorf("%s of %s into %s tells a user who may only write: %s", format, c.typ, typ, a.body)
				}
			}
		}
	}
	if shown < 50 {
		t.Errorf("only %d errors show values to a user who may read them", shown)
	}
}
