package sqlexec

import (
	"os"
	"path/filepath"
	"strings"
	"testing"
)

// TestPlans holds the plans that rewrites make: testdata/plans has a file of queries for each of them, and beside it
// their plans as they are bound and as they are run. -update writes the plans anew.
func TestPlans(t *testing.T) {
	dir := filepath.Join("testdata", "plans")
	tables, err := os.ReadFile(filepath.Join(dir, "tables.sql"))
	if err != nil {
		t.Fatal(err)
	}
	files, err := filepath.Glob(filepath.Join(dir, "*.sql"))
	if err != nil || len(files) < 2 {
		t.Fatalf("%d files of queries: %v", len(files), err)
	}
	x, s := New(openStore(t), Options{Workers: 2}), &Session{}
	script(t, x, s, string(tables))
	for _, file := range files {
		name := strings.TrimSuffix(filepath.Base(file), ".sql")
		if name == "tables" {
			continue
		}
		t.Run(name, func(t *testing.T) {
			queries, err := os.ReadFile(file)
			if err != nil {
				t.Fatal(err)
			}
			got := plansOf(t, x, s, string(queries))
			golden := strings.TrimSuffix(file, ".sql") + ".plan"
			if *update {
				if err := os.WriteFile(golden, []byte(got), 0o644); err != nil {
					t.Fatal(err)
				}
				return
			}
			want, err := os.ReadFile(golden)
			if err != nil {
				t.Fatal(err)
			}
			differences(t, golden, string(want), got)
		})
	}
}

// plansOf is each query with its plans below it.
func plansOf(t *testing.T, x *Executor, s *Session, queries string) string {
	t.Helper()
	var b strings.Builder
	for query := range strings.SplitSeq(strings.TrimSpace(queries), "\n\n") {
		b.WriteString(query + "\n")
		sql := query[strings.Index("\n"+query, "\nSELECT"):]
		o, err := answer(x, s, "EXPLAIN "+sql, false)
		if err != nil || o.err != nil {
			t.Fatalf("%s: %v %v", sql, err, o.err)
		}
		for i, when := range []string{"bound", "optimized"} {
			b.WriteString(when + "\n    " + strings.ReplaceAll(o.rows[i][1], "\n", "\n    ") + "\n")
		}
		b.WriteByte('\n')
	}
	return b.String()
}

// differences reports the queries whose plans are not those of a golden file.
func differences(t *testing.T, golden, want, got string) {
	t.Helper()
	w, g := strings.Split(want, "\n\n"), strings.Split(got, "\n\n")
	if len(w) != len(g) {
		t.Errorf("%s has %d queries, there are %d", golden, len(w), len(g))
	}
	for i := range min(len(w), len(g)) {
		if w[i] != g[i] {
			t.Errorf("%s: the plan is another one; run with -update and read the difference\n%s\nwants\n%s", golden,
				g[i], w[i])
		}
	}
}
