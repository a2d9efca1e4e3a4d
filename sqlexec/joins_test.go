package sqlexec

import (
	"fmt"
	"slices"
	"strings"
	"testing"

	"varve/engine/status"
)

// rowsOf are the rows of a query that must succeed, sorted.
func rowsOf(t *testing.T, x *Executor, s *Session, sql string) []string {
	t.Helper()
	o, err := answer(x, s, sql, false)
	if err != nil || o.err != nil {
		t.Fatalf("%s: %v %v (%d)", sql, err, o.err, status.Of(o.err))
	}
	var out []string
	for _, r := range o.rows {
		out = append(out, strings.Join(r, " | "))
	}
	slices.Sort(out)
	return out
}

// TestJoinSides: a join gives the same rows whichever side is kept, for every kind, with NULL keys, duplicate keys and
// a further condition. The large table is streamed on either side of the join.
func TestJoinSides(t *testing.T) {
	x := New(openStore(t), Options{Workers: 2})
	s := &Session{}
	script(t, x, s,
		`CREATE TABLE few (ts TIMESTAMP TIME INDEX, k BIGINT, h STRING, n BIGINT) WITH ('append_mode'='true');
		CREATE TABLE many (ts TIMESTAMP TIME INDEX, k BIGINT, h STRING, m BIGINT) WITH ('append_mode'='true');
		INSERT INTO few SELECT number, CASE WHEN number % 7 = 0 THEN NULL ELSE number % 50 * 100 END, concat('h', number % 40), number FROM generate_series(0, 99) AS n(number);
		INSERT INTO many SELECT number, CASE WHEN number % 11 = 0 THEN NULL ELSE number % 6000 END, concat('h', number % 900), number FROM generate_series(0, 29999) AS n(number)`)
	all := func(sql string) []string { return rowsOf(t, x, s, sql) }
	// The sides of the second form are kept the other way round: a limit that cuts nothing hides the size of a table.
	for _, c := range []struct{ a, b string }{
		{"few f", "(SELECT * FROM many LIMIT 100000) m"}, {"(SELECT * FROM few LIMIT 100) f", "many m"},
	} {
		for _, on := range []string{"f.k = m.k", "f.h = m.h", "f.k = m.k AND f.h = m.h",
			"f.k = m.k AND f.n < m.m - 20000"} {
			inner := all(fmt.Sprintf("SELECT f.n, m.m FROM %s JOIN %s ON %s", c.a, c.b, on))
			if got := all(fmt.Sprintf("SELECT f.n, m.m FROM %s JOIN %s ON %s", c.b, c.a, on)); !slices.Equal(got,
				inner) {
				t.Errorf("ON %s: the exchanged join has %d rows, want %d", on, len(got), len(inner))
			}
			left := all(fmt.Sprintf("SELECT f.n, m.m FROM %s LEFT JOIN %s ON %s", c.a, c.b, on))
			if got := all(fmt.Sprintf("SELECT f.n, m.m FROM %s RIGHT JOIN %s ON %s", c.b, c.a, on)); !slices.Equal(got,
				left) {
				t.Errorf("ON %s: a right join has %d rows, the left one %d", on, len(got), len(left))
			}
			right := all(fmt.Sprintf("SELECT f.n, m.m FROM %s RIGHT JOIN %s ON %s", c.a, c.b, on))
			full := all(fmt.Sprintf("SELECT f.n, m.m FROM %s FULL JOIN %s ON %s", c.a, c.b, on))
			if want := len(left) + len(right) - len(inner); len(full) != want {
				t.Errorf("ON %s: a full join has %d rows, want %d", on, len(full), want)
			}
			some := all(fmt.Sprintf("SELECT f.n FROM %s LEFT SEMI JOIN %s ON %s", c.a, c.b, on))
			none := all(fmt.Sprintf("SELECT f.n FROM %s LEFT ANTI JOIN %s ON %s", c.a, c.b, on))
			distinct := all(fmt.Sprintf("SELECT DISTINCT f.n FROM %s JOIN %s ON %s", c.a, c.b, on))
			if !slices.Equal(some, distinct) || len(some)+len(none) != 100 {
				t.Errorf("ON %s: %d rows have partners, %d have none; %d distinct rows in the join", on, len(some),
					len(none), len(distinct))
			}
			some = all(fmt.Sprintf("SELECT m.m FROM %s LEFT SEMI JOIN %s ON %s", c.b, c.a, on))
			none = all(fmt.Sprintf("SELECT m.m FROM %s LEFT ANTI JOIN %s ON %s", c.b, c.a, on))
			if distinct = all(fmt.Sprintf("SELECT DISTINCT m.m FROM %s JOIN %s ON %s", c.b, c.a, on)); !slices.Equal(
				some, distinct) || len(some)+len(none) != 30000 {
				t.Errorf("ON %s: %d rows of many have partners, %d have none; %d distinct rows in the join", on,
					len(some), len(none), len(distinct))
			}
		}
	}
	if got := all("SELECT count(*) FROM many WHERE k IN (SELECT k FROM few WHERE n > 1000)"); got[0] != "0" {
		t.Errorf("keys of nothing: %q", got)
	}
}

// TestJoinBoundsAfterMerging: what a join knows about keys never shows an older version of a row.
func TestJoinBoundsAfterMerging(t *testing.T) {
	x := New(openStore(t), Options{Workers: 2})
	s := &Session{}
	script(t, x, s, `CREATE TABLE m (ts TIMESTAMP TIME INDEX, host STRING, v BIGINT, PRIMARY KEY (host));
		CREATE TABLE k (ts TIMESTAMP TIME INDEX, v BIGINT, host STRING) WITH ('append_mode'='true');
		INSERT INTO m VALUES (1, 'a', 5), (2, 'b', 6); ADMIN flush_table('m');
		INSERT INTO m VALUES (1, 'a', 9); ADMIN flush_table('m');
		INSERT INTO k VALUES (1, 5, 'a'), (2, 6, 'c')`)
	for sql, want := range map[string]string{
		"SELECT m.host, m.v FROM m JOIN k ON m.v = k.v":                      "b | 6",
		"SELECT m.host, m.v FROM m LEFT SEMI JOIN k ON m.v = k.v":            "b | 6",
		"SELECT m.host, m.v FROM m WHERE v IN (SELECT v FROM k)":             "b | 6",
		"SELECT m.host, m.v FROM m JOIN k ON m.host = k.host":                "a | 9",
		"SELECT m.host, m.v FROM m JOIN k ON m.ts = k.ts":                    "a | 9, b | 6",
		"SELECT m.host, m.v FROM k LEFT JOIN m ON m.v = k.v":                 " | , b | 6",
		"SELECT m.host, k.v FROM m RIGHT JOIN k ON m.v = k.v AND m.host='b'": " | 5, b | 6",
	} {
		if got := strings.Join(rowsOf(t, x, s, sql), ", "); got != want {
			t.Errorf("%s: %q, want %q", sql, got, want)
		}
	}
}
