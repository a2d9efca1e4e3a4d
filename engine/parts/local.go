package parts

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"io"
	"path"
	"slices"
	"strings"

	"varve/engine/vfs"
	"varve/sst"
)

// Local is a Store in a directory of a file system. Parts are read where they are mapped.
type Local struct {
	fs      vfs.FS
	dir     string
	objects Objects // of cold parts
}

// At is the parts of a data directory or of a backup. It looks at nothing.
func At(fs vfs.FS, data string) *Local { return &Local{fs, path.Join(data, DirName), noBucket{}} }

// Dir is the directory, for those who watch its disk.
func (l *Local) Dir() string { return l.dir }

// Make makes the directory.
func (l *Local) Make() error { return l.fs.MkdirAll(l.dir) }

// Sync makes links, copies and removals durable.
func (l *Local) Sync() error { return l.fs.SyncDir(l.dir) }

func (l *Local) path(name string) string { return path.Join(l.dir, name) }

// Open maps a part, or the stub of one that is not here wholly.
func (l *Local) Open(_ context.Context, file uint64) (sst.File, error) {
	f, err := sst.Map(l.fs, l.path(Name(file)))
	if vfs.NotExist(err) {
		if cold, failed := l.OpenCold(file); !vfs.NotExist(failed) {
			return cold, failed
		}
	}
	return f, err
}

// Publish writes a file, syncs it, renames it and syncs the directory.
func (l *Local) Publish(file uint64, write func(vfs.File) error) error {
	return vfs.Publish(l.fs, l.dir, Name(file), write)
}

// PublishEntry is Publish for a part or a stub.
func (l *Local) PublishEntry(e Entry, write func(vfs.File) error) error {
	return vfs.Publish(l.fs, l.dir, e.String(), write)
}

// Remove removes a file.
func (l *Local) Remove(e Entry) error { return l.remove(e.String()) }

func (l *Local) remove(name string) error {
	if err := l.fs.Remove(l.path(name)); err != nil && !vfs.NotExist(err) {
		return err
	}
	return nil
}

// List lists the directory; vfs.NotExist tells the error if there is none.
func (l *Local) List() ([]Entry, error) {
	names, err := l.fs.List(l.dir)
	if err != nil {
		return nil, err
	}
	var all []Entry
	for _, name := range names {
		if e, ok := entryOf(name); ok {
			all = append(all, e)
		}
	}
	slices.SortStableFunc(all, func(a, b Entry) int { return cmp.Compare(a.File, b.File) })
	return all, nil
}

// Size looks at a file.
func (l *Local) Size(file uint64) (int64, error) {
	info, err := l.fs.Stat(l.path(Name(file)))
	if vfs.NotExist(err) {
		if s, failed := l.Stub(file); !vfs.NotExist(failed) {
			if failed != nil {
				return 0, failed
			}
			return s.Size, nil
		}
	}
	if err != nil {
		return 0, err
	}
	return info.Size(), nil
}

// Verify reads the mapping.
func (l *Local) Verify(ctx context.Context, file uint64, deep bool) (sst.Meta, []error) {
	return Verify(ctx, l, file, deep)
}

// Where is the place of a part in the data directory, for messages.
func Where(file uint64) string { return DirName + "/" + Name(file) }

// WhereEntry is the place of a part in the data directory: of a cold one, that of its stub.
func WhereEntry(file uint64, cold bool) string {
	return DirName + "/" + Entry{File: file, Cold: cold}.String()
}

// HoldsAny reports whether the directory has a file that is called like a part. A directory that is not there has none.
func (l *Local) HoldsAny() (bool, error) {
	names, err := l.fs.List(l.dir)
	if err != nil && !vfs.NotExist(err) {
		return false, err
	}
	return slices.ContainsFunc(names, func(n string) bool {
		return strings.HasSuffix(n, suffix) || strings.HasSuffix(n, coldSuffix)
	}), nil
}

// Link makes an entry of another directory be here too, as another name of the same file. It is durable after Sync.
// vfs.NotExist tells the error if the entry is not there, vfs.Exist if it is here already.
func (l *Local) Link(from *Local, e Entry) error {
	return l.fs.Link(from.path(e.String()), l.path(e.String()))
}

// copyBytes is what is copied at a time.
const copyBytes = 1 << 20

// Copy publishes a copy of an entry of another directory. The copy shares no blocks or links with it.
func (l *Local) Copy(from *Local, e Entry) error {
	in, err := from.fs.Open(from.path(e.String()))
	if err != nil {
		return err
	}
	err = vfs.Publish(l.fs, l.dir, e.String(), func(out vfs.File) error {
		buf := make([]byte, copyBytes)
		for off := int64(0); ; {
			n, err := in.ReadAt(buf, off)
			if err != nil && !errors.Is(err, io.EOF) {
				return err
			}
			if _, failed := out.Write(buf[:n]); failed != nil || err != nil {
				return failed
			}
			off += int64(n)
		}
	})
	return errors.Join(err, in.Close())
}

// Keep removes all files but the entries that keep names.
func (l *Local) Keep(keep func(e Entry) bool) error {
	names, err := l.fs.List(l.dir)
	if err != nil {
		return err
	}
	for _, name := range names {
		if e, ok := entryOf(name); ok && !e.Unfinished && keep(e) {
			continue
		}
		if err := l.fs.Remove(l.path(name)); err != nil {
			return err
		}
	}
	return nil
}

// Clear removes all entries. A file that is none of an entry is an error, and stays.
func (l *Local) Clear() error {
	names, err := l.fs.List(l.dir)
	if err != nil && !vfs.NotExist(err) {
		return err
	}
	for _, name := range names {
		if _, ok := entryOf(name); !ok {
			return fmt.Errorf("%s is not empty: it holds %s", l.dir, name)
		}
		if err := l.fs.Remove(l.path(name)); err != nil {
			return err
		}
	}
	return nil
}

// Destroy removes the directory and all files in it.
func (l *Local) Destroy() error {
	names, err := l.fs.List(l.dir)
	if err != nil && !vfs.NotExist(err) {
		return err
	}
	for _, name := range names {
		if err := l.remove(name); err != nil {
			return err
		}
	}
	if err := l.fs.Remove(l.dir); err != nil && !vfs.NotExist(err) {
		return err
	}
	return nil
}
