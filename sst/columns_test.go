package sst

import (
	"errors"
	"fmt"
	"sync"
	"testing"

	"varve/engine/scan"
	"varve/engine/schema"
	"varve/engine/vector"
	"varve/engine/vfs"
)

// writeWide writes a part of one row of so many columns.
func writeWide(t *testing.T, fs vfs.FS, name string, columns int, value int64) []schema.Column {
	t.Helper()
	all := []schema.Column{tsColumn}
	b := &vector.Batch{N: 1, Cols: []*vector.Vector{{Type: tsColumn.Type, Ints: []int64{value}}}}
	for i := range columns - 1 {
		all = append(all, schema.Column{ID: schema.ColumnID(100 + i), Name: fmt.Sprint("c", i), Type: vector.Int64Type,
			Nullable: true})
		b.Cols = append(b.Cols, &vector.Vector{Type: vector.Int64Type, Ints: []int64{value + int64(i)}})
	}
	err := vfs.Publish(fs, ".", name, func(f vfs.File) error {
		w := NewWriter(f, WriterOptions{Columns: all, MinSeq: 1, MaxSeq: 1})
		if err := w.Series([]byte("k")); err != nil {
			return err
		}
		if err := w.Write(b); err != nil {
			return err
		}
		_, err := w.Finish()
		return err
	})
	if err != nil {
		t.Fatal(err)
	}
	return all
}

// TestColumnsOfWidePartsAreBounded: of parts of many columns that are read beside each other few keep what is known of
// them, their rows are the same, and nothing of a closed part is left.
func TestColumnsOfWidePartsAreBounded(t *testing.T) {
	const parts, columns = 6, fewColumns + 10
	fs, cache := vfs.NewMem(), NewCache(0)
	cache.columns.most = 2 * columns * columnBytes
	spec := &scan.Spec{TimeColumn: tsColumn, Time: scan.All}
	line := func(p *Part) string {
		c, err := p.Run().Scan(spec)
		if err != nil {
			t.Error(err)
			return ""
		}
		return fmt.Sprint(read(t, c))
	}
	var open []*Part
	var want []string
	for i := range parts {
		name := fmt.Sprint("p", i)
		spec.Columns = writeWide(t, fs, name, columns, int64(1000*i))
		for _, cache := range []*Cache{cache, NewCache(0)} {
			p, err := Open(fs, name, OpenOptions{Cache: cache})
			if err != nil {
				t.Fatal(err)
			}
			defer p.Close()
			if len(open) == i {
				open = append(open, p)
			} else {
				want = append(want, line(p))
			}
		}
	}
	var wait sync.WaitGroup
	for i, p := range open {
		wait.Go(func() {
			for range 5 {
				if got := line(p); got != want[i] {
					t.Errorf("part %d: other rows than with all columns kept: %.200s", i, got)
				}
				if typ, ok, err := p.TypeOf(100); !ok || err != nil || typ != vector.Int64Type {
					t.Errorf("part %d: a column has the type %v, %t, %v", i, typ, ok, err)
				}
			}
		})
	}
	wait.Wait()
	kept := 0
	for _, p := range open {
		if p.set.Load() != nil {
			kept++
		}
	}
	if kept > 2 || cache.columns.bytes > cache.columns.most {
		t.Errorf("%d parts keep their columns, %d bytes; %d is the bound", kept, cache.columns.bytes,
			cache.columns.most)
	}
	for _, p := range open {
		cache.indexes.drop(p)
		cache.columns.drop(p)
	}
	if cache.columns.bytes != 0 || cache.indexes.bytes != 0 {
		t.Errorf("%d bytes of columns and %d of indexes are left of closed parts", cache.columns.bytes,
			cache.indexes.bytes)
	}
}

// TestColumnsThatCannotBeReadAgain: a directory that was damaged since the part was opened is met by who asks for a
// column.
func TestColumnsThatCannotBeReadAgain(t *testing.T) {
	fs := vfs.NewMem()
	wanted := writeWide(t, fs, "p", fewColumns+10, 1)
	p, err := Open(fs, "p", OpenOptions{})
	if err != nil {
		t.Fatal(err)
	}
	defer p.Close()
	p.cache.columns.drop(p)
	p.set.Store(nil)
	p.footer.dirSum++
	if _, _, err := p.TypeOf(100); !errors.Is(err, ErrCorrupt) {
		t.Errorf("the type of a column: %v, want %v", err, ErrCorrupt)
	}
	if _, err := p.ColumnMetas(); !errors.Is(err, ErrCorrupt) {
		t.Errorf("the columns: %v, want %v", err, ErrCorrupt)
	}
	c, err := p.Run().Scan(&scan.Spec{Columns: wanted, TimeColumn: tsColumn, Time: scan.All})
	if err == nil {
		_, err = c.Next(&vector.Batch{})
		c.Close()
	}
	if !errors.Is(err, ErrCorrupt) {
		t.Errorf("the rows: %v, want %v", err, ErrCorrupt)
	}
}
