package main

import (
	"compress/gzip"
	"context"
	"crypto/sha256"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"varve/engine"
	"varve/engine/vfs"
	"varve/sqlexec"
)

// crashed makes a data directory as a server leaves it that was killed: some rows are in parts, the last ones in the
// log.
func crashed(t *testing.T) string {
	t.Helper()
	live, dir := filepath.Join(t.TempDir(), "live"), filepath.Join(t.TempDir(), "data")
	e, err := engine.Open(engine.Options{FS: vfs.OS(), Dir: live, NoBackground: true, MinFree: 1})
	if err != nil {
		t.Fatal(err)
	}
	defer e.Close(context.Background(), false) //nolint:errcheck // the copy counts
	x := sqlexec.New(e, sqlexec.Options{})
	list,
		err := x.Parse(
		`CREATE TABLE t (ts TIMESTAMP(9) TIME INDEX, host STRING PRIMARY KEY, i BIGINT, u BIGINT UNSIGNED, s STRING, b BINARY, j JSON);
		INSERT INTO t VALUES (1700000000123456789, 'a', 9223372036854775807, 18446744073709551615, 'it''s "q"', x'00ff10', '{"a":[1,2]}');
		ADMIN flush_table('t');
		INSERT INTO t VALUES (1700000001123456789, 'ü日本', -9223372036854775808, 0, '', NULL, NULL), (1700000002000000000, 'c', NULL, NULL, NULL, x'', '[]')`)
	if err != nil {
		t.Fatal(err)
	}
	for _, st := range list {
		r, err := x.Execute(context.Background(), &sqlexec.Session{}, st)
		if err != nil {
			t.Fatal(err)
		}
		if r.Rows != nil {
			r.Rows.Close()
		}
	}
	if err := os.CopyFS(dir, os.DirFS(live)); err != nil {
		t.Fatal(err)
	}
	return dir
}

// treeHash is one of all names, modes, times and bytes below a directory.
func treeHash(t *testing.T, dir string) string {
	t.Helper()
	h := sha256.New()
	err := filepath.WalkDir(dir, func(name string, d fs.DirEntry, err error) error {
		if err != nil {
			return err
		}
		info, err := d.Info()
		if err != nil {
			return err
		}
		fmt.Fprintln(h, name, info.Mode(), info.Size(), info.ModTime())
		if !d.IsDir() {
			text, err := os.ReadFile(name)
			h.Write(text)
			return err
		}
		return nil
	})
	if err != nil {
		t.Fatal(err)
	}
	return fmt.Sprintf("%x", h.Sum(nil))
}

func TestSQLOfADirectory(t *testing.T) {
	dir, temp := crashed(t), t.TempDir()
	before := treeHash(t, dir)
	code, out, errs := command("sql", "--data", dir, "--temp-dir", temp, "--timezone", "UTC", "-e",
		"SELECT ts, host, i, u, s, b, j FROM t ORDER BY ts; USE public", "-e", "SELECT count(*) AS n FROM t")
	want := "ts\thost\ti\tu\ts\tb\tj\n" +
		"2023-11-14 22:13:20.123456789\ta\t9223372036854775807\t18446744073709551615\tit's \"q\"\t\\\\x00ff10\t{\"a\":[1,2]}\n" +
		"2023-11-14 22:13:21.123456789\tü日本\t-9223372036854775808\t0\t\t\\N\t\\N\n" +
		"2023-11-14 22:13:22.000000000\tc\t\\N\t\\N\t\\N\t\\\\x\t[]\n" +
		"n\n3\n"
	if code != 0 || out != want || errs != "" {
		t.Errorf("exit code %d, errors %q, printed\n%s\nwant\n%s", code, errs, out, want)
	}
	for format, want := range map[string]string{
		"csv":          "ts,s\r\n1700000000123456789,\"it's \"\"q\"\"\"\r\n1700000001123456789,\r\n1700000002000000000,\r\n",
		"csv-noheader": "1700000000123456789,\"it's \"\"q\"\"\"\r\n1700000001123456789,\r\n1700000002000000000,\r\n",
		"json":         "[\n{\"ts\":\"2023-11-14T23:13:20.123456789+01:00\",\"s\":\"it's \\\"q\\\"\"},\n{\"ts\":\"2023-11-14T23:13:21.123456789+01:00\",\"s\":\"\"},\n{\"ts\":\"2023-11-14T23:13:22.000000000+01:00\",\"s\":null}\n]\n",
	} {
		if code, got, errs := command("sql", "--data", dir, "--temp-dir", temp, "--timezone", "Europe/Berlin",
			"--format", format, "-e", "SELECT ts, s FROM t ORDER BY ts"); code != 0 || got != want {
			t.Errorf("%s: exit code %d, %s, printed\n%s\nwant\n%s", format, code, errs, got, want)
		}
	}
	if code, got, errs := command("sql", "--data", dir, "--temp-dir", temp, "--format", "arrow", "-e",
		"SELECT ts, s FROM t ORDER BY ts"); code != 0 || !strings.HasPrefix(got,
		"\xff\xff\xff\xff") || !strings.Contains(got, "it's \"q\"") {
		t.Errorf("arrow: exit code %d, %s, printed %q", code, errs, got)
	}
	for _, statement := range []string{"INSERT INTO t (ts) VALUES (1)", "DROP TABLE t",
		"/* no */ ADMIN flush_table('t')"} {
		if code, _, errs := command("sql", "--data", dir, "--temp-dir", temp, "-e", statement); code != exitUsage ||
			!strings.Contains(errs, "--data only reads") {
			t.Errorf("%s: exit code %d, %s", statement, code, errs)
		}
	}
	if after := treeHash(t, dir); after != before {
		t.Error("reading has changed the directory")
	}
	if left, err := os.ReadDir(temp); err != nil || len(left) > 0 {
		t.Errorf("temporary files are left: %v, %v", left, err)
	}
}

// TestSQLOfADamagedDirectory: what cannot be read is named, the rest is answered.
func TestSQLOfADamagedDirectory(t *testing.T) {
	dir := crashed(t)
	parts, err := filepath.Glob(filepath.Join(dir, "parts", "*"))
	if err != nil || len(parts) != 1 {
		t.Fatalf("parts %q, %v", parts, err)
	}
	if err := os.Truncate(parts[0], 10); err != nil {
		t.Fatal(err)
	}
	before := treeHash(t, dir)
	code, out, errs := command("sql", "--data", dir, "-e", "SELECT count(*) AS n FROM t", "--format", "line")
	if code != 0 || out != "2\n" || !strings.Contains(errs, filepath.Base(parts[0])+" is damaged: ") {
		t.Errorf("exit code %d, printed %q, %s", code, out, errs)
	}
	if after := treeHash(t, dir); after != before {
		t.Error("reading has changed the directory")
	}
}

// TestSQLOfABackup: a copy without a lock file is read as well.
func TestSQLOfABackup(t *testing.T) {
	dir := crashed(t)
	if err := os.Remove(filepath.Join(dir, "LOCK")); err != nil {
		t.Fatal(err)
	}
	before := treeHash(t, dir)
	if code, out, errs := command("sql", "--data", dir, "-e", "SELECT count(*) AS n FROM t", "--format",
		"line"); code != 0 || out != "3\n" {
		t.Errorf("exit code %d, printed %q, %s", code, out, errs)
	}
	if after := treeHash(t, dir); after != before {
		t.Error("reading has changed the directory")
	}
}

func TestSQLOfADirectoryInUse(t *testing.T) {
	dir := makeStore(t)
	lock, err := vfs.OS().Lock(filepath.Join(dir, "LOCK"))
	if err != nil {
		t.Fatal(err)
	}
	defer lock.Close()
	if code, _, errs := command("sql", "--data", dir, "-e", "SELECT 1"); code != exitFailed ||
		!strings.Contains(errs, "a server holds "+dir) {
		t.Errorf("exit code %d, %s", code, errs)
	}
	if code, _, errs := command("sql", "--data", t.TempDir(), "-e", "SELECT 1"); code != exitFailed ||
		!strings.Contains(errs, "is not a data directory") {
		t.Errorf("an empty directory: exit code %d, %s", code, errs)
	}
}

// TestSQLExitCodes: what a script learns of a failure.
func TestSQLExitCodes(t *testing.T) {
	dir := makeStore(t)
	script := filepath.Join(t.TempDir(), "x.sql")
	if err := os.WriteFile(script, []byte("SELECT v FROM a ORDER BY v;\nSELECT nope FROM a;\nSELECT s FROM b"),
		0o600); err != nil {
		t.Fatal(err)
	}
	for _, c := range []struct {
		name     string
		args     []string
		code     int
		out, err string
	}{
		{"an error ends", []string{"--data", dir, "-f", script}, exitFailed, "v\n10\n20\n",
			script + ": line 2: query failed (3000): "},
		{"keep going", []string{"--data", dir, "-f", script, "--keep-going"}, exitFailed, "v\n10\n20\ns\nx\n",
			"varve: a statement failed"},
		{"syntax", []string{"--data", dir, "-e", "SELEC 1"}, exitFailed, "", "query failed (1001): "},
		{"both", []string{"-e", "SELECT 1", "-f", script}, exitUsage, "", "-e and -f exclude each other"},
		{"format", []string{"-e", "SELECT 1", "--format", "xml"}, exitUsage, "", "--format"},
		{"zone", []string{"--data", dir, "-e", "SELECT 1", "--timezone", "Mars/Olympus"}, exitUsage, "",
			"Mars/Olympus"},
		{"no server", []string{"--url", "http://127.0.0.1:1", "-e", "SELECT 1"}, exitUnreachable, "",
			"cannot reach http://127.0.0.1:1: connection refused. Is the server running? (varve serve)"},
		{"no file", []string{"--data", dir, "-f", script + ".nope"}, exitFailed, "", "no such file"},
	} {
		t.Run(c.name, func(t *testing.T) {
			code, out, errs := command(append([]string{"sql"}, c.args...)...)
			if code != c.code || out != c.out || !strings.Contains(errs, c.err) {
				t.Errorf("exit code %d, printed %q, %s\nwant %d, %q, %s", code, out, errs, c.code, c.out, c.err)
			}
		})
	}
}

// TestSQLOfFiles: files give the counts that a server gives which has taken them in.
func TestSQLOfFiles(t *testing.T) {
	dir := t.TempDir()
	var lines strings.Builder
	for i := range 3000 {
		fmt.Fprintf(&lines, "{\"level\":%q,\"n\":%d,\"ok\":%t,\"in\":{\"b\":%d.5}}\n",
			[]string{"info", "warn", "error"}[i%3], i, i%2 == 0, i)
	}
	name := filepath.Join(dir, "app-1.ndjson.gz")
	file, err := os.Create(name)
	if err != nil {
		t.Fatal(err)
	}
	z := gzip.NewWriter(file)
	if _, err := z.Write([]byte(lines.String())); err != nil {
		t.Fatal(err)
	}
	if err := errors.Join(z.Close(), file.Close()); err != nil {
		t.Fatal(err)
	}
	const query = `SELECT level, count(*) AS n, sum(n) AS s, count_if(ok) AS k, max("in.b") AS b FROM app GROUP BY level ORDER BY level`
	s := serve(t, nil)
	if code, _, errs := command("ingest", "--url", s.url, "--table", "app", "--state", filepath.Join(dir, "state"),
		name); code != 0 {
		t.Fatalf("ingest: exit code %d, %s", code, errs)
	}
	_, want, _ := command("sql", "--url", s.url, "-e", query)
	temp := t.TempDir()
	code, got, errs := command("sql", "--file", filepath.Join(dir, "*.gz"), "--as", "app", "--temp-dir", temp, "-e",
		query)
	if code != 0 || got != want || !strings.Contains(got, "\nerror\t1000\t") ||
		!strings.Contains(errs, "3,000 rows stored") {
		t.Errorf("exit code %d, %s, printed\n%s\nwant\n%s", code, errs, got, want)
	}
	if code, got, errs := command("sql", "-q", "--file", name, "--temp-dir", temp, "-e", "SELECT count(*) FROM app_1",
		"--format", "line"); code != 0 || got != "3000\n" || errs != "" {
		t.Errorf("a table of a file's name: exit code %d, printed %q, %s", code, got, errs)
	}
	if left, err := os.ReadDir(temp); err != nil || len(left) > 0 {
		t.Errorf("temporary files are left: %v, %v", left, err)
	}
	for _, args := range [][]string{{"--as", "t", "-e", "SELECT 1"},
		{"--file", name, "--data", dir, "-e", "SELECT 1"}} {
		if code, _, _ := command(append([]string{"sql"}, args...)...); code != exitUsage {
			t.Errorf("%s: exit code %d", args, code)
		}
	}
}
