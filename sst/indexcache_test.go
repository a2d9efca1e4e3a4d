package sst

import (
	"fmt"
	"math/rand/v2"
	"reflect"
	"sync"
	"testing"

	"varve/engine/scan"
	"varve/engine/schema"
	"varve/engine/vector"
	"varve/engine/vfs"
)

// TestPageIndexesAreBounded reads parts beside each other, again and again, where few of their page indexes are kept:
// the rows are those of a reader that keeps all, what is kept has its bound, and nothing of a closed part is left.
func TestPageIndexesAreBounded(t *testing.T) {
	fs, spec := vfs.NewMem(), &scan.Spec{
		Columns:    []schema.Column{tsColumn, levelColumn, messageColumn, bytesColumn, latencyColumn},
		TimeColumn: tsColumn, Time: scan.All,
	}
	rows := func(p *Part) any {
		c, err := p.Run().Scan(spec)
		if err != nil {
			t.Error(err)
			return nil
		}
		return read(t, c)
	}
	few, all := NewCache(0), NewCache(0)
	few.indexes.most = 4 << 10
	var parts []*Part
	var want []any
	for i := range 3 {
		name := fmt.Sprint("p", i)
		r := rand.New(rand.NewPCG(uint64(i), 1))
		newTable(r, 3, 9000, false).write(t, fs, name, r, WriterOptions{BlockRows: vector.Size})
		for _, cache := range []*Cache{few, all} {
			p, err := Open(fs, name, OpenOptions{Cache: cache})
			if err != nil {
				t.Fatal(err)
			}
			if cache == all {
				defer p.Close()
				want = append(want, rows(p))
				continue
			}
			parts = append(parts, p)
		}
	}
	if all.indexes.bytes < 2*few.indexes.most {
		t.Fatalf("indexes of %d bytes: the test has too few", all.indexes.bytes)
	}
	var wait sync.WaitGroup
	for i, p := range parts {
		wait.Go(func() {
			for range 3 {
				if got := rows(p); !reflect.DeepEqual(got, want[i]) {
					t.Errorf("part %d: other rows than with all indexes kept", i)
				}
			}
		})
	}
	wait.Wait()
	largest := int64(0)
	for _, k := range few.indexes.kept {
		largest = max(largest, k.bytes)
	}
	if n := few.indexes.bytes; n > few.indexes.most+largest || n == 0 {
		t.Errorf("indexes of %d bytes are kept, at most %d are wanted", n, few.indexes.most)
	}
	for _, p := range parts {
		if err := p.Close(); err != nil {
			t.Error(err)
		}
	}
	if few.indexes.bytes != 0 || len(few.indexes.kept) != 0 {
		t.Errorf("closed parts keep %d bytes of %d indexes", few.indexes.bytes, len(few.indexes.kept))
	}
}
