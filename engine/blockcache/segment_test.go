package blockcache

import (
	"bytes"
	"testing"

	"varve/engine/vfs"
)

// FuzzIndex: any bytes are an index or an error, and an index is written as it was read.
func FuzzIndex(f *testing.F) {
	f.Add(appendIndex(nil, nil), int64(20))
	f.Add(appendIndex(nil, []*span{{object: "a", off: 5, n: 10, sums: []uint32{7}},
		{object: "b/c", off: 1 << 40, n: chunk + 1, sums: []uint32{8, 9}}}), int64(20+10+chunk+1))
	f.Add([]byte{}, int64(0))
	f.Fuzz(func(t *testing.T, b []byte, end int64) {
		spans, err := parseIndex(b, 20, end)
		if err != nil {
			return
		}
		at := int64(20)
		for _, s := range spans {
			if s.at != at || s.n <= 0 || len(s.sums) != (s.n+chunk-1)/chunk || s.off < 0 {
				t.Fatalf("%+v at %d", s, at)
			}
			at += int64(s.n)
		}
		if at != end {
			t.Fatalf("the end is %d, not %d", at, end)
		}
		if again := appendIndex(nil, spans); !bytes.Equal(again, b) {
			t.Fatalf("written again:\n%x\n%x", again, b)
		}
	})
}

// FuzzFile: any file opens, or is removed; what it says is true.
func FuzzFile(f *testing.F) {
	data := make([]byte, 100)
	content("a", data, 0)
	whole := append(appendHead(nil, "x"), data...)
	whole = appendIndex(whole, []*span{{object: "a", n: 100, sums: sumsOf(data)}})
	f.Add(whole)
	f.Add(whole[:len(whole)-1])
	f.Fuzz(func(t *testing.T, b []byte) {
		fs := vfs.NewMem()
		if err := fs.MkdirAll("/cache"); err != nil {
			t.Fatal(err)
		}
		out, err := fs.Create("/cache/" + fileName(3))
		if err != nil {
			t.Fatal(err)
		}
		if _, err := out.Write(b); err != nil {
			t.Fatal(err)
		}
		c, err := Open(Options{FS: fs, Dir: "/cache", Size: MinSize, Of: "x"})
		if err != nil {
			t.Fatal(err)
		}
		get(t, c, &far{}, "a", 0, 100)
		if err := c.Close(); err != nil {
			t.Fatal(err)
		}
	})
}
