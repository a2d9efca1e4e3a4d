package sst

import (
	"context"
	"encoding/binary"
	"errors"
	"fmt"
	"sync"

	"varve/engine/invariant"
	"varve/engine/vfs"
)

// File is the bytes of a part, in a mapping or elsewhere. They never change. Safe for concurrent use.
type File interface {
	// Size is the number of bytes.
	Size() int64
	// Read returns the n bytes at off, which lie within the file. They stay as they are until release is called, once;
	// they are not to be changed. It waits no longer than ctx.
	Read(ctx context.Context, off, n int64) (b []byte, release func(), err error)
	// WillNeed advises that a range within the file is read soon, unless ctx ends before.
	WillNeed(ctx context.Context, off, n int64)
	// Far reports whether reads of pages wait for a place that answers late and many questions at once.
	Far() bool
	// Forget gives back process memory; reading works as before.
	Forget()
	// Unreadable returns the failed use of bytes of the file that a fault was; nil: it was none of them. See vfs.Guard.
	Unreadable(fault vfs.MemoryFault) *vfs.Unreadable
	// Close ends the use of the file. All bytes were released.
	Close() error
}

// ErrUnavailable is wrapped by the error of a read that failed in the place where the part lies: nothing is known of
// the bytes, so the part is not damaged. It has the code StorageUnavailable.
var ErrUnavailable = errors.New("the part cannot be read now")

// notRead is a read that failed, or was given up.
type notRead struct{ cause error }

func (e *notRead) Error() string { return e.cause.Error() }

func (e *notRead) Unwrap() error { return e.cause }

// unread reports whether an error says that bytes were not read, which is not damage.
func unread(err error) bool {
	var e *notRead
	return errors.As(err, &e)
}

// noRelease is release where nothing was taken.
func noRelease() {}

// contents is the file of an open part. Its bytes are reached by read alone.
type contents struct {
	File

	mu   sync.Mutex // protects kept
	kept []func()   // releases what the part has until it is closed
}

func (f *contents) size() uint64 { return uint64(f.Size()) }

// read returns the bytes of a place, which are valid until release is called and not to be changed. A place outside of
// the file is an error that says so; a read that fails is a notRead. It is called within Part.use.
func (f *contents) read(ctx context.Context, r ref) (b []byte, release func(), err error) {
	if size := f.size(); r.off > size || r.length > size-r.off {
		return nil, nil, fmt.Errorf("%d bytes at %d of a file of %d bytes", r.length, r.off, size)
	}
	if b, release, err = f.Read(ctx, int64(r.off), int64(r.length)); err != nil {
		if ctx.Err() == nil {
			err = fmt.Errorf("%w: %w", ErrUnavailable, err)
		}
		return nil, nil, &notRead{err}
	}
	if invariant.On {
		return lend(b, release)
	}
	return b, release, nil
}

// lend gives the reader a copy of its own, which is overwritten at its release: what is used after that is found.
func lend(b []byte, release func()) ([]byte, func(), error) {
	invariant.Check(vfs.Guarded(), "bytes of a part are read outside of Part.use")
	own := make([]byte, len(b))
	copy(own, b)
	release()
	released := false
	return own, func() {
		invariant.Check(!released, "%d bytes of a part are released twice", len(own))
		released = true
		for i := range own {
			own[i] = 0xDB
		}
	}, nil
}

// keep calls release when the file is closed.
func (f *contents) keep(release func()) {
	f.mu.Lock()
	defer f.mu.Unlock()
	f.kept = append(f.kept, release)
}

// close releases what is kept and closes the file.
func (f *contents) close() error {
	f.mu.Lock()
	kept := f.kept
	f.kept = nil
	f.mu.Unlock()
	for _, release := range kept {
		release()
	}
	return f.Close()
}

// readAhead has a place within the file read while others are decoded.
func (f *contents) readAhead(ctx context.Context, r ref) {
	f.WillNeed(ctx, int64(r.off), int64(r.length))
}

// unseal splits bytes from the checksum behind them.
func unseal(b []byte) (body []byte, sum uint32) {
	body = b[:len(b)-sumSize]
	return body, binary.LittleEndian.Uint32(b[len(body):])
}

// blockRefs has the places of a column's pages, or of its filters: one for each block, with its checksum.
type blockRefs struct {
	off    []uint64
	length []uint32 // 0: the block has none
}

// at returns the place for a block.
func (p *blockRefs) at(block int) ref { return ref{p.off[block], uint64(p.length[block])} }

func (p *blockRefs) has(block int) bool { return p.length[block] > 0 }
