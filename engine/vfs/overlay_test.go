package vfs

import (
	"errors"
	"io"
	"os"
	"path/filepath"
	"slices"
	"testing"
)

// put makes or continues a file.
func put(t *testing.T, open func(string) (File, error), name, text string) {
	t.Helper()
	f, err := open(name)
	if err != nil {
		t.Fatal(err)
	}
	if _, err := io.WriteString(f, text); err != nil {
		t.Fatal(err)
	}
	if err := f.Close(); err != nil {
		t.Fatal(err)
	}
}

// shown is what a file system shows of a file; "-" where there is none.
func shown(t *testing.T, fs FS, name string) string {
	t.Helper()
	m, err := fs.Map(name)
	if NotExist(err) {
		return "-"
	}
	if err != nil {
		t.Fatal(err)
	}
	defer m.Unmap()
	f, err := fs.Open(name)
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	size, err := f.Size()
	if err != nil || size != int64(len(m.Bytes())) {
		t.Fatalf("%s: size %d, %v; mapped %d bytes", name, size, err, len(m.Bytes()))
	}
	return string(m.Bytes())
}

func TestOverlay(t *testing.T) {
	lower, upper := t.TempDir(), t.TempDir()
	at := func(name string) string { return filepath.Join(lower, name) }
	for _, name := range []string{"LOCK", "a", "b", "c", "parts/d"} {
		os.MkdirAll(filepath.Dir(at(name)), DirMode)
		if err := os.WriteFile(at(name), []byte("old "+name), FileMode); err != nil {
			t.Fatal(err)
		}
	}
	fs := Overlay(lower, upper)
	put(t, fs.Create, at("a"), "new")
	put(t, fs.OpenAppend, at("b"), " and more")
	put(t, fs.OpenAppend, at("wal/x"), "begun")
	for _, err := range []error{fs.MkdirAll(at("parts")), fs.Rename(at("c"), at("e")), fs.Remove(at("parts/d")),
		fs.Link(at("b"), at("parts/f")), fs.SyncDir(lower)} {
		if err != nil {
			t.Fatal(err)
		}
	}
	for name, want := range map[string]string{"a": "new", "b": "old b and more", "c": "-", "e": "old c", "parts/d": "-",
		"parts/f": "old b and more", "wal/x": "begun", "LOCK": "old LOCK"} {
		if got := shown(t, fs, at(name)); got != want {
			t.Errorf("%s holds %q, want %q", name, got, want)
		}
	}
	for dir, want := range map[string][]string{"": {"LOCK", "a", "b", "e", "parts", "wal"}, "parts": {"f"},
		"wal": {"x"}} {
		if got, err := fs.List(at(dir)); err != nil || !slices.Equal(got, want) {
			t.Errorf("%q lists %q, %v, want %q", dir, got, err, want)
		}
	}
	for name, err := range map[string]error{"removed twice": fs.Remove(at("parts/d")),
		"renamed twice":     fs.Rename(at("c"), at("g")),
		"no such directory": func() error { _, err := fs.List(at("nope")); return err }()} {
		if !NotExist(err) {
			t.Errorf("%s: %v", name, err)
		}
	}
	if err := fs.Link(at("a"), at("b")); !errors.Is(err, os.ErrExist) {
		t.Errorf("a link over a file: %v", err)
	}
	if _, err := fs.Create(filepath.Join(filepath.Dir(lower), "elsewhere")); !errors.Is(err, os.ErrPermission) {
		t.Errorf("a file outside of the directory: %v", err)
	}
	put(t, fs.Create, at("parts/d"), "again")
	if got := shown(t, fs, at("parts/d")); got != "again" {
		t.Errorf("a removed file that was made again holds %q", got)
	}
	for _, name := range []string{"a", "b", "c", "parts/d"} {
		if got := shown(t, OS(), at(name)); got != "old "+name {
			t.Errorf("below, %s holds %q", name, got)
		}
	}
}

// TestOverlayTellsWhatCannotBeListed: a directory below that may not be read is not taken for an empty one.
func TestOverlayTellsWhatCannotBeListed(t *testing.T) {
	lower, upper := t.TempDir(), t.TempDir()
	fs := Overlay(lower, upper)
	// listing what is no directory fails for every user
	if err := os.WriteFile(filepath.Join(lower, "wal"), nil, 0o600); err != nil {
		t.Fatal(err)
	}
	if err := os.Mkdir(filepath.Join(upper, "wal"), 0o700); err != nil {
		t.Fatal(err)
	}
	if names, err := fs.List(filepath.Join(lower, "wal")); err == nil || NotExist(err) {
		t.Errorf("it lists %q, %v", names, err)
	}
}

// TestOverlayLock: readers share the lock, a server keeps them out, and they keep servers out.
func TestOverlayLock(t *testing.T) {
	dir := t.TempDir()
	name := filepath.Join(dir, "LOCK")
	if l, err := Overlay(dir, t.TempDir()).Lock(name); err != nil || l.Close() != nil {
		t.Fatalf("without a file: %v", err)
	}
	server, err := OS().Lock(name)
	if err != nil {
		t.Fatal(err)
	}
	if _, err := Overlay(dir, t.TempDir()).Lock(name); !errors.Is(err, ErrLocked) {
		t.Errorf("beside a server: %v", err)
	}
	server.Close()
	one, err := Overlay(dir, t.TempDir()).Lock(name)
	if err != nil {
		t.Fatal(err)
	}
	two, err := Overlay(dir, t.TempDir()).Lock(name)
	if err != nil {
		t.Fatal(err)
	}
	if _, err := OS().Lock(name); !errors.Is(err, ErrLocked) {
		t.Errorf("a server beside readers: %v", err)
	}
	one.Close()
	two.Close()
	if server, err = OS().Lock(name); err != nil {
		t.Errorf("a server behind readers: %v", err)
	} else {
		server.Close()
	}
}
