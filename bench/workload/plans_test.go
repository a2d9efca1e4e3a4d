package workload

import (
	"flag"
	"os"
	"path/filepath"
	"strings"
	"testing"
)

var update = flag.Bool("update", false, "write the statements whose plans package sqlexec holds anew")

// TestPlansOfStatements holds that the statements of the benchmarks are those of which package sqlexec keeps the plans.
func TestPlansOfStatements(t *testing.T) {
	logs, err := For(accessSet(t, 1000), "public", "access", "all")
	if err != nil {
		t.Fatal(err)
	}
	analytics, err := Analytics("web", "all")
	if err != nil {
		t.Fatal(err)
	}
	access, panels, web := planFile{}, planFile{}, planFile{}
	for _, q := range logs {
		if strings.HasPrefix(q.Name, "panel: ") {
			panels.add(strings.TrimPrefix(q.Name, "panel: "), q.SQL)
		} else {
			access.add(q.Name, q.SQL)
		}
	}
	for _, s := range analytics {
		web.add(s.Name, s.SQL)
	}
	for name, f := range map[string]planFile{"bench-logs": access, "bench-panels": panels, "bench-analytics": web} {
		path := filepath.Join("..", "..", "sqlexec", "testdata", "plans", name+".sql")
		want := strings.Join(f.list, "\n")
		if *update {
			if err := os.WriteFile(path, []byte(want), 0o644); err != nil {
				t.Fatal(err)
			}
		}
		got, err := os.ReadFile(path)
		if err != nil || string(got) != want {
			t.Errorf("%s: %v; run with -update, then TestPlans of package sqlexec with -update", path, err)
		}
	}
}

// planFile is the text of a file of statements.
type planFile struct{ list []string }

func (f *planFile) add(name, sql string) {
	f.list = append(f.list, "-- "+name+"\n"+strings.Join(strings.Fields(sql), " ")+";\n")
}
