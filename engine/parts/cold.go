package parts

import (
	"context"
	"errors"
	"fmt"
	"hash/crc32"
	"io"

	"varve/engine/vfs"
	"varve/sst"
)

// Objects reads the objects of cold parts. Safe for concurrent use.
type Objects interface {
	// Read returns n bytes of an object at off until release is called. It waits no longer than ctx.
	Read(ctx context.Context, object string, off, n int64) (b []byte, release func(), err error)
	// Ahead advises that a range of an object is read soon, unless ctx ends before.
	Ahead(ctx context.Context, object string, off, n int64)
	// Drop forgets what is kept of an object, because it is gone or what came of it was wrong.
	Drop(object string)
}

// ErrNoBucket is the error of reading pages of a cold part where no bucket is known.
var ErrNoBucket = errors.New("storage.cold_url is not set")

type noBucket struct{}

// NoObjects is where there is no bucket: what a stub lacks cannot be read.
var NoObjects Objects = noBucket{}

func (noBucket) Read(_ context.Context, object string, _, _ int64) ([]byte, func(), error) {
	return nil, nil, fmt.Errorf("it lies in a bucket as %s, and %w", object, ErrNoBucket)
}

func (noBucket) Ahead(context.Context, string, int64, int64) {}

func (noBucket) Drop(string) {}

// With returns the same directory, whose cold parts are read from objects.
func (l *Local) With(objects Objects) *Local { return &Local{l.fs, l.dir, objects} }

// coldFile is the bytes of a cold part: those of its stub, which is mapped, and the rest of its object.
type coldFile struct {
	*Stub
	mapping vfs.Mapping
	data    []byte
	objects Objects
}

// OpenCold opens a part by its stub, also if all of the part is still here.
func (l *Local) OpenCold(file uint64) (sst.File, error) {
	s, err := l.Stub(file)
	if err != nil {
		return nil, fmt.Errorf("part %s: %w", coldName(file), err)
	}
	m, err := l.fs.Map(l.path(coldName(file)))
	if err != nil {
		return nil, fmt.Errorf("part %s: %w", coldName(file), err)
	}
	f := &coldFile{s, m, m.Bytes(), l.objects}
	if int64(len(f.data)) != s.Length {
		return nil, errors.Join(damagedStub("the stub has %d bytes, want %d", len(f.data), s.Length), m.Unmap())
	}
	return f, nil
}

func (f *coldFile) Size() int64 { return f.Stub.Size }

func (f *coldFile) Read(ctx context.Context, off, n int64) ([]byte, func(), error) {
	if at, ok := f.find(off, n); ok {
		return f.data[at : at+n : at+n], func() {}, nil
	}
	return f.objects.Read(ctx, f.Object, off, n)
}

func (f *coldFile) WillNeed(ctx context.Context, off, n int64) {
	if at, ok := f.find(off, n); ok {
		f.mapping.WillNeed(at, n)
		return
	}
	f.objects.Ahead(ctx, f.Object, off, n)
}

func (f *coldFile) Far() bool { return true }

func (f *coldFile) Forget() { f.mapping.Release() }

func (f *coldFile) Unreadable(fault vfs.MemoryFault) *vfs.Unreadable {
	u := vfs.UnreadableIn(f.data, fault)
	if u != nil {
		u.Offset = f.place(u.Offset)
	}
	return u
}

func (f *coldFile) Close() error { return f.mapping.Unmap() }

// Stub returns what the stub of a part says; vfs.NotExist tells the error if there is none.
func (l *Local) Stub(file uint64) (s *Stub, err error) {
	f, err := l.fs.Open(l.path(coldName(file)))
	if err != nil {
		return nil, err
	}
	size, err := f.Size()
	if err == nil {
		s, err = readStub(f, size)
	}
	return s, errors.Join(err, f.Close())
}

// Shrink publishes the stub of a part that is here, for an object that is to hold it. pages are the ranges that the
// stub lacks. The part stays.
func (l *Local) Shrink(ctx context.Context, file uint64, object string, pages []sst.Extent) (s *Stub, err error) {
	err = l.Whole(Entry{File: file}, func(in io.ReaderAt, size int64) error {
		sum, err := checksumOf(ctx, in, size)
		if err != nil {
			return err
		}
		s = &Stub{Object: object, Checksum: sum, Size: size, kept: complement(pages, size)}
		return vfs.Publish(l.fs, l.dir, coldName(file), func(out vfs.File) error {
			head := s.encode()
			if _, err := out.Write(head); err != nil {
				return err
			}
			s.Length = int64(len(head))
			for _, e := range s.kept {
				if err := copyRange(ctx, out, in, e); err != nil {
					return err
				}
				s.Length += e.Length
			}
			return nil
		})
	})
	return s, err
}

// Whole calls f with the bytes of an entry that is here wholly.
func (l *Local) Whole(e Entry, f func(in io.ReaderAt, size int64) error) error {
	in, err := l.fs.Open(l.path(e.String()))
	if err != nil {
		return err
	}
	size, err := in.Size()
	if err == nil {
		err = f(in, size)
	}
	return errors.Join(err, in.Close())
}

// checksumOf is the CRC-32C of the first size bytes.
func checksumOf(ctx context.Context, in io.ReaderAt, size int64) (uint32, error) {
	return Checksum(ctx, size, func(p []byte, off int64) error {
		_, err := in.ReadAt(p, off)
		if errors.Is(err, io.EOF) && off+int64(len(p)) == size {
			err = nil
		}
		return err
	})
}

// Checksum is the CRC-32C of size bytes that read gives piece by piece.
func Checksum(ctx context.Context, size int64, read func(p []byte, off int64) error) (sum uint32, err error) {
	buf := make([]byte, min(size, readBytes))
	for off := int64(0); off < size; off += int64(len(buf)) {
		if err := ctx.Err(); err != nil {
			return 0, err
		}
		buf = buf[:min(int64(len(buf)), size-off)]
		if err := read(buf, off); err != nil {
			return 0, err
		}
		sum = crc32.Update(sum, castagnoli, buf)
	}
	return sum, nil
}

// readBytes is what is read of an object at a time when all of it is.
const readBytes = 4 << 20

// copyRange writes a range of bytes.
func copyRange(ctx context.Context, out io.Writer, in io.ReaderAt, e sst.Extent) error {
	if err := ctx.Err(); err != nil {
		return err
	}
	n, err := io.CopyBuffer(struct{ io.Writer }{out}, io.NewSectionReader(in, e.Off, e.Length),
		make([]byte, min(e.Length, copyBytes)))
	if err == nil && n != e.Length {
		err = io.ErrUnexpectedEOF
	}
	return err
}
