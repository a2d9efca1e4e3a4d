package manifest

import (
	"bytes"
	"flag"
	"os"
	"path"
	"reflect"
	"testing"

	"varve/engine/schema"
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

// TestLayout pins the bytes of version 1: the example is written as it was, and what was written then still opens.
func TestLayout(t *testing.T) {
	fs := newFS(t)
	m, _ := open(t, fs)
	apply(t, m, Edit{PutDatabase: map[string]Database{"d": {}}, PutTable: []*schema.Table{table(1)}})
	apply(t, m, Edit{AddParts: []PartEdit{{1, part(7)}}, Flushed: []FlushedEdit{{1, 9}}})
	want := m.State()
	if err := m.Close(); err != nil {
		t.Fatal(err)
	}
	src, err := fs.Map(path.Join(dir, FileName))
	if err != nil {
		t.Fatal(err)
	}
	golden(t, "v1.manifest", src.Bytes())
	var text bytes.Buffer
	if err := Dump(&text, fs, dir); err != nil {
		t.Fatal(err)
	}
	golden(t, "v1.dump", text.Bytes())

	old, err := os.ReadFile("testdata/v1.manifest")
	if err != nil {
		t.Fatal(err)
	}
	fs = newFS(t)
	if err := vfs.Publish(fs, dir, FileName, func(f vfs.File) error { _, err := f.Write(old); return err }); err !=
		nil {
		t.Fatal(err)
	}
	m, got := open(t, fs)
	if !reflect.DeepEqual(got, want) {
		t.Errorf("\n got %+v\nwant %+v", got, want)
	}
	if err := m.Close(); err != nil {
		t.Fatal(err)
	}
}
