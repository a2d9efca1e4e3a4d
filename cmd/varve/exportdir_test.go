package main

import (
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"fmt"
	"net/http"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"varve/cmd/varve/export"
)

// TestExportDirectory: all tables of a database can be made again from a directory, also from one that took two tries.
func TestExportDirectory(t *testing.T) {
	s := serve(t, nil)
	for _, sql := range []string{
		`CREATE TABLE app (ts TIMESTAMP(9) TIME INDEX, host STRING PRIMARY KEY, v DOUBLE, s STRING) WITH (append_mode='true')`,
		`INSERT INTO app VALUES ('2026-11-21T03:46:00.123456789Z', 'a', 'NaN', ''), ('2026-11-21T03:46:00.123456789Z', 'a', NULL, NULL)`,
		`CREATE TABLE "App" (ts TIMESTAMP(0) TIME INDEX, v BIGINT)`,
		`INSERT INTO "App" VALUES (1, 1), (3, 3)`,
		`CREATE TABLE "a:b#c@d" (ts TIMESTAMP TIME INDEX)`,
		`CREATE TABLE all_metrics (ts TIMESTAMP TIME INDEX, val DOUBLE) ENGINE=metric WITH (physical_metric_table='')`,
		`CREATE TABLE a_metric (ts TIMESTAMP TIME INDEX, val DOUBLE, host STRING PRIMARY KEY) ENGINE=metric WITH (on_physical_table='all_metrics')`,
		`INSERT INTO a_metric (ts, val, host) VALUES (1, 2.5, 'h')`,
		`CREATE VIEW "Above" AS SELECT * FROM app WHERE v > 1`,
	} {
		s.ask("csv", sql)
	}
	want := []string{"all_metrics physical 0", "App table 2", "a:b#c@d table 0", "a_metric table 1", "app table 2",
		"Above view 0"}
	dir := filepath.Join(t.TempDir(), "new", "dir")
	broken := true
	address := proxy(t, s.url, func(n int64, w http.ResponseWriter, _ *http.Request) bool {
		if broken && n == 3 {
			w.WriteHeader(http.StatusForbidden)
		}
		return broken && n == 3
	})
	if code, _, errs := command("export", "--output-dir", dir, "--url", address); code != exitRefused ||
		!strings.Contains(errs, "table ") {
		t.Fatalf("got %d %s", code, errs)
	}
	if _, err := os.Stat(filepath.Join(dir, export.ManifestName)); err == nil {
		t.Fatal("the manifest is there although a table is not")
	}
	broken = false
	if code, _, errs := command("export", "--output-dir", dir, "--url", address); code != exitFailed ||
		!strings.Contains(errs, "--resume") {
		t.Errorf("got %d %s", code, errs)
	}
	if code, _, errs := command("export", "--output-dir", dir, "--url", address, "--resume"); code != 0 ||
		!strings.Contains(errs, "6 tables with 5 rows in "+dir+"; 3 were there already\n") {
		t.Fatalf("got %d %s", code, errs)
	}
	text, err := os.ReadFile(filepath.Join(dir, export.ManifestName))
	if err != nil {
		t.Fatal(err)
	}
	var m export.Manifest
	if err := json.Unmarshal(text, &m); err != nil {
		t.Fatal(err)
	}
	var got, files []string
	for _, table := range m.Tables {
		got = append(got, fmt.Sprintf("%s %s %d", table.Name, table.Kind, table.Rows))
		files = append(files, table.Create)
		if table.Data != "" {
			files = append(files, table.Data)
		}
	}
	if slices.Sort(got[1:5]); !slices.Equal(got, want) {
		t.Errorf("got %q, want %q", got, want)
	}
	there, err := filepath.Glob(filepath.Join(dir, "*"))
	if err != nil || len(there) != len(files)+1 {
		t.Errorf("there are %v, named are %v", there, files)
	}
	s.ask("csv", "CREATE DATABASE back")
	for _, table := range m.Tables {
		makeAgain(t, s, dir, &table)
	}
	for _, table := range []string{`app`, `"App"`, `"a:b#c@d"`, `all_metrics`, `a_metric`, `"Above"`} {
		const rows = "SELECT * FROM %s.%s"
		if got, want := s.ask("csvWithNamesAndTypes", fmt.Sprintf(rows, "back", table)),
			s.ask("csvWithNamesAndTypes", fmt.Sprintf(rows, "public", table)); got != want {
			t.Errorf("%s: got %s, want %s", table, got, want)
		}
	}
}

// makeAgain makes a table in the database back.
func makeAgain(t *testing.T, s *served, dir string, table *export.ManifestTable) {
	t.Helper()
	sql, err := os.ReadFile(filepath.Join(dir, table.Create))
	if err != nil {
		t.Fatal(err)
	}
	s.askIn("back", "csv", string(sql))
	if table.Data == "" {
		return
	}
	data, err := os.ReadFile(filepath.Join(dir, table.Data))
	if err != nil {
		t.Fatal(err)
	}
	if sum := sha256.Sum256(data); hex.EncodeToString(sum[:]) != table.SHA256 || int64(len(data)) != table.Bytes {
		t.Errorf("%s is another file than the manifest says", table.Data)
	}
	if (table.First == nil) != (table.Rows == 0) || (table.Last == nil) != (table.Rows == 0) {
		t.Errorf("%s has %d rows from %v to %v", table.Name, table.Rows, table.First, table.Last)
	}
	copies := filepath.Join(s.dataDir(), "copy")
	if err := os.MkdirAll(copies, 0o755); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(filepath.Join(copies, "rows.ndjson.zst"), data, 0o644); err != nil {
		t.Fatal(err)
	}
	if table.Rows > 0 {
		s.askIn("back", "csv", `COPY "`+table.Name+`" FROM 'rows.ndjson.zst' WITH (FORMAT='json')`)
	}
}
