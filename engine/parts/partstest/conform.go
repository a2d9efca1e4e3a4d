package partstest

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"math/rand/v2"
	"slices"
	"sync"
	"testing"

	"varve/engine/parts"
	"varve/engine/schema"
	"varve/engine/vector"
	"varve/engine/vfs"
	"varve/sst"
)

// Place is a store and what lies behind it.
type Place struct {
	parts.Store
	// Damage changes a byte of a part; off counts from the end if it is negative.
	Damage func(file uint64, off int) error
	// Reopen returns the place as it is after a crash.
	Reopen func() Place
}

var ctx = context.Background()

// Conform holds a store that works against its promises; open makes a new and empty one.
func Conform(t *testing.T, open func(t *testing.T) Place) {
	for _, c := range []struct {
		name string
		test func(*testing.T, Place)
	}{
		{"what is published is read", published}, {"what was cut short is no part", unfinished},
		{"what is removed is gone", removed}, {"damage is found", damaged}, {"a crash keeps what is there", crashed},
		{"the end of a reader", ended}, {"many at once", together},
	} {
		t.Run(c.name, func(t *testing.T) { c.test(t, open(t)) })
	}
}

// The columns of parts that WritePart writes.
var (
	ts   = schema.Column{ID: 1, Name: "ts", Type: vector.Timestamp(3), Semantic: schema.Timestamp}
	text = schema.Column{ID: 2, Name: "text", Type: vector.StringType, Nullable: true}
)

// WriterOptions are those of WritePart.
func WriterOptions() sst.WriterOptions {
	return sst.WriterOptions{Columns: []schema.Column{ts, text}, BlockRows: vector.Size}
}

// WritePart writes a small part of one series, with n rows at the times 0 to n-1. The text of each is value and its
// time.
func WritePart(out vfs.File, n int, value string) (sst.Meta, error) {
	w := sst.NewWriter(out, WriterOptions())
	if err := w.Series(schema.KeyPrefix(7)); err != nil {
		return sst.Meta{}, err
	}
	for from := 0; from < n; from += vector.Size {
		times, values := &vector.Vector{Type: ts.Type}, &vector.Vector{Type: text.Type}
		rows := min(vector.Size, n-from)
		for i := range rows {
			times.Ints = append(times.Ints, int64(from+i))
			values.PushBytes(fmt.Appendf(nil, "%s %d", value, from+i))
		}
		if err := w.Write(&vector.Batch{N: rows, Cols: []*vector.Vector{times, values}}); err != nil {
			return sst.Meta{}, err
		}
	}
	return w.Finish()
}

// publish publishes a part and returns its bytes.
func publish(t *testing.T, s parts.Store, file uint64, n int) []byte {
	t.Helper()
	if err := s.Publish(file, func(out vfs.File) error {
		_, err := WritePart(out, n, fmt.Sprint("part ", file))
		return err
	}); err != nil {
		t.Fatal(err)
	}
	b, err := whole(s, file)
	if err != nil {
		t.Fatal(err)
	}
	return b
}

// whole reads a part from its begin to its end.
func whole(s parts.Store, file uint64) (b []byte, err error) {
	f, err := s.Open(ctx, file)
	if err != nil {
		return nil, err
	}
	fault, err := vfs.Guard(func() error {
		lent, release, err := f.Read(ctx, 0, f.Size())
		if err == nil {
			b = bytes.Clone(lent)
			release()
		}
		return err
	})
	if fault != nil {
		err = fault
	}
	return b, errors.Join(err, f.Close())
}

// finished are the parts that a store lists.
func finished(t *testing.T, s parts.Store) (files []uint64) {
	t.Helper()
	entries, err := s.List()
	if err != nil {
		t.Fatal(err)
	}
	if !slices.IsSortedFunc(entries, func(a, b parts.Entry) int { return int(int64(a.File) - int64(b.File)) }) {
		t.Errorf("entries do not rise: %v", entries)
	}
	for _, e := range entries {
		if !e.Unfinished {
			files = append(files, e.File)
		}
	}
	return files
}

func published(t *testing.T, s Place) {
	if files := finished(t, s); len(files) > 0 {
		t.Fatalf("a new store has parts %v", files)
	}
	all := map[uint64][]byte{}
	for _, file := range []uint64{1, 7, 99_999_999, 100_000_000} { // the last has a longer name
		all[file] = publish(t, s, file, 100)
	}
	if files := finished(t, s); !slices.Equal(files, []uint64{1, 7, 99_999_999, 100_000_000}) {
		t.Errorf("parts %v", files)
	}
	for file, want := range all {
		if n, err := s.Size(file); err != nil || n != int64(len(want)) {
			t.Errorf("part %d has %d bytes, want %d: %v", file, n, len(want), err)
		}
		for _, deep := range []bool{false, true} {
			if meta, errs := s.Verify(ctx, file, deep); len(errs) > 0 || meta.Rows != 100 ||
				meta.Bytes != int64(len(want)) {
				t.Errorf("part %d: %+v, %v", file, meta, errs)
			}
		}
		ranges(t, s, file, want)
	}
	if _, err := s.Open(ctx, 2); !vfs.NotExist(err) {
		t.Errorf("a part that is not there: %v", err)
	}
	if _, err := s.Size(2); !vfs.NotExist(err) {
		t.Errorf("the size of a part that is not there: %v", err)
	}
	if _, errs := s.Verify(ctx, 2, true); len(errs) != 1 || !vfs.NotExist(errs[0]) {
		t.Errorf("verifying a part that is not there: %v", errs)
	}
}

// ranges reads ranges of a part, some while others are lent.
func ranges(t *testing.T, s parts.Store, file uint64, want []byte) {
	t.Helper()
	f, err := s.Open(ctx, file)
	if err != nil {
		t.Fatal(err)
	}
	size := int64(len(want))
	if f.Size() != size {
		t.Fatalf("the file has %d bytes, want %d", f.Size(), size)
	}
	r := rand.New(rand.NewPCG(file, 1))
	fault, err := vfs.Guard(func() error {
		var late []func()
		for i, at := range append([]int64{0, 0, size, size - 1}, make([]int64, 60)...) {
			n := []int64{0, size, 0, 1}[min(i, 3)]
			if i > 3 {
				at = r.Int64N(size + 1)
				n = r.Int64N(size - at + 1)
			}
			f.WillNeed(ctx, at, n)
			b, release, err := f.Read(ctx, at, n)
			if err != nil {
				return err
			}
			if !bytes.Equal(b, want[at:at+n]) || cap(b) < len(b) {
				t.Errorf("%d bytes at %d are others", n, at)
			}
			if i%3 == 0 {
				f.Forget()
			}
			if late = append(late, release); len(late) > 4 {
				late[0]()
				late = late[1:]
			}
			if !bytes.Equal(b, want[at:at+n]) {
				t.Errorf("%d bytes at %d changed while they were lent", n, at)
			}
		}
		for _, release := range late {
			release()
		}
		return nil
	})
	if fault != nil || err != nil {
		t.Errorf("reading part %d: %v, %v", file, fault, err)
	}
	if err := f.Close(); err != nil {
		t.Error(err)
	}
}

var errCut = errors.New("cut short")

func unfinished(t *testing.T, s Place) {
	for file := range uint64(4) {
		err := s.Publish(file, func(out vfs.File) error {
			for range file {
				if _, err := out.Write(make([]byte, 10_000)); err != nil {
					return err
				}
			}
			return errCut
		})
		if !errors.Is(err, errCut) {
			t.Errorf("publishing what cannot be written: %v", err)
		}
		if _, err := s.Open(ctx, file); !vfs.NotExist(err) {
			t.Errorf("a part that was cut short is opened: %v", err)
		}
	}
	if files := finished(t, s); len(files) > 0 {
		t.Errorf("parts %v", files)
	}
	entries, err := s.List()
	if err != nil {
		t.Fatal(err)
	}
	for _, e := range entries { // of those, all is removed
		if err := s.Remove(e); err != nil {
			t.Error(err)
		}
	}
	if entries, err = s.List(); err != nil || len(entries) > 0 {
		t.Errorf("left over: %v, %v", entries, err)
	}
	publish(t, s, 3, 10) // the number is still free
}

func removed(t *testing.T, s Place) {
	publish(t, s, 1, 10)
	want := publish(t, s, 2, 10)
	for range 2 { // one that is not there is as good as removed
		if err := s.Remove(parts.Entry{File: 1}); err != nil {
			t.Error(err)
		}
	}
	if err := s.Remove(parts.Entry{File: 2, Unfinished: true}); err != nil {
		t.Error(err)
	}
	if _, err := s.Open(ctx, 1); !vfs.NotExist(err) {
		t.Errorf("a removed part is opened: %v", err)
	}
	if b, err := whole(s, 2); err != nil || !bytes.Equal(b, want) {
		t.Errorf("the part beside it: %d bytes, %v", len(b), err)
	}
	if files := finished(t, s); !slices.Equal(files, []uint64{2}) {
		t.Errorf("parts %v", files)
	}
	publish(t, s, 3, 10)
	if files := finished(t, s.Reopen()); !slices.Equal(files, []uint64{2, 3}) {
		t.Errorf("after a crash: parts %v", files)
	}
}

func damaged(t *testing.T, s Place) {
	for i, off := range []int{0, 9, -1, -20, -100} {
		file := uint64(i + 1)
		publish(t, s, file, 100)
		if err := s.Damage(file, off); err != nil {
			t.Fatal(err)
		}
		_, errs := s.Verify(ctx, file, false)
		if len(errs) == 0 {
			t.Errorf("byte %d changed and all is well", off)
		}
		for _, err := range errs {
			if !errors.Is(err, sst.ErrCorrupt) || errors.Is(err, sst.ErrUnavailable) {
				t.Errorf("byte %d changed: %v", off, err)
			}
		}
	}
}

func crashed(t *testing.T, s Place) {
	all := map[uint64][]byte{}
	for file := range uint64(5) {
		all[file] = publish(t, s, file, 50*int(file+1))
		s = s.Reopen()
		for of, want := range all {
			if b, err := whole(s, of); err != nil || !bytes.Equal(b, want) {
				t.Errorf("part %d after a crash behind part %d: %d bytes, %v", of, file, len(b), err)
			}
		}
	}
}

func ended(t *testing.T, s Place) {
	publish(t, s, 1, 100)
	gone, end := context.WithCancel(ctx)
	f, err := s.Open(gone, 1)
	if err != nil {
		t.Fatal(err)
	}
	end()
	fault, err := vfs.Guard(func() error {
		_, release, err := f.Read(gone, 0, 8) // what needs no wait may be given
		if err == nil {
			release()
		}
		return err
	})
	if fault != nil || err != nil && !errors.Is(err, context.Canceled) {
		t.Errorf("a reader that is gone: %v, %v", fault, err)
	}
	if _, errs := s.Verify(gone, 1, true); len(errs) != 1 || !errors.Is(errs[0], context.Canceled) ||
		errors.Is(errs[0], sst.ErrCorrupt) {
		t.Errorf("verifying for one who is gone: %v", errs)
	}
	if err := f.Close(); err != nil {
		t.Error(err)
	}
}

// together publishes, reads and removes parts at once.
func together(t *testing.T, s Place) {
	shared := publish(t, s, 1000, 3000)
	var wg sync.WaitGroup
	for k := range uint64(4) {
		wg.Go(func() {
			for i := range uint64(6) {
				file := k*100 + i
				err := s.Publish(file, func(out vfs.File) error {
					_, err := WritePart(out, 20, fmt.Sprint(file))
					return err
				})
				if err != nil {
					t.Error(err)
					return
				}
				if _, errs := s.Verify(ctx, file, true); len(errs) > 0 {
					t.Errorf("part %d: %v", file, errs)
				}
				ranges(t, s, 1000, shared)
				if i%2 == 0 {
					if err := s.Remove(parts.Entry{File: file}); err != nil {
						t.Error(err)
					}
				}
			}
		})
	}
	wg.Wait()
	if files := finished(t, s); len(files) != 4*3+1 {
		t.Errorf("parts %v", files)
	}
}
