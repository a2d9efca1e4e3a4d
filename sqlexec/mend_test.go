package sqlexec

import (
	"testing"

	"varve/engine/status"
)

// TestErrorsThatMendThemselves holds that an error names what is wrong and what to do.
func TestErrorsThatMendThemselves(t *testing.T) {
	x := New(openStore(t), Options{Workers: 1})
	outcomeOf(t, x, "CREATE TABLE t (ts TIMESTAMP TIME INDEX, v INT) WITH ('append_mode' = 'true')")
	for _, c := range []struct {
		sql, text string
		code      status.Code
	}{
		{"ALTER TABLE t ADD COLUMN w TIMESTAMP TIME INDEX", "column w: a table has one time index, of table t it is ts", status.InvalidArguments},
		{"DELETE FROM t", "ALTER TABLE t SET 'ttl' = '30d', or all together, TRUNCATE TABLE t", status.InvalidArguments},
		{"SELECT now() - 1h", "1h is not a number: a span of time is INTERVAL '1h'", status.InvalidSyntax},
		{"SELECT now() - 15Min", "a span of time is INTERVAL '15Min'", status.InvalidSyntax},
		{"SELECT 12abc", "12abc is not a number at line 1", status.InvalidSyntax},
	} {
		refused(t, x, c.sql, c.text, c.code)
	}
}
