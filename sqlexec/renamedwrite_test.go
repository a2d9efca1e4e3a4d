package sqlexec

import (
	"context"
	"strings"
	"testing"

	"varve/sqlexec/parse"
)

// TestInsertAfterRename: columns exchange their names after an INSERT was planned and before it is written. Its values
// and the defaults of what it leaves out go to the columns that it meant, as those of a row that was there before.
func TestInsertAfterRename(t *testing.T) {
	for _, k := range []struct{ sql, row string }{
		{"INSERT INTO t VALUES (1, 2, 3)", "1 | 2"},
		{"INSERT INTO t (ts, a, b) VALUES (3, 1, 2)", "1 | 2"},
		{"INSERT INTO t (ts, b, a) SELECT 3, 2, 1", "1 | 2"},
		{"INSERT INTO t (ts) VALUES (3)", "7 | "},
		{"INSERT INTO t (ts, a) VALUES (3, DEFAULT)", "7 | "},
		{"INSERT INTO t (ts, b) VALUES (3, 2)", "7 | 2"},
	} {
		x, s, ctx := New(openStore(t), Options{Workers: 1}), &Session{}, context.Background()
		outcomeOf(t, x,
			"CREATE TABLE t (a BIGINT DEFAULT 7, b BIGINT, ts TIMESTAMP TIME INDEX) WITH (append_mode = 'true');")
		before, err := x.table(s, parse.Name{{Name: "t"}})
		if err != nil {
			t.Fatal(err)
		}
		for _, rename := range []string{"a TO x", "b TO a", "x TO b"} {
			outcomeOf(t, x, "ALTER TABLE t RENAME COLUMN "+rename+";")
		}
		st, err := parse.Parse(k.sql)
		if err != nil {
			t.Fatal(err)
		}
		if _, err := x.insertAs(ctx, s, st[0].(*parse.Insert), before.Schema); err != nil {
			t.Errorf("%s: %v", k.sql, err)
		}
		if got := strings.Join(rowsOf(t, x, s, "SELECT b, a FROM t"), ";"); got != k.row {
			t.Errorf("%s: %q, want %q", k.sql, got, k.row)
		}
	}
}
