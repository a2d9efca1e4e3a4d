package sqlexec

import (
	"context"
	"testing"

	"varve/engine"
	"varve/engine/vfs"
)

// TestAlterToInstant holds that a table whose time to live becomes instant loses the rows that it has, for good,
// wherever they are, and a physical table those of all tables in it.
func TestAlterToInstant(t *testing.T) {
	const table = "CREATE TABLE t (ts TIMESTAMP TIME INDEX, v INT);"
	const physical = `CREATE TABLE phy (ts TIMESTAMP TIME INDEX, v DOUBLE) ENGINE=metric WITH ('physical_metric_table' = '');
		CREATE TABLE t (ts TIMESTAMP TIME INDEX, v DOUBLE) ENGINE=metric WITH ('on_physical_table' = 'phy');`
	for _, c := range []struct{ name, create, before, after, altered string }{
		{"in memory", table, "", "", "t"},
		{"flushed", table, "ADMIN flush_table('t')", "", "t"},
		{"half flushed", table, "ADMIN flush_table('t'); INSERT INTO t VALUES (3, 3)", "", "t"},
		{"in memory, physical", physical, "", "", "phy"},
		{"flushed, physical", physical, "ADMIN flush_table('t')", "", "phy"},
		{"switched back before a flush", table, "", "ALTER TABLE t SET 'ttl' = '5y'; ADMIN flush_table('t')", "t"},
		{"renamed as well", table, "", "ALTER TABLE t RENAME u; ALTER TABLE u RENAME t", "t"},
	} {
		t.Run(c.name, func(t *testing.T) {
			fs := vfs.NewMem()
			open := func() (*engine.Engine, *Executor) {
				e, err := engine.Open(engine.Options{FS: fs, Dir: "data", NoBackground: true, MinFree: 1})
				if err != nil {
					t.Fatal(err)
				}
				return e, New(e, Options{Workers: 1})
			}
			count := func(x *Executor, state, want string) {
				t.Helper()
				got, err := answer(x, &Session{}, "SELECT count(*), min(v) IS NULL FROM t", false)
				if err != nil || got.err != nil || got.rows[0][0] != want {
					t.Errorf("%s: %v, want %s rows: %v %v", state, got.rows, want, err, got.err)
				}
			}
			e, x := open()
			outcomeOf(t, x, c.create+"INSERT INTO t VALUES (1, 1), (now(), 2);"+c.before)
			outcomeOf(t, x, "ALTER TABLE "+c.altered+" SET 'ttl' = 'instant'")
			count(x, "after ALTER", "0")
			if c.after != "" {
				outcomeOf(t, x, c.after)
				count(x, "later", "0")
			} else {
				if got, err := answer(x, &Session{}, "INSERT INTO t VALUES (4, 4)", false); err != nil ||
					got.err != nil || got.affected != 0 {
					t.Errorf("INSERT: %d affected, want 0: %v %v", got.affected, err, got.err)
				}
			}
			if err := e.Close(context.Background(), false); err != nil {
				t.Fatal(err)
			}
			e, x = open()
			count(x, "after a restart", "0")
			outcomeOf(t, x, "ALTER TABLE "+c.altered+" UNSET 'ttl'; INSERT INTO t VALUES (5, 5)")
			count(x, "switched back", "1")
			if err := e.Close(context.Background(), false); err != nil {
				t.Error(err)
			}
		})
	}
}
