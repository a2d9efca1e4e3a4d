package sqlexec

import (
	"context"
	"strings"
	"testing"

	"varve/sqlexec/parse"
)

// TestInsertAfterDrop: a column is dropped after an INSERT was planned and before it is written. A statement that
// leaves it out does what it would do now, one that names it says that this column is missing.
func TestInsertAfterDrop(t *testing.T) {
	x, s, ctx := New(openStore(t), Options{Workers: 2}), &Session{}, context.Background()
	outcomeOf(t, x,
		"CREATE TABLE t (a BIGINT, b BIGINT, c BIGINT, ts TIMESTAMP(3) TIME INDEX) WITH (append_mode = 'true');")
	before, err := x.table(s, parse.Name{{Name: "t"}})
	if err != nil {
		t.Fatal(err)
	}
	outcomeOf(t, x, "ALTER TABLE t DROP COLUMN b;")
	for _, k := range []struct{ sql, fails string }{
		{"INSERT INTO t (ts, a) VALUES (1, 2)", ""},
		{"INSERT INTO t (ts, c) SELECT 2, 3", ""},
		{"INSERT INTO t (ts, b, c) VALUES (3, 4, 5)", "b"},
		{"INSERT INTO t (ts, b) SELECT 3, 4", "b"},
	} {
		st, err := parse.Parse(k.sql)
		if err != nil {
			t.Fatal(err)
		}
		_, err = x.insertAs(ctx, s, st[0].(*parse.Insert), before.Schema)
		switch {
		case k.fails == "" && err != nil:
			t.Errorf("%s: %v", k.sql, err)
		case k.fails != "" && (err == nil || !strings.Contains(err.Error(), "Column "+k.fails)):
			t.Errorf("%s: %v, want one that names column %s", k.sql, err, k.fails)
		}
	}
	if got := rowsOf(t, x, s, "SELECT a, c FROM t "); strings.Join(got, ";") != " | 3;2 | " {
		t.Errorf("rows: %q", got)
	}
}
