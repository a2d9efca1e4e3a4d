package iceberg_test

import (
	"bufio"
	"context"
	"encoding/json"
	"fmt"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"varve/server/servertest"
)

// clientsDir is the virtual environment of Python with the engines, see .ci/run. Where it is not, the test says so and
// is done; where VARVE_NEED_OPEN_CLIENTS is set it has to be there.
func clientsDir(t *testing.T) string {
	t.Helper()
	dir := os.Getenv("VARVE_OPEN_CLIENTS")
	_, err := os.Stat(filepath.Join(dir, "bin", "python"))
	if dir != "" && err == nil {
		return dir
	}
	if os.Getenv("VARVE_NEED_OPEN_CLIENTS") != "" {
		t.Fatalf("the readers of open tables are missing: VARVE_OPEN_CLIENTS is %q: %v", dir, err)
	}
	t.Log("the readers of open tables are missing: nothing was asked of them")
	return ""
}

// reader is an engine that reads open tables.
type reader struct {
	name string
	in   io.WriteCloser
	out  *bufio.Scanner
}

// startReader starts an engine as a user.
func startReader(t *testing.T, dir, name, addr, user string) *reader {
	t.Helper()
	ctx, cancel := context.WithTimeout(context.Background(), 5*time.Minute) // it ends by the end of its input
	cmd := exec.CommandContext(ctx, filepath.Join(dir, "bin", "python"), "read.py", name, addr, user)
	cmd.Dir = filepath.Join("testdata", "clients")
	cmd.Env = append(os.Environ(), "TZ=UTC", "HOME="+t.TempDir(), "PYTHONDONTWRITEBYTECODE=1")
	var failed strings.Builder
	cmd.Stderr = &failed
	in, err := cmd.StdinPipe()
	if err != nil {
		t.Fatal(err)
	}
	out, err := cmd.StdoutPipe()
	if err != nil {
		t.Fatal(err)
	}
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	r := &reader{name, in, bufio.NewScanner(out)}
	r.out.Buffer(nil, 16<<20)
	t.Cleanup(func() {
		defer cancel()
		in.Close() //nolint:errcheck // the program ends by it
		if err := cmd.Wait(); err != nil {
			t.Errorf("%s: %v\n%s", name, err, failed.String())
		}
	})
	if !r.out.Scan() || r.out.Text() != "ready" {
		t.Fatalf("%s does not start: %q", name, r.out.Text())
	}
	return r
}

// read asks for columns of a table.
func (r *reader) read(t *testing.T, table, where string, columns ...string) (rows [][]any) {
	t.Helper()
	q, err := json.Marshal(map[string]any{"db": "public", "table": table, "columns": columns, "where": where})
	if err == nil {
		_, err = fmt.Fprintf(r.in, "%s\n", q)
	}
	if err != nil {
		t.Fatal(err)
	}
	if !r.out.Scan() {
		t.Fatalf("%s does not read %s %q", r.name, table, columns)
	}
	if err := json.Unmarshal(r.out.Bytes(), &rows); err != nil {
		t.Fatalf("%s: %v: %s", r.name, err, r.out.Text())
	}
	return rows
}

// sorted are rows as text, in order.
func sorted(rows [][]any) (lines []string) {
	for _, r := range rows {
		lines = append(lines, fmt.Sprint(r...))
	}
	slices.Sort(lines)
	return lines
}

// agree holds the rows that engines read against those of SQL, whose columns are texts.
func agree(t *testing.T, h *servertest.House, readers []*reader, what, table, where string, columns ...string) {
	t.Helper()
	texts := make([]string, len(columns))
	for i, c := range columns {
		texts[i] = "CAST(" + c + " AS STRING)"
		if c == "ts" {
			texts[i] = "CAST(CAST(CAST(ts AS TIMESTAMP(6)) AS BIGINT) AS STRING)"
		}
	}
	statement := "SELECT " + strings.Join(texts, ", ") + " FROM " + table
	if where != "" {
		statement += " WHERE " + where
	}
	want := sorted(h.Selected(statement, ann...))
	if len(want) == 0 {
		t.Errorf("%s: SQL has no rows", what)
	}
	for _, r := range readers {
		if got := sorted(r.read(t, table, where, columns...)); !slices.Equal(got, want) {
			t.Errorf("%s, read by %s:\n got %q\nwant %q", what, r.name, got, want)
		}
	}
}

// TestOpenClients: engines of others read the same rows as SQL, after each change.
func TestOpenClients(t *testing.T) {
	dir := clientsDir(t)
	if dir == "" {
		return
	}
	h := start(t)
	var readers []*reader
	for _, name := range []string{"pyiceberg", "duckdb"} {
		readers = append(readers, startReader(t, dir, name, h.URL+"/v1/iceberg", "ann:a"))
	}
	export := func(tables ...string) {
		for _, name := range tables {
			do(h, "ADMIN export_table('"+name+"')")
		}
	}
	do(h, `CREATE TABLE t (host STRING PRIMARY KEY, ts TIMESTAMP TIME INDEX, v INT, f DOUBLE, u BIGINT UNSIGNED, b BOOLEAN, j JSON,
		d DECIMAL(10, 2), day DATE) WITH (open_format = 'iceberg')`)
	do(h, `INSERT INTO t VALUES ('a', '2026-01-01 10:00:00.123', 1, 1.5, 18446744073709551615, true, '{"k": [1, 2]}', 12345678.91, '2020-02-29'),
		('b', '2026-01-01 11:00:00', -2, -0.25, 7, false, NULL, -0.01, NULL), ('ü', '2026-01-02 00:00:00', NULL, NULL, NULL, NULL, NULL, NULL, NULL)`)
	export("t")
	all := []string{"host", "ts", "v", "f", "u", "b", "j", "d", "day"}
	agree(t, h, readers, "new table", "t", "", all...)
	agree(t, h, readers, "a text", "t", "host = 'b'", "host", "v")
	agree(t, h, readers, "a number", "t", "v < 0", "host", "v")

	do(h, "ALTER TABLE t MODIFY COLUMN v BIGINT")
	do(h, "ALTER TABLE t RENAME COLUMN f TO ratio")
	do(h, "ALTER TABLE t ADD COLUMN more STRING")
	do(h, "INSERT INTO t (host, ts, v, more) VALUES ('e', '2026-01-03 10:00:00', 9000000000, 'x')")
	export("t")
	agree(t, h, readers, "other columns", "t", "", "host", "ts", "v", "ratio", "more")

	do(h, "INSERT INTO t (host, ts, v, ratio) VALUES ('late', '2026-01-01 12:00:00', 4, 2.5), ('b', '2026-01-01 11:00:00', 5, 3.5)")
	do(h, "DELETE FROM t WHERE host = 'a'")
	export("t")
	agree(t, h, readers, "late, replaced and deleted rows", "t", "", "host", "ts", "v", "ratio", "more")
	do(h, "ALTER TABLE t MODIFY COLUMN v STRING")
	do(h, "ALTER TABLE t DROP COLUMN more")
	do(h, "ALTER TABLE t ADD COLUMN zone STRING DEFAULT 'old'")
	export("t")
	agree(t, h, readers, "another type, and a value for old rows", "t", "", "host", "ts", "v", "zone")

	var wide, names []string
	for i := range 50 {
		wide, names = append(wide, fmt.Sprintf("c%d INT", i)), append(names, fmt.Sprint(i))
	}
	do(h, "CREATE TABLE wide (ts TIMESTAMP TIME INDEX, "+strings.Join(wide, ", ")+") WITH (open_format = 'iceberg')")
	do(h, "INSERT INTO wide VALUES ('2026-01-01 10:00:00', "+strings.Join(names, ", ")+")")
	export("wide")
	agree(t, h, readers, "many columns", "wide", "", "ts", "c0", "c38")
	for _, r := range readers {
		got := sorted(r.read(t, "wide", "", "more_columns"))
		if len(got) != 1 || !strings.Contains(got[0], `"c49": "49"`) {
			t.Errorf("%s: the map is %q", r.name, got)
		}
	}

	do(h, "CREATE TABLE phy (ts TIMESTAMP TIME INDEX, val DOUBLE) ENGINE = metric WITH (physical_metric_table = '')")
	do(h, "CREATE TABLE up (host STRING PRIMARY KEY, ts TIMESTAMP TIME INDEX, val DOUBLE) ENGINE = metric "+
		"WITH (on_physical_table = 'phy')")
	do(h, "INSERT INTO up VALUES ('a', '2026-01-01 10:00:00', 1.5), ('b', '2026-01-02 10:00:00', 2.5)")
	do(h, "CREATE TABLE spans (ts TIMESTAMP(9) TIME INDEX, trace_id STRING, span_name STRING, duration_nano BIGINT UNSIGNED) "+
		"WITH (append_mode = 'true')")
	do(h, "INSERT INTO spans VALUES ('2026-01-01 10:00:00.123456', 't1', 'GET /', 1500), ('2026-01-01 10:00:01', 't2', 'x', 7)")
	do(h, "ALTER DATABASE public SET 'open_format' = 'iceberg'")
	export("up", "spans")
	agree(t, h, readers, "metrics", "up", "", "host", "ts", "val")
	agree(t, h, readers, "traces", "spans", "", "ts", "trace_id", "span_name", "duration_nano")
	for _, r := range readers {
		got := sorted(r.read(t, "", ""))
		for _, name := range []string{"public.t", "public.up", "public.spans"} {
			if !slices.Contains(got, name) {
				t.Errorf("%s finds the tables %q, not %s", r.name, got, name)
			}
		}
	}
}
