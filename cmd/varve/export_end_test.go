package main

import (
	"os"
	"path/filepath"
	"strings"
	"testing"
)

// TestExportEnd: an export whose rows are all fetched and whose file then cannot be made goes on with --resume,
// whatever its format has written behind the rows by then.
func TestExportEnd(t *testing.T) {
	s := serve(t, nil)
	s.ask("csv", "CREATE TABLE ended (ts TIMESTAMP TIME INDEX, n BIGINT) WITH (append_mode='true')")
	s.ask("csv", "INSERT INTO ended VALUES (1, 1), (2, 2), (3, 3)")
	dir := t.TempDir()
	for _, c := range []struct{ name, inTheWay string }{
		{"a.parquet", "a.parquet.made.part"}, {"b.json", "b.json"}, {"c.json.zst", "c.json.zst"},
		{"d.arrow", "d.arrow"}, {"e.csv", "e.csv"},
	} {
		t.Run(c.name, func(t *testing.T) {
			file, inTheWay := filepath.Join(dir, c.name), filepath.Join(dir, c.inTheWay)
			if err := os.MkdirAll(filepath.Join(inTheWay, "x"), 0o777); err != nil {
				t.Fatal(err)
			}
			args := []string{"export", "--url", s.url, "-t", "ended", "-o", file, "--quiet"}
			if code, _, errs := command(args...); code != exitFailed || !strings.Contains(errs, c.inTheWay) {
				t.Fatalf("got %d %s", code, errs)
			}
			if err := os.RemoveAll(inTheWay); err != nil {
				t.Fatal(err)
			}
			if code, _, errs := command(append(args, "--resume")...); code != 0 {
				t.Fatalf("--resume: %d %s", code, errs)
			}
			whole := filepath.Join(dir, "whole."+c.name)
			args[6] = whole
			if code, _, errs := command(args...); code != 0 {
				t.Fatalf("without a break: %d %s", code, errs)
			}
			got, err := os.ReadFile(file)
			if err != nil {
				t.Fatal(err)
			}
			want, err := os.ReadFile(whole)
			if err != nil {
				t.Fatal(err)
			}
			if string(got) != string(want) {
				t.Errorf("got %d bytes, want %d:\n%.500q\n%.500q", len(got), len(want), got, want)
			}
		})
	}
}
