package main

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"io"
	"io/fs"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"

	"varve/engine"
	"varve/engine/vector"
	"varve/engine/vfs"
	"varve/sqlexec"
)

// command runs a command line and gives its exit code and what it printed.
func command(args ...string) (code int, out, errs string) {
	var o, e bytes.Buffer
	code = run(args, streams{out: &o, err: &e})
	return code, o.String(), e.String()
}

// makeStore makes a data directory with two tables by SQL.
func makeStore(t *testing.T) string {
	t.Helper()
	dir := filepath.Join(t.TempDir(), "data")
	script(t, dir,
		"CREATE TABLE a (ts TIMESTAMP TIME INDEX, v INT); INSERT INTO a VALUES (1, 10), (2, 20); CREATE TABLE b (ts TIMESTAMP TIME INDEX, s STRING); INSERT INTO b VALUES (1, 'x')")
	return dir
}

// script runs statements on a data directory and gives the first value of the last one's answer.
func script(t *testing.T, dir, sql string) string {
	t.Helper()
	e, err := engine.Open(engine.Options{FS: vfs.OS(), Dir: dir, NoBackground: true, MinFree: 1})
	if err != nil {
		t.Fatal(err)
	}
	x := sqlexec.New(e, sqlexec.Options{})
	statements, err := x.Parse(sql)
	if err != nil {
		t.Fatal(err)
	}
	value := ""
	for _, st := range statements {
		r, err := x.Execute(context.Background(), &sqlexec.Session{}, st)
		if err != nil {
			t.Fatal(err)
		}
		if r.Rows == nil {
			continue
		}
		for {
			var b vector.Batch
			ok, err := r.Rows.Next(&b)
			if err != nil {
				t.Fatal(err)
			}
			if !ok {
				break
			}
			value = b.Cols[0].Flatten(b.N).Str(0)
		}
		r.Rows.Close()
	}
	if err := e.Close(context.Background(), false); err != nil {
		t.Fatal(err)
	}
	return value
}

const all = "SELECT CAST(sum(v) AS STRING) FROM a"

func TestBackupAndRestore(t *testing.T) {
	data, dir := makeStore(t), t.TempDir()
	backup := filepath.Join(dir, "backup")
	if code, _, errs := command("backup", backup, "--data", data); code != 0 {
		t.Fatalf("backup: %d %s", code, errs)
	}
	if code, _, errs := command("backup", backup, "--data", data); code != exitFailed ||
		!strings.Contains(errs, "not empty") {
		t.Errorf("backup into a full directory: %d %s", code, errs)
	}
	if names, err := os.ReadDir(filepath.Join(data, engine.BackupsDir)); err != nil || len(names) > 0 {
		t.Errorf("snapshots stay: %v %v", names, err)
	}
	if code, out, errs := command("restore", backup, "--check"); code != 0 || !strings.Contains(out, "3 files") {
		t.Errorf("restore --check: %d %s %s", code, out, errs)
	}
	whole := filepath.Join(dir, "whole")
	if code, _, errs := command("restore", backup, "--data", whole); code != 0 {
		t.Fatalf("restore: %d %s", code, errs)
	}
	if got := script(t, whole, all); got != "30" {
		t.Errorf("the restored table sums to %q", got)
	}
	if got := script(t, whole, "INSERT INTO a VALUES (3, 30); "+all); got != "60" {
		t.Errorf("the restored table and a row more: %q", got)
	}
	if got := script(t, whole, all); got != "60" {
		t.Errorf("after opening it again: %q", got)
	}
	if code, _, errs := command("restore", backup, "--data", whole); code != exitFailed ||
		!strings.Contains(errs, "not empty") {
		t.Errorf("restore into a full directory: %d %s", code, errs)
	}
	some := filepath.Join(dir, "some")
	if code, out, errs := command("restore", backup, "--data", some, "--tables", "a"); code != 0 ||
		!strings.Contains(out, "1 table,") {
		t.Fatalf("restore of one table: %d %s %s", code, out, errs)
	}
	if parts, err := filepath.Glob(filepath.Join(some, "parts", "*")); err != nil || len(parts) != 1 {
		t.Errorf("the one restored table has the parts %v, %v", parts, err)
	}
	if got := script(t, some, all); got != "30" {
		t.Errorf("the one restored table sums to %q", got)
	}
	if code, _, errs := command("restore", backup, "--data", filepath.Join(dir, "none"), "--tables", "zzz"); code !=
		exitFailed || !strings.Contains(errs, "zzz") {
		t.Errorf("restore of a table that is not there: %d %s", code, errs)
	}
	if code, _, _ := command("restore", backup); code != exitUsage {
		t.Errorf("restore without a place: %d", code)
	}
}

func TestBackupAsStream(t *testing.T) {
	data, dir := makeStore(t), t.TempDir()
	code, out, errs := command("backup", "-", "--data", data)
	if code != 0 {
		t.Fatalf("backup: %d %s", code, errs)
	}
	file := filepath.Join(dir, "backup.tar")
	if err := os.WriteFile(file, []byte(out), 0o600); err != nil {
		t.Fatal(err)
	}
	to := filepath.Join(dir, "data")
	if code, _, errs := command("restore", file, "--data", to); code != 0 {
		t.Fatalf("restore: %d %s", code, errs)
	}
	if got := script(t, to, all); got != "30" {
		t.Errorf("the restored table sums to %q", got)
	}
	if err := os.WriteFile(file, []byte(out[:len(out)/2]), 0o600); err != nil {
		t.Fatal(err)
	}
	if code, _, errs := command("restore", file, "--data", filepath.Join(dir, "half")); code == 0 {
		t.Errorf("half a stream was restored: %s", errs)
	}
	left, err := filepath.Glob(filepath.Join(dir, "varve-restore-*"))
	if err != nil || len(left) > 0 {
		t.Errorf("left over: %v %v", left, err)
	}
}

func TestIncrementalBackup(t *testing.T) {
	data, dir := makeStore(t), t.TempDir()
	first, second := filepath.Join(dir, "1"), filepath.Join(dir, "2")
	for _, args := range [][]string{{"backup", first, "--data", data},
		{"backup", second, "--data", data, "--base", first}} {
		if code, _, errs := command(args...); code != 0 {
			t.Fatalf("%v: %d %s", args, code, errs)
		}
	}
	names, err := filepath.Glob(filepath.Join(first, "parts", "*"))
	if err != nil || len(names) != 2 {
		t.Fatal(names, err)
	}
	for _, n := range names {
		a, err := os.Stat(n)
		if err != nil {
			t.Fatal(err)
		}
		b, err := os.Stat(filepath.Join(second, "parts", filepath.Base(n)))
		if err != nil || !os.SameFile(a, b) {
			t.Errorf("%s is not shared: %v", n, err)
		}
	}
}

func TestCheckAndRestoreFindDamage(t *testing.T) {
	data, dir := makeStore(t), t.TempDir()
	backup := filepath.Join(dir, "backup")
	if code, _, errs := command("backup", backup, "--data", data); code != 0 {
		t.Fatalf("backup: %d %s", code, errs)
	}
	names, err := filepath.Glob(filepath.Join(backup, "parts", "*"))
	if err != nil || len(names) == 0 {
		t.Fatal(names, err)
	}
	content, err := os.ReadFile(names[0])
	if err != nil {
		t.Fatal(err)
	}
	content[40] ^= 1
	if err := os.Remove(names[0]); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(names[0], content, 0o600); err != nil {
		t.Fatal(err)
	}
	code, out, _ := command("check", backup)
	if code != exitDamage || !strings.Contains(out, filepath.Base(names[0])) {
		t.Errorf("check: %d %s", code, out)
	}
	code, out, _ = command("check", "--json", backup)
	var report engine.CheckReport
	if err := json.Unmarshal([]byte(out), &report); err != nil || code != exitDamage || len(report.Faults) != 1 {
		t.Errorf("check --json: %d %v %s", code, err, out)
	}
	if code, _, errs := command("restore", backup, "--check"); code != exitDamage ||
		!strings.Contains(errs, "SHA-256") {
		t.Errorf("restore --check: %d %s", code, errs)
	}
	if code, out, errs := command("check", "--deep", data); code != 0 || !strings.Contains(out, "0 faults") {
		t.Errorf("the store itself: %d %s %s", code, out, errs)
	}
	if code, _, _ := command("check", dir); code != exitFailed {
		t.Errorf("check of something else: %d", code)
	}
}

func TestDump(t *testing.T) {
	data := makeStore(t)
	if code, _, errs := command("backup", filepath.Join(t.TempDir(), "b"), "--data", data); code != 0 { // flushes
		t.Fatal(errs)
	}
	for pattern, want := range map[string]string{"MANIFEST": `"name":"a"`, "wal/*.wal": "sequence 1, 2 rows",
		"parts/00000001.part": "rows           "} {
		names, err := filepath.Glob(filepath.Join(data, pattern))
		if err != nil || len(names) == 0 {
			t.Fatal(pattern, names, err)
		}
		if code, out, errs := command("dump", names[0]); code != 0 || !strings.Contains(out, want) {
			t.Errorf("dump of %s: %d %s %s", names[0], code, out, errs)
		}
		if code, out, _ := command("dump", "--hex", names[0]); code != 0 || !strings.Contains(out, "|VARV") {
			t.Errorf("dump --hex of %s: %d %.80s", names[0], code, out)
		}
	}
	part := filepath.Join(data, "parts", "00000001.part")
	for _, c := range []struct {
		args []string
		code int
		want string
	}{
		{[]string{"--section", "series"}, 0, "series\n"},
		{[]string{"--section", "v", "--rows", "1"}, 0, `column 2 "v" Int32`},
		{[]string{"--section", "rows", "--rows", "1"}, 0, "first 1 rows\n  ts             1\n  v              10\n"},
		{[]string{"--section", "nothing"}, exitFailed, ""},
		{[]string{"--section", "head", "--json"}, 0, `"line": "rows           2 in 1 blocks`},
	} {
		code, out, errs := command(append([]string{"dump", part}, c.args...)...)
		if code != c.code || !strings.Contains(out, c.want) {
			t.Errorf("dump %v: exit code %d %s\n%s", c.args, code, errs, out)
		}
	}
	other := filepath.Join(t.TempDir(), "x")
	if err := os.WriteFile(other, []byte("something else"), 0o600); err != nil {
		t.Fatal(err)
	}
	if code, _, errs := command("dump", other); code != exitFailed || !strings.Contains(errs, `"somethin"`) {
		t.Errorf("dump of something else: %d %s", code, errs)
	}
}

// TestBackupExits: a server that cannot be reached and one that lets nobody in end a backup with codes of their own.
func TestBackupExits(t *testing.T) {
	closed := httptest.NewServer(nil)
	closed.Close()
	locked := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
		w.WriteHeader(http.StatusUnauthorized)
		if _, err := io.WriteString(w, `{"code":7003,"error":"Not found http or grpc authorization header"}`); err !=
			nil {
			t.Error(err)
		}
	}))
	defer locked.Close()
	for _, c := range []struct {
		url  string
		want int
		says string
	}{
		{closed.URL, exitUnreachable, "cannot reach " + closed.URL + ": connection refused. Is the server running?"},
		{locked.URL, exitRefused, "query failed (7003): Not found"},
		{"ftp://127.0.0.1", exitUsage, "http://"},
	} {
		dest := filepath.Join(t.TempDir(), "backup")
		if code, _, errs := command("backup", dest, "--url", c.url); code != c.want || !strings.Contains(errs, c.says) {
			t.Errorf("backup of %s: exit code %d, want %d: %s", c.url, code, c.want, errs)
		}
		if _, err := os.Stat(dest); err == nil {
			t.Errorf("a backup of %s that failed leaves %s", c.url, dest)
		}
	}
}

// TestClientVariables: the address and the user of client commands may stand in the environment; flags beat them.
func TestClientVariables(t *testing.T) {
	seen := make(chan string, 1)
	s := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		user, password, _ := r.BasicAuth()
		seen <- user + ":" + password
		w.WriteHeader(http.StatusForbidden)
		if _, err := io.WriteString(w, `{"code":7006,"error":"no"}`); err != nil {
			t.Error(err)
		}
	}))
	defer s.Close()
	environ := []string{"VARVE_URL=" + s.URL, "VARVE_USER=ops",
		"VARVE_PASSWORD_FILE=" + writeFile(t, "from the file\n")}
	for want, args := range map[string][]string{"ops:from the file": nil, "me:from the file": {"--user", "me"}} {
		var out, errs bytes.Buffer
		if code := run(append([]string{"backup", filepath.Join(t.TempDir(), "backup")}, args...),
			streams{out: &out, err: &errs, environ: environ}); code != exitRefused {
			t.Fatalf("exit code %d: %s", code, errs.String())
		}
		if got := <-seen; got != want {
			t.Errorf("%v signs in as %q, want %q", args, got, want)
		}
	}
}

// TestFaultsHaveOffsets: a fault names the file, the place in it and what is lost.
func TestFaultsHaveOffsets(t *testing.T) {
	dir := filepath.Join(t.TempDir(), "backup")
	if code, _, errs := command("backup", dir, "--data", makeStore(t)); code != 0 {
		t.Fatalf("backup: %d %s", code, errs)
	}
	names, err := filepath.Glob(filepath.Join(dir, "parts", "*.part"))
	if err != nil || len(names) == 0 {
		t.Fatalf("no parts: %v", err)
	}
	whole, err := os.ReadFile(names[0])
	if err != nil {
		t.Fatal(err)
	}
	hasPlace := regexp.MustCompile(` at \d+`)
	for at := 8; at < len(whole)-64; at += 37 {
		damaged := bytes.Clone(whole)
		damaged[at] ^= 0xff
		if err := os.Remove(names[0]); err != nil { // it may be linked to the store's
			t.Fatal(err)
		}
		if err := os.WriteFile(names[0], damaged, 0o600); err != nil {
			t.Fatal(err)
		}
		code, out, _ := command("check", dir, "--deep")
		if code != exitDamage || !strings.Contains(out, filepath.Base(names[0])) || !hasPlace.MatchString(out) {
			t.Errorf("byte %d damaged: exit code %d\n%s", at, code, out)
		}
	}
}

// TestRestoreChecksNamesFirst: a name without a table leaves no directory behind.
func TestRestoreChecksNamesFirst(t *testing.T) {
	data, dir := makeStore(t), t.TempDir()
	backup, to := filepath.Join(dir, "backup"), filepath.Join(dir, "restored")
	if code, _, errs := command("backup", backup, "--data", data); code != 0 {
		t.Fatal(errs)
	}
	for _, args := range [][]string{{"--data", to}, {"--check"}} {
		if code, _, errs := command(append([]string{"restore", backup, "--tables", "a,nope"}, args...)...); code !=
			exitFailed || !strings.Contains(errs, "nope") {
			t.Errorf("%v: exit code %d: %s", args, code, errs)
		}
	}
	if _, err := os.Stat(to); !os.IsNotExist(err) {
		t.Errorf("%s is there: %v", to, err)
	}
}

// TestRebuildManifest makes a directory whole again whose manifest is gone.
func TestRebuildManifest(t *testing.T) {
	data := makeStore(t)
	if code, _, errs := command("backup", filepath.Join(t.TempDir(), "b"), "--data", data); code != 0 { // flushes
		t.Fatal(errs)
	}
	if err := os.Remove(filepath.Join(data, "MANIFEST")); err != nil {
		t.Fatal(err)
	}
	if code, out, _ := command("check", data); code != exitDamage ||
		!strings.Contains(out, "--rebuild-manifest "+data) {
		t.Errorf("check: exit code %d: %s", code, out)
	}
	if code, out, errs := command("check", "--rebuild-manifest", data); code != 0 ||
		!strings.Contains(out, "2 tables, 2 parts") {
		t.Errorf("exit code %d: %s%s", code, out, errs)
	}
	if sum := script(t, data, all); sum != "30" {
		t.Errorf("the sum is %s", sum)
	}
}

// TestBackupOfReadOnlyStore: of a store that cannot be written to a backup is made all the same, rows of the log
// included, and nothing is changed in its directory. The snapshot lies beside the destination.
func TestBackupOfReadOnlyStore(t *testing.T) {
	data := makeStore(t)
	before := treeOf(t, data)
	c := &backupCommand{Data: data, Dest: filepath.Join(t.TempDir(), "made")}
	name := engine.SnapshotPrefix + "test"
	dir, err := c.openBeside(t.Context(), name)
	if err != nil {
		t.Fatal(err)
	}
	if filepath.Dir(c.beside) != filepath.Dir(c.Dest) || dir != filepath.Join(c.beside, engine.BackupsDir, name) {
		t.Errorf("the snapshot is in %s, beside is %s", dir, c.beside)
	}
	r, err := engine.Check(engine.CheckOptions{FS: vfs.OS(), Dir: dir, Deep: true})
	if err != nil || len(r.Faults) > 0 || r.Tables != 2 || r.Rows != 3 {
		t.Errorf("the snapshot: %+v %v", r, err)
	}
	if after := treeOf(t, data); after != before {
		t.Errorf("the data directory was\n%s\nand is\n%s", before, after)
	}
}

// treeOf is the names of the files below a directory, with their contents.
func treeOf(t *testing.T, dir string) string {
	t.Helper()
	var s strings.Builder
	err := filepath.WalkDir(dir, func(name string, d fs.DirEntry, err error) error {
		if err != nil || d.IsDir() {
			return err
		}
		b, err := os.ReadFile(name)
		fmt.Fprintf(&s, "%s %q\n", name, b)
		return err
	})
	if err != nil {
		t.Fatal(err)
	}
	return s.String()
}
