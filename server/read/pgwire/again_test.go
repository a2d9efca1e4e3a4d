package pgwire_test

import (
	"strings"
	"testing"
	"time"

	"github.com/jackc/pgx/v5/pgproto3"
)

// TestPGNamesAreBounded: names of statements, portals and savepoints are kept, so they have a bound.
func TestPGNamesAreBounded(t *testing.T) {
	s := startPG(t, nil)
	c := s.connect("ann")
	fits, long := strings.Repeat("n", 256), strings.Repeat("n", 257)
	s.do(c, "BEGIN", `SAVEPOINT "`+fits+`"`)
	s.refused(s.fails(c, `SAVEPOINT "`+long+`"`), "42622", "the limit is 256")
	s.do(c, "ROLLBACK", "BEGIN", `DECLARE "`+fits+`" CURSOR FOR SELECT 1`)
	s.refused(s.fails(c, `DECLARE "`+long+`" CURSOR FOR SELECT 1`), "42622", "257 bytes")
	s.do(c, "ROLLBACK")
	if _, err := c.PgConn().Prepare(t.Context(), fits, "SELECT 1", nil); err != nil {
		t.Error(err)
	}
	_, err := c.PgConn().Prepare(t.Context(), long, "SELECT 1", nil)
	s.refused(err, "42622", "257 bytes")
	s.refused(s.fails(c, `DEALLOCATE "`+strings.Repeat("n", 1<<20)+`"`), "26000", "nnn...")
}

// TestPGCopyTakesQueries: a statement that writes does not run within COPY.
func TestPGCopyTakesQueries(t *testing.T) {
	s := startPG(t, nil)
	c := s.connect("ann")
	s.do(c, pgTable, "INSERT INTO t VALUES (1, 'a', 1, 1)")
	for _, sql := range []string{"DELETE FROM t", "TRUNCATE TABLE t", "DROP TABLE t", "USE public", "SHOW TABLES",
		"INSERT INTO t VALUES (2, 'b', 1, 1)"} {
		s.refused(s.fails(c, "COPY ("+sql+") TO STDOUT"), "42601", "takes a table or a query")
	}
	if got := s.texts(c, "SELECT count(*) FROM t"); got[0] != "1" {
		t.Errorf("%s rows", got[0])
	}
}

// TestPGFetchKeepsFormats: rows of a portal come as Bind wanted them, also after FETCH in between.
func TestPGFetchKeepsFormats(t *testing.T) {
	s := startPG(t, nil)
	r := s.raw()
	// row reads to the end of an answer and returns its last row.
	row := func() (text string) {
		t.Helper()
		for {
			m, err := r.f.Receive()
			if err != nil {
				t.Fatal(err)
			}
			switch m := m.(type) {
			case *pgproto3.DataRow:
				text = string(m.Values[0])
			case *pgproto3.ReadyForQuery:
				return text
			}
		}
	}
	r.send(&pgproto3.Query{String: "BEGIN"})
	r.until('Z')
	r.send(&pgproto3.Parse{Query: "SELECT value FROM generate_series(1, 5) AS g(value)"},
		&pgproto3.Bind{DestinationPortal: "p", ResultFormatCodes: []int16{1}},
		&pgproto3.Execute{Portal: "p", MaxRows: 1}, &pgproto3.Sync{})
	if got := row(); got != "\x00\x00\x00\x00\x00\x00\x00\x01" {
		t.Errorf("the first row is %q", got)
	}
	r.send(&pgproto3.Query{String: "FETCH 1 FROM p"})
	if got := row(); got != "2" {
		t.Errorf("the second row is %q", got)
	}
	r.send(&pgproto3.Execute{Portal: "p", MaxRows: 1}, &pgproto3.Sync{})
	if got := row(); got != "\x00\x00\x00\x00\x00\x00\x00\x03" {
		t.Errorf("the third row is %q", got)
	}
}

// TestPGErrorsComeAtOnce: an error of the extended protocol does not wait for Sync.
func TestPGErrorsComeAtOnce(t *testing.T) {
	s := startPG(t, nil)
	r := s.raw()
	begun := time.Now()
	r.send(&pgproto3.Parse{Query: "SELEC 1"})
	if got := r.until('E'); got != "E" {
		t.Errorf("got %q after %v", got, time.Since(begun))
	}
	r.send(&pgproto3.Sync{})
	r.until('Z')
}
