// Package partstest holds stores of parts against what parts.Store promises: on any store, on one that is slow and
// fails, and through the readers of parts.
package partstest

import (
	"context"
	"errors"
	"fmt"
	"sync/atomic"

	"varve/engine/parts"
	"varve/engine/vfs"
	"varve/sst"
)

// Op is a call of a store or of one of its files.
type Op string

// The calls that Slow.Before is told.
const (
	OpOpen    Op = "open"
	OpRead    Op = "read"
	OpPublish Op = "publish"
	OpRemove  Op = "remove"
	OpList    Op = "list"
	OpSize    Op = "size"
)

// Slow is a store far away: another store whose parts are read by copies of ranges, of which each may wait and fail.
// What is used after its release shows as damage.
type Slow struct {
	parts.Store
	// Before is called ahead of each call. It may wait, no longer than ctx, and its error is that of the call. It is
	// called by many goroutines.
	Before func(ctx context.Context, op Op) error

	reads, lent atomic.Int64
}

// Lent is the number of reads that were not released yet, of all files.
func (s *Slow) Lent() int64 { return s.lent.Load() }

// Reads is the number of reads that were let through.
func (s *Slow) Reads() int64 { return s.reads.Load() }

// Open opens a part of the store behind.
func (s *Slow) Open(ctx context.Context, file uint64) (sst.File, error) {
	if err := s.Before(ctx, OpOpen); err != nil {
		return nil, err
	}
	f, err := s.Store.Open(ctx, file)
	if err != nil {
		return nil, err
	}
	return &slowFile{behind: f, of: s}, nil
}

// Publish passes on.
func (s *Slow) Publish(file uint64, write func(vfs.File) error) error {
	if err := s.Before(context.Background(), OpPublish); err != nil {
		return err
	}
	return s.Store.Publish(file, write)
}

// Remove passes on.
func (s *Slow) Remove(e parts.Entry) error {
	if err := s.Before(context.Background(), OpRemove); err != nil {
		return err
	}
	return s.Store.Remove(e)
}

// List passes on.
func (s *Slow) List() ([]parts.Entry, error) {
	if err := s.Before(context.Background(), OpList); err != nil {
		return nil, err
	}
	return s.Store.List()
}

// Size passes on.
func (s *Slow) Size(file uint64) (int64, error) {
	if err := s.Before(context.Background(), OpSize); err != nil {
		return 0, err
	}
	return s.Store.Size(file)
}

// Verify reads as all others do.
func (s *Slow) Verify(ctx context.Context, file uint64, deep bool) (sst.Meta, []error) {
	return parts.Verify(ctx, s, file, deep)
}

// slowFile is a file that is not mapped.
type slowFile struct {
	behind sst.File
	of     *Slow
	lent   atomic.Int64
}

func (f *slowFile) Size() int64 { return f.behind.Size() }

func (f *slowFile) Read(ctx context.Context, off, n int64) ([]byte, func(), error) {
	if err := f.of.Before(ctx, OpRead); err != nil {
		return nil, nil, err
	}
	if err := ctx.Err(); err != nil {
		return nil, nil, err
	}
	b, release, err := f.behind.Read(ctx, off, n)
	if err != nil {
		return nil, nil, err
	}
	own := append(make([]byte, 0, n), b...)
	release()
	f.of.reads.Add(1)
	f.of.lent.Add(1)
	f.lent.Add(1)
	var done atomic.Bool
	return own, func() {
		if done.Swap(true) {
			panic(fmt.Sprintf("%d bytes at %d are released twice", n, off))
		}
		f.of.lent.Add(-1)
		f.lent.Add(-1)
		for i := range own {
			own[i] = 0xDB
		}
	}, nil
}

func (f *slowFile) WillNeed(context.Context, int64, int64) {}

func (f *slowFile) Far() bool { return true }

func (f *slowFile) Forget() {}

func (f *slowFile) Unreadable(vfs.MemoryFault) *vfs.Unreadable { return nil }

func (f *slowFile) Close() error {
	err := f.behind.Close()
	if n := f.lent.Load(); n != 0 {
		err = errors.Join(err, fmt.Errorf("%d reads were not released", n))
	}
	return err
}
