package sqlexec

import (
	"fmt"
	"testing"

	"varve/engine/status"
)

// TestCopyFromTimes holds which rows START_TIME and END_TIME take out of files of every format: start <= time < end,
// also where a bound is finer than the column or far outside of it.
func TestCopyFromTimes(t *testing.T) {
	x, _ := copyStore(t)
	outcomeOf(t, x,
		`CREATE TABLE src (n BIGINT, ts TIMESTAMP(3) TIME INDEX); INSERT INTO src VALUES (0, -1), (1, 1000), (2, 1001), (3, 2000), (4, 3000);`)
	for i, c := range []struct{ with, want string }{
		{"START_TIME = '1970-01-01 00:00:01'", "1,2,3,4"},
		{"END_TIME = '1970-01-01 00:00:02'", "0,1,2"},
		{"START_TIME = '1970-01-01 00:00:01.0000001', END_TIME = '1970-01-01 00:00:02.0000001'", "2,3"},
		{"START_TIME = '1970-01-01 00:00:01+00:00', END_TIME = '1970-01-01 00:00:01.001Z'", "1"},
		{"START_TIME = '0001-01-01', END_TIME = '9999-01-01'", "0,1,2,3,4"},
		{"START_TIME = '9999-01-01'", ""},
	} {
		for _, format := range []string{"csv", "json", "parquet"} {
			table := fmt.Sprintf("t%d%s", i, format)
			outcomeOf(t, x, fmt.Sprintf("COPY src TO 'a.%s'; CREATE TABLE %s LIKE src; COPY %s FROM 'a.%s' WITH (%s);",
				format, table, table, format, c.with))
			got, err := answer(x, &Session{}, "SELECT coalesce(string_agg(n::STRING, ',' ORDER BY n), '') FROM "+table,
				false)
			if err != nil || got.err != nil {
				t.Fatal(err, got.err)
			}
			if have := got.rows[0][0]; have != c.want {
				t.Errorf("%s WITH (%s): rows %s, want %s", format, c.with, have, c.want)
			}
		}
	}
	refused(t, x, "COPY src FROM 'a.csv' WITH (END_TIME = 'soon')", "END_TIME", status.InvalidArguments)
}
