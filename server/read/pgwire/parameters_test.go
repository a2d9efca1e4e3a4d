package pgwire_test

import (
	"fmt"
	"slices"
	"strings"
	"testing"

	"github.com/jackc/pgx/v5"
)

// pgParam is a parameter as a client sends it.
type pgParam struct {
	oid    uint32
	b      []byte // nil: NULL
	binary bool
}

func pgText(oid uint32, text string) pgParam { return pgParam{oid: oid, b: []byte(text)} }

// bound runs a statement with parameters and returns its rows as texts with | between values.
func (s *pgServer) bound(c *pgx.Conn, sql string, list ...pgParam) ([]string, error) {
	s.Helper()
	var values [][]byte
	var oids []uint32
	var formats []int16
	for _, one := range list {
		format := int16(0)
		if one.binary {
			format = 1
		}
		values, oids, formats = append(values, one.b), append(oids, one.oid), append(formats, format)
	}
	r := c.PgConn().ExecParams(s.Context(), sql, values, oids, formats, nil).Read()
	var rows []string
	for _, row := range r.Rows {
		var cells []string
		for _, b := range row {
			if cells = append(cells, string(b)); b == nil {
				cells[len(cells)-1] = "NULL"
			}
		}
		rows = append(rows, strings.Join(cells, "|"))
	}
	return rows, r.Err
}

// gives checks the rows of a statement with parameters.
func (s *pgServer) gives(c *pgx.Conn, want, sql string, list ...pgParam) {
	s.Helper()
	got, err := s.bound(c, sql, list...)
	if err != nil || strings.Join(got, "\n") != want {
		s.Errorf("%s: got %q, %v, want %q", sql, got, err, want)
	}
}

// refuses checks the code of the error of a statement with parameters.
func (s *pgServer) refuses(c *pgx.Conn, code, contains, sql string, list ...pgParam) {
	s.Helper()
	got, err := s.bound(c, sql, list...)
	if err == nil {
		s.Errorf("%s gave %q, want the error %s", sql, got, code)
		return
	}
	s.refused(err, code, contains)
}

func TestPGBytesAsLiterals(t *testing.T) {
	s := startPG(t, nil)
	c := s.connect("ann")
	for sql, want := range map[string]string{
		`SELECT '\x005c27'::bytea`: `\x005c27`, `SELECT CAST('a\\b\001' AS bytea)`: `\x615c6201`,
		`SELECT octet_length('\x41'::bytea)`: "1", `SELECT 'plain'::bytea`: `\x706c61696e`,
		`SELECT '{"\\x41",NULL}'::bytea[]`: `{"\\x41",NULL}`,
	} {
		if got := s.texts(c, sql); got[0] != want {
			t.Errorf("%s: got %q, want %q", sql, got[0], want)
		}
	}
	s.do(c, `CREATE TABLE b (ts TIMESTAMP TIME INDEX, v VARBINARY, note STRING)`,
		`INSERT INTO b VALUES (1, '\x00ff', '\x00ff'), (2, 'a\\b', 'a\\b'), (3, 'plain', '')`,
		`INSERT INTO b (note, v, ts) VALUES ('n', '\x0102', 4)`, `INSERT INTO b (ts, v) SELECT 5, '\x05'`,
		`INSERT INTO b (ts, v) VALUES (6, '\x5c5c'::bytea)`)
	if _, err := c.Exec(t.Context(), "INSERT INTO b (ts, v) VALUES (7, $1)", []byte{0, '\\'}); err != nil {
		t.Fatal(err)
	}
	want := []string{`\x00ff|\x00ff`, `\x615c62|a\\b`, `\x706c61696e|`, `\x0102|n`, `\x05|NULL`, `\x5c5c|NULL`,
		`\x005c|NULL`}
	if got := s.texts(c, "SELECT v, note FROM b ORDER BY ts"); !slices.Equal(got, want) {
		t.Errorf("got %q, want %q", got, want)
	}
	s.refuses(c, "42P01", "absent", `INSERT INTO absent VALUES ('\x00')`)
	for _, bad := range []string{`SELECT '\xzz'::bytea`, `INSERT INTO b (ts, v) VALUES (8, '\x0')`,
		`INSERT INTO b (ts, v) VALUES (8, 'a\b')`} {
		s.refuses(c, "22P02", "invalid bytes", bad)
	}
}

func TestPGTimesInTheZoneOfTheSession(t *testing.T) {
	s := startPG(t, nil)
	c := s.connect("ann")
	s.do(c, "CREATE TABLE z (ts TIMESTAMP(6) TIME INDEX, way STRING PRIMARY KEY)", "SET timezone = 'Asia/Tokyo'")
	const at, want = "2026-01-02 03:04:05.678901", "2026-01-02 03:04:05.678901+09"
	binary := pgParam{1114, []byte{0, 2, 0xea, 0x5d, 0xbb, 0x1f, 0x6f, 0x35}, true}
	for _, sql := range []string{"SELECT '" + at + "'::timestamp", "SELECT TIMESTAMP '" + at + "'",
		"SELECT CAST('" + at + "' AS timestamptz)", "SELECT '" + at + "'::timestamp(6)"} {
		if got := s.texts(c, sql); got[0] != want {
			t.Errorf("%s: got %s, want %s", sql, got[0], want)
		}
	}
	s.gives(c, want, "SELECT $1", pgText(1114, at))
	s.gives(c, want, "SELECT $1", pgText(1184, at))
	s.gives(c, want, "SELECT $1::timestamptz", pgText(0, at))
	s.gives(c, want, "SELECT $1", pgText(1184, "2026-01-01 18:04:05.678901+00"))
	s.gives(c, `{"`+want+`"}`, "SELECT $1", pgText(1115, `{"`+at+`"}`))
	s.do(c, "INSERT INTO z VALUES ('"+at+"', 'literal')")
	for i, p := range []pgParam{pgText(0, at), pgText(1114, at), pgText(1184, at), binary} {
		if _, err := s.bound(c, fmt.Sprintf("INSERT INTO z VALUES ($1, '%d')", i), p); err != nil {
			t.Error(err)
		}
		s.gives(c, "1", "SELECT count(*) FROM z WHERE way = 'literal' AND ts = $1", p)
	}
	s.gives(c, "1", "SELECT count(DISTINCT ts) FROM z")
	s.gives(c, "5", "SELECT count(*) FROM z WHERE ts = '"+at+"'")
}

func TestPGNumericsOfAllSizes(t *testing.T) {
	s := startPG(t, nil)
	c := s.connect("ann")
	long := strings.Repeat("9", 38)
	for text, want := range map[string]string{long: long, "-" + long: "-" + long,
		"12345678901234567890.123456789012345678": "12345678901234567890.123456789012345678",
		"1e-20": "0.00000000000000000001", "1.5e30": "1500000000000000000000000000000.0000000",
		"0." + long: "0." + long, "1.5": "1.5000000000", " +0.00 ": "0.0000000000", "123E-2": "1.2300000000",
		"1." + strings.Repeat("0", 60): "1." + strings.Repeat("0", 37)} {
		s.gives(c, want, "SELECT $1", pgText(1700, text))
		s.gives(c, want, "SELECT $1::numeric", pgText(0, text))
		s.gives(c, want, "SELECT '"+text+"'::numeric")
	}
	for text, code := range map[string]string{long + "0": "22003", "12345678901234567890.12345678901234567891": "22003",
		"1e-39": "22003", "1e38": "22003", "1e99999999999999999999": "22003", "NaN": "22003", "-Infinity": "22003",
		"": "22P02", "1e": "22P02", "1..2": "22P02", "0x10": "22P02", "1_0": "22P02"} {
		s.refuses(c, code, "", "SELECT $1", pgText(1700, text))
	}
	// 10000 is no group of four digits
	s.refuses(c, "22P03", "damaged", "SELECT $1", pgParam{1700, []byte{0, 1, 0, 0, 0, 0, 0, 0, 0x27, 0x10}, true})
	s.gives(c, "9999.0000000000", "SELECT $1", pgParam{1700, []byte{0, 1, 0, 0, 0, 0, 0, 0, 0x27, 0x0f}, true})
}

func TestPGListsThatAreNULL(t *testing.T) {
	s := startPG(t, nil)
	c := s.connect("ann")
	var got []int64
	if err := c.QueryRow(t.Context(), "SELECT $1::bigint[]", []int64(nil)).Scan(&got); err != nil || got != nil {
		t.Errorf("got %v, %v, want NULL", got, err)
	}
	n := -1
	err := c.QueryRow(t.Context(), "SELECT count(*) FROM numbers WHERE number = ANY($1)", []int64(nil)).Scan(&n)
	if err != nil || n != 0 {
		t.Errorf("ANY of NULL: got %d, %v, want 0", n, err)
	}
	err = c.QueryRow(t.Context(), "SELECT count(*) FROM numbers WHERE number = ANY($1)", []int64{}).Scan(&n)
	if err != nil || n != 0 {
		t.Errorf("ANY of no number: got %d, %v, want 0", n, err)
	}
	for _, list := range [][]int64{{}, {1, 2}} {
		err := c.QueryRow(t.Context(), "SELECT $1::bigint[]", list).Scan(&got)
		if err != nil || !slices.Equal(got, list) {
			t.Errorf("got %v, %v, want %v", got, err, list)
		}
	}
	for _, oid := range []uint32{1000, 1001, 1005, 1007, 1009, 1015, 1021, 1022, 1115, 1182, 1185, 1187, 1231} {
		s.gives(c, "NULL", "SELECT $1", pgParam{oid: oid})
		s.gives(c, "{}", "SELECT $1", pgText(oid, "{}"))
		s.gives(c, "{NULL}", "SELECT $1", pgText(oid, "{NULL}"))
	}
	for sql, want := range map[string]string{"SELECT '{1,2}'::int[]": "{1,2}", "SELECT '{}'::int[]": "{}",
		`SELECT '{"a b",NULL}'::text[]`: `{"a b",NULL}`, "SELECT ('{1,2}'::int[])[1]": "1"} {
		s.gives(c, want, sql)
	}
	s.refuses(c, "22P02", "malformed", "SELECT '1,2'::int[]")
}

func TestPGTimesOutOfRange(t *testing.T) {
	s := startPG(t, nil)
	c := s.connect("ann")
	s.do(c, "CREATE TABLE far (ts TIMESTAMP(0) TIME INDEX, n INT)",
		"INSERT INTO far VALUES (9223372036854, 1), (9223372036855, 2), (-9999999999999, 3), (253402300800, 4), (-62135596801, 5)")
	want := []string{"-infinity", "0001-12-31 23:59:59+00 BC", "10000-01-01 00:00:00+00", "294247-01-10 04:00:54+00",
		"infinity"}
	if got := s.texts(c, "SELECT ts FROM far ORDER BY ts"); !slices.Equal(got, want) {
		t.Errorf("got %q, want %q", got, want)
	}
	r := c.PgConn().ExecParams(t.Context(), "SELECT ts FROM far ORDER BY ts", nil, nil, nil, []int16{1}).Read()
	if r.Err != nil || len(r.Rows) != 5 {
		t.Fatalf("got %v, %v", r.Rows, r.Err)
	}
	for i, want := range map[int]string{0: "\x80\x00\x00\x00\x00\x00\x00\x00", 4: "\x7f\xff\xff\xff\xff\xff\xff\xff"} {
		if got := string(r.Rows[i][0]); got != want {
			t.Errorf("row %d in binary: got %x, want %x", i, got, want)
		}
	}
	for i, n := range map[int]string{1: "5", 2: "4"} { // what was read finds its row
		s.gives(c, n, "SELECT n FROM far WHERE ts = $1", pgParam{1184, r.Rows[i][0], true})
		s.gives(c, n, "SELECT n FROM far WHERE ts = $1", pgText(1184, want[i]))
	}
	for text, want := range map[string]string{"10000-01-01": "10000-01-01", "0044-03-15 BC": "0044-03-15 BC",
		"0001-02-29 BC": "0001-02-29 BC", "9999-12-31": "9999-12-31"} {
		s.gives(c, want, "SELECT $1", pgText(1082, text))
		s.gives(c, want, "SELECT '"+text+"'::date")
	}
	s.gives(c, "10000-01-01", "SELECT $1", pgParam{1082, []byte{0, 0x2c, 0x95, 0xd4}, true})
	s.gives(c, "0001-12-31 BC", "SELECT $1", pgParam{1082, []byte{0xff, 0xf4, 0xdb, 0xf8}, true})
	s.gives(c, "10000-01-01 00:00:00+00", "SELECT $1", pgText(1184, "10000-01-01 00:00:00+00"))
	inf, neg := []byte{0x7f, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff}, []byte{0x80, 0, 0, 0, 0, 0, 0, 0}
	for _, oid := range []uint32{1082, 1114, 1184} {
		size := 8
		if oid == 1082 {
			size = 4
		}
		s.refuses(c, "22008", "infinity", "SELECT $1", pgParam{oid, inf[:size], true})
		s.refuses(c, "22008", "-infinity", "SELECT $1", pgParam{oid, neg[:size], true})
		s.refuses(c, "22008", "infinity", "SELECT $1", pgText(oid, "infinity"))
		s.refuses(c, "22008", "range", "SELECT $1", pgText(oid, "294276-01-01"))
	}
	s.refuses(c, "22008", "range", "SELECT $1", pgParam{1082, []byte{0x7f, 0xff, 0xff, 0xfe}, true})
	s.refuses(c, "22008", "range", "SELECT $1",
		pgParam{1184, []byte{0x7f, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0}, true})
	s.refuses(c, "22008", "infinity", "SELECT '-infinity'::timestamptz")
}

func TestPGTextsThatAreNone(t *testing.T) {
	s := startPG(t, nil)
	c := s.connect("ann")
	array := func(text string) []byte {
		return append([]byte("\x00\x00\x00\x01\x00\x00\x00\x00\x00\x00\x00\x19\x00\x00\x00\x01\x00\x00\x00\x01\x00\x00\x00"+
			string(rune(len(text)))), text...)
	}
	for _, text := range []string{"\xff", "a\x00b"} {
		for _, p := range []pgParam{pgText(25, text), {25, []byte(text), true}, pgText(1009, "{a,"+text+"}"),
			{1009, array(text), true}} {
			s.refuses(c, "22021", "", "SELECT $1", p)
		}
	}
	s.gives(c, "{ä}", "SELECT $1", pgParam{1009, array("ä"), true})
}

func TestPGEscapesAndComments(t *testing.T) {
	s := startPG(t, nil)
	c := s.connect("ann")
	for _, sql := range []string{`SELECT E'\x41\u00e9\101' /* one /* in */ another */`,
		`/* ; /* ; */ ; */ SELECT E'\U00000041\xc3\xa9A'`} {
		s.gives(c, "AéA", sql)
		if got := s.texts(c, sql); len(got) != 1 || got[0] != "AéA" {
			t.Errorf("%s: got %q", sql, got)
		}
	}
	for _, bad := range []string{`SELECT E'\u00'`, `SELECT E'\000'`, `SELECT E'\xff'`, "SELECT 1 /* /* */"} {
		s.refuses(c, "42601", "", bad)
	}
}
