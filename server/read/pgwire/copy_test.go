package pgwire_test

import (
	"bytes"
	"fmt"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/jackc/pgx/v5"
)

// out copies rows out.
func (s *pgServer) out(c *pgx.Conn, text string) string {
	s.Helper()
	var b bytes.Buffer
	if _, err := c.PgConn().CopyTo(s.Context(), &b, text); err != nil {
		s.Errorf("%s: %v", text, err)
	}
	return b.String()
}

// in copies rows in.
func (s *pgServer) in(c *pgx.Conn, text, rows string) (string, error) {
	s.Helper()
	tag, err := c.PgConn().CopyFrom(s.Context(), strings.NewReader(rows), text)
	return tag.String(), err
}

func TestPGCopyOut(t *testing.T) {
	s := startPG(t, nil)
	c := s.connect("ann")
	s.do(c, pgTable, `INSERT INTO t VALUES (0, E'a,"b\n', 1.5, NULL), (1000000, E'c\td\\', NULL, 3), (2000000, '', 0, 0)`)
	for _, one := range []struct{ sql, want string }{
		{"COPY t TO STDOUT", "1970-01-01 00:00:00+00\ta,\"b\\n\t1.5\t\\N\n" +
			"1970-01-01 00:00:01+00\tc\\td\\\\\t\\N\t3\n1970-01-01 00:00:02+00\t\t0\t0\n"},
		{"COPY (SELECT host, n FROM t ORDER BY ts) TO STDOUT WITH (FORMAT csv, HEADER)",
			"host,n\n\"a,\"\"b\n\",\nc\td\\,3\n\"\",0\n"},
		{"COPY t (host, v) TO STDOUT (FORMAT csv, DELIMITER ';', NULL 'none', HEADER false)",
			"\"a,\"\"b\n\";1.5\nc\td\\;none\n;0\n"},
		{"COPY (SELECT 7, NULL) TO STDOUT (FORMAT binary)",
			"PGCOPY\n\xff\r\n\x00\x00\x00\x00\x00\x00\x00\x00\x00\x00\x02\x00\x00\x00\x08\x00\x00\x00\x00\x00\x00\x00\x07" +
				"\xff\xff\xff\xff\xff\xff"},
	} {
		got := s.out(c, one.sql)
		if lines := strings.SplitAfter(got, "\n"); strings.HasPrefix(one.sql, "COPY t") { // tables have no order
			slices.Sort(lines)
			wanted := strings.SplitAfter(one.want, "\n")
			slices.Sort(wanted)
			if !slices.Equal(lines, wanted) {
				t.Errorf("%s\n got %q\nwant %q", one.sql, got, one.want)
			}
		} else if got != one.want {
			t.Errorf("%s\n got %q\nwant %q", one.sql, got, one.want)
		}
	}
	for text, code := range map[string]string{
		"COPY absent TO STDOUT": "42P01", "COPY t TO STDOUT (FORMAT parquet)": "22023",
		"COPY t TO STDOUT (FORCE_QUOTE (a))": "0A000", "COPY (SELECT 1 TO STDOUT": "42601",
		"COPY (SELECT 1) FROM STDIN": "42601",
	} {
		_, err := c.PgConn().CopyTo(t.Context(), &bytes.Buffer{}, text)
		s.refused(err, code, "")
	}
}

func TestPGCopyIn(t *testing.T) {
	s := startPG(t, nil)
	c := s.connect("ann")
	s.do(c, pgTable)
	for i, one := range []struct{ sql, rows, want string }{
		{"COPY t FROM STDIN", "2026-01-01 00:00:00\ta\\tb\\\\\t1.5\t\\N\n2026-01-01 00:00:01\tc\t\\N\t3\n\\.\n",
			"a\tb\\|1.5|NULL c|NULL|3"},
		{"COPY t FROM STDIN (FORMAT csv, HEADER)", "ts,host,v,n\r\n2026-01-01,\"a,\"\"b\n\",,1\r\n2026-01-02,\"\",2,",
			"a,\"b\n|NULL|1 |2|NULL"},
		{"COPY t (host, ts, n) FROM STDIN WITH CSV DELIMITER ';' NULL 'none'", "a;2026-01-01;none\nb;2026-01-02;4\n",
			"a|NULL|NULL b|NULL|4"},
	} {
		s.do(c, "TRUNCATE TABLE t")
		tag, err := s.in(c, one.sql, one.rows)
		if err != nil || tag != "COPY 2" {
			t.Errorf("%d: got %q, %v", i, tag, err)
		}
		if got := strings.Join(s.texts(c, "SELECT host, v, n FROM t ORDER BY ts"), " "); got != one.want {
			t.Errorf("%d: got %q, want %q", i, got, one.want)
		}
	}
	for _, bad := range []struct{ sql, rows, contains string }{
		{"COPY t FROM STDIN", "2026-01-01\ta\n", "row 1 of COPY: it has 2 values"},
		{"COPY t FROM STDIN", "2026-01-01\ta\t1\t1\t1\n", "more values than the 4 columns"},
		{"COPY t FROM STDIN", "2026-01-01\ta\tx\t1\n", "x"},
		{"COPY t FROM STDIN CSV", "2026-01-01,\"a", "a quote is not closed"},
		{"COPY t FROM STDIN BINARY", "nothing of the kind, at all", "the head of the binary format"},
		{"COPY absent FROM STDIN", "", "absent"},
	} {
		if _, err := s.in(c, bad.sql, bad.rows); err == nil || !strings.Contains(err.Error(), bad.contains) {
			t.Errorf("%s of %q: got %v, want %q", bad.sql, bad.rows, err, bad.contains)
		}
	}
	if got := s.texts(c, "SELECT count(*) FROM t"); got[0] != "2" {
		t.Errorf("after errors there are %s rows", got[0])
	}
}

// TestPGCopyMany copies more rows than are written at a time, in the binary format, out and in again.
func TestPGCopyMany(t *testing.T) {
	s := startPG(t, nil)
	c := s.connect("ann")
	s.do(c, pgTable)
	begin := time.Date(2026, 1, 1, 0, 0, 0, 0, time.UTC)
	const count = 30_000
	n, err := c.CopyFrom(t.Context(), pgx.Identifier{"t"}, []string{"ts", "host", "v", "n"},
		pgx.CopyFromSlice(count, func(i int) ([]any, error) {
			at := begin.Add(time.Duration(i) * time.Microsecond)
			return []any{at, fmt.Sprint("host", i%7), float64(i) / 2, int32(i)}, nil
		}))
	if err != nil || n != count {
		t.Fatalf("got %d, %v", n, err)
	}
	check := "SELECT count(*), sum(n), sum(v), min(ts), max(ts), count(DISTINCT host) FROM "
	want := s.texts(c, check+"t")
	if !strings.HasPrefix(want[0], "30000|449985000|224992500|2026-01-01 00:00:00+00|2026-01-01 00:00:00.029999+00|7") {
		t.Errorf("got %q", want)
	}
	s.do(c, strings.Replace(pgTable, "TABLE t", "TABLE u", 1))
	for _, format := range []string{"binary", "csv", "text"} {
		s.do(c, "TRUNCATE TABLE u")
		rows := s.out(c, "COPY t TO STDOUT (FORMAT "+format+")")
		if tag, err := s.in(c, "COPY u FROM STDIN (FORMAT "+format+")", rows); err != nil || tag != "COPY 30000" {
			t.Errorf("%s: got %q, %v", format, tag, err)
		}
		if got := s.texts(c, check+"u"); !slices.Equal(got, want) {
			t.Errorf("%s: got %q, want %q", format, got, want)
		}
	}
}

// TestPGCopyIsOneStatement: a COPY from a client is one statement for the log of slow ones, with the rows that it has
// written, however many writes it made of them.
func TestPGCopyIsOneStatement(t *testing.T) {
	s := startPG(t, nil)
	c := s.connect("ann")
	s.do(c, pgTable)
	var rows strings.Builder
	for i := range 30_000 {
		fmt.Fprintf(&rows, "2026-01-01 00:00:00.%06d\ta\t1\t2\n", i)
	}
	const good, bad = "COPY t (ts, host, v, n) FROM STDIN", "COPY t (ts, host) FROM STDIN"
	if _, err := s.in(c, good, rows.String()); err != nil {
		t.Fatal(err)
	}
	if _, err := s.in(c, bad, "2026-01-01\n"); err == nil {
		t.Error("a row without a value is taken")
	}
	s.do(c, "SELECT 1") // statements are attended by themselves again
	s.mu.Lock()
	defer s.mu.Unlock()
	var got []string
	for _, e := range s.ended[1:] {
		got = append(got, fmt.Sprintf("%s: %d %t", e.Text, e.Rows, e.Err != nil))
	}
	want := []string{good + ": 30000 false", bad + ": -1 true", "SELECT 1: 1 false"}
	if !slices.Equal(got, want) {
		t.Errorf("ended are %q, want %q", got, want)
	}
}
