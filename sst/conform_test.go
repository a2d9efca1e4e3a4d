package sst

import (
	"fmt"
	"math/rand/v2"
	"testing"

	"varve/engine/scan/scantest"
	"varve/engine/vector"
	"varve/engine/vfs"
)

// TestConform holds parts against what every run must do: of one series and of many, of one block and of several, with
// and without a cache and a tag index.
func TestConform(t *testing.T) {
	for seed, shape := range [][3]int{{1, 5, 40}, {10, 40, 50}, {40, 30, 400}, {2000, 20, 300}} {
		for _, indexed := range []bool{true, false} {
			t.Run(fmt.Sprint(shape, indexed), func(t *testing.T) {
				if before := leastIndexed; !indexed {
					leastIndexed = 1 << 30
					defer func() { leastIndexed = before }()
				}
				r := rand.New(rand.NewPCG(uint64(seed), 5))
				d := scantest.New(r, shape[0], shape[1], shape[2])
				fs := vfs.NewMem()
				writeData(t, fs, d)
				o := OpenOptions{}
				if indexed {
					o.Cache = NewCache(1 << 20)
				}
				p, err := Open(fs, "p", o)
				if err != nil {
					t.Fatal(err)
				}
				defer p.Close()
				scantest.Conform(t, r, d, p.Run(), 8)
			})
		}
	}
}

func writeData(t *testing.T, fs vfs.FS, d *scantest.Data) {
	t.Helper()
	f, err := fs.Create("p")
	if err != nil {
		t.Fatal(err)
	}
	w := NewWriter(f, WriterOptions{Table: scantest.Table, Columns: scantest.Stored(), Hidden: true,
		BlockRows: vector.Size})
	if err := d.Series(func(key []byte, rows *vector.Batch) error {
		if err := w.Series(key); err != nil {
			return err
		}
		return w.Write(rows)
	}); err != nil {
		t.Fatal(err)
	}
	if _, err := w.Finish(); err != nil {
		t.Fatal(err)
	}
	if err := f.Close(); err != nil {
		t.Fatal(err)
	}
}
