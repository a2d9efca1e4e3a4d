package pgwire_test

import (
	"strings"
	"testing"
)

// TestPGViewsMeanTheSame holds that a view is refused whose text, which the server keeps, means something else when it
// is read again without the connection.
func TestPGViewsMeanTheSame(t *testing.T) {
	s := startPG(t, nil)
	c := s.connect("ann")
	s.do(c, pgTable, "INSERT INTO t VALUES ('2026-01-02 00:00:00Z', 'a', 1.5, 7)", "SET timezone = 'Europe/Berlin'")
	for _, query := range []string{
		"SELECT '2026-01-02 03:04:05'::timestamp AS x",
		`SELECT '\x00ff'::bytea AS x`,
		"SELECT '{1,2}'::int[] AS x",
		"SELECT current_setting('timezone') AS x",
		`SELECT host COLLATE "C" AS x FROM t`,
		"SELECT host OPERATOR(pg_catalog.~) 'a' AS x FROM t",
		"SELECT '1.5'::numeric AS x",
		"SELECT n::pg_catalog.int4 AS x FROM t",
		"SELECT current_database() AS x",
		"SELECT 't'::regclass AS x",
		"WITH w AS (SELECT '{1,2}'::int[] AS x) SELECT * FROM w",
		"SELECT n AS x FROM t WHERE ts IN (SELECT '2026-01-02 03:04:05'::timestamp)",
		"SELECT ARRAY(SELECT n FROM t) AS x",
	} {
		for _, create := range []string{"CREATE VIEW v AS ", "CREATE OR REPLACE VIEW v (x) AS "} {
			s.refused(s.fails(c, create+query), "0A000",
				"a view keeps its text, which must mean the same without this connection: ")
		}
	}
	s.refused(s.fails(c, "CREATE VIEW v AS SELECT '{1,2}'::int[] AS x"), "0A000", ": write SELECT ")
	s.refuses(c, "0A000", "a view keeps its text", "CREATE VIEW v AS SELECT n FROM t WHERE n = $1", pgText(23, "7"))
	s.refused(s.fails(c, "SELECT * FROM v"), "42P01", "v")

	s.do(c, "CREATE VIEW v AS SELECT host, n + 1 AS m, v::int AS i FROM t WHERE host = 'a' /* here */",
		"CREATE OR REPLACE VIEW w (x) AS SELECT m FROM v WHERE m IN (8, 9)")
	if got := strings.Join(s.texts(c, "SELECT v.host, m, x FROM v, w"), "\n"); got != "a|8|8" {
		t.Errorf("got %q", got)
	}
}
