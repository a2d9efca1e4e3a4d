package main

import (
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"
)

// TestIngestRows: what export wrote as Parquet and Arrow comes back with its types, into a table that is there and into
// one that is made.
func TestIngestRows(t *testing.T) {
	ingest := atHome(t)
	s := serve(t, nil)
	s.ask("csv", "CREATE TABLE a"+everyType)
	s.ask("csv", `INSERT INTO a VALUES
		('2026-11-21T03:46:00.123456789Z', 'h1', -128, 9223372036854775807, 18446744073709551615, 1.99, 'NaN', true, '', X'00ff0a', '{"a":[1,"x"],"b":null}', '2026-11-21',
			'2026-11-21T03:46:00.123456Z', '2026-11-21T03:46:00.123Z', '2026-11-21T03:46:00Z', 12.30, 'x'),
		('2026-11-21T03:46:00.123456789Z', 'h1', NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL),
		('1969-12-31T23:59:59.999999999Z', 'h"2,', 127, -9223372036854775808, 0, -0.0, '-inf', false, 'NULL', X'', '[1,"x"]', '1969-12-31',
			'1969-12-31T23:59:59.000001Z', '1969-12-31T23:59:59.001Z', '1969-12-31T23:59:59Z', -0.05, 'a,"b"
c')`)
	dir := t.TempDir()
	const rows = `SELECT * FROM %s ORDER BY ts, i8`
	for i, name := range []string{"a.parquet", "a.arrow", "a.arrow.zst", "a.arrow.gz"} {
		file := filepath.Join(dir, name)
		if code, _, errs := command("export", "-t", "a", "-o", file, "--url", s.url); code != 0 {
			t.Fatal(errs)
		}
		there, made := fmt.Sprintf("there%d", i), fmt.Sprintf("made%d", i)
		s.ask("csv", "CREATE TABLE "+there+everyType)
		for table, form := range map[string]string{there: "csvWithNamesAndTypes", made: "csvWithNames"} {
			want := s.ask(form, fmt.Sprintf(rows, "a"))
			if table == made { // Parquet has no seconds
				want = s.ask(form, `SELECT * EXCLUDE (t0) FROM a ORDER BY ts, i8`)
			}
			if code, out, errs := ingest("-t", table, file, "--url", s.url); code != 0 ||
				!strings.Contains(out, "3 rows stored, 0 rejected") {
				t.Fatalf("%s into %s: %d %s%s", name, table, code, out, errs)
			}
			got := s.ask(form, fmt.Sprintf(rows, table))
			if table == made {
				got = s.ask(form, `SELECT * EXCLUDE (t0) FROM `+table+` ORDER BY ts, i8`)
			}
			if got != want {
				t.Errorf("%s into %s: got\n%s\nwant\n%s", name, table, got, want)
			}
		}
		if code, _, errs := ingest("-t", made, file, "--url", s.url); code != 0 ||
			!strings.Contains(errs, "already stored") {
			t.Errorf("%s again: %d %s", name, code, errs)
		}
	}
	if code, _, errs := ingest("-t", "entries", "--time", "auto", filepath.Join(dir, "a.parquet"), "--url",
		s.url); code != 0 {
		t.Errorf("as entries: %s", errs)
	}
	if got := s.ask("csv", "SELECT count(*), min(i64), count(dec) FROM entries"); strings.TrimSpace(got) !=
		"3,-9223372036854775808,2" {
		t.Errorf("as entries: %s", got)
	}
}

// TestIngestCutRows: of a file of rows that was cut, the rows before the cut are stored; once it is whole, --resume
// stores the rest, once.
func TestIngestCutRows(t *testing.T) {
	ingest := atHome(t)
	s := serve(t, nil)
	var lines strings.Builder
	for i := range 5000 {
		fmt.Fprintf(&lines, "{\"ts\":%d,\"n\":%d,\"s\":\"text %d\"}\n", 1795232760000+i, i, i)
	}
	s.ingest("a", "ts;epoch;ms", "application/x-ndjson", lines.String())
	dir := t.TempDir()
	for _, name := range []string{"a.parquet", "a.arrow"} {
		file, table := filepath.Join(dir, name), strings.ReplaceAll(name, ".", "_")
		if code, _, errs := command("export", "-t", "a", "-o", file, "--url", s.url); code != 0 {
			t.Fatal(errs)
		}
		whole, err := os.ReadFile(file)
		if err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(file, whole[:len(whole)*9/10], 0o600); err != nil {
			t.Fatal(err)
		}
		if code, _, errs := ingest("-t", table, file, "--url", s.url); code != exitPartly && code != exitFailed ||
			!strings.Contains(errs, "the file ends in the middle of its "+name[2:]) &&
				!strings.Contains(errs, "Table not found") {
			t.Errorf("%s: %d %s", name, code, errs)
		}
		if err := os.WriteFile(file, whole, 0o600); err != nil {
			t.Fatal(err)
		}
		if code, _, errs := ingest("-t", table, file, "--resume", "--url", s.url); code != 0 {
			t.Errorf("%s: --resume: %d %s", name, code, errs)
		}
		if got := s.ask("csv", "SELECT count(*), sum(n), count(DISTINCT s) FROM "+table); strings.TrimSpace(got) !=
			"5000,12497500,5000" {
			t.Errorf("%s: got %s", name, got)
		}
	}
}
