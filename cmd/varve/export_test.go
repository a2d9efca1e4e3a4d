package main

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"net/http/httputil"
	"net/url"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync/atomic"
	"syscall"
	"testing"

	"github.com/apache/arrow-go/v18/arrow/ipc"
	"github.com/klauspost/compress/zstd"
)

// ask runs a statement on a server and gives its answer.
func (s *served) ask(format, sql string) string { return s.askIn("public", format, sql) }

// askIn is ask in another database.
func (s *served) askIn(db, format, sql string) string {
	s.t.Helper()
	resp, err := http.PostForm(s.url+"/v1/sql", url.Values{"sql": {sql}, "format": {format}, "db": {db}})
	if err != nil {
		s.t.Fatal(err)
	}
	defer resp.Body.Close()
	body, err := io.ReadAll(resp.Body)
	if err != nil || resp.StatusCode != http.StatusOK {
		s.t.Fatalf("%s: %d %s %v", sql, resp.StatusCode, body, err)
	}
	return string(body)
}

// ingest writes lines of JSON to a table whose time index is ts.
func (s *served) ingest(table, timeIndex, contentType, body string) {
	s.t.Helper()
	q := url.Values{"table": {table}, "pipeline_name": {"service_identity"}, "custom_time_index": {timeIndex}}
	resp, err := http.Post(s.url+"/v1/ingest?"+q.Encode(), contentType, strings.NewReader(body))
	if err != nil {
		s.t.Fatal(err)
	}
	defer resp.Body.Close()
	if answer, err := io.ReadAll(resp.Body); err != nil || resp.StatusCode != http.StatusOK {
		s.t.Fatalf("ingest into %s: %d %s %v", table, resp.StatusCode, answer, err)
	}
}

const everyType = ` (ts TIMESTAMP(9) TIME INDEX, host STRING, i8 TINYINT, i64 BIGINT, u64 BIGINT UNSIGNED, f FLOAT, d DOUBLE, b BOOLEAN, s STRING, bin BINARY, j JSON, da DATE,
	t6 TIMESTAMP(6), t3 TIMESTAMP(3), t0 TIMESTAMP(0), dec DECIMAL(10,2), "a ""b,c" STRING, PRIMARY KEY(host)) WITH (append_mode='true')`

// TestExportRoundTrip: rows of every type come back from every format as they were: values, NULL beside empty texts,
// types, nanoseconds.
func TestExportRoundTrip(t *testing.T) {
	s := serve(t, nil)
	s.ask("csv", "CREATE TABLE a"+everyType)
	s.ask("csv", `INSERT INTO a VALUES
		('2026-11-21T03:46:00.123456789Z', 'h1', -128, 9223372036854775807, 18446744073709551615, 1.99, 'NaN', true, '', X'00ff0a', '{"a":[1,"x"],"b":null}', '2026-11-21',
			'2026-11-21T03:46:00.123456Z', '2026-11-21T03:46:00.123Z', '2026-11-21T03:46:00Z', 12.30, 'x'),
		('2026-11-21T03:46:00.123456789Z', 'h1', NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL),
		('1969-12-31T23:59:59.999999999Z', 'h"2,', 127, -9223372036854775808, 0, -0.0, '-inf', false, 'NULL', X'', '[1,"x"]', '1969-12-31',
			'1969-12-31T23:59:59.000001Z', '1969-12-31T23:59:59.001Z', '1969-12-31T23:59:59Z', -0.05, 'a,"b"
c'),
		('2262-04-11T23:47:16.854775807Z', 'größe 🙂', 0, 0, 1, 3.4e38, 1e-320, NULL, ' a	b\n', X'7b', '1.5', '9999-12-31', '2026-11-21', '2026-11-21', '2026-11-21', 99999999.99, '')`)
	const rows = `SELECT * FROM %s ORDER BY ts, i8`
	want := s.ask("arrow", fmt.Sprintf(rows, "a"))
	dir := filepath.Dir(s.dataDir())
	copies := filepath.Join(s.dataDir(), "copy")
	if err := os.MkdirAll(copies, 0o755); err != nil {
		t.Fatal(err)
	}
	for i, name := range []string{"a.csv", "a.csv.gz", "a.ndjson", "a.ndjson.zst", "a.parquet"} {
		t.Run(name, func(t *testing.T) {
			file := filepath.Join(copies, name)
			if code, out, errs := command("export", "--url", s.url, "-t", "a", "-o", file); code != 0 || out != "" {
				t.Fatalf("export: %d %s %s", code, out, errs)
			}
			table := fmt.Sprintf("b%d", i)
			s.ask("csv", "CREATE TABLE "+table+everyType)
			format := strings.Split(name, ".")[1]
			if format == "parquet" { // text takes all of a type that has no type of its own there
				s.ask("csv", "COPY "+table+" FROM '"+name+"' WITH (FORMAT='parquet')")
			} else {
				s.ask("csv", "COPY "+table+" FROM '"+name+"' WITH (FORMAT='"+strings.Replace(format, "nd", "", 1)+"')")
			}
			if got := s.ask("arrow", fmt.Sprintf(rows, table)); got != want {
				t.Errorf("got\n%s\nwant\n%s", s.ask("csvWithNamesAndTypes", fmt.Sprintf(rows, table)),
					s.ask("csvWithNamesAndTypes", fmt.Sprintf(rows, "a")))
			}
		})
	}
	// A stream of Arrow is what the server itself says.
	if code, out, errs := command("export", "--url", s.url, "--query", fmt.Sprintf(rows, "a"), "--format",
		"arrow"); code != 0 || out != want {
		t.Errorf("export as arrow: %d %d bytes, want %d; %s", code, len(out), len(want), errs)
	}
	if left, err := filepath.Glob(filepath.Join(dir, "*", "copy", "*.part*")); err != nil || len(left) > 0 {
		t.Errorf("there are %v %v", left, err)
	}
}

// TestExportIngestRoundTrip: logs come back through ingest, as lines and as an array.
func TestExportIngestRoundTrip(t *testing.T) {
	s := serve(t, nil)
	s.ingest("logs", "ts;epoch;ns", "application/x-ndjson",
		`{"ts":1795232760123456789,"message":"a \"b\"\n\u0001","status":9007199254740993,"took":0.1,"ok":true,"ctx":{"user":"o'brien"}}
{"ts":1795232760123456789,"message":"","status":-1,"took":2.0,"ok":false}
{"ts":1795232760123456788,"message":"größe 🙂","level":"error"}`)
	const rows = `SELECT ts, message, status, took, ok, level, "ctx.user" FROM %s ORDER BY ts, status`
	for name, contentType := range map[string]string{"ndjson": "application/x-ndjson", "json": "application/json"} {
		for _, flag := range []string{"--raw-times", "--no-raw-times"} {
			args, index := []string{"export", "--url", s.url, "-t", "logs", "--format", name}, "ts;datestr;%+"
			if flag == "--raw-times" {
				args, index = append(args, flag), "ts;epoch;ns"
			}
			code, out, errs := command(args...)
			if code != 0 {
				t.Fatalf("export: %d %s", code, errs)
			}
			table := name + strings.ReplaceAll(flag, "-", "")
			s.ingest(table, index, contentType, out)
			if got, want := s.ask("csvWithNamesAndTypes", fmt.Sprintf(rows, table)),
				s.ask("csvWithNamesAndTypes", fmt.Sprintf(rows, "logs")); got != want {
				t.Errorf("%s %s: got\n%s\nwant\n%s", name, flag, got, want)
			}
		}
	}
}

// dataDir is the directory that a server was started on.
func (s *served) dataDir() string {
	return s.command.Args[slices.Index(s.command.Args, "--data-dir")+1]
}

// fill makes a table of many slices: 170,000 rows, of which 60,000 are of one instant.
func fill(s *served) {
	s.t.Helper()
	for part := range 4 {
		var b bytes.Buffer
		for i := range 42_500 {
			n := part*42_500 + i
			at := 1795232760000000000 + int64(n)*1_000_003
			if n >= 100_000 && n < 160_000 {
				at = 1795232760000000000 + 100_000*1_000_003
			}
			fmt.Fprintf(&b, `{"ts":%d,"n":%d,"message":"message %d"}`+"\n", at, n, n%7)
		}
		s.ingest("many", "ts;epoch;ns", "application/x-ndjson", b.String())
	}
}

// proxy stands before a server and lets trouble do what it wants with requests for rows, which are counted from 1;
// trouble tells whether it answered.
func proxy(t *testing.T, to string, trouble func(n int64, w http.ResponseWriter, r *http.Request) bool) string {
	t.Helper()
	target, err := url.Parse(to)
	if err != nil {
		t.Fatal(err)
	}
	forward := httputil.NewSingleHostReverseProxy(target)
	var n atomic.Int64
	p := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		body, err := io.ReadAll(r.Body)
		if err != nil {
			t.Error(err)
		}
		r.Body = io.NopCloser(bytes.NewReader(body))
		if bytes.Contains(body, []byte("format=arrow")) && trouble(n.Add(1), w, r) {
			return
		}
		forward.ServeHTTP(w, r)
	}))
	t.Cleanup(p.Close)
	return p.URL
}

// cutting passes an answer on up to a size, and closes the connection then.
type cutting struct {
	http.ResponseWriter
	left int
}

func (c *cutting) Write(p []byte) (int, error) {
	if len(p) >= c.left {
		c.ResponseWriter.Write(p[:c.left]) //nolint:errcheck // the connection goes
		panic(http.ErrAbortHandler)
	}
	c.left -= len(p)
	return c.ResponseWriter.Write(p)
}

func (c *cutting) Unwrap() http.ResponseWriter { return c.ResponseWriter }

// lines are those of a text, sorted.
func sortedLines(text string) []string {
	list := strings.Split(text, "\n")
	slices.Sort(list)
	return list
}

// TestExportThroughTrouble: answers that break off, a server that is busy or away, and an export that is ended and goes
// on make no row come twice or not at all.
func TestExportThroughTrouble(t *testing.T) {
	s := serve(t, nil)
	fill(s)
	_, whole, _ := command("export", "--url", s.url, "-t", "many", "--raw-times", "--format", "ndjson")
	want := sortedLines(whole)
	if len(want) != 170_001 {
		t.Fatalf("the table has %d lines", len(want))
	}
	for i, line := range strings.Split(whole, "\n")[:100_000] {
		if !strings.Contains(line, fmt.Sprintf(`"n":%d}`, i)) {
			t.Fatalf("line %d is %s", i, line)
		}
	}
	target, _ := url.Parse(s.url)
	forward := httputil.NewSingleHostReverseProxy(target)
	busy := func(n int64, w http.ResponseWriter, r *http.Request) bool {
		switch n {
		case 1:
			w.Header().Set("Retry-After", "0")
			w.WriteHeader(http.StatusTooManyRequests)
		case 2:
			w.WriteHeader(http.StatusServiceUnavailable)
		case 4, 6:
			forward.ServeHTTP(&cutting{w, 700_000}, r)
		case 8:
			panic(http.ErrAbortHandler)
		default:
			return false
		}
		return true
	}
	dir := t.TempDir()
	for _, name := range []string{"a.ndjson.gz", "a.arrow"} {
		t.Run(name, func(t *testing.T) {
			file := filepath.Join(dir, name)
			args := []string{"export", "--url", proxy(t, s.url, busy), "-t", "many", "-o", file}
			if name != "a.arrow" {
				args = append(args, "--raw-times")
			}
			code, _, errs := command(args...)
			if code != 0 || strings.Count(errs, "Trying again") != 5 || !strings.Contains(errs, "170,000 rows") ||
				!strings.Contains(errs, "5 retries") {
				t.Fatalf("export: %d %s", code, errs)
			}
			checkMany(t, s, file, want)
		})
	}
	for _, name := range []string{"b.json.zst", "b.parquet"} {
		t.Run("resume "+name, func(t *testing.T) { resume(t, s, filepath.Join(dir, name), want) })
	}
}

// checkMany compares the rows of a file with those of the table.
func checkMany(t *testing.T, s *served, file string, want []string) {
	t.Helper()
	copies := filepath.Join(s.dataDir(), "copy")
	if err := os.MkdirAll(copies, 0o755); err != nil {
		t.Fatal(err)
	}
	base := filepath.Base(file)
	content, err := os.ReadFile(file)
	if err != nil {
		t.Fatal(err)
	}
	format := strings.Split(base, ".")[1]
	switch format {
	case "ndjson":
		format = "json"
	case "json":
		s.ask("csv", "DROP TABLE IF EXISTS back")
		unpacked := content
		if strings.HasSuffix(base, ".zst") {
			unpacked = unzstd(t, content)
		}
		s.ingest("back", "ts;epoch;ns", "application/json", string(unpacked))
		checkBack(t, s, want)
		return
	case "arrow":
		if strings.HasSuffix(base, ".zst") {
			content = unzstd(t, content)
		}
		r, err := ipc.NewReader(bytes.NewReader(content))
		if err != nil {
			t.Fatal(err)
		}
		rows := int64(0)
		for r.Next() {
			rows += r.RecordBatch().NumRows()
		}
		if r.Err() != nil || rows != int64(len(want)-1) ||
			!bytes.HasSuffix(content, []byte("\xff\xff\xff\xff\x00\x00\x00\x00")) {
			t.Errorf("the stream has %d rows, %v", rows, r.Err())
		}
		return
	}
	if err := os.WriteFile(filepath.Join(copies, base), content, 0o644); err != nil {
		t.Fatal(err)
	}
	s.ask("csv", "DROP TABLE IF EXISTS back")
	s.ask("csv", `CREATE TABLE back ("n" BIGINT, message STRING, ts TIMESTAMP(9) TIME INDEX) WITH (append_mode='true')`)
	s.ask("csv", "COPY back FROM '"+base+"' WITH (FORMAT='"+format+"')")
	checkBack(t, s, want)
}

// checkBack compares the rows of the table back.
func checkBack(t *testing.T, s *served, want []string) {
	t.Helper()
	_, out, _ := command("export", "--url", s.url, "-t", "back", "--raw-times", "--format", "ndjson", "--columns",
		"message,n,ts")
	_, had, _ := command("export", "--url", s.url, "-t", "many", "--raw-times", "--format", "ndjson", "--columns",
		"message,n,ts")
	if got, had := sortedLines(out), sortedLines(had); !slices.Equal(got, had) || len(got) != len(want) {
		t.Errorf("%d rows came back, want %d", len(got)-1, len(want)-1)
	}
}

// resume ends an export by Ctrl-C in the middle, and goes on.
func resume(t *testing.T, s *served, file string, want []string) {
	var exported atomic.Pointer[os.Process]
	started := make(chan struct{})
	address := proxy(t, s.url, func(n int64, _ http.ResponseWriter, r *http.Request) bool {
		if n != 3 {
			return false
		}
		<-started
		exported.Load().Signal(syscall.SIGINT) //nolint:errcheck // then it does not end, which is seen
		<-r.Context().Done()
		return true
	})
	// --raw-times keeps what CSV and JSON say the same as what is compared.
	args := []string{"export", "--url", address, "-t", "many", "--raw-times", "-o", file, "--newest-first"}
	c := program(nil, args...)
	var errs strings.Builder
	c.Stderr = &errs
	if err := c.Start(); err != nil {
		t.Fatal(err)
	}
	exported.Store(c.Process)
	close(started)
	if c.Wait(); c.ProcessState.ExitCode() != 130 || !strings.Contains(errs.String(), "--resume goes on") { //nolint:errcheck // its state says how it ended
		t.Fatalf("got %d %s", c.ProcessState.ExitCode(), errs.String())
	}
	if _, err := os.Stat(file); !errors.Is(err, os.ErrNotExist) {
		t.Fatalf("the file has its name already: %v", err)
	}
	if code, _, errs := command(append(slices.Clone(args), "--resume", "--where", "n > 5")...); code != exitUsage ||
		!strings.Contains(errs, "another export") {
		t.Errorf("going on with other rows: %d %s", code, errs)
	}
	code, _, said := command(append(slices.Clone(args), "--resume")...)
	if code != 0 || !strings.Contains(said, "170,000 rows, ") || strings.Contains(said, "counted at the start") {
		t.Fatalf("resume: %d %s", code, said)
	}
	checkMany(t, s, file, want)
	if left, _ := filepath.Glob(file + ".*"); len(left) > 0 {
		t.Errorf("there are %v", left)
	}
}

// TestExportRefusals: what is wrong is said in one sentence, with the code for it, before a file is made.
func TestExportRefusals(t *testing.T) {
	s := serve(t, nil)
	s.ask("csv", "CREATE TABLE app (ts TIMESTAMP TIME INDEX, level STRING, message STRING)")
	s.ask("csv", "CREATE VIEW errors AS SELECT * FROM app")
	dir := t.TempDir()
	for _, c := range []struct {
		name string
		args []string
		code int
		want string
	}{
		{"nothing", nil, exitUsage, "--table, --query or --output-dir"},
		{"both", []string{"-t", "app", "--query", "SELECT 1"}, exitUsage, "--query"},
		{"two conditions", []string{"-t", "app", "--where", "1=1", "--search", "x"}, exitUsage, "--search"},
		{"no table", []string{"-t", "ap"}, exitFailed, "Did you mean 'app'?"},
		{"no database", []string{"-t", "app", "--db", "x"}, exitFailed, "Database not found: x"},
		{"no column", []string{"-t", "app", "--columns", "level,mesage"}, exitUsage,
			"no column mesage. Did you mean 'message'?"},
		{"no field", []string{"-t", "app", "--search", "levle:x"}, exitUsage, "--search: "},
		{"condition", []string{"-t", "app", "--where", "x = 1"}, exitFailed, "x"},
		{"time", []string{"-t", "app", "--since", "soon"}, exitUsage, "--since soon"},
		{"zone", []string{"-t", "app", "--timezone", "Mars"}, exitUsage, "--timezone Mars"},
		{"format of the name", []string{"-t", "app", "-o", filepath.Join(dir, "a.xls")}, exitUsage, "give --format"},
		{"format", []string{"-t", "app", "--format", "xls"}, exitUsage, "--format"},
		{"packed parquet", []string{"-t", "app", "-o", filepath.Join(dir, "a.parquet.gz")}, exitUsage, "leave out .gz"},
		{"raw times of arrow", []string{"-t", "app", "--format", "arrow", "--raw-times"}, exitUsage, "--raw-times"},
		{"resume of a stream", []string{"-t", "app", "--resume"}, exitUsage, "--output"},
		{"resume of a statement", []string{"--query", "SELECT 1", "-o", filepath.Join(dir, "a.csv"), "--resume"},
			exitUsage, "--table"},
		{"range of a view", []string{"-t", "errors", "--since", "1h"}, exitUsage, "no time index"},
		{"statement without rows", []string{"--query", "CREATE TABLE x (ts TIMESTAMP TIME INDEX)", "-o",
			filepath.Join(dir, "b.csv")}, exitFailed, "no rows"},
		{"statement", []string{"--query", "SELEC 1"}, exitFailed, "query failed ("},
		{"names twice", []string{"--query", "SELECT 1 AS a, 2 AS a"}, exitFailed, `two columns are named "a"`},
		{"no server", []string{"-t", "app", "--url", "http://127.0.0.1:1"}, exitUnreachable, "cannot reach"},
		{"no directory", []string{"-t", "app", "-o", "/nonexistent/a.csv"}, exitFailed, "/nonexistent/a.csv.part"},
	} {
		t.Run(c.name, func(t *testing.T) {
			code, _, errs := command(append([]string{"export", "--url", s.url}, c.args...)...)
			if code != c.code || !strings.Contains(errs, c.want) || !strings.HasPrefix(errs, "varve: ") {
				t.Errorf("got %d %s, want %d %s", code, errs, c.code, c.want)
			}
		})
	}
	if files, _ := filepath.Glob(filepath.Join(dir, "*")); len(files) > 0 {
		t.Errorf("there are %v", files)
	}
}

// unzstd unpacks.
func unzstd(t *testing.T, packed []byte) []byte {
	t.Helper()
	r, err := zstd.NewReader(bytes.NewReader(packed))
	if err != nil {
		t.Fatal(err)
	}
	defer r.Close()
	text, err := io.ReadAll(r)
	if err != nil {
		t.Fatal(err)
	}
	return text
}
