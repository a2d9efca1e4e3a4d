package sqlexec

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"varve/engine/status"
)

// TestRowsNoPartTakes holds that every statement that writes refuses a row whose primary key no part takes, and that
// the table goes on.
func TestRowsNoPartTakes(t *testing.T) {
	x, dir := copyStore(t)
	long := strings.Repeat("k", 1_200_000)
	outcomeOf(t, x,
		"CREATE TABLE t (host STRING PRIMARY KEY, ts TIMESTAMP TIME INDEX, v BIGINT); INSERT INTO t VALUES ('a', 1, 1)")
	if err := os.MkdirAll(dir, 0o755); err != nil {
		t.Fatal(err)
	}
	for name, text := range map[string]string{"t.csv": "host,ts,v\n" + long + ",2,2\n",
		"t.json": `{"host":"` + long + `","ts":2,"v":2}` + "\n"} {
		if err := os.WriteFile(filepath.Join(dir, name), []byte(text), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	outcomeOf(t, x, "CREATE TABLE texts (ts TIMESTAMP TIME INDEX, host STRING); INSERT INTO texts VALUES (2, '"+long+
		"'); COPY texts TO 't.parquet' WITH (FORMAT = 'parquet')")
	for _, sql := range []string{
		"INSERT INTO t VALUES ('b', 2, 2), ('" + long + "', 3, 3)",
		"INSERT INTO t SELECT repeat('k', 1200000), 2::TIMESTAMP, 2",
		"INSERT INTO t (host, ts) SELECT host, ts FROM texts",
		"COPY t FROM 't.csv' WITH (FORMAT = 'csv')",
		"COPY t FROM 't.json' WITH (FORMAT = 'json')",
		"COPY t FROM 't.parquet' WITH (FORMAT = 'parquet')",
	} {
		refused(t, x, sql, "the primary key up to column host takes 12000", status.InvalidArguments)
		outcomeOf(t, x, "ADMIN flush_table('t')")
	}
	if got, want := outcomeOf(t, x, "SELECT host, v FROM t"),
		outcomeOf(t, x, "SELECT 'a' AS host, 1 AS v"); got != want {
		t.Errorf("got %s, want %s", got, want)
	}
}
