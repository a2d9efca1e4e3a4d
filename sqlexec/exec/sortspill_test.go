package exec

import (
	"context"
	"errors"
	"fmt"
	"math/rand/v2"
	"strings"
	"testing"

	"varve/engine/status"
	"varve/engine/vector"
	"varve/engine/vfs"
	"varve/sqlexec/expr"
	"varve/sqlexec/spill"
)

// disk opens a directory for temporary files.
func disk(t testing.TB, fs vfs.FS, limit int64) *spill.Disk {
	t.Helper()
	d, err := spill.Open(spill.Options{FS: fs, Dir: "/data/tmp", Limit: limit})
	if err != nil {
		t.Fatal(err)
	}
	return d
}

// left are the temporary files that are there.
func left(t testing.TB, fs vfs.FS) []string {
	t.Helper()
	names, err := fs.List("/data/tmp")
	if err != nil {
		t.Fatal(err)
	}
	return names
}

// TestSortSpills: a sort in little memory gives the rows that one in memory gives, in one round of merging and in
// several, keeps to its budget, and leaves no file.
func TestSortSpills(t *testing.T) {
	r := rand.New(rand.NewPCG(12, 12))
	for i, c := range []struct {
		limit   int64
		rows    int
		workers int
		rounds  bool
	}{
		{4 << 20, 60_000, 1, false}, {4 << 20, 60_000, 2, false}, {600 << 10, 60_000, 2, true},
		{8 << 20, 3000, 2, false},
	} {
		t.Run(fmt.Sprint(i), func(t *testing.T) {
			specs := []spec{{keyTypes[r.IntN(len(keyTypes))], 3000, true}, {vector.StringType, 50, true},
				{vector.BoolType, 2, true}, {vector.FloatType, 400, false}, {vector.Uint64Type, 90, true}}
			b := withRowNumber(randomTable(r, c.rows, specs...))
			order := append(orders(r, specs), expr.SortKey{Expr: &expr.Column{Index: len(specs), T: vector.Int64Type}})
			all := showRows(b)
			var want [][]string
			for _, i := range naiveOrder(b, order) {
				want = append(want, all[i])
			}
			fs := vfs.NewMem()
			d := disk(t, fs, 1<<30)
			pool := NewPool(c.limit)
			budget := pool.Budget(context.Background())
			budget.SpillTo(d.Space())
			sink, err := Sort(order, append(typesOf(specs), vector.Int64Type), budget)
			if err != nil {
				t.Fatal(err)
			}
			sameRows(t, "sort", run(t, Pipeline{Stream{Source: newMixed(b, 700)}, sink}, c.workers), want)
			bytes, files := d.Written()
			if spilled := c.rows > 10_000; spilled != (files > 1) || spilled && bytes != d.Held() && !c.rounds {
				t.Errorf("%d bytes in %d files, %d held", bytes, files, d.Held())
			}
			if budget.Peak() > c.limit {
				t.Errorf("%d bytes of memory, the limit is %d", budget.Peak(), c.limit)
			}
			budget.Close()
			if names := left(t, fs); len(names) > 0 || d.Held() != 0 || pool.Used() != 0 {
				t.Errorf("left behind: %v, %d bytes on disk, %d in memory", names, d.Held(), pool.Used())
			}
		})
	}
}

// spilling sorts rows that do not fit into memory and reads the answer.
func spilling(ctx context.Context, d *spill.Disk, b *vector.Batch, types []vector.Type, workers int,
	seen func(n int)) error {
	budget := NewPool(512 << 10).Budget(ctx)
	defer budget.Close()
	budget.SpillTo(d.Space())
	sink, err := Sort([]expr.SortKey{{Expr: &expr.Column{Index: 0, T: types[0]}}}, types, budget)
	if err != nil {
		return err
	}
	src, err := (&Pipeline{Stream{Source: Values(b)}, sink}).Run(ctx, workers)
	if err != nil {
		return err
	}
	r := src.Reader(0)
	defer r.Close()
	n := 0
	for out := (vector.Batch{}); ; n += out.N {
		ok, err := r.Next(&out)
		if err != nil {
			return err
		}
		if !ok {
			break
		}
		if seen != nil {
			seen(n)
		}
	}
	if n != b.N {
		return fmt.Errorf("%d rows of %d", n, b.N)
	}
	return nil
}

// TestSortSpillFaults fails every call of the file system once, and the disk being full at any write: the query ends
// with a clear error or the right rows, and no file stays.
func TestSortSpillFaults(t *testing.T) {
	specs := []spec{{vector.StringType, 5000, true}, {vector.Int64Type, 5000, false}}
	b := randomTable(newRand(5), 7000, specs...)
	ops := []vfs.Op{vfs.OpCreate, vfs.OpOpen, vfs.OpWrite, vfs.OpRead}
	count := vfs.FailAt(0, false, nil, ops...)
	if err := spilling(context.Background(), disk(t, vfs.WithFaults(vfs.NewMem(), count.Before), 1<<30), b,
		typesOf(specs), 1, nil); err != nil {
		t.Fatal(err)
	}
	for n := 1; n <= count.Count(); n++ {
		for _, cause := range []error{errors.New("a broken disk"), vfs.ErrNoSpace} {
			mem := vfs.NewMem()
			d := disk(t, vfs.WithFaults(mem, vfs.FailAt(n, false, cause, ops...).Before), 1<<30)
			err := spilling(context.Background(), d, b, typesOf(specs), 1, nil)
			code, word := status.StorageUnavailable, "temporary file"
			if cause == vfs.ErrNoSpace {
				code, word = status.RuntimeResourcesExhausted, "no room"
			}
			if status.Of(err) != code || !strings.Contains(err.Error(), word) {
				t.Fatalf("call %d of %d fails with %v: %d %v", n, count.Count(), cause, status.Of(err), err)
			}
			if names := left(t, mem); len(names) > 0 || d.Held() != 0 {
				t.Fatalf("call %d fails: %v stay behind, %d bytes", n, names, d.Held())
			}
		}
	}
}

// TestSortSpillLimit: past the limit of temporary files, and where little is free, the query fails and nothing stays.
func TestSortSpillLimit(t *testing.T) {
	specs := []spec{{vector.Int64Type, 1_000_000, false}}
	b := randomTable(newRand(6), 100_000, specs...)
	fs := vfs.NewMem()
	err := spilling(context.Background(), disk(t, fs, 100<<10), b, typesOf(specs), 1, nil)
	if status.Of(err) != status.RuntimeResourcesExhausted || !strings.Contains(err.Error(), "query.spill_limit") {
		t.Errorf("over the limit: %d %v", status.Of(err), err)
	}
	if names := left(t, fs); len(names) > 0 {
		t.Errorf("%v stay behind", names)
	}
}

// TestSortSpillCancelled: a query that is gone while it spills or merges ends, and its files go.
func TestSortSpillCancelled(t *testing.T) {
	specs := []spec{{vector.Int64Type, 1_000_000, false}}
	b := randomTable(newRand(7), 100_000, specs...)
	fs := vfs.NewMem()
	ctx, cancel := context.WithCancel(context.Background())
	d := disk(t, vfs.WithFaults(fs, func(op vfs.Op, _ string) error {
		if op == vfs.OpWrite {
			cancel()
		}
		return nil
	}), 1<<30)
	if err := spilling(ctx, d, b, typesOf(specs), 1, nil); !errors.Is(err, context.Canceled) {
		t.Errorf("cancelled at the first write: %v", err)
	}
	if bytes, _ := d.Written(); bytes > 2*2*runBlock {
		t.Errorf("%d bytes were written after the query was gone", bytes)
	}
	ctx, cancel = context.WithCancel(context.Background())
	defer cancel()
	last := 0
	err := spilling(ctx, disk(t, fs, 1<<30), b, typesOf(specs), 2, func(n int) {
		if n > 10_000 {
			cancel()
		}
		last = n
	})
	if !errors.Is(err, context.Canceled) || last > 10_000+2*vector.Size {
		t.Errorf("cancelled while the rows are read, at row %d: %v", last, err)
	}
	if names := left(t, fs); len(names) > 0 {
		t.Errorf("%v stay behind", names)
	}
}

// TestSpillDirectoryIsEmptied: files of a process that died go at the start.
func TestSpillDirectoryIsEmptied(t *testing.T) {
	fs := vfs.NewMem()
	if err := fs.MkdirAll("/data/tmp"); err != nil {
		t.Fatal(err)
	}
	f, err := fs.Create("/data/tmp/7.spill")
	if err != nil {
		t.Fatal(err)
	}
	if err := f.Close(); err != nil {
		t.Fatal(err)
	}
	disk(t, fs, 1)
	if names := left(t, fs); len(names) > 0 {
		t.Errorf("%v stay behind", names)
	}
}
