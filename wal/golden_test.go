package wal

import (
	"bytes"
	"flag"
	"fmt"
	"io"
	"os"
	"path"
	"testing"

	"varve/engine/vfs"
)

var update = flag.Bool("update", false, "rewrite golden files")

// golden compares text with a file of testdata, or rewrites it.
func golden(t *testing.T, name string, got []byte) {
	t.Helper()
	if *update {
		if err := os.WriteFile(path.Join("testdata", name), got, 0o644); err != nil {
			t.Fatal(err)
		}
	}
	want, err := os.ReadFile(path.Join("testdata", name))
	if err != nil {
		t.Fatal(err)
	}
	if !bytes.Equal(got, want) {
		t.Errorf("%s differs (go test -update rewrites it)\n got\n%s\nwant\n%s", name, got, want)
	}
}

func printBody(w io.Writer, rec []byte) error {
	_, err := fmt.Fprintf(w, "            %q\n", rec)
	return err
}

// TestLayout pins the bytes of version 2: the example is written as it was, and what each version wrote still opens.
func TestLayout(t *testing.T) {
	fs := vfs.NewMem()
	l := openLog(t, fs, Options{})
	replayAll(t, l)
	appendAll(t, l, "first record", "", "third")
	closeLog(t, l)
	name := path.Join(dir, segmentName(1))
	m, err := fs.Map(name)
	if err != nil {
		t.Fatal(err)
	}
	golden(t, "v2.wal", m.Bytes())
	var text bytes.Buffer
	if err := Dump(&text, fs, name, printBody); err != nil {
		t.Fatal(err)
	}
	if err := fs.Damage(name, segmentHead+FrameHead+2); err != nil {
		t.Fatal(err)
	}
	text.WriteString("\nwith a flipped bit in the first record:\n")
	if err := Dump(&text, fs, name, printBody); err != nil {
		t.Fatal(err)
	}
	golden(t, "v2.dump", text.Bytes())
	r, err := Check(fs, dir, Range{}, func(LSN, []byte) error { return nil })
	if err != nil || r.Records != 2 || len(r.Damaged) != 1 {
		t.Errorf("check: %+v, %v", r, err)
	}

	for _, version := range []string{"v1.wal", "v2.wal"} {
		old, err := os.ReadFile("testdata/" + version)
		if err != nil {
			t.Fatal(err)
		}
		fs = vfs.NewMem()
		if err := fs.MkdirAll(dir); err != nil {
			t.Fatal(err)
		}
		f, err := fs.Create(name)
		if err != nil {
			t.Fatal(err)
		}
		if _, err := f.Write(old); err != nil {
			t.Fatal(err)
		}
		l = openLog(t, fs, Options{})
		got, _ := replayAll(t, l)
		checkRecords(t, got, "first record", "", "third")
		closeLog(t, l)
	}
}
