package sqlexec

import (
	"path/filepath"
	"strings"
	"testing"
)

// TestTablesAndTheirFiles: whatever a table is called, its file lies in the directory that was named and leads back to it.
func TestTablesAndTheirFiles(t *testing.T) {
	for _, c := range []struct{ table, file string }{
		{"cpu", "cpu"}, {"Up.per", "Up.per"}, {"a b#c@d", "a b#c@d"}, {"温度", "温度"}, {"50% of", "50%25 of"}, {"a%2Fb", "a%252Fb"},
		{"../../etc/x", "..%2F..%2Fetc%2Fx"}, {`a\b`, "a%5Cb"}, {"a\nb\x00", "a%0Ab%00"}, {"..", ".."},
	} {
		file := tableFile(c.table)
		if file != c.file || fileTable(file) != c.table {
			t.Errorf("the file of %q is %q, the table of that %q", c.table, file, fileTable(file))
		}
		if whole := filepath.Join("dir", file+".csv"); filepath.Dir(whole) != "dir" || strings.ContainsAny(whole, "\n\x00\\") {
			t.Errorf("the file of %q is %q", c.table, whole)
		}
	}
	if got := fileTable("100%"); got != "100%" {
		t.Errorf("a file from elsewhere is of the table %q", got)
	}
}
