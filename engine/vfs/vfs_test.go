package vfs

import (
	"bytes"
	"errors"
	"fmt"
	"math/rand/v2"
	"path/filepath"
	"strings"
	"testing"
)

// both runs f on the real and the memory file system.
func both(t *testing.T, f func(t *testing.T, fs FS, dir string)) {
	t.Run("os", func(t *testing.T) { f(t, OS(), t.TempDir()) })
	t.Run("mem", func(t *testing.T) {
		m := NewMem()
		if err := m.MkdirAll("/d"); err != nil {
			t.Fatal(err)
		}
		f(t, m, "/d")
	})
}

func write(t *testing.T, fs FS, name, text string) File {
	t.Helper()
	f, err := fs.Create(name)
	if err != nil {
		t.Fatal(err)
	}
	if _, err := f.Write([]byte(text)); err != nil {
		t.Fatal(err)
	}
	return f
}

func content(t *testing.T, fs FS, name string) string {
	t.Helper()
	m, err := fs.Map(name)
	if err != nil {
		t.Fatal(err)
	}
	defer func() {
		if err := m.Unmap(); err != nil {
			t.Error(err)
		}
	}()
	m.WillNeed(-1, 1<<40)
	return string(bytes.Clone(m.Bytes()))
}

func TestFilesAndNames(t *testing.T) {
	both(t, func(t *testing.T, fs FS, dir string) {
		a, b := filepath.Join(dir, "a"), filepath.Join(dir, "b")
		f := write(t, fs, a, "hello")
		if err := errors.Join(f.Sync(), f.Close(), fs.Rename(a, b), fs.Link(b, a), fs.SyncDir(dir)); err != nil {
			t.Fatal(err)
		}
		f, err := fs.OpenAppend(b)
		if err != nil {
			t.Fatal(err)
		}
		if _, err := f.Write([]byte(" world")); err != nil {
			t.Fatal(err)
		}
		if n, err := f.Size(); n != 11 || err != nil {
			t.Errorf("size %d, %v", n, err)
		}
		if got := content(t, fs, a); got != "hello world" {
			t.Errorf("linked file holds %q", got)
		}
		list, err := fs.List(dir)
		if err != nil || strings.Join(list, " ") != "a b" {
			t.Errorf("list %v, %v", list, err)
		}
		if err := errors.Join(f.Close(), fs.Remove(a)); err != nil {
			t.Fatal(err)
		}
		if _, err := fs.Open(a); !NotExist(err) {
			t.Errorf("open of a removed file: %v", err)
		}
		if _, err := fs.Stat(a); !NotExist(err) {
			t.Errorf("stat of a removed file: %v", err)
		}
		if n, err := fs.FreeBytes(dir); n == 0 || err != nil {
			t.Errorf("free %d, %v", n, err)
		}
	})
}

func TestLockIsExclusive(t *testing.T) {
	both(t, func(t *testing.T, fs FS, dir string) {
		name := filepath.Join(dir, "LOCK")
		l, err := fs.Lock(name)
		if err != nil {
			t.Fatal(err)
		}
		if _, err := fs.Lock(name); err == nil || !strings.Contains(err.Error(), "locked") {
			t.Errorf("second lock: %v", err)
		}
		if err := l.Close(); err != nil {
			t.Fatal(err)
		}
		l, err = fs.Lock(name)
		if err != nil {
			t.Fatalf("lock after release: %v", err)
		}
		if err := l.Close(); err != nil {
			t.Fatal(err)
		}
	})
}

func TestPublishIsAllOrNothing(t *testing.T) {
	fail := errors.New("injected")
	for n := range 8 {
		m := NewMem()
		if err := m.MkdirAll("/d"); err != nil {
			t.Fatal(err)
		}
		count := 0
		fs := WithFaults(m, func(Op, string) error {
			count++
			if count == n+1 {
				return fail
			}
			return nil
		})
		err := Publish(fs, "/d", "x", func(f File) error {
			_, err := f.Write([]byte("whole"))
			return err
		})
		if _, stat := m.Stat("/d/x"); err == nil && stat != nil {
			t.Errorf("no error at operation %d, file %v", n, stat)
		}
		if _, stat := m.Stat("/d/x"); stat == nil && content(t, m, "/d/x") != "whole" {
			t.Errorf("fault at operation %d: the name holds a part", n)
		}
		if n < 5 && !errors.Is(err, fail) {
			t.Errorf("fault at operation %d is lost: %v", n, err)
		}
		if err == nil {
			after := m.Crash(rand.New(rand.NewPCG(uint64(n), 0)))
			if got := content(t, after, "/d/x"); got != "whole" {
				t.Errorf("after a crash: %q", got)
			}
		}
	}
}

// TestPublishNeverLosesWhatItReplaces fails every operation, once and for ever, and cuts the power: the name holds the
// old or the new content.
func TestPublishNeverLosesWhatItReplaces(t *testing.T) {
	put := func(text string) func(File) error {
		return func(f File) error { _, err := f.Write([]byte(text)); return err }
	}
	for _, forever := range []bool{false, true} {
		for n := range 8 {
			for seed := range uint64(8) {
				m := NewMem()
				if err := errors.Join(m.MkdirAll("/d"), Publish(m, "/d", "x", put("old"))); err != nil {
					t.Fatal(err)
				}
				count := 0
				fs := WithFaults(m, func(Op, string) error {
					if count++; count == n+1 || forever && count > n {
						return errors.New("injected")
					}
					return nil
				})
				err := Publish(fs, "/d", "x", put("new"))
				got := content(t, m.Crash(rand.New(rand.NewPCG(seed, uint64(n)))), "/d/x")
				if got != "new" && (got != "old" || err == nil) {
					t.Fatalf("fault at operation %d (for ever: %v): %q, error %v", n, forever, got, err)
				}
			}
		}
	}
}

func TestFaultPlans(t *testing.T) {
	for _, c := range []struct {
		n       int
		forever bool
		want    string
	}{{0, false, "....."}, {1, false, "x...."}, {3, false, "..x.."}, {3, true, "..xxx"}} {
		f := FailAt(c.n, c.forever, ErrNoSpace, OpWrite)
		got := ""
		for range 5 {
			if err := f.Before(OpSync, "a"); err != nil {
				t.Errorf("an operation outside the plan failed: %v", err)
			}
			if err := f.Before(OpWrite, "a"); err == nil {
				got += "."
			} else if got += "x"; !IsNoSpace(err) {
				t.Errorf("%v is not told as a full disk", err)
			}
		}
		if got != c.want || f.Count() != 5 {
			t.Errorf("fail at %d, for ever %v: got %s, want %s, %d operations", c.n, c.forever, got, c.want, f.Count())
		}
		f.Arm(0)
		if err := f.Before(OpWrite, "a"); err != nil {
			t.Errorf("after mending: %v", err)
		}
	}
}

func TestCrashDropsOnlyWhatWasNotSynced(t *testing.T) {
	dropped, kept := 0, 0
	for seed := range uint64(50) {
		m := NewMem()
		if err := m.MkdirAll("/d"); err != nil {
			t.Fatal(err)
		}
		f := write(t, m, "/d/a", "synced")
		if err := errors.Join(f.Sync(), m.SyncDir("/d")); err != nil {
			t.Fatal(err)
		}
		if _, err := f.Write([]byte(" not")); err != nil {
			t.Fatal(err)
		}
		write(t, m, "/d/b", "entry not synced")
		after := m.Crash(rand.New(rand.NewPCG(seed, 1)))
		if got := content(t, after, "/d/a"); !strings.HasPrefix(got, "synced") || len(got) > 10 {
			t.Errorf("seed %d: %q", seed, got)
		}
		if _, err := after.Stat("/d/b"); err != nil {
			dropped++
		} else {
			kept++
		}
		if _, err := m.Stat("/d/a"); err == nil {
			t.Error("the crashed file system still answers")
		}
	}
	if dropped == 0 || kept == 0 {
		t.Errorf("un-synced entries: %d dropped, %d kept", dropped, kept)
	}
}

func TestReasonNamesNoDirectory(t *testing.T) {
	_, err := OS().Open(filepath.Join(t.TempDir(), "absent"))
	if got := Reason(fmt.Errorf("new segment: %w", err)); got != "open: no such file or directory" {
		t.Errorf("reason %q", got)
	}
	if got := Reason(errors.New("plain")); got != "plain" {
		t.Errorf("reason %q", got)
	}
}
