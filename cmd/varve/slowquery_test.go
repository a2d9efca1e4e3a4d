package main

import (
	"path/filepath"
	"regexp"
	"strings"
	"testing"
)

// TestSlowQueries: what took longer than the configuration says is in a table that outlives the server, or in the log.
func TestSlowQueries(t *testing.T) {
	dir := filepath.Join(t.TempDir(), "data")
	const recorded = "SELECT query FROM service_private.slow_queries ORDER BY query"
	first := serve(t, nil, "--data-dir", dir, "--set", "slow_query.threshold=0s")
	first.ask("csv", "SELECT 42")
	first.ask("csv", "CREATE TABLE t (ts TIMESTAMP TIME INDEX)")
	if code := first.stop(); code != 0 {
		t.Errorf("exit code %d", code)
	}
	second := serve(t, nil, "--data-dir", dir, "--set", "slow_query.threshold=0s", "--set",
		"slow_query.record_type=log")
	if got := second.ask("csv", recorded); got != "CREATE TABLE t (ts TIMESTAMP TIME INDEX)\r\nSELECT 42\r\n" {
		t.Errorf("recorded is %q", got)
	}
	line := second.wait(regexp.MustCompile(`.*msg="slow statement".*\n`))[0]
	for _, part := range []string{"level=WARN", "target=server/slowquery", "row_count=2", `query="` + recorded + `"`} {
		if !strings.Contains(line, part) {
			t.Errorf("%s does not say %s", line, part)
		}
	}
	second.stop()
	third := serve(t, nil, "--data-dir", dir)
	third.ask("csv", "SELECT 1")
	if got := third.ask("csv", "SELECT count(*) FROM service_private.slow_queries"); got != "2\r\n" {
		t.Errorf("a quick statement is recorded: %q", got)
	}
}
