package sqlexec

import (
	"slices"
	"testing"
)

// TestTagWithDefault adds a tag with a default to a table with rows, in memory and in parts: they read the default, and
// an upsert of their key replaces them. An explicit NULL stays NULL, also of rows that are written later, and after
// merges.
func TestTagWithDefault(t *testing.T) {
	for _, c := range []struct{ name, typ, initial, other string }{
		{"text", "STRING", "'x'", "'y'"},
		{"empty text", "STRING", "''", "'y'"},
		{"zero bytes", "STRING", "'x\x00'", "'x'"},
		{"integer", "BIGINT", "0", "-1"},
		{"float", "DOUBLE", "1.5", "2"},
		{"boolean", "BOOLEAN", "false", "true"},
	} {
		for _, flush := range []string{"SELECT 1", "ADMIN flush_table('t')"} {
			t.Run(c.name+", "+flush, func(t *testing.T) {
				x := New(openStore(t), Options{Workers: 2})
				run := func(sql string) string { return outcomeOf(t, x, sql) }
				run("CREATE TABLE t (host STRING PRIMARY KEY, ts TIMESTAMP TIME INDEX, v BIGINT)")
				run("INSERT INTO t VALUES ('a', 1, 1), ('b', 1, 2), (NULL, 1, 3)")
				run(flush)
				run("ALTER TABLE t ADD COLUMN c " + c.typ + " DEFAULT " + c.initial + " PRIMARY KEY")
				check := func(when, where, want string) {
					t.Helper()
					got, err := answer(x, &Session{}, "SELECT sum(v) FROM t"+where, false)
					if err != nil || got.err != nil || got.rows[0][0] != want {
						t.Errorf("%s, %s: got %v, want %s: %v %v", when, where, got.rows, want, err, got.err)
					}
				}
				check("old rows", " WHERE c = "+c.initial, "6")
				check("old rows", " WHERE c IS NOT NULL", "6")
				run("INSERT INTO t VALUES ('a', 1, 10, " + c.initial + ")") // replaces
				run("INSERT INTO t (host, ts, v) VALUES ('b', 1, 20)")      // replaces
				run("INSERT INTO t VALUES ('b', 1, 40, " + c.other + "), ('b', 1, 80, NULL), (NULL, 1, 160, NULL)")
				for _, when := range []string{"SELECT 1", "ADMIN flush_table('t')", "ADMIN compact_table('t')"} {
					run(when)
					check(when, "", "313")
					check(when, " WHERE c = "+c.initial, "33")
					check(when, " WHERE c IN ("+c.initial+")", "33")
					check(when, " WHERE host = 'b' AND c = "+c.initial, "20")
					check(when, " WHERE host = 'b' AND c = "+c.other, "40")
					check(when, " WHERE host = 'b' AND c IS NULL", "80")
					check(when, " WHERE c IS NULL", "240")
					check(when, " WHERE host IS NULL AND c IS NOT NULL", "3")
					check(when, " WHERE c <> "+c.initial, "40")
				}
				run("DELETE FROM t WHERE host = 'a' AND c = " + c.initial)
				run("DELETE FROM t WHERE host = 'b' AND c IS NULL")
				check("after deletions", "", "223")
				run("ADMIN flush_table('t'); ADMIN compact_table('t')")
				check("after deletions and a merge", "", "223")
				got, err := answer(x, &Session{}, "SELECT count(*), count(c), count(DISTINCT c) FROM t", false)
				if err != nil || got.err != nil || !slices.Equal(got.rows[0], []string{"4", "3", "2"}) {
					t.Errorf("counts: %v, %v %v", got.rows, err, got.err)
				}
			})
		}
	}
}
