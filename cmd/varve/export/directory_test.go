package export

import (
	"strings"
	"testing"
)

// TestFileNames: a table has a name of its own in every file system, with all that is put behind it.
func TestFileNames(t *testing.T) {
	for table, want := range map[string]string{"app": "app", "a:b": "a%3Ab", ".a.b": "%2Ea.b", "ö": "%C3%B6",
		strings.Repeat("x", 200): strings.Repeat("x", 200)} {
		if got := fileName(table); got != want {
			t.Errorf("%q: got %q, want %q", table, got, want)
		}
	}
	names := map[string]bool{}
	for _, end := range []string{"", "a", "b", "B"} {
		name := fileName(strings.Repeat("größe", 40) + end)
		names[strings.ToLower(name)] = true
		if len(name) > longestBase {
			t.Errorf("%d bytes: %s", len(name), name)
		}
	}
	if len(names) != 4 {
		t.Errorf("names are told apart badly: %v", names)
	}
}
