package partstest

import (
	"context"
	"errors"
	"fmt"
	"testing"

	"varve/engine/parts"
	"varve/engine/scan"
	"varve/engine/schema"
	"varve/engine/vector"
	"varve/engine/vfs"
	"varve/sst"
)

// Read opens a part that WritePart wrote, scans it and closes it. The rows are those that were written: n, with
// value; else it fails the test. It returns the error of the store, if there is one.
func Read(ctx context.Context, t *testing.T, s parts.Store, file uint64, n int, value string) error {
	t.Helper()
	f, err := s.Open(ctx, file)
	if err != nil {
		return err
	}
	p, err := sst.OpenFile(f, parts.Name(file), sst.OpenOptions{Context: ctx})
	if err != nil {
		return err
	}
	defer func() {
		if err := p.Close(); err != nil {
			t.Error(err)
		}
	}()
	return Rows(ctx, t, p, n, value)
}

// Rows scans an open part, as Read does.
func Rows(ctx context.Context, t *testing.T, p *sst.Part, n int, value string) error {
	t.Helper()
	c, err := p.Run().Scan(&scan.Spec{Context: ctx, Time: scan.All,
		TimeColumn: ts, Columns: []schema.Column{text}})
	if err != nil {
		return err
	}
	defer c.Close()
	var b vector.Batch
	row := 0
	for {
		ok, err := c.Next(&b)
		if err != nil {
			return err
		}
		if !ok {
			break
		}
		texts := b.Cols[0].Flatten(b.N)
		for i := range b.N {
			if got, want := string(texts.Bytes(i)), fmt.Sprintf("%s %d", value, row); got != want {
				t.Fatalf("row %d is %q, want %q", row, got, want)
			}
			row++
		}
	}
	if row != n {
		t.Fatalf("%d rows, want %d", row, n)
	}
	return nil
}

// Fails holds a store against failing calls: each of its calls fails once, or once and for ever after. fail arms the
// n'th call from now, and mends the store where n is 0. What is lent back must be all that was lent.
func Fails(t *testing.T, s parts.Store, fail func(n int), failed func() bool) {
	write := func(file uint64) error {
		return s.Publish(file, func(out vfs.File) error {
			_, err := WritePart(out, 5000, fmt.Sprint(file))
			return err
		})
	}
	for n := 1; ; n++ {
		file := uint64(2 * n)
		fail(n)
		steps := []error{write(file), write(file + 1), Read(ctx, t, s, file, 5000, fmt.Sprint(file)),
			s.Remove(parts.Entry{File: file})}
		_, err := s.List()
		steps = append(steps, err)
		_, errs := s.Verify(ctx, file+1, true)
		steps = append(steps, errors.Join(errs...))
		did := failed()
		fail(0)
		seen := false
		for i, err := range steps {
			seen = seen || err != nil
			if errors.Is(err, sst.ErrCorrupt) {
				t.Errorf("call %d fails; step %d takes it for damage: %v", n, i, err)
			}
		}
		if did != seen {
			t.Errorf("call %d failed: %v, and somebody was told: %v: %v", n, did, seen, steps)
		}
		mended(t, s, n, file, steps)
		if !did {
			break // there are no more calls
		}
	}
}

// mended holds that a store, after a call failed and was mended, has each part wholly or not at all.
func mended(t *testing.T, s parts.Store, n int, file uint64, steps []error) {
	t.Helper()
	entries, err := s.List()
	if err != nil {
		t.Fatal(err)
	}
	here := map[uint64]bool{}
	for _, e := range entries {
		if !e.Unfinished {
			here[e.File] = true
			if err := Read(ctx, t, s, e.File, 5000, fmt.Sprint(e.File)); err != nil {
				t.Errorf("call %d failed; part %d afterwards: %v", n, e.File, err)
			}
		}
		if err := s.Remove(e); err != nil {
			t.Error(err)
		}
	}
	if steps[1] == nil && !here[file+1] {
		t.Errorf("call %d failed; a part that was published is not there: %v", n, entries)
	}
	if steps[3] == nil && here[file] {
		t.Errorf("call %d failed; a part that was removed is there: %v", n, entries)
	}
}
