package parts_test

import (
	"context"
	"errors"
	"fmt"
	"math/rand/v2"
	"runtime"
	"testing"

	"varve/engine/parts"
	"varve/engine/parts/partstest"
	"varve/engine/scan/scantest"
	"varve/engine/vector"
	"varve/engine/vfs"
	"varve/sst"
)

// TestConformFar holds parts whose bytes are no mapping against what every run must do: each range is read by itself
// and overwritten when it is released, and nothing stays lent.
func TestConformFar(t *testing.T) {
	for seed, shape := range [][3]int{{1, 5, 40}, {10, 40, 50}, {40, 30, 400}, {2000, 20, 100}} {
		for _, cache := range []int64{0, 1 << 20} {
			t.Run(fmt.Sprint(shape, cache), func(t *testing.T) {
				r := rand.New(rand.NewPCG(uint64(seed), 5))
				d := scantest.New(r, shape[0], shape[1], shape[2])
				far := &partstest.Slow{Store: local(t),
					Before: func(ctx context.Context, _ partstest.Op) error {
						runtime.Gosched()
						return ctx.Err()
					}}
				publish(t, far, d)
				f, err := far.Open(ctx, 1)
				if err != nil {
					t.Fatal(err)
				}
				p, err := sst.OpenFile(f, "far", sst.OpenOptions{Cache: sst.NewCache(cache)})
				if err != nil {
					t.Fatal(err)
				}
				scantest.Conform(t, r, d, p.Run(), 4)
				if err := p.Close(); err != nil || far.Lent() != 0 || far.Reads() < 10 {
					t.Errorf("after %d reads %d are lent: %v", far.Reads(), far.Lent(), err)
				}
			})
		}
	}
}

// TestSpliceFar merges blocks of parts that are no mappings, and keeps nothing of them when reads fail meanwhile.
func TestSpliceFar(t *testing.T) {
	left := -1
	far := &partstest.Slow{Store: local(t), Before: func(context.Context, partstest.Op) error {
		if left--; left == 0 {
			return errors.New("the bucket is away")
		}
		return nil
	}}
	const rows = 3 * vector.Size
	if err := far.Publish(1, func(out vfs.File) error {
		_, err := partstest.WritePart(out, rows, "one")
		return err
	}); err != nil {
		t.Fatal(err)
	}
	for n := 1; ; n++ {
		left = n
		err := splice(far, uint64(n+1))
		done := left > 0
		left = -1
		if done {
			if err != nil || n < 6 {
				t.Fatalf("%d calls: %v", n, err)
			}
			if err := partstest.Read(ctx, t, far, uint64(n+1), rows, "one"); err != nil {
				t.Error(err)
			}
			break
		}
		if err == nil || errors.Is(err, sst.ErrCorrupt) {
			t.Errorf("call %d fails: %v", n, err)
		}
	}
	if far.Lent() != 0 {
		t.Errorf("%d reads are lent at the end", far.Lent())
	}
}

// splice publishes a part of the blocks of part 1.
func splice(s parts.Store, file uint64) error {
	f, err := s.Open(ctx, 1)
	if err != nil {
		return err
	}
	p, err := sst.OpenFile(f, "one", sst.OpenOptions{})
	if err != nil {
		return err
	}
	key, err := p.SoleSeries(ctx)
	if err == nil {
		err = s.Publish(file, func(out vfs.File) error {
			w := sst.NewWriter(out, partstest.WriterOptions())
			if err := w.Series(key); err != nil {
				return err
			}
			for block := range p.Run().Blocks() {
				if ok, err := w.Splice(ctx, p, block); !ok || err != nil {
					return fmt.Errorf("block %d is taken over: %v, %w", block, ok, err)
				}
			}
			_, err := w.Finish()
			return err
		})
	}
	return errors.Join(err, p.Close())
}

// local is an empty store in memory.
func local(t *testing.T) parts.Store {
	t.Helper()
	l := parts.At(vfs.NewMem(), "data")
	if err := l.Make(); err != nil {
		t.Fatal(err)
	}
	return l
}

func publish(t *testing.T, s parts.Store, d *scantest.Data) {
	t.Helper()
	if err := s.Publish(1, func(out vfs.File) error {
		w := sst.NewWriter(out, sst.WriterOptions{Table: scantest.Table, Columns: scantest.Stored(), Hidden: true,
			BlockRows: vector.Size})
		if err := d.Series(func(key []byte, rows *vector.Batch) error {
			if err := w.Series(key); err != nil {
				return err
			}
			return w.Write(rows)
		}); err != nil {
			return err
		}
		_, err := w.Finish()
		return err
	}); err != nil {
		t.Fatal(err)
	}
}
