package e2e

import (
	"bytes"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"unicode/utf8"

	"varve/bench/gen"
	"varve/bench/process"
)

// sharedData is where samples of real logs lie when the repository stands in its usual place.
const sharedData = "../../../shared/data"

// chunk is the number of lines a sample is posted in at a time.
const chunk = 5000

// TestSamples posts the made shapes, asks about them, and asks again after a flush, a stop and a start.
func TestSamples(t *testing.T) {
	const rows = 20_000
	dir := t.TempDir()
	s := start(t, dir)
	for _, name := range []string{"access", "nested", "text"} {
		set, err := gen.New(name, gen.Options{Rows: rows, Seed: 1})
		if err != nil {
			t.Fatal(err)
		}
		for from := int64(0); from < rows; from += chunk {
			mustPost(t, s, write{table: name, timeIndex: set.TimeIndex, contentType: set.ContentType,
				body: set.Append(nil, from, from+chunk)}, chunk)
		}
	}
	want := expectations(t, rows)
	check := func(t *testing.T, s *process.Server) {
		for _, table := range []string{"access", "nested", "text"} {
			wantInt(t, s, "SELECT count(*) FROM "+table, rows)
		}
		for sql, n := range want {
			wantInt(t, s, sql, n)
		}
	}
	t.Run("in memory", func(t *testing.T) { check(t, s) })
	for _, table := range []string{"access", "nested", "text"} {
		wantInt(t, s, fmt.Sprintf("ADMIN flush_table('%s')", table), 0)
	}
	t.Run("in files", func(t *testing.T) { check(t, s) })
	stop(t, s)
	s = start(t, dir)
	t.Run("after a start", func(t *testing.T) { check(t, s) })
	t.Run("schema", func(t *testing.T) { checkAccessSchema(t, s) })
}

// expectations are questions about the made rows with their answers, found by looking at the lines.
func expectations(t *testing.T, rows int64) map[string]int64 {
	t.Helper()
	want := map[string]int64{}
	lines := map[string][]byte{}
	for _, name := range []string{"access", "nested", "text"} {
		set, err := gen.New(name, gen.Options{Rows: rows, Seed: 1})
		if err != nil {
			t.Fatal(err)
		}
		lines[name] = set.Append(nil, 0, rows)
	}
	for _, c := range []struct{ table, sub, sql string }{
		{"access", `"level":"error"`, "SELECT count(*) FROM access WHERE level = 'error'"},
		{"access", `"error_code":`, "SELECT count(error_code) FROM access"},
		{"access", `"cached":true`, "SELECT count(*) FROM access WHERE cached"},
		{"access", `"status":404`, "SELECT count(*) FROM access WHERE status = 404"},
		{"access", "Received block", "SELECT count(*) FROM access WHERE message LIKE 'Received block%'"},
		{"access", "dependencies", "SELECT count(*) FROM access WHERE message LIKE '%dependencies%'"},
		{"nested", `"collection":"feed.post"`, `SELECT count(*) FROM nested WHERE "commit.collection" = 'feed.post'`},
		{"nested", `"langs":["en"]`, `SELECT count(*) FROM nested WHERE "commit.record.langs" = '["en"]'`},
		{"nested", `\n`, `SELECT count(*) FROM nested WHERE "commit.record.text" LIKE '%new line é'`},
		{"nested", `"tier":"core"`, `SELECT count(*) FROM nested WHERE "relay.pod.labels.tier" = 'core'`},
		{"text", "/checkout", "SELECT count(*) FROM text WHERE message LIKE '%/checkout%'"},
	} {
		want[c.sql] = int64(bytes.Count(lines[c.table], []byte(c.sub)))
	}
	return want
}

// checkAccessSchema wants the column types that the interface document gives to the access shape.
func checkAccessSchema(t *testing.T, s *process.Server) {
	types := map[string]string{}
	r := query(t, s, "SELECT * FROM access ORDER BY ts LIMIT 1")
	for i, c := range r.Columns {
		types[c] = r.Types[i]
	}
	for column, want := range map[string]string{
		"ts": "TimestampMillisecond", "status": "Int64", "latency_ms": "Float64", "cached": "Boolean",
		"trace_id": "String", "error_code": "String",
	} {
		if types[column] != want {
			t.Errorf("column %s: type %q, want %s", column, types[column], want)
		}
	}
	if len(r.Columns) != 18 {
		t.Errorf("%d columns, want 18: %v", len(r.Columns), r.Columns)
	}
	wantSQLError(t, s, "SELECT nosuch FROM access", 400, 3000)
	wantSQLError(t, s, "SELECT 1 FROM nosuch", 400, 4001)
	wantSQLError(t, s, "SELECT 'open", 400, 2000)
}

// TestRealLogs posts the sample files and wants every line there, with its bytes.
func TestRealLogs(t *testing.T) {
	texts, err1 := filepath.Glob(sharedData + "/text/*.log")
	objects, err2 := filepath.Glob(sharedData + "/json/*.ndjson")
	if err1 != nil || err2 != nil {
		t.Fatal(err1, err2)
	}
	if len(texts)+len(objects) == 0 {
		t.Log("no sample files beside the repository: only made logs were tested (TestSamples)")
		return
	}
	dir := t.TempDir()
	s := start(t, dir)
	rows := map[string]int64{}
	longest := map[string]int64{}
	for _, name := range texts {
		table := tableName(name)
		rows[table], longest[table] = postText(t, s, table, name)
	}
	for _, name := range objects {
		table := tableName(name)
		rows[table] = postObjects(t, s, table, name)
	}
	if err := s.Kill(); err != nil {
		t.Fatal(err)
	}
	s = start(t, dir)
	for table, n := range rows {
		wantInt(t, s, "SELECT count(*) FROM "+table, n)
		if chars, ok := longest[table]; ok {
			wantInt(t, s, "SELECT max(char_length(message)) FROM "+table, chars)
		}
	}
}

func tableName(file string) string {
	base := filepath.Base(file)
	return "real_" + strings.ReplaceAll(strings.TrimSuffix(base, filepath.Ext(base)), "-", "_")
}

// postText posts a file of lines. It gives the number of rows to expect (lines that are neither empty nor broken UTF-8)
// and the characters of the longest.
func postText(t *testing.T, s *process.Server, table, name string) (rows, longest int64) {
	t.Helper()
	body, err := os.ReadFile(name)
	if err != nil {
		t.Fatal(err)
	}
	for line := range strings.SplitSeq(string(body), "\n") {
		line = strings.TrimSuffix(line, "\r")
		if line == "" || !utf8.ValidString(line) {
			continue
		}
		rows++
		longest = max(longest, int64(utf8.RuneCountInString(line)))
	}
	mustPost(t, s, write{table: table, contentType: "text/plain", body: body}, rows)
	return rows, longest
}

// postObjects posts a file of objects in pieces.
func postObjects(t *testing.T, s *process.Server, table, name string) (rows int64) {
	t.Helper()
	body, err := os.ReadFile(name)
	if err != nil {
		t.Fatal(err)
	}
	timeIndex := "ts;epoch;ms"
	if bytes.HasPrefix(body, []byte(`{"time_us"`)) {
		timeIndex = "time_us;epoch;us"
	}
	lines := bytes.SplitAfter(bytes.TrimRight(body, "\n"), []byte("\n"))
	for len(lines) > 0 {
		n := min(chunk, len(lines))
		mustPost(t, s, write{table: table, timeIndex: timeIndex, contentType: "application/x-ndjson",
			body: bytes.Join(lines[:n], nil)}, int64(n))
		rows += int64(n)
		lines = lines[n:]
	}
	return rows
}
