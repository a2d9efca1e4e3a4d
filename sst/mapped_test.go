package sst

import (
	"context"
	"math"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"varve/engine/vfs"
)

var ctx = context.Background()

// endingContext has the end that a function tells.
type endingContext struct {
	context.Context
	ended func() error
}

func (c endingContext) Err() error { return c.ended() }

// checkFile is Check for a file of a file system.
func checkFile(fs vfs.FS, name string) []error {
	f, err := Map(fs, name)
	if err != nil {
		return []error{err}
	}
	return Check(ctx, f, name)
}

// TestReadBounds reads places at and past the bounds of a file.
func TestReadBounds(t *testing.T) {
	f := contents{File: &mapped{data: []byte("0123456789")}}
	for _, c := range []struct {
		r    ref
		want string
		ok   bool
	}{
		{ref{0, 10}, "0123456789", true}, {ref{9, 1}, "9", true}, {ref{10, 0}, "", true},
		{ref{10, 1}, "", false}, {ref{11, 0}, "", false}, {ref{3, math.MaxUint64}, "", false},
		{ref{math.MaxUint64, 2}, "", false},
	} {
		var b []byte
		_, err := vfs.Guard(func() (err error) {
			b, _, err = f.read(ctx, c.r)
			return err
		})
		if string(b) != c.want || (err == nil) != c.ok {
			t.Errorf("%v: %q, %v", c.r, b, err)
		}
		if cap(b) != len(b) {
			t.Errorf("%v: what lies behind can be reached", c.r)
		}
	}
}

// TestReadAlone holds that nothing but mapped.go and file.go touches the bytes of the file, and that vfs.Guard alone
// catches faults.
func TestReadAlone(t *testing.T) {
	files, err := filepath.Glob("*.go")
	if err != nil || len(files) == 0 {
		t.Fatal(files, err)
	}
	for _, name := range files {
		if name == "mapped.go" || strings.HasSuffix(name, "_test.go") {
			continue
		}
		b, err := os.ReadFile(name)
		if err != nil {
			t.Fatal(err)
		}
		if strings.Contains(string(b), ".data[") || strings.Contains(string(b), "file.data") {
			t.Errorf("%s reaches for the mapping", name)
		}
		if name != "file.go" && strings.Contains(string(b), ".Read(") {
			t.Errorf("%s reads past contents.read", name)
		}
		if strings.Contains(string(b), "SetPanicOnFault") || strings.Contains(string(b), "recover()") {
			t.Errorf("%s catches faults by itself", name)
		}
	}
}
