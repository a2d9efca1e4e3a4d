package main

import (
	"bytes"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"
)

// atHome runs varve ingest with a state of its own.
func atHome(t *testing.T) func(args ...string) (code int, out, errs string) {
	home := t.TempDir()
	return func(args ...string) (code int, out, errs string) {
		var o, e bytes.Buffer
		code = run(append([]string{"ingest"}, args...), streams{out: &o, err: &e, environ: []string{"HOME=" + home}})
		return code, o.String(), e.String()
	}
}

// TestManifestRefused: a table that SQL cannot make is left out and named, with what depends on it; the others are
// there.
func TestManifestRefused(t *testing.T) {
	ingest := atHome(t)
	s := serve(t, nil)
	s.ingest(`a"b`, "ts;epoch;ns", "application/x-ndjson", `{"ts":1,"n":1}`)
	s.ask("csv", "CREATE TABLE c (ts TIMESTAMP(3) TIME INDEX, n BIGINT)")
	s.ask("csv", "INSERT INTO c VALUES (1, 1), (2, 2)")
	s.ask("csv", "CREATE DATABASE back")
	dir := filepath.Join(t.TempDir(), "all")
	if code, _, errs := command("export", "--output-dir", dir, "--url", s.url); code != 0 {
		t.Fatal(errs)
	}
	const want = `varve: table a"b is left out with its 1 row: a%22b.sql: query failed (1004): Invalid table name`
	for _, again := range []string{"--connections=1", "--resume"} {
		code, out, errs := ingest("--manifest", dir, "--db", "back", "--url", s.url, again)
		if code != exitPartly || !strings.Contains(errs, want) ||
			again != "--resume" && !strings.Contains(out, "2 rows stored") {
			t.Errorf("%s: %d %s%s", again, code, out, errs)
		}
	}
	if got := s.askIn("back", "csv", "SELECT count(*) FROM c"); strings.TrimSpace(got) != "2" {
		t.Errorf("c has %s rows", got)
	}
}

// TestIngestInsert: rows of export go into a table that is there, whatever its types are; those that do not fit are set
// aside.
func TestIngestInsert(t *testing.T) {
	ingest := atHome(t)
	s := serve(t, nil)
	dir := t.TempDir()
	for digits, at := range map[string]string{"0": "2026-11-21T03:46:00Z", "3": "2026-11-21T03:46:00.123Z",
		"6": "2026-11-21T03:46:00.123456Z", "9": "2026-11-21T03:46:00.123456789Z"} {
		from, to := "from"+digits, "to"+digits
		for _, name := range []string{from, to} {
			s.ask("csv", "CREATE TABLE "+name+" (ts TIMESTAMP("+digits+
				") TIME INDEX, host STRING PRIMARY KEY, d DECIMAL(10,2), x BINARY)")
		}
		s.ask("csv", "INSERT INTO "+from+" VALUES ('"+at+
			"', 'h', 1.50, X'00ff'), ('1969-12-31T23:59:59Z', 'i', NULL, NULL)")
		file := filepath.Join(dir, from+".ndjson.gz")
		if code, _, errs := command("export", "-t", from, "-o", file, "--url", s.url); code != 0 {
			t.Fatal(errs)
		}
		if code, out, errs := ingest("-t", to, "--format", "insert", file, "--url", s.url); code != 0 ||
			!strings.Contains(out, "2 rows stored") {
			t.Errorf("%s: %d %s%s", to, code, out, errs)
		}
		if got, want := s.ask("csvWithNamesAndTypes", "SELECT * FROM "+to+" ORDER BY ts"),
			s.ask("csvWithNamesAndTypes", "SELECT * FROM "+from+" ORDER BY ts"); got != want {
			t.Errorf("%s: got\n%s\nwant\n%s", to, got, want)
		}
	}
	bad, rejects := filepath.Join(dir, "bad.ndjson"), filepath.Join(dir, "rejects")
	lines := `{"ts":"2026-11-21T03:47:00Z","host":"a"}` + "\n" + `{"ts":"2026-11-21T03:47:00Z","port":1}` + "\n" +
		`[]` + "\n" + `{"ts":"no time"}` + "\n" + `{"ts":"2026-11-21T03:47:01Z"}` + "\n"
	if err := os.WriteFile(bad, []byte(lines), 0o600); err != nil {
		t.Fatal(err)
	}
	if code, out, errs := ingest("-t", "to3", "--format", "insert", bad, "--rejects", rejects, "--url", s.url); code !=
		exitPartly || !strings.Contains(out, "2 rows stored, 3 rejected") {
		t.Errorf("%d %s%s", code, out, errs)
	}
	if text, err := os.ReadFile(rejects); err != nil ||
		!strings.Contains(string(text), "the table has no column port") || !strings.Contains(string(text), `"line":4`) {
		t.Errorf("rejects: %v\n%s", err, text)
	}
	if code, _, errs := ingest("-t", "nowhere", "--format", "insert", bad, "--url", s.url); code != exitFailed ||
		!strings.Contains(errs, "Table not found") {
		t.Errorf("no table: %d %s", code, errs)
	}
	if code, _, errs := ingest("-t", "to3", "--format", "insert", "--time", "ts;epoch;ms", bad, "--url", s.url); code !=
		exitUsage || !strings.Contains(errs, "leave out --time") {
		t.Errorf("--time: %d %s", code, errs)
	}
}

// TestManifest: the tables of an exported directory are made again with rows of every type as they were.
func TestManifest(t *testing.T) {
	ingest := atHome(t)
	s := serve(t, nil)
	s.ask("csv", "CREATE TABLE a"+everyType)
	s.ask("csv", `INSERT INTO a VALUES
		('2026-11-21T03:46:00.123456789Z', 'h1', -128, 9223372036854775807, 18446744073709551615, 1.99, 'NaN', true, '', X'00ff0a', '{"a":[1,"x"],"b":null}', '2026-11-21',
			'2026-11-21T03:46:00.123456Z', '2026-11-21T03:46:00.123Z', '2026-11-21T03:46:00Z', 12.30, 'x'),
		('2026-11-21T03:46:00.123456789Z', 'h1', NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL),
		('1969-12-31T23:59:59.999999999Z', 'h"2,', 127, -9223372036854775808, 0, -0.0, '-inf', false, 'NULL', X'', '"it''s"', '1969-12-31',
			'1969-12-31T23:59:59.000001Z', '1969-12-31T23:59:59.001Z', '1969-12-31T23:59:59Z', -0.05, 'a,"b"
c'),
		('2262-04-11T23:47:16.854775807Z', 'größe 🙂 it''s', 0, 0, 1, 3.4e38, 1e-320, NULL, ' a	b\n+%&', X'7b', '1.5', '9999-12-31', '2026-11-21', '2026-11-21', '2026-11-21', 99999999.99, '')`)
	s.ask("csv", `CREATE TABLE "B.s" (ts TIMESTAMP(0) TIME INDEX, "V" BIGINT)`)
	s.ask("csv", `INSERT INTO "B.s" VALUES (1, 1), (3, NULL)`)
	s.ask("csv", `CREATE TABLE nothing (ts TIMESTAMP TIME INDEX)`)
	s.ask("csv",
		`CREATE TABLE all_metrics (ts TIMESTAMP TIME INDEX, val DOUBLE) ENGINE=metric WITH (physical_metric_table='')`)
	s.ask("csv",
		`CREATE TABLE a_metric (ts TIMESTAMP TIME INDEX, val DOUBLE, host STRING PRIMARY KEY) ENGINE=metric WITH (on_physical_table='all_metrics')`)
	s.ask("csv", `INSERT INTO a_metric (ts, val, host) VALUES (1, 2.5, 'h')`)
	s.ask("csv", `CREATE VIEW above AS SELECT * FROM a WHERE i8 > 0`)
	// Views are made whatever the order of their names is, and names may be as long as they want.
	s.ask("csv", `CREATE VIEW aab AS SELECT * FROM above`)
	s.ask("csv", `CREATE VIEW aaa AS SELECT * FROM aab`)
	long := strings.Repeat("ö", 110)
	s.ask("csv", `CREATE VIEW "`+long+`" AS SELECT * FROM a`)
	s.ask("csv", `CREATE DATABASE back`)
	dir := filepath.Join(t.TempDir(), "all")
	if code, _, errs := command("export", "--output-dir", dir, "--url", s.url); code != 0 {
		t.Fatal(errs)
	}
	code, out, errs := ingest("--manifest", dir, "--db", "back", "--url", s.url)
	if code != 0 || !strings.Contains(out, "7 rows stored") {
		t.Fatalf("%d %s %s", code, out, errs)
	}
	for table, order := range map[string]string{"a": "ts, i8", `"B.s"`: "ts", "nothing": "ts", "above": "ts, i8",
		"aaa": "ts, i8", `"` + long + `"`: "ts, i8", "a_metric": "ts"} {
		const rows = "SELECT * FROM %s.%s ORDER BY %s"
		if got, want := s.ask("csvWithNamesAndTypes", fmt.Sprintf(rows, "back", table, order)),
			s.ask("csvWithNamesAndTypes", fmt.Sprintf(rows, "public", table, order)); got != want {
			t.Errorf("%s: got\n%s\nwant\n%s", table, got, want)
		}
	}
	if code, _, errs = ingest("--manifest", dir, "--db", "back", "--url", s.url); code != exitFailed ||
		!strings.Contains(errs, "is in database back already") {
		t.Errorf("once more: %d %s", code, errs)
	}
	if code, out, errs = ingest("--manifest", dir, "--db", "back", "--url", s.url, "--resume"); code != 0 ||
		out != "" || !strings.Contains(errs, "already stored") {
		t.Errorf("resumed: %d %s %s", code, out, errs)
	}
	s.askIn("back", "csv", "DROP TABLE a")
	if code, out, errs = ingest("--manifest", dir, "--db", "back", "--url", s.url, "--resume"); code != 0 ||
		!strings.Contains(out, "4 rows stored") {
		t.Errorf("behind a table that was dropped: %d %s %s", code, out, errs)
	}
	if err := os.WriteFile(filepath.Join(dir, "a.ndjson.zst"), []byte("x"), 0o600); err != nil {
		t.Fatal(err)
	}
	if code, _, errs = ingest("--manifest", dir, "--db", "back", "--url", s.url, "--resume"); code != exitFailed ||
		!strings.Contains(errs, "is damaged") {
		t.Errorf("damaged: %d %s", code, errs)
	}
	if code, _, _ = ingest("--manifest", dir, "-t", "x", "--url", s.url); code != exitUsage {
		t.Errorf("with --table: %d", code)
	}
}
