package pgwire_test

import (
	"bytes"
	"slices"
	"strings"
	"testing"

	"github.com/jackc/pgx/v5"
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

// described checks the types that Describe tells of a statement's parameters and columns, and the rows that Execute
// then gives for values of the parameters, all of them texts. rows "*" are any.
func (s *pgServer) described(c *pgx.Conn, sql string, parameters, columns []uint32, rows string, values ...string) {
	s.Helper()
	p, err := c.PgConn().Prepare(s.Context(), "", sql, nil)
	if err != nil {
		s.Errorf("%s: %v", sql, err)
		return
	}
	var types []uint32
	for _, f := range p.Fields {
		types = append(types, f.DataTypeOID)
	}
	if !slices.Equal(p.ParamOIDs, parameters) || !slices.Equal(types, columns) {
		s.Errorf("%s: Describe tells %v and %v, want %v and %v", sql, p.ParamOIDs, types, parameters, columns)
	}
	texts := make([][]byte, len(values))
	for i, v := range values {
		texts[i] = []byte(v)
	}
	r := c.PgConn().ExecPrepared(s.Context(), "", texts, nil, nil).Read()
	if r.Err != nil {
		s.Errorf("%s with %q: %v", sql, values, r.Err)
		return
	}
	var got []string
	for _, row := range r.Rows {
		got = append(got, string(bytes.Join(row, []byte("|"))))
	}
	if rows != "*" && strings.Join(got, "\n") != rows {
		s.Errorf("%s with %q: got %q, want %q", sql, values, got, rows)
	}
}

// TestPGDescribeTellsWhatExecuteGives holds that a statement can be described before it has values, and that its rows
// then have the columns that were told.
func TestPGDescribeTellsWhatExecuteGives(t *testing.T) {
	s := startPG(t, nil)
	c := s.connect("ann")
	s.do(c, pgTable, "INSERT INTO t VALUES ('2026-03-02 03:04:05Z', 'a', 1.5, 7)")
	analyzed := []uint32{20, 20, 25}
	s.described(c, "EXPLAIN ANALYZE SELECT * FROM t", nil, analyzed, "*")
	s.described(c, "EXPLAIN ANALYZE VERBOSE SELECT * FROM t WHERE n = $1", []uint32{23}, analyzed, "*", "7")
	s.described(c, "EXPLAIN ANALYZE FORMAT JSON SELECT * FROM t", nil, analyzed, "*")
	s.described(c, "EXPLAIN SELECT date_trunc($1, ts) FROM t", []uint32{25}, []uint32{25, 25}, "*", "day")
	s.described(c, "EXPLAIN FORMAT JSON SELECT * FROM t", nil, []uint32{25, 25}, "*")
	if _, err := c.Prepare(t.Context(), "", "EXPLAIN ANALYZE SELECT * FROM none"); err == nil {
		t.Error("EXPLAIN ANALYZE of a table that is not there was described")
	}
	s.described(c, "ADMIN flush_table('t')", nil, []uint32{1700}, "0")
	s.described(c, "SELECT compact_table('t')", nil, []uint32{1700}, "0")

	text, time := []uint32{25}, []uint32{1184}
	s.described(c, "SELECT date_trunc($1, ts) FROM t", text, time, "2026-03-01 00:00:00+00", "month")
	s.described(c, "SELECT count(*) FROM t WHERE ts >= date_trunc($1, '2026-03-02 10:00:00Z'::timestamptz)", text,
		[]uint32{20}, "1", "day")
	s.described(c, "SELECT date_trunc($1, ts), count(*) FROM t GROUP BY date_trunc($1, ts) ORDER BY date_trunc($1, ts)",
		text, []uint32{1184, 20}, "2026-03-02 03:00:00+00|1", "hour")
	s.described(c, "SELECT (SELECT max(date_trunc($1, ts)) FROM t)", text, time, "2026-01-01 00:00:00+00", "year")
	span := []uint32{1186}
	s.described(c, "SELECT date_bin($1::interval, ts) FROM t", span, time, "2026-03-02 03:00:00+00", "5 minutes")
	s.described(c, "SELECT date_bin($1, ts) FROM t", span, time, "2026-03-02 00:00:00+00", "6 hours")
	s.described(c, "SELECT to_char(ts, $1) FROM t", text, text, "03:04", "%H:%M")
	s.described(c, "SELECT date_part($1, ts)::int FROM t", text, []uint32{23}, "3", "month")
	for unit, want := range map[string]string{"month": "3", "epoch": "1772420645", "nanosecond": "5000000000"} {
		s.described(c, "SELECT date_part($1, ts) FROM t", text, []uint32{701}, want, unit)
	}
	s.described(c, "SELECT date_part('month', ts) FROM t", nil, []uint32{23}, "3")
	s.described(c, "SELECT ts AT TIME ZONE $1 FROM t", text, time, "2026-03-02 04:04:05+00", "Europe/Berlin")
	s.described(c, "SELECT current_setting($1)", text, text, "UTC", "timezone")
	s.described(c, "SELECT current_setting($1::text, true)", text, text, "UTC", "TimeZone")
	s.refuses(c, "42000", "date_trunc needs a constant unit", "SELECT date_trunc($1, ts) FROM t", pgParam{oid: 25})
}

// TestPGListsAreCast holds that lists are read from literals, and cast, whatever their elements are.
func TestPGListsAreCast(t *testing.T) {
	s := startPG(t, nil)
	c := s.connect("ann")
	s.do(c, pgTable, "INSERT INTO t VALUES ('2026-03-02 03:04:05Z', 'a', 1.5, 7), ('2026-03-02 03:04:06Z', 'b', 2.5, 8)",
		"SET timezone = 'Europe/Berlin'")
	for _, one := range []struct {
		sql  string
		oid  uint32
		want string
	}{
		{"SELECT '{NULL}'::int[]", 1007, "{NULL}"},
		{"SELECT '{NULL,NULL}'::text[]", 1009, "{NULL,NULL}"},
		{"SELECT '{NULL}'::int[]::int8[]", 1016, "{NULL}"},
		{"SELECT ARRAY[NULL]::int[]", 1007, "{NULL}"},
		{"SELECT '{}'::int[]::int8[]", 1016, "{}"},
		{"SELECT ARRAY[]::date[]", 1182, "{}"},
		{"SELECT '{1,NULL}'::int8[]::int4[]", 1007, "{1,NULL}"},
		{"SELECT '{1,2}'::int2[]::int[]", 1007, "{1,2}"},
		{"SELECT ARRAY[1,2]::int2[]", 1005, "{1,2}"},
		{"SELECT ARRAY['1','2']::int[]", 1007, "{1,2}"},
		{"SELECT ARRAY[n, 1]::int8[] FROM t WHERE n = 7", 1016, "{7,1}"},
		{"SELECT array_agg(n ORDER BY n)::int8[] FROM t", 1016, "{7,8}"},
		{"SELECT array_agg(n ORDER BY n)::text[] FROM t", 1009, "{7,8}"},
		{"SELECT array_agg(v ORDER BY n)::text[]::float8[] FROM t", 1022, "{1.5,2.5}"},
		{"SELECT ARRAY['2026-01-02 03:00:00']::timestamptz[]", 1185, `{"2026-01-02 03:00:00+01"}`},
	} {
		r, err := c.PgConn().Exec(t.Context(), one.sql).ReadAll()
		if err != nil {
			t.Errorf("%s: %v", one.sql, err)
			continue
		}
		if oid := r[0].FieldDescriptions[0].DataTypeOID; oid != one.oid || string(r[0].Rows[0][0]) != one.want {
			t.Errorf("%s: got %s of type %d, want %s of %d", one.sql, r[0].Rows[0][0], oid, one.want, one.oid)
		}
	}
	s.gives(c, "{1,2}", "SELECT $1::int8[]::int4[]", pgText(1016, "{1,2}"))
	s.refused(s.fails(c, "SELECT '{99999999999}'::int8[]::int4[]"), "22003", "List<Int32>")
	s.refused(s.fails(c, "SELECT ARRAY['x', host]::int[] FROM t"), "22P02", "'x'")
}

// TestPGListsWithoutCast holds that a text in ANY and ALL is a list of what it is compared with.
func TestPGListsWithoutCast(t *testing.T) {
	s := startPG(t, nil)
	c := s.connect("ann")
	s.do(c, pgTable, "INSERT INTO t VALUES ('2026-03-02 03:04:05Z', 'a', 1.5, 7), ('2026-03-02 03:04:06Z', 'b', 2.5, 8)")
	for where, want := range map[string]string{
		"n = ANY('{7,9}')": "7", "n <> ALL('{7,9}')": "8", "n > ALL('{6,7}')": "8", "v = ANY('{2.5}')": "8",
		"host = ANY('{a,c}')": "7", "host <> ALL('{\"a\",\"x,y\"}')": "8", "upper(host) = ANY('{A}')": "7",
		"host LIKE ANY('{a%,c}')": "7", "ts = ANY('{2026-03-02 03:04:06Z}')": "8", "'x' = ANY('{x}')": "7 8",
		"n = ANY('{}')": "", "host = ANY('{}')": "", "n <> ALL('{}')": "7 8", "ts > ANY('{}')": "",
		"n = ANY('{NULL,7}')": "7", "n <> ALL('{NULL,7}')": "", "n = ANY('{8}'::int[])": "8",
	} {
		if got := strings.Join(s.texts(c, "SELECT n FROM t WHERE "+where+" ORDER BY n"), " "); got != want {
			t.Errorf("%s: got %q, want %q", where, got, want)
		}
	}
	s.gives(c, "8", "SELECT n FROM t WHERE n = ANY('{8,9}') AND host <> $1", pgText(0, "a"))
	for _, text := range []string{"a", "", "{a", "{{a}}"} {
		s.refused(s.fails(c, "SELECT n FROM t WHERE host = ANY('"+text+"')"), "22P02", "malformed array")
	}
	s.refused(s.fails(c, "SELECT n FROM t WHERE n = ANY('{x}')"), "42000", "cannot read 'x' as a number")
	s.refused(s.fails(c, "CREATE VIEW v AS SELECT n FROM t WHERE host = ANY('{a}')"), "0A000", "ANY ('a')")
}

// TestPGDefaultsOfBytes holds that defaults of columns of bytes are read as bytes are.
func TestPGDefaultsOfBytes(t *testing.T) {
	s := startPG(t, nil)
	c := s.connect("ann")
	s.do(c, `CREATE TABLE d (ts TIMESTAMP(6) TIME INDEX, b VARBINARY DEFAULT '\x00ff', c BYTEA NOT NULL DEFAULT '\101\\',
		e VARBINARY DEFAULT 'plain', f STRING DEFAULT '\x00ff')`,
		`ALTER TABLE d ADD COLUMN g VARBINARY DEFAULT '\x01'`, `ALTER TABLE d ADD COLUMN h VARBINARY`,
		`ALTER TABLE d MODIFY COLUMN h SET DEFAULT '\x0102'`, `ALTER TABLE d MODIFY COLUMN f SET DEFAULT '\x'`,
		"INSERT INTO d (ts) VALUES ('2026-01-01')")
	want := `\x00ff|\x415c|\x706c61696e|\x|\x01|\x0102`
	if got := strings.Join(s.texts(c, "SELECT b, c, e, f, g, h FROM d"), "\n"); got != want {
		t.Errorf("got %s, want %s", got, want)
	}
	if _, err := c.Exec(t.Context(), `ALTER TABLE d MODIFY COLUMN h SET DEFAULT '\xab'`); err != nil { // prepared
		t.Error(err)
	}
	s.do(c, "INSERT INTO d (ts) VALUES ('2026-01-02')")
	if got := s.texts(c, "SELECT h FROM d ORDER BY ts DESC LIMIT 1"); got[0] != `\xab` {
		t.Errorf("got %s", got)
	}
	for _, text := range []string{`CREATE TABLE x (ts TIMESTAMP TIME INDEX, b BYTEA DEFAULT '\xzz')`,
		`ALTER TABLE d ADD COLUMN i BYTEA DEFAULT '\9'`, `ALTER TABLE d MODIFY COLUMN b SET DEFAULT '\x0'`} {
		s.refused(s.fails(c, text), "22P02", "invalid bytes")
	}
	s.refused(s.fails(c, `ALTER TABLE none MODIFY COLUMN b SET DEFAULT '\x00'`), "42P01", "none")
}
