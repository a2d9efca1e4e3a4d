package dashboard

import (
	"os"
	"path/filepath"
	"regexp"
	"testing"
)

// TestWaysAreDocumented holds that the documents that the page of ways to send names are there.
func TestWaysAreDocumented(t *testing.T) {
	text, err := os.ReadFile("web/page/ways.js")
	if err != nil {
		t.Fatal(err)
	}
	named := regexp.MustCompile(`docs: '([^']+)'`).FindAllSubmatch(text, -1)
	if len(named) < 5 {
		t.Fatalf("%d ways name a document", len(named))
	}
	for _, m := range named {
		if _, err := os.Stat(filepath.Join("../..", string(m[1]))); err != nil {
			t.Error(err)
		}
	}
}
