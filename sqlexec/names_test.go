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
		{`CREATE TABLE u ("$" BIGINT, ts TIMESTAMP TIME INDEX)`, schema.MaxNameBytes + 1, "Invalid column name: 513 bytes, the limit is 512"},
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
