package sqlexec

import (
	"path/filepath"
	"strings"
	"testing"

	"varve/engine/status"
)

// TestTablesAndTheirFiles: whatever a table is called, its file lies in the directory that was named and leads back to
// it.
func TestTablesAndTheirFiles(t *testing.T) {
	for _, c := range []struct{ table, file string }{
		{"cpu", "cpu"}, {"Up.per", "Up.per"}, {"a b#c@d", "a b#c@d"}, {"温度", "温度"}, {"50% of", "50%25 of"},
		{"a%2Fb", "a%252Fb"},
		{"../../etc/x", "..%2F..%2Fetc%2Fx"}, {`a\b`, "a%5Cb"}, {"a\nb\x00", "a%0Ab%00"}, {"..", ".."},
	} {
		file := tableFile(c.table)
		if file != c.file || fileTable(file) != c.table {
			t.Errorf("the file of %q is %q, the table of that %q", c.table, file, fileTable(file))
		}
		if whole := filepath.Join("dir", file+".csv"); filepath.Dir(whole) != "dir" ||
			strings.ContainsAny(whole, "\n\x00\\") {
			t.Errorf("the file of %q is %q", c.table, whole)
		}
	}
	if got := fileTable("100%"); got != "100%" {
		t.Errorf("a file from elsewhere is of the table %q", got)
	}
}

// TestCopyLeavesRoom: COPY TO does not take the room that rows need: it is refused before a file is begun, and ends in
// the middle of one, of which nothing is left. COPY FROM is no matter of that disk.
func TestCopyLeavesRoom(t *testing.T) {
	x, dir := copyStore(t)
	outcomeOf(t, x,
		"CREATE TABLE t AS SELECT number::BIGINT AS n, number::BIGINT::TIMESTAMP AS ts FROM numbers; COPY t TO 'before.csv';")
	x.o.KeepFree = 1 << 60
	for _, sql := range []string{"COPY t TO 'x.csv'", "COPY (SELECT 1) TO 'sub/x.json'",
		"COPY DATABASE public TO 'all/'"} {
		refused(t, x, sql, "storage.min_free is 1152921504606846976; make room, or set copy.dir",
			status.StorageUnavailable)
	}
	outcomeOf(t, x, "TRUNCATE TABLE t; COPY t FROM 'before.csv';")

	d := copyDir{dir: dir}
	root, err := d.open("long.csv", true)
	if err != nil {
		t.Fatal(err)
	}
	defer root.Close()
	f, err := d.create(root, "long.csv")
	if err != nil {
		t.Fatal(err)
	}
	d.keepFree, f.room = 1<<60, func() error { return d.room() }
	rows, written := make([]byte, roomStep/4), 0
	for err == nil && written < 8 {
		_, err = f.Write(rows)
		written++
	}
	if written != 4 || status.Of(err) != status.StorageUnavailable {
		t.Errorf("%d writes, then %v", written, err)
	}
	if err := f.abort(); err != nil {
		t.Error(err)
	}
	if left, err := filepath.Glob(filepath.Join(dir, "*")); err != nil || len(left) != 1 ||
		filepath.Base(left[0]) != "before.csv" {
		t.Errorf("left over: %v, %v", left, err)
	}
}
