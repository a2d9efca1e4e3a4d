package sqlexec

import (
	"strings"
	"testing"

	"varve/engine/schema"
	"varve/engine/status"
)

// TestLongNames: SQL takes the names that other writers may make, and none that the store would refuse.
func TestLongNames(t *testing.T) {
	x, s := New(openStore(t), Options{Workers: 1}), &Session{}
	named := func(sql string, size int) string { return strings.ReplaceAll(sql, "$", strings.Repeat("n", size)) }
	script(t, x, s, named(`CREATE TABLE t ("$" BIGINT, ts TIMESTAMP TIME INDEX)`, schema.MaxNameBytes))
	script(t, x, s, named(`ALTER TABLE t RENAME COLUMN "$" TO v`, schema.MaxNameBytes))
	script(t, x, s, named(`ALTER TABLE t RENAME COLUMN v TO "$"`, schema.MaxNameBytes))
	script(t, x, s, named(`CREATE TABLE made AS SELECT "$", ts FROM t`, schema.MaxNameBytes))
	script(t, x, s, named(`CREATE VIEW $ AS SELECT 1`, 240))
	script(t, x, s, named(`CREATE TABLE x$ (ts TIMESTAMP TIME INDEX)`, 239))
	for _, c := range []struct {
		sql  string
		size int
		want string
	}{
		{`CREATE TABLE u ("$" BIGINT, ts TIMESTAMP TIME INDEX)`, schema.MaxNameBytes + 1,
			"Invalid column name: 513 bytes, the limit is 512"},
		{`CREATE TABLE $ (ts TIMESTAMP TIME INDEX)`, 241, "Invalid table name: 241 bytes"},
		{`CREATE VIEW $ AS SELECT 1`, 241, "Invalid view name: 241 bytes"},
		{`CREATE DATABASE $`, 241, "Invalid database name: 241 bytes"},
		{`ALTER TABLE t RENAME $`, 241, "Invalid table name: 241 bytes"},
	} {
		o, err := answer(x, s, named(c.sql, c.size), false)
		if err != nil {
			t.Fatal(err)
		}
		if status.Of(o.err) != status.InvalidArguments || !strings.Contains(o.err.Error(), c.want) {
			t.Errorf("%s with %d bytes: %v, want %q", c.sql, c.size, o.err, c.want)
		}
	}
}

// TestNameRules holds every statement that gives a name to the characters that names of tables, views and databases
// have.
func TestNameRules(t *testing.T) {
	x := New(openStore(t), Options{Workers: 1})
	outcomeOf(t, x, "CREATE TABLE t (ts TIMESTAMP TIME INDEX); CREATE TABLE other (ts TIMESTAMP TIME INDEX)")
	statements := []string{
		`CREATE TABLE $ (ts TIMESTAMP TIME INDEX)`, `CREATE TABLE IF NOT EXISTS $ (ts TIMESTAMP TIME INDEX)`,
		`CREATE TABLE public.$ LIKE t`,
		`CREATE OR REPLACE TABLE $ (ts TIMESTAMP TIME INDEX)`, `CREATE TABLE $ AS SELECT * FROM t`,
		`ALTER TABLE other RENAME $`,
		`ALTER TABLE other RENAME TO public.$`, `CREATE DATABASE $`, `CREATE DATABASE IF NOT EXISTS $`,
		`CREATE VIEW $ AS SELECT 1`,
		`CREATE OR REPLACE VIEW $ AS SELECT 1`,
	}
	for _, name := range []string{"🕶️", "㊙️database", "a b", "a%b", "a/b", "a\tb", "a'b", "a(b", "\u00a0", "\u0301a",
		"a\u200bb", "½"} {
		for _, s := range statements {
			refused(t, x, strings.Replace(s, "$", `"`+name+`"`, 1), "Invalid", status.InvalidArguments)
		}
	}
	for i, name := range []string{"表", "größe", "हिन्दी", "a.b:c-d@e#f", "1a", "٣"} {
		for _, s := range []string{`CREATE TABLE $ (ts TIMESTAMP TIME INDEX); DROP TABLE $`, `CREATE DATABASE $`,
			`ALTER TABLE t RENAME $; ALTER TABLE $ RENAME t`, `CREATE VIEW $ AS SELECT 1`} {
			outcomeOf(t, x, strings.ReplaceAll(s, "$", `"`+name+`"`))
		}
		if t.Failed() {
			t.Fatalf("name %d", i)
		}
	}
}
