package sqlexec

import (
	"context"
	"strings"
	"testing"

	"varve/engine/status"
)

// TestErrorPlace holds the place that errors of meaning name: the innermost expression, the name of the table, in the
// text of the whole request.
func TestErrorPlace(t *testing.T) {
	x := New(openStore(t), Options{Workers: 2})
	s := &Session{}
	script(t, x, s,
		`CREATE TABLE cpu (host STRING, ts TIMESTAMP TIME INDEX, usage DOUBLE, PRIMARY KEY (host)); CREATE VIEW v AS SELECT nope.host AS h FROM cpu nope;
		CREATE TABLE places ("a.b" INT, ts TIMESTAMP TIME INDEX); CREATE VIEW seen AS SELECT ts FROM places`)
	for _, c := range []struct {
		sql  string
		code status.Code
		want string // name and place
	}{
		{"SELECT * FROM nope", status.TableNotFound, "service.public.nope (line 1, column 15)"},
		{"SELECT 1;\nSELECT host,\n  nöpe FROM cpu", status.PlanQuery,
			"No field named nöpe. Valid fields are cpu.host, cpu.ts, cpu.usage. (line 3, column 3)"},
		{"SELECT count(*) FROM cpu WHERE lower(hots) = 'a'", status.PlanQuery,
			"Did you mean 'cpu.host'? (line 1, column 38)"},
		{"SELECT host FROM cpu GROUP BY nope", status.PlanQuery,
			"nope. Valid fields are cpu.host, cpu.ts, cpu.usage. (line 1, column 31)"},
		{"SELECT host FROM cpu ORDER BY sum(nope)", status.PlanQuery, "(line 1, column 35)"},
		{"SELECT frobnicate(usage) FROM cpu", status.PlanQuery, "Invalid function 'frobnicate'. (line 1, column 8)"},
		{"SELECT frobnicate() OVER (ORDER BY ts) FROM cpu", status.PlanQuery,
			"Invalid function 'frobnicate'. (line 1, column 8)"},
		{"SELECT * FROM (SELECT nope FROM cpu)", status.PlanQuery, "(line 1, column 23)"},
		{"EXPLAIN SELECT nope FROM cpu", status.PlanQuery, "(line 1, column 16)"},
		{"SELECT nope FROM v", status.PlanQuery, "(line 1, column 8)"},
		{"INSERT INTO cpu (nope) VALUES (1)", status.TableColumnNotFound,
			"Column nope not found in table service.public.cpu (line 1, column 18)"},
		{"INSERT INTO nope VALUES (1)", status.TableNotFound,
			"Table not found: service.public.nope (line 1, column 13)"},
		{"INSERT INTO plases VALUES (1)", status.TableNotFound,
			"Table not found: service.public.plases. Did you mean 'places'? (line 1, column 13)"},
		{"SELECT 1 FROM plases", status.TableNotFound,
			"Failed to plan SQL: Table not found: service.public.plases. Did you mean 'places'? (line 1, column 15)"},
		{"SELECT 1 FROM seem", status.TableNotFound,
			"Failed to plan SQL: Table not found: service.public.seem. Did you mean 'seen'? (line 1, column 15)"},
		{"DESC information_schema.colums", status.TableNotFound,
			"Table not found: service.information_schema.colums. Did you mean 'columns'? (line 1, column 6)"},
		{"SELECT a.b FROM places", status.PlanQuery, `Did you mean '"a.b"'? (line 1, column 8)`},
		{"DROP TABLE nope", status.TableNotFound, "Table not found: service.public.nope (line 1, column 12)"},
		{"DESC TABLE nope", status.TableNotFound, "Table not found: service.public.nope (line 1, column 12)"},
		{"ADMIN flush_table('nope')", status.TableNotFound, "Table not found: service.public.nope (line 1, column 19)"},
		{"ALTER TABLE cpu DROP COLUMN nope", status.TableColumnNotFound,
			"Column nope not found in table service.public.cpu (line 1, column 29)"},
		{"CREATE TABLE t (ts TIMESTAMP TIME INDEX, b FOO)", status.InvalidSyntax,
			"unknown data type FOO (line 1, column 44)"},
		{"SELECT CAST(usage AS FOO) FROM cpu", status.InvalidSyntax, "unknown data type FOO (line 1, column 22)"},
		{"USE nodb", status.DatabaseNotFound, "Database not found: nodb (line 1, column 5)"},
		{"DROP DATABASE nodb", status.DatabaseNotFound, "Database not found: nodb (line 1, column 15)"},
		{"SELECT usage FROM cpu WHERE ts > 'soon'", status.InvalidSyntax, "is not a timestamp (line 1, column 34)"},
	} {
		t.Run(c.sql, func(t *testing.T) {
			list, err := x.Parse(c.sql)
			if err != nil {
				t.Fatal(err)
			}
			r, err := x.Execute(context.Background(), s, list[len(list)-1])
			if err == nil {
				_, err = read(r)
			}
			if status.Of(err) != c.code || !strings.HasSuffix(err.Error(), c.want) {
				t.Errorf("got %v %v\nwant %v ...%s", status.Of(err), err, c.code, c.want)
			}
		})
	}
	t.Run("a view whose table is gone", func(t *testing.T) { // its place is in another text
		script(t, x, s, "DROP TABLE cpu")
		list, err := x.Parse("SELECT * FROM v")
		if err != nil {
			t.Fatal(err)
		}
		if _, err = x.Execute(context.Background(), s, list[0]); status.Of(err) != status.TableNotFound ||
			!strings.HasSuffix(err.Error(), "service.public.cpu") {
			t.Errorf("got %v", err)
		}
	})
}
