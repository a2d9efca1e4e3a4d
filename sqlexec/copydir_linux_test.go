package sqlexec

import (
	"errors"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"varve/engine/status"
	"varve/engine/vfs"
)

// TestCopyToFullDisk: a disk that is full is no internal error, what was written of the file is removed, and it does
// not appear.
func TestCopyToFullDisk(t *testing.T) {
	dir := t.TempDir()
	root, err := os.OpenRoot(dir)
	if err != nil {
		t.Fatal(err)
	}
	defer root.Close()
	f, err := copyDir{dir: dir}.create(root, "a/x.csv")
	if err != nil {
		t.Fatal(err)
	}
	whole := f.File
	defer whole.Close()
	if f.File, err = os.OpenFile("/dev/full", os.O_WRONLY, 0); err != nil {
		t.Fatal(err)
	}
	if _, err := f.Write([]byte("row")); status.Of(err) != status.StorageUnavailable || !vfs.IsNoSpace(err) ||
		!strings.Contains(err.Error(), "no space left") {
		t.Errorf("a full disk gives %v", err)
	}
	if err := f.abort(); err != nil {
		t.Error(err)
	}
	if left, err := filepath.Glob(filepath.Join(dir, "a", "*")); err != nil || len(left) > 0 {
		t.Errorf("left over: %v, %v", left, err)
	}
	if err := copyError("x", errors.Join(vfs.ErrNoSpace)); status.Of(err) != status.StorageUnavailable {
		t.Errorf("a directory on a full disk gives %v", err)
	}
}
