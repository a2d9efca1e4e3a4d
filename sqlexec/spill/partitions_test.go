package spill

import (
	"fmt"
	"math/rand/v2"
	"strings"
	"sync"
	"testing"

	"varve/engine/status"
	"varve/engine/vector"
	"varve/engine/vfs"
)

func open(t *testing.T, fs vfs.FS, limit int64) *Disk {
	t.Helper()
	d, err := Open(Options{FS: fs, Dir: "/data/tmp", Limit: limit})
	if err != nil {
		t.Fatal(err)
	}
	return d
}

// rowsOf makes n rows of a worker: its number, the row's number, a text, a flag.
func rowsOf(worker, from, n, length int) *vector.Batch {
	b := &vector.Batch{N: n}
	for range 4 {
		b.Cols = append(b.Cols, &vector.Vector{})
	}
	b.Cols[0] = vector.ConstInt(vector.Int64Type, int64(worker))
	b.Cols[1].Type, b.Cols[2].Type, b.Cols[3].Type = vector.Uint64Type, vector.StringType, vector.BoolType
	for i := range n {
		b.Cols[1].Append(i, vector.ConstUint(vector.Uint64Type, uint64(from+i)), 0, 1)
		if (from+i)%5 == 0 {
			b.Cols[2].AppendNulls(i, 1)
		} else {
			b.Cols[2].Append(i, vector.ConstString(strings.Repeat("x", (from+i)%(length+1))), 0, 1)
		}
		b.Cols[3].Append(i, vector.ConstBool((from+i)%3 == 0), 0, 1)
	}
	return b
}

// TestPartitions: what several workers spread is in the files, each worker's rows in their order.
func TestPartitions(t *testing.T) {
	const workers, rows, parts = 3, 8000, 7
	for _, c := range []struct {
		most   int64
		length int
	}{{1 << 10, 5}, {1 << 20, 5}, {8 << 10, 3000}} {
		fs := vfs.NewMem()
		d := open(t, fs, 1<<30)
		s := d.Space()
		p := s.Partitions([]vector.Type{vector.Int64Type, vector.Uint64Type, vector.StringType, vector.BoolType}, parts)
		var wg sync.WaitGroup
		for w := range workers {
			wg.Go(func() {
				r, spread := rand.New(rand.NewPCG(uint64(w), 1)), p.Spread(c.most)
				for from := 0; from < rows; {
					n := min(1+r.IntN(vector.Size), rows-from)
					b, to := rowsOf(w, from, n, c.length), make([]uint32, n)
					for i := range to {
						to[i] = uint32((from + i) % (parts - 1)) // nothing goes to the last
					}
					if err := spread.Add(b, to); err != nil {
						t.Error(err)
					}
					from += n
				}
				if err := spread.Flush(); err != nil {
					t.Error(err)
				}
			})
		}
		wg.Wait()
		files, err := p.Finish()
		if err != nil || len(files) != parts || files[parts-1] != nil {
			t.Fatalf("%d files, the last is %v: %v", len(files), files[parts-1], err)
		}
		for at, f := range files[:parts-1] {
			checkPartition(t, f, at, parts-1, workers, rows, c.length)
		}
		s.Close()
		if names, err := fs.List("/data/tmp"); err != nil || len(names) > 0 || d.Held() != 0 {
			t.Errorf("%v stay behind, %d bytes: %v", names, d.Held(), err)
		}
	}
}

// checkPartition reads the rows whose number is at more than a multiple of step.
func checkPartition(t *testing.T, f *File, at, step, workers, rows, length int) {
	t.Helper()
	r, err := f.Open()
	if err != nil {
		t.Fatal(err)
	}
	next := make([]int, workers)
	for w := range next {
		next[w] = at
	}
	for b := (vector.Batch{}); ; {
		ok, err := r.Next(&b)
		if err != nil {
			t.Fatal(err)
		}
		if !ok {
			break
		}
		if b.N > vector.Size {
			t.Errorf("a block of %d rows", b.N)
		}
		for i := range b.N {
			w := int(b.Cols[0].Int(i))
			want := rowsOf(w, next[w], 1, length)
			for k, v := range b.Cols {
				got, want := fmt.Sprint(value(v, i)), fmt.Sprint(value(want.Cols[k], 0))
				if got != want {
					t.Fatalf("partition %d, worker %d, row %d, column %d: %s, want %s", at, w, next[w], k, got, want)
				}
			}
			next[w] += step
		}
	}
	for w, n := range next {
		if n < rows {
			t.Errorf("partition %d: the rows of worker %d end before %d of %d", at, w, n, rows)
		}
	}
	if err := r.Close(); err != nil {
		t.Error(err)
	}
}

func value(v *vector.Vector, i int) any {
	switch {
	case v.IsNull(i):
		return nil
	case v.Type.Kind() == vector.Bool:
		return v.Bool(i)
	case v.Type.Kind() == vector.Int64:
		return v.Int(i)
	case v.Type.Kind() == vector.Uint64:
		return v.Uint(i)
	}
	return v.Str(i)
}

// TestPartitionsLimit: past the limit of temporary files a worker ends with its error, and nothing stays.
func TestPartitionsLimit(t *testing.T) {
	fs := vfs.NewMem()
	d := open(t, fs, 1<<10)
	s := d.Space()
	spread := s.Partitions([]vector.Type{vector.Int64Type, vector.Uint64Type, vector.StringType, vector.BoolType}, 2).
		Spread(1 << 10)
	var err error
	for from := 0; from < 100_000 && err == nil; from += 1000 {
		err = spread.Add(rowsOf(0, from, 1000, 9), make([]uint32, 1000))
	}
	if status.Of(err) != status.RuntimeResourcesExhausted || !strings.Contains(err.Error(), "query.spill_limit") {
		t.Errorf("over the limit: %v", err)
	}
	s.Close()
	if names, err := fs.List("/data/tmp"); err != nil || len(names) > 0 || d.Held() != 0 {
		t.Errorf("%v stay behind, %d bytes: %v", names, d.Held(), err)
	}
}
