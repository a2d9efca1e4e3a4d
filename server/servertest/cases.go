package servertest

import (
	"encoding/json"
	"os"
	"path/filepath"
	"strings"
	"testing"
)

// Count adds up what ran.
type Count struct{ passed, all int }

// Report logs how many cases passed.
func (n *Count) Report(t *testing.T) {
	t.Logf("%d of %d cases pass", n.passed, n.all)
}

// Run runs one case.
func (n *Count) Run(t *testing.T, name string, f func(t *testing.T)) {
	n.all++
	if t.Run(strings.ReplaceAll(name, "/", " "), f) {
		n.passed++
	}
}

// Files are the files of cases in a folder of the test's testdata.
func Files(t testing.TB, folder string) []string {
	t.Helper()
	list, err := filepath.Glob(filepath.Join("testdata", folder, "*.json"))
	if err != nil || len(list) == 0 {
		t.Fatalf("no cases in testdata/%s: %v", folder, err)
	}
	return list
}

// Load decodes a file of JSON.
func Load(t testing.TB, path string, into any) {
	t.Helper()
	b, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	if err := json.Unmarshal(b, into); err != nil {
		t.Fatalf("%s: %v", path, err)
	}
}
