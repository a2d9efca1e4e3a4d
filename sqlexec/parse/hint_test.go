package parse

import (
	"strings"
	"testing"

	"varve/engine/status"
)

func TestKeywordHints(t *testing.T) {
	for _, c := range []struct{ sql, want string }{
		{"SELCT 1", "Did you mean SELECT?"},
		{"slect * from t", "Did you mean SELECT?"},
		{"INSRT INTO t VALUES (1)", "Did you mean INSERT?"},
		{"SELECT * FORM t", "Did you mean FROM?"},
		{"SELECT a FORM t", "Did you mean FROM?"},
		{"SELECT a FROM t WEHRE a = 1", "Did you mean WHERE?"},
		{"SELECT a FROM t GROPU BY a", "Did you mean GROUP?"},
		{"SELECT a FROM t ODER BY a", "Did you mean ORDER?"},
		{"SELECT a FROM t ORDER BY a LIMT 3", "Did you mean LIMIT?"},
		{"SELECT a FROM t ORDER BY a DSC", ""},
		{"INSERT INTO t VALEUS (1)", "Did you mean VALUES?"},
		{"SHOW TABELS", "Did you mean TABLES?"},
		{"CREATE TABEL t (ts TIMESTAMP TIME INDEX)", "Did you mean TABLE?"},
		{"SELECT a FROM t x y", ""},
		{"SELECT (a FROM t", ""},
		{"frobnicate t", ""},
		{"BEGIN", ""},
	} {
		_, err := Parse(c.sql)
		if err == nil {
			t.Errorf("%s: no error", c.sql)
			continue
		}
		if c.want == "" && strings.Contains(err.Error(), "Did you mean") || !strings.Contains(err.Error(), c.want) {
			t.Errorf("%s: %v, want %q", c.sql, err, c.want)
		}
	}
}

// TestStrangeCharacters: a character that begins no token is an error at its place, of one character.
func TestStrangeCharacters(t *testing.T) {
	for _, c := range []string{"§", "\\", "\x01", "€"} {
		_, err := Parse("SELECT 1\n  " + c)
		e, ok := err.(*status.Error)
		if !ok || e.Code != status.InvalidSyntax || e.Place == nil ||
			*e.Place != (status.Place{Line: 2, Column: 3, Length: 1}) {
			t.Errorf("%q: %#v", c, err)
		}
	}
}
