package pgwire_test

import (
	"errors"
	"strings"
	"testing"

	"github.com/jackc/pgx/v5/pgconn"
)

// TestWriteBounds: rows for a table that takes no more are refused with 53000, for one that is read-only with 25006;
// COPY whose first rows are taken waits for the others.
func TestWriteBounds(t *testing.T) {
	s := startPG(t, nil)
	c := s.connect("a")
	s.do(c, "CREATE TABLE t (ts TIMESTAMP TIME INDEX, v BIGINT)", "INSERT INTO t VALUES (1, 1)",
		"ALTER TABLE t SET 'max_rows_per_second' = '1000'",
		"INSERT INTO t SELECT n, n FROM generate_series(1, 20000) AS g(n)")
	refused := func(state, words string, err error) {
		t.Helper()
		var e *pgconn.PgError
		if !errors.As(err, &e) || e.Code != state || !strings.Contains(e.Message, words) {
			t.Errorf("got %v, want %s with %q", err, state, words)
		}
	}
	_, err := c.Exec(t.Context(), "INSERT INTO t VALUES (30000, 1)")
	refused("53000", "max_rows_per_second", err)
	_, err = c.PgConn().CopyFrom(t.Context(), strings.NewReader("2026-01-02 03:04:05\t1\n"), "COPY t FROM STDIN")
	refused("53000", "max_rows_per_second", err)
	s.do(c, "ALTER TABLE t SET 'max_rows_per_second' = NULL")
	row := strings.NewReader("2026-01-02 03:04:05\t1\n")
	if tag, err := c.PgConn().CopyFrom(t.Context(), row, "COPY t FROM STDIN"); err != nil || tag.String() != "COPY 1" {
		t.Errorf("without the bound: %v, %v", tag, err)
	}
	s.do(c, "ALTER TABLE t SET 'read_only' = 'true'")
	for _, statement := range []string{"INSERT INTO t VALUES (1, 1)", "DELETE FROM t", "DROP TABLE t", "TRUNCATE t",
		"ALTER TABLE t ADD COLUMN w INT"} {
		_, err = c.Exec(t.Context(), statement)
		refused("25006", "is read-only", err)
	}
	s.do(c, "ALTER TABLE t SET 'read_only' = 'false'", "DROP TABLE t")
}
