package main

import (
	"encoding/json"
	"os"
	"strings"
	"testing"

	"varve/cmd/varve/benchmark"
)

// TestBench: a running server is measured and keeps nothing; without one, one is started and nothing is left of it.
func TestBench(t *testing.T) {
	s := serve(t, nil)
	code, out, errs := command("bench", "all", "--rows", "5k", "--batch", "1k", "--url", s.url, "--json")
	if code != 0 {
		t.Fatalf("exit code %d: %s", code, errs)
	}
	var r benchmark.Report
	if err := json.Unmarshal([]byte(out), &r); err != nil {
		t.Fatalf("%v: %s", err, out)
	}
	for what, w := range map[string]*benchmark.Written{"rows": r.Rows, "samples": r.Samples} {
		if w == nil || w.Rows < 5000 || w.Bytes == 0 || w.RowsPerSecond <= 0 || w.PeakRSS == 0 || w.BytesPerRow <= 0 ||
			w.P99MS < w.P50MS || w.P50MS <= 0 {
			t.Errorf("%s: %+v", what, w)
		}
	}
	if r.Rows.Rows != 5000 || r.Failed() > 0 || len(r.SQL) != 10 || len(r.PromQL) < 15 || r.Span != 600 {
		t.Errorf("got %+v", r)
	}
	for _, a := range append(r.SQL, r.PromQL...) {
		if a.Rows == 0 || a.P50MS <= 0 {
			t.Errorf("%+v", a)
		}
	}
	code, out, errs = command("sql", "--url", s.url, "--format", "csv-noheader", "-e",
		"SELECT count(*) FROM information_schema.schemata WHERE schema_name LIKE 'varve_bench%'")
	if code != 0 || strings.TrimSpace(out) != "0" {
		t.Errorf("the database is still there: %d %s%s", code, out, errs)
	}

	dir := t.TempDir()
	t.Setenv("TMPDIR", dir)
	var table, notes strings.Builder
	code = run([]string{"bench", "ingest", "--rows", "2k", "--quiet"}, streams{out: &table, err: &notes,
		environ: []string{"VARVE_TEST_PROGRAM=1", "VARVE_USER_PROVIDER=nonsense", "VARVE_CONFIG=/nonexistent",
			"VARVE_LOGGING__LEVEL=nonsense", "VARVE_HTTP__BODY_LIMIT=nonsense"}})
	words := strings.Join(strings.Fields(table.String()), " ")
	if code != 0 || notes.String() != "" || !strings.Contains(words, " rows 2000 ") {
		t.Errorf("exit code %d: %s%s", code, table.String(), notes.String())
	}
	if left, err := os.ReadDir(dir); err != nil || len(left) > 0 {
		t.Errorf("left behind: %v, %v", left, err)
	}
}

func TestNumbers(t *testing.T) {
	for text, want := range map[string]quantity{"1": 1, "500k": 500_000, "1M": 1_000_000, "2g": 2_000_000_000} {
		var n quantity
		if err := n.UnmarshalText([]byte(text)); err != nil || n != want {
			t.Errorf("%s is %d, %v", text, n, err)
		}
	}
	for _, text := range []string{"", "0", "-1", "1.5M", "M", "1kk", "99999999999999999999"} {
		var n quantity
		if err := n.UnmarshalText([]byte(text)); err == nil {
			t.Errorf("%q is %d", text, n)
		}
	}
}
