package workload

import (
	"strings"
	"testing"
)

func TestAnalyticsStatements(t *testing.T) {
	all, err := Analytics("web", "all")
	if err != nil || len(all) < 40 {
		t.Fatalf("%d statements, %v", len(all), err)
	}
	names := map[string]bool{}
	for i := range all {
		s := &all[i]
		if names[s.Name] {
			t.Errorf("two statements %q", s.Name)
		}
		names[s.Name] = true
		for _, engine := range []string{"varve", "duckdb", "chdb"} {
			sql := s.For(engine)
			if strings.Contains(sql, "$t") || strings.Contains(sql, "$u") || strings.Contains(sql, "$h") ||
				strings.Contains(sql, "$r") || !strings.Contains(sql, "web") {
				t.Errorf("%s, %s: %s", s.Name, engine, sql)
			}
			if sql == "" || s.Tolerance > 0 && engine == "duckdb" && sql == s.SQL {
				t.Errorf("%s has no text of its own for %s", s.Name, engine)
			}
		}
	}
	some, err := Analytics("web", "lateral")
	if err != nil || len(some) != 1 || !strings.Contains(some[0].SQL, "FROM web_releases r, LATERAL") {
		t.Errorf("%+v, %v", some, err)
	}
	if none, err := Analytics("web", "none"); err != nil || len(none) != 0 {
		t.Errorf("%d statements, %v", len(none), err)
	}
	if _, err := Analytics("web", "no such statement"); err == nil {
		t.Error("an unknown choice is taken")
	}
}
