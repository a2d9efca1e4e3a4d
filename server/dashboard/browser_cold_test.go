//go:build dashboard && browser

package dashboard

import (
	"os"
	"path/filepath"
	"strings"
	"testing"
)

// TestStatusCold: Status shows what lies in the bucket, and says when parts cannot move there.
func TestStatusCold(t *testing.T) {
	t.Parallel()
	old := "CREATE TABLE old (ts TIMESTAMP(3) TIME INDEX, s STRING); INSERT INTO old VALUES (1, 'a'), (2, 'b'); " +
		"ADMIN flush_table('old')"
	dir := t.TempDir()
	s := start(t, "--set", "storage.cold_url="+filepath.Join(dir, "bucket"), "--set", "storage.cold_after=1s")
	s.sql(t, old)
	p := open(t, s, "/dashboard/status")
	p.wait("the part in the bucket", `document.querySelector('#page').innerText.includes('Cold parts') &&
		/In the bucket\s+[1-9]\S* \S+\s+1 part/.test(document.querySelector('#page').innerText)`)
	if text := p.text("#page"); !strings.Contains(text, "Waiting to move") || strings.Contains(text, "last failure") {
		t.Errorf("the line on cold parts: %s", text)
	}

	file := filepath.Join(dir, "file") // where a directory cannot be
	if err := os.WriteFile(file, nil, 0o600); err != nil {
		t.Fatal(err)
	}
	s = start(t, "--set", "storage.cold_url="+filepath.Join(file, "bucket"), "--set", "storage.cold_after=1s")
	s.sql(t, old)
	p = open(t, s, "/dashboard/status")
	p.wait("that it fails", `document.querySelector('#page').innerText.includes('Old parts cannot be moved') &&
		document.querySelector('#page').innerText.includes('last failure')`)

	// Without a bucket nothing is said.
	p = open(t, start(t), "/dashboard/status")
	p.wait("the figures", `document.querySelectorAll('.figure').length > 15`)
	if text := p.text("#page"); strings.Contains(text, "Cold parts") {
		t.Errorf("a server without a bucket: %s", text)
	}
}
