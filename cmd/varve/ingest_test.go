package main

import (
	"bytes"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"
)

// TestManifest: the tables of an exported directory are made again with rows of every type as they were.
func TestManifest(t *testing.T) {
	home := t.TempDir()
	ingest := func(args ...string) (code int, out, errs string) {
		var o, e bytes.Buffer
		code = run(append([]string{"ingest"}, args...), streams{&o, &e, []string{"HOME=" + home}})
		return code, o.String(), e.String()
	}
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
	s.ask("csv", `CREATE TABLE all_metrics (ts TIMESTAMP TIME INDEX, val DOUBLE) ENGINE=metric WITH (physical_metric_table='')`)
	s.ask("csv", `CREATE TABLE a_metric (ts TIMESTAMP TIME INDEX, val DOUBLE, host STRING PRIMARY KEY) ENGINE=metric WITH (on_physical_table='all_metrics')`)
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
	for table, order := range map[string]string{"a": "ts, i8", `"B.s"`: "ts", "nothing": "ts", "above": "ts, i8", "aaa": "ts, i8", `"` + long + `"`: "ts, i8", "a_metric": "ts"} {
		const rows = "SELECT * FROM %s.%s ORDER BY %s"
		if got, want := s.ask("csvWithNamesAndTypes", fmt.Sprintf(rows, "back", table, order)), s.ask("csvWithNamesAndTypes", fmt.Sprintf(rows, "public", table, order)); got != want {
			t.Errorf("%s: got\n%s\nwant\n%s", table, got, want)
		}
	}
	if code, _, errs = ingest("--manifest", dir, "--db", "back", "--url", s.url); code != exitFailed || !strings.Contains(errs, "is in database back already") {
		t.Errorf("once more: %d %s", code, errs)
	}
	if code, out, errs = ingest("--manifest", dir, "--db", "back", "--url", s.url, "--resume"); code != 0 || out != "" || !strings.Contains(errs, "already stored") {
		t.Errorf("resumed: %d %s %s", code, out, errs)
	}
	s.askIn("back", "csv", "DROP TABLE a")
	if code, out, errs = ingest("--manifest", dir, "--db", "back", "--url", s.url, "--resume"); code != 0 || !strings.Contains(out, "4 rows stored") {
		t.Errorf("behind a table that was dropped: %d %s %s", code, out, errs)
	}
	if err := os.WriteFile(filepath.Join(dir, "a.ndjson.zst"), []byte("x"), 0o600); err != nil {
		t.Fatal(err)
	}
	if code, _, errs = ingest("--manifest", dir, "--db", "back", "--url", s.url, "--resume"); code != exitFailed || !strings.Contains(errs, "is damaged") {
		t.Errorf("damaged: %d %s", code, errs)
	}
	if code, _, _ = ingest("--manifest", dir, "-t", "x", "--url", s.url); code != exitUsage {
		t.Errorf("with --table: %d", code)
	}
}
