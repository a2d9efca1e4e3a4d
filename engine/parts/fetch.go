package parts

import (
	"context"
	"errors"
	"fmt"

	"varve/engine/vfs"
	"varve/sst"
)

// ReadRange fills p with the bytes of an object from off on.
type ReadRange func(ctx context.Context, object string, p []byte, off int64) error

// Fetch publishes the stub of a part that lies in a bucket alone: it reads of the object what a stub has. s has the
// object, the size and the checksum of the whole part; Fetch sets its length.
func (l *Local) Fetch(ctx context.Context, file uint64, s *Stub, read ReadRange) error {
	far := &farFile{Stub: s, read: read}
	p, err := sst.OpenFile(far, coldName(file), sst.OpenOptions{Context: ctx})
	if err != nil {
		return err
	}
	pages, err := p.Pages(ctx)
	if err = errors.Join(err, p.Close()); err != nil {
		return err
	}
	s.kept = complement(pages, s.Size)
	return vfs.Publish(l.fs, l.dir, coldName(file), func(out vfs.File) error {
		head := s.encode()
		if _, err := out.Write(head); err != nil {
			return err
		}
		s.Length = int64(len(head))
		buf := make([]byte, copyBytes)
		for _, e := range s.kept {
			for off := e.Off; off < e.End(); {
				piece := buf[:min(e.End()-off, copyBytes)]
				if err := read(ctx, s.Object, piece, off); err != nil {
					return err
				}
				if _, err := out.Write(piece); err != nil {
					return err
				}
				off += int64(len(piece))
			}
			s.Length += e.Length
		}
		return nil
	})
}

// maxFarRead bounds one read of a part of which there is no stub, in bytes: its sections are no larger.
const maxFarRead = 1 << 30

// farFile is the bytes of a part of which nothing is here.
type farFile struct {
	*Stub
	read ReadRange
}

func (f *farFile) Size() int64 { return f.Stub.Size }

func (f *farFile) Read(ctx context.Context, off, n int64) ([]byte, func(), error) {
	if n < 0 || n > maxFarRead {
		return nil, nil, fmt.Errorf("%w: %d bytes at %d are no section of a part", sst.ErrCorrupt, n, off)
	}
	b := make([]byte, n)
	if err := f.read(ctx, f.Object, b, off); err != nil {
		return nil, nil, err
	}
	return b, func() {}, nil
}

func (f *farFile) WillNeed(context.Context, int64, int64) {}

func (f *farFile) Far() bool { return true }

func (f *farFile) Forget() {}

func (f *farFile) Unreadable(vfs.MemoryFault) *vfs.Unreadable { return nil }

func (f *farFile) Close() error { return nil }
