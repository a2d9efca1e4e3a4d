package engine

import (
	"errors"
	"io/fs"
	"strings"
	"testing"

	"varve/engine/vfs"
)

// sealed is a file system with files that may not be read.
type sealed struct {
	vfs.FS
	part string // of their names
}

func (s sealed) deny(name string) error {
	if strings.Contains(name, s.part) {
		return &fs.PathError{Op: "open", Path: name, Err: fs.ErrPermission}
	}
	return nil
}

func (s sealed) Open(name string) (vfs.File, error) {
	if err := s.deny(name); err != nil {
		return nil, err
	}
	return s.FS.Open(name)
}

func (s sealed) Map(name string) (vfs.Mapping, error) {
	if err := s.deny(name); err != nil {
		return nil, err
	}
	return s.FS.Map(name)
}

// TestCheckOfWhatMayNotBeRead: files of another user are no damage.
func TestCheckOfWhatMayNotBeRead(t *testing.T) {
	mem := vfs.NewMem()
	e := mustOpen(t, testOptions(mem))
	for i := range int64(2) {
		if err := put(e, "log", appendOnly, []modelRow{{"ts": i, "v": i}}); err != nil {
			t.Fatal(err)
		}
		if i == 0 {
			if err := e.Flush(ctx, public("log")); err != nil {
				t.Fatal(err)
			}
		}
	}
	mustClose(t, e)
	dir := testOptions(mem).Dir
	for _, part := range []string{"MANIFEST", "/parts/", "/wal/"} {
		r, err := Check(CheckOptions{FS: sealed{mem, part}, Dir: dir, Deep: true})
		if r != nil || !errors.Is(err, fs.ErrPermission) || !strings.Contains(err.Error(), "run this as the user") {
			t.Errorf("%s: got %+v, %v", part, r, err)
		}
	}
}
