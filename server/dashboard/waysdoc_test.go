package dashboard

import (
	"io/fs"
	"os"
	"regexp"
	"slices"
	"strings"
	"testing"

	"varve/docs"
)

// TestDocumentsAreBuiltIn holds that the documents that are built in are those that the application lists and its ready
// boards, and that those which the page of ways to send names are among them.
func TestDocumentsAreBuiltIn(t *testing.T) {
	var have []string
	fs.WalkDir(docs.Files(), ".", func(name string, d fs.DirEntry, err error) error {
		if err == nil && !d.IsDir() {
			have = append(have, strings.TrimSuffix(name, ".br"))
		}
		return err
	})
	listed := names(t, "web/core/documents.js", `\['([^']+\.md)', '`)
	listed = append(listed, names(t, "web/page/boardready.js", `'docs/([^']+)'`)...)
	slices.Sort(listed)
	if !slices.Equal(have, listed) {
		t.Errorf("built in are\n%q, listed\n%q", have, listed)
	}
	ways := names(t, "web/page/ways.js", `docs: '([^']+)'`)
	if len(ways) < 5 {
		t.Fatalf("%d ways name a document", len(ways))
	}
	for _, name := range ways {
		if !slices.Contains(have, name) {
			t.Errorf("a way to send names %s, which is not built in", name)
		}
	}
}

// names are what a pattern finds in a module.
func names(t *testing.T, module, pattern string) (list []string) {
	t.Helper()
	text, err := os.ReadFile(module)
	if err != nil {
		t.Fatal(err)
	}
	for _, m := range regexp.MustCompile(pattern).FindAllSubmatch(text, -1) {
		list = append(list, string(m[1]))
	}
	return list
}
